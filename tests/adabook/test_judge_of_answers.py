"""The judge of submissions: right, wrong and endless answers, each in a fresh process."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import adalib
from adabook.exercises import JUDGED, Checker
from adabook.exercises.values import Value
from adabook.plain_data import as_plain, from_plain
from adabook.submissions import verdicts
from adalib.solve.oracle import chosen


def verdict(chapter, name, answer, key=None):
    """The verdict on one answer, as a notebook hands it over."""
    asked = {"chapter": chapter, "name": name, "key": key, "answer": as_plain(answer)}
    return verdicts([asked])[0]


@pytest.mark.parametrize(
    "value", [3, 0.5, "7/8", None, True, [1, [2.5, "x"]], np.array([[1.0, 2.0], [3.0, 4.0]])]
)
def test_plain_data_comes_back_as_it_was(value):
    np.testing.assert_equal(from_plain(as_plain(value)), value)


def test_tables_and_populations_come_back():
    table = adalib.UtilityTable([[0.1, 0.5]], [1, 2])
    again = from_plain(as_plain(table))
    np.testing.assert_array_equal(again.acc, table.acc)
    people = adalib.flat_null(5)
    np.testing.assert_array_equal(from_plain(as_plain(people)).probs, people.probs)
    assert from_plain(as_plain((np.float64(0.25), Fraction(1, 4)))) == [0.25, 0.25]


def test_a_value_is_judged_in_a_fresh_process():
    assert verdict("estimation", "single", 0.875) == (True, "")


@pytest.mark.parametrize(
    "answer",
    [
        Decimal("0.5"),
        np.array(0.5),
        np.float32(0.5),
        pd.Series([0.5]),
        pd.DataFrame([[0.5]]),
        "1/2",
    ],
)
def test_whatever_holds_the_number_is_judged_by_the_key(answer):
    key = {"answer": 0.5, "hint": "think of a coin", "tolerance": 1e-3}
    plain = as_plain(answer)
    assert Checker({"half": Value("half", **key)})("half", from_plain(plain)).right


def test_homework_is_judged_by_its_key():
    key = {"answer": 0.5, "hint": "think of a coin", "wrong": {"that is all": 1.0}}
    assert verdict("homework", "half", 0.5, key) == (True, "")
    assert verdict("homework", "half", 1, key) == (False, "that is all")


class TestFunctions:
    """Functions are sent to the process that runs them with cloudpickle."""

    def test_a_function_may_use_packages_and_global_names_and_print(self):
        def solved(capacity, fuel, demand):
            print("still looking")
            bounds = [(0, most) for most in capacity]
            return linprog(fuel, A_eq=[0 * fuel + 1], b_eq=[demand], bounds=bounds).x.round(9)

        assert verdict("markets", "dispatch", solved).right

    def test_the_judges_own_brute_force_is_not_there(self):
        place = "budgets", "frontier"
        assert "No module named 'adabook'" in verdict(*place, JUDGED[place].brute_force).hint

    def test_a_wrong_function_gets_its_hint(self):
        wrong = verdict("oracle", "oracle", lambda acc, cost, lam: acc.argmax(axis=1))
        assert "forgets the price" in wrong.hint

    def test_an_endless_function_ends_in_the_seconds_that_its_hint_names(self, monkeypatch):
        def endless(acc, cost, lam):
            while True:
                lam += 1

        monkeypatch.setattr("adabook.submissions.FUNCTION_SECONDS", 2.0)  # not the usual minute
        assert "2 seconds" in verdict("oracle", "oracle", endless).hint

    def test_a_function_that_asks_for_input_does_not_wait(self):
        asking = verdict("oracle", "oracle", lambda acc, cost, lam: int(input()))
        assert "EOFError" in asking.hint

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
