"""More rows than memory, more machines than one: solve a table in Parquet files.

Every piece of the table is read once and its steps are sorted into runs, files that answer "what would you spend at
this price?". The auctioneer finds the price of each budget. Then every piece is read again and its labels are written.
Pieces run on all cores or on all machines, and one that was finished before an interruption is not done again. DuckDB
could sort the steps, too; its sort alone takes half the time of all three passes (``benchmarks/bench_shards.py``).
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from tqdm import tqdm

from adalib.datasets.files import DataError
from adalib.drafts import filling, publish, replacing
from adalib.scale.machines import Here, Machines, need
from adalib.scale.shards import Clearing, Market, Run, ShardedAllocation, clear, make_run, settle
from adalib.scale.tables import Batch, Form, ParquetTable, Piece, open_parquet
from adalib.solve.envelope import cheapest, labels_after
from adalib.solve.exact import exact_sum
from adalib.solve.oracle import chosen

__all__ = ["FilesSolved", "as_values", "solve_files"]

_RESERVE = 300_000_000  # bytes for Python and its libraries
_COPIES = 10  # numbers in memory for every number of a batch, at the worst moment
_ARENAS = -8  # M_ARENA_MAX of the C library
_FAR = 7  # prices called out at once where answers travel: 3 bits a round
_MOST, _LEAST = 1_000_000, 10_000  # rows in a batch


@dataclass(frozen=True)
class FilesSolved:
    """A point per budget, and the folder of the labels: Parquet files, in the order of the rows, with ``id`` (or
    ``row``) and a column ``at_B`` for every average budget B."""

    points: list[ShardedAllocation]
    split_ids: list[str | None]  # the question to split at each budget; its row number where the table has no ids
    budgets: tuple[str, ...]  # names of the table's columns
    counts: list[list[int]]  # how many questions get each of them, for every average budget
    rows: int
    folder: str

    def as_json(self) -> dict[str, Any]:
        """What `_solution.json` holds and ``adalib solve --json`` prints: an object per budget under "points"."""
        names = as_values(self.budgets)
        points = []
        for point, name, counts in zip(self.points, self.split_ids, self.counts, strict=True):
            told = {key: getattr(point, key) for key in ("budget", "lam", "cost", "accuracy", "bound", "slack")}
            one = point.split
            split = one and {"id": name, "low": names[one.low], "high": names[one.high], "share": one.share}
            told |= {"labels": f"at_{point.budget:.12g}", "split": split, "rounds": point.rounds}
            points.append({**told, "counts": dict(zip(self.budgets, counts, strict=True))})
        return {"rows": self.rows, "folder": self.folder, "points": points}


def as_values(budgets: Sequence[str]) -> list:
    """Names of budgets as whole numbers where they all are, else as they stand."""
    try:
        return [int(budget) for budget in budgets]
    except ValueError:
        return list(budgets)


def solve_files(
    table: str | Path,
    budgets: Sequence[float],
    out: str | Path,
    *,
    memory: int = 1_000_000_000,
    machines: Machines | None = None,
) -> FilesSolved:
    """Solve a table in Parquet files for several budgets, exactly, and write the labels.

    Explained in `adalib.scale`.

    Parameters
    ----------
    table : path
        A Parquet file, or a folder of them, as `adalib.scale.tables` describes.
    budgets : sequence of float
        Average costs allowed.
    out : path
        Folder for the labels; it appears when all of them are there. An interrupted run left it as ``OUT.part`` and is
        gone on with.
    memory : int
        Bytes to stay under: on this machine, or on every worker.
    machines : Machines, optional
        Default: the cores of this machine. See `adalib.scale.machines.Cluster`.
    """
    source, out = open_parquet(table), Path(out).absolute()
    budgets = [float(budget) for budget in budgets]
    names = [f"at_{budget:.12g}" for budget in budgets]
    if len(set(names)) != len(names):
        raise ValueError(f"the budgets {', '.join(map(str, budgets))} are not all different; give each once")
    # Threads share two heaps: Linux gives each one of its own, 64 MB of addresses that a limit outside counts.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENAS, 2)
    machines = machines or Here()
    rows = _rows_at_once(source.form, memory, machines.sharing)
    with filling(out, {"table": source.files}) as draft:
        work = draft / "work" / str(rows)  # gone on with where as many rows fit into memory as before
        work.mkdir(exist_ok=True)
        jobs = [_Job(source.form, piece, rows, str(work)) for piece in source.pieces(rows)]
        made = machines.map(_sort_piece, jobs, what="sorting steps")
        market = _FarMarket(list(chain(*made)), machines)
        with market.bar:
            clearings = clear(market, budgets)
        cuts = zip(*(clearing.cuts for clearing in clearings), strict=True)
        by_run = zip((run.rows for run in market.runs), cuts, strict=True)
        orders = [
            _Order(job, tuple(islice(by_run, len(own))), tuple(names), str(draft))
            for job, own in zip(jobs, made, strict=True)
        ]
        written = machines.map(_label_piece, orders, what="writing labels")
        solved = _settled(source, clearings, written, out)
        with replacing(draft / "_solution.json") as file:
            file.write_text(json.dumps(solved.as_json(), indent=1) + "\n", encoding="utf-8")
        publish(draft, out, keep={"_solution.json", *(Path(order.path).name for order in orders)})
        return solved


class _Job(NamedTuple):
    form: Form
    piece: Piece
    rows: int
    work: str


class _Order(NamedTuple):
    job: _Job
    batches: tuple[tuple[int, tuple[tuple[float, int], ...]], ...]  # rows of every batch, and its cut for each budget
    names: tuple[str, ...]
    out: str

    @property
    def path(self) -> str:
        return f"{self.out}/part-{self.job.piece.first:014d}.parquet"

    @property
    def mark(self) -> str:
        """What a finished file of labels carries, so that a later run knows whether it is the one it wants."""
        return hashlib.sha256(repr((self.job.piece, self.batches, self.names)).encode()).hexdigest()


def _rows_at_once(form: Form, memory: int, sharing: int) -> int:
    numbers = len(form.budgets) * (2 if form.own_costs else 1)
    rows = int((memory - _RESERVE) / (8 * numbers * _COPIES * sharing))
    if rows < _LEAST:
        raise ValueError(f"{memory / 1e6:.0f} MB of memory are too few for {sharing} at a time; give at least 500MB")
    return min(rows, _MOST)


def _sort_piece(job: _Job) -> list[str]:
    """Sort a piece's steps into runs, unless an earlier attempt has done it; return their files."""
    done = Path(job.work, f"{job.piece.first:014d}.done")
    if done.exists():
        return json.loads(done.read_text(encoding="utf-8"))
    paths = []
    for batch in job.form.batches(job.piece, job.rows):
        paths.append(f"{job.work}/{batch.first:014d}.run")
        make_run(batch.acc, batch.cost, batch.first).save(Path(paths[-1]))
    with replacing(done) as draft:
        draft.write_text(json.dumps(paths), encoding="utf-8")
    return paths


def _run(path: str) -> Run:
    # A worker may live longer than a run: what another table left under the same name must not be taken for this one.
    told = os.stat(path)
    return _opened(path, told.st_mtime_ns, told.st_ino, told.st_size)


@lru_cache(maxsize=4096)
def _opened(path: str, *_: int) -> Run:
    return Run.open(Path(path))


def _answer(question: tuple[str, list[float], list[str]]) -> list[list[Any]]:
    what, prices, paths = question
    return [[getattr(_run(path), what)(price) for path in paths] for price in prices]


class _FarMarket(Market):
    """Runs in files, asked by groups on several machines."""

    def __init__(self, paths: list[str], machines: Machines) -> None:
        super().__init__([_run(path) for path in paths])
        cuts = np.linspace(0, len(paths), min(machines.others, len(paths)) + 1).astype(int)
        self._groups, self._machines = [paths[begin:end] for begin, end in pairwise(cuts)], machines
        self.bar = tqdm(desc="calling prices", unit=" rounds", disable=None, leave=False)
        self.calls = 1 if machines.others == 1 else _FAR

    def ask(self, what: Literal["spent", "tied"], prices: list[float]) -> list[list[Any]]:
        self.bar.update()
        answers = self._machines.map(_answer, [(what, prices, group) for group in self._groups])
        return [list(chain(*own)) for own in zip(*answers, strict=True)]


def _label_piece(order: _Order) -> list[list]:
    """Write the labels of a piece, unless they are there; return what every batch of them comes to."""
    pq = need("pyarrow.parquet")
    path = Path(order.path)
    if path.exists():
        told = pq.read_metadata(path).metadata
        if told.get(b"adalib_mark") == order.mark.encode():
            return json.loads(told[b"adalib_sums"])
    job, sums = order.job, []
    with replacing(path) as draft, ExitStack() as stack:
        writer: Any = None
        for batch, planned in zip_longest(job.form.batches(job.piece, job.rows), order.batches):
            if batch is None or planned is None or len(batch.acc) != planned[0]:
                raise DataError(f"{job.piece.path}: has changed since its steps were sorted; start again")
            rows, own = _label_batch(order, batch, planned[1])
            sums.append(own)
            writer = writer or stack.enter_context(pq.ParquetWriter(draft, rows.schema, compression="zstd"))
            writer.write_table(rows)
        writer.add_key_value_metadata({"adalib_mark": order.mark, "adalib_sums": json.dumps(sums)})
    return sums


def _label_batch(order: _Order, batch: Batch, cuts: Sequence[tuple[float, int]]) -> tuple[Any, list]:
    """The labels of some rows as an Arrow table; and for each budget what they come to, exactly (cost, accuracy, how
    many have each label), and the row that comes next, and its name."""
    budgets, sums = order.job.form.budgets, []
    start = cheapest(batch.acc, batch.cost)[0].astype(np.int16)
    labels, following = labels_after(batch.acc, batch.cost, start, cuts)
    for own, row in zip(labels, following, strict=True):
        spent, gained = (exact_sum(chosen(side, own)) for side in (batch.cost, batch.acc))
        name = str(batch.first + row if batch.ids is None else batch.ids[max(row, 0)])
        sums.append([spent, gained, np.bincount(own, minlength=len(budgets)).tolist(), batch.first + row, name])
    names = np.array(as_values(budgets))
    first = {"row": np.arange(batch.first, batch.first + len(batch.acc))} if batch.ids is None else {"id": batch.ids}
    columns = {name: names[own] for name, own in zip(order.names, labels, strict=True)}
    return need("pyarrow").table({**first, **columns}), sums


def _settled(table: ParquetTable, clearings: list[Clearing], written: list[list[list]], out: Path) -> FilesSolved:
    """Add up what the pieces report, and hold it against what the auctioneer decided."""
    points, ids, counts = [], list[str | None](), []
    for clearing, by_run in zip(clearings, zip(*chain(*written), strict=True), strict=True):
        spent, gained, given, rows, names = zip(*by_run, strict=True)
        if sum(spent) != clearing.spent:
            raise DataError(f"{out}: the table has changed since its steps were sorted; start again in another folder")
        row = rows[clearing.split] if clearing.split >= 0 else None
        points.append(settle(clearing, (table.rows, len(table.form.budgets)), sum(gained), row))
        ids.append(names[clearing.split] if points[-1].split else None)
        counts.append(np.sum(given, axis=0).tolist())
    return FilesSolved(points, ids, table.form.budgets, counts, table.rows, str(out))
