"""The rows of the replication table on our own experiments, NEW R1 to NEW R8.

R1 to R5 ask what else could produce the paper's results: noise for features, labels scored on the
answers that chose them, a population where nothing helps. R6 to R8 check statements that the paper
relies on.

``data/simulated/paper_register.jsonl`` lists all rows, says what each compares, and names the
function that measures it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from adabook.paper import results, settings
from adabook.paper.settings import PAPER, PAPER_ABLATIONS, PAPER_SETTINGS
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from referee import measures
from referee.wording import NOT_PRINTED, Cell, Outcome, beside_print, check, outcome

_NULL_ACCURACY = 0.5  # of every budget, in the population where nothing can be gained


def replica() -> Outcome:
    """NEW R1: the learned row, from features that know nothing."""
    unseen = measures.curve_of_data().loc["unseen"].imitation[0.8]
    tolerances = {"imitation": 0.03, "accuracy": 0.02}
    return outcome(
        *beside_print(results.oracle_gap(), "{setting}, B = {target:g}", tolerances),
        note=(
            "Simulated; 16 columns of noise, trained on 80%, scored on all. "
            f"On the unseen fifth the same noise imitates {unseen:.3f} (DeepSeek-V3 on MATH, "
            "B = 3)."
        ),
    )


def grouped() -> Outcome:
    """NEW R2: trees beat linear models: split by rows, and by questions."""
    printed = measures.trees_over_linear(pd.DataFrame(PAPER_ABLATIONS["classifiers"]).T)
    by_rows = measures.trees_over_linear(measures.classifier_table("row"))
    by_questions = measures.trees_over_linear(measures.classifier_table("question"))
    return outcome(
        Cell("trees minus linear, split by rows", printed, by_rows, 0.03),
        Cell("trees minus linear, split by questions", NOT_PRINTED, by_questions),
        note=(
            "Simulated, noise features: copies of a question on both sides are all that there is "
            "to learn."
        ),
    )


def curse() -> Outcome:
    """NEW R3: the oracle's claim against the number of samples."""
    at_three = -1  # B = 3 is the last target
    optimism = {
        R: float(np.asarray(measures.rehearsed(R).optimism.mean)[at_three])
        for R in (16, 48, 96, 192, 480)
    }
    cells = [
        Cell(f"{R} samples: claimed minus true, B = 3", NOT_PRINTED, excess)
        for R, excess in optimism.items()
    ]
    steps = np.diff(list(optimism.values()))
    falls = check("largest step as the samples grow", steps.max(), "<", 0)
    note = "Drawn from the answers to MATH; windows, first-seen ties."
    return outcome(*cells, note=note, checks=[falls])


def crossed() -> Outcome:
    """NEW R4: choose on one half, score on the other."""
    # Both choose by 48 answers: half of the 96, or all of them.
    cross_fitted = measures.rehearsed(96, halves=True).accuracy[:, -1].mean()
    true = measures.rehearsed(48).accuracy[:, -1].mean()
    miss = abs(float(cross_fitted - true))
    cells = [
        Cell(f"{name}: claimed minus cross-fitted, B = 3", NOT_PRINTED, float(excess.mean))
        for name, excess in measures.optimism().items()
    ]
    note = (
        "48 samples choose, windows. Where the truth is known, cross-fitting misses it by "
        f"{miss:.4f}."
    )
    return outcome(*cells, note=note, checks=[check("miss of the truth", miss, "<", 0.005)])


def null_row() -> Outcome:
    """NEW R5: A population where nothing can be gained."""
    score = measures.null()
    claimed = float(score.claimed.mean() - _NULL_ACCURACY)
    return outcome(
        Cell("gain claimed where no budget helps, B = 3", NOT_PRINTED, claimed),
        note=(
            "Simulated null, 200 questions, 48 samples, 20 draws; the same labels on the truth: "
            f"{score.accuracy.mean():.3f} of 0.500."
        ),
        checks=[
            check("distance from 0.5", np.abs(score.accuracy - _NULL_ACCURACY).max(), "<", 1e-8)
        ],
    )


def twice() -> Outcome:
    """NEW R6: two answers are worth one."""
    cells = []
    largest = 0.0
    for name in PAPER_SETTINGS:
        one, two = PAPER[name]["main"]["Fixed"]["accuracy"][:2]
        gains = np.diff(settings.paper_population(name).acc((1, 2)), axis=1)
        mean_gain = float(gains.mean())
        cells.append(Cell(f"{name}: Acc(2) minus Acc(1), mean", two - one, mean_gain, 0.005))
        largest = max(largest, float(np.abs(gains).max()))
    note = f"In the simulated truth no question differs by more than {largest:.0e}."
    return outcome(*cells, note=note, checks=[check("largest difference", largest, "<", 1e-9)])


def copies() -> Outcome:
    """NEW R7: A perfect copy and Theorem 3 (2)."""
    failures, cases = measures.perfect_copies()
    return outcome(
        Cell(f"failures in {cases} cases with ε = 0", 0, failures),
        note="The printed bound is then 0.",
    )


def gaps_row() -> Outcome:
    """NEW R8: the duality gap against the number of questions."""
    rng = np.random.default_rng(0)
    gaps = {n: _mean_gap(n, rng) for n in (5, 10, 20, 50, 200)}
    return outcome(
        *(Cell(f"mean gap, {n} questions", 0.0, gap) for n, gap in gaps.items()),
        note="Below 1/N everywhere: false in theory, small in practice.",
        checks=[check(f"mean gap, {n} questions", gap, "<", 1 / n) for n, gap in gaps.items()],
    )


def _mean_gap(n: int, rng: np.random.Generator, tables: int = 30) -> float:
    """Draw tables of n questions, each with a random budget, and average their duality gaps."""
    cost = np.array([1, 2, 4, 8, 16])
    gaps = []
    for _ in range(tables):
        acc = rng.integers(0, 49, (n, 5)) / 48
        least, most = frontier(acc, cost).cost[[0, -1]] * n
        total = rng.integers(np.ceil(least), np.floor(most) + 1)
        best = integer_optimum(acc, cost, total / n)
        gaps.append(best.bound - best.accuracy)
    return float(np.mean(gaps))
