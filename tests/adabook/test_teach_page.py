"""The teacher's page: its links show what it says they show."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs

import pytest
from conftest import ROOT

from adabook.homework import SHEETS
from adabook.paper.settings import SETTINGS, answers
from contents import keys, pages
from editions.grading import rows
from guidance import counted

TEXT = (ROOT / "book" / "teach.md").read_text(encoding="utf-8")
VIEWS = {
    text: {key: values[0] for key, values in parse_qs(html.unescape(view)).items()}
    for view, text in re.findall(
        r'<a href="\.\./notebooks/explorer\.html#([^"]+)">([^<]+)</a>', TEXT
    )
}


def test_links_lead_to_settings_and_questions_that_there_are():
    assert VIEWS
    for shown in VIEWS.values():
        assert shown["set"] in SETTINGS
        assert float(shown["lambda"]) >= 0
        assert "q" not in shown or shown["q"] in answers(shown["set"]).ids


#: Minutes of a question of homework, by what it asks for; the others ask for a number.
TASKS = {"function": 20, "proof": 30}
REPORT = 180


def minutes_of(page):
    """What a chapter's first line says that it takes, with its core exercises."""
    return int(re.search(r"(\d+) minutes with the core", page.cells[0]["source"])[1])


def minutes(cell):
    """The minutes in a cell of the syllabus, each in brackets."""
    return sum(map(int, re.findall(r"\((\d+)\)", cell)))


def test_the_minutes_of_the_syllabus_add_up():
    text = (ROOT / "book" / "syllabus.md").read_text(encoding="utf-8")
    cells = [row.split("|")[1:-1] for row in re.findall(r"^\| (?:\d\. |Lab).*$", text, re.M)]
    in_class = [minutes(cell) for *_, cell, _ in cells]
    at_home = sum(minutes(cell) for *_, cell in cells)
    read = sum(map(int, re.findall(r"reading and quizzes \((\d+)\)", text)))
    core = sum(map(int, re.findall(r"core exercises \((\d+)\)", text)))
    assert in_class == [100] * 5 + [120]
    assert f"In class this is {sum(in_class)} minutes and at home {at_home}" in text
    assert f"of which {read} are for reading" in text
    # Each question of the homework is planned for, beside the report of the assignment.
    assert at_home == read + core + sum(TASKS.get(one, 10) for one in SHEETS["homework"]) + REPORT
    # A chapter takes what its first line says, all its core exercises with it.
    by_key = keys()
    named = [by_key[key] for key in re.findall(r"\{ch\}`(\w+)`", "".join(c[1] for c in cells))]
    named += [page for page in pages() if page.stem == "markets"]
    stated = sum(map(minutes_of, named))
    solved = sum(row.minutes for page in named for row in rows(page) if row.core)
    assert (read, core) == (stated - solved, solved)


def test_the_minutes_of_the_term_are_those_of_its_chapters_and_sheets():
    plan = TEXT.partition("**A term: fourteen weeks")[2].partition("**Six sessions")[0]
    weeks = [row.split("|")[1:-1] for row in re.findall(r"^\| \d+ \|.*$", plan, re.M)]
    assert [int(week[0]) for week in weeks] == list(range(1, 15))
    assert {week[3].strip() for week in weeks} - {"–"} == set(SHEETS) - {"homework"}
    by_key = {**keys(), **{page.stem: page for page in pages()}}
    total = 0
    for number, chapter, _, sheet, home, _ in weeks:
        named = re.findall(r"\{ch\}`(\w+)`|notebooks/(\w+)\.ipynb", chapter)
        stated = sum(minutes_of(by_key[key or stem]) for key, stem in named)
        asked = SHEETS.get(sheet.strip(), ())
        stated += sum(TASKS.get(name, 10) for name in asked) + REPORT * (int(number) == 14)
        assert int(home) == stated, f"week {number}"
        total += stated
    assert f"At home this is {total:,} minutes" in plan


def test_the_minutes_that_chapters_state_are_those_that_they_need():
    """In all: a chapter may have its reasons."""
    able = [page for page in pages() if page.path.suffix == ".ipynb"]
    able = [page for page in able if "minutes with the core" in page.cells[0]["source"]]
    needed = sum(counted(page)["needed"] for page in able)
    assert sum(map(minutes_of, able)) == pytest.approx(needed, rel=0.1)
