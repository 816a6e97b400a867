"""Sums that do not depend on the order: of numbers, of rows, of machines.

Adding floats rounds, so two machines that add the same numbers in another order may differ in the last digit, and a
budget that just fits on one does not fit on the other. A float is a whole number of tiny units, ``2**-1074``: a sum is
a Python integer here, rounded once, when somebody wants to read it.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["DIGITS", "exact_mean", "exact_sum", "most_within", "units"]

DIGITS = 12  # of a budget that are taken at their word

_UNIT = 1074  # the smallest positive float is 2**-1074
_LIMB = 26  # bits peeled off at a time: 2**27 such pieces add up without rounding
_BLOCK = 1 << 13  # numbers that stay in the processor's cache


def exact_sum(values: np.ndarray) -> int:
    """Add finite numbers of at least 0 without any rounding, in units of ``2**-1074``."""
    values = values.ravel()
    return sum(_block_sum(values[begin : begin + _BLOCK]) for begin in range(0, values.size, _BLOCK))


def _block_sum(values: np.ndarray) -> int:
    total = 0
    power = math.frexp(values.max(initial=0.0))[1]
    rest, top = values.copy(), np.empty_like(values)
    while rest.any():
        power = max(power - _LIMB, -_UNIT)
        step = math.ldexp(1.0, power)
        np.floor(np.divide(rest, step, out=top), out=top)  # at most 2**26: the float sum of a block is exact
        total += int(top.sum()) << (_UNIT + power)
        top *= step
        rest -= top  # what is left of each number: its lower bits, exactly
    return total


def units(value: float) -> int:
    """A float as a whole number of units of ``2**-1074``."""
    above, below = value.as_integer_ratio()
    return above * ((1 << _UNIT) // below)


def exact_mean(total: int, count: int) -> float:
    """The float nearest to an exact sum divided by a count."""
    return total / (count << _UNIT)  # dividing integers rounds once, to the nearest float


def most_within(budget: float, count: int) -> int:
    """The largest sum, in units, whose mean over ``count`` rows is within ``budget``, to twelve digits: a budget that
    is a computed average is rounded, and the costs that it was computed from must still fit."""
    return units(budget) * count * (10**DIGITS + 1) // 10**DIGITS
