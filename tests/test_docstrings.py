"""Every exported name is documented as numpydoc asks: its parameters, its result and an example."""

import importlib
import inspect

import pytest
from numpydoc.validate import validate

import adalib

#: What numpydoc reports, and we do not ask for: "See Also" is there only if it helps.
IGNORED = {"SA01"}


def faults(name):
    """What numpydoc finds wrong with an export, without what we ignore."""
    thing = getattr(adalib, name)
    module = importlib.import_module(thing.__module__)
    assert getattr(module, name) is thing
    report = validate(f"{thing.__module__}.{name}")
    found = {code: text for code, text in report["errors"] if code not in IGNORED}
    if inspect.isclass(thing) and issubclass(thing, Exception):
        found.pop("PR01", None)  # an exception takes what every exception takes
    return found


@pytest.mark.parametrize("name", sorted(adalib.__all__))
def test_export_is_documented(name):
    found = faults(name)
    lines = "".join(f"\n  {code}: {text}" for code, text in found.items())
    assert not found, f"the docstring of adalib.{name} is not complete:{lines}"
