"""The question families: short arithmetic stories and computations written for this project.

A family has a level (1 easiest to 4 hardest; 5 in the set `story`, whose families are in the
folder of that name), at least three phrasings, a draw of its numbers that a dial widens (so that
difficulty varies inside a family too), and two independent computations of the answer: `answer` by
formula and `check` by counting things one at a time. `make_questions.py` refuses a question on
which the two disagree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

NAMES = (
    "Ana",
    "Ben",
    "Chloe",
    "Dev",
    "Elif",
    "Femi",
    "Grace",
    "Hugo",
    "Ines",
    "Jun",
    "Kofi",
    "Lena",
    "Mara",
    "Nils",
)
NAMES += ("Omar", "Priya", "Rosa", "Sam", "Tess", "Vera", "Yusuf", "Zoe")
THINGS = (
    "pens",
    "apples",
    "buttons",
    "stamps",
    "marbles",
    "shells",
    "cookies",
    "beads",
    "stickers",
    "candles",
    "coins",
)
THINGS += ("tomatoes", "cards", "nails", "eggs", "lemons")

Numbers = dict[str, int]


@dataclass(frozen=True)
class Family:
    """One kind of question: its wording, the draw of its numbers, and its answer computed twice."""

    name: str
    level: int
    phrasings: tuple[str, ...]
    draw: Callable[[Random, int], Numbers]
    answer: Callable[[Numbers], int | Fraction]
    check: Callable[[Numbers], int | Fraction]
    per_dial: int = 4  # questions drawn at each dial
    dials: tuple[int, ...] = (0, 1, 2)


def _pair(
    low: int,
    highs: tuple[int, int, int],
    low_b: int | None = None,
    highs_b: tuple[int, int, int] | None = None,
):
    """Draw a and b uniformly, each from its low to the high of the dial."""

    def draw(rng: Random, dial: int) -> Numbers:
        first = rng.randint(low, highs[dial])
        return {
            "a": first,
            "b": rng.randint(low if low_b is None else low_b, (highs_b or highs)[dial]),
        }

    return draw


def _count_product(n: Numbers) -> int:
    return sum(1 for _ in range(n["a"]) for _ in range(n["b"]))


def _times(
    name: str,
    level: int,
    highs_a: tuple[int, int, int],
    highs_b: tuple[int, int, int],
    *phrasings: str,
) -> Family:
    """A story whose answer is a times b; checked by counting the objects one by one."""
    return Family(
        name,
        level,
        phrasings,
        _pair(2, highs_a, 2, highs_b),
        lambda n: n["a"] * n["b"],
        _count_product,
    )


def _by_constant(
    name: str, level: int, constant: int, highs: tuple[int, int, int], *phrasings: str
) -> Family:
    """A story that multiplies a by a constant the reader must know, such as days in a week.

    Repeated addition checks the answer.
    """
    return Family(
        name,
        level,
        phrasings,
        lambda rng, dial: {"a": rng.randint(2, highs[dial])},
        lambda n: n["a"] * constant,
        lambda n: sum([constant] * n["a"]),
    )


def _count_up(start: int, steps: int) -> int:
    for _ in range(steps):
        start += 1
    return start


def _count_down(start: int, steps: int) -> int:
    for _ in range(steps):
        start -= 1
    return start


def _whole_and_part(highs: tuple[int, int, int]):
    """Draw a whole a and a smaller part b."""

    def draw(rng: Random, dial: int) -> Numbers:
        whole = rng.randint(5, highs[dial])
        return {"a": whole, "b": rng.randint(1, whole - 1)}

    return draw


def _divisible(highs_b: tuple[int, int, int], highs_share: tuple[int, int, int]):
    """Draw a = b times a whole share, so that a divides evenly by b."""

    def draw(rng: Random, dial: int) -> Numbers:
        b = rng.randint(2, highs_b[dial])
        return {"a": b * rng.randint(2, highs_share[dial]), "b": b}

    return draw


def _count_shares(n: Numbers) -> int:
    left = n["a"]
    shares = 0
    while left >= n["b"]:
        left = left - n["b"]
        shares = shares + 1
    return shares


def _triple(highs: tuple[int, int, int]):
    def draw(rng: Random, dial: int) -> Numbers:
        return {key: rng.randint(2, highs[dial]) for key in "abc"}

    return draw


def _packs_then_minus(rng: Random, dial: int) -> Numbers:
    a = rng.randint(2, (4, 7, 11)[dial])
    b = rng.randint(2, (5, 9, 12)[dial])
    return {"a": a, "b": b, "c": rng.randint(1, a * b - 1)}


def _bill_and_change(rng: Random, dial: int) -> Numbers:
    bill = (20, 50, 100)[dial]
    a = rng.randint(2, (4, 6, 9)[dial])
    return {"a": a, "b": rng.randint(2, bill // a - 1), "c": bill}


def _percent(rng: Random, dial: int) -> Numbers:
    percent = rng.choice(((10, 50), (10, 20, 25, 50), (5, 15, 20, 30, 40, 75))[dial])
    return {"a": percent, "b": 20 * rng.randint(1, (5, 10, 20)[dial])}


WORD: tuple[Family, ...] = (
    _times(
        "boxes",
        1,
        (5, 9, 12),
        (6, 9, 12),
        "Each box holds {a} {things}. {name} has {b} boxes. How many {things} does {name} have?",
        "{name} fills {b} boxes and puts {a} {things} in each box. "
        "How many {things} are there in all?",
        "There are {b} boxes on a shelf with {a} {things} in every box. "
        "How many {things} are on the shelf?",
    ),
    _times(
        "packs",
        1,
        (5, 9, 12),
        (6, 9, 12),
        "A pack of {things} costs {a} dollars. {name} buys {b} packs. "
        "How many dollars does {name} pay?",
        "{name} buys {b} packs of {things} at {a} dollars a pack. How many dollars is that?",
        "How many dollars do {b} packs of {things} cost if one pack costs {a} dollars?",
    ),
    _times(
        "pages",
        1,
        (6, 9, 12),
        (5, 8, 12),
        "{name} reads {a} pages a day. How many pages does {name} read in {b} days?",
        "In {b} days, reading {a} pages every day, how many pages does {name} read?",
        "{name} reads {a} pages each evening for {b} evenings. How many pages is that?",
    ),
    _times(
        "rows",
        1,
        (6, 9, 12),
        (5, 8, 12),
        "A hall has {b} rows of chairs with {a} chairs in each row. "
        "How many chairs are in the hall?",
        "{name} sets out {b} rows of {a} chairs. How many chairs are there?",
        "There are {a} chairs in every row and {b} rows. How many chairs are there in total?",
    ),
    _times(
        "teams",
        1,
        (5, 9, 12),
        (6, 9, 12),
        "There are {b} teams with {a} players in each team. How many players are there?",
        "A school has {b} teams. Each team has {a} players. How many players does the school have?",
        "{name} makes {b} teams of {a} players. How many players is that in all?",
    ),
    _times(
        "trees",
        1,
        (5, 9, 12),
        (6, 9, 12),
        "{name} plants {b} rows of trees with {a} trees in each row. "
        "How many trees does {name} plant?",
        "A farm has {b} rows of {a} trees. How many trees are on the farm?",
        "Each row has {a} trees. There are {b} rows. How many trees are there?",
    ),
    _times(
        "saving",
        1,
        (5, 9, 12),
        (6, 9, 12),
        "{name} saves {a} dollars a week. How many dollars does {name} save in {b} weeks?",
        "{name} puts {a} dollars in a jar every week for {b} weeks. "
        "How many dollars are in the jar?",
        "How many dollars does {name} save in {b} weeks at {a} dollars a week?",
    ),
    _times(
        "bags",
        1,
        (5, 9, 12),
        (6, 9, 12),
        "A bag holds {a} kilograms of rice. How many kilograms are in {b} bags?",
        "{name} carries {b} bags of rice. Each bag holds {a} kilograms. "
        "How many kilograms is that?",
        "One bag of rice weighs {a} kilograms. {name} buys {b} bags. "
        "How many kilograms does {name} buy?",
    ),
    _times(
        "laps",
        2,
        (6, 10, 15),
        (5, 8, 12),
        "{name} swims {a} laps a day. How many laps does {name} swim in {b} days?",
        "{name} runs {a} laps every morning for {b} mornings. How many laps is that?",
        "In {b} days {name} runs {a} laps each day. How many laps does {name} run?",
    ),
    _times(
        "wages",
        2,
        (8, 11, 15),
        (5, 8, 10),
        "{name} earns {a} dollars an hour. How many dollars does {name} earn in {b} hours?",
        "{name} works {b} hours at {a} dollars an hour. How many dollars does {name} earn?",
        "A job pays {a} dollars per hour. {name} works for {b} hours. "
        "How many dollars is {name} paid?",
    ),
    _times(
        "speed",
        2,
        (9, 12, 20),
        (4, 6, 9),
        "A cyclist rides {a} miles every hour. How many miles does she ride in {b} hours?",
        "{name} rides a bike at {a} miles per hour for {b} hours. How many miles is that?",
        "At {a} miles an hour, how many miles does {name} travel in {b} hours?",
    ),
    _times(
        "rectangle",
        2,
        (5, 9, 13),
        (6, 10, 15),
        "A rectangle is {a} cm wide and {b} cm long. What is its area in square cm?",
        "{name} paints a wall that is {a} meters high and {b} meters long. "
        "How many square meters is the wall?",
        "A garden is {b} meters long and {a} meters wide. "
        "What is the area of the garden in square meters?",
    ),
    Family(
        "square",
        2,
        (
            "A square tile has sides of {a} cm. What is its area in square cm?",
            "What is the area of a square room with sides of {a} meters, in square meters?",
            "{name} draws a square with sides of {a} cm. How many square cm does it cover?",
        ),
        lambda rng, dial: {"a": rng.randint(2, (8, 14, 22)[dial])},
        lambda n: n["a"] ** 2,
        lambda n: sum(2 * i + 1 for i in range(n["a"])),
    ),
    _by_constant(
        "weeks",
        3,
        7,
        (5, 10, 20),
        "How many days are there in {a} weeks?",
        "{name} is away for {a} weeks. How many days is that?",
        "A trip takes {a} weeks. How many days does the trip take?",
    ),
    _by_constant(
        "dozens",
        3,
        12,
        (5, 9, 15),
        "{name} buys {a} dozen eggs. How many eggs is that?",
        "How many eggs are there in {a} dozen?",
        "A baker sells {a} dozen rolls. How many rolls does the baker sell?",
    ),
    _by_constant(
        "nickels",
        2,
        5,
        (9, 15, 30),
        "A nickel is worth 5 cents. How many cents are {a} nickels worth?",
        "{name} has {a} nickels, and each nickel is 5 cents. How many cents does {name} have?",
        "How many cents does {name} get for {a} nickels at 5 cents each?",
    ),
    _by_constant(
        "legs",
        1,
        4,
        (6, 10, 20),
        "A table has 4 legs. How many legs do {a} tables have?",
        "There are {a} dogs in the yard and each dog has 4 legs. How many legs are there?",
        "{name} builds {a} chairs with 4 legs each. How many legs does {name} need?",
    ),
    _by_constant(
        "twice",
        1,
        2,
        (8, 15, 40),
        "{name} has {a} {things}. {other} has twice as many. How many {things} does {other} have?",
        "{other} has two times as many {things} as {name}. {name} has {a} {things}. "
        "How many does {other} have?",
        "{name} picks {a} {things} and {other} picks double that. "
        "How many {things} does {other} pick?",
    ),
    _by_constant(
        "thrice",
        1,
        3,
        (8, 14, 25),
        "{name} has {a} {things}. {other} has three times as many. "
        "How many {things} does {other} have?",
        "{name} picks {a} {things} and {other} picks three times that many. "
        "How many {things} does {other} pick?",
        "A triangle has 3 sides. {name} draws {a} triangles. How many sides does {name} draw?",
    ),
    _by_constant(
        "wheels",
        2,
        4,
        (7, 12, 25),
        "A car has 4 wheels. How many wheels do {a} cars have?",
        "{name} washes {a} cars. Each car has 4 wheels. How many wheels is that?",
        "There are {a} cars with 4 wheels each in the street. How many wheels are there?",
    ),
    Family(
        "join",
        1,
        (
            "{name} has {a} {things} and gets {b} more. How many {things} does {name} have now?",
            "{name} has {a} {things}. {other} gives {name} {b} {things}. "
            "How many {things} does {name} have?",
            "There are {a} {things} in a bag and {b} {things} on the table. "
            "How many {things} are there in all?",
        ),
        _pair(2, (9, 30, 80)),
        lambda n: n["a"] + n["b"],
        lambda n: _count_up(n["a"], n["b"]),
    ),
    Family(
        "ages",
        2,
        (
            "{name} is {a} years old. {other} is {b} years older than {name}. How old is {other}?",
            "{other} is {b} years older than {name}, who is {a}. How old is {other}?",
            "{name} is {a} years old now. How old will {name} be in {b} years?",
        ),
        _pair(3, (12, 30, 60), 2, (9, 15, 25)),
        lambda n: n["a"] + n["b"],
        lambda n: _count_up(n["b"], n["a"]),
    ),
    Family(
        "give",
        2,
        (
            "{name} has {a} {things} and gives {b} away. How many {things} are left?",
            "{name} had {a} {things} and lost {b} of them. How many {things} does {name} have now?",
            "There were {a} {things} on a plate. {name} took {b}. "
            "How many {things} are still on the plate?",
        ),
        _whole_and_part((10, 30, 90)),
        lambda n: n["a"] - n["b"],
        lambda n: _count_down(n["a"], n["b"]),
    ),
    Family(
        "half",
        3,
        (
            "{name} has {a} {things} and gives half of them to {other}. "
            "How many {things} does {other} get?",
            "What is half of {a}?",
            "Half of the {a} {things} in a box are red. How many red {things} are there?",
        ),
        lambda rng, dial: {"a": 2 * rng.randint(2, (8, 25, 60)[dial])},
        lambda n: n["a"] // 2,
        lambda n: len(range(0, n["a"], 2)),
    ),
    Family(
        "share",
        3,
        (
            "{name} shares {a} {things} equally among {b} friends. "
            "How many {things} does each friend get?",
            "{a} {things} are split into {b} equal groups. How many {things} are in each group?",
            "{b} children share {a} {things} equally. How many {things} does each child get?",
        ),
        _divisible((4, 7, 10), (6, 9, 14)),
        lambda n: n["a"] // n["b"],
        _count_shares,
    ),
    Family(
        "percent",
        3,
        (
            "What is {a} percent of {b}?",
            "{name} scores {a}% of {b} points. How many points is that?",
            "A shop has {b} {things} and sells {a}% of them. How many {things} does it sell?",
        ),
        _percent,
        lambda n: n["a"] * n["b"] // 100,
        # Walk through the b things and take one each time the running share passes a whole number.
        lambda n: sum(
            (i * n["a"]) // 100 > ((i - 1) * n["a"]) // 100 for i in range(1, n["b"] + 1)
        ),
    ),
    Family(
        "shelves",
        4,
        (
            "A room has {a} shelves. Each shelf has {b} boxes and each box holds {c} {things}. "
            "How many {things} are there?",
            "{name} has {a} bags with {b} packs in each bag and {c} {things} in each pack. "
            "How many {things} is that?",
            "There are {a} trays, {b} plates on each tray and {c} {things} on each plate. "
            "How many {things} are there?",
        ),
        _triple((3, 5, 8)),
        lambda n: n["a"] * n["b"] * n["c"],
        lambda n: sum(1 for _ in range(n["a"]) for _ in range(n["b"]) for _ in range(n["c"])),
    ),
    Family(
        "times_minus",
        4,
        (
            "{name} buys {a} bags of {b} {things} and eats {c}. How many {things} are left?",
            "{name} has {a} boxes with {b} {things} in each and gives {c} {things} away. "
            "How many {things} are left?",
            "There are {a} rows of {b} {things}. {name} takes {c} of them. "
            "How many {things} remain?",
        ),
        _packs_then_minus,
        lambda n: n["a"] * n["b"] - n["c"],
        lambda n: _count_down(_count_product(n), n["c"]),
    ),
    Family(
        "change",
        4,
        (
            "{name} buys {a} toys at {b} dollars each and pays with a {c} dollar bill. "
            "How many dollars of change is that?",
            "One ticket costs {b} dollars. {name} buys {a} tickets and pays {c} dollars. "
            "How many dollars does {name} get back?",
            "{name} has {c} dollars and buys {a} {things} at {b} dollars each. "
            "How many dollars are left?",
        ),
        _bill_and_change,
        lambda n: n["c"] - n["a"] * n["b"],
        lambda n: _count_down(n["c"], _count_product(n)),
    ),
    Family(
        "remainder",
        4,
        (
            "{name} packs {a} {things} into boxes of {b}. How many {things} are left over?",
            "What is the remainder when {a} is divided by {b}?",
            "{a} {things} are shared equally among {b} children. How many {things} are left over?",
        ),
        lambda rng, dial: {
            "a": rng.randint(11, (20, 50, 99)[dial]),
            "b": rng.randint(3, (5, 8, 10)[dial]),
        },
        lambda n: n["a"] % n["b"],
        lambda n: n["a"] - n["b"] * _count_shares(n),
    ),
    _by_constant(
        "minutes",
        3,
        60,
        (3, 6, 12),
        "How many minutes are there in {a} hours?",
        "A film lasts {a} hours. How many minutes is that?",
        "{name} sleeps for {a} hours. How many minutes does {name} sleep?",
    ),
)

DRILL: tuple[Family, ...] = (
    Family(
        "product",
        1,
        ("What is {a} times {b}?", "{a} x {b} = ?", "Multiply {a} by {b}."),
        _pair(2, (5, 7, 9)),
        lambda n: n["a"] * n["b"],
        _count_product,
        per_dial=24,
    ),
    Family(
        "sum",
        1,
        ("What is {a} plus {b}?", "{a} + {b} = ?", "Add {a} and {b}."),
        _pair(1, (5, 7, 9)),
        lambda n: n["a"] + n["b"],
        lambda n: _count_up(n["a"], n["b"]),
        per_dial=24,
    ),
    Family(
        "tens",
        1,
        ("What is 10 times {a}?", "10 x {a} = ?", "Multiply {a} by 10."),
        lambda rng, dial: {"a": rng.randint(2, (9, 12, 19)[dial])},
        lambda n: 10 * n["a"],
        lambda n: int(f"{n['a']}0"),
        per_dial=8,
    ),
)
