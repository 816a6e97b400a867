"""The checks of the exercises: silent until answered, right for the truth, a hint for anything
else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import adalib
import adalib.paper
from adalib.teach.exercises import JUDGED, RECORD, Checker, checks, recorded
from adalib.teach.exercises.cases import best_value
from adalib.teach.exercises.judged import Construction
from adalib.teach.exercises.values import value

CHAPTERS = sorted({*recorded(), *(chapter for chapter, _ in JUDGED)})
COIN = Checker({"e": value("e", 0.5, "think of a coin", tolerance=1e-3)})


@pytest.mark.parametrize("answer", ["nonsense", float("nan"), [1, 2], {"a": 1}, object(), "1/0"])
def test_what_is_no_number_is_told_so(answer):
    assert not COIN("e", answer).right
    assert "that is no number" in COIN("e", answer).hint


@pytest.mark.parametrize("answer", [-1e9, [1], True, float("inf"), 1e308])
def test_anything_else_gets_a_hint(answer):
    assert (COIN("e", answer).right, COIN("e", answer).hint) == (False, "think of a coin")
    assert repr(COIN("e", answer)) == "Exercise e: not yet. Hint: think of a coin."


def test_a_value_within_tolerance_is_right():
    assert [COIN("e", answer).right for answer in (0.5004, "0.5", None)] == [True, True, None]


def test_the_tolerance_is_stated_before_the_answer():
    assert "within 0.001" in repr(COIN("e", None))


def test_what_a_reasonable_person_types_is_right():
    for answer in (
        "7/8",
        "87.5%",
        "0.875",
        [0.875],
        np.array([[0.875]]),
        Fraction(7, 8),
        " 7 / 8 ",
    ):
        assert value("e", 0.875, "eighths").fault(answer) is None
    for answer in ("Word-Trees", "'word-trees'", " word-trees\n", np.array(["word-trees"])):
        assert value("e", "word-trees", "a family").fault(answer) is None


def test_an_unknown_name_gets_the_names():
    assert not COIN("f", 1).right
    assert "the names are e" in COIN("f", 1).hint


def test_an_answer_that_cannot_be_read_gets_a_hint():
    def refuses(answer):
        raise KeyError("gold")

    checked = Checker({"e": Construction(refuses, "")})("e", 3)
    assert (checked.right, checked.hint) == (
        False,
        "your answer could not be read: KeyError: 'gold'",
    )


class TestSolution:
    def test_a_solution_brings_its_exercise_along(self):
        check, solution = checks("data")
        assert check("fresh", None).right is None
        written = solution(
            "fresh", 8, hint="count", more="on your fingers", wrong={"that is half of it": 4}
        )
        assert [check("fresh", answer).hint for answer in (8, 4, 5)] == [
            "",
            "that is half of it",
            "count",
        ]
        bundle = written._repr_mimebundle_()
        assert bundle["text/plain"] == "Exercise fresh: right."
        kept = bundle[written.MIME]
        assert (kept["chapter"], kept["name"], kept["hint"]) == ("data", "fresh", "count")
        assert "8" not in {kept["key"]["right"][0], kept["wrong"][0]["right"][0]}

    @pytest.mark.parametrize(
        "wrong", [{"as good as right": 0.5004}, {"one": 4, "the same": 4.0001}, {"silence": "x"}]
    )
    def test_a_mistake_that_would_be_taken_for_something_else_is_refused(self, wrong):
        with pytest.raises(ValueError, match="gets the hint"):
            checks("data")[1]("e", 0.5, hint="think of a coin", tolerance=1e-3, wrong=wrong)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_three_exercises_of_which_silence_answers_none(chapter):
    check, _ = checks(chapter)
    assert len(check.exercises) >= 3
    for name in check.exercises:
        assert check(name, None).right is None
        assert f'data-chapter="{chapter}" data-name="{name}"' in check(name, None)._repr_html_()
        assert check(name, "certainly not this").hint
        assert check.exercises[name].more, name


def test_the_record_tells_no_answer():
    text = RECORD.read_text(encoding="utf-8")
    assert '"answer"' not in text
    assert '"truth"' not in text


@pytest.mark.parametrize("chapter", recorded())
def test_every_value_names_three_mistakes_with_hints_of_their_own(chapter):
    for name, kept in recorded()[chapter].items():
        hints = [wrong["hint"] for wrong in kept["wrong"]]
        assert len(set(hints)) >= 3, name
        assert len({*hints, kept["hint"], kept["more"]}) == len(hints) + 2, name


@pytest.fixture(scope="module")
def table(word):
    return word.table()


@pytest.fixture(scope="module")
def hot():
    return adalib.load("word-hot").table()


class TestAnotherRoad:
    """An answer reached another way passes, a near miss does not."""

    @staticmethod
    def right(chapter, name, answer, miss):
        check, _ = checks(chapter)
        return check(name, answer).right and not check(name, miss).right

    def test_of_the_oracle(self, word, table):
        row, prices = word.ids.index("word-trees-05"), np.linspace(0, 0.1, 100_001)
        takes = np.argmax(table.acc[row] - prices[:, None] * table.cost, axis=1)
        last = prices[np.flatnonzero(takes == 4)[-1]]
        assert self.right("oracle", "letgo", last, last + 0.001)
        best = np.mean([max(row - 0.02 * table.cost) for row in table.acc])
        same = max(np.mean(table.acc[:, j]) - 0.02 * table.cost[j] for j in range(table.k))
        assert self.right("oracle", "uniform", best - same, best)
        # A second answer is bought although it brings less than the price.
        count = 0
        for row in table.acc:
            best = max(range(5), key=lambda j: (row[j] - 0.03 * table.cost[j], -j))
            count += best >= 2 and row[1] - row[0] < 0.03
        assert count > 150
        assert self.right("oracle", "second", count, count - 1)

    def test_of_budgets(self, hot, table):
        two, three = (best_value(hot.acc, hot.cost, budget) for budget in (2, 3))
        assert self.right("budgets", "worth", three - two, (three - two) * 1.05)
        path = adalib.frontier(hot.acc, hot.cost)
        mean_price = (path.at(2).lam + path.at(3).lam) / 2
        assert "mean of the prices" in checks("budgets")[0]("worth", mean_price).hint
        goal, means, cost = best_value(table.acc, table.cost, 2), table.acc.mean(axis=0), table.cost
        pairs = [
            (i, j) for i in range(table.k) for j in range(table.k) if means[i] <= goal < means[j]
        ]
        needed = min(
            cost[i] + (goal - means[i]) / (means[j] - means[i]) * (cost[j] - cost[i])
            for i, j in pairs
        )
        assert self.right("budgets", "save", needed, needed + 0.1)

    def test_of_chapter_5_a_second_answer(self):
        acc = adalib.load("math-qwen15").table().acc.mean(axis=0)
        assert self.right("estimation", "second", acc[1] - acc[0], acc[1])

    @pytest.mark.parametrize(
        ("chapter", "name", "answer", "miss"),
        [
            (
                "estimation",
                "single",
                np.mean([max(f"{k:03b}") == "1" for k in range(8)]),
                0.8,
            ),  # by enumeration
            ("learning", "memory", 1.0, 0.69),  # noise is learned by heart
            ("referee", "others", 0.725, 0.8),
            ("d_markets", "demand", 48, "no number"),  # the marginal plant's price
        ],
    )
    def test_a_short_one(self, chapter, name, answer, miss):
        assert self.right(chapter, name, answer, miss)

    def test_the_constant_repeats_the_oracle_as_often_as_its_label_occurs(self, table):
        labels = adalib.frontier(table.acc, table.cost).at(1.5).labels
        assert self.right("learning", "majority", (labels == 0).mean(), (labels > 0).mean())

    def test_of_chapter_8_the_middle_fifth_of_the_null_by_hand(self):
        table = adalib.flat_null(1000).sample(48).table()
        labels = adalib.frontier(table.acc, table.cost).at(3).labels
        middle = table.cost[labels[np.argsort(table.acc[:, 0], kind="stable")[400:600]]].mean()
        assert self.right("f_patterns", "middle", middle, middle + 0.2)
