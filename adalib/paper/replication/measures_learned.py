"""Measurements of what was learned, shared by rows and claims, each made once: on real answers, and from noise."""

from __future__ import annotations

from functools import cache

import pandas as pd

from adalib.datasets.loading import load
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.heldout import held_out
from adalib.evaluate.rehearsal import rehearse_oracle
from adalib.evaluate.scores import HeldOutRow
from adalib.paper import ablations, protocol, results
from adalib.paper.ablations.comparison import TRIES
from adalib.paper.patterns import level_shares
from adalib.paper.replication.measures import SHOWN, searched
from adalib.paper.settings import PAPER_WAY, answers, utility
from adalib.paper.stand_ins import paper_population


@cache
def honest(by_family: bool = False) -> dict[str, HeldOutRow]:
    """What every policy has at B = 3 on word-fewshot, held out by question or by family; a row a policy."""
    responses = load("word-fewshot")
    groups = responses.extras["family"] if by_family else None
    return {row.policy: row for row in held_out(responses, [3.0], groups=groups)}


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
