"""Stories of buying, earning and percentages."""

from __future__ import annotations

from families import Family

from story.draws import ALL_DIALS, add_up, hundredths, only, spans

PERCENTS = [(10, 50), (10, 20, 25, 50), (10, 20, 30, 40), (5, 15, 35, 60), (12, 15, 35, 45, 65)]

TRADE = (
    Family(
        "two_goods",
        2,
        (
            "{name} buys {a} notebooks at {b} dollars each and {c} pens at {d} dollars each. "
            "How many dollars does {name} pay in all?",
            "A pie costs {b} dollars and a cake costs {d} dollars. "
            "How many dollars do {a} pies and {c} cakes cost?",
            "{name} is {z} years old. {name} sells {a} {things} for {b} dollars each and {c} "
            "books for {d} dollars each. How many dollars does {name} take in?",
        ),
        spans(
            a=(2, 4, 6, 9, 13, 18),
            b=(2, 4, 6, 9, 14, 24),
            c=(2, 3, 5, 8, 12, 16),
            d=(2, 5, 8, 9, 15, 28),
            z=(9, 9, 12, 15, 20, 60),
        ),
        lambda n: n["a"] * n["b"] + n["c"] * n["d"],
        lambda n: add_up(n["a"], n["b"]) + add_up(n["c"], n["d"]),
        dials=ALL_DIALS,
    ),
    Family(
        "change_two",
        3,
        (
            "{name} has {e} dollars and buys {a} tickets at {b} dollars each and one drink for "
            "{d} dollars. How many dollars does {name} have left?",
            "A shirt costs {b} dollars and a hat costs {d} dollars. "
            "{name} buys {a} shirts and one hat and pays with {e} dollars. "
            "How many dollars of change does {name} get?",
            "{name} walks {z} minutes to the market with {e} dollars. "
            "There {name} pays {b} dollars for each of {a} melons and {d} dollars for a basket. "
            "How many dollars are left?",
        ),
        spans(
            lambda n: n["e"] > n["a"] * n["b"] + n["d"],
            a=(2, 3, 5, 7, 9, 14),
            b=(2, 4, 6, 9, 14, 19),
            d=(2, 4, 6, 9, 14, 28),
            e=[(20, 30), (40, 50), (80, 100), (150, 200), (300, 400, 500)],
            z=(5, 9, 15, 20, 25, 40),
        ),
        lambda n: n["e"] - n["a"] * n["b"] - n["d"],
        lambda n: only(
            range(n["e"]), lambda left: left + add_up(n["a"], n["b"]) + n["d"] == n["e"]
        ),
        dials=ALL_DIALS,
    ),
    Family(
        "percent_off",
        3,
        (
            "A coat costs {b} dollars. It is sold at {p}% off. "
            "How many dollars does the coat cost now?",
            "{name} wants a lamp of {b} dollars. The shop takes {p} percent off the price. "
            "How many dollars does {name} pay?",
            "A bike costs {b} dollars and a helmet costs {z} dollars. The bike is {p}% off today. "
            "How many dollars does the bike cost today?",
        ),
        spans(
            lambda n: n["p"] * n["b"] % 100 == 0,
            p=PERCENTS,
            b=(20, 60, 120, 240, 400, 900),
            z=(9, 15, 25, 35, 45, 60),
        ),
        lambda n: n["b"] - n["p"] * n["b"] // 100,
        lambda n: hundredths(100 - n["p"], n["b"]),
        dials=ALL_DIALS,
    ),
    Family(
        "overtime",
        4,
        (
            "{name} earns {a} dollars an hour, and {c} dollars more for each hour of overtime. "
            "This week {name} works {b} normal hours and {d} hours of overtime. "
            "How many dollars does {name} earn?",
            "A guide is paid {a} dollars an hour on weekdays and {c} dollars an hour more on "
            "Sundays. How many dollars does the guide earn for {b} hours on weekdays and {d} "
            "hours on Sunday?",
            "At a cafe {name} gets {a} dollars per hour. "
            "After 6 pm each hour pays {c} dollars extra. "
            "{name} works {b} hours before 6 pm and {d} hours after 6 pm. "
            "How many dollars is that?",
        ),
        spans(
            a=(5, 8, 10, 12, 18, 26),
            b=(2, 5, 8, 12, 24, 38),
            c=(2, 2, 4, 6, 8, 9),
            d=(2, 3, 4, 6, 8, 12),
        ),
        lambda n: n["a"] * n["b"] + (n["a"] + n["c"]) * n["d"],
        lambda n: add_up(n["b"] + n["d"], n["a"]) + add_up(n["d"], n["c"]),
        dials=ALL_DIALS,
    ),
    Family(
        "rise_total",
        3,
        (
            "A club had {b} members last year. This year it has {p}% more. "
            "How many members is that in both years together?",
            "{name} picked {b} {things} on Monday and {p} percent more on Tuesday. "
            "How many {things} did {name} pick on the two days?",
            "A farm sold {b} crates in May and {p}% more in June. A crate weighs {z} kilograms. "
            "How many crates did the farm sell in May and June together?",
        ),
        spans(
            lambda n: n["p"] * n["b"] % 100 == 0,
            p=PERCENTS,
            b=(20, 60, 100, 200, 360, 800),
            z=(4, 9, 12, 15, 18, 25),
        ),
        lambda n: 2 * n["b"] + n["p"] * n["b"] // 100,
        lambda n: add_up(2, n["b"]) + hundredths(n["p"], n["b"]),
        dials=ALL_DIALS,
    ),
    Family(
        "discount_fee",
        4,
        (
            "{name} orders {a} chairs at {b} dollars each. "
            "The order gets {p}% off, and delivery adds {c} dollars. "
            "How many dollars does {name} pay?",
            "A hotel costs {b} dollars a night. {name} stays {a} nights, gets {p} percent off the "
            "whole price and pays {c} dollars for parking. How many dollars is that in all?",
            "Tickets cost {b} dollars. A group of {a} gets {p}% off all its tickets. "
            "The bus costs the group {c} dollars and takes {z} minutes. "
            "How many dollars does the group pay for tickets and bus?",
        ),
        spans(
            lambda n: n["p"] * n["a"] * n["b"] % 100 == 0,
            a=(2, 4, 5, 8, 10, 15),
            b=(10, 20, 25, 50, 80, 120),
            p=PERCENTS,
            c=(2, 6, 9, 18, 30, 60),
            z=(12, 20, 25, 35, 45, 60),
        ),
        lambda n: n["a"] * n["b"] * (100 - n["p"]) // 100 + n["c"],
        lambda n: hundredths(100 - n["p"], add_up(n["a"], n["b"])) + n["c"],
        dials=ALL_DIALS,
    ),
    Family(
        "before_discount",
        5,
        (
            "After a discount of {p}% a radio costs {c} dollars. "
            "How many dollars did it cost before the discount?",
            "{name} pays {c} dollars for a jacket that is {p} percent off. "
            "What was the full price in dollars?",
            "A shop that opened {z} years ago takes {p}% off the price of a tent, "
            "and now it costs {c} dollars. What was its price in dollars before?",
        ),
        spans(
            lambda n: n["p"] * n["full"] % 100 == 0,
            lambda n: {"c": n["full"] * (100 - n["p"]) // 100},
            p=PERCENTS,
            full=(10, 40, 80, 120, 240, 500),
            z=(2, 9, 15, 20, 30, 60),
        ),
        lambda n: 100 * n["c"] // (100 - n["p"]),
        lambda n: only(range(2000), lambda full: full * n["p"] == 100 * (full - n["c"])),
        dials=ALL_DIALS,
    ),
    Family(
        "savings_plan",
        5,
        (
            "{name} has {a} dollars and saves {b} dollars a week for {c} weeks. "
            "Then {name} spends {p}% of all the money on a phone and buys {d} books at {e} "
            "dollars each. How many dollars are left?",
            "{name} starts with {a} dollars, earns {b} dollars a day for {c} days, "
            "gives {p} percent of the total to {other} and then buys {d} {things} at {e} dollars "
            "each. How many dollars does {name} still have?",
            "A class has {a} dollars. A bake sale brings in {b} dollars an hour for {c} hours. "
            "The class pays {p}% of all its money for the room and then buys {d} games at {e} "
            "dollars each. How many dollars remain?",
        ),
        spans(
            lambda n: (
                n["p"] * (n["a"] + n["b"] * n["c"]) % 100 == 0
                and (n["a"] + n["b"] * n["c"]) * (100 - n["p"]) // 100 > n["d"] * n["e"]
            ),
            a=(10, 20, 40, 60, 90, 150),
            b=(5, 10, 15, 20, 30, 45),
            c=(2, 4, 6, 8, 10, 12),
            p=PERCENTS,
            d=(2, 2, 3, 4, 6, 8),
            e=(2, 5, 6, 9, 12, 14),
        ),
        lambda n: (n["a"] + n["b"] * n["c"]) * (100 - n["p"]) // 100 - n["d"] * n["e"],
        lambda n: (
            hundredths(100 - n["p"], n["a"] + add_up(n["c"], n["b"])) - add_up(n["d"], n["e"])
        ),
        dials=ALL_DIALS,
    ),
)
