"""Exercises that make the reader prove: a chain of lines, each no larger than the next, from one side to the other.

A line is a function of the objects that it names: ``lambda acc, plan: ...``. The chain is tried on thousands of cases.
The first step that breaks is shown with the smallest case on which it does. Numbers do not prove a step; but a step
that is false falls at once, and the exercise names the ideas that the chain must pass through.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from adalib.teach.exercises import Fault
from adalib.teach.exercises.cases import Broken, Case, Inputs, Late, apply, described, limited, shrunk
from adalib.teach.exercises.page import answer_box

__all__ = ["Proof"]

_CASES = 2000
_ALIKE = 60
_SECONDS = 30.0
_ROUNDING = 1e-9

Line = Callable[..., float]


class Proof(NamedTuple):
    """An exercise whose answer is a chain of lines ``first <= ... <= last``.

    Attributes
    ----------
    inputs : Inputs
        What the objects are made from.
    objects : callable
        All that a line may name, made from an input.
    first, last : callable
        The two sides of the claim, as lines.
    through : mapping of str to line
        Quantities that the chain must pass, and what to say where it does not.
    hint, more : str
        What to tell a reader whose step breaks, first and second.
    mistakes : mapping of str to line
        Lines that are typically written and wrong, by what the mistake is called.

    Examples
    --------
    >>> numbers = Inputs(lambda rng: {"a": float(rng.random()), "b": float(rng.random())}, {})
    >>> ideas = {"where is a alone": lambda a: a}
    >>> claim = Proof(numbers, dict, lambda a, b: 0.0, lambda a, b: a + b, ideas, "", "", {})
    >>> claim.fault([lambda a: 0 * a, lambda a: a, lambda a, b: a + b]) is None
    True
    >>> claim.fault([lambda a: 0 * a, lambda a, b: a - b, lambda a, b: a + b]).hint[:13]
    'step 1 breaks'
    """

    inputs: Inputs
    objects: Callable[[Case], dict[str, Any]]
    first: Line
    last: Line
    through: Mapping[str, Line]
    hint: str
    more: str
    mistakes: Mapping[str, Line]

    def fault(self, chain: Any) -> Fault | str | None:
        """None for a chain that holds and passes all it must, else the first step that breaks."""
        if not isinstance(chain, Sequence) or len(chain) < 2 or not all(map(callable, chain)):
            return "give a list of lines, each a function such as lambda acc, lam: ..."
        known = set(self.objects(next(self.inputs.cases(1))))
        for number, line in enumerate(chain, 1):
            unknown = set(_names(line)) - known
            if unknown:
                return f"line {number} names {', '.join(sorted(unknown))}; the objects are {', '.join(sorted(known))}"
        try:
            with limited(_SECONDS):
                return self._tried(list(chain))
        except Late:
            return f"after {_SECONDS:g} seconds a line was still at work"

    def box(self, name: str) -> str:
        """The exercise on a page."""
        return answer_box(name, "", None)

    def _tried(self, chain: list[Line]) -> Fault | str | None:
        for case in self.inputs.cases(_CASES):
            if self._breaks(chain, case):
                break
        else:
            # A quantity on the way may equal one of the sides; it needs a line of its own all the same.
            short = len(chain) < 2 + len(self.through)
            return next((said for said, line in self.through.items() if short or not self._passed(chain, line)), None)
        where = self._breaks(chain, case)[0]
        # The same step must break in the smaller case too: another one would be another story.
        case = shrunk(case, self.inputs, lambda smaller: (self._breaks(chain, smaller) or [None])[0] == where)
        named = next((said for said, wrong in self.mistakes.items() if self._passed(chain, wrong)), None)
        return Fault(f"{self._breaks(chain, case)[1]}; {named or self.hint}", described(self.objects(case)))

    def _breaks(self, chain: list[Line], case: Case) -> tuple[int, str] | None:
        """The first place at which a chain does not hold: its number, and what happens there."""
        objects = self.objects(case)
        values = []
        for number, line in enumerate(chain, 1):
            try:
                values.append(_value(line, objects))
            except Broken as broken:
                return number, f"line {number} has no value: {broken}"
        for number, name, line in ((1, "first", self.first), (len(chain), "last", self.last)):
            claimed = _value(line, objects)
            if abs(values[number - 1] - claimed) > _ROUNDING:
                said = f"the {name} line is {values[number - 1]:.4g} here, and that side of the claim is {claimed:.4g}"
                return -number, said
        for step, (low, high) in enumerate(pairwise(values), 1):
            if low > high + _ROUNDING:
                return step, f"step {step} breaks: line {step} is {low:.4g} and line {step + 1} is {high:.4g}"
        return None

    def _passed(self, chain: list[Line], wanted: Line) -> bool:
        """Whether one of the lines is this quantity, in every case that was tried."""
        cases = [self.objects(case) for case in islice(self.inputs.cases(_ALIKE), _ALIKE)]
        values = np.array([_value(wanted, objects) for objects in cases])

        def equal(line: Line) -> bool:
            try:
                found = np.array([_value(line, objects) for objects in cases])
            except Broken:
                return False
            return bool((np.abs(found - values) <= _ROUNDING).all())

        return any(map(equal, chain))


def _names(line: Line) -> list[str]:
    return list(inspect.signature(line).parameters)


def _value(line: Line, objects: Mapping[str, Any]) -> float:
    """What a line comes to, given the objects that it names."""
    found = np.asarray(apply(line, {name: objects[name] for name in _names(line)}))
    if found.size != 1 or found.dtype.kind not in "biuf" or not np.isfinite(found.item()):
        raise Broken(f"it is {found!r}, not one number")
    return float(found.item())
