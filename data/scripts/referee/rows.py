"""Every number of the paper's tables, and what its text says of two figures, next to ours.

``data/simulated/paper_register.jsonl`` lists the items and names the function that measures each.
We have neither the paper's code nor its answers: stand-ins were fitted to some of these tables, and
the row Ours comes from random numbers in place of features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from adabook.paper import ablations, results, settings
from adabook.paper.referee import Cell
from adabook.paper.settings import PAPER, PAPER_ABLATIONS, PAPER_CLAIMS, PAPER_SETTINGS, TARGETS
from adalib.evaluate import baselines
from adalib.evaluate.baselines import from_labels
from adalib.solve.bisection import bisect
from adalib.solve.oracle import average_cost
from referee.sources import ON_MATH

#: The simulated setting that the paper's figures show.
SHOWN = "deepseek-v3-math"

# A tolerance is about what another draw of 200 questions changes.
_GAP = {"accuracy": 0.02, "imitation": 0.03, "gap": 0.01, "cost": 0.3}
_CLASSIFIERS = {
    "accuracy": 0.03,
    "gap": 0.03,
    "imitation": 0.03,
    "cost": 0.3,
    "cost_std": 0.1,
    "accuracy_std": 0.02,
    "gap_std": 0.02,
    "imitation_std": 0.02,
}


@cache
def _labels(name: str, budget: float) -> np.ndarray:
    table = settings.utility(name)
    return bisect(table.acc, table.cost, budget).labels


def _shares(labels: np.ndarray, k: int) -> np.ndarray:
    """Share of the questions at each of k columns."""
    return np.bincount(labels, minlength=k) / labels.size


def _beside_print(rows: pd.DataFrame, name: str, tolerances: Mapping[str, float]) -> Iterator[Cell]:
    """The cells of a table that holds a column X of ours and ``printed_X`` of the paper."""
    for row in rows.to_dict("records"):
        for column, tolerance in tolerances.items():
            paper, ours = row[f"printed_{column}"], row[column]
            yield Cell(f"{name.format(**row)}: {column}", paper, ours, tolerance)


def main_table() -> Iterator[Cell]:
    """Accuracy and cost of five methods, and how much Ours varies over the splits."""
    table = results.main_table()
    yield from _beside_print(table, "{setting}, {method}, B = {target:g}", results.TOLERANCE)
    spreads = table[table.method == "Ours"].set_index(["setting", "target"]).accuracy_std
    for name in PAPER_SETTINGS:
        for B, printed in zip(TARGETS, PAPER[name]["main"]["Ours"]["std"], strict=True):
            yield Cell(f"{name}, B = {B:g}: spread of Ours", printed, spreads[name, B], 0.003)


def baseline_costs() -> Iterator[Cell]:
    """What Fixed, Random and Heuristic cost by our definitions."""
    for name in PAPER_SETTINGS:
        cost = settings.utility(name).cost
        texts = settings.answers(name).questions
        for place, B in enumerate(TARGETS):
            plans = {
                "Fixed": baselines.fixed(cost, B, len(texts)),
                "Random": baselines.random(cost, B, len(texts)),
                "Heuristic": baselines.length(texts, cost, B),
            }
            for method, plan in plans.items():
                printed = PAPER[name]["main"][method]["cost"][place]
                ours = plan.expected(cost).mean()
                yield Cell(f"{name}, {method}, B = {B:g}", printed, ours, 0.025)


def stated_gains() -> Iterator[Cell]:
    """The gains that the text states, next to the paper's own table."""
    gains = results.claimed_gains().set_index("setting")
    for name, gain in gains.iterrows():
        what = f"{name}: gain over Fixed at B = 3, in its own table"
        yield Cell(what, gain.claimed, gain.difference, 0.001)
    ends = (("Ours", "gain_range", 0.005), ("Heuristic", "heuristic_range", 0.001))
    for method, stated, tolerance in ends:
        main = [PAPER[name]["main"] for name in ON_MATH]
        lead = [np.subtract(x[method]["accuracy"], x["Fixed"]["accuracy"]) for x in main]
        for word, end, ours in zip(
            ("smallest", "largest"), PAPER_CLAIMS[stated], (np.min(lead), np.max(lead)), strict=True
        ):
            what = f"{word} gain of {method} over Fixed on MATH, in its own table"
            yield Cell(what, end, ours, tolerance)
    best = gains.loc["qwen2.5-7b-math"]
    relative = best.difference / (best.over_mix + best["mix"] - best.difference)
    yield Cell("best relative gain", PAPER_CLAIMS["relative_gain"], relative, 0.0005)


def classifiers() -> Iterator[Cell]:
    """Five classifiers on pooled rows, split by row, reading random numbers."""
    printed = pd.DataFrame(PAPER_ABLATIONS["classifiers"]).T
    ours = ablations.summary(ablations.simulated_pool(), ablations.recorded_predictions())
    compared = ours.loc[printed.index].join(printed.add_prefix("printed_"))
    yield from _beside_print(compared.reset_index(names="name"), "{name}", _CLASSIFIERS)


def levels() -> Iterator[Cell]:
    """Accuracy of one answer and of sixteen by level."""
    for name in PAPER_SETTINGS:
        printed, acc = PAPER[name], settings.utility(name).acc
        known = [str(level) for level in settings.answers(name).levels or ()]
        ends = pd.DataFrame({"first": acc[:, 0], "last": acc[:, -1]})
        ours = ends.assign(gain=acc[:, -1] - acc[:, 0]).groupby(known).mean()
        for (level, accuracy), gain in zip(
            printed["per_level"].items(), printed["level_gain"], strict=True
        ):
            compared = {
                "accuracy at b = 1": (accuracy["acc1"], ours.loc[level, "first"]),
                "accuracy at b = 16": (accuracy["acc16"], ours.loc[level, "last"]),
                "gain": (gain, ours.loc[level, "gain"]),
            }
            for quantity, pair in compared.items():
                yield Cell(f"{name}, level {level}: {quantity}", *pair, 0.03)


def shares() -> Iterator[Cell]:
    """Share of the questions to which the oracle gives each budget."""
    for name in PAPER_SETTINGS:
        table = settings.utility(name)
        for B, printed in zip(TARGETS, PAPER[name]["label_shares"], strict=True):
            ours = _shares(_labels(name, B), table.k)
            for b, paper, share in zip(table.budgets, printed, ours, strict=True):
                yield Cell(f"{name}, B = {B:g}: share of b = {b}", paper, float(share), 0.05)


def oracle_gap() -> Iterator[Cell]:
    """The learned policy next to the oracle."""
    yield from _beside_print(results.oracle_gap(), "{setting}, B = {target:g}", _GAP)


def price_sweep() -> Iterator[Cell]:
    """The price that the search finds, and what it costs."""
    for name in PAPER_SETTINGS:
        table, printed = settings.utility(name), PAPER[name]["lambda_sweep"]
        for B, price, cost in zip(TARGETS, printed["lam"], printed["cost"], strict=True):
            found = bisect(table.acc, table.cost, B)
            yield Cell(f"{name}, B = {B:g}: price", price, found.lam, 0.02)
            yield Cell(f"{name}, B = {B:g}: cost", cost, found.cost, 0.3)


def staircases() -> Iterator[Cell]:
    """The average cost where compute is free, and where it is expensive."""
    high, beyond = PAPER_CLAIMS["transition"][1], PAPER_CLAIMS["cost_beyond_transition"]
    for name in PAPER_SETTINGS:
        table = settings.utility(name)
        free, dear = average_cost(table.acc, table.cost, [0, high])
        yield Cell(f"{name}: cost at the price 0", PAPER[name]["unconstrained_cost"], free, 0.3)
        if name in ON_MATH:
            yield Cell(f"{name}: cost at the price {high:g}", beyond, dear, 0.1)


def heatmap() -> Iterator[Cell]:
    """Shares that the text reads off the figure of budgets by level."""
    k = settings.utility(SHOWN).k
    low, high = PAPER_CLAIMS["heatmap_two"]
    for B in (1.5, 3.0):
        ours = _shares(_labels(SHOWN, B), k)[1]
        yield from _between(f"B = {B:g}: share of b = 2", low, ours, high, 0.005)
    low, high = PAPER_CLAIMS["heatmap_middle"]
    weights = pd.DataFrame(from_labels(_labels(SHOWN, 1.5), k).weights)
    middle = weights[[2, 3]].sum(axis=1).groupby(np.array(settings.answers(SHOWN).levels)).mean()
    for level, ours in middle.iloc[1:].items():
        what = f"B = 1.5, level {level}: share of b = 4 and 8"
        yield from _between(what, low, ours, high, 0.02)


def _between(name: str, low: float, ours: float, high: float, room: float) -> Iterator[Cell]:
    """A number that the paper puts into a range: a cell for each end."""
    yield Cell(f"{name}, from below", low, ours, room, ">=")
    yield Cell(f"{name}, from above", high, ours, room, "<=")


def archetypes() -> Iterator[Cell]:
    """What the text says of the four clusters that K-means finds among the curves."""
    curves = np.concatenate([settings.utility(name).acc for name in PAPER_SETTINGS])
    model = KMeans(4, n_init=10, random_state=0).fit(curves)
    # From the highest mean to the lowest; of the middle two the one that gains more comes first.
    rise = model.cluster_centers_[:, -1] - model.cluster_centers_[:, 0]
    easy, first, second, hard = np.argsort(-model.cluster_centers_.mean(axis=1), kind="stable")
    responsive = first if rise[first] >= rise[second] else second
    centres = model.cluster_centers_
    of_setting = dict(
        zip(PAPER_SETTINGS, np.split(model.labels_, len(PAPER_SETTINGS)), strict=True)
    )
    one = _labels(SHOWN, 2.0) == 0
    said = PAPER_CLAIMS
    start, end = said["archetype_responsive"]
    at_once, routed = said["archetype_easy_gsm8k"], said["routed_to_one"]
    easy_gsm = np.mean(of_setting["deepseek-v3-gsm8k"] == easy)
    yield Cell("easy: accuracy at b = 1", said["archetype_easy_from"], centres[easy][0], 0, ">=")
    yield Cell("responsive: accuracy at b = 1", start, centres[responsive][0], 0.15)
    yield Cell("responsive: accuracy at b = 16", end, centres[responsive][-1], 0.15)
    top = centres[hard].max()
    yield Cell("hard: highest accuracy", said["archetype_hard_below"], top, 0, "<=")
    yield Cell("GSM8K: share of easy", at_once, easy_gsm, 0, ">=")
    for kind, cluster in (("easy", easy), ("hard", hard)):
        ours = one[of_setting[SHOWN] == cluster].mean()
        yield Cell(f"{kind}: share that gets b = 1 at B = 2", routed, ours, 0.02, ">=")
