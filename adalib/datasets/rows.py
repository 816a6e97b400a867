"""Sampled answers in a table: a CSV or Parquet file, a DataFrame, or a list of records.

A row is a question, with its ``answers`` in a list (in CSV as JSON or pandas writes one), or it is
one answer, in a column ``answer``; then a question has as many rows as it has answers, in their
order. The other columns are the fields of a line in `adalib.load`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adalib.datasets.files import DataError, open_lines

#: How the files are called that pandas reads.
SUFFIXES = (".csv", ".csv.gz", ".parquet")
# Columns of texts: their digits are no numbers.
_TEXTS = ("id", "question", "gold", "answer", "model", "effort")
# Of these an answer has one each.
_OF_AN_ANSWER = ("correct", "classes", "tokens", "logprob", "entropy")


def is_table(name: str) -> bool:
    """Whether a file is a table, by its name."""
    return name.lower().endswith(SUFFIXES)


def holds_answers(path: str) -> bool:
    """Whether the columns of a CSV file are those of answers, not of accuracies."""
    _, header = next(open_lines(path), (1, b""))
    return bool(re.search(rb'(?:^|,)\s*"?answers?"?\s*(?:,|$)', header.strip()))


def table_records(path: Path) -> list[tuple[str, int, dict[str, Any]]]:
    """Return the records of a CSV or Parquet file, each with its place in words and its number."""
    import pandas as pd

    try:
        if path.name.lower().endswith(".parquet"):
            frame = pd.read_parquet(path)
        else:  # as they are written: 007 is no 7, and "NA" may be an answer
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror or error}); check its name and its "
            "permissions"
        ) from None
    except ImportError:
        raise DataError(
            f"{path}: Parquet needs pyarrow; install it, or save the file as JSON Lines"
        ) from None
    except (ValueError, UnicodeDecodeError) as error:  # pandas's own errors among them
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: is no sound table ({reason}); save it again") from None
    rows = frame.to_dict("records")
    if not path.name.lower().endswith(".parquet"):
        rows = [_read_cells(row, f"{path}, row {place}") for place, row in enumerate(rows, 1)]
    return list(records_of(rows, str(path)))


def records_of(rows: Any, source: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the records of a list or a DataFrame, each with its place in words and its number."""
    if hasattr(rows, "to_dict"):
        rows = rows.to_dict("records")
    plain = []
    for place, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise DataError(
                f"{source}, row {place}: is a {type(row).__name__}; give a dictionary with id, "
                "question, gold and answers"
            )
        values = {str(name): _plain(value) for name, value in row.items()}
        plain.append({name: value for name, value in values.items() if value is not None})
    if any("answer" in row and "answers" not in row for row in plain):
        plain = list(_questions(plain))
    for place, record in enumerate(plain, 1):
        yield f"{source}, row {place}", place, record


def _read_cells(row: Mapping[str, str], where: str) -> dict[str, Any]:
    """Return a row of texts with its lists and numbers read; an empty cell is missing."""
    read: dict[str, Any] = {}
    for name, cell in row.items():
        if name in _TEXTS:
            read[name] = cell
        elif cell:
            try:
                read[name] = _list_or_number(cell)
            except ValueError:
                if name == "answers":
                    raise DataError(
                        f"{where}: its answers are {cell[:40]!r}; write a JSON list, such as "
                        '["7", "8"], or one row per answer with a column answer'
                    ) from None
                read[name] = cell
    return read


def _list_or_number(cell: str) -> Any:
    """Read a cell as JSON, or a list as pandas writes it: as Python prints it."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    try:
        if cell.startswith("["):
            return ast.literal_eval(cell)
    except (SyntaxError, MemoryError, RecursionError):
        pass
    raise ValueError("neither JSON nor a list as Python prints it")


def _questions(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Put the answers of each question together, which have a row each."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(str(row.get(name)) for name in ("id", "model", "effort"))
        groups.setdefault(key, []).append(row)
    for group in groups.values():
        record = {name: value for name, value in group[0].items() if name != "answer"}
        record["answers"] = [row.get("answer", "") for row in group]
        for name in _OF_AN_ANSWER:
            if name in record:
                record[name] = [row.get(name) for row in group]
        yield record


def _plain(value: Any) -> Any:
    """Return a value of numpy or pandas as JSON has it; None for a missing one."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    is_missing = type(value).__name__ in ("NAType", "NaTType") or value != value
    return None if is_missing else value
