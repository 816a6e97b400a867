"""Counts of passes, against every order of a few attempts and against published shares."""

import itertools
import json
import math

import numpy as np
import pytest

import adalib
from adalib import DataError, Passes, load_passes
from adalib.datasets.passes import says_checked


def every_order(right, paid, cap):
    """Mean over all orders: solved by the first ``cap``, spent until the first pass or the cap."""
    solved, spent = [], []
    for order in itertools.permutations(range(len(right))):
        seen = [right[one] for one in order[:cap]]
        made = seen.index(1) + 1 if 1 in seen else cap
        solved.append(any(seen))
        spent.append(sum(paid[one] for one in order[:made]))
    return np.mean(solved), np.mean(spent)


@pytest.mark.parametrize("right", [[0, 0, 0, 0], [1, 0, 0, 1, 0], [1, 1, 1], [0, 1]])
def test_counts_are_the_mean_over_all_orders(right):
    rng = np.random.default_rng(len(right))
    tokens = rng.integers(1, 50, size=len(right)).tolist()
    answers = adalib.Responses(
        ["a"], ["?"], ["1"], [[str(one) for one in right]], tokens=[tokens], correct=[right]
    )
    caps = np.arange(len(right) + 1)
    attempts = Passes.of(answers)
    paid = Passes.of(answers, "tokens")
    for cap in caps[1:]:
        solved, spent = every_order(right, tokens, cap)
        assert attempts.solved([cap])[0, 0] == pytest.approx(solved)
        assert paid.cost([cap])[0, 0] == pytest.approx(spent)
        assert attempts.cost([cap])[0, 0] == pytest.approx(every_order(right, [1] * 9, cap)[1])
    assert paid.at_once(caps)[0].tolist() == pytest.approx((np.mean(tokens) * caps).tolist())


def test_solved_is_pass_at():
    rng = np.random.default_rng(0)
    right = rng.random((20, 12)) < rng.random((20, 1))
    by_counts = Passes(right.sum(axis=1), 12).solved([1, 3, 12])
    np.testing.assert_allclose(by_counts, adalib.pass_at(right, (1, 3, 12)), atol=1e-12)


def test_many_attempts_stay_exact():
    passes = Passes([3, 0], 10_000)
    by_hand = 1 - math.comb(9997, 5000) / math.comb(10_000, 5000)
    assert passes.solved([5000])[0, 0] == pytest.approx(by_hand, rel=1e-9)
    assert passes.cost([5000])[1, 0] == 5000


#: A set, attempts on average, and the shares solved: all at once, and stopping under one cap.
TABLE = [
    ("codecontests", 10, 0.142, 0.146),
    ("codecontests", 100, 0.220, 0.226),
    ("game24-cot", 10, 0.215, 0.231),
    ("math-qwen7b", 1.5, 0.838, 0.898),
    ("gsm8k-gpt4omini", 1.2, 0.898, 0.955),
    ("gsm8k-qwen15", 2, 0.537, 0.597),
]


@pytest.mark.parametrize(("name", "budget", "at_once", "stopping"), TABLE)
def test_shares_solved_are_those_computed_by_others(name, budget, at_once, stopping):
    passes = load_passes(name)
    caps = np.arange(passes.samples + 1)
    solved, cost = passes.solved(caps).mean(axis=0), passes.cost(caps).mean(axis=0)
    assert np.interp(budget, caps, solved) == pytest.approx(at_once, abs=1.6e-3)
    assert np.interp(budget, cost, solved) == pytest.approx(stopping, abs=1.6e-3)


def test_halves_are_dealt_without_loss():
    passes = Passes(np.arange(11), 11)
    one, other = passes.halves(np.random.default_rng(0))
    assert (one.passed + other.passed).tolist() == list(range(11))
    assert set(one.attempts) == {5}
    assert set(other.attempts) == {6}


def lines(path, *records):
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return str(path)


def test_three_forms_of_a_file_say_the_same(tmp_path):
    counted = lines(tmp_path / "a.jsonl", {"id": 1, "passes": 2, "attempts": 3})
    judged = lines(tmp_path / "b.jsonl", {"id": 1, "correct": [1, 0, 1], "checked": True})
    sampled = lines(
        tmp_path / "c.jsonl", {"id": 1, "question": "q", "gold": "7", "answers": ["7", "8", "7"]}
    )
    for file in (counted, judged, sampled):
        passes = load_passes(file)
        assert (passes.passed.tolist(), passes.attempts.tolist()) == ([2], [3])
    assert says_checked(counted)
    assert says_checked(judged)
    assert not says_checked(sampled)


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"id": 1, "passes": 4, "attempts": 3}, "4 passes in 3 attempts"),
        ({"id": 1, "passes": -1, "attempts": 3}, "-1"),
        ({"id": 1, "passes": 1.5, "attempts": 3}, "1.5"),
        ({"id": 1, "passes": True, "attempts": 3}, "passes"),
        ({"id": 1, "passes": 0, "attempts": 0}, "0 attempts"),
        ({"id": 1, "passes": 1}, "attempts"),
        ({"id": 1, "correct": [1, 2]}, "correct"),
        ({"id": 1, "correct": []}, "correct"),
        ({"passes": 1, "attempts": 2}, "id"),
    ],
)
def test_a_faulty_line_is_named(tmp_path, record, fault):
    good = {"id": 0, "passes": 1, "attempts": 2}
    with pytest.raises(DataError, match=rf"line 2.*{fault}"):
        load_passes(lines(tmp_path / "x.jsonl", good, record))


def test_an_id_comes_once(tmp_path):
    row = {"id": "a", "passes": 1, "attempts": 2}
    with pytest.raises(DataError, match="line 2.*'a'"):
        load_passes(lines(tmp_path / "x.jsonl", row, row))


@pytest.mark.parametrize("tokens", [["a", 2], [None, 2], [-1, 2], [True, 2], [2], 2, None])
def test_tokens_that_are_none_are_said_with_their_line(tmp_path, tokens):
    record = {"id": 1, "checked": True, "correct": [0, 1], "tokens": tokens}
    with pytest.raises(DataError, match="line 1: needs"):
        load_passes(lines(tmp_path / "x.jsonl", record), "tokens")
