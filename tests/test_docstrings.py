"""Every exported name is documented as numpydoc asks: its parameters, its result and an example."""

import ast
import importlib
import inspect
import re

import pytest
from conftest import ROOT
from numpydoc.validate import validate

import adalib
import contents

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


def explained() -> list[tuple[str, str, str]]:
    """Of every docstring that sends a reader to a page: its file, its name and the page's title."""
    found = []
    for path in sorted((ROOT / "adalib").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                text = " ".join((ast.get_docstring(node) or "").split())
                titles = re.findall(r'the (?:chapter|appendix|page) "([^"]+)"', text)
                found += [(path.name, node.name, title) for title in titles]
    return found


def test_where_a_docstring_sends_its_reader_its_name_stands():
    pages = {page.title: page.path.read_text(encoding="utf-8") for page in contents.pages()}
    sent = explained()
    assert sent
    lost = [one for one in sent if not re.search(rf"\b{one[1]}\b", pages.get(one[2], ""))]
    assert lost == [], "name another page, or none"
