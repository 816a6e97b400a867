"""Policies in files: what a file may hold, and that nothing is carried from fold to fold."""

import json
from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest

from adalib.cli import main
from adalib.datasets.populations import beta_population
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.policy_files import policies_in
from adalib.sequential.watching import watch

BUDGETS = (1, 2, 4)
TWO_FOLDS = Protocol(folds=2)


@pytest.fixture
def written(tmp_path):
    """Write a file, and return its path."""

    def write(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="module")
def answers():
    """Answers that can be told from each other by their tokens."""
    sampled = beta_population(30, 2, 1).sample(16, seed=3)
    lengths = np.random.default_rng(0).permutation(30 * 16).reshape(30, 16) + 1
    return replace(sampled, tokens=lengths)


@pytest.fixture
def file(answers, tmp_path, monkeypatch):
    """Answers as a file, and no policies beside one's own that take seconds."""
    monkeypatch.setattr("adalib.evaluate.compare.planning_policies", dict)
    path = tmp_path / "answers.jsonl"
    answers.save(path)
    return str(path)


def rows_of(answers, path, targets=(2,)):
    with policies_in([path]) as own:
        rows = held_out(answers, targets, BUDGETS, learners=own, noises=0, protocol=TWO_FOLDS)
    return {row.policy: row for row in rows if row.policy in own}


RULES = """
    from collections import Counter
    from dataclasses import dataclass

    class Base:
        def fit(self, answers):
            self.taught = answers.n

    class TwoAlike(Base):
        def more(self, seen):
            return max(Counter(one.answer for one in seen).values()) < 2

    @dataclass
    class Second:
        budget: float

        def fit(self, features, table):
            self.column = table.budgets.index(self.budget)

        def predict(self, features):
            return [self.column] * len(features)
"""


def test_every_class_that_decides_is_a_row_and_scores_as_it_does_at_home(answers, written):
    path = written(RULES)
    names: dict = {"__name__": "at_home"}
    exec(dedent(RULES).replace("@dataclass\n", "").partition("class Second")[0], names)
    found = rows_of(answers, path, (2, 4))
    assert sorted(found) == ["Second", "TwoAlike"]
    assert (found["Second"].kind, found["Second"].cost) == ("plans", 4)
    learners = {"home": names["TwoAlike"]}
    *_, home = held_out(answers, (2, 4), BUDGETS, learners=learners, noises=0, protocol=TWO_FOLDS)
    assert home.cost > 2
    np.testing.assert_array_equal(found["TwoAlike"].gains, home.gains)
    assert found["TwoAlike"].cost == home.cost


@pytest.mark.parametrize("kept_in", ["MET", "Remembers.met"])
def test_nothing_is_remembered_from_another_fold_or_order(answers, written, kept_in):
    """Who has met an answer of a question before asks three times; nobody has."""
    text = f"""
        MET = set()

        class Remembers:
            met = set()

            def fit(self, answers):
                {kept_in}.update(answers.tokens.ravel().tolist())

            def more(self, seen):
                met_before = seen[0].tokens in {kept_in}
                {kept_in}.add(seen[0].tokens)
                return met_before and len(seen) < 3
    """
    assert rows_of(answers, written(text))["Remembers"].cost == 1


def test_every_copy_meets_the_questions_in_an_order_of_its_own(answers):
    class FirstHalf:
        met = 0

        def more(self, seen):
            self.met += len(seen) == 1
            return self.met <= 15 and len(seen) < 4

    paid = watch(FirstHalf(), answers, 8).cost
    assert paid.mean() == pytest.approx(2.5)
    # 48 orders, each with half of the questions first: five standard errors.
    assert abs(paid - 2.5).max() < 5 * 1.5 / np.sqrt(48)


def test_a_policy_that_names_its_answer_meets_the_same_bar_as_at_home(answers, written):
    text = """
        class Last:
            def fit(self, answers): pass
            def more(self, seen): return len(seen) < 2
            def answer(self, seen): return seen[-1].answer
    """
    names: dict = {"__name__": "at_home"}
    exec(dedent(text), names)
    learners = {"home": names["Last"]}
    *_, home = held_out(answers, [2], BUDGETS, learners=learners, noises=0, protocol=TWO_FOLDS)
    away = rows_of(answers, written(text))["Last"]
    assert (away.cost, away.gain, away.mix_cost) == (home.cost, home.gain, home.mix_cost)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise SystemExit(0)", "line 1: ends the program"),
        ("import sys\nsys.exit('done')", "line 2: ends the program"),
        (RULES.replace("< 2", "< quit()"), "line 11: ends the program"),
        ("import os\nos._exit(0)", "mine.py: its process has ended"),
        (RULES.replace("< 2", "< __import__('os')._exit(0)"), "mine.py: its process has ended"),
        ("class Base:\n    pass", "has no policy; write a class"),
        ("class More:\n    def more(self, seen): ...", "'More' has more; give it fit("),
    ],
)
def test_a_file_that_exits_or_has_no_policy_is_an_error_of_one_line(
    answers, file, written, text, message, capsys
):
    path = written(text)
    assert main(["evaluate", file, "--budgets", "1,4", "--policy", path]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = [line for line in told.err.splitlines() if line.startswith("adalib: ")]
    assert message in line


def test_what_a_policy_prints_is_no_part_of_the_result(file, written, capsys):
    text = RULES.replace("self.taught = answers.n", "print('learning')")
    words = ["evaluate", file, "--targets", "2", "--budgets", "1,2,4", "--json", "--policy"]
    assert main([*words, written(text)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"TwoAlike", "Second"} <= {row["policy"] for row in found["rows"]}
