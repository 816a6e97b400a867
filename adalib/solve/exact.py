"""Sums that do not depend on the order of the numbers, of the rows or of the machines.

Adding floats rounds, so two machines that add the same numbers in different orders may differ in
the last digit, and a budget that just fits on one machine does not fit on the other. Every float is
a whole number of tiny units, ``2**-1074``. Here a sum is a Python integer that counts those units,
and it is rounded only once, when it is turned back into a float.
"""

from __future__ import annotations

import math

import numpy as np

DIGITS = 12  # significant digits of a budget that count

_UNIT = 1074  # the smallest positive float is 2**-1074
_PEEL = 26  # bits taken off at a time: 2**27 such pieces add up without rounding
_BLOCK = 1 << 13  # numbers that stay in the processor's cache


def exact_sum(values: np.ndarray) -> int:
    """Add finite, non-negative numbers without rounding, in units of ``2**-1074``."""
    values = values.ravel()
    return sum(
        _block_sum(values[begin : begin + _BLOCK]) for begin in range(0, values.size, _BLOCK)
    )


def _block_sum(values: np.ndarray) -> int:
    """Exact sum of at most `_BLOCK` numbers, taking the same bits off all of them at a time."""
    total = 0
    _, power = math.frexp(values.max(initial=0.0))
    rest = values.copy()
    top = np.empty_like(values)
    while rest.any():
        power = max(power - _PEEL, -_UNIT)
        step = math.ldexp(1.0, power)
        np.divide(rest, step, out=top)
        np.floor(top, out=top)  # at most 2**26, so the float sum of a block is exact
        total += int(top.sum()) << (_UNIT + power)
        top *= step
        rest -= top  # the lower bits of each number, exactly
    return total


def units(value: float) -> int:
    """Return a float as a whole number of units of ``2**-1074``."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << _UNIT) // denominator)


def exact_mean(total: int, count: int) -> float:
    """Return the float nearest to an exact sum divided by a count."""
    return total / (count << _UNIT)  # dividing integers rounds once, to the nearest float


def most_within(budget: float, count: int) -> int:
    """Return the largest exact sum whose mean over ``count`` rows is within ``budget``.

    The budget counts to twelve digits: one that is a computed average is rounded, and the costs
    from which it was computed must still fit.
    """
    return units(budget) * count * (10**DIGITS + 1) // 10**DIGITS
