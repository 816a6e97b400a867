"""How fast answers are compared: 240 questions with 48 LaTeX answers each, many of them equal in
another form.

Run with ``python benchmarks/bench_judge.py``. It prints answers per second, what was given up (the
same in two runs that share nothing) and, on some of the questions, how much dearer it is to compare
every pair on its own.
"""

from __future__ import annotations

import random
import time

from adalib.vote.answers import answer_classes, judged, same_answer
from adalib.vote.judge import read

QUESTIONS = 240
SAMPLES = 48
PAIRWISE = 3


def main() -> None:
    """Print the three figures."""
    questions = [question(random.Random(seed)) for seed in range(QUESTIONS)]
    first, seconds = timed(questions)
    again, _ = timed(questions[::-1])
    given_up = [limits for _, limits in first]
    assert [classes.tolist() for classes, _ in first] == [
        classes.tolist() for classes, _ in again[::-1]
    ]
    assert given_up == [limits for _, limits in again[::-1]]
    print(
        f"{QUESTIONS * SAMPLES / seconds:,.0f} answers per second ({QUESTIONS} x {SAMPLES} in "
        f"{seconds:.1f} s)"
    )
    print(f"{sum(map(len, given_up))} formulas given up, the same in both runs: {limits(given_up)}")
    read.cache_clear()
    some = questions[:PAIRWISE]
    begun = time.process_time()
    for row in some:
        answer_classes(row)
    grouped = time.process_time() - begun
    begun = time.process_time()
    for row in some:
        for i, one in enumerate(row):
            for other in row[:i]:
                read.cache_clear()
                same_answer(one, other)
    print(
        f"{(time.process_time() - begun) / grouped:,.0f} times the work when every pair is read "
        "and compared"
    )


def timed(questions: list[list[str]]) -> tuple[list, float]:
    """The classes and what was given up, from a cold start, and the seconds of computing."""
    read.cache_clear()
    begun = time.process_time()
    found = [judged(row) for row in questions]
    return found, time.process_time() - begun


def limits(given_up: list[dict[str, str]]) -> dict[str, int]:
    """How often each limit was met."""
    every = [limit for row in given_up for limit in row.values()]
    return {limit: every.count(limit) for limit in sorted(set(every))}


def question(rng: random.Random) -> list[str]:
    """The answers to one question: one kind, a few values, each in several forms."""
    write = rng.choice([fraction, root, interval, matrix, finite_set, polynomial, word, hostile])
    values = [rng.randint(2, 40) for _ in range(6)]
    return [write(rng.choice(values), rng.randrange(3)) for _ in range(SAMPLES)]


def fraction(n: int, form: int) -> str:
    """n / (n + 1) of pi."""
    return [
        rf"\frac{{{n}\pi}}{{{n + 1}}}",
        rf"\frac{{{2 * n}}}{{{2 * n + 2}}}\pi",
        rf"\pi-\frac{{\pi}}{{{n + 1}}}",
    ][form]


def root(n: int, form: int) -> str:
    """n times the root of two, and one."""
    return [rf"{n}\sqrt{{2}}+1", rf"1+\sqrt{{{2 * n * n}}}", rf"\frac{{{2 * n}}}{{\sqrt{{2}}}}+1"][
        form
    ]


def interval(n: int, form: int) -> str:
    """From -n to the root of n, and beyond n."""
    low = f"({-n},\\sqrt{{{n}}}]"
    high = rf"({n},\infty)"
    return [
        rf"{low}\cup{high}",
        rf"{high}\cup{low}",
        rf"({-n},\frac{{{n}}}{{\sqrt{{{n}}}}}]\cup{high}",
    ][form]


def matrix(n: int, form: int) -> str:
    """A column of two."""
    entries = [
        (f"{n}", rf"\frac{{1}}{{{n}}}"),
        (f"{n}", f"{n}^{{-1}}"),
        (rf"\sqrt{{{n * n}}}", rf"\frac{{2}}{{{2 * n}}}"),
    ]
    return rf"\begin{{pmatrix}}{entries[form][0]}\\{entries[form][1]}\end{{pmatrix}}"


def finite_set(n: int, form: int) -> str:
    """Three numbers."""
    return [
        rf"\{{{n},\pi,-\sqrt{{{n}}}\}}",
        rf"\{{\pi,-\sqrt{{{n}}},{n}\}}",
        rf"\pi,{n},-\frac{{{n}}}{{\sqrt{{{n}}}}}",
    ][form]


def polynomial(n: int, form: int) -> str:
    """A square in two variables."""
    return [f"(x+{n}y)^{{2}}", f"x^2+{2 * n}xy+{n * n}y^2", f"x(x+{2 * n}y)+({n}y)^2"][form]


def word(n: int, form: int) -> str:
    """A text."""
    return [rf"\text{{Route {n}}}", f"route {n}", f"Route {n}."][form]


def hostile(n: int, form: int) -> str:
    """What must be given up, and a plain answer."""
    return [f"{n}^{{9^{{9^{{9}}}}}}+x", rf"\sum_{{k=1}}^{{{n}}}k^x", f"{n}x"][form]


if __name__ == "__main__":
    main()
