"""Inputs to try a reader's work on: nasty ones, random ones, and a way to shrink a failing one.

An input is a dict of named values. Arrays that belong together share named axes, so that one
question, or one budget, can be left out of all of them at once. Numbers are made simple by rounding
to eighths and halves: such numbers are exact in binary, and a tie among them is a tie.
"""

from __future__ import annotations

import copy
import functools
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from adabook.plain_data import listed

Case = dict[str, Any]
# What the two timers of a stopwatch send; a system without timers has neither.
_ALARMS = [getattr(signal, name) for name in ("SIGPROF", "SIGALRM") if hasattr(signal, name)]
_ATTEMPTS = 400  # at making a case smaller
_GRIDS = (1, 2, 8, 64)  # numbers are rounded to multiples of one over these


def by_hand(**values: Any) -> Case:
    """A case written down: its lists become arrays."""
    return {name: np.array(one) if isinstance(one, list) else one for name, one in values.items()}


class Broken(Exception):  # noqa: N818 (it is the reader's function that is broken)
    """A reader's function did not come back with a value; the text says how."""


class Late(BaseException):
    """Time is up.

    Not an Exception, so that a bare ``except Exception`` in a reader's loop does not swallow it.
    """


@dataclass(frozen=True)
class Inputs:
    """A family of inputs: how to draw one, its axes by name, and whether a smaller one is valid.

    ``nasty`` inputs break what was not thought through; they are tried first.
    """

    draw: Callable[[np.random.Generator], Case]
    axes: Mapping[str, tuple[str, ...]]
    nasty: Sequence[Case] = ()
    valid: Callable[..., Any] = lambda **case: True

    def cases(self, count: int) -> Iterator[Case]:
        """The nasty inputs, and then ``count`` random ones, the same every time."""
        yield from map(copy.deepcopy, self.nasty)
        rng = np.random.default_rng(0)
        for _ in range(count):
            yield self.draw(rng)

    def first(self, count: int) -> Iterator[Case]:
        """So many inputs, the nasty ones among them."""
        return islice(self.cases(count), count)

    def turned(
        self,
        make: Callable[..., Case],
        axes: Mapping[str, tuple[str, ...]],
        nasty: Sequence[Case] = (),
        valid: Callable[..., Any] | None = None,
    ) -> Inputs:
        """Other inputs, made from these: ``make(rng, **case)`` makes one."""
        return Inputs(lambda rng: make(rng, **self.draw(rng)), axes, nasty, valid or self.valid)


def apply(function: Callable, values: Mapping[str, Any]) -> Any:
    """Call a reader's function with copies of the values; whatever goes wrong is a `Broken`."""
    copies = [
        value.copy() if isinstance(value, (list, np.ndarray)) else value
        for value in values.values()
    ]
    try:
        return listed(function(*copies))
    except Exception as error:
        raise Broken(f"it raised {type(error).__name__}: {error}") from None


class Stopwatch:
    """Give a reader's functions some seconds of work in all; then `Late` ends the one at work.

    Only the processor's time in them counts, because on a busy machine a right function waits for
    its turn. A function that sleeps is ended after ten times as long. Where the system has no timer
    (Windows, a browser), or outside the main thread, there is no limit.
    """

    def __init__(self, seconds: float) -> None:
        self.work_left = seconds
        self.wait_left = 10 * seconds

    def around(self, function: Callable) -> Callable:
        """The same function, under this watch."""
        in_main_thread = threading.current_thread() is threading.main_thread()
        if not hasattr(signal, "setitimer") or not in_main_thread:
            return function

        @functools.wraps(function)
        def timed(*values: Any) -> Any:
            clocks = time.process_time(), time.monotonic()
            before = [signal.signal(alarm, _late) for alarm in _ALARMS]
            # The alarm repeats, because a bare "except:" in a reader's loop swallows the first one.
            signal.setitimer(signal.ITIMER_PROF, max(self.work_left, 1e-3), 0.01)
            signal.setitimer(signal.ITIMER_REAL, max(self.wait_left, 1e-3), 0.01)
            try:
                return function(*values)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
                for alarm, handler in zip(_ALARMS, before, strict=True):
                    signal.signal(alarm, handler)
                self.work_left -= time.process_time() - clocks[0]
                self.wait_left -= time.monotonic() - clocks[1]

        return timed


def _late(*_: Any) -> None:
    """End the function at work; the timer calls this."""
    raise Late


def shrunk(case: Case, inputs: Inputs, fails: Callable[[Case], bool]) -> Case:
    """Make a failing input smaller and simpler for as long as it still fails.

    >>> inputs = Inputs(lambda rng: {}, {"numbers": ("place",)})
    >>> failing = {"numbers": np.array([0.3, 4.2, 7.7])}
    >>> shrunk(failing, inputs, lambda case: case["numbers"].sum() > 4)
    {'numbers': array([8.])}
    """
    attempts = _ATTEMPTS
    simpler = True
    while simpler and attempts:
        simpler = False
        for smaller in islice(_smaller(case, inputs.axes), attempts):
            attempts -= 1
            if inputs.valid(**smaller) and fails(smaller):
                case = smaller
                simpler = True
                break
    return case


def _smaller(case: Case, axes: Mapping[str, tuple[str, ...]]) -> Iterator[Case]:
    """Yield simpler versions of a case: fewer rows, rounder numbers."""
    sizes = {
        axis: np.shape(case[name])[at]
        for name, along in axes.items()
        for at, axis in enumerate(along)
    }
    for axis, size in sizes.items():
        if size == 1:
            continue
        for place in range(size):
            yield {
                name: _without(value, axes.get(name, ()), axis, place)
                for name, value in case.items()
            }
    for grid in _GRIDS:
        for name, value in case.items():
            if np.asarray(value).dtype.kind == "f" and _grid_of(value) > grid:
                rounded = np.round(np.asarray(value) * grid) / grid
                yield {**case, name: float(rounded) if np.ndim(value) == 0 else rounded}


def _grid_of(value: Any) -> float:
    """The coarsest grid that holds all numbers of a value: 1, 2 (halves), 8, 64 or infinite."""
    for grid in _GRIDS:
        if (np.asarray(value) * grid % 1 == 0).all():
            return grid
    return np.inf


def _without(value: Any, along: tuple[str, ...], axis: str, place: int) -> Any:
    """A value without one place along an axis."""
    if axis not in along:
        return value
    if isinstance(value, list):
        return value[:place] + value[place + 1 :]
    return np.delete(value, place, axis=along.index(axis))


def described(values: Mapping[str, Any], **more: Any) -> str:
    """Return named values as aligned text, one per line; an array has one line per row."""
    lines = []
    width = max(map(len, (*values, *more)), default=0)
    for name, value in (*values.items(), *more.items()):
        is_numpy = isinstance(value, (np.ndarray, np.generic))
        with np.printoptions(precision=4, suppress=True, linewidth=100):
            text = str(np.asarray(value)) if is_numpy else repr(value)
        first, *rest = text.split("\n")
        lines += [f"{name:>{width}} = {first}", *(" " * (width + 3) + line for line in rest)]
    return "\n".join(lines)


# Random and nasty utility tables, and what is best on them by brute force: plain loops, no code of
# `solve`. Half of the tables hold eighths and whole costs, so that ties are exact and frequent; the
# others hold any numbers.


def oracle(acc: np.ndarray, cost: np.ndarray, lam: float) -> list[int]:
    """The oracle in two loops: a more expensive column must be better, not as good."""
    labels = []
    for row in acc:
        best = 0
        for column in range(1, len(cost)):
            if row[column] - lam * cost[column] > row[best] - lam * cost[best]:
                best = column
        labels.append(best)
    return labels


def spent(table: np.ndarray, labels: Sequence[int]) -> float:
    """Mean of the labelled entries, of a row of costs or of a table."""
    rows = np.broadcast_to(table, (len(labels), np.shape(table)[-1]))
    return float(np.mean([rows[i][j] for i, j in enumerate(labels)]))


def bill(acc: np.ndarray, cost: np.ndarray, lam: float) -> float:
    """What the oracle spends on average."""
    return spent(cost, oracle(acc, cost, lam))


def prices(acc: np.ndarray, cost: np.ndarray) -> list[float]:
    """Return every price at which a question could switch: 0, and slopes between two points."""
    k = len(cost)
    pairs = [(row, i, j) for row in acc for i in range(k) for j in range(i) if cost[i] != cost[j]]
    slopes = [float((row[j] - row[i]) / (cost[j] - cost[i])) for row, i, j in pairs]
    return [0.0, *sorted({round(slope, 12): slope for slope in slopes if slope > 1e-12}.values())]


def between(acc: np.ndarray, cost: np.ndarray) -> list[tuple[float, float]]:
    """Return every such price and one between each two, where no question is undecided."""
    kinks = prices(acc, cost)
    return [
        (low, (low + high) / 2)
        for low, high in zip(kinks, [*kinks[1:], kinks[-1] + 2], strict=True)
    ]


def best_value(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
    """Return the best mean accuracy within a budget with one coin: the dual's minimum."""
    return min(
        float(np.mean((acc - lam * cost).max(axis=1)) + lam * budget) for lam in prices(acc, cost)
    )


def _drawn(rng: np.random.Generator, priced: bool = False, targeted: bool = False) -> Case:
    """A table, with a price, with a budget, or with both."""
    n = rng.integers(1, 6)
    k = rng.integers(2, 6)
    cost = np.sort(rng.choice(np.arange(1.0, 17.0), size=k, replace=False))
    eighths = rng.integers(0, 9, (n, k)) / 8
    exact = rng.random() < 0.5
    case: Case = {"acc": eighths if exact else rng.random((n, k)), "cost": cost}
    if priced:
        case["lam"] = float(rng.integers(0, 17) / 64) if exact else float(rng.random() / 4)
    if targeted:
        case["budget"] = float(np.round(8 * rng.uniform(cost[0], cost[-1])) / 8)
    return case


_FLAT = by_hand(acc=[[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], cost=[1.0, 2.0, 4.0])
_TIED = by_hand(acc=[[0.25, 0.5, 1.0], [0.0, 0.25, 0.25]], cost=[1.0, 2.0, 4.0])
_DIPS = by_hand(acc=[[0.75, 0.25, 0.5], [0.5, 0.25, 1.0]], cost=[1.0, 4.0, 16.0])
_TWINS = by_hand(acc=[[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], cost=[1.0, 16.0])
# The second column is better by a hundred thousandth, which whoever rounds net values loses.
_NEARLY = by_hand(acc=[[0.25, 0.37501, 0.25], [0.5, 0.5, 0.75002]], cost=[1.0, 2.0, 3.0])


def _sound(
    acc: np.ndarray, cost: np.ndarray, lam: float = 0.0, budget: float = np.inf, **_: Any
) -> bool:
    """Whether a table is one, of any number of questions."""
    rises = (np.diff(cost) > 0).all() and cost[0] >= 1
    return bool(rises and ((acc >= 0) & (acc <= 1)).all() and lam >= 0 and budget >= cost[0])


def _inputs(nasty: Sequence[Case], **asked: bool) -> Inputs:
    """A family of tables with a price, a budget or both."""
    return Inputs(
        lambda rng: _drawn(rng, **asked),
        {"acc": ("question", "budget"), "cost": ("budget",)},
        nasty,
        _sound,
    )


#: A table and a price, a table and a budget, a table with both.
PRICED = _inputs(
    [
        {**_TIED, "lam": 0.25},
        {**_FLAT, "lam": 0.0},
        {**_DIPS, "lam": 0.0},
        {**_TWINS, "lam": 1 / 16},
        {**_NEARLY, "lam": 0.125},
    ],
    priced=True,
)
TARGETED = _inputs(
    [
        {**_TWINS, "budget": 8.5},
        {**_FLAT, "budget": 4.0},
        {**_DIPS, "budget": 1.0},
        {**_TIED, "budget": 2.5},
    ],
    targeted=True,
)
TARGETED_AND_PRICED = _inputs(
    [
        {**_TWINS, "lam": 0.0, "budget": 8.5},
        {**_TIED, "lam": 0.25, "budget": 1.0},
        {**_FLAT, "lam": 0.5, "budget": 4.0},
    ],
    priced=True,
    targeted=True,
)


def sketch(
    got: Sequence[int], best: Sequence[int], acc: np.ndarray, cost: np.ndarray, lam: float
) -> str:
    """Draw every question's net values, one column per budget, with yours and the best marked."""
    got = np.ravel(got).tolist()
    best = list(best)
    lines = [f"price {lam:g}; net values (accuracy - price * cost):"]
    lines.append("cost       " + "".join(f"{c:>9g} " for c in cost))
    for i, row in enumerate(acc):
        yours = got[i] if i < len(got) else None
        cells = ""
        for j, value in enumerate(row - lam * cost):
            cells += f"{'<' if j == yours else ' '}{value:8.4f}{'>' if j == best[i] else ' '}"
        note = "" if yours == best[i] or yours in range(len(cost)) else f"  you returned {yours!r}"
        lines.append(f"question {i:<2}{cells}{note}")
    return "\n".join([*lines, "< yours   > best   <> both"])
