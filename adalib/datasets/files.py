"""Files that nobody vouches for: one place where they are opened, and one where they are written.

Reading takes regular files alone and stops at a stated size, also when decompressed; JSON Lines are read strictly.
Writing is all or nothing (see `adalib.drafts`). A fault is a `DataError` whose text is the line to show.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import stat
import sys
import threading
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

from adalib.drafts import clear_drafts, replacing

__all__ = ["DataError", "check_room", "cores", "free_memory", "kind_of", "line_parts", "most_memory", "one_line"]
__all__ += ["open_lines", "read_json", "read_lines", "read_whole", "write_lines", "written"]

MAX_FILE = 1_000_000_000  # bytes, decompressed
MAX_LINE = 64_000_000  # bytes

Part = tuple[int, int, int]  # of a large file: its first byte, the lines before it and the lines in it


class DataError(ValueError):
    """A fault in a file of data; its text is one sentence: the file, the line, what is wrong and the mend."""


def open_lines(
    path: str | os.PathLike, limit: int | None = None, part: Part | None = None
) -> Generator[tuple[int, bytes], None, None]:
    """The number and the bytes of every line that is not blank, of all the file or a part (see `line_parts`).

    At most ``limit`` bytes are read, decompressed (1 GB by default, all of a part); a byte order mark is dropped."""
    path, most = Path(path), limit or (MAX_FILE if part is None else math.inf)
    try:
        total = _checked_size(path, most)
        if part is None:  # a byte becomes a byte at least
            check_room(str(path), "reading it", total, "split it, or leave out fields that are not needed")
        # Opened without waiting, in case a pipe has taken the file's place since we looked.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as raw:
            file = gzip.GzipFile(fileobj=raw) if path.name.endswith(".gz") else raw
            begin, before, lines = part or (0, 0, sys.maxsize)
            file.seek(begin)
            yield from _lines(path, file, most, before, lines)
    except gzip.BadGzipFile:
        raise DataError(f"{path}: is not sound gzip data; compress it again, or drop .gz from its name") from None
    except (EOFError, zlib.error):
        raise DataError(f"{path}: the gzip data is cut short or damaged; copy or compress the file again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check its name and its permissions") from None


def read_whole(path: str | os.PathLike, limit: int = 10_000_000) -> bytes:
    """The bytes of a small regular file, without a byte order mark; blank lines are left out."""
    return b"".join(line for _, line in open_lines(path, limit))


@contextmanager
def written(path: str | os.PathLike) -> Iterator[BufferedIOBase]:
    """A file to write to that takes the place of ``path`` when the block ends well, in one step.

    Compressed when the name ends in ``.gz``, without a name or a time inside: the same data gives the same bytes."""
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))  # through a link, to what it points at
        if target.exists() and not target.is_file():
            raise DataError(f"{path}: is there and is no regular file; choose another name")
        clear_drafts(target)
        with replacing(target) as draft, draft.open("xb") as raw:
            if path.name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                    yield file
            else:
                yield raw
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}); check the folder and the free space") from None


@cache
def cores() -> int:
    """Processors that this process may use; one where no thread can be started, as in a browser."""
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int:
    """Bytes that this process may still take: what the system has free and its own limits leave; no end where neither
    is told (Windows, macOS, a browser)."""
    used = _told("/proc/self/status", r"VmSize:\s+(\d+) kB", 1024, missing=0)
    free = [_told("/proc/meminfo", r"MemAvailable:\s+(\d+) kB", 1024), _allowed() - used]
    limit = _told("/sys/fs/cgroup/memory.max", r"(\d+)")
    free.append(limit - _told("/sys/fs/cgroup/memory.current", r"(\d+)", missing=0))
    return max(0, min(free))


def most_memory() -> int:
    """Bytes that this process may have, where there is a limit, else the most it has had; asking takes no memory."""
    had = _told("/proc/self/status", r"VmHWM:\s+(\d+) kB", 1024, missing=0)
    return _allowed() if _allowed() < _UNTOLD else had


def check_room(source: str, work: str, need: float, mend: str) -> None:
    """Refuse work that would not fit into the memory, before it begins: where memory runs out nobody can say so."""
    free = free_memory()
    if need > free:
        sizes = f"needs about {need / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free"
        raise DataError(f"{source}: {work} {sizes}; {mend}")


_UNTOLD = 1 << 62  # bytes, where a system does not tell


def _told(file: str, pattern: str, unit: int = 1, missing: int = _UNTOLD) -> int:
    """A number of bytes that a file of the system tells."""
    try:
        match = re.search(pattern, Path(file).read_text())
    except OSError:
        match = None
    return int(match[1]) * unit if match else missing


def _allowed() -> int:
    """Bytes of addresses that this process may have."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        return _UNTOLD if soft == resource.RLIM_INFINITY else soft
    except (ImportError, AttributeError):  # Windows has none, JupyterLite an empty one
        return _UNTOLD


def line_parts(path: str | os.PathLike, lines: int) -> Iterator[Part]:
    """Cut a file into parts of so many lines; a compressed one cannot be entered in the middle and is one part."""
    path = Path(path)
    _checked_size(path, math.inf)
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


def _lines(path: Path, file: BufferedIOBase, limit: float, before: int, lines: int) -> Iterator[tuple[int, bytes]]:
    number, size = before, 0
    while number != before + lines and (line := file.readline(MAX_LINE + 1)):
        number += 1
        size += len(line)
        if size > limit:
            raise _too_large(path, "decompressed" if path.name.endswith(".gz") else "and growing", limit)
        if len(line) > MAX_LINE:
            most = f"{MAX_LINE / 1e6:g} MB"
            raise DataError(f"{path}, line {number}: is longer than {most}; put one question on a line, and shorten it")
        if number == 1:
            if line.startswith(b"\x1f\x8b"):
                raise DataError(f"{path}: is gzip data; add .gz to its name")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, line


def _checked_size(path: Path, limit: float) -> int:
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
    return DataError(f"{path}: is too large ({size}, at most {_bytes(limit)} is read); split it")


def _bytes(count: float) -> str:
    return f"{count / 1e9:.2g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def read_lines(path: str | os.PathLike, *, part: Part | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number, from 1, and the JSON object of every line that is not blank; see `open_lines`."""
    with closing(open_lines(path, part=part)) as lines:  # left to the end, it would complain of memory on its own
        yield from ((number, read_json(line, f"{path}, line {number}")) for number, line in lines)


def write_lines(path: str | os.PathLike, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line, of plain and numpy values, as gzip when the name ends in ``.gz``."""
    size = 0
    with written(path) as file:
        for number, record in enumerate(records, start=1):
            line = one_line(record, f"{path}, line {number}")
            size += len(line)
            # What is written can be read back.
            if len(line) > MAX_LINE or size > MAX_FILE:
                most = f"{MAX_LINE / 1e6:g} MB a line, {MAX_FILE / 1e9:g} GB in all"
                raise DataError(f"{path}, line {number}: is longer than can be read back ({most}); shorten or split it")
            file.write(line)


def read_json(line: bytes, where: str) -> dict[str, Any]:
    """Read one JSON object, strictly: UTF-8, finite numbers of a bounded size, no deep nesting."""
    mend = "write one JSON object per line"
    try:
        text = line.decode("utf-8")
        record = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
        if "\\ud" in text or "\\uD" in text:
            # Half a character, from a text cut in its middle, could never be shown or saved: it becomes a "?".
            record = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
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
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return (names | {dict: "an object", type(None): "null"}).get(type(value), type(value).__name__)


def one_line(record: dict[str, Any], where: str) -> bytes:
    """Write one JSON object as a line; a fault is said to be in ``where``."""

    def unwrap(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        raise TypeError(f"a {type(value).__name__} is not plain data")

    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=unwrap)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be written as JSON ({error}); mend that value") from None
    return text.encode("utf-8", "replace") + b"\n"
