"""How fast is a table that does not fit into memory, and what would a billion rows take?

Uniform accuracies at the paper's five budgets, no two prices the same: the hardest case for a sort.
Every measurement is a process of its own, because a peak of memory is that of a process; a limit on
memory is set from outside, on the address space. DuckDB keeps its own limit instead: it asks for
more addresses than memory and would fail on the outer one. All ratios come from one run. Tables are
made once, in the folder that is given.

    python benchmarks/bench_shards.py                                              # up to a million
    rows python benchmarks/bench_shards.py --folder FOLDER --sizes 1000000 10000000 100000000    #
    10 GB of disk
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import in_a_process, report

COST = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
BUDGETS = [1.2, 1.5, 2.0, 3.0, 4.0]
PER_FILE = 1_000_000


def make_table(folder: Path, rows: int) -> Path:
    """Write a table of uniform accuracies, a million rows a file, unless it is there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from adalib.drafts import replacing

    table = folder / f"table-{rows}"
    table.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // PER_FILE)):
        path = table / f"{number:05d}.parquet"
        if not path.exists():
            acc = np.random.default_rng(number).random(
                (min(PER_FILE, rows - number * PER_FILE), COST.size)
            )
            columns = {f"acc_{int(cost)}": acc[:, j] for j, cost in enumerate(COST)}
            with replacing(path) as draft:
                pq.write_table(pa.table(columns), draft, compression="none", use_dictionary=False)
    return table


def make_increments(folder: Path, rows: int) -> Path:
    """Write the prices of all envelope steps of a table, unsorted, for DuckDB to sort."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from adalib.drafts import replacing
    from adalib.scale.parquet import open_parquet
    from adalib.solve.envelope import cheapest_columns, envelope_steps
    from adalib.solve.step_keys import StepKeys

    out = folder / f"increments-{rows}"
    out.mkdir(exist_ok=True)
    table = open_parquet(folder / f"table-{rows}")
    for piece in table.pieces(PER_FILE):
        path = out / f"{piece.first:014d}.parquet"
        if not path.exists():
            (batch,) = table.form.batches(piece, PER_FILE)
            start, _ = cheapest_columns(batch.acc, batch.cost)
            keys = envelope_steps(batch.acc, batch.cost, start, StepKeys(COST.size)).keys
            with replacing(path) as draft:
                pq.write_table(
                    pa.table({"price": -keys}), draft, compression="none", use_dictionary=False
                )
    return out


def ours(folder: Path, rows: int, memory: int) -> None:
    """Solve for five budgets, end to end: Parquet in, labels in Parquet out."""
    from adalib.scale.stream import solve_files

    solve_files(
        folder / f"table-{rows}", BUDGETS, scratch(folder) / "labels", memory=memory * 6 // 10
    )


def duck(folder: Path, rows: int, memory: int) -> None:
    """DuckDB sorts the increments, no more: no envelopes, no prices, no labels.

    Its limit is what ours is told, a little over half of what a process may have: it needs room
    beside what it counts.
    """
    import duckdb

    where = scratch(folder)
    connection = duckdb.connect()
    for setting in (
        f"memory_limit='{memory * 6 // 10 // 2**20}MiB'",
        "threads=2",
        f"temp_directory='{where}'",
    ):
        connection.execute(f"set {setting}")
    source = folder / f"increments-{rows}" / "*.parquet"
    connection.execute(
        f"copy (select price from '{source}' order by price desc) to '{where}/sorted.parquet'"
    )


def in_memory(folder: Path, rows: int, memory: int) -> None:
    """The frontier of the whole table in memory, and the labels of five budgets."""
    from adalib.scale.parquet import open_parquet
    from adalib.solve.frontier import frontier

    table = open_parquet(folder / f"table-{rows}")
    acc = np.concatenate(
        [
            batch.acc
            for piece in table.pieces(PER_FILE)
            for batch in table.form.batches(piece, PER_FILE)
        ]
    )
    found = frontier(acc, COST)
    for budget in BUDGETS:
        found.at(budget).labels.sum()


def on_dask(folder: Path, rows: int, memory: int, workers: int) -> float:
    """The same through a Dask scheduler with so many workers of one thread; seconds, once they are
    there."""
    from distributed import LocalCluster

    from adalib.scale.machines import Cluster
    from adalib.scale.stream import solve_files

    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=workers, **options) as cluster,
        Cluster(cluster.scheduler_address) as machines,
    ):
        start = time.perf_counter()
        solve_files(
            folder / f"table-{rows}",
            BUDGETS,
            scratch(folder) / "labels",
            memory=memory * 6 // 10,
            machines=machines,
        )
        return time.perf_counter() - start


WORK: dict[str, Callable] = {"ours": ours, "duck": duck, "numpy": in_memory}
WORK |= {
    f"dask{n}": lambda folder, rows, memory, n=n: on_dask(folder, rows, memory, n) for n in (1, 2)
}


def scratch(folder: Path) -> Path:
    """An empty folder, on the disk that holds the tables."""
    where = folder / "scratch"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    return where


def child(what: str, folder: Path, rows: int, memory: int, limit: bool) -> None:
    """Do one thing in this process, under a limit on its memory, and print what it took."""
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    start = time.perf_counter()
    wall = WORK[what](folder, rows, memory)
    report(wall=wall or time.perf_counter() - start)


def measure(
    what: str, folder: Path, rows: int, memory: int, limit: bool = True
) -> dict[str, float] | None:
    """Seconds and peak megabytes of one thing in a process of its own; None where it does not
    fit."""
    return in_a_process(__file__, "--child", what, folder, rows, memory, int(limit))


def growth(folder: Path, sizes: list[int], memory: int) -> dict[int, dict[str, float]]:
    """Ours at every size, next to DuckDB's sort and to numpy where it fits."""
    heads = ("seconds", "CPU s", "ns CPU/row", "peak MB", "wall ratio", "CPU ratio")
    print(
        f"{f'5 budgets under {memory / 1e9:g} GB':<34}" + "".join(f"{head:>12}" for head in heads)
    )
    found = {}
    for rows in sizes:
        make_table(folder, rows)
        make_increments(folder, rows)
        base = found[rows] = measure("ours", folder, rows, memory)
        others = {"DuckDB sorts increments": "duck", "numpy in memory": "numpy"}
        line(f"N={rows:,} ours", base, base, rows)
        for name, what in others.items():
            line(
                f"N={rows:,} {name}",
                measure(what, folder, rows, memory, limit=what != "duck"),
                base,
                rows,
            )
    return found


def line(
    what: str, took: dict[str, float] | None, base: dict[str, float] | None, rows: int
) -> None:
    """One row of the table; a ratio says how many times longer than ours."""
    if took is None or base is None:
        print(f"{what:<34}{'does not fit':>12}", flush=True)
        return
    ratios = took["wall"] / base["wall"], took["cpu"] / base["cpu"]
    print(
        f"{what:<34}{took['wall']:>12,.1f}{took['cpu']:>12,.1f}"
        f"{1e9 * took['cpu'] / rows:>12,.0f}{took['peak']:>12,.0f}"
        f"{ratios[0]:>12,.2f}{ratios[1]:>12,.2f}",
        flush=True,
    )


def workers(folder: Path, rows: int, memory: int) -> None:
    """Two Dask workers against one."""
    took = [measure(f"dask{n}", folder, rows, memory, limit=False) for n in (1, 2)]
    if None not in took:
        one, two = (t["wall"] for t in took)
        print(
            f"\nN={rows:,} on Dask: one worker {one:.1f} s, two {two:.1f} s, ratio {one / two:.2f}"
        )


def projection(found: dict[int, dict[str, float]]) -> None:
    """What a billion rows would take: a constant, and processor time a row over the cores; no more
    than a model."""
    sizes = [rows for rows, took in found.items() if took]
    if len(sizes) < 2:
        return
    slope, constant = np.polyfit(
        sizes, [found[rows]["cpu"] for rows in sizes], 1, w=1 / np.sqrt(sizes)
    )
    print(
        f"\nprojected, not measured: {max(constant, 0):.1f} s + {1e9 * slope:.0f} ns of processor "
        "a row,"
    )
    print(
        "2 cores per machine, disks and network as fast as here, the rounds (a number per worker "
        "each) not counted"
    )
    for machines in (1, 10, 100):
        print(
            f"a billion rows on {machines:>3} machines: "
            f"{max(constant, 0) + 1e9 * slope / (2 * machines):>8,.0f} s"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "adalib-bench-shards"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument(
        "--memory", type=int, default=2_000_000_000, help="bytes of address space a process"
    )
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        what, folder, *numbers = args.child
        child(what, Path(folder), *map(int, numbers))
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = growth(args.folder, args.sizes, args.memory)
    workers(args.folder, args.sizes[-1], args.memory)
    projection(found)
    shutil.rmtree(args.folder / "scratch", ignore_errors=True)


if __name__ == "__main__":
    main()
