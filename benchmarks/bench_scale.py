"""How long does the solver on Dask take, next to the frontier in memory and to half the workers?

A table of random accuracies at five budgets is written as Parquet files. Two worker processes of
one thread each solve it and write the labels; then one worker does. Then the same files are read
and solved by `adalib.frontier` in this process. The labels are compared question by question.

    python benchmarks/bench_scale.py
    python benchmarks/bench_scale.py --rows 1000000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from adalib.scale import ScaledAllocation, solve
from adalib.solve.frontier import Allocation, frontier

COST = np.array([1, 2, 4, 8, 16])
BUDGET = 2.0
ROWS_PER_FILE = 500_000


def write_table(folder: Path, rows: int) -> None:
    """Write random accuracies, half a million questions to a file."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for first in range(0, rows, ROWS_PER_FILE):
        ids = np.arange(first, min(first + ROWS_PER_FILE, rows))
        columns = {f"acc_{budget}": rng.random(ids.size) for budget in COST}
        frame = pd.DataFrame({"id": ids, **columns})
        frame.to_parquet(folder / f"{first:012d}.parquet", index=False)


def on_dask(table: Path, labels: Path, workers: int) -> tuple[float, ScaledAllocation]:
    """Return the seconds that so many workers take, and what they found."""
    local = {"host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, **local) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()
        found = solve(table, BUDGET, client, out=labels)
        return time.perf_counter() - start, found


def in_memory(table: Path) -> tuple[float, Allocation]:
    """Return the seconds to read the table and to solve it here, and what was found."""
    start = time.perf_counter()
    frame = pd.read_parquet(table)
    best = frontier(frame[[f"acc_{budget}" for budget in COST]].to_numpy(), COST).at(BUDGET)
    best.labels.sum()  # computed on first use
    return time.perf_counter() - start, best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "table", rows)
        two, found = on_dask(folder / "table", folder / "labels", 2)
        one, _ = on_dask(folder / "table", folder / "labels-of-one", 1)
        here, best = in_memory(folder / "table")
        labels = dd.read_parquet(folder / "labels")["budget"].compute().to_numpy()
    differ = int((labels != COST[best.labels]).sum())
    print(f"N={rows:,}: two workers {two:.1f} s, one {one:.1f} s, frontier in memory {here:.1f} s")
    print(f"one worker / two workers            {one / two:8.2f}")
    print(f"two workers / frontier in memory    {two / here:8.2f}")
    print(f"questions with another label        {differ:8,}  at most 1")
    print(f"relative difference of the bound    {abs(found.bound / best.bound - 1):8.0e}")


if __name__ == "__main__":
    main()
