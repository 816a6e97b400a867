"""Files of JSON with a checksum in the first line, so that damage is found on reading.

An attacker can write a new checksum, so readers also check every value with the functions below.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from adalib.datasets.files import (
    DataError,
    one_line,
    open_lines,
    read_json,
    read_lines,
    write_lines,
)


def seal(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to the first record the checksum of all records, computed without that field."""
    first, *others = records
    first = {name: value for name, value in first.items() if name != "checksum"}
    text = "\n".join(json.dumps(record, sort_keys=True) for record in [first, *others])
    return [first | {"checksum": hashlib.sha256(text.encode()).hexdigest()}, *others]


def write_sealed(path: str | os.PathLike, kind: str, records: Sequence[dict[str, Any]]) -> None:
    """Write one record per line, the first with the format and the checksum."""
    first, *others = records
    lines = [one_line(record, str(path)) for record in [{"format": kind} | first, *others]]
    # The checksum is that of the values as they will be read.
    write_lines(path, seal([read_json(line, str(path)) for line in lines]))


def read_sealed(path: str | os.PathLike, kind: str, lines: int, mend: str) -> list[dict[str, Any]]:
    """Read what `write_sealed` wrote."""
    records = [record for _, record in read_lines(path)]
    if len(records) != lines or records[0].get("format") != kind:
        expected = (
            f'{lines} line{"s" if lines > 1 else ""} of JSON, "format": "{kind}" in the first'
        )
        raise DataError(f"{path}: is not what adalib saves ({expected}); {mend}")
    if seal(records)[0]["checksum"] != records[0].get("checksum"):
        raise DataError(f"{path}: is not the file that was saved (its checksum differs); {mend}")
    return records


def digest(path: str | os.PathLike) -> str:
    """Return the SHA-256 of a file's lines that are not blank."""
    hashed = hashlib.sha256()
    for _, line in open_lines(path):
        hashed.update(line)
    return hashed.hexdigest()


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
