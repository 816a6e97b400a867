"""The allocation on Dask against the frontier in memory, on tables of every kind in partitions."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scale_dask
from random_tables import KINDS, random_table
from scale_dask import solve

from adalib import frontier


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def as_frame(acc, cost):
    """The table as `solve` reads it; columns are named after their number, costs are by row."""
    columns = range(acc.shape[1])
    cost = np.broadcast_to(cost, acc.shape)
    return pd.DataFrame(
        {"id": 2**60 + 597 + np.arange(len(acc))}  # a float would name another question
        | {f"acc_{j}": acc[:, j] for j in columns}
        | {f"cost_{j}": cost[:, j] for j in columns}
    )


@pytest.mark.parametrize(("rounded", "few", "same"), [(True, 0, 1e-2), (False, 12, 1e-6)])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_frontier(kind, rounded, few, same, monkeypatch):
    monkeypatch.setattr(scale_dask, "FEW", few)
    monkeypatch.setattr(scale_dask, "SAME", same)
    rng = np.random.default_rng(KINDS.index(kind))
    acc, cost = random_table(kind, 40, 4, rng)
    acc = acc.round(1) if rounded else acc
    frame = as_frame(acc, cost)
    ids = frame["id"].to_numpy()
    whole = frontier(acc, np.broadcast_to(cost, acc.shape))
    # More than the dearest costs buys only what gains.
    for share in (0.4, 1.2) if kind == "counted" else (0.4,):
        budget = whole.cost[0] + share * (whole.cost[-1] - whole.cost[0])
        expected = whole.at(budget)
        found = solve(dd.from_pandas(frame, npartitions=2), budget)
        assert found.lam == pytest.approx(expected.lam, rel=1e-9)
        assert found.cost == pytest.approx(expected.cost, abs=1e-11)
        assert found.accuracy == pytest.approx(expected.accuracy, abs=1e-11)
        assert found.bound == pytest.approx(expected.bound, abs=1e-11)
        labels = found.labels.compute()
        np.testing.assert_array_equal(labels["id"], ids)
        np.testing.assert_array_equal(labels["budget"], expected.labels)
        if expected.split is not None and expected.slack > 1e-9:
            row, low, high, part = expected.split
            assert found.split == (ids[row], low, high, pytest.approx(part))
        elif found.split is not None:
            assert found.split[-1] == pytest.approx(0, abs=1e-6)


def test_files_with_ties_are_served_in_the_order_of_the_rows(tmp_path):
    frame = pd.DataFrame({"id": range(10), "acc_1": 0.0, "acc_16": 1.0})
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path / "table")
    found = solve(tmp_path / "table", 8)
    assert found.labels.compute()["budget"].tolist() == [16] * 4 + [1] * 6
    assert found.cost == 7
    assert found.split == (4, 1, 16, pytest.approx(10 / 15))


@pytest.mark.parametrize(
    ("columns", "budget", "fault"),
    [
        ({"acc_1": [0.1]}, 1, "acc_1"),
        ({"id": ["a"], "right": [0.1]}, 1, "right"),
        ({"id": [], "acc_1": []}, 1, "0 questions"),
        ({"id": ["a"], "acc_1": [0.1]}, float("nan"), "nan"),
        ({"id": ["a", "b"], "acc_1": [0.1, 1.5]}, 1, r"id a .*acc\[1, 0\] is 1\.5"),
        ({"id": ["a"], "acc_2": [0.1], "acc_1": [0.1]}, 1, "order the columns"),
        ({"id": ["a"], "acc_1": [0.1], "acc_2": [0.1]}, 0.5, "cheapest"),
    ],
)
def test_faults_are_named(columns, budget, fault):
    with pytest.raises(ValueError, match=fault):
        solve(dd.from_pandas(pd.DataFrame(columns), npartitions=1), budget)
