"""JSON Lines in and out: one object a line, plain or gzip, with every fault named in one sentence.

The files come from strangers, so nothing is trusted: not the size, not the encoding (see `adalib.datasets.files`), and
not that a number is one. A fault is a `DataError` whose text is the line to show: the file, the line, what is wrong,
and the mend.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adalib.datasets import files
from adalib.datasets.files import DataError, line_parts

__all__ = ["DataError", "kind_of", "line_parts", "one_line", "read_json", "read_lines", "write_lines"]


def read_lines(
    path: str | os.PathLike, *, part: tuple[int, int, int] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line that is not blank.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    path : path
        A UTF-8 file of one JSON object a line; read as gzip when its name ends in ``.gz``. At most 1 GB, also when
        decompressed, and 64 MB a line. A byte order mark and Windows line ends are accepted.
    part : (int, int, int), optional
        Read a part of a large file: from this byte on, after so many lines, so many lines. See `line_parts`.

    Yields
    ------
    number : int
        Line number, from 1.
    record : dict

    Raises
    ------
    DataError
        One sentence that names the file, the line and the mend.
    """
    for number, line in files.open_lines(path, part=part):
        yield number, read_json(line, f"{path}, line {number}")


def write_lines(path: str | os.PathLike, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object a line, as gzip when the name ends in ``.gz``; all of it, or nothing.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    path : path
        Where to write; an older file of that name is replaced in one step at the end.
    records : iterable of dict
        Objects of plain values and numpy values, without NaN or infinity.

    Raises
    ------
    DataError
        If a record cannot be written as JSON or the file cannot be written; nothing is left behind.
    """
    path = Path(path)
    size = 0
    with files.written(path) as file:
        for number, record in enumerate(records, start=1):
            line = one_line(record, f"{path}, line {number}")
            size += len(line)
            # What is written can be read back.
            if len(line) > files.MAX_LINE or size > files.MAX_FILE:
                most = f"{files.MAX_LINE / 1e6:g} MB a line, {files.MAX_FILE / 1e9:g} GB in all"
                raise DataError(f"{path}, line {number}: is longer than can be read back ({most}); shorten or split it")
            file.write(line)


def read_json(line: bytes, where: str) -> dict[str, Any]:
    """Read one JSON object, strictly: UTF-8, finite numbers of a bounded size, no deep nesting.

    Parameters
    ----------
    line : bytes
        The text.
    where : str
        What a fault is said to be in: the file and the line.
    """
    mend = "write one JSON object a line"
    try:
        text = line.decode("utf-8")
        record = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
        if "\\ud" in text or "\\uD" in text:
            # Half a character, from a text cut in its middle, could never be shown or saved: it becomes a "?".
            record = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("["):
            raise DataError(
                f"{where}: is part of a JSON array; {mend}, without the brackets and the commas between"
            ) from None
        raise DataError(f"{where}: is not JSON ({error.msg}, column {error.colno}); {mend}") from None
    except RecursionError:
        raise DataError(f"{where}: is nested too deeply; {mend}, with plain lists in it") from None
    except ValueError as error:
        raise DataError(f"{where}: holds {error}") from None
    if not isinstance(record, dict):
        raise DataError(f"{where}: is {kind_of(record)}, not an object; {mend}")
    return record


def _no_number(name: str) -> None:
    raise ValueError(f"{name}, which is no number; write null, or leave the field out")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:20]}, which is too large; write a smaller one")
    return value


def _whole(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError(f"the number {digits[:20]}..., which is too large; write a smaller one, or a text in quotes")
    return int(digits)


def kind_of(value: Any) -> str:
    """Name a JSON value's type in words, for a message."""
    if value is None:
        return "null"
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)


def one_line(record: dict[str, Any], where: str) -> bytes:
    """Write one JSON object as a line; a fault is said to be in ``where``."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=_unwrap)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be written as JSON ({error}); mend that value") from None
    return text.encode("utf-8", "replace") + b"\n"


def _unwrap(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not plain data")
