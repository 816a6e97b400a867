"""The families of the question set `story`: two to five steps, all written for this project.

Five dials a family, of which a pilot chose three (`data/pilot/dials.json`); `make_questions.py`
draws from those. Every gold is computed twice, by formula and by counting, walking or trying, and
the two must agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from random import Random

from families import Family, Kind, Numbers, written

_CHOSEN = Path(__file__).resolve().parents[1] / "pilot" / "dials.json"
_PER_DIAL = {1: 5, 2: 5, 3: 4, 4: 3, 5: 3}


def _spans(
    given: dict[str, list],
    where: Callable[[Numbers], bool],
    then: Callable[[Numbers], dict],
) -> Callable[[Random, int], dict]:
    """Return a draw of named numbers that repeats until `where` holds; `then` adds derived ones.

    Six numbers are the least value and five highs, one a dial, and what is drawn lies between a
    third of the high and the high: a wider dial asks for larger numbers and not only for more of
    them. Five lists are what to choose from.
    """

    def draw(rng: Random, dial: int) -> dict:
        while True:
            numbers = {}
            for name, span in given.items():
                if isinstance(span[0], list):
                    numbers[name] = rng.choice(span[dial])
                else:
                    low, high = span[0], span[1 + dial]
                    numbers[name] = rng.randint(max(low, high // 3), high)
            numbers |= then(Numbers(**numbers))
            if where(Numbers(**numbers)):
                return numbers

    return draw


def add_up(count: int, each: int) -> int:
    """count times each, by adding."""
    return sum(each for _ in range(count))


def groups(total: int, size: int) -> tuple[int, int]:
    """Full groups and what is left, by taking one group away after the other."""
    full = 0
    while total >= size:
        total, full = total - size, full + 1
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


def _both_red(n: Numbers) -> Fraction:
    """Draw every pair of balls and see how many are both red."""
    pairs = list(combinations(range(n.a + n.b), 2))
    return Fraction(sum(second < n.a for _, second in pairs), len(pairs))


def _shakes(n: Numbers) -> int:
    """Let everyone meet everyone, and skip the partners."""
    return sum(first // 2 != second // 2 for first, second in combinations(range(2 * n.a), 2))


def _fill_by_the_minute(n: Numbers) -> int:
    level, minutes = n.b, 0
    while level < n.a:
        level, minutes = level + n.c - n.d, minutes + 1
    return minutes


def _story(answer, check, where=lambda n: True, then=lambda n: {}):
    """What is computed of a family, and what its numbers must be."""
    return answer, check, where, then


STORIES = {
    "packs_twice": _story(
        lambda n: (n.a + n.c) * n.b, lambda n: add_up(n.a, n.b) + add_up(n.c, n.b)
    ),
    "legs_mixed": _story(lambda n: 4 * n.a + 2 * n.b, lambda n: add_up(n.a, 4) + add_up(n.b, 2)),
    "cents": _story(lambda n: 5 * n.a + 10 * n.b, lambda n: add_up(n.a, 5) + add_up(n.b, 10)),
    "gives_twice": _story(
        lambda n: n.a - n.b - n.c,
        lambda n: len(range(n.b + n.c, n.a)),
        then=lambda n: {"a": n.left + n.b + n.c},
    ),
    "three_days": _story(
        lambda n: n.a + n.b + n.c, lambda n: only(range(1000), lambda x: x - n.c - n.b == n.a)
    ),
    "fence": _story(lambda n: 2 * (n.a + n.b), lambda n: n.a + n.b + n.a + n.b),
    "rows_less": _story(
        lambda n: n.a * n.b - n.c,
        lambda n: len([1 for _ in range(n.a) for _ in range(n.b)][n.c :]),
        where=lambda n: n.a * n.b > n.c,
    ),
    "double_plus": _story(lambda n: 2 * n.a + n.b, lambda n: n.a + n.a + n.b),
    "pay_and_spend": _story(
        lambda n: n.a * n.b - n.c,
        lambda n: only(range(2000), lambda x: x + n.c == add_up(n.b, n.a)),
        where=lambda n: n.a * n.b > n.c,
    ),
    "dozen_plus": _story(lambda n: 12 * n.a + n.b, lambda n: add_up(n.a, 12) + n.b),
    "tens_ones": _story(lambda n: 10 * n.a + n.b, lambda n: add_up(n.a, 10) + n.b),
    "three_prices": _story(
        lambda n: n.a + n.b + n.c, lambda n: len([*range(n.a), *range(n.b), *range(n.c)])
    ),
    "each_plants": _story(lambda n: 3 * (n.a + n.b), lambda n: add_up(n.a, 3) + add_up(n.b, 3)),
    "two_shifts": _story(lambda n: 10 * (n.a + n.b), lambda n: add_up(n.a, 10) + add_up(n.b, 10)),
    "cheaper": _story(
        lambda n: 2 * n.a - n.b, lambda n: n.a + len(range(n.b, n.a)), where=lambda n: n.a > n.b
    ),
    "passengers": _story(
        lambda n: n.a - n.b + n.c, lambda n: len(range(n.b, n.a)) + n.c, where=lambda n: n.a > n.b
    ),
    "share_then_eat": _story(
        lambda n: n.a // n.b - n.c,
        lambda n: groups(n.a, n.b)[0] - n.c,
        where=lambda n: n.q > n.c,
        then=lambda n: {"a": n.b * n.q},
    ),
    "boxes_half": _story(
        lambda n: n.a * n.b // 2,
        lambda n: len(range(0, add_up(n.a, n.b), 2)),
        where=lambda n: n.a * n.b % 2 == 0,
    ),
    "two_goods": _story(
        lambda n: n.a * n.b + n.c * n.d, lambda n: add_up(n.a, n.b) + add_up(n.c, n.d)
    ),
    "weeks_days": _story(lambda n: 7 * n.a + n.b, lambda n: add_up(n.a, 7) + n.b),
    "miles_left": _story(
        lambda n: n.d - n.a * n.b,
        lambda n: only(range(1000), lambda left: add_up(n.b, n.a) + left == n.d),
        then=lambda n: {"d": n.a * n.b + n.left},
    ),
    "boxes_loose": _story(lambda n: n.a * n.b + n.c, lambda n: add_up(n.b, n.a) + n.c),
    "pool_and_share": _story(
        lambda n: (n.a + n.b) // n.c,
        lambda n: groups(n.a + n.b, n.c)[0],
        where=lambda n: n.b > 0,
        then=lambda n: {"b": n.c * n.q - n.a},
    ),
    "half_then_more": _story(
        lambda n: n.a // 2 + n.b,
        lambda n: len(range(0, n.a, 2)) + n.b,
        then=lambda n: {"a": 2 * n.half},
    ),
    "change_two": _story(
        lambda n: n.e - n.a * n.b - n.d,
        lambda n: only(range(n.e), lambda left: left + add_up(n.a, n.b) + n.d == n.e),
        where=lambda n: n.e > n.a * n.b + n.d,
    ),
    "percent_off": _story(
        lambda n: n.b - n.p * n.b // 100,
        lambda n: hundredths(100 - n.p, n.b),
        where=lambda n: n.p * n.b % 100 == 0,
    ),
    "rise_total": _story(
        lambda n: 2 * n.b + n.p * n.b // 100,
        lambda n: add_up(2, n.b) + hundredths(n.p, n.b),
        where=lambda n: n.p * n.b % 100 == 0,
    ),
    "film_minutes": _story(
        lambda n: 60 * n.a + n.b - n.c, lambda n: len(range(n.c, add_up(n.a, 60) + n.b))
    ),
    "free_seats": _story(
        lambda n: n.a * n.b - n.c - n.d,
        lambda n: len(list(product(range(n.a), range(n.b)))[n.c : -n.d]),
        where=lambda n: n.a * n.b > n.c + n.d,
    ),
    "together": _story(lambda n: n.a + n.a * n.b - n.c, lambda n: add_up(n.b + 1, n.a) - n.c),
    "overtime": _story(
        lambda n: n.a * n.b + (n.a + n.c) * n.d, lambda n: add_up(n.b + n.d, n.a) + add_up(n.d, n.c)
    ),
    "discount_fee": _story(
        lambda n: n.a * n.b * (100 - n.p) // 100 + n.c,
        lambda n: hundredths(100 - n.p, add_up(n.a, n.b)) + n.c,
        where=lambda n: n.p * n.a * n.b % 100 == 0,
    ),
    "rope_pieces": _story(
        lambda n: (100 * n.a + n.b) // n.c, lambda n: groups(add_up(n.a, 100) + n.b, n.c)[0]
    ),
    "pages_left": _story(
        lambda n: n.a - n.a // n.part - n.c * n.d,
        lambda n: add_up(n.part - 1, n.share) - add_up(n.d, n.c),
        where=lambda n: n.a > n.a // n.part + n.c * n.d,
        then=lambda n: {
            "a": n.part * n.share,
            "f": ("half", "third", "quarter", "fifth", "sixth")[n.part - 2],
        },
    ),
    "tank": _story(
        lambda n: (n.a - n.b) // (n.c - n.d),
        _fill_by_the_minute,
        where=lambda n: n.c > n.d,
        then=lambda n: {"a": n.b + (n.c - n.d) * n.t},
    ),
    "left_over": _story(
        lambda n: n.a * n.b % n.c,
        lambda n: groups(add_up(n.b, n.a), n.c)[1],
        where=lambda n: n.a * n.b % n.c > 0,
    ),
    "buses_needed": _story(
        lambda n: -(-(n.a * n.b + n.c) // n.d),
        lambda n: groups(add_up(n.a, n.b) + n.c, n.d)[0] + 1,
        where=lambda n: (n.a * n.b + n.c) % n.d > 0,
    ),
    "score_needed": _story(
        lambda n: 4 * n.m - n.a - n.b - n.c,
        lambda n: only(range(1, 400), lambda x: (n.a + n.b + n.c + x) / 4 == n.m),
        where=lambda n: n.fourth > 0 and len({n.a, n.b, n.c}) == 3,
        then=lambda n: {"fourth": 4 * n.m - n.a - n.b - n.c},
    ),
    "before_discount": _story(
        lambda n: 100 * n.c // (100 - n.p),
        lambda n: only(range(2000), lambda full: full * n.p == 100 * (full - n.c)),
        where=lambda n: n.p * n.full % 100 == 0,
        then=lambda n: {"c": n.full * (100 - n.p) // 100},
    ),
    "savings_plan": _story(
        lambda n: (n.a + n.b * n.c) * (100 - n.p) // 100 - n.d * n.e,
        lambda n: hundredths(100 - n.p, n.a + add_up(n.c, n.b)) - add_up(n.d, n.e),
        where=lambda n: (
            n.p * (n.a + n.b * n.c) % 100 == 0
            and (n.a + n.b * n.c) * (100 - n.p) // 100 > n.d * n.e
        ),
    ),
    "work_rate": _story(
        lambda n: n.u // (n.a * n.c) * n.d * n.e,
        lambda n: sum(groups(n.u, add_up(n.a, n.c))[0] for _ in range(n.d) for _ in range(n.e)),
        where=lambda n: n.d != n.a and n.e != n.c,
        then=lambda n: {"u": n.a * n.c * n.r},
    ),
    "road_back": _story(
        lambda n: (n.a * n.b + n.c * n.d) // n.e,
        lambda n: only(
            range(1, 500), lambda v: add_up(n.e, v) == add_up(n.b, n.a) + add_up(n.d, n.c)
        ),
        where=lambda n: (n.a * n.b + n.c * n.d) % n.e == 0 and n.a != n.c,
    ),
    "handshakes": _story(lambda n: 2 * n.a * (n.a - 1), _shakes),
    "two_red": _story(
        lambda n: Fraction(n.a * (n.a - 1), n.n * (n.n - 1)),
        _both_red,
        then=lambda n: {"n": n.a + n.b},
    ),
    "sum_and_difference": _story(
        lambda n: (n.s + n.d) // 2,
        lambda n: only(range(n.s), lambda x: x - (n.s - x) == n.d),
        then=lambda n: {"s": 2 * n.small + n.d},
    ),
    "heads_and_legs": _story(
        lambda n: n.l // 2 - n.h,
        lambda n: only(range(n.h + 1), lambda x: add_up(x, 4) + add_up(n.h - x, 2) == n.l),
        then=lambda n: {"h": n.x + n.y, "l": 4 * n.x + 2 * n.y},
    ),
}


def _family(spans: dict[str, list], **said) -> Family:
    answer, check, where, then = STORIES[said["name"]]
    kind = Kind(_spans(spans, where, then), answer, check)
    return Family(kind=kind, dials=tuple(range(5)), **said)


#: All families with all five dials, as the pilot asked them, by level.
CANDIDATES = [_family(**said) for said in written("story")]


def chosen() -> list[Family]:
    """The families that the pilot kept, with the three dials that it chose."""
    dials = json.loads(_CHOSEN.read_text(encoding="utf-8"))["dials"]
    kept = [family for family in CANDIDATES if family.name in dials]
    return [f._replace(dials=tuple(dials[f.name]), per_dial=_PER_DIAL[f.level]) for f in kept]
