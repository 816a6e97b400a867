"""The teacher's page: its links show what it says they show."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs

from conftest import ROOT

from adabook.homework import SHEETS
from adabook.paper.settings import SETTINGS, answers
from contents import keys, pages
from editions.grading import rows

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


def minutes(cell):
    """The minutes in a cell of the syllabus, each in brackets."""
    return sum(map(int, re.findall(r"\((\d+)\)", cell)))


def test_the_minutes_of_the_syllabus_add_up():
    text = (ROOT / "book" / "syllabus.md").read_text(encoding="utf-8")
    cells = [row.split("|")[1:-1] for row in re.findall(r"^\| (?:\d\. |Lab).*$", text, re.M)]
    in_class = [minutes(cell) for *_, cell, _ in cells]
    at_home = sum(minutes(cell) for *_, cell in cells)
    read = sum(map(int, re.findall(r"reading \((\d+)\)", text)))
    assert in_class == [100] * 5 + [120]
    assert f"In class this is {sum(in_class)} minutes and at home {at_home}" in text
    assert f"of which {read} are for reading" in text
    # What a chapter's first line says, without its core exercises.
    by_key = keys()
    named = [by_key[key] for key in re.findall(r"\{ch\}`(\w+)`", "".join(c[1] for c in cells))]
    named += [page for page in pages() if page.stem == "markets"]
    stated = 0
    for page in named:
        first = page.cells[0]["source"]
        whole = int(re.search(r"(\d+) minutes with the core", first)[1])
        stated += whole - sum(row.minutes for row in rows(page) if row.core)
    assert read == stated


#: Minutes of a question of homework, by what it asks for.
TASKS = {"function": 20, "proof": 30}


def test_the_minutes_of_the_term_are_those_of_its_chapters_and_sheets():
    plan = TEXT.partition("**A term: fourteen weeks")[2].partition("**Six sessions")[0]
    weeks = [row.split("|")[1:-1] for row in re.findall(r"^\| \d+ \|.*$", plan, re.M)]
    assert [int(week[0]) for week in weeks] == list(range(1, 15))
    assert {week[3].strip() for week in weeks} - {"–"} == set(SHEETS) - {"homework"}
    by_key = {**keys(), **{page.stem: page for page in pages()}}
    total = 0
    for number, chapter, _, sheet, home, _ in weeks:
        named = re.findall(r"\{ch\}`(\w+)`|notebooks/(\w+)\.ipynb", chapter)
        first = [by_key[key or stem].cells[0]["source"] for key, stem in named]
        stated = sum(int(re.search(r"(\d+) minutes with the core", text)[1]) for text in first)
        asked = SHEETS.get(sheet.strip(), ())
        stated += sum(TASKS.get(name, 10) for name in asked) + 180 * (int(number) == 14)
        assert int(home) == stated, f"week {number}"
        total += stated
    assert f"At home this is {total:,} minutes" in plan
