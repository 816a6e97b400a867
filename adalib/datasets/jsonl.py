"""JSON Lines in and out: one object a line, plain or gzip, with every fault named in one sentence.

The files come from strangers, so nothing is trusted: not the size, not the encoding, not that a ``.gz`` holds gzip. A
fault is a `DataError` whose text is the line to show: the file, the line, what is wrong, and the mend. Writing goes to
a file beside the target that takes its place only when complete, so a failed save leaves the old file as it was.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["DataError", "kind_of", "line_parts", "read_lines", "write_lines"]

_MAX_FILE = 1_000_000_000  # bytes, decompressed
_MAX_LINE = 64_000_000  # bytes
_GZIP = b"\x1f\x8b"


class DataError(ValueError):
    """A fault in a file of data; its text is one sentence: the file, the line, what is wrong and the mend."""


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
    path = Path(path)
    zipped = path.name.endswith(".gz")
    try:
        _check_file(path, most=_MAX_FILE if part is None else math.inf)
        with gzip.open(path) if zipped else path.open("rb") as file:
            begin, number, lines = part or (0, 0, None)
            file.seek(begin)
            yield from _records(path, file, number, lines)
    except DataError:
        raise
    except gzip.BadGzipFile:
        raise DataError(f"{path}: is not sound gzip data; compress it again, or drop .gz from its name") from None
    except (EOFError, zlib.error):
        raise DataError(f"{path}: the gzip data is cut short or damaged; copy or compress the file again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check its name and its permissions") from None


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
    target = Path(os.path.realpath(path))  # through a link, to what it points at
    draft = target.with_name(f"{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as raw:
            if path.name.endswith(".gz"):
                # No name and no time inside, so that the same data gives the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                    _write(path, file, records)
            else:
                _write(path, raw, records)
            raw.flush()
            os.fsync(raw.fileno())
        draft.replace(target)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}); check the folder and the free space") from None
    finally:
        draft.unlink(missing_ok=True)


def line_parts(path: str | os.PathLike, lines: int) -> Iterator[tuple[int, int, int]]:
    """Cut a file into parts of so many lines, for `read_lines`: first byte, lines before it, lines in it.

    A compressed file cannot be entered in the middle and is one part.
    """
    path = Path(path)
    _check_file(path, most=math.inf)
    if path.name.endswith(".gz"):
        yield 0, 0, sys.maxsize
        return
    begin = before = seen = place = 0
    with path.open("rb") as file:
        while block := file.read(1 << 24):
            ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            for end in ends[lines - 1 - (seen - before) :: lines].tolist():
                yield begin, before, lines
                begin, before = place + end + 1, before + lines
            place += len(block)
            seen += ends.size
    if begin < place:
        yield begin, before, lines


def _check_file(path: Path, most: float = _MAX_FILE) -> None:
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path") from None
    except ValueError:  # a NUL in the name
        raise DataError(f"{str(path)!r}: is not the name of a file; check the path") from None
    if stat.S_ISDIR(about.st_mode):
        raise DataError(f"{path}: is a folder; give the path of a .jsonl or .jsonl.gz file in it")
    if not stat.S_ISREG(about.st_mode):
        raise DataError(f"{path}: is not a regular file; save the data to one first")
    if about.st_size > most:
        raise _too_large(path, f"{about.st_size / 1e9:.1f} GB")


def _too_large(path: Path, size: str) -> DataError:
    return DataError(f"{path}: is too large ({size}, at most {_MAX_FILE / 1e9:g} GB is read); split it")


def _records(path: Path, file: Any, number: int, lines: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
    size, last = 0, None if lines is None else number + lines
    while number != last and (line := file.readline(_MAX_LINE + 1)):
        number += 1
        size += len(line)
        where = f"{path}, line {number}"
        if last is None and size > _MAX_FILE:
            raise _too_large(path, "decompressed")
        if len(line) > _MAX_LINE:
            raise DataError(
                f"{where}: is longer than {_MAX_LINE / 1e6:g} MB; put one question on a line, and shorten it"
            )
        if number == 1:
            if line.startswith(_GZIP):
                raise DataError(f"{path}: is gzip data; add .gz to its name")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, _record(where, line)


def _record(where: str, line: bytes) -> dict[str, Any]:
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


def _write(path: Path, file: Any, records: Iterable[dict[str, Any]]) -> None:
    for number, record in enumerate(records, start=1):
        try:
            line = json.dumps(record, ensure_ascii=False, allow_nan=False, default=_unwrap).encode("utf-8", "replace")
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number}: cannot be written as JSON ({error}); mend that value") from None
        file.write(line + b"\n")


def _unwrap(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not plain data")
