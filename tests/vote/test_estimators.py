"""Votes and estimators of Acc(x, b), against enumeration of every subset, window and sequence."""

from collections import Counter
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from adalib.vote.best_of import best_of, pass_at
from adalib.vote.estimators import acc_subsets, acc_windows, majority
from adalib.vote.iid import acc_iid

TIES = ["share", "first"]


def vote(classes, value, ties):
    """What one vote is worth, the slow and obvious way."""
    votes = Counter(c for c in classes if c >= 0)
    if not votes:
        return 0.0
    most = max(votes.values())
    # A Counter keeps the order of first appearance.
    winners = [c for c in votes if votes[c] == most]
    return value[winners[0]] if ties == "first" else float(np.mean([value[c] for c in winners]))


def enumerated(row, value, b, ties):
    return float(np.mean([vote(chosen, value, ties) for chosen in combinations(row, b)]))


def windows(row, value, b, ties):
    return float(
        np.mean([vote(row[i * b : (i + 1) * b], value, ties) for i in range(len(row) // b)])
    )


def spread(classes, value):
    return [[value[c] if c >= 0 else 0.0 for c in row] for row in classes]


rows = st.integers(1, 9).flatmap(
    lambda r: st.lists(st.lists(st.integers(-1, 4), min_size=r, max_size=r), min_size=1, max_size=4)
)
class_values = st.lists(st.sampled_from([0.0, 1.0, 0.25]), min_size=5, max_size=5)


@pytest.mark.parametrize(
    ("estimator", "slowly"), [(acc_subsets, enumerated), (acc_windows, windows)]
)
@pytest.mark.parametrize("ties", TIES)
@settings(deadline=None, max_examples=150)
@given(classes=rows, value=class_values)
def test_estimators_equal_enumeration(estimator, slowly, ties, classes, value):
    budgets = range(1, len(classes[0]) + 1)
    exact = np.array([[slowly(row, value, b, ties) for b in budgets] for row in classes])
    assert estimator(classes, spread(classes, value), budgets, ties) == pytest.approx(exact)


@pytest.mark.parametrize("estimator", [acc_subsets, acc_windows])
@pytest.mark.parametrize("ties", TIES)
def test_neither_chunks_nor_the_names_of_classes_change_the_result(estimator, ties, monkeypatch):
    classes = np.random.default_rng(0).integers(-1, 5, (30, 12))
    values, budgets = (classes == 1).astype(float), (1, 2, 3, 4, 12)
    whole = estimator(classes, values, budgets, ties)
    renamed = np.where(classes < 0, -7, 10**17 + 13 * classes)
    np.testing.assert_array_equal(estimator(renamed, values, budgets, ties), whole)
    monkeypatch.setattr("adalib.vote.estimators._CELLS", 100)
    np.testing.assert_allclose(estimator(classes, values, budgets, ties), whole, rtol=1e-12)


@pytest.mark.parametrize("estimator", [acc_subsets, acc_windows])
@pytest.mark.parametrize("ties", TIES)
def test_a_class_is_worth_the_mean_of_its_members(estimator, ties):
    assert estimator([[0, 0, 0, 1, 1]], [[1, 1, 0, 0, 0]], [5], ties)[0, 0] == pytest.approx(2 / 3)


@given(classes=st.lists(st.integers(-1, 6), min_size=2, max_size=40))
def test_two_answers_are_worth_one_and_a_chance_for_every_empty_one(classes):
    value = [1, 0.5, 0, 0.25, 0, 0, 0.75]
    one, two = acc_subsets([classes], spread([classes], value), (1, 2))[0]
    assert two == pytest.approx((1 + classes.count(-1) / (len(classes) - 1)) * one, abs=1e-12)


def test_subsets_are_the_mean_of_windows_over_all_orders():
    """So their variance is at most that of windows, by Rao and Blackwell."""
    classes = np.array([0, 0, 1, 2, -1, 1])
    orders = np.array(list(permutations(classes)))
    by_order = acc_windows(orders, orders == 0, (1, 2, 3)).mean(axis=0)
    assert by_order == pytest.approx(acc_subsets([classes], [classes == 0], (1, 2, 3))[0])


@given(counts=st.lists(st.integers(1, 20), min_size=2, max_size=5))
def test_votes_that_are_equally_good_are_equal_numbers(counts):
    """A plain argmax then settles a tie for the smaller budget, on every platform."""
    classes = np.repeat(np.arange(len(counts)), counts)[None]
    one, two = acc_subsets(classes, classes == 0, (1, 2))[0]
    assert one == two == pytest.approx(counts[0] / sum(counts), rel=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_two_answers_at_large_r_follow_the_hypergeometric(ties):
    r, good, b = 2000, 900, 127
    classes = np.random.default_rng(2).permutation(np.repeat([0, 1], [good, r - good]))[None]
    found = acc_subsets(classes, classes == 0, (1, 16, b), ties)
    assert found[0, 2] == pytest.approx(hypergeom(r, good, b).sf(b // 2), rel=1e-10)
    assert np.isfinite(found).all()
    # Everybody ties: 2,000 answers, all different, so each is right with chance 1/2000 whatever the
    # budget.
    classes = np.arange(r)[None]
    assert acc_subsets(classes, classes == 7, (1, 16, 64)) == pytest.approx(
        np.full((1, 3), 1 / 2000)
    )


@settings(deadline=None, max_examples=60)
@given(
    weights=st.lists(st.integers(0, 5), min_size=2, max_size=4).filter(any),
    b=st.integers(1, 6),
    data=st.data(),
)
def test_iid_equals_enumeration_of_all_sequences(weights, b, data):
    p = np.array(weights) / sum(weights)
    correct = data.draw(st.integers(-1, len(p) - 1))
    empty = data.draw(
        st.integers(-1, len(p) - 1).filter(lambda column: column < 0 or column != correct)
    )
    value = [float(c == correct) for c in range(len(p))]
    exact = sum(
        np.prod(p[list(seq)]) * vote([-1 if c == empty else c for c in seq], value, "share")
        for seq in product(range(len(p)), repeat=b)
    )
    assert acc_iid(p, correct, [b], empty=empty)[0] == pytest.approx(exact)


def test_iid_takes_a_batch_with_padding():
    p = [[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]
    alone = [acc_iid(q, c, (1, 3, 8)) for q, c in zip(p, [0, 2, 1], strict=True)]
    np.testing.assert_allclose(acc_iid(p, [0, 2, 1], (1, 3, 8)), alone, rtol=1e-12)
    assert np.isfinite(acc_iid(p, [0, 2, 1], (170,))).all()


@settings(deadline=None)
@given(data=st.data(), r=st.integers(1, 9))
def test_best_of_equals_enumeration(data, r):
    scores = data.draw(st.lists(st.integers(0, 3), min_size=r, max_size=r))
    correct = data.draw(st.lists(st.integers(0, 1), min_size=r, max_size=r))

    def best(chosen):
        top = max(scores[i] for i in chosen)
        return np.mean([correct[i] for i in chosen if scores[i] == top])

    exact = [
        np.mean([best(chosen) for chosen in combinations(range(r), b)]) for b in range(1, r + 1)
    ]
    assert best_of([correct], [scores], range(1, r + 1))[0] == pytest.approx(np.array(exact))


@given(r=st.integers(1, 200), data=st.data())
def test_pass_at_closed_form(r, data):
    c, b = data.draw(st.integers(0, r)), data.draw(st.integers(1, r))
    assert pass_at([[1] * c + [0] * (r - c)], [b])[0, 0] == pytest.approx(
        1 - comb(r - c, b) / comb(r, b)
    )


def test_majority():
    assert majority(["7", "8", "8.0", "$7"]) == {"7": 0.5, "8": 0.5}
    assert majority(["9", "8", "7", "8", "7"], ties="first") == {"8": 1.0}
    assert majority(["", " "]) == majority([]) == {}


@pytest.mark.parametrize("estimator", [acc_subsets, acc_windows])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"budgets": [3]}, "budget 3 is too large: there are 2 samples per question"),
        ({"budgets": [0]}, "whole numbers from 1 on"),
        ({"budgets": [1.5]}, "whole numbers from 1 on"),
        ({"ties": "last"}, "'share' or 'first'"),
        ({"values": [[0, np.nan]]}, "sample 1 in row 0 is nan"),
        ({"values": [[0]]}, "one column per sample"),
        ({"classes": [0, 1], "values": [0, 1]}, "one row per question"),
        ({"classes": [[0.5, 1]]}, "whole numbers, not float64"),
    ],
)
def test_refusals(estimator, change, says):
    sound = {"classes": [[0, 1]], "values": [[0, 1]], "budgets": [1], "ties": "share"}
    with pytest.raises(ValueError, match=says):
        estimator(**sound | change)


@pytest.mark.parametrize(
    ("estimator", "arguments", "says"),
    [
        (
            acc_subsets,
            (np.zeros((1, 1100), int), np.zeros((1, 1100)), (550,)),  # more than 10**308
            "too many subsets of 550 out of 1100",
        ),
        (best_of, ([[1, 0]], [[np.nan, 1]], [1]), "scores hold NaN"),
        (best_of, ([[1, 0]], [[0, 1]], [3]), "budget 3 is too large"),
        (acc_iid, ([0.5, 0.4], 0, [1]), "every row summing to 1"),
        (acc_iid, ([1.5, -0.5], 0, [1]), "every row summing to 1"),
        (acc_iid, ([0.5, 0.5], 2, [1]), "correct must hold column numbers from 0 to 1"),
        (acc_iid, ([0.5, 0.5], 1, [1], 1), "name the same column"),
        (acc_iid, ([0.5, 0.5], 0, [171]), "budget 171 is too large"),
    ],
)
def test_refusals_of_one_estimator(estimator, arguments, says):
    with pytest.raises(ValueError, match=says):
        estimator(*arguments)
