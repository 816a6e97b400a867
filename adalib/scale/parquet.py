"""A table of accuracies in Parquet files, read a batch of rows at a time.

There is one row per question, with a column ``acc_B`` for every budget B in increasing order. If
questions pay differently there is also a column ``cost_B`` for every budget; otherwise B is the
cost. A column ``id`` is optional. A folder of such files is one table, whose rows come in the order
of the file names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.files import DataError, check_room
from adalib.drafts import replacing
from adalib.scale.machines import need
from adalib.table import check_table

_ARROW_BYTES = 250_000_000  # that pyarrow takes before it has read anything


class Piece(NamedTuple):
    """Some row groups of one file."""

    path: str
    groups: tuple[int, ...]
    first: int  # number of the first row in the whole table
    rows: int
    in_file: int  # number of the first row in its file


class Batch(NamedTuple):
    """Rows that are in memory together: checked accuracies and costs, and ids if there are any."""

    first: int
    acc: np.ndarray
    cost: np.ndarray
    ids: Any | None


class Form(NamedTuple):
    """The columns of a table."""

    budgets: tuple[str, ...]
    own_costs: bool  # whether there is a column cost_B for every budget
    ids: bool  # whether there is a column id

    def batches(self, piece: Piece, rows: int) -> Iterator[Batch]:
        """Read a piece, so many rows at a time; DataError names the rows of a faulty batch."""
        acc_columns = [f"acc_{budget}" for budget in self.budgets]
        cost_columns = [f"cost_{budget}" for budget in self.budgets] if self.own_costs else []
        id_columns = ["id"] if self.ids else []
        first_in_piece = 0
        shared_cost = np.empty(0) if self.own_costs else np.array(self.budgets, dtype=float)
        with _opened(piece.path) as file:
            for batch in file.iter_batches(
                rows,
                row_groups=list(piece.groups),
                columns=[*acc_columns, *cost_columns, *id_columns],
                use_threads=False,
            ):
                where = f"{piece.path}, counting from row {piece.in_file + first_in_piece}"
                acc = _matrix(batch, acc_columns, where)
                cost = _matrix(batch, cost_columns, where) if self.own_costs else shared_cost
                try:
                    check_table(acc, cost)
                except ValueError as error:
                    raise DataError(f"{where}: {error}") from None
                ids = batch.column("id") if self.ids else None
                yield Batch(piece.first + first_in_piece, acc, cost, ids)
                first_in_piece += batch.num_rows


class ParquetTable(NamedTuple):
    """The files of a table, as their footers describe them."""

    files: tuple[tuple[str, int, int], ...]  # path, size in bytes, time of the last change
    form: Form
    groups: tuple[tuple[int, ...], ...]  # rows in each row group of each file

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(map(sum, self.groups))

    def pieces(self, rows: int) -> list[Piece]:
        """Cut the table along row groups into pieces of at most so many rows, or of one group."""
        pieces: list[Piece] = []
        first = 0
        for (path, _, _), sizes in zip(self.files, self.groups, strict=True):
            in_file = 0
            for begin, end in itertools.pairwise(_cuts(sizes, rows)):
                count = sum(sizes[begin:end])
                if count:
                    pieces.append(Piece(path, tuple(range(begin, end)), first, count, in_file))
                    first += count
                    in_file += count
        return pieces


def _cuts(sizes: tuple[int, ...], rows: int) -> list[int]:
    """Where to cut a file's row groups so that no piece of several groups exceeds ``rows``."""
    cuts = [0]
    held = 0
    for group, size in enumerate(sizes):
        if held and held + size > rows:
            cuts.append(group)
            held = 0
        held += size
    return [*cuts, len(sizes)]


def open_parquet(path: str | Path) -> ParquetTable:
    """Read the footers of a Parquet file or of all files in a folder, and check that they agree."""
    load_arrow(str(path), "reading Parquet")
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder; check the path")
    files = [path]
    if path.is_dir():
        files = sorted(
            file for file in path.glob("*.parquet") if not file.name.startswith((".", "_"))
        )
    if not files:
        raise DataError(
            f"{path}: holds no .parquet files; "
            "give a folder with some, or make one with `adalib table`"
        )
    forms_and_groups = [_read_footer(file) for file in files]
    form, _ = forms_and_groups[0]
    for file, (other_form, _) in zip(files, forms_and_groups, strict=True):
        if other_form != form:
            raise DataError(
                f"{file}: has other columns than {files[0]}; give all files of a table the same"
            )
    about = tuple(
        (str(file.absolute()), file.stat().st_size, file.stat().st_mtime_ns) for file in files
    )
    table = ParquetTable(about, form, tuple(groups for _, groups in forms_and_groups))
    if table.rows == 0:
        raise DataError(f"{path}: holds no rows; write at least one question")
    return table


def load_arrow(source: str, work: str) -> None:
    """Import pyarrow; one line if it is not installed or does not fit into memory."""
    check_room(source, work, _ARROW_BYTES, "free some, or raise the limit")
    need("pyarrow")


def write_parquet(
    path: Path, columns: dict[str, Any], metadata: dict[str, str] | None = None
) -> None:
    """Write columns to a Parquet file that appears under its name only when complete."""
    pa = need("pyarrow")
    pq = need("pyarrow.parquet")
    table = pa.table(columns).replace_schema_metadata(metadata)
    with replacing(path) as draft:
        pq.write_table(table, draft, compression="zstd")


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """Open a Parquet file for reading; DataError, one line, if it is missing or damaged."""
    pa = need("pyarrow")
    pq = need("pyarrow.parquet")
    try:
        # A small buffer per column instead of whole row groups, because rows are read in batches.
        with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            yield file
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no such file; every machine must see it under this path"
        ) from None
    except MemoryError:  # before the next clause, because Arrow's own is an ArrowException too
        raise
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:160]
        raise DataError(
            f"{path}: is not sound Parquet ({reason}); copy it or write it again"
        ) from None


def _read_footer(path: Path) -> tuple[Form, tuple[int, ...]]:
    """Return the columns of a file and the sizes of its row groups."""
    with _opened(path) as file:
        names = file.schema_arrow.names
        metadata = file.metadata
        groups = tuple(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
    return _check_columns(path, names), groups


def _check_columns(path: Path, names: list[str]) -> Form:
    """Return the form of a table with these columns; DataError if they make none."""
    budgets = tuple(name.removeprefix("acc_") for name in names if name.startswith("acc_"))
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(
            f"{path}: has the column {repeated[0][:60]!r} more than once; "
            "give every column another name"
        )
    if not budgets:
        mend = "a table has a column acc_B for every budget B, such as acc_1, acc_2, acc_4"
        raise DataError(
            f"{path}: has no accuracies among its columns ({', '.join(names)[:80]}); {mend}"
        )
    cost_budgets = {name.removeprefix("cost_") for name in names if name.startswith("cost_")}
    if cost_budgets and cost_budgets != set(budgets):
        raise DataError(
            f"{path}: has cost_ columns for some budgets only; "
            "give cost_B for every acc_B, or for none"
        )
    if not cost_budgets:
        try:
            check_table([[0.0] * len(budgets)], [float(budget) for budget in budgets])
        except ValueError:
            mend = "name the columns after what they cost, in order, or add cost_B columns"
            raise DataError(
                f"{path}: the budgets {', '.join(budgets)} are no increasing costs; {mend}"
            ) from None
    return Form(budgets, bool(cost_budgets), "id" in names)


def _matrix(batch: Any, names: list[str], where: str) -> np.ndarray:
    """Return some columns as float64, one row per question; DataError if one is not numeric."""
    pa = need("pyarrow")
    values = np.empty((batch.num_rows, len(names)))
    for place, name in enumerate(names):
        column = batch.column(name)
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise DataError(f"{where}: column {name} holds no numbers; write it as floats")
        column = column.cast(pa.float64())
        # By way of DLPack, because to_numpy would load pandas. A null becomes NaN, which
        # check_table refuses.
        values[:, place] = np.from_dlpack(column.fill_null(np.nan) if column.null_count else column)
    return values
