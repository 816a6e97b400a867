"""One number for one thing: what two pages glue of the same quantity, under different names, is
the same number, and so is what two pages say in words."""

from __future__ import annotations

import json

import pytest

# One line per number, with every name by which a page has it; referee_by_X is the number behind a
# verdict of the chapter "What we know".
SAME = """
data_word oracle_n
motivation_gain budgets_math_gain_mean
motivation_gain_low budgets_math_gain_low
motivation_gain_high budgets_math_gain_high
oracle_printed_gsm referee_by_free_compute
front_bill stopping_bill deploy_bill
front_mix_bill stopping_mix_bill deploy_mix_bill
front_over_mix verdict_over_mix
front_printed verdict_printed
"""
GROUPS = [line.split() for line in SAME.strip().splitlines()]


@pytest.fixture(scope="module")
def glued(html):
    """The glued numbers of the book by name."""
    values: dict[str, str] = {}
    for path in sorted((html.parent / "jupyter_execute" / "notebooks").glob("*.glue.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        values |= {name: one["data"].get("text/plain", "") for name, one in kept.items()}
    return values


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_pages_have_one_number_for_one_thing(names, glued):
    assert set(names) <= set(glued), "a name that no page glues"
    first, *others = (float(glued[name]) for name in names)
    assert others == pytest.approx([first] * len(others), rel=1e-6)
