"""Homework: numbers of one's own, right answers, and mistakes by their names."""

from __future__ import annotations

import numpy as np

from adabook import homework
from adabook.homework import SHEETS, Question, drawn_questions, exercise_of


def numbers_of(student, sheet):
    """The questions that ask for a number, of every kind of sheet."""
    drawn = {}
    for kind in SHEETS:
        drawn |= drawn_questions(student, sheet, kind)
    return {name: question for name, question in drawn.items() if isinstance(question, Question)}


def test_everyone_has_other_numbers():
    texts = [repr(homework(name)) for name in ("ada", "ben", "ada")]
    assert texts[0] == texts[2]
    assert texts[0].split("\n", 1)[1] != texts[1].split("\n", 1)[1]
    assert repr(homework("ada", "2")) != texts[0]


def test_composed_accents_do_not_change_the_numbers():
    plain = homework("Zo\u00eb").questions
    assert homework(" Zoe\u0308 ").questions == plain


def test_every_typical_mistake_gets_its_own_hint_from_some_student():
    """Where two mistakes lead to one number, the hint names both; forty students suffice."""
    hints, alone = set(), set()
    for number in range(40):
        for name, question in numbers_of(f"student-{number}", "1").items():
            exercise = exercise_of(name, question.key())
            assert exercise.fault(question.answer) is None
            near = [
                wrong
                for wrong in question.wrong.values()
                if abs(wrong - question.answer) <= question.tolerance
            ]
            assert near == [], f"{name}: the right answer is called a mistake"
            assert exercise.fault(round(question.answer, 4)) is None, "what a person copies down"
            for hint, wrong in question.wrong.items():
                parts = hint.split("; or ")
                hints |= {(name, part) for part in parts}
                told = exercise.fault(wrong)
                assert told == hint or "rounded" in told
                if len(parts) == 1 and told == hint:
                    alone.add((name, hint))
    assert alone == hints


def test_the_most_accurate_budget_is_a_mistake_only_where_it_is_not_the_best():
    """And both come up: who always looks for another one is wrong, too."""
    drawn = [numbers_of(f"student-{number}", "1")["dual value"] for number in range(40)]
    named = ["need not be the best" in " ".join(question.wrong) for question in drawn]
    assert 0 < sum(named) < len(named)


def test_the_kinds_of_sheets_share_no_numbers():
    one, other = (drawn_questions("ada", "1", kind)["bill"].text for kind in ("homework", "prices"))
    assert one != other
    assert one == drawn_questions("ada", "1")["bill"].text


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
