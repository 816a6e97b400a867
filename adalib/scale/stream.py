"""Solve a table in Parquet files: more rows than memory, on all cores or on several machines.

Every piece of the table is read once and its steps are sorted into runs, files that answer what
their rows would spend at a price. The auction finds the price of each budget. Then every piece is
read again and its labels are written. A piece that was finished before an interruption is not done
again. DuckDB could sort the steps, too, but its sort alone takes half the time of all three passes
(``benchmarks/bench_shards.py``).
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from tqdm import tqdm

from adalib.datasets.files import DataError
from adalib.drafts import filling, publish, replacing
from adalib.scale.auction import Clearing, Market, clear
from adalib.scale.labels import BatchSums, LabelJob, as_values, write_labels
from adalib.scale.machines import Here, Machines
from adalib.scale.parquet import Form, ParquetTable, Piece, open_parquet
from adalib.scale.runs import Run, make_run
from adalib.scale.shards import ShardedAllocation, settle

_LIBRARY_BYTES = 300_000_000  # that Python and its libraries take
_COPIES = 10  # numbers in memory for every number of a batch, at the worst moment
_MAX_BATCH_ROWS = 1_000_000
_MIN_BATCH_ROWS = 10_000
_REMOTE_PRICES = 7  # prices announced at once where answers travel: 3 bits per round
_M_ARENA_MAX = -8  # option of the C library's mallopt


@dataclass(frozen=True)
class FilesSolved:
    """The solution of a table in files: one point per budget, and a folder of labels.

    The labels are Parquet files, in the order of the rows, with ``id`` (or ``row``) and a column
    ``at_B`` for every average budget B.

    Attributes
    ----------
    points : list of ShardedAllocation
        One per average budget.
    split_ids : list of str or None
        Id of the question to split at each budget; its row number where the table has no ids.
    budgets : tuple of str
        Names of the table's columns.
    counts : list of list of int
        How many questions get each column, for every average budget.
    rows : int
        Rows of the table.
    folder : str
        Folder of the labels.
    """

    points: list[ShardedAllocation]
    split_ids: list[str | None]
    budgets: tuple[str, ...]
    counts: list[list[int]]
    rows: int
    folder: str

    def as_json(self) -> dict[str, Any]:
        """Return what ``_solution.json`` holds and ``adalib solve --json`` prints.

        There is one object per average budget under "points".
        """
        columns = as_values(self.budgets)
        points = []
        for point, split_id, counts in zip(self.points, self.split_ids, self.counts, strict=True):
            split = None
            if point.split is not None:
                split = {
                    "id": split_id,
                    "low": columns[point.split.low],
                    "high": columns[point.split.high],
                    "share": point.split.share,
                }
            points.append(
                {
                    "budget": point.budget,
                    "lam": point.lam,
                    "cost": point.cost,
                    "accuracy": point.accuracy,
                    "bound": point.bound,
                    "slack": point.slack,
                    "labels": _label_column(point.budget),
                    "split": split,
                    "rounds": point.rounds,
                    "counts": dict(zip(self.budgets, counts, strict=True)),
                }
            )
        return {"rows": self.rows, "folder": self.folder, "points": points}


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
        A Parquet file, or a folder of them, as `adalib.scale.parquet` describes.
    budgets : sequence of float
        Average costs allowed, all different.
    out : path
        Folder for the labels. It appears when it is complete; an interrupted run leaves
        ``OUT.part``, and the next run with the same table resumes it.
    memory : int
        Bytes to stay under, on this machine or on every worker.
    machines : Machines, optional
        Where to work. Default: the cores of this machine. See `adalib.scale.machines.Cluster`.

    Returns
    -------
    FilesSolved
        One point per budget; the labels are in the files.

    Raises
    ------
    ValueError
        If budgets repeat, a budget is below the cheapest allocation, or the memory is too small.
    DataError
        If a file is damaged or changes while it is being solved; the message names it.

    See Also
    --------
    tabulate : Makes such a table from sampled answers.
    solve_shards : The same for arrays in memory.

    Examples
    --------
    >>> import tempfile, pyarrow, pyarrow.parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = pyarrow.table({"acc_1": [0.1, 0.2], "acc_2": [0.9, 0.6]})
    >>> pyarrow.parquet.write_table(rows, folder / "table.parquet")
    >>> solved = solve_files(folder / "table.parquet", [1.75], folder / "labels")
    >>> solved.points[0].cost, solved.points[0].split, solved.counts
    (1.5, Split(row=1, low=0, high=1, share=0.5), [[1, 1]])
    """
    source = open_parquet(table)
    out = Path(out).absolute()
    budgets = [float(budget) for budget in budgets]
    names = [_label_column(budget) for budget in budgets]
    if len(set(names)) != len(names):
        raise ValueError(
            f"the budgets {', '.join(map(str, budgets))} are not all different; give each once"
        )
    _share_heaps()
    machines = machines or Here()
    batch_rows = _rows_at_once(source.form, memory, machines.sharing)
    with filling(out, {"table": source.files}) as draft:
        # A run resumes only if as many rows fit into memory as before.
        work = draft / "work" / str(batch_rows)
        work.mkdir(exist_ok=True)
        jobs = [
            _SortJob(source.form, piece, batch_rows, str(work))
            for piece in source.pieces(batch_rows)
        ]
        run_files = machines.map(_sort_piece, jobs, what="sorting steps")
        market = _RemoteMarket(list(chain(*run_files)), machines)
        with market.bar:
            clearings = clear(market, budgets)
        label_jobs = _label_jobs(jobs, run_files, market, clearings, names, draft)
        sums = machines.map(write_labels, label_jobs, what="writing labels")
        solved = _solution(source, clearings, list(chain(*sums)), out)
        with replacing(draft / "_solution.json") as file:
            file.write_text(json.dumps(solved.as_json(), indent=1) + "\n", encoding="utf-8")
        publish(draft, out, keep={"_solution.json", *(Path(job.path).name for job in label_jobs)})
        return solved


def _label_column(budget: float) -> str:
    """Name of the column that holds the labels of a budget."""
    return f"at_{budget:.12g}"


def _share_heaps() -> None:
    """Let all threads share two heaps.

    By default Linux gives each thread its own, 64 MB of addresses that count against a limit.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def _rows_at_once(form: Form, memory: int, sharing: int) -> int:
    """Return how many rows fit into memory together, with ``sharing`` batches at a time."""
    numbers = len(form.budgets) * (2 if form.own_costs else 1)
    rows = int((memory - _LIBRARY_BYTES) / (8 * numbers * _COPIES * sharing))
    if rows < _MIN_BATCH_ROWS:
        raise ValueError(
            f"{memory / 1e6:.0f} MB of memory are too few for {sharing} at a time; "
            "give at least 500MB"
        )
    return min(rows, _MAX_BATCH_ROWS)


class _SortJob(NamedTuple):
    """One piece whose steps are to be sorted."""

    form: Form
    piece: Piece
    batch_rows: int
    work: str


def _sort_piece(job: _SortJob) -> list[str]:
    """Sort a piece's steps into runs, unless an earlier attempt has; return their files."""
    done = Path(job.work, f"{job.piece.first:014d}.done")
    if done.exists():
        return json.loads(done.read_text(encoding="utf-8"))
    paths = []
    for batch in job.form.batches(job.piece, job.batch_rows):
        path = f"{job.work}/{batch.first:014d}.run"
        make_run(batch.acc, batch.cost, batch.first).save(Path(path))
        paths.append(path)
    with replacing(done) as draft:
        draft.write_text(json.dumps(paths), encoding="utf-8")
    return paths


def _open_run(path: str) -> Run:
    """Open a run once per worker."""
    # A worker may outlive a table, so a new file under an old name must be opened again.
    about = os.stat(path)
    return _cached_run(path, about.st_mtime_ns, about.st_ino, about.st_size)


@lru_cache(maxsize=4096)
def _cached_run(path: str, *_version: int) -> Run:
    """Open this version of a file, once."""
    return Run.open(Path(path))


class _Question(NamedTuple):
    """What the auction asks some runs: a method of `Run`, and prices."""

    method: str
    prices: list[float]
    paths: list[str]


def _answer(question: _Question) -> list[list[Any]]:
    """Return, for each price, the answers of these runs."""
    return [
        [getattr(_open_run(path), question.method)(price) for path in question.paths]
        for price in question.prices
    ]


class _RemoteMarket(Market):
    """Runs in files, asked in groups on several machines."""

    def __init__(self, paths: list[str], machines: Machines) -> None:
        super().__init__([_open_run(path) for path in paths])
        cuts = np.linspace(0, len(paths), min(machines.others, len(paths)) + 1).astype(int)
        self._groups = [paths[begin:end] for begin, end in pairwise(cuts)]
        self._machines = machines
        self.bar = tqdm(desc="announcing prices", unit=" rounds", disable=None, leave=False)
        self.prices_per_round = 1 if machines.others == 1 else _REMOTE_PRICES

    def ask(self, method: Literal["spent", "tied"], prices: list[float]) -> list[list[Any]]:
        self.bar.update()
        questions = [_Question(method, prices, group) for group in self._groups]
        answers = self._machines.map(_answer, questions)
        return [list(chain(*by_group)) for by_group in zip(*answers, strict=True)]


def _label_jobs(
    jobs: list[_SortJob],
    run_files: list[list[str]],
    market: Market,
    clearings: list[Clearing],
    names: list[str],
    folder: Path,
) -> list[LabelJob]:
    """Give every piece the cuts of its own runs, which are its batches."""
    cuts_by_run = zip(*(clearing.cuts for clearing in clearings), strict=True)
    rows_and_cuts = zip((run.rows for run in market.runs), cuts_by_run, strict=True)
    return [
        LabelJob(
            job.form,
            job.piece,
            job.batch_rows,
            tuple(islice(rows_and_cuts, len(files))),
            tuple(names),
            str(folder),
        )
        for job, files in zip(jobs, run_files, strict=True)
    ]


def _solution(
    table: ParquetTable, clearings: list[Clearing], sums: list[list[BatchSums]], out: Path
) -> FilesSolved:
    """Add up the batches' sums, and compare them with what the auction decided."""
    points = []
    split_ids: list[str | None] = []
    counts = []
    shape = (table.rows, len(table.form.budgets))
    for clearing, batches in zip(clearings, zip(*sums, strict=True), strict=True):
        if sum(batch.cost for batch in batches) != clearing.spent:
            raise DataError(
                f"{out}: the table has changed since its steps were sorted; "
                "start again in another folder"
            )
        split_row = batches[clearing.split_run].next_row if clearing.split_run >= 0 else None
        point = settle(clearing, shape, sum(batch.accuracy for batch in batches), split_row)
        points.append(point)
        split_ids.append(batches[clearing.split_run].next_id if point.split else None)
        counts.append(np.sum([batch.counts for batch in batches], axis=0).tolist())
    return FilesSolved(points, split_ids, table.form.budgets, counts, table.rows, str(out))
