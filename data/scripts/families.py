"""The question families: short arithmetic stories and computations written for this project.

What a family says stands in `families.json`, with its level (1 easiest to 4 hardest, 5 in the set
`story`): at least three phrasings, and for `story` the spans of its numbers. Here stand the draw of
its numbers, which a dial widens (so that difficulty varies inside a family too), and two
independent computations of the answer: by formula, and by counting things one at a time.
`make_questions.py` refuses a question on which the two disagree."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import NamedTuple

Numbers = SimpleNamespace
Highs = tuple[int, int, int]


class Kind(NamedTuple):
    """What is computed of a family: its numbers at a dial, and its answer twice."""

    draw: Callable[[Random, int], dict[str, int]]
    answer: Callable[[Numbers], int | Fraction]
    check: Callable[[Numbers], int | Fraction]


class Family(NamedTuple):
    """One kind of question, with its wording."""

    name: str
    level: int
    phrasings: list[str]
    kind: Kind
    per_dial: int = 4  # questions drawn at each dial
    dials: tuple[int, ...] = (0, 1, 2)


def written(name: str) -> list:
    """What `families.json` says: the names, the things, or the families of a set."""
    return json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))[name]


def _pair(low: int, highs: Highs, low_b: int | None = None, highs_b: Highs | None = None):
    """Draw a and b uniformly, each from its low to the high of the dial."""
    low_b = low if low_b is None else low_b
    return lambda rng, dial: {
        "a": rng.randint(low, highs[dial]),
        "b": rng.randint(low_b, (highs_b or highs)[dial]),
    }


def _count_product(n: Numbers) -> int:
    return sum(1 for _ in range(n.a) for _ in range(n.b))


def _times(highs_a: Highs, highs_b: Highs) -> Kind:
    """A story whose answer is a times b; checked by counting the objects one by one."""
    return Kind(_pair(2, highs_a, 2, highs_b), lambda n: n.a * n.b, _count_product)


def _by_constant(constant: int, highs: Highs) -> Kind:
    """A story that multiplies a by a constant the reader must know, such as days in a week.

    Repeated addition checks the answer.
    """
    return Kind(_one(2, highs), lambda n: n.a * constant, lambda n: sum([constant] * n.a))


def _one(low: int, highs: Highs, each: int = 1):
    """Draw a, a multiple of each."""
    return lambda rng, dial: {"a": each * rng.randint(low, highs[dial])}


def _count_up(start: int, steps: int) -> int:
    for _ in range(steps):
        start += 1
    return start


def _count_down(start: int, steps: int) -> int:
    for _ in range(steps):
        start -= 1
    return start


def _whole_and_part(highs: Highs):
    """Draw a whole a and a smaller part b."""

    def draw(rng: Random, dial: int) -> dict[str, int]:
        whole = rng.randint(5, highs[dial])
        return {"a": whole, "b": rng.randint(1, whole - 1)}

    return draw


def _divisible(highs_b: Highs, highs_share: Highs):
    """Draw a = b times a whole share, so that a divides evenly by b."""

    def draw(rng: Random, dial: int) -> dict[str, int]:
        b = rng.randint(2, highs_b[dial])
        return {"a": b * rng.randint(2, highs_share[dial]), "b": b}

    return draw


def _count_shares(n: Numbers) -> int:
    left, shares = n.a, 0
    while left >= n.b:
        left, shares = left - n.b, shares + 1
    return shares


def _triple(highs: Highs):
    return lambda rng, dial: {key: rng.randint(2, highs[dial]) for key in "abc"}


def _packs_then_minus(rng: Random, dial: int) -> dict[str, int]:
    a = rng.randint(2, (4, 7, 11)[dial])
    b = rng.randint(2, (5, 9, 12)[dial])
    return {"a": a, "b": b, "c": rng.randint(1, a * b - 1)}


def _bill_and_change(rng: Random, dial: int) -> dict[str, int]:
    bill = (20, 50, 100)[dial]
    a = rng.randint(2, (4, 6, 9)[dial])
    return {"a": a, "b": rng.randint(2, bill // a - 1), "c": bill}


def _percent(rng: Random, dial: int) -> dict[str, int]:
    percent = rng.choice(((10, 50), (10, 20, 25, 50), (5, 15, 20, 30, 40, 75))[dial])
    return {"a": percent, "b": 20 * rng.randint(1, (5, 10, 20)[dial])}


KINDS = {
    "boxes": _times((5, 9, 12), (6, 9, 12)),
    "packs": _times((5, 9, 12), (6, 9, 12)),
    "pages": _times((6, 9, 12), (5, 8, 12)),
    "rows": _times((6, 9, 12), (5, 8, 12)),
    "teams": _times((5, 9, 12), (6, 9, 12)),
    "trees": _times((5, 9, 12), (6, 9, 12)),
    "saving": _times((5, 9, 12), (6, 9, 12)),
    "bags": _times((5, 9, 12), (6, 9, 12)),
    "laps": _times((6, 10, 15), (5, 8, 12)),
    "wages": _times((8, 11, 15), (5, 8, 10)),
    "speed": _times((9, 12, 20), (4, 6, 9)),
    "rectangle": _times((5, 9, 13), (6, 10, 15)),
    "square": Kind(
        _one(2, (8, 14, 22)), lambda n: n.a**2, lambda n: sum(2 * i + 1 for i in range(n.a))
    ),
    "weeks": _by_constant(7, (5, 10, 20)),
    "dozens": _by_constant(12, (5, 9, 15)),
    "nickels": _by_constant(5, (9, 15, 30)),
    "legs": _by_constant(4, (6, 10, 20)),
    "twice": _by_constant(2, (8, 15, 40)),
    "thrice": _by_constant(3, (8, 14, 25)),
    "wheels": _by_constant(4, (7, 12, 25)),
    "join": Kind(_pair(2, (9, 30, 80)), lambda n: n.a + n.b, lambda n: _count_up(n.a, n.b)),
    "ages": Kind(
        _pair(3, (12, 30, 60), 2, (9, 15, 25)), lambda n: n.a + n.b, lambda n: _count_up(n.b, n.a)
    ),
    "give": Kind(
        _whole_and_part((10, 30, 90)), lambda n: n.a - n.b, lambda n: _count_down(n.a, n.b)
    ),
    "half": Kind(_one(2, (8, 25, 60), each=2), lambda n: n.a // 2, lambda n: len(range(0, n.a, 2))),
    "share": Kind(_divisible((4, 7, 10), (6, 9, 14)), lambda n: n.a // n.b, _count_shares),
    "percent": Kind(
        _percent,
        lambda n: n.a * n.b // 100,
        lambda n: sum((i * n.a) // 100 > ((i - 1) * n.a) // 100 for i in range(1, n.b + 1)),
    ),
    "shelves": Kind(
        _triple((3, 5, 8)),
        lambda n: n.a * n.b * n.c,
        lambda n: sum(1 for _ in range(n.a) for _ in range(n.b) for _ in range(n.c)),
    ),
    "times_minus": Kind(
        _packs_then_minus, lambda n: n.a * n.b - n.c, lambda n: _count_down(_count_product(n), n.c)
    ),
    "change": Kind(
        _bill_and_change, lambda n: n.c - n.a * n.b, lambda n: _count_down(n.c, _count_product(n))
    ),
    "remainder": Kind(
        _pair(11, (20, 50, 99), 3, (5, 8, 10)),
        lambda n: n.a % n.b,
        lambda n: n.a - n.b * _count_shares(n),
    ),
    "minutes": _by_constant(60, (3, 6, 12)),
    "product": Kind(_pair(2, (5, 7, 9)), lambda n: n.a * n.b, _count_product),
    "sum": Kind(_pair(1, (5, 7, 9)), lambda n: n.a + n.b, lambda n: _count_up(n.a, n.b)),
    "tens": Kind(_one(2, (9, 12, 19)), lambda n: 10 * n.a, lambda n: int(f"{n.a}0")),
}


NAMES, THINGS = written("names"), written("things")
WORD = [Family(kind=KINDS[said["name"]], **said) for said in written("word")]
DRILL = [Family(kind=KINDS[said["name"]], **said) for said in written("drill")]
