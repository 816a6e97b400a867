"""Rows of the paper's ablations, of its costs and of its place among others."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pandas as pd

from adalib.evaluate.baselines import noise_features
from adalib.evaluate.rehearsal import rehearse_oracle
from adalib.paper import ablations, stand_ins
from adalib.paper.printed import PAPER_ABLATIONS, PAPER_CLAIMS, PAPER_SETTINGS
from adalib.paper.replication.cells import Cell, Found, Link, Row
from adalib.paper.replication.measures import PAPER_WAY, SHOWN, TARGETS, failures, path, searched, utility
from adalib.paper.replication.setup_rows import seconds_to_route
from adalib.paper.replication.table_rows import compared
from adalib.solve.frontier import frontier
from adalib.solve.oracle import bisect, oracle_labels

__all__ = ["ROWS", "curve_of_data", "menus", "near", "noise_importances"]


@cache
def near() -> dict[str, float]:
    """Where the errors of the boosted trees go, split by rows."""
    return ablations.near_misses(compared("row").confusion("gbm"))


def _regret() -> Found:
    drawn = failures("Theorem 2, drawn")
    runs = compared("row").runs
    printed = PAPER_ABLATIONS
    least = min(1 - row["imitation"] for row in printed["classifiers"].values())
    return Found(
        (
            Cell("of chapter 4's 700 cases: accuracy lost exceeds max M × ε", 0, drawn.failures[0]),
            Cell("of chapter 4's 700 cases: regret exceeds mean M × ε", 0, drawn.failures[1]),
            Cell(
                "smallest imitation error: in the text, and in the paper's table",
                printed["error_range"][0],
                least,
                0.005,
            ),
            Cell("share of errors on a neighbouring budget", 0.5, near()["near"], 0.0, ">="),
        ),
        f"Simulated pool: regret exceeds Theorem 2's bound in {int((runs.regret > runs.weighted + 1e-9).sum())} of "
        f"{len(runs)} runs. Of the trees' errors {near()['to_first']:.0%} fall back to b = 1.",
        holds=bool((runs.regret <= runs.weighted + 1e-9).all()),
        digits=2,
    )


@cache
def curve_of_data() -> pd.DataFrame:
    """Accuracy on all, seen and unseen questions by share of training data: simulated, noise features, B = 3."""
    found = ablations.learning_curve(utility(SHOWN), noise_features(200), targets=(3.0,), seeds=8, protocol=None)
    return found.groupby(["part", "share"])[["accuracy", "fixed", "oracle", "imitation", "cost"]].mean()


def _data() -> Found:
    every, unseen = curve_of_data().loc["all"], curve_of_data().loc["unseen"]
    crossed = float(every.index[every.accuracy > every.fixed].min())
    lead = float((unseen.accuracy - unseen.fixed)[0.8])
    return Found(
        (
            Cell(
                "share of the data at which it passes Fixed",
                PAPER_ABLATIONS["crossing_share"][1],
                crossed,
                0.0,
                "<=",
            ),
            Cell("accuracy at all of the data: oracle, and ours", every.oracle[1.0], every.accuracy[1.0], 0.02),
            Cell(
                "further from the oracle on unseen questions, at 80% (if it learned: 0)",
                0.0,
                _seen_minus_unseen(),
                0.01,
            ),
        ),
        f"Simulated, noise features, B = 3: the same climb. On unseen questions it stands {lead:+.3f} from Fixed.",
    )


def _seen_minus_unseen() -> float:
    """How much closer to the oracle the trained questions are than the others, at 80% of the data."""
    gap = {part: curve_of_data().loc[part, 0.8] for part in ("seen", "unseen")}
    return float((gap["unseen"].oracle - gap["unseen"].accuracy) - (gap["seen"].oracle - gap["seen"].accuracy))


@cache
def menus(value: str) -> dict[str, float]:
    """Gain of every menu of budgets over the default one at B = 2: "in-sample" (mean of 20 draws), or "true"."""
    population = stand_ins.paper_population(SHOWN)
    if value == "true":
        return ablations.granularity(population, [2.0]).set_index("menu").gain.to_dict()
    claimed = {
        name: float(rehearse_oracle(population, 48, [2.0], menu, **PAPER_WAY).claimed.mean())
        for name, menu in ablations.MENUS.items()
    }
    return {name: value - claimed["default"] for name, value in claimed.items()}


def _menus() -> Found:
    printed = PAPER_ABLATIONS
    sampled, true = menus("in-sample"), menus("true")
    return Found(
        (
            Cell("coarse to default, in-sample", printed["coarse_to_default"], -sampled["coarse"], 0.005),
            Cell("default to fine, in-sample", printed["default_to_fine"], sampled["fine"], 0.0, "<="),
            Cell("coarse to default, true", printed["coarse_to_default"], -true["coarse"], 0.005),
            Cell("default to fine, true", printed["default_to_fine"], true["fine"], 0.0, "<="),
        ),
        f"Simulated, B = 2. Without b = 2: {true['without 2']:+.4f}; with odd budgets: {true['odd']:+.4f} (true).",
        digits=4,
    )


@cache
def noise_importances() -> tuple[float, float]:
    """The smallest and the largest importance of 16 noise columns for the labels at B = 2, the mean of ten draws."""
    found = ablations.importances(noise_features(200), searched(SHOWN, 2.0).labels, draws=10)
    return float(found.noise_low[0]), float(found.noise_high[0])


def _importance() -> Found:
    low, high = PAPER_ABLATIONS["importance_range"]
    least, most = noise_importances()
    return Found(
        (
            Cell("smallest importance", low, least, 0.03),
            Cell("largest importance", high, most, 0.03),
        ),
        f"Ours are 16 columns of noise. The printed range leaves no room: 15 × {low} + {high} = {15 * low + high:.2f}.",
    )


def _complexity() -> Found:
    table = np.random.default_rng(0).random((20_000, 5)).cumsum(axis=1) / 5
    cost = np.array([1, 2, 4, 8, 16])
    start = time.perf_counter()
    frontier(table, cost)
    middle = time.perf_counter()
    bisect(table, cost, 3.0)
    end = time.perf_counter()
    extra = 1 / TARGETS[0]
    return Found(
        (
            Cell(
                "entropy from one call: share of the budget at B = 1.5",
                PAPER_CLAIMS["overhead"],
                extra,
                0.0,
                "<=",
            ),
        ),
        f"Reading the text features and routing took {1e3 * seconds_to_route():.2f} ms a question. 20,000 questions "
        f"took {1e3 * (middle - start):.0f} ms for every budget by sorting, {1e3 * (end - middle):.0f} ms for one by "
        "bisection.",
        digits=2,
    )


def _known() -> Found:
    tried = differs = 0
    for name in PAPER_SETTINGS:
        table, stairs = utility(name), path(name)
        for lam in stairs.lam:
            labels = oracle_labels(table.acc, table.cost, lam)
            spent = float(table.cost[labels].mean())
            lost = abs(table.acc[np.arange(table.n), labels].mean() - stairs.at(spent).accuracy)
            tried, differs = tried + 1, differs + int(lost > 1e-9)
    return Found(
        (
            Cell(
                f"of {tried} prices: those where a rule of 1966 allocates otherwise (a new rule: 1 or more)",
                1,
                differs,
                0.0,
                ">=",
            ),
        ),
        "The solve stage is Everett's multiplier (1963), and buys what Fox's marginal analysis (1966) buys. "
        "Who was first to learn such labels was read, not computed.",
    )


ROWS = (
    Row(
        "Fig ablation_clf (a–c)",
        "regret below its bound; errors are near misses",
        "failures of the two lines drawn, and where errors go",
        "corrected",
        Link("09_ablations", "A bound, and what is drawn under it"),
        _regret,
    ),
    Row(
        "Fig data_eff",
        "a few dozen questions are enough",
        "where noise features pass Fixed, and what unseen questions get",
        "corrected",
        Link("09_ablations", "How many questions does it take?"),
        _data,
    ),
    Row(
        "Fig budget_gran (a–c)",
        "powers of two are nearly the best menu",
        "gain from coarse to default to fine at B = 2, simulated, in-sample and true",
        "corrected",
        Link("09_ablations", "Which budgets to offer"),
        _menus,
    ),
    Row(
        "Fig feat_imp (a,b)",
        "importances are even, each feature counts",
        "the printed range beside that of noise columns (tolerance 0.03)",
        "reproduced",
        Link("09_ablations", "What does it look at?"),
        _importance,
    ),
    Row(
        "Complexity",
        "routing costs less than 1%",
        "what the sixteenth feature costs: one answer, unless its vote is used",
        "corrected",
        Link("06_learning", "The bill for the sixteenth feature"),
        _complexity,
        timed=True,
    ),
    Row(
        "Related-work claims",
        "the first to formalise allocation as a program",
        "read, not computed; computed: the oracle beside the rule of 1966, steepest steps first",
        "corrected",
        Link("03_budgets", "The exact way: slopes, sorted"),
        _known,
    ),
)
