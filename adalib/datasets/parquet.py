"""A table of accuracies in Parquet files, more of it than fits into memory.

One row a question; a column ``acc_B`` for every budget B, in increasing order; optionally ``cost_B`` for every one of
them, where questions pay differently (else B is the cost); optionally ``id``. A folder of such files is one table, its
rows in the order of the file names. Rows are read a few at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adalib.datasets.files import check_room
from adalib.datasets.jsonl import DataError
from adalib.drafts import replacing
from adalib.machines import need
from adalib.table import check_table

__all__ = ["ROOM", "Batch", "Form", "ParquetTable", "Piece", "open_parquet", "write_parquet"]

#: Bytes that pyarrow takes before it has read anything.
ROOM = 250_000_000

_FORM = "a table has a column acc_B for every budget B, such as acc_1, acc_2, acc_4"


@dataclass(frozen=True)
class Piece:
    """Some row groups of one file.

    Attributes
    ----------
    path : str
    groups : tuple of int
    first, rows : int
        Number of the first row in the whole table, and how many there are.
    in_file : int
        Number of that row in its file.
    """

    path: str
    groups: tuple[int, ...]
    first: int
    rows: int
    in_file: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that are in memory together: checked accuracies and costs, and the ids where there are any."""

    first: int
    acc: np.ndarray
    cost: np.ndarray
    ids: Any | None


@dataclass(frozen=True)
class Form:
    """What the columns of a table are.

    Attributes
    ----------
    budgets : tuple of str
        What the columns are called.
    own_costs, ids : bool
        Whether every row has costs of its own, and an id.
    """

    budgets: tuple[str, ...]
    own_costs: bool
    ids: bool

    def batches(self, piece: Piece, rows: int) -> Iterator[Batch]:
        """Read a piece, so many rows at a time."""
        pa = need("pyarrow")
        acc, cost = ([f"{side}_{budget}" for budget in self.budgets] for side in ("acc", "cost"))
        columns = [*acc, *(cost if self.own_costs else []), *(["id"] if self.ids else [])]
        begin = 0
        try:
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
        except MemoryError:  # Arrow's is one of its own exceptions too
            raise
        except (pa.ArrowException, OSError) as error:
            raise _unsound(piece.path, error) from None


@dataclass(frozen=True)
class ParquetTable:
    """What the footers of the files say.

    Attributes
    ----------
    files : tuple of (str, int, int)
        Path, size in bytes and time of the last change.
    form : Form
    groups : tuple of tuple of int
        Rows in each row group of each file.
    """

    files: tuple[tuple[str, int, int], ...]
    form: Form
    groups: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(map(sum, self.groups))

    def pieces(self, rows: int) -> list[Piece]:
        """Cut the table along row groups into pieces of at most so many rows, or of one row group."""
        found, first = [], 0
        for (path, _, _), sizes in zip(self.files, self.groups, strict=True):
            in_file, held = 0, []
            for group, size in enumerate(sizes):
                if held and sum(sizes[i] for i in held) + size > rows:
                    found.append(self._piece(path, held, sizes, first, in_file))
                    in_file, held = in_file + found[-1].rows, []
                held.append(group)
            if sum(sizes[i] for i in held):
                found.append(self._piece(path, held, sizes, first, in_file))
            first += sum(sizes)
        return found

    @staticmethod
    def _piece(path: str, held: list[int], sizes: Sequence[int], first: int, in_file: int) -> Piece:
        return Piece(path, tuple(held), first + in_file, sum(sizes[i] for i in held), in_file)


def open_parquet(path: str | Path) -> ParquetTable:
    """Read the footers of a Parquet file, or of all files of a folder, and check that they make one table.

    Explained in chapter 3, "The market on many machines".

    Raises
    ------
    DataError
        One sentence that names the file, what is wrong and the mend.
    RuntimeError
        If pyarrow is not installed.
    """
    check_room(str(path), "reading Parquet", ROOM, "free some, or raise the limit")
    need("pyarrow")
    files = _files(Path(path))
    forms = [_form(file) for file in files]
    for file, (form, _) in zip(files, forms, strict=True):
        if form != forms[0][0]:
            raise DataError(f"{file}: has other columns than {files[0]}; give all files of a table the same")
    about = tuple((str(file.absolute()), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    table = ParquetTable(about, forms[0][0], tuple(groups for _, groups in forms))
    if table.rows == 0:
        raise DataError(f"{path}: holds no rows; write at least one question")
    return table


def write_parquet(path: Path, columns: dict[str, Any], metadata: dict[str, str] | None = None) -> None:
    """Write columns to a Parquet file that appears under its name only when complete."""
    pa, pq = need("pyarrow"), need("pyarrow.parquet")
    table = pa.table(columns).replace_schema_metadata(metadata)
    with replacing(path) as draft:
        pq.write_table(table, draft, compression="zstd")


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder; check the path")
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.glob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise DataError(f"{path}: holds no .parquet files; give a folder with some, or make one with `adalib table`")
    return files


def _opened(path: str | Path) -> Any:
    pa, pq = need("pyarrow"), need("pyarrow.parquet")
    try:
        # A small buffer for each column instead of whole row groups: the rows come a few at a time.
        return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; every machine must see it under this path") from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise _unsound(path, error) from None


def _unsound(path: str | Path, error: Exception) -> DataError:
    said = " ".join(str(error).split())[:160]
    return DataError(f"{path}: is not sound Parquet ({said}); copy it or write it again")


def _form(path: Path) -> tuple[Form, tuple[int, ...]]:
    """The columns, and the sizes of the row groups."""
    with _opened(path) as file:
        names = file.schema_arrow.names
        about = file.metadata
        groups = tuple(about.row_group(i).num_rows for i in range(about.num_row_groups))
    budgets = tuple(name.removeprefix("acc_") for name in names if name.startswith("acc_"))
    if not budgets:
        raise DataError(f"{path}: has no accuracies among its columns ({', '.join(names)[:80]}); {_FORM}")
    costs = {name.removeprefix("cost_") for name in names if name.startswith("cost_")}
    if costs and costs != set(budgets):
        raise DataError(f"{path}: has cost_ columns for some budgets only; give cost_B for every acc_B, or for none")
    if not costs:
        try:
            check_table([[0.0] * len(budgets)], [float(budget) for budget in budgets])
        except ValueError:
            raise DataError(
                f"{path}: the budgets {', '.join(budgets)} are no increasing costs; name the columns after what "
                "they cost, in order, or add cost_B columns"
            ) from None
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
