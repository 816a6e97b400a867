"""The checks of the exercises: silent until answered, right for the truth, a hint for anything else."""

import importlib
import pkgutil

import pytest

from adalib.teach import exercises
from adalib.teach.exercises import Exercise, checker

CHAPTERS = [module.name for module in pkgutil.iter_modules(exercises.__path__)]


def said(capsys) -> str:
    return capsys.readouterr().out


@pytest.mark.parametrize("answer", ["nonsense", float("nan"), -1e9, [1], object()])
def test_anything_else_gets_a_hint(answer, capsys):
    checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})("e", answer)
    assert said(capsys) == "Exercise e: not yet. Hint: think of a coin.\n"


def test_within_tolerance_is_right(capsys):
    check = checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})
    check("e", 0.5004)
    check("e", "0.5")
    check("e", None)
    assert said(capsys) == "Exercise e: right.\nExercise e: right.\nExercise e: not answered yet.\n"


def test_an_unknown_name_is_refused_with_the_names():
    with pytest.raises(ValueError, match="the names are e"):
        checker({"e": Exercise(lambda: 1, "")})("f", 1)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_chapter_calls_silence_right(chapter, capsys):
    check = importlib.import_module(f"adalib.teach.exercises.{chapter}").check
    with pytest.raises(ValueError, match="the names are") as refused:
        check("no such exercise", 1)
    for name in str(refused.value).split("the names are ")[1].split(", "):
        check(name, None)
        assert "not answered yet" in said(capsys)
        check(name, "certainly not this")
        assert "Hint" in said(capsys)
