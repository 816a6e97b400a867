"""Files that nobody vouches for: one place where they are opened, and one where they are written.

Reading takes regular files alone (no pipe, no device), stops at a stated size, also when decompressed, and stops
early where the memory would not hold what the lines become. Writing goes to a draft beside the target that takes its
place only when complete, so whatever ends the program leaves the old file as it was; drafts that a killed program
left are cleared away by the next. A fault is a `DataError` whose text is the line to show.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import resource
import secrets
import stat
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

__all__ = [
    "DataError",
    "check_room",
    "free_memory",
    "kind_of",
    "line_parts",
    "most_memory",
    "one_line",
    "open_lines",
    "read_json",
    "read_lines",
    "read_whole",
    "write_lines",
    "written",
]


MAX_FILE = 1_000_000_000  # bytes, decompressed
MAX_LINE = 64_000_000  # bytes
MAX_BLANK = 1_000_000  # lines with nothing in them
_GZIP = b"\x1f\x8b"
_STEP = 16_000_000  # bytes read between two looks at the memory
_RESERVE = 200_000_000  # bytes that what follows the reading may need at least


class DataError(ValueError):
    """A fault in a file of data; its text is one sentence: the file, the line, what is wrong and the mend."""


def open_lines(
    path: str | os.PathLike, limit: int | None = None, part: tuple[int, int, int] | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of every line that is not blank, with its end where it has one.

    Parameters
    ----------
    path : path
        Read as gzip when its name ends in ``.gz``. A byte order mark is dropped.
    limit : int, optional
        The most bytes to read, decompressed. Default: 1 GB, and none for a part.
    part : (int, int, int), optional
        Read a part of a large file: from this byte on, after so many lines, so many lines. See `line_parts`.

    Raises
    ------
    DataError
        If it is no regular file, cannot be read, is too large, or would not fit into the memory.
    """
    path, limit = Path(path), limit or (MAX_FILE if part is None else math.inf)
    try:
        total = _checked_size(path, limit)
        zipped = path.name.endswith(".gz")
        # Opened without waiting, in case a pipe has taken the file's place since we looked.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as raw:
            file = gzip.GzipFile(fileobj=raw) if zipped else raw
            begin, before, lines = part or (0, 0, None)
            file.seek(begin)
            yield from _lines(path, file, limit, None if zipped or part else total, before, lines)
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
def written(path: str | os.PathLike) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of ``path`` when the block ends well, in one step.

    Compressed when the name ends in ``.gz``, without a name or a time inside, so that the same data gives the same
    bytes.

    Raises
    ------
    DataError
        If it cannot be written. After any error the old file is as it was and nothing is left beside it.
    """
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))  # through a link, to what it points at
        if target.exists() and not target.is_file():
            raise DataError(f"{path}: is there and is no regular file; choose another name")
        _clear_drafts(target)
        draft = target.with_name(f"{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.part")
        raw = draft.open("xb")
    except OSError as error:
        raise _unwritten(path, error) from None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{str(path)!r}: is not the name of a file; choose another") from None  # a NUL in the name
    try:
        with raw:
            if path.name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                    yield file
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        draft.replace(target)
    except OSError as error:
        raise _unwritten(path, error) from None
    finally:
        draft.unlink(missing_ok=True)


def free_memory() -> int:
    """Bytes that this process may still take: what the system has free, and what its own limit leaves."""
    free = [_meminfo("MemAvailable")]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        free.append(soft - _pages(0))
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            cap = Path("/sys/fs/cgroup", limit).read_text().strip()
            free.append(int(cap) - int(Path("/sys/fs/cgroup", used).read_text()))
        except (OSError, ValueError):  # no such limit
            continue
    return max(0, min(free))


def most_memory() -> int:
    """Bytes that this process may have, where there is a limit, else the most it has had; asking takes no memory."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if soft == resource.RLIM_INFINITY else soft


def check_room(source: str, work: str, need: float, mend: str) -> None:
    """Refuse work that would not fit into the memory: before it begins, with the sizes and what to do.

    Libraries that are not Python end the process where memory runs out, and then nobody can say anything.
    """
    free = free_memory()
    if need > free:
        raise DataError(
            f"{source}: {work} needs about {need / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free; {mend}"
        )


def line_parts(path: str | os.PathLike, lines: int) -> Iterator[tuple[int, int, int]]:
    """Cut a file into parts of so many lines, for `open_lines`: first byte, lines before it, lines in it.

    A compressed file cannot be entered in the middle and is one part.
    """
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


def _lines(
    path: Path, file: Any, limit: float, total: int | None, number: int, lines: int | None
) -> Iterator[tuple[int, bytes]]:
    last = None if lines is None else number + lines
    size = blank = 0
    look, before = _STEP, _pages(1)
    if total is not None and total > _STEP:
        _check_memory(path, 1, total, 1)  # a byte becomes a byte at least
    while number != last and (line := file.readline(MAX_LINE + 1)):
        number += 1
        size += len(line)
        if size > limit:
            raise _too_large(path, "decompressed" if total is None else "and growing", limit)
        if len(line) > MAX_LINE:
            most = f"{MAX_LINE / 1e6:g} MB"
            raise DataError(f"{path}, line {number}: is longer than {most}; put one question on a line, and shorten it")
        if size >= look:
            look = size + _STEP
            _check_memory(path, size, max(total or size, size), _pages(1) - before)
        if number == 1:
            if line.startswith(_GZIP):
                raise DataError(f"{path}: is gzip data; add .gz to its name")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, line
        else:
            blank += 1
            if blank > MAX_BLANK:
                raise DataError(f"{path}, line {number}: is blank like {MAX_BLANK:,} others; take the blank lines out")


def _checked_size(path: Path, limit: float) -> int:
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path") from None
    except ValueError:  # a NUL in the name
        raise DataError(f"{str(path)!r}: is not the name of a file; check the path") from None
    if stat.S_ISDIR(about.st_mode):
        raise DataError(f"{path}: is a folder; give the path of a file in it")
    if not stat.S_ISREG(about.st_mode):
        raise DataError(f"{path}: is not a regular file; save the data to one first")
    if about.st_size > limit:
        raise _too_large(path, _bytes(about.st_size), limit)
    return about.st_size


def _check_memory(path: Path, size: int, total: int, grown: int) -> None:
    """Stop early: what the lines read so far became foretells what all of them will become."""
    need = max(grown, 0) / size * (total - size) + _RESERVE
    free = free_memory()
    if need > free:
        raise DataError(
            f"{path}: needs about {(need + grown) / 1e9:.1f} GB of memory and {(free + grown) / 1e9:.1f} GB are free; "
            "split it, or leave out fields that are not needed"
        )


def _too_large(path: Path, size: str, limit: float) -> DataError:
    return DataError(f"{path}: is too large ({size}, at most {_bytes(limit)} is read); split it")


def _bytes(count: float) -> str:
    return f"{count / 1e9:.2g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def _unwritten(path: Path, error: OSError) -> DataError:
    return DataError(f"{path}: cannot be written ({error.strerror}); check the folder and the free space")


def _clear_drafts(target: Path) -> None:
    """Remove drafts of this file whose writer is gone."""
    ours = re.compile(re.escape(target.name[:100]) + r"\.(\d+)-[0-9a-f]{8}\.part")
    for file in target.parent.iterdir() if target.parent.is_dir() else ():
        found = ours.fullmatch(file.name)
        if found and not _alive(int(found[1])) and time.time() - file.stat().st_mtime > 1:
            file.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _meminfo(name: str) -> int:
    try:
        found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else 1 << 62  # a system that does not tell


def _pages(field: int) -> int:
    """The size of this process in bytes: 0 of its address space, 1 of its memory in use."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()
    except (OSError, ValueError):
        return 0


# JSON Lines in and out: one object a line, plain or gzip, with every fault named in one sentence.
#
# The files come from strangers, so nothing is trusted: not the size, not the encoding (see `adalib.datasets.files`),
# and not that a number is one. A fault is a `DataError` whose text is the line to show: the file, the line, what is wrong,
# and the mend.


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
    for number, line in open_lines(path, part=part):
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
