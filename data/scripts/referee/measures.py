"""Measurements that several rows and claims share, with the calls and seeds of the chapters.

Cases, draws and trained models are those of the chapters, so that the pages cannot disagree. Where
a claim is about MATH or GSM8K, the real answers to both decide; the simulated settings are compared
with the printed tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd

from adabook.paper import ablations, models, patterns, results, settings, theorems
from adabook.paper.ablations import Comparison, recorded_comparison
from adabook.paper.counts import bounded_votes
from adabook.paper.patterns import by_difficulty
from adabook.paper.results import recorded_frame, recorded_rows
from adabook.paper.settings import BENCHMARKS, PAPER, PAPER_SETTINGS, PAPER_WAY, TARGETS
from adabook.recorded import recorded_cells
from adalib.datasets.folds import deal
from adalib.datasets.populations import Population, flat_null
from adalib.datasets.responses import Responses
from adalib.evaluate import baselines
from adalib.evaluate.baselines import Plan, best_mix, noise_features
from adalib.evaluate.crossfit import OracleScore, cross_fitted_oracle, rehearse_oracle, score_oracle
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.evaluate.scores import HeldOutRow
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.features import text_features
from adalib.solve.bisection import Bisection, bisect, mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import UtilityTable
from referee.maps import curve_clusters, level_shares, out_of_fold

#: The simulated setting that the paper's figures show.
SHOWN = "deepseek-v3-math"

#: MATH, answered by a small model of one of the paper's families, and by its smaller sister.
MATH = ("math-qwen15", "math-qwen05")

#: GSM8K, answered by one of the paper's models; and MATH, of whose answers by another only the
#: right ones were counted.
STRONG = "gsm8k-gpt4omini"
COUNTED = "math-qwen7b"

# Clusters of curves, by their place in `maps.SHAPES`.
_EASY = 0
_RESPONSIVE = 1
_HARD = 3

_RUNS = 40  # of the trials of Appendix D

#: The simulated settings that stand in for the paper's three on MATH.
SIMULATED_MATH = PAPER_SETTINGS[:3]


def levels_of(name: str) -> Sequence:
    """The level of every question of a setting."""
    levels = settings.answers(name).levels
    assert levels is not None
    return levels


@cache
def in_sample(name: str = MATH[0]) -> UtilityTable:
    """The table of real answers by the paper's estimates as we reconstruct them."""
    return settings.answers(name).table(**PAPER_WAY)


@cache
def like_math() -> Population:
    """The population whose probabilities are the frequencies of the real answers to MATH."""
    return Population.from_responses(settings.answers(MATH[0]))


@cache
def searched(name: str, budget: float) -> Bisection:
    """The paper's search on a setting."""
    table = settings.utility(name)
    return bisect(table.acc, table.cost, budget)


def printed_misses() -> list[float]:
    """What the twelve printed searches spend beyond their budgets; the nine on MATH come first."""
    sweeps = [PAPER[name]["lambda_sweep"]["cost"] for name in PAPER_SETTINGS]
    return [cost - B for costs in sweeps for cost, B in zip(costs, TARGETS, strict=True)]


def printed_gains(method: str) -> np.ndarray:
    """Printed accuracy of a method minus that of Fixed, (settings, budgets)."""
    main = [PAPER[name]["main"] for name in PAPER_SETTINGS]
    return np.array(
        [np.subtract(rows[method]["accuracy"], rows["Fixed"]["accuracy"]) for rows in main]
    )


@cache
def mixed_misses() -> list[float]:
    """How far the random mixture of two plans is from the budget, wherever one is needed."""
    tables = [in_sample(name) for name in BENCHMARKS]
    plans = [(B, mix(table.acc, table.cost, B)) for table in tables for B in TARGETS]
    return [abs(plan.cost - B) for B, plan in plans if plan.share > 0]


def oracle_of(name: str, target: float) -> dict:
    """The cross-fitted oracle of a real setting, against the best mix at its cost."""
    return recorded_cells()[f"{name} by question"]["oracle", target]


@cache
def rehearsed(samples: int, halves: bool = False) -> OracleScore:
    """The oracle rehearsed on the population like MATH, whose truth is known."""
    return rehearse_oracle(like_math(), samples, TARGETS, halves=halves, **PAPER_WAY)


@cache
def optimism() -> dict[str, Interval]:
    """Return the oracle's claim at B = 3 from 48 answers, less its labels' score on 48 others."""
    found = {}
    for name in BENCHMARKS:
        score = cross_fitted_oracle(settings.answers(name), [3.0], **PAPER_WAY)
        mean, low, high = np.ravel(
            [score.optimism.mean, score.optimism.low, score.optimism.high]
        ).tolist()
        found[name] = Interval(mean, low, high)
    return found


@cache
def null() -> OracleScore:
    """Rehearse the oracle at B = 3 where no budget helps, by the paper's estimate from 48."""
    return rehearse_oracle(flat_null(200), 48, [3], **PAPER_WAY)


@cache
def estimates(estimator: Literal["subsets", "windows"]) -> np.ndarray:
    """Errors of Acc(x, 16) from 48 answers on the population like MATH, one row per draw."""
    drawn = [
        like_math().sample(48, seed).table([16], estimator=estimator).acc[:, 0]
        for seed in range(30)
    ]
    return np.array(drawn) - like_math().acc([16])[:, 0]


@cache
def trials(best_of: bool = False) -> pd.DataFrame:
    """Try the advice of Appendix D on the population like MATH, 40 times.

    Labels at B = 3 come from 1, 8 or 16 trials per budget, one row each. A trial is a vote of b
    answers, or with ``best_of`` it succeeds if one of b answers is right.

    The labels claim an accuracy (``claimed``) and have a true one (``worth``). Two runs ``agree``
    on so many labels, of which the commonest one has the share ``common``. Over the runs the worth
    of the labels has the standard deviation ``spread``, and the mean accuracy of a fixed budget the
    standard ``error``.
    """
    truth = like_math().table()
    acc = 1 - (1 - truth.acc[:, :1]) ** np.array(truth.budgets) if best_of else truth.acc
    rng = np.random.default_rng(0)
    rows = {}
    for number in (1, 8, 16):
        drawn = rng.binomial(number, acc, (_RUNS, *acc.shape)) / number
        labels = np.array([frontier(each, truth.cost).at(3).labels for each in drawn])
        claimed = np.take_along_axis(drawn, labels[..., None], axis=2)
        worth = np.take_along_axis(np.stack([acc] * _RUNS), labels[..., None], axis=2)
        # In how many runs a question got each label; of all pairs of runs, those that agree.
        got = (labels[..., None] == np.arange(truth.k)).sum(axis=0)
        agreeing_pairs = (got * (got - 1)).sum(axis=1)
        rows[number] = {
            "claimed": claimed.mean(),
            "worth": worth.mean(),
            "agree": agreeing_pairs.mean() / (_RUNS * (_RUNS - 1)),
            "common": np.mean([np.bincount(run).max() / run.size for run in labels]),
            "spread": worth.mean(axis=(1, 2)).std(),
            "error": (drawn.mean(axis=1) - acc.mean(axis=0)).std(),
        }
    return pd.DataFrame(rows).T


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
    """Return the numbers that the paper states of four clusters, for the simulated curves."""
    found = curve_clusters(np.concatenate([settings.utility(name).acc for name in PAPER_SETTINGS]))
    easy, responsive, _, hard = found.centres
    by_setting = np.split(found.labels, len(PAPER_SETTINGS))
    clusters_of = dict(zip(PAPER_SETTINGS, by_setting, strict=True))
    labels = searched(SHOWN, 2.0).labels
    cluster = clusters_of[SHOWN]
    figures = {
        "easy_first": easy[0],
        "responsive_first": responsive[0],
        "responsive_last": responsive[-1],
        "hard_highest": hard.max(),
        "gsm8k_easy": np.mean(clusters_of["deepseek-v3-gsm8k"] == _EASY),
        "easy_one": np.mean(labels[cluster == _EASY] == 0),
        "hard_one": np.mean(labels[cluster == _HARD] == 0),
        "responsive_share": _responsive_share(cluster, labels, settings.utility(SHOWN).cost),
    }
    return {name: float(value) for name, value in figures.items()}


def _responsive_share(cluster: np.ndarray, labels: np.ndarray, cost: np.ndarray) -> float:
    """Of the answers in budgets of 4 and more, the share that goes to the responsive cluster."""
    spent = cost[labels] * (labels >= 2)
    return spent[cluster == _RESPONSIVE].sum() / spent.sum()


@cache
def _cases() -> tuple[theorems.Case, ...]:
    """The random cases of the chapter "Duality"."""
    return tuple(theorems.random_cases(700, seed=1))


@cache
def failures(statement: str) -> pd.DataFrame:
    """How a statement fares on the 700 random cases: one row per claim, printed first."""
    surveyed = theorems.survey(theorems.STATEMENTS[statement], _cases())
    surveyed = surveyed.assign(fails=~surveyed.holds, off=surveyed.gap.abs())
    claims = surveyed.groupby(["version", "claim"], sort=False)
    counted = claims.agg(cases=("fails", "size"), failures=("fails", "sum"), widest=("off", "max"))
    return counted.reset_index()


@cache
def lines_passed() -> tuple[int, int]:
    """Count the random cases whose lost accuracy passes the figure's dotted and dashed lines."""
    dotted = 0
    dashed = 0
    for case in _cases():
        lost, regret = theorems.STATEMENTS["Theorem 2, drawn"](case).printed
        dotted += not lost.holds
        dashed += lost.left > regret.right + 1e-9
    return dotted, dashed


@cache
def perfect_copies() -> tuple[int, int]:
    """Count the random cases in which a copy of the oracle breaks Theorem 3 (2), and all cases."""
    broken = 0
    for case in _cases():
        copy = replace(case, labels=oracle_labels(case.acc, case.cost, case.lam))
        broken += not theorems.STATEMENTS["Theorem 3"](copy).printed[1].holds
    return broken, len(_cases())


@cache
def real_clusters() -> dict[str, float]:
    """Return `clusters` on real answers: centres over benchmarks and models, budgets on MATH."""
    names = (*BENCHMARKS, "gsm8k-qwen05", MATH[1])
    curves = np.concatenate([settings.utility(name).acc for name in names])
    easy, responsive, _, hard = curve_clusters(curves).centres
    table = in_sample()
    labels = bisect(table.acc, table.cost, 2).labels
    cluster = curve_clusters(table.acc).labels
    figures = {
        "easy_first": easy[0],
        "hard_highest": hard.max(),
        "responsive_first": responsive[0],
        "responsive_share": _responsive_share(cluster, labels, table.cost),
    }
    return {name: float(value) for name, value in figures.items()}


@cache
def fifths() -> pd.DataFrame:
    """What each fifth of MATH gains at B = 3 on answers that were not used to choose."""

    def place(table: UtilityTable) -> np.ndarray:
        return patterns.difficulty_bins(table.acc[:, 0])

    return patterns.gain_by(settings.answers(MATH[0]), 3, place, 5, **PAPER_WAY)


def levels() -> list[pd.DataFrame]:
    """Accuracy and gain by level of MATH: of the larger model, and of the smaller."""
    return [
        patterns.by_level(settings.utility(name), levels_of(name)).set_index("level")
        for name in MATH
    ]


@cache
def counted_levels() -> pd.DataFrame:
    """Return what Qwen2.5-7B scores by level of MATH, one row per level, at temperature 0.6.

    One answer's accuracy is known, ``one``. The gain of 16 answers lies between ``least``, if all
    wrong answers agree, and ``most``, if all differ. ``printed`` is the paper's accuracy.
    """
    answers = settings.answers(COUNTED)
    right = answers.values.sum(axis=1)
    agree, differ = bounded_votes(right, answers.samples, (1, 16))
    scores = {
        "one": agree[:, 0],
        "least": agree[:, 1] - agree[:, 0],
        "most": differ[:, 1] - differ[:, 0],
    }
    by_level = pd.DataFrame(scores).groupby(np.array(answers.levels)).mean()
    printed = PAPER["qwen2.5-7b-math"]["per_level"]
    by_level["printed"] = [printed[str(level)]["acc1"] for level in by_level.index]
    return by_level


def contrast(names: tuple[str, str] = MATH) -> Interval:
    """Compare two models by how much the gain of 16 over 1 rises from level 2 to 3 of MATH."""
    first, second = (
        settings.utility(name).acc[:, -1] - settings.utility(name).acc[:, 0] for name in names
    )
    lead = first - second
    level = np.array(levels_of(names[0]))
    # The questions of the two levels are different ones, so any pairing will do.
    return mean_interval(lead[level == 3] - lead[level == 2])


def honest(part: str = "word-fewshot by question") -> dict[str, HeldOutRow]:
    """Return every policy's held-out row at B = 3; a benchmark's part is "NAME held out"."""
    return {row.policy: row for row in recorded_rows(part) if row.target == 3}


def on_benchmarks(policy: str) -> list[HeldOutRow]:
    """The rows of a policy on GSM8K and MATH at the paper's budgets, held out."""
    rows = [row for name in BENCHMARKS for row in recorded_rows(f"{name} held out")]
    return [row for row in rows if row.policy == policy and row.target in TARGETS]


@cache
def text_worth() -> pd.DataFrame:
    """What text and watching are worth to each model, by set, policy, target and teaching."""
    found = models.frame().query("paid == 'answers'")
    return found.set_index(["set", "policy", "target", "taught"])


def worth_of(name: str, policy: str, target: float = 3.0, taught: int = TAUGHT) -> Interval:
    """Return one policy's gain over the best mix of its cost, over five deals."""
    row = text_worth().loc[name, policy, target, taught]
    return Interval(float(row.gain), float(row.low), float(row.high))


def spent_by(name: str, policy: str, target: float = 3.0) -> float:
    """Return what one policy spent, in answers per question."""
    return float(text_worth().loc[name, policy, target, TAUGHT].cost)


def clear_leads(name: str, policy: str) -> int:
    """Count the budgets of the main table at which a policy is clearly ahead of the mix."""
    return sum(worth_of(name, policy, target).low > 0 for target in TARGETS)


def explained(name: str, features: str) -> pd.Series:
    """Return the share of the improvement that some features explain on new questions."""
    found = models.explained().set_index(["set", "policy", "quantity"])
    return found.loc[name, features, "improvement"]


def reconstructed() -> pd.DataFrame:
    """Return our reconstruction of the five methods on GSM8K and MATH, with noise features."""
    parts = {name: recorded_frame(f"{name} reconstructed, noise") for name in BENCHMARKS}
    return pd.concat(parts, names=["setting"]).reset_index("setting")


def along() -> pd.DataFrame:
    """Return held-out gains over the best mix on the benchmarks, for budgets from 1 to 12.

    The policies are the oracle and predicted curves.
    """
    kept = []
    for name in BENCHMARKS:
        for row in recorded_rows(f"{name} along the grid"):
            if row.policy in ("oracle", "curve"):
                kept.append((name, row.policy, row.target, row.gain, row.gain_low))
    return pd.DataFrame(kept, columns=["setting", "policy", "target", "gain", "low"])


@cache
def ranked_by_text() -> dict[str, tuple[float, float]]:
    """Return how text ranks unseen questions, by set of answers, as two rank correlations.

    The first is with Acc(x, 1), the second with the gain of 16 answers over one.
    """
    correlations = {}
    for name in (*BENCHMARKS, STRONG):
        acc = settings.utility(name).acc
        curves = _predicted_curves(name)
        first = _rank_correlation(curves[:, 0], acc[:, 0])
        gain = _rank_correlation(curves[:, -1] - curves[:, 0], acc[:, -1] - acc[:, 0])
        correlations[name] = first, gain
    return correlations


def _predicted_curves(name: str) -> np.ndarray:
    """The accuracy curves that text predicts for questions it was not trained on."""
    table = settings.utility(name)
    features = text_features(settings.answers(name).questions)
    fold = deal(range(table.n), 5)
    curves = np.empty(table.acc.shape)
    for out in range(5):
        train = fold != out
        policy = CurvePolicy().fit(features[train], table.acc[train], table.cost, budget=3)
        curves[fold == out] = policy.curves(features[fold == out])
    return curves


def _rank_correlation(guess: np.ndarray, true: np.ndarray) -> float:
    """Spearman's rank correlation."""
    return float(pd.Series(guess).corr(pd.Series(true), "spearman"))


@cache
def compared(split: str) -> Comparison:
    """Return the classifiers on the simulated pool with noise, split by "row" or "question"."""
    return recorded_comparison(f"simulated pool by {split}", ablations.simulated_pool(), split)


@cache
def on_math(features: str, split: str) -> Comparison:
    """Return the classifiers on MATH with "text" or "noise" features.

    The split is by "row" or "question", or "fold", which scores each question once.
    """
    columns = noise_features(settings.answers(MATH[0]).n, 15) if features == "noise" else None
    pooled = ablations.real_pool(MATH, columns)
    if split == "fold":
        return recorded_comparison(f"MATH, {features} in folds", pooled, split, 5)
    return recorded_comparison(f"MATH, {features} by {split}", pooled, split, 10)


def classifier_table(split: str) -> pd.DataFrame:
    """Return means over the splits, one row per classifier."""
    return compared(split).summary().set_index("classifier")


def trees_over_linear(compared: Comparison | pd.DataFrame) -> float:
    """Return the mean accuracy of the two tree models minus that of the two linear ones."""
    if isinstance(compared, Comparison):
        compared = compared.summary().set_index("classifier")
    trees = compared.loc[["forest", "gbm"]].accuracy.mean()
    linear = compared.loc[["logistic", "svm"]].accuracy.mean()
    return float(trees - linear)


def near_misses(confusion: np.ndarray) -> dict[str, float]:
    """Return the share of errors in a confusion matrix, and where they go, as shares of them.

    ``near`` is to a neighbouring column, ``to_first`` and ``from_first`` are to and from the first,
    ``far_to_first`` is to the first from a column that is not its neighbour.
    """
    counts = np.asarray(confusion, dtype=float)
    wrong = counts - np.diag(np.diag(counts))
    errors = {
        "near": np.diag(counts, 1).sum() + np.diag(counts, -1).sum(),
        "to_first": wrong[1:, 0].sum(),
        "far_to_first": wrong[2:, 0].sum(),
        "from_first": wrong[0].sum(),
    }
    shares = {kind: float(count / (wrong.sum() or 1.0)) for kind, count in errors.items()}
    return {"error": float(wrong.sum() / counts.sum()), **shares}


def near(comparison: Comparison) -> dict[str, float]:
    """Where the errors of the boosted trees go, without b = 2: then 4 is the neighbour of 1."""
    return near_misses(np.delete(np.delete(comparison.confusion("gbm"), 1, axis=0), 1, axis=1))


@cache
def frontier_of_shown() -> pd.DataFrame:
    """The paper's frontier figure on the simulated DeepSeek-V3 on MATH."""
    return pareto(SHOWN)


def pareto(name: str, grid: Sequence[float] = results.GRID) -> pd.DataFrame:
    """Accuracy against the average budget on a simulated setting, claimed and true."""
    responses = settings.paper_setting(name)
    truth = settings.paper_population(name).table()
    estimate = responses.table(**PAPER_WAY)
    chosen = score_oracle(estimate, truth, grid)
    best = score_oracle(truth, truth, grid)
    learned = _learned_along(responses, estimate, grid)

    def accuracy(plan: Plan) -> float:
        return plan.expected(truth.acc).mean()

    return pd.DataFrame(
        {
            "budget": np.asarray(grid, dtype=float),
            "claimed": chosen.claimed.mean(axis=0),
            "worth": chosen.accuracy.mean(axis=0),
            "oracle": best.accuracy.mean(axis=0),
            "mix": [accuracy(best_mix(truth.acc, truth.cost, B)) for B in grid],
            "fixed": [accuracy(baselines.fixed(truth.cost, B, truth.n)) for B in grid],
            "random": [accuracy(baselines.random(truth.cost, B, truth.n)) for B in grid],
            "learned": [row.accuracy for row in learned],
            "learned_cost": [row.cost for row in learned],
        }
    )


def _learned_along(
    responses: Responses, estimate: UtilityTable, grid: Sequence[float]
) -> list[results.PaperRow]:
    """The paper's learned policy by our reconstruction, with noise features, at every budget."""
    # Beyond the cost of the most accurate allocation nothing changes, so one classifier serves for
    # all those budgets.
    most = float(frontier(estimate.acc, estimate.cost).cost[-1])
    capped = np.minimum(grid, max(most, min(grid))).tolist()
    rows = results.reconstructed(responses, capped, seeds=1, features=noise_features(responses.n))
    row_by_budget = {row.target: row for row in rows if row.method == "Ours"}
    return [row_by_budget[budget] for budget in capped]


@cache
def copied() -> tuple[float, float]:
    """Return the largest difference per cell from the oracle's map of MATH at B = 3.

    The first is of noise by our reconstruction, the second of text held out.
    """
    table = in_sample()
    levels = levels_of(MATH[0])
    labels = bisect(table.acc, table.cost, 3.0).labels
    oracle_map = level_shares(labels, levels, table.k)

    def largest_difference(columns: np.ndarray) -> float:
        differences = level_shares(columns, levels, table.k) - oracle_map
        return float(differences.abs().to_numpy().max())

    noise = results.mostly_seen(noise_features(labels.size), labels)
    text = out_of_fold(text_features(settings.answers(MATH[0]).questions), table, 3.0)
    return largest_difference(noise), largest_difference(text)


@cache
def curve_of_data(name: str = SHOWN) -> pd.DataFrame:
    """Return accuracy on all, seen and unseen questions by share of training data: noise, B = 3."""
    runs = ablations.recorded_curve(name, (3.0,))
    columns = ["accuracy", "fixed", "oracle", "imitation", "cost"]
    return runs.groupby(["part", "share"])[columns].mean()


def passes_fixed(curve: pd.DataFrame) -> float:
    """Return the smallest training share at which a curve over all questions lies above Fixed."""
    every = curve.loc["all"]
    return float(every.index[every.accuracy > every.fixed].min())


@cache
def menus(value: str) -> dict[str, float]:
    """Return every menu's gain over the default at B = 2 on MATH.

    ``value`` is "in-sample", by windows, or "cross-fitted".
    """
    return menus_of(MATH[0], value, **(PAPER_WAY if value == "in-sample" else {}))


@cache
def menus_of(
    name: str, value: str = "cross-fitted", menu: tuple[int, ...] = (), **way
) -> dict[str, float]:
    """The same on any real setting, or of one menu that is called "mine"."""
    offered = {"default": ablations.MENUS["default"], "mine": menu} if menu else ablations.MENUS
    found = ablations.granularity(settings.answers(name), [2.0], offered, **way)
    return found[found.value == value].set_index("menu").gain.to_dict()


def features_beyond_chance(name: str) -> pd.DataFrame:
    """Mark the class means of a benchmark's features that pass shuffled labels, at B = 2."""
    responses = settings.answers(name)
    table = settings.utility(name)
    entropy = responses.entropy
    assert entropy is not None
    features = text_features(responses.questions, entropy[:, 0])
    labels = frontier(table.acc, table.cost).at(2).labels
    return ablations.beyond_chance(features, labels)


def importances() -> pd.DataFrame:
    """Return each text feature's importance for MATH at B = 2, with shuffled labels and noise."""
    return recorded_frame("importances on MATH")
