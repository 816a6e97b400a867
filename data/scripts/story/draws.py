"""Draw the numbers of the families of `story`, and check their answers by slow computations."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Numbers = dict[str, int]
ALL_DIALS = (0, 1, 2, 3, 4)


def spans(
    where: Callable[[Numbers], bool] = lambda n: True,
    then: Callable[[Numbers], Numbers] = lambda n: {},
    **given: tuple[int, ...] | list[tuple[int, ...]],
) -> Callable[[Random, int], Numbers]:
    """Return a draw of named numbers that repeats until `where` holds; `then` adds derived ones.

    A tuple is the least value and five highs, one a dial, and the number lies between a third of
    the high and the high: a wider dial asks for larger numbers and not only for more of them. A
    list holds five tuples to choose from."""

    def draw(rng: Random, dial: int) -> Numbers:
        while True:
            numbers = {}
            for name, span in given.items():
                if isinstance(span, list):
                    numbers[name] = rng.choice(span[dial])
                else:
                    low = span[0]
                    high = span[1 + dial]
                    numbers[name] = rng.randint(max(low, high // 3), high)
            numbers |= then(numbers)
            if where(numbers):
                return numbers

    return draw


def add_up(count: int, each: int) -> int:
    """count times each, by adding."""
    return sum(each for _ in range(count))


def groups(total: int, size: int) -> tuple[int, int]:
    """Full groups and what is left, by taking one group away after the other."""
    full = 0
    while total >= size:
        total = total - size
        full = full + 1
    return full, total


def hundredths(percent: int, whole: int) -> int:
    """Take a percentage of a whole by walking through it.

    One is taken each time the running share passes a whole number.
    """
    return sum(i * percent // 100 > (i - 1) * percent // 100 for i in range(1, whole + 1))


def only(candidates: range, fits: Callable[[int], bool]) -> int:
    """The one number that fits, found by trying them all."""
    (found,) = [x for x in candidates if fits(x)]
    return found
