"""Stories whose answer is an unknown: comparisons, averages, ages and systems of two."""

from __future__ import annotations

from families import Family

from story.draws import ALL_DIALS, add_up, only, spans

UNKNOWNS = (
    Family(
        "half_then_more",
        2,
        (
            "{name} has {a} {things}, gives half of them away and then finds {b} more. "
            "How many {things} does {name} have now?",
            "A bus with {a} people stops. Half of them get off and {b} get on. "
            "How many people are on the bus now?",
            "{name} had {a} dollars {z} days ago, spent half of it and then earned {b} dollars. "
            "How many dollars does {name} have now?",
        ),
        spans(
            then=lambda n: {"a": 2 * n["half"]},
            half=(3, 8, 20, 40, 90, 250),
            b=(2, 6, 15, 30, 60, 150),
            z=(2, 4, 5, 6, 8, 9),
        ),
        lambda n: n["a"] // 2 + n["b"],
        lambda n: len(range(0, n["a"], 2)) + n["b"],
        dials=ALL_DIALS,
    ),
    Family(
        "together",
        3,
        (
            "{name} has {a} {things}. {other} has {b} times as many as {name}, less {c}. "
            "How many {things} do they have together?",
            "{name} is {a} years old. A tree is {b} times as old as {name}, less {c} years. "
            "How many years do {name} and the tree count together?",
            "A cat weighs {a} pounds and eats {z} times a day. "
            "A dog weighs {c} pounds less than {b} times the cat. "
            "How many pounds do the cat and the dog weigh together?",
        ),
        spans(
            a=(4, 9, 14, 20, 35, 60),
            b=(2, 2, 3, 4, 6, 9),
            c=(1, 4, 6, 9, 18, 40),
            z=(2, 2, 3, 3, 4, 4),
        ),
        lambda n: n["a"] + n["a"] * n["b"] - n["c"],
        lambda n: add_up(n["b"] + 1, n["a"]) - n["c"],
        dials=ALL_DIALS,
    ),
    Family(
        "score_needed",
        4,
        (
            "{name} scores {a}, {b} and {c} points in three tests. "
            "How many points must the fourth test have for an average of {m} over all four?",
            "On three days {name} walks {a}, {b} and {c} miles. "
            "How many miles must {name} walk on the fourth day to have walked {m} miles a day on "
            "average?",
            "Three of four sisters are {a}, {b} and {c} years old. "
            "The average age of the four is {m} years. How old is the fourth?",
        ),
        spans(
            lambda n: n["fourth"] > 0 and len({n["a"], n["b"], n["c"]}) == 3,
            lambda n: {"fourth": 4 * n["m"] - n["a"] - n["b"] - n["c"]},
            a=(2, 8, 12, 20, 40, 90),
            b=(2, 9, 14, 22, 45, 95),
            c=(2, 7, 12, 24, 42, 92),
            m=(4, 8, 13, 22, 42, 85),
        ),
        lambda n: 4 * n["m"] - n["a"] - n["b"] - n["c"],
        lambda n: only(range(1, 400), lambda x: (n["a"] + n["b"] + n["c"] + x) / 4 == n["m"]),
        dials=ALL_DIALS,
    ),
    Family(
        "sum_and_difference",
        5,
        (
            "{name} and {other} have {s} {things} together. {name} has {d} more than {other}. "
            "How many {things} does {name} have?",
            "Two numbers add up to {s}, and one is {d} larger than the other. "
            "What is the larger number?",
            "A bat and a ball cost {s} dollars together in a shop {z} miles away. "
            "The bat costs {d} dollars more than the ball. How many dollars does the bat cost?",
        ),
        spans(
            then=lambda n: {"s": 2 * n["small"] + n["d"]},
            small=(2, 6, 10, 20, 45, 120),
            d=(2, 4, 8, 14, 26, 60),
            z=(2, 3, 5, 6, 8, 12),
        ),
        lambda n: (n["s"] + n["d"]) // 2,
        lambda n: only(range(n["s"]), lambda x: x - (n["s"] - x) == n["d"]),
        dials=ALL_DIALS,
    ),
    Family(
        "heads_and_legs",
        5,
        (
            "A farm has hens with 2 legs and goats with 4 legs: {h} heads and {l} legs in all. "
            "How many goats are there?",
            "In a yard stand {h} bikes and cars with {l} wheels together. "
            "A bike has 2 wheels and a car has 4. How many cars are there?",
            "{h} tables seat {l} people when all are full. "
            "Small tables seat 2 and large tables seat 4. How many large tables are there?",
        ),
        spans(
            then=lambda n: {"h": n["x"] + n["y"], "l": 4 * n["x"] + 2 * n["y"]},
            x=(1, 3, 5, 9, 16, 35),
            y=(1, 3, 6, 9, 15, 40),
        ),
        lambda n: n["l"] // 2 - n["h"],
        lambda n: only(range(n["h"] + 1), lambda x: add_up(x, 4) + add_up(n["h"] - x, 2) == n["l"]),
        dials=ALL_DIALS,
    ),
)
