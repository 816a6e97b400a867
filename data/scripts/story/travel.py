"""Stories of time, rates, distances and units."""

from __future__ import annotations

from families import Family

from story.draws import ALL_DIALS, add_up, groups, only, spans


def _fill_by_the_minute(n: dict) -> int:
    level = n["b"]
    minutes = 0
    while level < n["a"]:
        level = level + n["c"] - n["d"]
        minutes = minutes + 1
    return minutes


TRAVEL = (
    Family(
        "weeks_days",
        2,
        (
            "{name} travels for {a} weeks and {b} days. How many days is that?",
            "A course takes {a} weeks and then {b} more days. How many days does the course take?",
            "{name} waits {a} weeks for a parcel that weighs {z} kilograms, and then {b} days "
            "more. How many days does {name} wait?",
        ),
        spans(a=(2, 4, 7, 12, 24, 52), b=(2, 4, 6, 13, 25, 60), z=(2, 4, 6, 8, 12, 20)),
        lambda n: 7 * n["a"] + n["b"],
        lambda n: add_up(n["a"], 7) + n["b"],
        dials=ALL_DIALS,
    ),
    Family(
        "miles_left",
        2,
        (
            "A trip is {d} miles long. {name} drives {a} miles an hour for {b} hours. "
            "How many miles are left?",
            "{name} must ride {d} miles and rides for {b} hours at {a} miles an hour. "
            "How many miles are still to go?",
            "A train with {z} seats goes {a} miles an hour. "
            "After {b} hours, how many miles are left of a trip of {d} miles?",
        ),
        spans(
            then=lambda n: {"d": n["a"] * n["b"] + n["left"]},
            a=(5, 15, 30, 50, 65, 85),
            b=(2, 3, 4, 6, 8, 13),
            left=(3, 20, 40, 80, 150, 300),
            z=(30, 60, 90, 120, 200, 300),
        ),
        lambda n: n["d"] - n["a"] * n["b"],
        lambda n: only(range(1000), lambda left: add_up(n["b"], n["a"]) + left == n["d"]),
        dials=ALL_DIALS,
    ),
    Family(
        "film_minutes",
        3,
        (
            "A film lasts {a} hours and {b} minutes. {name} has watched {c} minutes. "
            "How many minutes are left?",
            "{name} works for {a} hours and {b} minutes with breaks of {c} minutes in all. "
            "How many minutes does {name} work without the breaks?",
            "A cake must rest {a} hours and {b} minutes. "
            "{name} put it away {c} minutes ago, at {z} degrees. "
            "How many more minutes must it rest?",
        ),
        spans(
            a=(2, 2, 3, 5, 8, 14),
            b=(5, 20, 40, 50, 55, 59),
            c=(10, 25, 40, 55, 59, 89),
            z=(5, 6, 9, 12, 15, 18),
        ),
        lambda n: 60 * n["a"] + n["b"] - n["c"],
        lambda n: len(range(n["c"], add_up(n["a"], 60) + n["b"])),
        dials=ALL_DIALS,
    ),
    Family(
        "rope_pieces",
        4,
        (
            "A rope is {a} meters and {b} centimeters long. "
            "{name} cuts it into pieces of {c} centimeters. How many whole pieces are there?",
            "{name} has {a} meters {b} centimeters of ribbon. Each bow needs {c} centimeters. "
            "How many bows can {name} make?",
            "A shelf is {a} meters and {b} centimeters long and {z} centimeters deep. "
            "Books of {c} centimeters stand side by side on it. How many books fit?",
        ),
        spans(
            a=(2, 2, 3, 5, 8, 14),
            b=(10, 20, 40, 60, 80, 95),
            c=(3, 10, 15, 20, 25, 35),
            z=(20, 30, 30, 35, 35, 40),
        ),
        lambda n: (100 * n["a"] + n["b"]) // n["c"],
        lambda n: groups(add_up(n["a"], 100) + n["b"], n["c"])[0],
        dials=ALL_DIALS,
    ),
    Family(
        "pages_left",
        4,
        (
            "A book has {a} pages. {name} reads one {f} of it on the first day and then {c} pages "
            "on each of the next {d} days. How many pages are left?",
            "{name} has {a} {things}, gives one {f} of them to {other} and then uses {c} a day "
            "for {d} days. How many {things} are left?",
            "A road of {a} meters is being painted. One {f} is done on Monday, "
            "and then {c} meters are done on each of {d} days by {z} workers. "
            "How many meters are still to be painted?",
        ),
        spans(
            lambda n: n["a"] > n["a"] // n["part"] + n["c"] * n["d"],
            lambda n: {
                "a": n["part"] * n["share"],
                "f": ("half", "third", "quarter", "fifth", "sixth")[n["part"] - 2],
            },
            part=[(2,), (2, 4), (2, 3, 4), (3, 4, 5), (3, 4, 5, 6)],
            share=(10, 20, 40, 60, 80, 150),
            c=(2, 4, 8, 12, 18, 26),
            d=(2, 3, 3, 5, 7, 9),
            z=(2, 4, 5, 6, 7, 8),
        ),
        lambda n: n["a"] - n["a"] // n["part"] - n["c"] * n["d"],
        lambda n: add_up(n["part"] - 1, n["share"]) - add_up(n["d"], n["c"]),
        dials=ALL_DIALS,
    ),
    Family(
        "tank",
        4,
        (
            "A tank holds {a} liters and has {b} liters in it. "
            "A pump adds {c} liters a minute while {d} liters a minute leak out. "
            "After how many minutes is the tank full?",
            "A pool for {a} liters already holds {b} liters. "
            "Every minute {c} liters run in and {d} liters run out. "
            "How many minutes does it take to fill the pool?",
            "{name} has {b} dollars and wants a bike for {a} dollars. "
            "{name} earns {c} dollars a week and spends {d} dollars a week. "
            "After how many weeks does {name} have enough?",
        ),
        spans(
            lambda n: n["c"] > n["d"],
            lambda n: {"a": n["b"] + (n["c"] - n["d"]) * n["t"]},
            b=(5, 20, 30, 60, 120, 250),
            c=(4, 8, 12, 18, 30, 50),
            d=(2, 3, 5, 9, 14, 25),
            t=(2, 5, 8, 12, 18, 25),
        ),
        lambda n: (n["a"] - n["b"]) // (n["c"] - n["d"]),
        _fill_by_the_minute,
        dials=ALL_DIALS,
    ),
    Family(
        "work_rate",
        5,
        (
            "{a} workers make {u} chairs in {c} hours. All work equally fast. "
            "How many chairs do {d} workers make in {e} hours?",
            "In {c} days {a} machines print {u} books. How many books do {d} such machines print "
            "in {e} days?",
            "{a} cows eat {u} bales of hay in {c} weeks, and each cow eats the same. "
            "How many bales do {d} cows eat in {e} weeks?",
        ),
        spans(
            lambda n: n["d"] != n["a"] and n["e"] != n["c"],
            lambda n: {"u": n["a"] * n["c"] * n["r"]},
            a=(2, 3, 4, 5, 7, 9),
            c=(2, 3, 4, 5, 6, 8),
            r=(1, 2, 3, 4, 5, 7),
            d=(2, 4, 5, 7, 9, 12),
            e=(2, 4, 5, 7, 8, 12),
        ),
        lambda n: n["u"] // (n["a"] * n["c"]) * n["d"] * n["e"],
        lambda n: sum(
            groups(n["u"], add_up(n["a"], n["c"]))[0] for _ in range(n["d"]) for _ in range(n["e"])
        ),
        dials=ALL_DIALS,
    ),
    Family(
        "road_back",
        5,
        (
            "{name} drives {b} hours at {a} miles an hour and then {d} hours at {c} miles an "
            "hour. The same way back takes {e} hours. What is the speed on the way back in miles "
            "an hour?",
            "A truck goes {a} miles an hour for {b} hours and {c} miles an hour for {d} hours. "
            "It returns on the same road in {e} hours. How many miles an hour does it go on the "
            "way back?",
            "{name} cycles out for {b} hours at {a} miles an hour, rests for {z} minutes, "
            "and rides on for {d} hours at {c} miles an hour. "
            "The ride home along the same road takes {e} hours. "
            "At how many miles an hour does {name} ride home?",
        ),
        spans(
            lambda n: (n["a"] * n["b"] + n["c"] * n["d"]) % n["e"] == 0 and n["a"] != n["c"],
            a=(3, 8, 12, 20, 40, 65),
            b=(2, 2, 3, 4, 5, 7),
            c=(3, 9, 15, 25, 50, 75),
            d=(2, 2, 3, 4, 5, 6),
            e=(2, 4, 5, 6, 8, 9),
            z=(5, 10, 15, 20, 30, 50),
        ),
        lambda n: (n["a"] * n["b"] + n["c"] * n["d"]) // n["e"],
        lambda n: only(
            range(1, 500),
            lambda v: add_up(n["e"], v) == add_up(n["b"], n["a"]) + add_up(n["d"], n["c"]),
        ),
        dials=ALL_DIALS,
    ),
)
