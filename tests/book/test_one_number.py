"""One number for one thing: what two pages glue of the same quantity, under different names, is
the same number, and what the table of findings says stands in the chapters that it links to."""

from __future__ import annotations

import json

import pytest
from conftest import soup

from adabook.findings import NOTEBOOKS, POLICIES, SETS, SHOWN_AT, gains
from adabook.prose import points

# One line per number, with every name by which a page has it; referee_by_X is the number behind a
# verdict of the chapter "What we know".
SAME = """
data_word oracle_n
motivation_gain budgets_math_gain_mean
motivation_gain_low budgets_math_gain_low
motivation_gain_high budgets_math_gain_high
oracle_out_hard referee_by_leaving
oracle_printed_gsm referee_by_free
budgets_over referee_by_targeting
budgets_under referee_by_nine
estimation_math_ratio referee_by_windows_claim
estimation_math_jensen referee_by_upper
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


@pytest.mark.usefixtures("html")
def test_every_finding_is_printed_in_a_chapter_that_its_row_or_column_links_to():
    printed = {
        chapter: " ".join(
            output.get_text() for output in soup(f"notebooks/{name}").select(".cell_output")
        )
        .replace("\N{NO-BREAK SPACE}", " ")  # as tables are typeset
        .replace("\N{MINUS SIGN}", "-")
        for chapter, name in NOTEBOOKS.items()
    }
    for row in gains().itertuples():
        if row.policy not in POLICIES:
            continue
        labels = SHOWN_AT[POLICIES[row.policy]], SHOWN_AT.get(SETS[row.set], "")
        linked = [printed[label.partition("-")[0]] for label in labels if label]
        gain = row.gain, row.low, row.high
        cells = points(gain), points(gain, digits=2)
        assert any(cell in text for text in linked for cell in cells), (row.policy, row.set)
