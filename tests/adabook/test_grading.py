"""The notes on grading list every exercise once, with what the checks know."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from adabook.exercises import JUDGED, checks, value_exercises
from contents import pages
from editions.grading import MINUTES, grading_page, rows

ASKING = [page for page in pages() if "check(" in page.path.read_text(encoding="utf-8")]
ASKING = [page for page in ASKING if page.path.suffix == ".ipynb"]
TEACH, SYLLABUS = (
    (ROOT / "book" / name).read_text(encoding="utf-8") for name in ("teach.md", "syllabus.md")
)


@pytest.mark.parametrize("page", ASKING, ids=lambda page: page.key)
def test_every_exercise_of_a_page_is_listed(page):
    listed = [row.name for row in rows(page)]
    judged = [name for place, name in JUDGED if place == page.key]
    assert sorted(listed) == sorted([*judged, *value_exercises().get(page.key, {})])


@pytest.mark.parametrize("page", ASKING, ids=lambda page: page.key)
def test_mistakes_are_those_that_the_checks_tell_apart(page):
    exercises = checks(page.key).exercises
    for row in rows(page):
        exercise = exercises[row.name]
        told_apart = [*getattr(exercise, "wrong", []), *getattr(exercise, "mistakes", [])]
        assert set(told_apart) <= set(row.mistakes)
        assert all(row.mistakes)


def test_every_row_of_the_page_has_four_cells():
    lines = [line for line in grading_page(ROOT).splitlines() if line.startswith("| ")]
    listed = [line for line in lines if re.match(r"\| [\dA-Z.]+ \*", line)]
    assert len(listed) == sum(len(rows(page)) for page in ASKING)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in listed} == {5}


def test_the_teaching_page_names_the_same_minutes():
    sentence = re.search(r"An exercise takes.*?\.", TEACH, re.S)[0]
    assert [int(number) for number in re.findall(r"\d+", sentence)] == list(MINUTES.values())


def core_minutes(key):
    """How long the core exercises of a chapter take."""
    (page,) = (page for page in ASKING if page.key == key)
    return sum(row.minutes for row in rows(page) if row.core)


def test_the_syllabus_allows_core_exercises_their_minutes():
    lines = [line for line in SYLLABUS.splitlines() if "core exercises" in line and "|" in line]
    assert lines
    for line in lines:
        _, _, taught, _, at_home, _ = line.split("|")
        exercises, minutes = re.search(r"core exercises(.*?) \((\d+)\)", at_home).groups()
        named = r"`(\w+)`|notebooks/(\w+)\.ipynb"
        found = re.findall(named, exercises) or re.findall(named, taught)
        keys = [chapter or lesson for chapter, lesson in found]
        assert int(minutes) == sum(map(core_minutes, keys)), line
