"""The checks of the exercises: silent until answered, right for the truth, a hint for anything else."""

import importlib
import pkgutil
from fractions import Fraction

import numpy as np
import pytest

import adalib
from adalib.teach import exercises
from adalib.teach.exercises import Construction, Exercise, checker

CHAPTERS = [m.name for m in pkgutil.iter_modules(exercises.__path__) if m.name.startswith("chapter_")]


@pytest.mark.parametrize("answer", ["nonsense", float("nan"), [1, 2], {"a": 1}, object(), "1/0"])
def test_what_is_no_number_is_told_so(answer):
    found = checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})("e", answer)
    assert not found.right
    assert "that is no number" in found.hint


@pytest.mark.parametrize("answer", [-1e9, [1], True, float("inf")])
def test_anything_else_gets_a_hint(answer):
    found = checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})("e", answer)
    assert (found.right, found.hint) == (False, "think of a coin")
    assert repr(found) == "Exercise e: not yet. Hint: think of a coin."


def test_within_tolerance_is_right():
    check = checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})
    assert [check("e", answer).right for answer in (0.5004, "0.5", None)] == [True, True, None]


@pytest.mark.parametrize("answer", ["7/8", "87.5%", "0.875", [0.875], np.array([[0.875]]), Fraction(7, 8), " 7 / 8 "])
def test_what_a_reasonable_person_types_is_right(answer):
    assert checker({"e": Exercise(lambda: 0.875, "eighths")})("e", answer).right


@pytest.mark.parametrize("answer", ["Word-Trees", "'word-trees'", " word-trees\n", np.array(["word-trees"])])
def test_a_name_needs_no_exact_writing(answer):
    assert checker({"e": Exercise(lambda: "word-trees", "a family")})("e", answer).right


def test_the_tolerance_is_stated_before_the_answer():
    assert "within 0.001" in repr(checker({"e": Exercise(lambda: 0.5, "think of a coin", 1e-3)})("e", None))


def test_an_unknown_name_is_told_the_names():
    found = checker({"e": Exercise(lambda: 1, "")})("f", 1)
    assert not found.right
    assert "the names are e" in found.hint


def test_an_answer_that_raises_is_a_hint():
    def refuses(answer):
        raise KeyError("gold")

    found = checker({"e": Construction(refuses)})("e", 3)
    assert (found.right, found.hint) == (False, "your answer could not be read: KeyError: 'gold'")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_five_exercises_of_which_silence_answers_none(chapter):
    check = _check(chapter)
    assert len(check.exercises) >= 5
    for name in check.exercises:
        assert check(name, None).right is None
        assert "adalib-answer" in check(name, None)._repr_html_()
        assert check(name, "certainly not this").hint


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_typical_mistakes_are_called_by_their_names(chapter):
    check = _check(chapter)
    for name, exercise in check.exercises.items():
        assert exercise.more, name
        if not isinstance(exercise, Exercise):
            continue
        assert check(name, exercise.truth()).right
        assert len(exercise.wrong) >= 3, name
        for said, wrong in exercise.wrong.items():
            found = check(name, wrong())
            assert (found.right, found.hint) == (False, said), name


WRONG = {
    ("chapter_04", "gap"): [
        ([[0, 1]], [1, 2], 1.5),
        ([[0, 1], [0, 1]], [1, 2], 1.5),
        ([[0, 2], [0, 1]], [1, 2], 1.25),
        "a table",
    ],
    ("chapter_04", "exact"): [4, 2, "many"],
    ("chapter_04", "perfect"): [
        ([[0, 1], [0, 1]], [1, 2], 1.5),
        ([[0, 1], [0.5, 0.5]], [1, 2], 1.5),
        ([[0, 2]], [1, 2], 1),
    ],
    ("chapter_04", "mean gap"): [
        ([[1, 0], [1, 0]], [1, 2], 0.01, [1, 0]),
        ([[1, 0]], [1, 2], 0.01, [0]),
        ([[1, 0]], [1, 2], -1, [0]),
    ],
    ("chapter_05", "null"): [
        adalib.two_answer([0.7] * 50),
        adalib.two_answer([0.5] * 50),
        adalib.two_answer([1.0] * 50),
        adalib.two_answer([1.0] * 3),
    ],
    ("chapter_06", "blind"): [
        ("one two three", "two three four"),
        "one text",
        ("what is two plus three", "three plus two is what"),
        ("what is two plus three", "what is 2 plus 3"),
    ],
    ("chapter_08", "thin"): [
        adalib.UtilityTable(np.zeros((20, 5)), [1, 2, 4, 8, 16]),
        adalib.UtilityTable([[0, 0, 0, 0, 1]] * 10 + [[0] * 5] * 10, [1, 2, 4, 8, 16]),
        "twenty questions",
    ],
    ("chapter_09", "menu"): ["three", (1, 2), (1, 15, 16)],
    ("chapter_11", "controller"): [
        "a price",
        lambda costs, budget, first, step: first,
        lambda costs, budget, first, step: np.full(len(costs), first),
    ],
}


@pytest.mark.parametrize(("chapter", "name"), WRONG)
def test_a_construction_says_what_it_lacks(chapter, name):
    """Three objects that miss in three ways are told three different things."""
    found = [_check(chapter)(name, answer) for answer in WRONG[chapter, name]]
    assert all(checked.right is False for checked in found)
    assert len({checked.hint for checked in found}) >= 3


def test_every_construction_is_tried():
    named = {(c, n) for c in CHAPTERS for n, kind in _check(c).exercises.items() if isinstance(kind, Construction)}
    assert named == set(WRONG)


def _check(chapter):
    return importlib.import_module(f"adalib.teach.exercises.{chapter}").check
