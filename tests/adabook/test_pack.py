"""The teacher's pack: the question to ask a student has the answer that a scan of prices finds."""

from __future__ import annotations

import re

import numpy as np
import pytest

from adabook.homework import drawn_questions
from editions.pack import keys_page, oral_question

SECRET = "a sentence that nobody guesses"


@pytest.mark.parametrize("student", [f"student-{number}" for number in range(12)])
def test_the_question_to_ask_is_answered_by_a_scan(student):
    drawn = drawn_questions(student, SECRET)
    asked, answer = oral_question(drawn)
    acc, cost = np.array(drawn["bill"].table), np.array([1, 2, 4, 8])
    price = float(re.search(r"price is ([\d.]+)\.", asked)[1])
    prices = np.arange(price, 1, 1e-5)
    best = (acc - prices[:, None, None] * cost).argmax(axis=2)
    moved = np.flatnonzero((best != best[0]).any(axis=1))
    if not len(moved):
        assert "cheapest already" in answer
        return
    row = int(np.flatnonzero(best[moved[0]] != best[0])[0])
    said = re.match(r"([A-D]), from (\d) to (\d), at ([\d.]+):", answer)
    assert said[1] == "ABCD"[row]
    assert [int(said[2]), int(said[3])] == [cost[best[0, row]], cost[best[moved[0], row]]]
    assert float(said[4]) == pytest.approx(prices[moved[0]], abs=1e-4)


def test_every_student_has_a_key_and_no_secret_is_printed():
    page = keys_page(["ada", "ben"], SECRET)
    assert page.count("**Ask:**") == 2
    assert SECRET not in page
    bound = drawn_questions("ben", SECRET)["bound"].answer
    assert f"| bound | {round(bound, 5):g} |" in page.partition("## ben")[2]
