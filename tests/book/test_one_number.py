"""One number for one thing: what two pages glue of the same quantity, under different names, they
print alike."""

from __future__ import annotations

import json
import re

import pytest
from conftest import ROOT

# One line per number, with every name by which a page has it; referee_by_X is the number behind a
# verdict of the chapter "The referee".
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
estimation_math_agree referee_by_few_trials
estimation_math_error referee_by_one_trial
"""
GROUPS = [line.split() for line in SAME.strip().splitlines()]
QUOTED = re.compile(r"\{(glue:text|points)\}`(\w+)(?::([^`]+))?`")


def formats(text: str) -> dict[str, set[tuple[str, str]]]:
    """How a text prints every number that it quotes: by name, the role and the format."""
    found: dict[str, set] = {}
    for role, name, form in QUOTED.findall(text):
        found.setdefault(name, set()).add((role, form))
    return found


def printed(value: str, role: str, form: str) -> str:
    number = float(value)
    return f"{100 * number:+.{form or 1}f}" if role == "points" else f"{number:{form or '.3g'}}"


def unlike(names: list[str], values: dict[str, str], quoted: dict[str, set]) -> list[str]:
    """What a group prints in any of the formats in which one of its numbers is quoted, where that
    differs."""
    ways = set().union(*(quoted.get(name, set()) for name in names)) or {("glue:text", ".3g")}
    printed_numbers = [{printed(values[name], *way) for name in names} for way in sorted(ways)]
    return [" and ".join(sorted(each)) for each in printed_numbers if len(each) > 1]


@pytest.fixture(scope="module")
def pages(html):
    """The glued numbers of the book by name, and how its pages quote them."""
    values: dict[str, str] = {}
    for path in sorted((html.parent / "jupyter_execute" / "notebooks").glob("*.glue.json")):
        values |= {
            name: kept["data"].get("text/plain", "")
            for name, kept in json.loads(path.read_text()).items()
        }
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb")]
    return values, formats("\n".join(sources))


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_pages_print_one_number_for_one_thing(names, pages):
    values, quoted = pages
    assert set(names) <= set(values), "a name that no page glues"
    assert not unlike(names, values, quoted)
