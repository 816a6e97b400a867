"""Files are data: JSON Lines that are read strictly, written whole, and checked value by value.

A line holds one JSON object. A fault is a `DataError`, one sentence that names the file, the line,
what is wrong and the mend. A name that ends in ``.gz`` is compressed.

A saved policy is one such object with its "kind" and "version", and numbers, names and lists.
`reading` and the functions after it check each value, so that a damaged or foreign file is refused;
reading one never imports, compiles or runs anything that it names.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

try:
    import fcntl
except ImportError:  # Windows; there, two programs on one file are not noticed
    fcntl = None  # type: ignore[assignment]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP_MARK = b"\x1f\x8b"
_ONE_PER_LINE = "write one JSON object per line"
_MOST_DIGITS = 300  # of a whole number; a longer one is no number that anybody means
#: What an unsound value of a saved file may raise on its way into an object.
UNSOUND = (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError)


class DataError(ValueError):
    """A fault in a file of data.

    Its text is one sentence that names the file, the line, what is wrong and the mend.

    Examples
    --------
    >>> raise DataError("answers.jsonl, line 3: has no gold; add it")
    Traceback (most recent call last):
    adalib.datasets.files.DataError: answers.jsonl, line 3: has no gold; add it
    """


def read_lines(path: str | os.PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number, from 1, and the JSON object of every line that is not blank."""
    for number, line in open_lines(path):
        yield number, read_json(line, f"{path}, line {number}")


def open_lines(path: str | os.PathLike) -> Generator[tuple[int, bytes], None, None]:
    """Yield the number, from 1, and the bytes of every line that is not blank."""
    path = Path(path)
    open_file = gzip.open if path.name.endswith(".gz") else open
    try:
        with open_file(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if number == 1 and line.startswith(_GZIP_MARK):
                    raise DataError(f"{path}: is gzip data; add .gz to its name")
                if number == 1:
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                if line.strip():
                    yield number, line
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


def read_whole(path: str | os.PathLike) -> bytes:
    """Return the bytes of a file, without byte order mark and blank lines."""
    return b"".join(line for _, line in open_lines(path))


def read_json(line: bytes, where: str, *, strict: bool = True) -> dict[str, Any]:
    """Read one JSON object: UTF-8, finite numbers of a bounded size, no deep nesting.

    ``where`` is the place of the line in words, for messages. Unless ``strict``, NaN and Infinity
    become null: tools write them where they have no number.
    """
    constant = _no_number if strict else lambda _: None
    try:
        text = line.decode("utf-8").rstrip()  # or a fault at the end would be in the next line
        record = json.loads(text, parse_constant=constant, parse_float=_finite, parse_int=_whole)
        if "\\ud" in text or "\\uD" in text:
            # Half a character, from a text cut in its middle, cannot be saved: it becomes "?".
            record = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        fault = f"is not JSON ({error.msg}, column {error.colno}); {_ONE_PER_LINE}"
        if text.lstrip().startswith("["):
            fault = (
                f"is part of a JSON array; {_ONE_PER_LINE}, "
                "without the brackets and the commas between"
            )
        raise DataError(f"{where}: {fault}") from None
    except RecursionError:
        raise DataError(
            f"{where}: is nested too deeply; {_ONE_PER_LINE}, with plain lists in it"
        ) from None
    except ValueError as error:
        raise DataError(f"{where}: holds {error}") from None
    if not isinstance(record, dict):
        raise DataError(f"{where}: is {kind_of(record)}, not an object; {_ONE_PER_LINE}")
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
    """Read a whole number; ValueError if it is very long."""
    if len(digits) > _MOST_DIGITS:
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
    return names.get(type(value), f"a {type(value).__name__}")


def write_lines(path: str | os.PathLike, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object of plain and numpy values per line."""
    with written(path) as file:
        for number, record in enumerate(records, start=1):
            try:
                text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=_unwrapped)
            except (TypeError, ValueError, RecursionError) as error:
                raise DataError(
                    f"{path}, line {number}: cannot be written as JSON ({error}); mend that value"
                ) from None
            file.write(text.encode("utf-8", "replace") + b"\n")


def make_folder(path: str | os.PathLike) -> Path:
    """Make a folder, if it is not there yet; DataError if there cannot be one."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be made a folder ({error.strerror}); choose another name"
        ) from None
    return Path(path)


def _unwrapped(value: Any) -> Any:
    """Return numpy values as plain ones."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not plain data")


@contextmanager
def written(path: str | os.PathLike) -> Iterator[BufferedIOBase]:
    """Yield a file to write to, which replaces ``path`` in one step if the block ends well.

    A compressed file has no name or time inside, so that the same data give the same bytes.
    """
    target = Path(os.path.realpath(path))  # a link stays, and its target is replaced
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as raw:
            if target.name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                    yield file
            else:
                yield raw
        draft.replace(target)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); check the folder and the free space"
        ) from None
    finally:
        with suppress(OSError):
            draft.unlink()  # which is still there after an error alone


def held(path: str | os.PathLike, taken: str, mend: str = "") -> ExitStack:
    """Hold a file for this program until what is returned is closed, or the program ends.

    DataError says ``taken`` if another program has it, and ``mend`` if it cannot be written.
    """
    stack = ExitStack()
    if fcntl is None:
        return stack
    try:
        # Not the file itself, which every record replaces.
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); check its folder and who owns it{mend}"
        ) from None
    stack.callback(os.close, lock)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stack.close()
        raise DataError(taken) from None
    except OSError:  # a file system without locks
        pass
    return stack


@contextmanager
def reading(data: Any, kind: str, version: int) -> Iterator[None]:
    """Raise DataError unless ``data`` is of this kind and version, and its values are sound.

    Errors that the values raise inside the ``with`` block become one sentence.
    """
    if not isinstance(data, dict) or data.get("kind") != kind:
        raise DataError(f'this is not a saved "{kind}" of adalib; choose another file')
    if data.get("version") != version:
        raise DataError(
            f'the saved "{kind}" has version {_short(data.get("version"))} and this adalib reads '
            f"version {version}; fit it and save it again"
        )
    try:
        yield
    except UNSOUND as error:
        raise DataError(
            f'the saved "{kind}" is damaged ({error!r}); fit it and save it again'
        ) from None


def number(value: Any, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number within bounds; ValueError names the field."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (low <= value <= high):
        raise ValueError(f"{name} is {_short(value)}, not a number" + _between(low, high))
    return float(value)


def whole(value: Any, name: str, low: int, high: int) -> int:
    """Return a whole number within bounds; ValueError names the field."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} is {_short(value)}, not a whole number" + _between(low, high))
    return value


def numbers(
    values: Any,
    name: str,
    shape: tuple[int | None, ...],
    low: float = -math.inf,
    high: float = math.inf,
) -> np.ndarray:
    """Return an array of finite numbers within bounds; ValueError names the field.

    None in ``shape`` stands for any length.
    """
    try:
        plain = np.array(values)  # without a type, because digits in a text would become a number
        array = plain.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is no table of numbers") from None
    if (plain.dtype.kind not in "iufO" and plain.size) or _holds_bool(values):
        raise ValueError(f"{name} is no table of numbers")
    if array.ndim != len(shape) or any(
        want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
    ):
        expected = ", ".join("any" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} has shape {array.shape}, not ({expected})")
    if not (np.isfinite(array) & (array >= low) & (array <= high)).all():
        raise ValueError(f"{name} holds a number that is not finite" + _between(low, high))
    return array


def _holds_bool(values: Any) -> bool:
    """Whether true or false is among the numbers, which numpy would accept as 1 or 0."""
    return any(map(_holds_bool, values)) if isinstance(values, list) else isinstance(values, bool)


def _short(value: Any) -> str:
    """Write a value in at most 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _between(low: float, high: float) -> str:
    """Write the bounds, for a message; nothing if there are none."""
    return "" if math.isinf(low) and math.isinf(high) else f" from {low:g} to {high:g}"
