"""Stories of two easy steps."""

from __future__ import annotations

from families import Family

from story.draws import ALL_DIALS, add_up, groups, only, spans

SMALL = (2, 5, 8, 12, 20, 35)
LARGE = (3, 9, 15, 30, 60, 150)

EVERYDAY = (
    Family(
        "packs_twice",
        1,
        (
            "{name} buys {a} packs of {b} cards and then {c} more packs of {b} cards. "
            "How many cards does {name} buy?",
            "A pack holds {b} {things}. {name} has {a} packs and {other} has {c} packs. "
            "How many {things} do they have?",
            "{name} runs {b} laps a day for {a} days, rests, and runs {b} laps a day for {c} more "
            "days. How many laps does {name} run?",
        ),
        spans(a=SMALL, b=SMALL, c=SMALL),
        lambda n: (n["a"] + n["c"]) * n["b"],
        lambda n: add_up(n["a"], n["b"]) + add_up(n["c"], n["b"]),
        dials=ALL_DIALS,
    ),
    Family(
        "legs_mixed",
        1,
        (
            "A dog has 4 legs and a hen has 2 legs. How many legs do {a} dogs and {b} hens have?",
            "A car has 4 wheels and a bike has 2 wheels. "
            "There are {a} cars and {b} bikes in a street. How many wheels are there?",
            "{name} sets {a} tables for 4 people and {b} tables for 2 people. "
            "How many people can sit down?",
        ),
        spans(a=SMALL, b=SMALL),
        lambda n: 4 * n["a"] + 2 * n["b"],
        lambda n: add_up(n["a"], 4) + add_up(n["b"], 2),
        dials=ALL_DIALS,
    ),
    Family(
        "cents",
        1,
        (
            "A nickel is 5 cents and a dime is 10 cents. "
            "How many cents are {a} nickels and {b} dimes?",
            "{name} has {a} coins of 5 cents and {b} coins of 10 cents. "
            "How many cents does {name} have?",
            "A stamp costs 5 cents and an envelope costs 10 cents. "
            "How many cents do {a} stamps and {b} envelopes cost?",
        ),
        spans(a=SMALL, b=SMALL),
        lambda n: 5 * n["a"] + 10 * n["b"],
        lambda n: add_up(n["a"], 5) + add_up(n["b"], 10),
        dials=ALL_DIALS,
    ),
    Family(
        "gives_twice",
        1,
        (
            "{name} has {a} {things}, gives {b} to {other} and loses {c}. "
            "How many {things} are left?",
            "There are {a} {things} in a box. {name} takes {b} and {other} takes {c}. "
            "How many {things} are left?",
            "A bus has {a} seats. {b} children and {c} teachers sit down. How many seats are free?",
        ),
        spans(then=lambda n: {"a": n["left"] + n["b"] + n["c"]}, left=LARGE, b=LARGE, c=SMALL),
        lambda n: n["a"] - n["b"] - n["c"],
        lambda n: len(range(n["b"] + n["c"], n["a"])),
        dials=ALL_DIALS,
    ),
    Family(
        "three_days",
        1,
        (
            "{name} picks {a} {things} on Monday, {b} on Tuesday and {c} on Wednesday. "
            "How many is that in all?",
            "{name} reads {a} pages in the morning, {b} at noon and {c} in the evening. "
            "How many pages does {name} read?",
            "A shop sells {a} red, {b} green and {c} blue {things}. It is open for {z} hours. "
            "How many {things} does it sell?",
        ),
        spans(a=LARGE, b=LARGE, c=SMALL, z=(5, 6, 7, 8, 9, 10)),
        lambda n: n["a"] + n["b"] + n["c"],
        lambda n: only(range(1000), lambda x: x - n["c"] - n["b"] == n["a"]),
        dials=ALL_DIALS,
    ),
    Family(
        "fence",
        1,
        (
            "A garden is {a} meters long and {b} meters wide. "
            "How many meters of fence go all around it?",
            "{name} walks once around a field that is {a} meters long and {b} meters wide. "
            "How many meters is that?",
            "A picture is {a} cm wide and {b} cm high. How many cm of wood does a frame around it "
            "need?",
        ),
        spans(a=LARGE, b=SMALL),
        lambda n: 2 * (n["a"] + n["b"]),
        lambda n: n["a"] + n["b"] + n["a"] + n["b"],
        dials=ALL_DIALS,
    ),
    Family(
        "rows_less",
        1,
        (
            "{name} plants {a} rows of {b} flowers, and {c} of them die. "
            "How many flowers are left?",
            "A baker makes {a} trays of {b} rolls and sells {c} rolls. How many rolls are left?",
            "There are {a} teams of {b} players. {c} players are ill. How many players can play?",
        ),
        spans(lambda n: n["a"] * n["b"] > n["c"], a=SMALL, b=SMALL, c=LARGE),
        lambda n: n["a"] * n["b"] - n["c"],
        lambda n: len([1 for _ in range(n["a"]) for _ in range(n["b"])][n["c"] :]),
        dials=ALL_DIALS,
    ),
    Family(
        "double_plus",
        1,
        (
            "{name} has {a} {things}. {other} has twice as many and {b} more. "
            "How many {things} does {other} have?",
            "{name} is {a} years old. A house is twice as old as {name} plus {b} years. "
            "How old is the house?",
            "A small bag weighs {a} pounds. A large bag weighs two times that and {b} pounds "
            "more. How many pounds does the large bag weigh?",
        ),
        spans(a=LARGE, b=SMALL),
        lambda n: 2 * n["a"] + n["b"],
        lambda n: n["a"] + n["a"] + n["b"],
        dials=ALL_DIALS,
    ),
    Family(
        "pay_and_spend",
        1,
        (
            "{name} earns {a} dollars an hour, works {b} hours and spends {c} dollars. "
            "How many dollars are left?",
            "{name} saves {a} dollars a week for {b} weeks and buys a gift for {c} dollars. "
            "How many dollars are left?",
            "{name} sells {b} {things} at {a} dollars each and pays {c} dollars for the stand. "
            "How many dollars does {name} keep?",
        ),
        spans(lambda n: n["a"] * n["b"] > n["c"], a=SMALL, b=SMALL, c=LARGE),
        lambda n: n["a"] * n["b"] - n["c"],
        lambda n: only(range(2000), lambda x: x + n["c"] == add_up(n["b"], n["a"])),
        dials=ALL_DIALS,
    ),
    Family(
        "dozen_plus",
        1,
        (
            "{name} has {a} dozen eggs and {b} more eggs. How many eggs does {name} have?",
            "A dozen is 12. A baker makes {a} dozen rolls and then {b} rolls. "
            "How many rolls is that?",
            "There are 12 pencils in a box. {name} has {a} boxes and {b} single pencils. "
            "How many pencils does {name} have?",
        ),
        spans(a=(2, 3, 5, 8, 12, 25), b=SMALL),
        lambda n: 12 * n["a"] + n["b"],
        lambda n: add_up(n["a"], 12) + n["b"],
        dials=ALL_DIALS,
    ),
    Family(
        "cheaper",
        2,
        (
            "A book costs {a} dollars. A pen costs {b} dollars less. "
            "How many dollars do the book and the pen cost?",
            "{name} has {a} {things} and {other} has {b} fewer. "
            "How many {things} do they have together?",
            "On Monday {name} walks {a} miles, on Tuesday {b} miles less. "
            "How many miles does {name} walk on both days?",
        ),
        spans(lambda n: n["a"] > n["b"], a=LARGE, b=SMALL),
        lambda n: 2 * n["a"] - n["b"],
        lambda n: n["a"] + len(range(n["b"], n["a"])),
        dials=ALL_DIALS,
    ),
    Family(
        "passengers",
        2,
        (
            "A bus has {a} people on it. {b} get off and {c} get on. "
            "How many people are on the bus?",
            "{name} has {a} dollars, spends {b} and then gets {c} dollars from {other}. "
            "How many dollars does {name} have?",
            "A library with {z} rooms has {a} books on a shelf. "
            "{b} are taken out and {c} are brought back. How many books are on the shelf?",
        ),
        spans(lambda n: n["a"] > n["b"], a=LARGE, b=LARGE, c=SMALL, z=(2, 3, 4, 5, 6, 7)),
        lambda n: n["a"] - n["b"] + n["c"],
        lambda n: len(range(n["b"], n["a"])) + n["c"],
        dials=ALL_DIALS,
    ),
    Family(
        "share_then_eat",
        2,
        (
            "{a} {things} are shared equally among {b} children. "
            "{name} gets one share and gives {c} away. How many {things} does {name} have left?",
            "{b} friends split a bill of {a} dollars equally. "
            "{name} has a coupon that takes {c} dollars off one share. "
            "How many dollars does {name} pay?",
            "A string of {a} cm is cut into {b} equal pieces. {name} cuts {c} cm off one piece. "
            "How many cm is that piece now?",
        ),
        spans(
            lambda n: n["q"] > n["c"],
            lambda n: {"a": n["b"] * n["q"]},
            b=(2, 4, 5, 8, 10, 14),
            q=(3, 6, 9, 14, 22, 40),
            c=(2, 3, 5, 8, 12, 20),
        ),
        lambda n: n["a"] // n["b"] - n["c"],
        lambda n: groups(n["a"], n["b"])[0] - n["c"],
        dials=ALL_DIALS,
    ),
    Family(
        "tens_ones",
        1,
        (
            "{name} has {a} ten-dollar bills and {b} one-dollar bills. "
            "How many dollars does {name} have?",
            "A bundle holds 10 sticks. {name} has {a} bundles and {b} single sticks. "
            "How many sticks does {name} have?",
            "{name} pays with {a} bills of 10 dollars and {b} coins of 1 dollar. "
            "How many dollars is that?",
        ),
        spans(a=SMALL, b=SMALL),
        lambda n: 10 * n["a"] + n["b"],
        lambda n: add_up(n["a"], 10) + n["b"],
        dials=ALL_DIALS,
    ),
    Family(
        "three_prices",
        1,
        (
            "A pen costs {a} dollars, a book costs {b} dollars and a bag costs {c} dollars. "
            "How many dollars do they cost together?",
            "{name} pays {a} dollars for lunch, {b} dollars for a shirt and {c} dollars for a "
            "hat. How many dollars does {name} pay in all?",
            "A box weighs {a} pounds, a chair {b} pounds and a lamp {c} pounds. "
            "How many pounds do the three weigh?",
        ),
        spans(a=SMALL, b=LARGE, c=SMALL),
        lambda n: n["a"] + n["b"] + n["c"],
        lambda n: len([*range(n["a"]), *range(n["b"]), *range(n["c"])]),
        dials=ALL_DIALS,
    ),
    Family(
        "each_plants",
        1,
        (
            "{a} boys and {b} girls plant 3 trees each. How many trees do they plant?",
            "There are {a} red and {b} blue boxes with 3 {things} in each box. "
            "How many {things} are there?",
            "{name} buys {a} large and {b} small bags. Each bag costs 3 dollars. "
            "How many dollars does {name} pay?",
        ),
        spans(a=SMALL, b=SMALL),
        lambda n: 3 * (n["a"] + n["b"]),
        lambda n: add_up(n["a"], 3) + add_up(n["b"], 3),
        dials=ALL_DIALS,
    ),
    Family(
        "two_shifts",
        1,
        (
            "{name} works {a} hours on Monday and {b} hours on Tuesday and earns 10 dollars an "
            "hour. How many dollars does {name} earn?",
            "A car drives 10 miles every hour, {a} hours in the morning and {b} hours in the "
            "evening. How many miles does it drive?",
            "A ticket costs 10 dollars. {name} buys {a} tickets and {other} buys {b} tickets. "
            "How many dollars do they pay together?",
        ),
        spans(a=SMALL, b=SMALL),
        lambda n: 10 * (n["a"] + n["b"]),
        lambda n: add_up(n["a"], 10) + add_up(n["b"], 10),
        dials=ALL_DIALS,
    ),
    Family(
        "boxes_half",
        2,
        (
            "{name} has {a} boxes of {b} {things} and sells half of them. "
            "How many {things} does {name} sell?",
            "A farm has {a} rows of {b} trees. Half of the trees are apple trees. "
            "How many apple trees are there?",
            "{name} saves {a} dollars a week for {b} weeks and gives half of the money to "
            "{other}. How many dollars does {other} get?",
        ),
        spans(lambda n: n["a"] * n["b"] % 2 == 0, a=SMALL, b=SMALL),
        lambda n: n["a"] * n["b"] // 2,
        lambda n: len(range(0, add_up(n["a"], n["b"]), 2)),
        dials=ALL_DIALS,
    ),
)
