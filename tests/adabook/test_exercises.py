"""The checks of the exercises: silent until answered, right for the truth, a hint for anything
else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adabook.exercises import JUDGED, Checker, checks, value_exercises
from adabook.exercises.behaviour import Construction
from adabook.exercises.values import Value

CHAPTERS = sorted({*value_exercises(), *(chapter for chapter, _ in JUDGED)})
COIN = Checker({"e": Value("e", 0.5, "think of a coin", tolerance=1e-3)})


@pytest.mark.parametrize("answer", ["nonsense", float("nan"), [1, 2], {"a": 1}, object(), "1/0"])
def test_what_is_no_number_is_told_so(answer):
    assert not COIN("e", answer).right
    assert COIN("e", answer).hint not in ("", "think of a coin")


@pytest.mark.parametrize("answer", [-1e9, [1], True, float("inf"), 1e308, 0.50123, 0.49877])
def test_anything_else_gets_a_hint(answer):
    assert (COIN("e", answer).right, COIN("e", answer).hint) == (False, "think of a coin")
    assert "think of a coin" in repr(COIN("e", answer))


def test_a_value_within_tolerance_is_right():
    assert [COIN("e", answer).right for answer in (0.5004, "0.5", None)] == [True, True, None]


def test_the_tolerance_is_stated_before_the_answer():
    assert "The tolerance is 0.001" in repr(COIN("e", None))


def test_what_a_reasonable_person_types_is_right():
    for answer in ("87.5%", np.array([[0.875]]), Fraction(7, 8), " 7 / 8 "):
        assert Value("e", 0.875, "eighths").fault(answer) is None
    for answer in ("Word-Trees", "'word-trees'", " word-trees\n", np.array(["word-trees"])):
        assert Value("e", "word-trees", "a family").fault(answer) is None


def test_an_unknown_name_gets_the_names():
    assert not COIN("f", 1).right
    assert "the names are e" in COIN("f", 1).hint


def test_an_answer_that_cannot_be_read_gets_a_hint():
    def refuses(answer):
        raise KeyError("gold")

    checked = Checker({"e": Construction(refuses, "")})("e", 3)
    assert not checked.right
    assert "KeyError: 'gold'" in checked.hint


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_silence_answers_no_exercise_and_a_wrong_answer_gets_a_hint(chapter):
    check = checks(chapter)
    for name in check.exercises:
        assert check(name, None).right is None
        assert f'data-chapter="{chapter}" data-name="{name}"' in check(name, None)._repr_html_()
        assert check(name, "certainly not this").hint


@pytest.mark.parametrize("chapter", value_exercises())
def test_every_mistake_that_a_value_names_gets_its_own_hint(chapter):
    for name, about in value_exercises()[chapter].items():
        # The right answer is right, and no mistake is taken for it or for another mistake.
        exercise = Value(name, **about)
        assert about["hint"] not in exercise.wrong, name
        assert exercise.fault(about["answer"]) is None, name
        for hint, mistake in exercise.wrong.items():
            assert exercise.fault(mistake) == hint, name


def test_a_decimal_comma_outside_of_quotes_gets_its_sentence():
    one = Value("one", 0.76, "think", tolerance=0.01)
    assert one.fault((0, 76)).endswith("0.76")
    assert "not a number" in one.fault((0, 7, 6))
