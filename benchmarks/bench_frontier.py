"""How fast is the exact frontier, next to a bisection for one budget and to a general LP code?

Tables of every kind, all with five budgets. "counted" is what the book works with: accuracies
counted from 48 sampled answers per question, so that many prices coincide. "random" is harder on a
sort: uniform numbers, no two prices the same. Strictly concave and straight rows have the most
steps, four a row; rows with costs of their own, as numbers or as whole tokens, carry those through
the sort. Both sides of a ratio take turns in this process and the best round of each counts. Times
are wall clock; the ratio of processor times stands beside that of wall clocks: a busy machine
disturbs it less.

    python benchmarks/bench_frontier.py
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from timing import best_seconds, in_a_process, report

from adabook.highs import lp_solution
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier

COST = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
BUDGET = 2.0


def counted(n: int, seed: int = 0) -> np.ndarray:
    """Accuracies of a majority vote, from disjoint windows of 48 answers; question i is right with
    chance p_i."""
    rng = np.random.default_rng(seed)
    acc = np.empty((n, COST.size))
    for begin in range(0, n, 50_000):
        rows = slice(begin, min(begin + 50_000, n))
        right = rng.random((rows.stop - begin, 48)) < rng.beta(0.4, 0.4, (rows.stop - begin, 1))
        for j, b in enumerate(COST.astype(int)):
            votes = right.reshape(-1, 48 // b, b).sum(axis=2)
            acc[rows, j] = ((votes > b / 2) + 0.5 * (votes == b / 2)).mean(axis=1)
    return acc


def uniform(n: int, seed: int = 0) -> np.ndarray:
    """Uniform accuracies."""
    return np.random.default_rng(seed).random((n, COST.size))


def race(
    slow: Callable, fast: Callable, rounds: int, fast_calls: int = 1
) -> tuple[float, float, float, float]:
    """Best wall and processor seconds of one call, of each side: they take turns."""
    turns = [(*best_seconds(slow, 1), *best_seconds(fast, fast_calls)) for _ in range(rounds)]
    wall_slow, cpu_slow, wall_fast, cpu_fast = (min(column) for column in zip(*turns, strict=True))
    return wall_slow, cpu_slow, wall_fast, cpu_fast


def every_kind(n: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, accuracies and costs of a table of each kind, made when it is asked for."""
    rng = np.random.default_rng(0)
    yield "counted", counted(n), COST
    yield "random", uniform(n), COST
    slopes = -np.sort(-rng.random((n, COST.size)), axis=1)
    yield "strictly concave", np.cumsum(slopes * np.diff(COST, prepend=0), axis=1) / COST[-1], COST
    yield "straight", rng.random((n, 1)) * COST / COST[-1], COST
    yield "falling", -np.sort(-rng.random((n, COST.size)), axis=1), COST
    yield "few values", rng.integers(0, 5, (n, COST.size)) / 4, COST
    yield "equal costs", rng.random((n, COST.size)), np.array([1.0, 1.0, 2.0, 2.0, 4.0])
    yield (
        "own costs",
        rng.random((n, COST.size)),
        np.cumsum(rng.uniform(0, 2, (n, COST.size)), axis=1),
    )
    tokens = np.sort(rng.integers(0, 400, (n, COST.size)), axis=1).astype(float)
    yield "own costs, tokens", rng.integers(0, 9, (n, COST.size)) / 8, tokens


def bisection_rows(rounds: int, n: int) -> None:
    for name, acc, cost in every_kind(n):
        found = frontier(acc, cost)
        budget = (
            min(BUDGET, (found.cost[0] + found.cost[-1]) / 2)
            if cost.ndim == 1
            else found.cost[[0, -1]].mean()
        )

        def one(acc: np.ndarray = acc, cost: np.ndarray = cost, budget: float = budget) -> None:
            bisect(acc, cost, budget)

        best = race(one, lambda acc=acc, cost=cost: frontier(acc, cost), rounds, 3)
        line(f"N={n:,} {name}: 50-step bisection, one budget", best, "at least 10")


def lp_rows(rounds: int) -> None:
    for name, make in (("counted", counted), ("random", uniform)):
        acc = make(5_000)
        solvers = {"HiGHS LP": lp_solution, "HiGHS LP by interior point": interior_point}
        for solver, solve in solvers.items():
            best = race(
                lambda s=solve, a=acc: s(a, COST, BUDGET),
                lambda a=acc: frontier(a, COST),
                rounds,
                20,
            )
            line(
                f"N=5,000 {name}: {solver}, one budget",
                best,
                "at least 1,000" if solve is lp_solution else "",
            )


def interior_point(acc: np.ndarray, cost: np.ndarray, budget: float) -> None:
    """The method of HiGHS that suits this problem best, although `linprog` does not choose it by
    itself."""
    n, k = acc.shape
    one_each = csr_array(
        (np.ones(n * k), np.arange(n * k), np.arange(0, n * k + 1, k)), shape=(n, n * k)
    )
    spent = csr_array(np.tile(cost, n)[None, :])
    linprog(
        -acc.ravel(),
        A_ub=spent,
        b_ub=[n * budget],
        A_eq=one_each,
        b_eq=np.ones(n),
        method="highs-ipm",
    )


def line(what: str, best: tuple[float, float, float, float], target: str) -> None:
    wall_slow, cpu_slow, wall_fast, cpu_fast = best
    print(
        f"{what:<58}{1e3 * wall_slow:>11,.1f}{1e3 * wall_fast:>11,.2f}"
        f"{wall_slow / wall_fast:>10,.1f}"
        f"{cpu_slow / cpu_fast:>10,.1f}  {target}",
        flush=True,
    )


def growth_rows(sizes: list[int]) -> None:
    print(
        f"\n{'growth, random table':<58}{'ms':>11}{'ns/(N ln N)':>13}{'peak MB':>10}  at most "
        "4,096 MB, ns not growing"
    )
    for n in sizes:
        if took := in_a_process(__file__, "--grow", n):
            ms = 1e3 * took["cpu"]
            each = 1e9 * took["cpu"] / n / math.log(n)
            print(f"{f'N={n:,}':<58}{ms:>11,.1f}{each:>13.2f}{took['peak']:>10,.0f}", flush=True)


def grow(n: int) -> None:
    """Report the processor seconds of one frontier, the best of three, and the peak memory."""
    acc = uniform(n)
    report(cpu=best_seconds(lambda: frontier(acc, COST), 3)[1])


def lookup_rows() -> None:
    print(
        f"\n{'one .at(B) after the build, labels not touched':<58}"
        f"{'microseconds (median of 2,000)':>34}  at most 50"
    )
    for name, make in (("counted", counted), ("random", uniform)):
        found = frontier(make(1_000_000), COST)
        times = []
        for budget in np.random.default_rng(1).uniform(1, found.cost[-1], 2_000):
            start = time.perf_counter()
            found.at(budget)
            times.append(time.perf_counter() - start)
        print(f"{f'N=1,000,000 {name}':<58}{1e6 * statistics.median(times):>34.1f}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument(
        "--rows", type=int, default=1_000_000, help="rows of the tables of every kind"
    )
    parser.add_argument("--grow", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.grow:
        grow(args.grow)
        return
    heads = ("other, ms", "ours, ms", "ratio", "CPU ratio")
    print(
        f"{'the whole frontier against':<58}"
        f"{heads[0]:>11}{heads[1]:>11}{heads[2]:>10}{heads[3]:>10}  target"
    )
    bisection_rows(args.rounds, args.rows)
    lp_rows(args.rounds)
    growth_rows(args.sizes)
    lookup_rows()


if __name__ == "__main__":
    main()
