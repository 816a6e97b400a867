"""The rows of the replication table on the paper's main results and its ablations.

``data/simulated/paper_register.jsonl`` lists all rows, says what each compares, and names the
function that measures it. The docstring of such a function begins with the item of the paper.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from adabook.paper import results, settings
from adabook.paper.patterns import label_shares
from adabook.paper.settings import (
    BENCHMARKS,
    PAPER,
    PAPER_ABLATIONS,
    PAPER_CLAIMS,
    PAPER_SETTINGS,
    TARGETS,
)
from adalib.evaluate.intervals import in_points
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from referee import measures
from referee.maps import level_shares
from referee.measures import SHOWN
from referee.rows_method import seconds_to_route
from referee.wording import (
    NOT_PRINTED,
    Cell,
    Outcome,
    at_least,
    at_most,
    beside_print,
    between,
    check,
    outcome,
)

_CLASSIFIER_TOLERANCES = {
    "accuracy": 0.03,
    "gap": 0.03,
    "imitation": 0.03,
    "cost": 0.3,
    "cost_std": 0.1,
    "accuracy_std": 0.02,
    "gap_std": 0.02,
    "imitation_std": 0.02,
}


# The main results.


@cache
def main() -> Outcome:
    """Table1 main: Accuracy and cost of five methods."""
    table = results.main_table()
    cells = list(beside_print(table, "{setting}, {method}, B = {target:g}", results.TOLERANCE))
    spreads = table[table.method == "Ours"].set_index(["setting", "target"]).accuracy_std
    for name in PAPER_SETTINGS:
        for B, printed in zip(TARGETS, PAPER[name]["main"]["Ours"]["std"], strict=True):
            spread = float(spreads[name, B])
            cell_name = f"{name}, B = {B:g}: spread of Ours"
            cells.append(Cell(cell_name, printed, spread, 0.003, unit="spread"))
    ours = [cell.agrees for cell in cells if ", Ours," in cell.name]
    note = (
        f"Simulated, our reconstruction, noise features; of the {len(ours)} cells of Ours "
        f"{sum(ours)} agree."
    )
    return outcome(*cells, note=note)


def text() -> Outcome:
    """Claims 5.2: what the text says of the gains."""
    gains = results.claimed_gains().set_index("setting")
    qwen = gains.loc["qwen2.5-7b-math"]
    fixed_accuracy = qwen.over_mix + qwen["mix"] - qwen.difference
    relative_gain = qwen.difference / fixed_accuracy
    # A difference of two numbers to three digits is known to 0.001; a range in whole points, to
    # half a point.
    by_setting = [
        Cell(
            f"{name}: gain over Fixed at B = 3, in its own table",
            gain.claimed,
            gain.difference,
            0.001,
        )
        for name, gain in gains.iterrows()
    ]
    return outcome(
        *by_setting,
        *_stated_range("Ours", PAPER_CLAIMS["gain_range"], 0.005),
        *_stated_range("Heuristic", PAPER_CLAIMS["heuristic_range"], 0.001),
        Cell("best relative gain", PAPER_CLAIMS["relative_gain"], relative_gain, 0.0005),
        note=(
            f"Matched? Qwen2.5-7B: Fixed spends {qwen.fixed_cost:.2f}, Ours {qwen.cost:.2f}. "
            f"Against a random mix of b = 1 and 4 at that cost the gain is {qwen.over_mix:.3f} "
            "(inferred), of which training questions are four fifths."
        ),
    )


def _stated_range(method: str, stated: tuple[float, float], tolerance: float) -> tuple[Cell, Cell]:
    """Compare a range of gains on MATH in the paper's text with the paper's table."""
    smallest, largest = stated
    on_math = measures.printed_gains(method)[:3]
    name = f"gain of {method} over Fixed on MATH, in its own table"
    return (
        Cell(f"smallest {name}", smallest, float(on_math.min()), tolerance),
        Cell(f"largest {name}", largest, float(on_math.max()), tolerance),
    )


def pareto() -> Outcome:
    """Fig4 pareto: frontiers for B from 1 to 16."""
    front = measures.frontier_of_shown().set_index("budget")
    plateau = PAPER_CLAIMS["plateau"]
    low, high = PAPER_CLAIMS["largest_gains"]
    best = float((front.learned - front.fixed).idxmax())
    rise = front.fixed[16] - front.fixed[plateau]
    return outcome(
        at_least("budget with the largest gain over Fixed, from below", low, best),
        at_most("the same, from above", high, best),
        Cell(f"rise of Fixed from B = {plateau} to 16", NOT_PRINTED, rise),
        note=(
            f"Simulated. Fixed at 16 reaches {front.fixed[16]:.3f}; "
            f"the learned policy is scored in-sample ({front.learned[plateau]:.3f} at B = "
            f"{plateau})."
        ),
    )


def heatmap() -> Outcome:
    """Fig heatmap: budgets by level, oracle and learned."""
    k = settings.utility(SHOWN).k
    cells: list[Cell] = []
    low, high = PAPER_CLAIMS["heatmap_two"]
    for B in (1.5, 3.0):
        share_of_two = float(label_shares(measures.searched(SHOWN, B).labels, k)[1])
        cells += between(f"B = {B:g}: share of b = 2", low, share_of_two, high, 0.005)
    low, high = PAPER_CLAIMS["heatmap_middle"]
    by_level = level_shares(measures.searched(SHOWN, 1.5).labels, measures.levels_of(SHOWN), k)
    for level in by_level.index[1:]:
        share = float(by_level.loc[level, [2, 3]].sum())  # the columns of b = 4 and 8
        cells += between(f"B = 1.5, level {level}: share of b = 4 and 8", low, share, high, 0.02)
    largest_difference, _ = measures.copied()
    note = (
        "Simulated. A policy that learned from noise repeats the oracle's map at B = 3 within "
        f"{largest_difference:.2f} per cell on our MATH, by our reconstruction."
    )
    return outcome(*cells, note=note)


def advice() -> Outcome:
    """App D: 8 to 16 trials are enough for stable labels, one will do for averages."""
    votes = measures.trials()
    best_of_k = measures.trials(True)
    agreement = [
        Cell(f"{n} trials, {way}: labels on which two runs agree", NOT_PRINTED, tried.agree[n])
        for n in PAPER_CLAIMS["trials"]
        for way, tried in (("votes", votes), ("best-of-K", best_of_k))
    ]
    excess = votes.claimed[1] - votes.worth[1]
    return outcome(
        *agreement,
        Cell("one trial, votes: what the labels claim, minus their worth", NOT_PRINTED, excess),
        note=(
            "Simulated, B = 3. Runs of 16 trials differ less in worth: "
            f"{votes.worth[16]:.3f}, standard deviation {votes.spread[16]:.3f} (votes). "
            f"One trial claims {votes.claimed[1]:.3f} and is worth {votes.worth[1]:.3f}."
        ),
    )


def calls() -> Outcome:
    """App E.4: calls made."""
    in_one, in_all = PAPER_CLAIMS["calls"]
    counts = [sum(map(len, settings.answers(name).answers)) for name in PAPER_SETTINGS]
    return outcome(
        Cell("answers in a setting", in_one, counts[0]),
        Cell("answers in all four", in_all, sum(counts)),
    )


# The ablations.


def classifiers() -> Outcome:
    """Table ablation_main = Table ablation: five classifiers on pooled rows."""
    printed = pd.DataFrame(PAPER_ABLATIONS["classifiers"]).T
    by_rows = measures.classifier_table("row")
    by_questions = measures.classifier_table("question")
    compared = by_rows.loc[printed.index].join(printed.add_prefix("printed_"))
    lead_by_rows, lead_by_questions, printed_lead = (
        in_points(measures.trees_over_linear(table)) for table in (by_rows, by_questions, printed)
    )
    return outcome(
        *beside_print(compared.reset_index(names="name"), "{name}", _CLASSIFIER_TOLERANCES),
        note=(
            "Simulated, noise features. Trees minus linear models: "
            f"{lead_by_rows} points split by rows, {lead_by_questions} split by questions; "
            f"printed {printed_lead}."
        ),
    )


def regret_row() -> Outcome:
    """Fig ablation_clf (a–c): regret below its bound; errors are near misses."""
    above_dotted, above_dashed = measures.lines_passed()
    printed_error = PAPER_ABLATIONS["error_range"][0]
    least_error = min(1 - row["imitation"] for row in PAPER_ABLATIONS["classifiers"].values())
    errors = measures.near(measures.on_math("text", "question"))
    runs = measures.on_math("noise", "row").runs
    beyond_bound = int((runs.regret > runs.weighted + 1e-9).sum())
    beyond_largest = int((runs.lost > runs.largest + 1e-9).sum())
    return outcome(
        Cell(
            "of 700 random cases: accuracy lost above the dotted line, max M × ε", 0, above_dotted
        ),
        Cell(
            "of 700 random cases: accuracy lost above the dashed line, mean M × ε", 0, above_dashed
        ),
        Cell(
            "smallest imitation error: in the text, and in the paper's table",
            printed_error,
            least_error,
            0.005,
        ),
        at_least("share of errors on a neighbouring budget", 0.5, errors["near"]),
        note=(
            f"On MATH regret exceeds Theorem 2's bound in {beyond_bound} of {len(runs)} runs, "
            f"accuracy lost in {beyond_largest}. "
            f"Of the trees' errors {errors['to_first']:.0%} fall back to b = 1."
        ),
        checks=[check("runs whose regret exceeds the bound", beyond_bound, "=", 0)],
    )


def data() -> Outcome:
    """Fig data_eff: accuracy climbs with the share of labelled questions."""
    curve = measures.curve_of_data(measures.MATH[0])
    printed_share = PAPER_ABLATIONS["crossing_share"][1]
    our_share = measures.passes_fixed(curve)
    all_data = curve.loc["all", 1.0]
    seen = curve.loc["seen", 0.8]
    unseen = curve.loc["unseen", 0.8]
    farther = float((unseen.oracle - unseen.accuracy) - (seen.oracle - seen.accuracy))
    above_fixed = in_points(unseen.accuracy - unseen.fixed)
    return outcome(
        at_most("share of the data at which it passes Fixed", printed_share, our_share),
        Cell(
            "accuracy at all of the data: oracle, and ours",
            all_data.oracle,
            all_data.accuracy,
            0.02,
        ),
        Cell(
            "further from the oracle on unseen questions than on seen ones, at 80%",
            NOT_PRINTED,
            farther,
        ),
        note=(
            "MATH, noise features, B = 3: the same climb. On unseen questions it stands "
            f"{above_fixed} points from Fixed."
        ),
    )


def menus_row() -> Outcome:
    """Fig budget_gran (a–c): powers of two are nearly the best menu."""
    coarse_to_default = PAPER_ABLATIONS["coarse_to_default"]
    default_to_fine = PAPER_ABLATIONS["default_to_fine"]
    cells: list[Cell] = []
    for value in ("in-sample", "cross-fitted"):
        gains = measures.menus(value)  # over the default menu
        cells += [
            Cell(f"coarse to default, {value}", coarse_to_default, -gains["coarse"], 0.005),
            at_most(f"default to fine, {value}", default_to_fine, gains["fine"]),
        ]
    cross_fitted = measures.menus("cross-fitted")
    without_two = in_points(cross_fitted["without 2"], 2)
    odd = in_points(cross_fitted["odd"], 2)
    note = (
        f"MATH, B = 2. Without b = 2: {without_two} points; with odd budgets: {odd} (cross-fitted)."
    )
    return outcome(*cells, note=note)


def importance() -> Outcome:
    """Fig feat_imp (a,b): importances are even, and features separate the budgets."""
    low, high = PAPER_ABLATIONS["importance_range"]
    ours = measures.importances()
    # Sixteen importances sum to one. Within the range their sum is at least this.
    least_sum = 15 * low + high
    beyond = {name: measures.features_beyond_chance(name) for name in BENCHMARKS}
    gsm8k, math = (int(marks.to_numpy().sum()) for marks in beyond.values())
    return outcome(
        Cell("(a) smallest importance: columns of noise", low, float(ours.noise_low[0]), 0.03),
        Cell("(a) largest importance: columns of noise", high, float(ours.noise_high[0]), 0.03),
        Cell("(a) smallest importance: text of MATH", NOT_PRINTED, float(ours.importance.min())),
        Cell("(a) largest importance: text of MATH", NOT_PRINTED, float(ours.importance.max())),
        Cell("(b) class means beyond chance, GSM8K", NOT_PRINTED, gsm8k),
        Cell("(b) class means beyond chance, MATH", NOT_PRINTED, math),
        note=(
            "Columns of noise give the printed picture for the labels of MATH; text is less even. "
            f"The printed range leaves no room: 15 × {low} + {high} = {least_sum:.2f}. "
            f"Of the {beyond[BENCHMARKS[0]].size} class means of panel (b) "
            f"{gsm8k} on GSM8K and {math} on MATH pass what shuffled labels give (B = 2)."
        ),
        checks=[check("class means beyond chance on both", gsm8k + math, "<=", 2)],
    )


# What the method costs, and what was known before it.


def complexity() -> Outcome:
    """Complexity: routing costs less than 1%."""
    acc = np.random.default_rng(0).random((20_000, 5)).cumsum(axis=1) / 5
    cost = np.array([1, 2, 4, 8, 16])
    by_sorting = _milliseconds(lambda: frontier(acc, cost))
    by_bisection = _milliseconds(lambda: bisect(acc, cost, 3.0))
    # The call that the entropy needs is one answer of the smallest budget.
    share = 1 / TARGETS[0]
    return outcome(
        at_most(
            "entropy from one call: share of the budget at B = 1.5", PAPER_CLAIMS["overhead"], share
        ),
        note=(
            f"Reading the text features and routing took {1e3 * seconds_to_route():.2f} ms per "
            f"question. 20,000 questions took {by_sorting:.0f} ms for every budget by "
            f"sorting, {by_bisection:.0f} ms for one by bisection."
        ),
    )


def _milliseconds(work: Callable[[], object]) -> float:
    """Time one run by the clock."""
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


@cache
def known() -> Outcome:
    """Related-work claims: the first to formalise allocation as a program."""
    prices = 0
    differing = 0
    for name in BENCHMARKS:
        table = settings.utility(name)
        stairs = settings.path(name)
        for lam in stairs.lam:
            labels = oracle_labels(table.acc, table.cost, lam)
            spent = float(table.cost[labels].mean())
            accuracy = table.acc[np.arange(table.n), labels].mean()
            # The frontier buys the steepest steps first, as marginal analysis does.
            by_slopes = stairs.at(spent).accuracy
            prices += 1
            differing += int(abs(accuracy - by_slopes) > 1e-9)
    return outcome(
        Cell(
            f"of {prices} prices: those where a rule of 1966 allocates otherwise",
            NOT_PRINTED,
            differing,
        ),
        note=(
            "The solve stage is Everett's multiplier (1963), and buys what Fox's marginal "
            "analysis (1966) buys. Who was first to learn such labels was read, not computed."
        ),
    )
