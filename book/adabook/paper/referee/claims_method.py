"""What decides on the paper's claims about its method and its theorems.

A function returns a number, the sentence that holds it, and whether it bears our verdict out. The
claims themselves, their places and the verdicts are lines of
``data/simulated/paper_register.jsonl``. What a function looks at is an argument, so that a test can
show it something that flips the verdict.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from adabook.paper import results, settings
from adabook.paper.ablations import LEAKS
from adabook.paper.patterns import nearest_mix
from adabook.paper.referee import measures, rows_method, rows_results, rows_theory
from adabook.paper.referee.measures import MATH, SHOWN, SIMULATED_MATH
from adabook.paper.referee.wording import BOTH, Finding, with_interval
from adabook.paper.settings import (
    BENCHMARKS,
    PAPER,
    PAPER_CLAIMS,
    PAPER_SETTINGS,
    PAPER_WAY,
)
from adalib.evaluate.intervals import in_points
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import archetypes


def method_claim(rows=measures.honest) -> Finding:
    """Decide on the claim "pipeline"."""
    word = rows()["label"]
    ours = [rows(f"{name} held out")["label"] for name in BENCHMARKS]
    gsm, math = map(with_interval, ours)
    says = (
        f"held out at B = 3, imitation gains {with_interval(word)} on our word problems, "
        f"{gsm} on GSM8K, {math} on MATH"
    )
    return word.gain, says, word.gain_low > 0 and all(row.gain_low <= 0 for row in ours)


def fast(seconds=rows_method.seconds_to_train) -> Finding:
    """Decide on the claim "training time"."""
    took = seconds()
    return (
        took,
        f"{took:.2f} seconds of processor time on the machine that built this page",
        took < 1,
    )


def windows_claim(estimates=measures.estimates) -> Finding:
    """Decide on the claim "windows"."""
    windows = estimates("windows")
    subsets = estimates("subsets")
    off = float(windows.mean())
    error = float(windows.mean(axis=1).std() / np.sqrt(len(windows)))
    ratio = float((windows**2).mean() / (subsets**2).mean())
    says = (
        f"off by {off:+.4f} on average at b = 16, with {ratio:.1f} times the variance of all "
        "subsets"
    )
    return ratio, f"{says} (drawn from the answers to MATH)", abs(off) < 4 * error


def upper(samples=48, optimism=measures.optimism) -> Finding:
    """Decide on the claim "oracle as bound"."""
    score = measures.rehearsed(samples)
    truth = measures.like_math().table()
    claimed, worth = (float(value[:, -1].mean()) for value in (score.claimed, score.accuracy))
    best = frontier(truth.acc, truth.cost).at(3).accuracy
    gsm, math = (with_interval(each) for each in optimism().values())
    says = (
        f"claims {claimed:.3f} where the best labels have {best:.3f} (drawn from the answers to "
        "MATH)"
    )
    says += f"; above its worth on other answers by {gsm} on GSM8K, {math} on MATH"
    clear = all(each.low > 0 for each in optimism().values())
    return claimed - best, says, claimed - best > 0.01 and worth < best and clear


def few_trials(trials=measures.trials) -> Finding:
    """Decide on the claim "8 to 16 trials"."""
    votes = trials().loc[16]
    best = trials(True).loc[16]
    says = (
        f"two runs of 16 trials agree on {votes.agree:.2f} of the labels, by best-of-K on "
        f"{best.agree:.2f}"
    )
    says += (
        f"; the commonest label has {votes.common:.2f}; worth {votes.worth:.3f} ± "
        f"{votes.spread:.3f} (MATH)"
    )
    return votes.agree, says, max(votes.agree, best.agree) < 0.9


def one_trial(trials=measures.trials) -> Finding:
    """Decide on the claim "one trial"."""
    one = trials().loc[1]
    says = (
        f"one trial: standard error {one.error:.3f} for a fixed budget; "
        f"its labels claim {one.claimed:.3f}, worth "
    )
    return (
        one.error,
        f"{says}{one.worth:.3f} (MATH, B = 3)",
        one.error < 0.03 < one.claimed - one.worth,
    )


def grading(printed=PAPER) -> Finding:
    """Decide on the claim "base accuracy"."""
    made = PAPER_CLAIMS["elsewhere"][SHOWN]
    first = printed[SHOWN]["main"]["Fixed"]["accuracy"][0]
    spread = np.ptp([printed[name]["per_level"]["2"]["acc1"] for name in SIMULATED_MATH])
    level2 = f"on level 2 three models differ by {spread:.3f}"
    says = f"{first:.3f} printed, {made:.3f} by its makers on MATH-500; {level2}"
    return made - first, says, made - first > 0.2 and spread < 0.02


def stratified(printed=PAPER) -> Finding:
    """Decide on the claim "stratified"."""
    levels = [[cell["acc1"] for cell in printed[n]["per_level"].values()] for n in SIMULATED_MATH]
    overall = [printed[n]["main"]["Fixed"]["accuracy"][0] for n in SIMULATED_MATH]
    counts, error = nearest_mix(levels, overall)
    return (
        error,
        f"the nearest mix of 200, {counts}, misses by {error:.4f}; rounding allows 0.001",
        error > 0.001,
    )


def listed(row=rows_method.features) -> Finding:
    """Decide on the claim "sixteen features"."""
    lacking = int(row().cells[1].ours)
    says = f"{lacking} names in the figure are not in the list; {LEAKS[0]} needs the answer key"
    return lacking, says, lacking > 0


def overhead(seconds=rows_method.seconds_to_route) -> Finding:
    """Decide on the claim "overhead"."""
    took = 1e3 * seconds()
    says = (
        f"reading 15 features and routing takes {took:.2f} ms per question on the machine that "
        "built this page"
    )
    return took, says, took < 1


def seeds(printed=PAPER) -> Finding:
    """Decide on the claim "three seeds"."""
    error = min(float(settings.utility(name).acc[:, 0].std() / np.sqrt(40)) for name in BENCHMARKS)
    spread = max(max(printed[n]["main"]["Ours"]["std"]) for n in PAPER_SETTINGS)
    says = (
        f"40 questions of MATH or GSM8K have a standard error of at least {error:.3f}; printed: "
        f"at most {spread:.3f}"
    )
    return error, says, error > 10 * spread


def worth_claim(names=BENCHMARKS) -> Finding:
    """Decide on the claim "formulation"."""
    found = [measures.oracle_of(name, 2) for name in names]
    least = min(found, key=lambda row: row["gain"])
    ends = [in_points(least[part]) for part in ("gain", "gain_low", "gain_high")]
    says = "cross-fitted, at least {} points [{}, {}] over the best random mix at B = 2 ".format(
        *ends
    )
    five = min(
        row.gain
        for name in BENCHMARKS
        for row in results.recorded_rows(f"{name} held out")
        if (row.policy, row.target) == ("oracle", 2)
    )
    says += (
        f"{BOTH}, with up to 40 answers; with the five budgets of the main table {in_points(five)}"
    )
    return least["gain"], says, least["gain"] > 0.02 and least["gain_low"] > 0


def kinds_claim(names=BENCHMARKS) -> Finding:
    """Decide on the claim "kinds"."""
    kinds = [archetypes(settings.utility(name)) for name in names]
    least = min(
        float(np.mean(k == kind))
        for k in kinds
        for kind in ("easy", "responsive", "diminishing", "hard")
    )
    return (
        least,
        f"the rarest of the four kinds has {least:.0%} of the questions {BOTH}",
        least > 0.05,
    )


def decoupled(row=rows_theory.oracle) -> Finding:
    """Decide on the claim "decoupling"."""
    worst = max(cell.ours for cell in row().cells)
    return worst, f"largest difference from trying all policies: {worst:g}", worst < 1e-9


def single_knob(row=rows_results.known) -> Finding:
    """Decide on the claim "one price"."""
    prices = sum(len(settings.path(name).lam) for name in BENCHMARKS)
    lost = int(row().cells[0].ours)
    return (
        lost,
        f"{lost} of {prices} prices {BOTH} give a policy that another of equal cost beats",
        lost == 0,
    )


def free(printed=PAPER) -> Finding:
    """Decide on the claim "free compute"."""
    cost = printed["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return (
        cost,
        f"the paper's own table prints a cost of {cost:.3f} at the price 0, not 16",
        cost < 15.9,
    )


def leaving(setting="word-fewshot") -> Finding:
    """Decide on the claim "who leaves first"."""
    table = settings.utility(setting)
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return (
        hard,
        f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)",
        hard > 0.3,
    )


def targeting(misses=measures.printed_misses) -> Finding:
    """Decide on the claim "budget targeting"."""
    missed = misses()
    over = sum(miss > 0 for miss in missed)
    most = max(abs(miss) for miss in missed[:9])
    return (
        over,
        f"{over} of 12 printed policies overspend; the largest miss on MATH is {most:.3f}",
        over > 0,
    )


def nine(misses=measures.printed_misses) -> Finding:
    """Decide on the claim "nine of nine"."""
    math = [abs(miss) for miss in misses()[:9]]
    within = sum(miss < 0.05 - 1e-9 for miss in math)
    return (
        within,
        f"{within} of 9 printed misses are below 0.05; the largest is {max(math):.3f}",
        within < 9,
    )


def mixing(misses=measures.mixed_misses) -> Finding:
    """Decide on the claim "mixing"."""
    off = misses()
    return (
        max(off),
        f"largest miss in {len(off)} cases {BOTH}: {max(off):g} (expected cost)",
        max(off) < 1e-9,
    )


def logarithm(budget=8.5) -> Finding:
    """Decide on the claim "logarithmic search"."""
    jump = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2)
    cost = np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, budget).error
    says = (
        f"two equal questions, B = {budget:g}: off by {error:g} after 50 steps, as after any number"
    )
    return error, says, error > 1


def lattice(finer=None) -> Finding:
    """Decide on the claim "plateaus"."""
    half = settings.answers(MATH[0]).split_samples(0)[0]  # 48 answers, as the paper has
    tables = [half.table(**way) for way in (PAPER_WAY, finer or {})]
    widest = [float(np.diff(frontier(table.acc, table.cost).cost).max()) for table in tables]
    says = (
        f"on MATH the widest step is {widest[0]:.2f} with windows of 48 answers, "
        f"{widest[1]:.2f} with all subsets"
    )
    return widest[1] / widest[0], says, widest[1] < 0.7 * widest[0]


def _holds(statement: str, lines: slice, fared=measures.failures) -> Finding:
    """Decide on a statement that is right as printed: it fails nowhere."""
    table = fared(statement)[lines]
    broken = int(table.failures.sum())
    return broken, f"{broken} failures in {table.cases.iloc[0]} random cases", broken == 0


def _fails(statement: str, line: int, fared=measures.failures) -> Finding:
    """Decide on a statement that is not: it fails, and what we put in its place does not."""
    table = fared(statement)
    broken = int(table.failures[line])
    ours = int(table.failures[table.version == "ours"].sum())
    says = (
        f"fails in {broken} of {table.cases[line]} random cases; what we put in its place in {ours}"
    )
    return broken, says, broken > 0 and ours == 0


# The lines of a statement's survey that a claim is about; the printed ones come first.
theorem_1 = partial(_holds, "Theorem 1", slice(1))
weak_duality = partial(_holds, "Weak duality", slice(1))
relaxation = partial(_holds, "Proposition 1", slice(2, 3))
theorem_2 = partial(_holds, "Theorem 2", slice(2))
corollary_1 = partial(_holds, "Corollary 1", slice(1))
theorem_3_1 = partial(_holds, "Theorem 3", slice(1))
proposition_1 = partial(_fails, "Proposition 1", 0)
optimality_condition = partial(_fails, "Optimal price", 0)
theorem_3_2 = partial(_fails, "Theorem 3", 1)


def exact(fared=measures.failures) -> Finding:
    """Decide on the claim "exact solution"."""
    missed = int(fared("Proposition 1").failures[1])
    everett = int(fared("Everett").failures.sum())
    says = (
        f"misses the best policy for B in {missed} of 700 random cases, that for its own cost in "
        f"{everett}"
    )
    return missed, says, missed > 0 and everett == 0


def proportional(compared=measures.on_math) -> Finding:
    """Decide on the claim "proportional"."""
    runs = pd.concat(
        [compared(*way).runs for way in product(("noise", "text"), ("row", "question"))]
    )
    tight = float((runs.regret / runs.largest).mean())
    return (
        tight,
        f"regret is {tight:.0%} of its bound on average over {len(runs)} classifiers on MATH",
        tight < 0.5,
    )


def drawn_claim(lines=measures.lines_passed, fared=measures.failures) -> Finding:
    """Decide on the claim "figure of Theorem 2"."""
    dotted, dashed = lines()
    theorem = fared("Theorem 2")
    broken = int(theorem.failures[:2].sum())
    cases = theorem.cases.iloc[0]
    says = (
        f"of {cases} random cases, accuracy lost passes the dotted line in {dotted} and the "
        f"dashed in {dashed}"
    )
    return (
        dotted,
        f"{says}; regret passes the dotted line in {broken}",
        min(dotted, dashed) > 0 and broken == 0,
    )


def vanishes(copies=measures.perfect_copies) -> Finding:
    """Decide on the claim "vanishing gap"."""
    broken, tried = copies()
    return (
        broken,
        f"a perfect copy breaks the bound in {broken} of {tried} random cases",
        broken > 0,
    )
