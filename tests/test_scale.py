"""The solver on Dask against the frontier in memory, on tables of every kind in partitions."""

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from random_tables import KINDS, random_table

from adalib.scale import solve
from adalib.solve.frontier import frontier


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def as_frame(acc, cost):
    """The table as `solve` reads it; columns are named after their number, costs are by row."""
    columns = range(acc.shape[1])
    cost = np.broadcast_to(cost, acc.shape)
    return pd.DataFrame(
        {"id": [f"q{row}" for row in range(len(acc))]}
        | {f"acc_{j}": acc[:, j] for j in columns}
        | {f"cost_{j}": cost[:, j] for j in columns}
    )


# More than the dearest costs buys only what gains.
@pytest.mark.parametrize(("kind", "share"), [("flat rows", 1.2), *((kind, 0.4) for kind in KINDS)])
def test_equals_the_frontier(kind, share):
    rng = np.random.default_rng(KINDS.index(kind))
    acc, cost = random_table(kind, 40, 4, rng)
    whole = frontier(acc, cost)
    budget = whole.cost[0] + share * (whole.cost[-1] - whole.cost[0])
    expected = whole.at(budget)
    found = solve(dd.from_pandas(as_frame(acc, cost), npartitions=3), budget)
    assert found.lam == pytest.approx(expected.lam, rel=1e-9)
    assert found.bound == pytest.approx(expected.bound, abs=1e-11)
    assert found.cost == pytest.approx(expected.cost, abs=1e-11)
    assert found.accuracy == pytest.approx(expected.accuracy, abs=1e-11)
    labels = found.labels.compute()
    assert labels["id"].tolist() == [f"q{row}" for row in range(40)]
    np.testing.assert_array_equal(labels["budget"], expected.labels)
    if expected.split is None:
        assert found.split is None
    else:
        row, low, high, share = expected.split
        assert found.split == (f"q{row}", low, high, pytest.approx(share))


def test_ties_are_served_in_the_order_of_the_rows(tmp_path):
    frame = pd.DataFrame({"id": range(10), "acc_1": 0.0, "acc_16": 1.0})
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path / "table")
    found = solve(tmp_path / "table", 8, out=tmp_path / "labels")
    labels = dd.read_parquet(tmp_path / "labels").compute()
    assert labels["budget"].tolist() == [16] * 4 + [1] * 6
    assert found.cost == 7
    assert found.split == (4, 1, 16, pytest.approx(10 / 15))
    assert len(list((tmp_path / "labels").glob("*.parquet"))) == found.labels.npartitions > 1


def test_on_a_client_or_its_address():
    # Every step gains 0.5 per unit of cost, so that the bisection ends at its first price.
    frame = pd.DataFrame({"id": range(6), "acc_1": 0.25, "acc_2": 0.75})
    parts = dd.from_pandas(frame, npartitions=2)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    local = {"host": "127.0.0.1", "protocol": "tcp", "dashboard_address": None}
    with (
        dask.config.set(scheduler=None),
        distributed.LocalCluster(**workers, **local) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        for where in (client, cluster.scheduler_address):
            found = solve(parts, 1.75, where)
            assert found.lam == 0.5
            assert found.split == (4, 1, 2, pytest.approx(0.5))
        assert client.compute(solve(parts, 1.75, client).labels, sync=True)["budget"].sum() == 10


@pytest.mark.parametrize(
    ("columns", "budget", "fault"),
    [
        ({"acc_1": [0.1]}, 1, "acc_1"),
        ({"id": ["a"], "right": [0.1]}, 1, "right"),
        ({"id": ["a"], "acc_small": [0.1]}, 1, "small"),
        ({"id": ["a", "b"], "acc_1": [0.1, 1.5]}, 1, r"id a .*acc\[1, 0\] is 1\.5"),
        ({"id": ["a"], "acc_2": [0.1], "acc_1": [0.1]}, 1, "order the columns"),
        ({"id": ["a"], "acc_1": [0.1], "acc_2": [0.1]}, 0.5, r"0\.5.*1\.0"),
    ],
)
def test_faults_are_named(columns, budget, fault):
    with pytest.raises(ValueError, match=fault):
        solve(pd.DataFrame(columns), budget)


def test_labels_are_never_overwritten(tmp_path):
    with pytest.raises(ValueError, match=tmp_path.name):
        solve(pd.DataFrame({"id": ["a"], "acc_1": [0.1]}), 1, out=tmp_path)
