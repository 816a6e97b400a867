"""An exercise on a page without a kernel: what the page needs to know right from wrong, without knowing the answer.

A number is right within a tolerance. The line of numbers is cut into cells of half the tolerance, and the page gets the
salted hashes of the cells that are right; ``book/_static/exercises.js`` hashes the cell of what the reader typed. That
hides the answer from a reader of the source, as a folded solution does; it is no secret.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from typing import Any

__all__ = ["answer_box", "hashed", "key"]

_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_EXACT = 1e-6  # the tolerance of an answer that has to be exact


def hashed(text: str) -> str:
    """The FNV-1a hash of a text, 64 bits in hexadecimal.

    Examples
    --------
    >>> hashed("a")
    'af63dc4c8601ec8c'
    """
    value = _OFFSET
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & _MASK
    return f"{value:016x}"


def key(name: str, truth: Any, tolerance: float) -> dict[str, Any]:
    """What the page keeps of an answer: the cells, or the text, that are right, as hashes.

    Parameters
    ----------
    name : str
        The exercise's name, which salts the hashes.
    truth : str or number
    tolerance : float
        How far off a number may be.

    Examples
    --------
    >>> len(key("half", 0.5, 1e-3)["right"])
    5
    """
    if isinstance(truth, str):
        return {"right": [hashed(f"{name}:{' '.join(truth.lower().split())}")]}
    step = (tolerance or _EXACT) / 2
    first, last = (math.floor((truth + end * (tolerance or _EXACT)) / step + 0.5) for end in (-1, 1))
    return {"step": step, "right": [hashed(f"{name}:{cell}") for cell in range(first, last + 1)]}


def answer_box(
    name: str, hint: str, kept: dict[str, Any] | None, more: str = "", wrong: Sequence[dict[str, Any]] = ()
) -> str:
    """The exercise on a page: data that the script turns into a box to answer in.

    ``kept`` is None for an exercise whose answer is code: then the page says where to run it. ``wrong`` are the keys of
    typical wrong answers, each with what is said to it; ``more`` is said from the second miss on.
    """
    known = {"name": name, "hint": hint, "more": more, "key": kept, "wrong": list(wrong)}
    data = html.escape(json.dumps(known), quote=True)
    return f'<p class="adalib-answer" data-exercise="{data}">Exercise {html.escape(name)}: not answered yet.</p>'
