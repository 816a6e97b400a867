"""Inputs to try a reader's work on: nasty ones first, then random ones, and a way to make a failing one small.

An input is a dict of named values. Arrays that belong together share named axes, so that one question, or one budget,
can be left out of all of them at once. Numbers are made simple by rounding to eighths and halves: such numbers are
exact in binary, and a tie among them is a tie.
"""

from __future__ import annotations

import contextlib
import copy
import io
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["Broken", "Case", "Inputs", "Late", "apply", "described", "limited", "shrunk"]

Case = dict[str, Any]
_ATTEMPTS = 400  # at making a case smaller


class Broken(Exception):  # noqa: N818 (it is the reader's function that is broken)
    """A reader's function did not come back with a value; the text says how."""


class Late(BaseException):
    """Time is up. Not an Exception, so that a bare ``except Exception`` in a reader's loop does not swallow it."""


@dataclass(frozen=True)
class Inputs:
    """A family of inputs: how to draw one, the axes of its arrays and lists by name, and which smaller ones are valid.

    ``nasty`` inputs break what was not thought through; they are tried first.
    """

    draw: Callable[[np.random.Generator], Case]
    axes: Mapping[str, tuple[str, ...]]
    nasty: Sequence[Case] = ()
    valid: Callable[[Case], bool] = lambda case: True

    def cases(self, count: int) -> Iterator[Case]:
        """The nasty inputs, and then ``count`` random ones, the same every time."""
        yield from map(copy.deepcopy, self.nasty)
        rng = np.random.default_rng(0)
        for _ in range(count):
            yield self.draw(rng)

    def first(self, count: int) -> Iterator[Case]:
        """So many inputs, the nasty ones among them."""
        return islice(self.cases(count), count)


def apply(function: Callable, values: Mapping[str, Any]) -> Any:
    """Call a reader's function with copies of the values, in order; whatever goes wrong is a `Broken`."""
    copies = [value.copy() if isinstance(value, (list, np.ndarray)) else value for value in values.values()]
    try:
        return function(*copies)
    except Exception as error:
        raise Broken(f"it raised {type(error).__name__}: {error}") from None


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Let a reader's function run in silence, and raise `Late` after some seconds of work where that can be counted.

    What counts is the processor's time, not the clock's: on a busy machine a right function is not late.
    """
    with contextlib.redirect_stdout(io.StringIO()):  # hundreds of calls print nothing
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            yield
            return

        def late(*_: Any) -> None:
            raise Late

        before = signal.signal(signal.SIGPROF, late)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


def shrunk(case: Case, inputs: Inputs, fails: Callable[[Case], bool]) -> Case:
    """Make a failing input smaller and simpler for as long as it still fails.

    >>> inputs = Inputs(lambda rng: {}, {"numbers": ("place",)})
    >>> shrunk({"numbers": np.array([0.3, 4.2, 7.7])}, inputs, lambda case: case["numbers"].sum() > 4)
    {'numbers': array([8.])}
    """
    attempts, simpler = _ATTEMPTS, True
    while simpler and attempts:
        simpler = False
        for smaller in _smaller(case, inputs.axes):
            attempts -= 1
            if inputs.valid(smaller) and fails(smaller):
                case, simpler = smaller, True
                break
            if not attempts:
                break
    return case


def _smaller(case: Case, axes: Mapping[str, tuple[str, ...]]) -> Iterator[Case]:
    sizes = {axis: np.shape(case[name])[at] for name, along in axes.items() for at, axis in enumerate(along)}
    for axis, size in sizes.items():
        for place in range(size if size > 1 else 0):
            yield {name: _without(value, axes.get(name, ()), axis, place) for name, value in case.items()}
    for grid in (1, 2, 8, 64):
        for name, value in case.items():
            if np.asarray(value).dtype.kind != "f":
                continue
            rounded = np.round(np.asarray(value) * grid) / grid
            coarser = next(g for g in (1, 2, 8, 64, np.inf) if g == np.inf or (np.asarray(value) * g % 1 == 0).all())
            if coarser > grid:
                yield {**case, name: float(rounded) if np.ndim(value) == 0 else rounded}


def _without(value: Any, along: tuple[str, ...], axis: str, place: int) -> Any:
    if axis not in along:
        return value
    if isinstance(value, list):
        return value[:place] + value[place + 1 :]
    return np.delete(value, place, axis=along.index(axis))


def described(values: Mapping[str, Any], **more: Any) -> str:
    """Named values as aligned text, one a line, an array a row a line."""
    lines, width = [], max(map(len, (*values, *more)), default=0)
    for name, value in (*values.items(), *more.items()):
        with np.printoptions(precision=4, suppress=True, linewidth=100):
            text = str(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else repr(value)
        first, *rest = text.split("\n")
        lines += [f"{name:>{width}} = {first}", *(" " * (width + 3) + line for line in rest)]
    return "\n".join(lines)
