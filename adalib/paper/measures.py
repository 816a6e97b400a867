"""Measurements that several rows and claims share, each made once: with the calls and the seeds of the chapters.

A chapter and this page must not disagree about a number, so what is measured here is measured as there: the same
cases in chapter 4, the same draws in chapter 5, the same simulated settings everywhere.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from adalib.datasets.loading import load
from adalib.datasets.populations import Population, flat_null
from adalib.evaluate.baselines import best_mix, noise_features
from adalib.evaluate.crossfit import OracleScore, cross_fitted_oracle, rehearse_oracle, score_oracle
from adalib.evaluate.heldout import HeldOutRow, Protocol, held_out
from adalib.paper import ablations, protocol, results, theorems
from adalib.paper.classifiers import TRIES
from adalib.paper.patterns import by_difficulty, curve_clusters, level_shares
from adalib.paper.settings import PAPER, PAPER_SETTINGS, PAPER_WAY, TARGETS, answers, paper_population, utility
from adalib.solve.bisection import Bisection, bisect, mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import UtilityTable

#: The simulated setting that the paper's figures show.
SHOWN = "deepseek-v3-math"


@cache
def searched(name: str, budget: float) -> Bisection:
    """The paper's search on a setting."""
    table = utility(name)
    return bisect(table.acc, table.cost, budget)


def printed_misses() -> list[float]:
    """What the twelve printed searches spend beyond their budgets; the nine on MATH come first."""
    sweeps = [PAPER[name]["lambda_sweep"]["cost"] for name in PAPER_SETTINGS]
    return [cost - B for costs in sweeps for cost, B in zip(costs, TARGETS, strict=True)]


def printed_gains(method: str) -> np.ndarray:
    """Printed accuracy of a method minus that of Fixed, (settings, budgets)."""
    main = [PAPER[name]["main"] for name in PAPER_SETTINGS]
    return np.array([np.subtract(rows[method]["accuracy"], rows["Fixed"]["accuracy"]) for rows in main])


@cache
def mixed_misses() -> list[float]:
    """How far the random mixture of two plans is from the budget, wherever one is needed."""
    tables = [utility(name) for name in PAPER_SETTINGS]
    plans = [(B, mix(table.acc, table.cost, B)) for table in tables for B in TARGETS]
    return [abs(plan.cost - B) for B, plan in plans if plan.share > 0]


@cache
def cross_fitted(name: str) -> OracleScore:
    """The oracle of a real setting at the three budgets, chosen on one half of the samples and scored on the other."""
    return cross_fitted_oracle(load(name), TARGETS)


def cross_fitted_gain(name: str, target: int = 2) -> float:
    """What that oracle gains over the best random mix at the cost that it had, at the last budget or another one."""
    score, table = cross_fitted(name), utility(name)
    mixed = best_mix(table.acc, table.cost, float(score.cost[:, target].mean())).expected(table.acc)
    return float(score.accuracy[:, target].mean() - mixed.mean())


@cache
def rehearsed(samples: int, halves: bool = False) -> OracleScore:
    """The oracle rehearsed on the simulated DeepSeek-V3 on MATH, whose truth is known: the draws of chapter 5."""
    return rehearse_oracle(paper_population(SHOWN), samples, TARGETS, halves=halves, **PAPER_WAY)


@cache
def null() -> OracleScore:
    """The oracle rehearsed at B = 3 where no budget helps anyone, as the paper estimates: 48 samples."""
    return rehearse_oracle(flat_null(200), 48, [3], **PAPER_WAY)


@cache
def trials() -> pd.DataFrame:
    """Appendix D's advice on the simulated stand-in: labels at B = 3 from 1, 8 or 16 trials a budget, 40 times."""
    truth, rng, rows = paper_population(SHOWN).table(), np.random.default_rng(0), []
    for number in (1, 8, 16):
        drawn = rng.binomial(number, truth.acc, (40, *truth.acc.shape)) / number
        scores = [score_oracle(UtilityTable(acc, truth.cost, truth.budgets, truth.ids), truth, [3]) for acc in drawn]
        claimed, worth = (np.mean([getattr(s, kind).mean() for s in scores]) for kind in ("claimed", "accuracy"))
        rows.append((number, float(claimed), float(worth)))
    return pd.DataFrame(rows, columns=["trials", "claimed", "worth"]).set_index("trials")


def hump(acc1: np.ndarray, labels: np.ndarray, budgets: tuple) -> float:
    """Mean budget of the middle fifth minus that of the two outer ones."""
    spent = by_difficulty(acc1, labels, budgets)["budget"].to_numpy()
    return float(spent[2] - (spent[0] + spent[4]) / 2)


@cache
def null_hump() -> float:
    """The same where no budget helps anyone: 1000 simulated questions, estimated by `PAPER_WAY`."""
    table = flat_null(1000).sample(48).table(**PAPER_WAY)
    return hump(table.acc[:, 0], frontier(table.acc, table.cost).at(3).labels, table.budgets)


@cache
def clusters() -> dict[str, float]:
    """The four clusters of the pooled simulated curves: the numbers that the paper states of them."""
    found = curve_clusters(np.concatenate([utility(name).acc for name in PAPER_SETTINGS]))
    easy, responsive, _, hard = found.centres
    member = dict(zip(PAPER_SETTINGS, np.split(found.labels, len(PAPER_SETTINGS)), strict=True))
    labels, kind = searched(SHOWN, 2.0).labels, member[SHOWN]
    many = utility(SHOWN).cost[labels] * (labels >= 2)
    return {
        "easy_first": float(easy[0]),
        "responsive_first": float(responsive[0]),
        "responsive_last": float(responsive[-1]),
        "hard_highest": float(hard.max()),
        "gsm8k_easy": float(np.mean(member["deepseek-v3-gsm8k"] == 0)),
        "easy_one": float(np.mean(labels[kind == 0] == 0)),
        "hard_one": float(np.mean(labels[kind == 3] == 0)),
        "responsive_share": float(many[kind == 1].sum() / many.sum()),
    }


@cache
def _cases() -> tuple[theorems.Case, ...]:
    return tuple(theorems.random_cases(700, seed=1))


@cache
def failures(statement: str) -> pd.DataFrame:
    """How a statement fares on the 700 random cases of chapter 4.

    Parameters
    ----------
    statement : str
        "Theorem 1", "Proposition 1", ...: the names of `adalib.paper.theorems.STATEMENTS`.

    Returns
    -------
    DataFrame
        A row a claim, printed first, with its ``version``, ``claim``, number of ``cases`` and of ``failures``, and the
        ``widest`` distance between the two sides.
    """
    found = theorems.survey(theorems.STATEMENTS[statement], _cases())
    rows = [
        (*key, len(group), int((~group.holds).sum()), float(group.gap.abs().max()))
        for key, group in found.groupby(["version", "claim"], sort=False)
    ]
    return pd.DataFrame(rows, columns=["version", "claim", "cases", "failures", "widest"])


@cache
def perfect_copies() -> tuple[int, int]:
    """In how many of the random cases a perfect copy of the oracle breaks Theorem 3 (2), and how many there are."""
    broken = [
        not theorems.recovery(c.acc, c.cost, c.lam, c.budget, oracle_labels(c.acc, c.cost, c.lam)).printed[1].holds
        for c in _cases()
    ]
    return sum(broken), len(broken)


@cache
def kept_by_cross_fitting(name: str, draws: int = 4) -> tuple[float, ...]:
    """The cross-fitted oracle's gain over the best mix as a share of the true oracle's, at the three budgets.

    The truth is a population with the frequencies of a real setting; 96 samples a question, as in that setting.
    """
    population = Population.from_responses(answers(name))
    truth = population.table()
    found, path = rehearse_oracle(population, 96, TARGETS, draws=draws, halves=True), frontier(truth.acc, truth.cost)

    def gain(cost: float, accuracy: float) -> float:
        return accuracy - float(best_mix(truth.acc, truth.cost, cost).expected(truth.acc).mean())

    fitted = [gain(float(found.cost[:, k].mean()), float(found.accuracy[:, k].mean())) for k in range(len(TARGETS))]
    return tuple(ours / gain(path.at(B).cost, path.at(B).accuracy) for ours, B in zip(fitted, TARGETS, strict=True))


# Measurements of what was learned, shared by rows and claims, each made once: on real answers, and from noise.


@cache
def honest(by_family: bool = False) -> dict[str, HeldOutRow]:
    """What every policy has at B = 3 on word-fewshot, held out by question or by family; a row a policy."""
    responses = load("word-fewshot")
    groups = responses.extras["family"] if by_family else None
    return {row.policy: row for row in held_out(responses, [3.0], protocol=Protocol(groups=groups))}


@cache
def compared(split: str) -> ablations.Comparison:
    """The classifiers on the simulated pool with noise features, split by "row" or by "question"."""
    # The network is slow, and by question nothing is printed to set beside it.
    models = {name: tries for name, tries in TRIES.items() if split == "row" or name != "mlp"}
    return ablations.classifiers(ablations.simulated_pool(), split, models=models)


def classifier_table(split: str) -> pd.DataFrame:
    """Means over the splits, a row a classifier."""
    return compared(split).summary().set_index("classifier")


def trees_over_linear(table: pd.DataFrame) -> float:
    """Mean accuracy of the two kinds of trees minus that of the two linear models."""
    trees, linear = (table.loc[list(names)].accuracy.mean() for names in (("forest", "gbm"), ("logistic", "svm")))
    return float(trees - linear)


@cache
def near() -> dict[str, float]:
    """Where the errors of the boosted trees go, split by rows."""
    return ablations.near_misses(compared("row").confusion("gbm"))


@cache
def frontier_of_shown() -> pd.DataFrame:
    """The paper's frontier figure on the simulated DeepSeek-V3 on MATH."""
    return results.pareto(SHOWN)


@cache
def copied() -> float:
    """Largest difference between the oracle's map at B = 3 and that of a policy of noise, by our reconstruction."""
    levels, labels, k = answers(SHOWN).levels, searched(SHOWN, 3.0).labels, utility(SHOWN).k
    learned = protocol.mostly_seen(noise_features(labels.size), labels)
    return float((level_shares(learned, levels, k) - level_shares(labels, levels, k)).abs().to_numpy().max())


@cache
def curve_of_data() -> pd.DataFrame:
    """Accuracy on all, seen and unseen questions by share of training data: simulated, noise features, B = 3."""
    found = ablations.learning_curve(utility(SHOWN), noise_features(200), targets=(3.0,), seeds=8, protocol=None)
    return found.groupby(["part", "share"])[["accuracy", "fixed", "oracle", "imitation", "cost"]].mean()


def passes_fixed(curve: pd.DataFrame) -> float:
    """The smallest share of training data at which a learning curve over all questions lies above Fixed."""
    every = curve.loc["all"]
    return float(every.index[every.accuracy > every.fixed].min())


@cache
def menus(value: str) -> dict[str, float]:
    """Gain of every menu of budgets over the default one at B = 2: "in-sample" (mean of 20 draws), or "true"."""
    population = paper_population(SHOWN)
    if value == "true":
        return ablations.granularity(population, [2.0]).set_index("menu").gain.to_dict()
    claimed = {
        name: float(rehearse_oracle(population, 48, [2.0], menu, **PAPER_WAY).claimed.mean())
        for name, menu in ablations.MENUS.items()
    }
    return {name: value - claimed["default"] for name, value in claimed.items()}


@cache
def noise_importances() -> tuple[float, float]:
    """The smallest and the largest importance of 16 noise columns for the labels at B = 2, the mean of ten draws."""
    found = ablations.importances(noise_features(200), searched(SHOWN, 2.0).labels, draws=10)
    return float(found.noise_low[0]), float(found.noise_high[0])
