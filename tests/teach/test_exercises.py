"""The checks of the exercises: silent until answered, right for the truth, a hint for anything else."""

import importlib
import pkgutil

import pytest

from adalib.teach import exercises
from adalib.teach.exercises import Exercise, checker

CHAPTERS = [m.name for m in pkgutil.iter_modules(exercises.__path__) if m.name.startswith("chapter_")]


@pytest.mark.parametrize("answer", ["nonsense", float("nan"), -1e9, [1], object()])
def test_anything_else_gets_a_hint(answer):
    found = checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})("e", answer)
    assert (found.right, found.hint) == (False, "think of a coin")
    assert repr(found) == "Exercise e: not yet. Hint: think of a coin."


def test_within_tolerance_is_right():
    check = checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})
    assert [check("e", answer).right for answer in (0.5004, "0.5", None)] == [True, True, None]


def test_an_unknown_name_is_refused_with_the_names():
    with pytest.raises(ValueError, match="the names are e"):
        checker({"e": Exercise(lambda: 1, "")})("f", 1)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_chapter_calls_silence_right(chapter):
    check = importlib.import_module(f"adalib.teach.exercises.{chapter}").check
    with pytest.raises(ValueError, match="the names are") as refused:
        check("no such exercise", 1)
    for name in str(refused.value).split("the names are ")[1].split(", "):
        assert check(name, None).right is None
        assert "adalib-answer" in check(name, None)._repr_html_()
        assert check(name, "certainly not this").hint
