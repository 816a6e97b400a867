"""Stories of packing, sharing, counting and chance."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from families import Family

from story.draws import ALL_DIALS, add_up, groups, spans


def _both_red(n: dict) -> Fraction:
    """Draw every pair of balls and see how many are both red."""
    pairs = list(combinations(range(n["a"] + n["b"]), 2))
    return Fraction(sum(second < n["a"] for _, second in pairs), len(pairs))


def _shakes(n: dict) -> int:
    """Let everyone meet everyone, and skip the partners."""
    return sum(first // 2 != second // 2 for first, second in combinations(range(2 * n["a"]), 2))


COUNTING = (
    Family(
        "boxes_loose",
        2,
        (
            "{name} has {a} boxes with {b} {things} in each and {c} loose {things}. "
            "How many {things} does {name} have?",
            "There are {c} {things} on the table and {a} full bags of {b} {things}. "
            "How many {things} are there in all?",
            "{name} fills {a} jars with {b} {things} each, which takes {z} minutes, "
            "and has {c} {things} left. How many {things} were there?",
        ),
        spans(
            a=(2, 5, 8, 12, 18, 30),
            b=(2, 6, 9, 12, 19, 36),
            c=(2, 5, 9, 20, 50, 90),
            z=(5, 10, 15, 20, 30, 50),
        ),
        lambda n: n["a"] * n["b"] + n["c"],
        lambda n: add_up(n["b"], n["a"]) + n["c"],
        dials=ALL_DIALS,
    ),
    Family(
        "pool_and_share",
        2,
        (
            "{name} has {a} {things} and {other} has {b}. "
            "They put them together and share them equally among {c} children. "
            "How many {things} does each child get?",
            "A box holds {a} red and {b} green {things}. {c} friends share all of them equally. "
            "How many {things} does each friend get?",
            "{name} bakes {a} cookies in the morning and {b} in the afternoon, "
            "in an oven at {z} degrees. All are put on {c} plates, equally many on each. "
            "How many cookies are on a plate?",
        ),
        spans(
            lambda n: n["b"] > 0,
            lambda n: {"b": n["c"] * n["q"] - n["a"]},
            a=(3, 8, 15, 30, 60, 140),
            c=(2, 4, 5, 7, 9, 14),
            q=(2, 5, 8, 12, 18, 30),
            z=(150, 160, 170, 180, 190, 220),
        ),
        lambda n: (n["a"] + n["b"]) // n["c"],
        lambda n: groups(n["a"] + n["b"], n["c"])[0],
        dials=ALL_DIALS,
    ),
    Family(
        "free_seats",
        3,
        (
            "A hall has {a} rows of {b} seats. {c} seats are broken and {d} are taken. "
            "How many seats are free?",
            "A bus company has {a} buses with {b} seats each. "
            "{c} seats are reserved and {d} are sold. How many seats can still be sold?",
            "{name} plants {a} rows of {b} trees. Each tree costs {z} dollars. "
            "{c} trees die in a storm and {d} are cut down. How many trees are left?",
        ),
        spans(
            lambda n: n["a"] * n["b"] > n["c"] + n["d"],
            a=(3, 5, 8, 12, 18, 26),
            b=(4, 6, 9, 14, 19, 34),
            c=(2, 4, 8, 14, 28, 60),
            d=(2, 6, 15, 40, 80, 180),
            z=(3, 8, 12, 15, 20, 30),
        ),
        lambda n: n["a"] * n["b"] - n["c"] - n["d"],
        lambda n: len(list(product(range(n["a"]), range(n["b"])))[n["c"] : -n["d"]]),
        dials=ALL_DIALS,
    ),
    Family(
        "left_over",
        4,
        (
            "A hen farm gets {a} eggs a day. After {b} days {name} packs all the eggs in boxes of "
            "{c}. How many eggs are left over?",
            "{name} makes {a} beads an hour for {b} hours and strings them in chains of {c}. "
            "How many beads are left over?",
            "{a} bags of {b} {things} are poured out and dealt into piles of {c}. "
            "A bag costs {z} dollars. How many {things} are left over?",
        ),
        spans(
            lambda n: n["a"] * n["b"] % n["c"] > 0,
            a=(3, 7, 11, 18, 28, 45),
            b=(2, 4, 6, 8, 12, 17),
            c=(3, 5, 6, 10, 12, 16),
            z=(2, 4, 5, 7, 9, 12),
        ),
        lambda n: n["a"] * n["b"] % n["c"],
        lambda n: groups(add_up(n["b"], n["a"]), n["c"])[1],
        dials=ALL_DIALS,
    ),
    Family(
        "buses_needed",
        4,
        (
            "{a} classes of {b} children and {c} teachers go on a trip. A bus has {d} seats. "
            "How many buses do they need?",
            "{name} has {a} crates of {b} bottles and {c} single bottles. "
            "A shelf holds {d} bottles. How many shelves does {name} need for all of them?",
            "{a} teams of {b} players and {c} trainers cross a lake of {z} meters. "
            "A boat takes {d} people. How many boat trips does it take to bring all across?",
        ),
        spans(
            lambda n: (n["a"] * n["b"] + n["c"]) % n["d"] > 0,
            a=(2, 3, 4, 6, 8, 13),
            b=(4, 8, 12, 20, 26, 32),
            c=(2, 3, 5, 8, 14, 25),
            d=(4, 8, 12, 20, 32, 48),
            z=(80, 100, 200, 300, 500, 900),
        ),
        lambda n: -(-(n["a"] * n["b"] + n["c"]) // n["d"]),
        lambda n: groups(add_up(n["a"], n["b"]) + n["c"], n["d"])[0] + 1,
        dials=ALL_DIALS,
    ),
    Family(
        "handshakes",
        5,
        (
            "{a} couples meet at a party. Everyone shakes hands once with everyone except their "
            "own partner. How many handshakes are there?",
            "{a} pairs of twins play chess. Everyone plays one game against everyone but their "
            "own twin. How many games are played?",
            "{a} teams of two come to a dinner that lasts {z} hours. "
            "Each person drinks once to each person of the other teams, and two who drink to each "
            "other do it together. How many times do two glasses touch?",
        ),
        spans(a=(2, 6, 10, 16, 24, 40), z=(2, 3, 4, 4, 5, 6)),
        lambda n: 2 * n["a"] * (n["a"] - 1),
        _shakes,
        dials=ALL_DIALS,
    ),
    Family(
        "two_red",
        5,
        (
            "A bag holds {a} red and {b} blue balls. {name} draws two balls without putting the "
            "first one back. What is the probability that both are red? Give a fraction.",
            "{a} of the {n} {things} in a box are red. {name} takes two of them at random. "
            "What is the probability that both are red? Give a fraction.",
            "A class has {a} girls and {b} boys. Two children are chosen at random for a play of "
            "{z} minutes. What is the probability that both are girls? Give a fraction.",
        ),
        spans(
            then=lambda n: {"n": n["a"] + n["b"]},
            a=(2, 3, 4, 6, 9, 14),
            b=(2, 3, 5, 6, 10, 15),
            z=(10, 15, 20, 30, 45, 60),
        ),
        lambda n: Fraction(n["a"] * (n["a"] - 1), n["n"] * (n["n"] - 1)),
        _both_red,
        dials=ALL_DIALS,
    ),
)
