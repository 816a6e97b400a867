"""UtilityTable and check_table: what passes, what is refused and what the refusal says."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adalib import CurvePolicy, UtilityTable, bisect
from adalib.table import check_table

ACC = np.array([[0.5, 0.9, 1.0], [0.0, 0.2, 0.2]])


def test_a_table_is_read_only():
    cost = np.array([1.0, 2.0, 4.0])
    acc_out, cost_out = check_table(ACC, cost)
    assert acc_out is ACC
    assert cost_out is cost
    assert np.shares_memory(UtilityTable(ACC, cost).acc, ACC)
    acc = ACC.copy()  # which stays writable
    table = UtilityTable(acc, [1, 2, 4])
    with pytest.raises(ValueError, match="read-only"):
        table.acc[0, 0] = 1
    with pytest.raises(FrozenInstanceError):
        table.acc = acc
    acc[0, 0] = 0.25


@pytest.mark.parametrize(
    ("cost", "budgets"),
    [
        ([1, 2, 4], (1, 2, 4)),
        ([0, 2, 4], (0, 2, 4)),
        ([1.0, 2.5, 4], (1, 2, 3)),
        ([1, 1, 4], (1, 2, 3)),
        ([[1, 2, 4], [2, 4, 8]], (1, 2, 3)),
    ],
)
def test_default_labels(cost, budgets):
    table = UtilityTable(ACC, cost)
    assert table.budgets == budgets
    assert table.ids == ("0", "1")
    assert (table.n, table.k) == (2, 3)


def test_given_labels():
    table = UtilityTable(ACC, [1, 2, 4], budgets=np.array([1, 2, 4]), ids=["a", 7])
    assert table.budgets == (1, 2, 4)
    assert type(table.budgets[0]) is int
    assert table.ids == ("a", "7")
    table = UtilityTable([[0.5]], [0])
    assert (table.n, table.k, table.budgets) == (1, 1, (0,))
    table = UtilityTable(
        [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], [[1, 2], [3, 4], [5, 6]], ids=["a", "b", "c"]
    )
    part = table.take([2, 0])
    assert part.acc.tolist() == [[0.5, 0.6], [0.1, 0.2]]
    assert part.cost.tolist() == [[5, 6], [1, 2]]
    assert part.ids == ("c", "a")
    assert UtilityTable(table.acc, [1, 2]).take([1]).cost.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("acc", "cost", "says"),
    [
        ([[0.5, np.nan]], [1, 2], "acc[0, 1] is nan"),
        ([[0.5, 0.5]], [1, np.nan], "cost[1] is nan"),
        ([[0.5, 0.5]] * 2, [[1, 2], [3, 2]], "cost[1, 1] is 2, less than the 3 in column 0"),
        ([0.5, 0.5], [1, 2], "acc has shape (2,)"),
        (np.zeros((0, 2)), [1, 2], "acc has shape (0, 2)"),
        ([[0.5, 0.5]], [1, 2, 3], "cost has shape (3,)"),
        ([[0.5, 0.5], [0.5]], [1, 2], "row 1 has length 1 and row 0 length 2"),
        ([["a", "b"]], [1, 2], "acc must be a rectangle of plain numbers"),
        ([[0.5, 1j]], [1, 2], "acc must be a rectangle of plain numbers"),
    ],
)
def test_refusals_name_the_place(acc, cost, says):
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z") as caught:
        check_table(acc, cost)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ({"budgets": [1, 2]}, "budgets has 2 entries; give 3"),
        ({"budgets": [1, 2, 2]}, "budgets holds 2 twice"),
        ({"ids": ["a"]}, "ids has 1 entries; give 2"),
        ({"ids": ["a", "a"]}, "ids holds 'a' twice"),
    ],
)
def test_labels_are_checked(labels, says):
    with pytest.raises(ValueError, match=says):
        UtilityTable(ACC, [1, 2, 4], **labels)


@given(acc=hnp.arrays(float, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5)), data=st.data())
def test_accepts_exactly_what_the_law_says(acc, data):
    n, k = acc.shape
    cost = data.draw(hnp.arrays(float, data.draw(st.sampled_from([(k,), (n, k)]))))
    lawful = bool(
        ((acc >= 0) & (acc <= 1)).all()
        and ((cost >= 0) & np.isfinite(cost)).all()
        and all(row[j] <= row[j + 1] for row in np.atleast_2d(cost) for j in range(k - 1))
    )
    if lawful:
        assert check_table(acc, cost)[0] is acc
    else:
        with pytest.raises(ValueError, match=r"(acc|cost)\["):
            check_table(acc, cost)


def test_costs_beside_a_table_are_refused():
    """Else ``bisect(table, cost=3)`` would search for the budget 3."""
    table = UtilityTable(ACC, [1, 2, 4])
    assert bisect(table, 3).labels.tolist() == bisect(ACC, cost=[1, 2, 4], budget=3).labels.tolist()
    for call in (
        lambda: bisect(table, cost=3),
        lambda: bisect(table, cost=table.cost, budget=3),
        lambda: CurvePolicy().fit([[0], [1]], table, table.cost),
    ):
        with pytest.raises(ValueError, match="has its own costs"):
            call()
