"""What decides on the paper's claims about its method and its theorems.

A function returns a number, the sentence that holds it, and what must be so for our verdict to
hold. The claims themselves, their places and the verdicts are lines of
``data/simulated/paper_register.jsonl``.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from adabook.paper import results, settings
from adabook.paper.ablations import LEAKS
from adabook.paper.patterns import nearest_mix
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
from referee import measures, rows_method, rows_results, rows_theory
from referee.measures import MATH, SHOWN, SIMULATED_MATH, STRONG
from referee.wording import BOTH, Evidence, check, finding, with_interval


def method_claim() -> Evidence:
    """Decide on the claim "pipeline"."""
    word = measures.honest()["label"]
    ours = [measures.honest(f"{name} held out")["label"] for name in BENCHMARKS]
    gsm, math = map(with_interval, ours)
    strong = measures.worth_of(STRONG, "label")
    spent = [f"{row.cost:.1f} answers spent" for row in (word, *ours)]
    says = (
        f"held out at B = 3, imitation over the best mix: {with_interval(strong)} with GPT-4o-mini "
        f"on GSM8K ({measures.spent_by(STRONG, 'label'):.1f} answers spent), {with_interval(word)} "
        f"on our word problems ({spent[0]}); with our 1.5B model and 240 training questions {gsm} "
        f"on GSM8K ({spent[1]}), {math} on MATH ({spent[2]})"
    )
    return finding(
        strong.mean,
        says,
        check("lower end of the gain, GPT-4o-mini", strong.low, ">", 0),
        check("lower end of the gain on word problems", word.gain_low, ">", 0),
        check("highest lower end, 1.5B on the benchmarks", max(r.gain_low for r in ours), "<=", 0),
    )


def fast() -> Evidence:
    """Decide on the claim "training time"."""
    took = rows_method.seconds_to_train()
    return finding(
        took,
        f"{took:.2f} seconds of processor time on the machine that recorded this",
        check("seconds", took, "<", 1),
    )


def windows_claim() -> Evidence:
    """Decide on the claim "windows"."""
    windows = measures.estimates("windows")
    subsets = measures.estimates("subsets")
    off = float(windows.mean())
    error = float(windows.mean(axis=1).std() / np.sqrt(len(windows)))
    ratio = float((windows**2).mean() / (subsets**2).mean())
    says = (
        f"off by {off:+.4f} on average at b = 16, with {ratio:.1f} times the variance of all "
        "subsets"
    )
    return finding(
        ratio,
        f"{says} (drawn from the answers to MATH)",
        check("mean error in standard errors", abs(off) / error, "<", 4),
    )


def upper(samples=48) -> Evidence:
    """Decide on the claim "oracle as bound"."""
    score = measures.rehearsed(samples)
    truth = measures.like_math().table()
    claimed, worth = (float(value[:, -1].mean()) for value in (score.claimed, score.accuracy))
    best = frontier(truth.acc, truth.cost).at(3).accuracy
    gsm, math = (with_interval(each) for each in measures.optimism().values())
    says = (
        f"claims {claimed:.3f} where the best labels score {best:.3f} (drawn from the answers to "
        "MATH)"
    )
    says += f"; above its score on other answers by {gsm} on GSM8K, {math} on MATH"
    lowest = min(each.low for each in measures.optimism().values())
    return finding(
        claimed - best,
        says,
        check("claim minus the best labels", claimed - best, ">", 0.01),
        check("worth minus the best labels", worth - best, "<", 0),
        check("lowest end of the optimism on the benchmarks", lowest, ">", 0),
    )


def few_trials() -> Evidence:
    """Decide on the claim "8 to 16 trials"."""
    votes = measures.trials().loc[16]
    best = measures.trials(True).loc[16]
    says = (
        f"two runs of 16 trials agree on {votes.agree:.2f} of the labels, by best-of-K on "
        f"{best.agree:.2f}"
    )
    says += (
        f"; the commonest label has {votes.common:.2f}; they score {votes.worth:.3f} ± "
        f"{votes.spread:.3f} (MATH)"
    )
    return finding(
        votes.agree,
        says,
        check("largest agreement of two runs", max(votes.agree, best.agree), "<", 0.9),
    )


def one_trial() -> Evidence:
    """Decide on the claim "one trial"."""
    one = measures.trials().loc[1]
    says = (
        f"one trial: standard error {one.error:.3f} for a fixed budget; "
        f"its labels claim {one.claimed:.3f} and score "
    )
    return finding(
        one.error,
        f"{says}{one.worth:.3f} (MATH, B = 3)",
        check("standard error of a fixed budget", one.error, "<", 0.03),
        check("claim minus worth of the labels", one.claimed - one.worth, ">", 0.03),
    )


def grading() -> Evidence:
    """Decide on the claim "base accuracy"."""
    found = measures.counted_levels()
    lead = found.one - found.printed
    spread = np.ptp([PAPER[name]["per_level"]["2"]["acc1"] for name in SIMULATED_MATH])
    ours, printed = (
        ", ".join(f"{value:.3f}" for value in found[key]) for key in ("one", "printed")
    )
    made = PAPER_CLAIMS["elsewhere"][SHOWN]
    first = PAPER[SHOWN]["main"]["Fixed"]["accuracy"][0]
    says = (
        f"one answer of Qwen2.5-7B on levels 2, 3, 4 of MATH: {printed} printed, {ours} as counted "
        f"by others; DeepSeek-V3: {first:.3f} printed, {made:.3f} by its makers on MATH-500; on "
        f"level 2 the three printed models differ by {spread:.3f}"
    )
    return finding(
        lead.max(),
        says,
        check("reported elsewhere minus printed", made - first, ">", 0.2),
        check("least lead of the counts over the print", lead.min(), ">", 0.1),
        check("spread of three models on level 2", spread, "<", 0.02),
    )


def stratified() -> Evidence:
    """Decide on the claim "stratified"."""
    levels = [[cell["acc1"] for cell in PAPER[n]["per_level"].values()] for n in SIMULATED_MATH]
    overall = [PAPER[n]["main"]["Fixed"]["accuracy"][0] for n in SIMULATED_MATH]
    counts, error = nearest_mix(levels, overall)
    return finding(
        error,
        f"the nearest mix of 200, {counts}, misses by {error:.4f}; rounding allows 0.001",
        check("miss of the nearest mix", error, ">", 0.001),
    )


def listed() -> Evidence:
    """Decide on the claim "sixteen features"."""
    lacking = int(rows_method.features().cells[1].ours)
    says = f"{lacking} names in the figure are not in the list; {LEAKS[0]} needs the answer key"
    return finding(lacking, says, check("names that the list lacks", lacking, ">", 0))


def overhead() -> Evidence:
    """Decide on the claim "overhead"."""
    took = 1e3 * rows_method.seconds_to_route()
    says = (
        f"reading 15 features and routing takes {took:.2f} ms per question on the machine that "
        "recorded this"
    )
    return finding(took, says, check("milliseconds per question", took, "<", 1))


def seeds() -> Evidence:
    """Decide on the claim "three seeds"."""
    first = settings.utility(STRONG).acc[:, 0]
    right = PAPER["deepseek-v3-gsm8k"]["main"]["Fixed"]["accuracy"][0]  # the highest in print
    tossed = np.sqrt(right * (1 - right) / 40)
    # Real questions differ less than coins that always fall alike, at the same mean accuracy.
    error = float(tossed * first.std() / np.sqrt(first.mean() * (1 - first.mean())))
    spread = max(max(PAPER[n]["main"]["Ours"]["std"]) for n in PAPER_SETTINGS)
    says = (
        f"at the printed {right:.1%} on GSM8K 40 questions have a standard error of {error:.3f} to "
        f"{tossed:.3f}, on MATH more; printed: at most {spread:.3f}"
    )
    return finding(error, says, check("error over printed spread", error / spread, ">", 10))


def worth_claim(names=BENCHMARKS) -> Evidence:
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
    strong = measures.worth_of(STRONG, "oracle", 2)
    says += (
        f"{BOTH}, with up to 40 answers; with the five budgets of the main table {in_points(five)}"
        f"; {with_interval(strong)} with GPT-4o-mini on GSM8K"
    )
    return finding(
        least["gain"],
        says,
        check("least gain", least["gain"], ">", 0.02),
        check("its lower end", least["gain_low"], ">", 0),
        check("lower end with GPT-4o-mini", strong.low, ">", 0),
    )


def kinds_claim(names=BENCHMARKS) -> Evidence:
    """Decide on the claim "kinds"."""
    kinds = [archetypes(settings.utility(name)) for name in names]
    least = min(
        float(np.mean(k == kind))
        for k in kinds
        for kind in ("easy", "responsive", "diminishing", "hard")
    )
    return finding(
        least,
        f"the rarest of the four kinds has {least:.0%} of the questions {BOTH}",
        check("share of the rarest kind", least, ">", 0.05),
    )


def decoupled() -> Evidence:
    """Decide on the claim "decoupling"."""
    worst = max(cell.ours for cell in rows_theory.oracle().cells)
    says = f"largest difference from trying all policies: {worst:g}"
    return finding(worst, says, check("largest difference", worst, "<", 1e-9))


def single_knob() -> Evidence:
    """Decide on the claim "one price"."""
    prices = sum(len(settings.path(name).lam) for name in BENCHMARKS)
    lost = int(rows_results.known().cells[0].ours)
    return finding(
        lost,
        f"{lost} of {prices} prices {BOTH} give a policy that another of equal cost beats",
        check("prices whose policy is beaten", lost, "=", 0),
    )


def free() -> Evidence:
    """Decide on the claim "free compute"."""
    cost = PAPER["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return finding(
        cost,
        f"the paper's own table prints a cost of {cost:.3f} at the price 0, not 16",
        check("printed cost at the price 0", cost, "<", 15.9),
    )


def leaving(setting="word-fewshot") -> Evidence:
    """Decide on the claim "who leaves first"."""
    table = settings.utility(setting)
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return finding(
        hard,
        f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)",
        check("share of hard questions", hard, ">", 0.3),
    )


def targeting() -> Evidence:
    """Decide on the claim "budget targeting"."""
    missed = measures.printed_misses()
    over = sum(miss > 0 for miss in missed)
    most = max(abs(miss) for miss in missed[:9])
    return finding(
        over,
        f"{over} of 12 printed policies overspend; the largest miss on MATH is {most:.3f}",
        check("printed policies that overspend", over, ">", 0),
    )


def nine() -> Evidence:
    """Decide on the claim "nine of nine"."""
    math = [abs(miss) for miss in measures.printed_misses()[:9]]
    within = sum(miss < 0.05 - 1e-9 for miss in math)
    return finding(
        within,
        f"{within} of 9 printed misses are below 0.05; the largest is {max(math):.3f}",
        check("printed misses below 0.05", within, "<", 9),
    )


def mixing() -> Evidence:
    """Decide on the claim "mixing"."""
    off = measures.mixed_misses()
    return finding(
        max(off),
        f"largest miss in {len(off)} cases {BOTH}: {max(off):g} (expected cost)",
        check("largest miss", max(off), "<", 1e-9),
    )


def logarithm(budget=8.5) -> Evidence:
    """Decide on the claim "logarithmic search"."""
    jump = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2)
    cost = np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, budget).error
    says = (
        f"two equal questions, B = {budget:g}: off by {error:g} after 50 steps, as after any number"
    )
    return finding(error, says, check("miss after 50 steps", error, ">", 1))


def lattice() -> Evidence:
    """Decide on the claim "plateaus"."""
    half = settings.answers(MATH[0]).split_samples(0)[0]  # 48 answers, as the paper has
    tables = [half.table(**PAPER_WAY), half.table()]
    widest = [float(np.diff(frontier(table.acc, table.cost).cost).max()) for table in tables]
    says = (
        f"on MATH the widest step is {widest[0]:.2f} with windows of 48 answers, "
        f"{widest[1]:.2f} with all subsets"
    )
    ratio = widest[1] / widest[0]
    return finding(ratio, says, check("widest step, subsets over windows", ratio, "<", 0.7))


def _holds(statement: str, lines: slice) -> Evidence:
    """Decide on a statement that is right as printed: it fails nowhere."""
    table = measures.failures(statement)[lines]
    broken = int(table.failures.sum())
    says = f"{broken} failures in {table.cases.iloc[0]} random cases"
    return finding(broken, says, check("failures", broken, "=", 0))


def _fails(statement: str, line: int) -> Evidence:
    """Decide on a statement that is not: it fails, and what we put in its place does not."""
    table = measures.failures(statement)
    broken = int(table.failures[line])
    ours = int(table.failures[table.version == "ours"].sum())
    says = (
        f"fails in {broken} of {table.cases[line]} random cases; what we put in its place in {ours}"
    )
    return finding(
        broken,
        says,
        check("failures as printed", broken, ">", 0),
        check("failures of what we put in its place", ours, "=", 0),
    )


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


def exact() -> Evidence:
    """Decide on the claim "exact solution"."""
    missed = int(measures.failures("Proposition 1").failures[1])
    everett = int(measures.failures("Everett").failures.sum())
    says = (
        f"misses the best policy for B in {missed} of 700 random cases, that for its own cost in "
        f"{everett}"
    )
    return finding(
        missed,
        says,
        check("failures for the budget B", missed, ">", 0),
        check("failures for its own cost", everett, "=", 0),
    )


def proportional() -> Evidence:
    """Decide on the claim "proportional"."""
    runs = pd.concat(
        [measures.on_math(*way).runs for way in product(("noise", "text"), ("row", "question"))]
    )
    tight = float((runs.regret / runs.largest).mean())
    return finding(
        tight,
        f"regret is {tight:.0%} of its bound on average over {len(runs)} classifiers on MATH",
        check("regret over its bound", tight, "<", 0.5),
    )


def drawn_claim() -> Evidence:
    """Decide on the claim "figure of Theorem 2"."""
    dotted, dashed = measures.lines_passed()
    theorem = measures.failures("Theorem 2")
    broken = int(theorem.failures[:2].sum())
    cases = theorem.cases.iloc[0]
    says = (
        f"of {cases} random cases, accuracy lost passes the dotted line in {dotted} and the "
        f"dashed in {dashed}"
    )
    return finding(
        dotted,
        f"{says}; regret passes the dotted line in {broken}",
        check("cases above the dotted line", dotted, ">", 0),
        check("cases above the dashed line", dashed, ">", 0),
        check("cases in which regret passes", broken, "=", 0),
    )


def vanishes() -> Evidence:
    """Decide on the claim "vanishing gap"."""
    broken, tried = measures.perfect_copies()
    return finding(
        broken,
        f"a perfect copy breaks the bound in {broken} of {tried} random cases",
        check("cases that break the bound", broken, ">", 0),
    )
