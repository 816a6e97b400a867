"""Exercises that make the reader build: the function is tried on nasty and random inputs against brute force.

What comes back is the smallest input on which it fails, with what it did there and what was best. A function that does
everywhere what a known mistake does is told the mistake's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from adalib.teach.exercises import Fault
from adalib.teach.exercises.cases import Broken, Case, Inputs, Late, apply, described, limited, shrunk
from adalib.teach.exercises.page import answer_box

__all__ = ["Build", "same"]

_CASES = 200
_ALIKE = 60  # cases on which a function that makes a known mistake must agree with it
_SECONDS = 20.0

Judge = Callable[[Any, Any, Case], str | None]
Picture = Callable[[Any, Any, Case], str]


def same(got: Any, best: Any, case: Case | None = None) -> str | None:
    """Compare what a function returned with what is best: None if they agree, else what differs.

    Examples
    --------
    >>> same([1, 2], np.array([1.0, 2.0])), same([1], [1, 2]), same("x", 2.0)
    (None, 'it returned 1 entry instead of 2', "it returned 'x', which is no number")
    """
    if best is None or got is None:
        return None if got is best else f"it returned {got!r}"
    try:
        values, wanted = np.asarray(got, dtype=float), np.asarray(best, dtype=float)
    except (TypeError, ValueError):
        return f"it returned {got!r}, which is no number" if np.ndim(best) == 0 else f"it returned {got!r}"
    if values.size != wanted.size:
        return f"it returned {values.size} {'entry' if values.size == 1 else 'entries'} instead of {wanted.size}"
    close = np.isclose(values.ravel(), wanted.ravel(), rtol=1e-6, atol=1e-8)
    return None if close.all() else "it is not the best here"


class Build(NamedTuple):
    """An exercise whose answer is a function.

    Attributes
    ----------
    inputs : Inputs
        What it is called with, in this order.
    best : callable
        The same by brute force.
    hint, more : str
        What to tell a reader whose mistake has no name, first and second.
    mistakes : mapping of str to callable
        Functions that make a typical mistake, by what the mistake is called.
    judge : callable
        ``judge(got, best, case)`` says what is wrong, or None.
    picture : callable, optional
        ``picture(got, best, case)`` draws a case; by default the values are listed.

    Examples
    --------
    >>> numbers = Inputs(lambda rng: {"x": rng.normal(size=3)}, {"x": ("place",)})
    >>> largest = Build(numbers, max, "compare them all", "max does it", {"that is the smallest": min})
    >>> largest.fault(lambda x: sorted(x)[-1]) is None
    True
    >>> largest.fault(min).hint
    'that is the smallest'
    """

    inputs: Inputs
    best: Callable
    hint: str
    more: str
    mistakes: Mapping[str, Callable]
    judge: Judge = same
    picture: Picture | None = None

    def fault(self, function: Any) -> Fault | str | None:
        """None for a right function, else its mistake and the smallest input that shows it."""
        if not callable(function):
            return "give the function itself, without calling it"
        now: dict[str, Case] = {}
        try:
            with limited(_SECONDS):
                return self._tried(function, now)
        except Late:
            return Fault(f"after {_SECONDS:g} seconds it was still at work; does its loop end", described(now["case"]))

    def empty(self, function: Any) -> bool:
        """Whether a function is still the one that was handed out, which returns nothing."""
        case = next(self.inputs.cases(1))
        try:
            with limited(_SECONDS):
                return callable(function) and apply(function, case) is None and apply(self.best, case) is not None
        except (Broken, Late):
            return False

    def box(self, name: str) -> str:
        """The exercise on a page."""
        return answer_box(name, "", None)

    def _tried(self, function: Callable, now: dict[str, Case]) -> Fault | None:
        for case in self.inputs.cases(_CASES):
            now["case"] = case
            if self._wrong(function, case):
                break
        else:
            return None

        def fails(smaller: Case) -> bool:
            now["case"] = smaller
            return bool(self._wrong(function, smaller))

        case = shrunk(case, self.inputs, fails)
        what = self._wrong(function, case)
        try:
            got = apply(function, case)
        except Broken:
            return Fault(what, described(case))
        named = next((name for name, wrong in self.mistakes.items() if self._alike(function, wrong)), None)
        best = apply(self.best, case)
        drawn = self.picture(got, best, case) if self.picture else described(case, yours=got, best=best)
        return Fault(named or f"{what}; {self.hint}", drawn)

    def _wrong(self, function: Callable, case: Case) -> str | None:
        """What is wrong with a function on one input."""
        try:
            got = apply(function, case)
        except Broken as broken:
            return str(broken)
        if got is None and apply(self.best, case) is not None:
            return "it returned nothing; does it end with return"
        try:
            return self.judge(got, apply(self.best, case), case)
        except (TypeError, ValueError, IndexError):
            return f"it returned {got!r}"

    def _alike(self, function: Callable, wrong: Callable) -> bool:
        """Whether a function does what a known mistake does, everywhere that was tried."""
        for case in islice(self.inputs.cases(_ALIKE), _ALIKE):
            try:
                if same(apply(function, case), apply(wrong, case)):
                    return False
            except Broken:
                return False
        return True
