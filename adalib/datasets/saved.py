"""Check the values of a saved policy, one by one, so that a damaged file is refused.

What is saved is plain JSON data: an object with its "kind" and "version", and numbers, names and
lists. Reading it never imports, compiles or runs anything that it names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adalib.datasets.files import DataError

#: What an unsound value may raise on its way into an object.
_UNSOUND = (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError)


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
    except _UNSOUND as error:
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
