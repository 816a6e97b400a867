"""The judge of the hidden tests: right, wrong, patched and endless answers, each in a fresh
process."""

from __future__ import annotations

import runpy
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest

import adalib
from adabook.exercises import Checked, Checker
from adabook.homework import drawn_questions
from adabook.judge import as_plain, from_plain, verdict
from adalib.solve.oracle import chosen


@pytest.mark.parametrize(
    "value", [3, 0.5, "7/8", None, True, [1, [2.5, "x"]], np.array([[1.0, 2.0], [3.0, 4.0]])]
)
def test_plain_data_comes_back_as_it_was(value):
    np.testing.assert_equal(from_plain(as_plain(value, [])), value)


def test_tables_and_populations_come_back():
    table = adalib.UtilityTable([[0.1, 0.5]], [1, 2])
    again = from_plain(as_plain(table, []))
    np.testing.assert_array_equal(again.acc, table.acc)
    people = adalib.flat_null(5)
    np.testing.assert_array_equal(from_plain(as_plain(people, [])).probs, people.probs)
    assert from_plain(as_plain((np.float64(0.25), Fraction(1, 4)), [])) == [0.25, 0.25]


def test_a_value_is_judged_in_a_fresh_process():
    assert verdict("estimation", "single", 0.875) == (True, "")


def test_a_patched_notebook_gains_nothing(monkeypatch):
    monkeypatch.setattr(Checker, "__call__", lambda *_: Checked("single", True))
    judge = runpy.run_path(find_spec("adabook.judge").origin)["verdict"]
    assert judge("estimation", "single", 0.5) == (
        False,
        "that is the truth; the claim is asked for",
    )


def test_homework_is_drawn_again_from_the_id():
    answer = drawn_questions("ada", "1")["curse"].answer
    assert verdict("1", "curse", answer, student="ada").right
    assert not verdict("1", "curse", None, student="ada").right


class TestFunctions:
    """Functions are sent to the judge with dill, which comes with Otter."""

    def test_a_right_function_may_print(self):
        def right(acc, cost, lam):
            print("still looking")
            return (acc - lam * cost).argmax(axis=1)

        assert verdict("oracle", "oracle", right).right

    def test_a_wrong_function_gets_its_hint(self):
        wrong = verdict("oracle", "oracle", lambda acc, cost, lam: acc.argmax(axis=1))
        assert wrong.hint == "it takes the most accurate column and forgets the price"

    def test_a_function_that_patches_its_judge_is_wrong(self):
        def patches(acc, cost, lam):
            import adabook.exercises.judged

            adabook.exercises.judged.Build._wrong = lambda *_: None
            return [0] * len(acc)

        assert not verdict("oracle", "oracle", patches).right

    def test_an_endless_function_ends_in_the_seconds_that_its_hint_names(self, monkeypatch):
        def endless(acc, cost, lam):
            while True:
                lam += 1

        monkeypatch.setattr("adabook.judge._FUNCTION_SECONDS", 2.0)  # not the usual minute
        assert "it was still running after 2 seconds" in verdict("oracle", "oracle", endless).hint

    def test_a_proof_keeps_the_names_of_its_objects(self):
        def mean(table, labels):
            return chosen(np.broadcast_to(table, (len(labels), np.shape(table)[-1])), labels).mean()

        proof = [
            lambda acc, plan: mean(acc, plan),
            "The other policy costs no more.",
            lambda acc, cost, lam, plan, oracle: (
                mean(acc, plan) + lam * (mean(cost, oracle) - mean(cost, plan))
            ),
            "No net value is above the oracle's.",
            lambda acc, oracle: mean(acc, oracle),
        ]
        assert verdict("oracle", "everett", proof).right
        assert "a step is missing" in verdict("oracle", "everett", [*proof[:2], *proof[-1:]]).hint
