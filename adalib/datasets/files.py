"""Read and write untrusted files safely.

Only regular files are read, up to a stated size, which also limits what gzip data expands to. JSON
Lines are read strictly. Writing is all or nothing (see `adalib.drafts`). A fault is a `DataError`
whose text is one line to show.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import stat
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

from adalib.drafts import clear_drafts, replacing

MAX_FILE = 1_000_000_000  # bytes, decompressed
MAX_LINE = 64_000_000  # bytes

#: Part of a large file: its first byte, the lines before it, and the lines in it.
Part = tuple[int, int, int]

_UNLIMITED = 1 << 62  # bytes, where the system does not say


class DataError(ValueError):
    """A fault in a file of data.

    Its text is one sentence that names the file, the line, what is wrong and the mend. Explained in
    the chapter "One question, many answers".

    Examples
    --------
    >>> raise DataError("answers.jsonl, line 3: has no gold; add it")
    Traceback (most recent call last):
    adalib.datasets.files.DataError: answers.jsonl, line 3: has no gold; add it
    """


def open_lines(
    path: str | os.PathLike, limit: int | None = None, part: Part | None = None
) -> Generator[tuple[int, bytes], None, None]:
    """Yield the number and the bytes of every line that is not blank.

    The lines are those of the whole file or of one part (see `line_parts`). At most ``limit`` bytes
    are read, counted after decompression: by default 1 GB of a file, and all of a part. A byte
    order mark is removed.
    """
    path = Path(path)
    limit_bytes = limit or (MAX_FILE if part is None else math.inf)
    try:
        size = checked_size(path, limit_bytes)
        if part is None:  # in memory a file takes at least its size
            check_room(
                str(path), "reading it", size, "split it, or leave out fields that are not needed"
            )
        # Opened without waiting, in case a pipe has replaced the file since the check.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as raw:
            file = gzip.GzipFile(fileobj=raw) if path.name.endswith(".gz") else raw
            begin, lines_before, lines = part or (0, 0, sys.maxsize)
            file.seek(begin)
            yield from _lines(path, file, limit_bytes, lines_before, lines)
    except gzip.BadGzipFile:
        raise DataError(
            f"{path}: is not sound gzip data; compress it again, or drop .gz from its name"
        ) from None
    except (EOFError, zlib.error):
        raise DataError(
            f"{path}: the gzip data is cut short or damaged; copy or compress the file again"
        ) from None
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); check its name and its permissions"
        ) from None


def read_whole(path: str | os.PathLike, limit: int = 10_000_000) -> bytes:
    """Return the bytes of a small regular file, without byte order mark and blank lines."""
    return b"".join(line for _, line in open_lines(path, limit))


@contextmanager
def written(path: str | os.PathLike) -> Iterator[BufferedIOBase]:
    """Yield a file to write to, which replaces ``path`` in one step if the block ends well.

    It is compressed if the name ends in ``.gz``, without a name or a time inside, so that the same
    data give the same bytes.
    """
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))  # a link stays, and its target is replaced
        if target.exists() and not target.is_file():
            raise DataError(f"{path}: exists and is no regular file; choose another name")
        clear_drafts(target)
        with replacing(target) as draft, draft.open("xb") as raw:
            if path.name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                    yield file
            else:
                yield raw
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); check the folder and the free space"
        ) from None


def free_memory() -> int:
    """Return the bytes that this process may still take: unlimited where the system does not say.

    What is free is limited by the machine, by the process and by its control group.
    """
    available = _system_bytes("/proc/meminfo", r"MemAvailable:\s+(\d+) kB", 1024)
    used = _system_bytes("/proc/self/status", r"VmSize:\s+(\d+) kB", 1024, missing=0)
    group_limit = _system_bytes("/sys/fs/cgroup/memory.max", r"(\d+)")
    group_used = _system_bytes("/sys/fs/cgroup/memory.current", r"(\d+)", missing=0)
    return max(0, min(available, _address_limit() - used, group_limit - group_used))


def most_memory() -> int:
    """Return the bytes that this process may have, or, without a limit, the most it has had."""
    limit = _address_limit()
    if limit < _UNLIMITED:
        return limit
    return _system_bytes("/proc/self/status", r"VmHWM:\s+(\d+) kB", 1024, missing=0)


def check_room(source: str, work: str, need: float, mend: str) -> None:
    """Raise DataError if work would not fit into memory, before it starts.

    Once memory has run out, there is often none left to report it.
    """
    free = free_memory()
    if need > free:
        raise DataError(
            f"{source}: {work} needs about {need / 1e9:.1f} GB of memory "
            f"and {free / 1e9:.1f} GB are free; {mend}"
        )


def _system_bytes(file: str, pattern: str, unit: int = 1, missing: int = _UNLIMITED) -> int:
    """Read a number of bytes from a file of the system, ``missing`` if it is not there."""
    try:
        match = re.search(pattern, Path(file).read_text())
    except OSError:
        match = None
    return int(match[1]) * unit if match else missing


def _address_limit() -> int:
    """Return the bytes of addresses that this process may have."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        return _UNLIMITED if soft == resource.RLIM_INFINITY else soft
    except (ImportError, AttributeError):  # no such module on Windows, an empty one in a browser
        return _UNLIMITED


def line_parts(path: str | os.PathLike, lines: int) -> Iterator[Part]:
    """Cut a file into parts of so many lines; a compressed file is one part.

    Reading of a compressed file cannot start in its middle.
    """
    path = Path(path)
    checked_size(path, math.inf)
    if path.name.endswith(".gz"):
        yield 0, 0, sys.maxsize
        return
    begin = 0  # first byte of the present part
    lines_before = 0
    lines_read = 0
    bytes_read = 0
    with path.open("rb") as file:
        while block := file.read(1 << 24):
            line_ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            first_end = lines - 1 - (lines_read - lines_before)
            for end in line_ends[first_end::lines].tolist():
                yield begin, lines_before, lines
                begin = bytes_read + end + 1
                lines_before += lines
            bytes_read += len(block)
            lines_read += line_ends.size
    if begin < bytes_read:
        yield begin, lines_before, lines


def _lines(
    path: Path, file: BufferedIOBase, limit: float, lines_before: int, lines: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of the next lines that are not blank, within the limits."""
    number = lines_before
    size = 0
    while number != lines_before + lines and (line := file.readline(MAX_LINE + 1)):
        number += 1
        size += len(line)
        if size > limit:
            raise _too_large(
                path, "decompressed" if path.name.endswith(".gz") else "and growing", limit
            )
        if len(line) > MAX_LINE:
            raise DataError(
                f"{path}, line {number}: is longer than {MAX_LINE / 1e6:g} MB; "
                "put one question on a line, and shorten it"
            )
        if number == 1:
            if line.startswith(b"\x1f\x8b"):
                raise DataError(f"{path}: is gzip data; add .gz to its name")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, line


def checked_size(path: Path, limit: float) -> int:
    """Return the size of a regular file; DataError if it is something else or too large."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path") from None
    if stat.S_ISDIR(about.st_mode):
        raise DataError(f"{path}: is a folder; give the path of a file in it")
    if not stat.S_ISREG(about.st_mode):
        raise DataError(f"{path}: is not a regular file; save the data to one first")
    if about.st_size > limit:
        raise _too_large(path, _bytes(about.st_size), limit)
    return about.st_size


def _too_large(path: Path, size: str, limit: float) -> DataError:
    """Return the error of a file that is larger than may be read."""
    return DataError(f"{path}: is too large ({size}, at most {_bytes(limit)} is read); split it")


def _bytes(count: float) -> str:
    """Write a number of bytes in GB or MB."""
    return f"{count / 1e9:.2g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def read_lines(
    path: str | os.PathLike, *, part: Part | None = None, nan_as_none: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number, from 1, and the JSON object of every line that is not blank.

    Other programs write NaN for a number that they do not have: with ``nan_as_none`` it is None.
    """
    # Closed here, because a generator that is closed by the garbage collector prints its errors.
    with closing(open_lines(path, part=part)) as lines:
        for number, line in lines:
            yield number, read_json(line, f"{path}, line {number}", nan_as_none)


def write_lines(path: str | os.PathLike, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object of plain and numpy values per line, as gzip if the name ends in .gz."""
    size = 0
    with written(path) as file:
        for number, record in enumerate(records, start=1):
            line = one_line(record, f"{path}, line {number}")
            size += len(line)
            if len(line) > MAX_LINE or size > MAX_FILE:
                limits = f"{MAX_LINE / 1e6:g} MB per line, {MAX_FILE / 1e9:g} GB in all"
                raise DataError(
                    f"{path}, line {number}: is longer than can be read back ({limits}); "
                    "shorten or split it"
                )
            file.write(line)


def read_json(line: bytes, where: str, nan_as_none: bool = False) -> dict[str, Any]:
    """Read one JSON object, strictly: UTF-8, finite numbers of a bounded size, no deep nesting."""
    mend = "write one JSON object per line"
    try:
        text = line.decode("utf-8")
        constant = (lambda name: None) if nan_as_none else _no_number
        record = json.loads(text, parse_constant=constant, parse_float=_finite, parse_int=_whole)
        if "\\ud" in text or "\\uD" in text:
            # Half a character, from a text cut in its middle, cannot be saved: it becomes "?".
            record = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        fault = f"is not JSON ({error.msg}, column {error.colno}); {mend}"
        if text.lstrip().startswith("["):
            fault = f"is part of a JSON array; {mend}, without the brackets and the commas between"
        raise DataError(f"{where}: {fault}") from None
    except RecursionError:
        raise DataError(f"{where}: is nested too deeply; {mend}, with plain lists in it") from None
    except ValueError as error:
        raise DataError(f"{where}: holds {error}") from None
    if not isinstance(record, dict):
        raise DataError(f"{where}: is {kind_of(record)}, not an object; {mend}")
    return record


def _no_number(name: str) -> None:
    """Refuse NaN and Infinity, which Python's reader of JSON would accept."""
    raise ValueError(f"{name}, which is no number; write null, or leave the field out")


def _finite(digits: str) -> float:
    """Read a decimal number; ValueError if no float is that large."""
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:20]}, which is too large; write a smaller one")
    return value


def _whole(digits: str) -> int:
    """Read a whole number; ValueError if it is so long that reading it would be slow."""
    if len(digits) > 300:
        raise ValueError(
            f"the number {digits[:20]}..., which is too large; "
            "write a smaller one, or a text in quotes"
        )
    return int(digits)


def kind_of(value: Any) -> str:
    """Name a JSON value's type in words, for a message."""
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)


def one_line(record: dict[str, Any], where: str) -> bytes:
    """Return one JSON object as a line; DataError names ``where`` if a value is not plain data."""

    def unwrap(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        raise TypeError(f"a {type(value).__name__} is not plain data")

    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=unwrap)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be written as JSON ({error}); mend that value") from None
    return text.encode("utf-8", "replace") + b"\n"
