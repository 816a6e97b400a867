"""Homework: numbers of one's own, right answers, and mistakes by their names."""

from __future__ import annotations

import numpy as np
import pytest

from adabook import homework
from adabook.homework import Question, drawn_questions, exercise_of, exercises


def numbers_of(student, sheet):
    """The questions of a sheet that ask for a number."""
    drawn = drawn_questions(student, sheet)
    return {name: question for name, question in drawn.items() if isinstance(question, Question)}


def test_everyone_has_other_numbers():
    texts = [repr(homework(name)) for name in ("ada", "ben", "ada")]
    assert texts[0] == texts[2]
    assert texts[0].split("\n", 1)[1] != texts[1].split("\n", 1)[1]
    assert repr(homework("ada", "2")) != texts[0]


def test_composed_accents_do_not_change_the_numbers():
    plain = homework("Zo\u00eb").questions
    assert homework(" Zoe\u0308 ").questions == plain


@pytest.mark.parametrize("student", [f"student-{number}" for number in range(8)])
def test_a_typical_mistake_gets_its_hint(student):
    checked_by = exercises(student, "1")
    for name, question in numbers_of(student, "1").items():
        exercise = checked_by[name]
        assert exercise.fault(question.answer) is None
        assert exercise.fault(round(question.answer, 4)) is None, "what a person copies down"
        hints = {exercise.fault(wrong) for wrong in question.wrong.values()}
        assert None not in hints, f"{name}: a mistake leads to the right answer"


def test_every_typical_mistake_gets_its_own_hint_from_some_student():
    """Two mistakes may meet in one student's numbers, so we ask up to forty students."""
    missing = {
        (name, hint) for name, question in numbers_of("ada", "1").items() for hint in question.wrong
    }
    number = 0
    while missing and number < 40:
        for name, question in numbers_of(f"student-{number}", "1").items():
            assert len(question.wrong) >= 3, name
            exercise = exercise_of(
                name, question.key()
            )  # not `exercises`, which draws all of them again
            for hint, wrong in question.wrong.items():
                if (name, hint) in missing and exercise.fault(wrong) == hint:
                    missing.remove((name, hint))
        number += 1
    assert missing == set()


def test_a_students_sheet_has_no_answers():
    mine = homework("ada")
    assert all(isinstance(text, str) for text in mine.questions.values())
    held = [value for value in vars(mine).values() if isinstance(value, (float, np.floating))]
    assert held == []


def test_another_answer_gets_two_hints():
    checked = homework("ada").check("curse", 99)
    assert checked.right is False
    assert checked.more not in ("", checked.hint)
    assert "the names are" in homework("ada").check("no such", 1).hint
