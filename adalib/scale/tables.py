"""A table of accuracies in Parquet files, more of it than fits into memory: read, and made from sampled answers.

One row per question; a column ``acc_B`` for every budget B, in increasing order; optionally ``cost_B`` for every one of
them, where questions pay differently (else B is the cost); optionally ``id``. A folder of such files is one table, its
rows in the order of the file names. To make one, files of answers are cut into parts of a few thousand lines, which any
core or machine turns into accuracies; only the ids meet again, as 8 bytes each, so that no question is there twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.files import DataError, check_room, line_parts, read_lines
from adalib.datasets.loading import from_records
from adalib.drafts import filling, publish, replacing
from adalib.scale.machines import Here, Machines, need
from adalib.table import check_table

__all__ = ["Batch", "Form", "ParquetTable", "Piece", "open_parquet", "tabulate", "write_parquet"]

_ROOM = 250_000_000  # bytes that pyarrow takes before it has read anything
_LINES = 2_000  # questions in a part


class Piece(NamedTuple):
    """Some row groups of one file."""

    path: str
    groups: tuple[int, ...]
    first: int  # number of the first row in the whole table
    rows: int
    in_file: int  # number of the first row in its file


class Batch(NamedTuple):
    """Rows that are in memory together: checked accuracies and costs, and the ids where there are any."""

    first: int
    acc: np.ndarray
    cost: np.ndarray
    ids: Any | None


class Form(NamedTuple):
    """What the columns of a table are: the names of the budgets, and whether a row has costs of its own and an id."""

    budgets: tuple[str, ...]
    own_costs: bool
    ids: bool

    def batches(self, piece: Piece, rows: int) -> Iterator[Batch]:
        """Read a piece, so many rows at a time."""
        acc, cost = ([f"{side}_{budget}" for budget in self.budgets] for side in ("acc", "cost"))
        columns = [*acc, *(cost if self.own_costs else []), *(["id"] if self.ids else [])]
        begin = 0
        with _opened(piece.path) as file:
            for batch in file.iter_batches(rows, row_groups=list(piece.groups), columns=columns, use_threads=False):
                where = f"{piece.path}, counting from row {piece.in_file + begin}"
                values = _matrix(batch, acc, where)
                paid = _matrix(batch, cost, where) if self.own_costs else np.array(self.budgets, dtype=float)
                try:
                    check_table(values, paid)
                except ValueError as error:
                    raise DataError(f"{where}: {error}") from None
                yield Batch(piece.first + begin, values, paid, batch.column("id") if self.ids else None)
                begin += batch.num_rows


class ParquetTable(NamedTuple):
    """What the footers of the files say."""

    files: tuple[tuple[str, int, int], ...]  # path, size in bytes, time of the last change
    form: Form
    groups: tuple[tuple[int, ...], ...]  # rows in each row group of each file

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(map(sum, self.groups))

    def pieces(self, rows: int) -> list[Piece]:
        """Cut the table along row groups into pieces of at most so many rows, or of one row group."""
        pieces, first = [], 0
        for (path, _, _), sizes in zip(self.files, self.groups, strict=True):
            cuts, held = [0], 0
            for group, size in enumerate(sizes):
                if held and held + size > rows:
                    cuts.append(group)
                    held = 0
                held += size
            in_file = 0
            for begin, end in itertools.pairwise([*cuts, len(sizes)]):
                if count := sum(sizes[begin:end]):
                    pieces.append(Piece(path, tuple(range(begin, end)), first, count, in_file))
                    first, in_file = first + count, in_file + count
        return pieces


def open_parquet(path: str | Path) -> ParquetTable:
    """Read the footers of a Parquet file, or of all files of a folder, and check that they make one table."""
    _load_arrow(str(path), "reading Parquet")
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder; check the path")
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.glob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise DataError(f"{path}: holds no .parquet files; give a folder with some, or make one with `adalib table`")
    forms = [_form(file) for file in files]
    for file, (form, _) in zip(files, forms, strict=True):
        if form != forms[0][0]:
            raise DataError(f"{file}: has other columns than {files[0]}; give all files of a table the same")
    about = tuple((str(file.absolute()), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    table = ParquetTable(about, forms[0][0], tuple(groups for _, groups in forms))
    if table.rows == 0:
        raise DataError(f"{path}: holds no rows; write at least one question")
    return table


def _load_arrow(source: str, work: str) -> None:
    check_room(source, work, _ROOM, "free some, or raise the limit")
    need("pyarrow")


def write_parquet(path: Path, columns: dict[str, Any], metadata: dict[str, str] | None = None) -> None:
    """Write columns to a Parquet file that appears under its name only when complete."""
    pa, pq = need("pyarrow"), need("pyarrow.parquet")
    table = pa.table(columns).replace_schema_metadata(metadata)
    with replacing(path) as draft:
        pq.write_table(table, draft, compression="zstd")


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """A Parquet file to read from, and one line for what is wrong with it."""
    pa, pq = need("pyarrow"), need("pyarrow.parquet")
    try:
        # A small buffer for each column instead of whole row groups: the rows come a few at a time.
        with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            yield file
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; every machine must see it under this path") from None
    except MemoryError:  # Arrow's is one of its own exceptions too
        raise
    except (pa.ArrowException, OSError) as error:
        said = " ".join(str(error).split())[:160]
        raise DataError(f"{path}: is not sound Parquet ({said}); copy it or write it again") from None


def _form(path: Path) -> tuple[Form, tuple[int, ...]]:
    """The columns, and the sizes of the row groups."""
    with _opened(path) as file:
        names, about = file.schema_arrow.names, file.metadata
        groups = tuple(about.row_group(i).num_rows for i in range(about.num_row_groups))
    budgets = tuple(name.removeprefix("acc_") for name in names if name.startswith("acc_"))
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{path}: has the column {twice[0][:60]!r} more than once; give every column another name")
    if not budgets:
        mend = "a table has a column acc_B for every budget B, such as acc_1, acc_2, acc_4"
        raise DataError(f"{path}: has no accuracies among its columns ({', '.join(names)[:80]}); {mend}")
    costs = {name.removeprefix("cost_") for name in names if name.startswith("cost_")}
    if costs and costs != set(budgets):
        raise DataError(f"{path}: has cost_ columns for some budgets only; give cost_B for every acc_B, or for none")
    if not costs:
        try:
            check_table([[0.0] * len(budgets)], [float(budget) for budget in budgets])
        except ValueError:
            mend = "name the columns after what they cost, in order, or add cost_B columns"
            raise DataError(f"{path}: the budgets {', '.join(budgets)} are no increasing costs; {mend}") from None
    return Form(budgets, bool(costs), "id" in names), groups


def _matrix(batch: Any, names: list[str], where: str) -> np.ndarray:
    pa = need("pyarrow")
    values = np.empty((batch.num_rows, len(names)))
    for place, name in enumerate(names):
        column = batch.column(name)
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise DataError(f"{where}: column {name} holds no numbers; write it as floats")
        column = column.cast(pa.float64())
        # By way of DLPack, because to_numpy would load pandas; a null becomes NaN, which no table may hold.
        values[:, place] = np.from_dlpack(column.fill_null(np.nan) if column.null_count else column)
    return values


class _Part(NamedTuple):
    """Some lines of a file of answers, how their accuracies are estimated, and how the names of their tables begin."""

    source: str
    lines: tuple[int, int, int]
    stem: str
    how: dict[str, Any]


class _Written(NamedTuple):
    """A file of the table: where its questions come from, how many samples they have, and 8 bytes for each id."""

    source: str
    path: str
    samples: int
    marks: np.ndarray


def tabulate(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    estimator: str = "subsets",
    ties: str = "share",
    cost: str = "samples",
    machines: Machines | None = None,
) -> int:
    """Estimate the accuracies of all questions in files of answers and write them as a table in Parquet files.

    The same numbers as ``adalib.load(file).table(...)``; returns how many questions there are. Explained in
    `adalib.scale`.

    Parameters
    ----------
    sources : sequence of path
        ``.jsonl`` or ``.jsonl.gz`` files, one question per line.
    out : path
        Folder for the table; it appears when it is complete. An interrupted run is gone on with.
    budgets, estimator, ties, cost
        As in `adalib.Responses.table`.
    machines : Machines, optional
        Default: a process on every core of this machine.
    """
    _load_arrow(str(sources[0]), "writing Parquet")
    out, machines = Path(out).absolute(), machines or Here(processes=True)
    files = [Path(source).absolute() for source in sources]
    how = {"budgets": tuple(budgets), "estimator": estimator, "ties": ties, "cost": cost}
    cut_up = [list(line_parts(file, _LINES)) for file in files]
    about = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    with filling(out, {"sources": about, "how": how}) as draft:
        parts = [
            _Part(str(file), lines, f"{draft}/part-{number:05d}", how)
            for number, (file, own) in enumerate(zip(files, cut_up, strict=True))
            for lines in own
        ]
        written = [file for own in machines.map(_write, parts, what="comparing answers") for file in own]
        if not written:
            raise DataError(f"{files[0]}: holds no questions; write one JSON object per line")
        _check_together(written)
        publish(draft, out, keep={Path(file.path).name for file in written})
        return sum(file.marks.size for file in written)


def _write(part: _Part) -> list[_Written]:
    """Write the table of a part of a file, in files of a few thousand rows each: compressed files are one part."""
    lines = read_lines(part.source, part=part.lines)
    records = ((f"{part.source}, line {number}", number, record) for number, record in lines)
    return [_write_some(part, some) for some in iter(lambda: list(itertools.islice(records, _LINES)), [])]


def _write_some(part: _Part, records: list) -> _Written:
    pq = need("pyarrow.parquet")
    path = Path(f"{part.stem}-{records[0][1]:012d}.parquet")
    if path.exists():  # complete, for it has its name
        ids = pq.read_table(path, columns=["id"])["id"].to_pylist()
        return _Written(part.source, str(path), int(pq.read_metadata(path).metadata[b"adalib_samples"]), _marks(ids))
    responses = from_records(part.source, records)
    table = responses.table(**part.how)
    columns: dict[str, Any] = {"id": list(table.ids)}
    columns |= {f"acc_{budget}": values for budget, values in zip(table.budgets, table.acc.T, strict=True)}
    if table.cost.ndim == 2:
        columns |= {f"cost_{budget}": values for budget, values in zip(table.budgets, table.cost.T, strict=True)}
    write_parquet(path, columns, {"adalib_samples": str(responses.samples)})
    return _Written(part.source, str(path), responses.samples, _marks(table.ids))


def _marks(ids: Sequence[str]) -> np.ndarray:
    digests = b"".join(blake2b(name.encode("utf-8", "replace"), digest_size=8).digest() for name in ids)
    return np.frombuffer(digests, dtype=np.uint64)


def _check_together(written: list[_Written]) -> None:
    """What no part can see alone: as many samples everywhere in a file, and no id twice."""
    for source, files in itertools.groupby(written, key=lambda file: file.source):
        samples = {file.samples for file in files}
        if len(samples) > 1:
            mend = 'give every question equally many ("" where nothing was extracted)'
            raise DataError(f"{source}: has questions with {min(samples)} answers and with {max(samples)}; {mend}")
    values, counts = np.unique(np.concatenate([file.marks for file in written]), return_counts=True)
    for mark in values[counts > 1]:
        seen: dict[str, str] = {}
        # Two ids may share a mark by accident: look at them.
        for file, place in ((one, place) for one in written for place in np.flatnonzero(one.marks == mark).tolist()):
            name = need("pyarrow.parquet").read_table(file.path, columns=["id"])["id"][place].as_py()
            if name in seen:
                raise DataError(f"{file.source}: id {name[:60]!r} is also in {seen[name]}; give every question its own")
            seen[name] = file.source
