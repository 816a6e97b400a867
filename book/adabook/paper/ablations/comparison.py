"""Five classifiers on the same splits of a pool, by rows as in the paper and by questions.

A split by rows puts copies of a question on both sides; one by questions does not, and its labels
for training are made from training questions alone. The difference is what the copies were worth.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adabook.paper.ablations.pools import Pooled, cells
from adabook.paper.results import recorded_part
from adalib.datasets.folds import deal
from adalib.evaluate.baselines import best_mix, from_labels
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.evaluate.learners import side_by_side
from adalib.learn.label_policy import LabelPolicy, regret_weights
from adalib.solve.oracle import chosen

#: The five classifiers of the paper's ablation, in the order of its table.
ZOO = ("logistic", "svm", "forest", "mlp", "gbm")


def zoo(seed: int = 0) -> dict[str, LabelPolicy]:
    """Return the five classifiers of the paper's ablation as unfitted policies, by name."""
    # Not at the top: every chapter would wait for them.
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    models = (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=seed)),
        make_pipeline(StandardScaler(), SVC(kernel="rbf", random_state=seed)),
        RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1),
        make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(64,), random_state=seed)),
        None,  # the default, XGBoost at the paper's hyper-parameters
    )
    return {name: LabelPolicy(model, seed=seed) for name, model in zip(ZOO, models, strict=True)}


#: On how many splits each classifier is tried: ten as in the paper; the network, which takes four
#: times as long as a forest, on two.
TRIES = {"logistic": 10, "svm": 10, "forest": 10, "mlp": 2, "gbm": 10}

_TEST = 0.2  # share of the rows, or of the questions, that a random split holds out


class SplitRun(NamedTuple):
    """One classifier on one split: the rows held out, and the columns predicted for them."""

    classifier: str
    number: int
    rows: np.ndarray
    predicted: np.ndarray


@dataclass(frozen=True, eq=False)
class Comparison:
    """What every classifier did on every split: each run, and what they add up to."""

    pooled: Pooled
    split: str
    split_runs: tuple[SplitRun, ...]

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per classifier and split, everything measured on its held-out rows.

        ``majority`` is the share of the commonest label, ``mix`` the best random mix at the same
        cost, setting by setting and target by target. ``eps`` is the share of wrong labels, and
        ``regret`` the accuracy lost minus the price of the cost saved. The paper bounds it by
        E[M 1(wrong)] (``weighted``) and by the largest M times ``eps`` (``largest``); its figure
        draws the mean M times ``eps`` (``average``).
        """
        return pd.DataFrame([self._measure(run) for run in self.split_runs])

    def summary(self) -> pd.DataFrame:
        """Return means and deviations over the splits, one row per classifier."""
        columns = ["accuracy", "gap", "imitation", "cost", "first", "oracle", "majority", "gain"]
        grouped = self.runs.groupby("classifier", sort=False)[columns]
        spread = grouped.std(ddof=0).add_suffix("_std")
        splits = grouped.size().rename("splits")
        return pd.concat([grouped.mean(), spread, splits], axis=1).reset_index()

    def confusion(self, classifier: str) -> np.ndarray:
        """Count held-out rows by oracle column (row) and predicted column, over all splits."""
        rows, predicted = self._all(classifier)
        k = self.pooled.budgets.size
        counts = np.zeros((k, k), dtype=int)
        np.add.at(counts, (self.pooled.labels[rows], predicted), 1)
        return counts

    def losses(self, classifier: str) -> pd.DataFrame:
        """Tabulate errors by ``label`` and ``predicted``: ``count``, and mean net value lost."""
        rows, predicted = self._all(classifier)
        labels = self.pooled.labels[rows]
        net = self.pooled.choose[rows] - self.pooled.lam[rows, None] * self.pooled.budgets
        loss = chosen(net, labels) - chosen(net, predicted)
        frame = pd.DataFrame({"label": labels, "predicted": predicted, "loss": loss})
        wrong = frame[labels != predicted].groupby(["label", "predicted"]).loss
        return wrong.agg(count="size", loss="mean").reset_index()

    def gain(self, classifier: str, over: str | None = None) -> Interval:
        """Return the gain over the best mix at equal cost, or the lead over another classifier.

        The interval is over questions or families, with the split "fold" only.
        """
        if self.split != "fold":
            raise ValueError(
                f'an interval over questions needs split "fold", where each is scored once; '
                f"not {self.split!r}"
            )
        gains = self._gains(classifier)
        if over is not None:
            gains = gains - self._gains(over)
        return mean_interval(gains.to_numpy())

    def _gains(self, classifier: str) -> pd.Series:
        """The gain over the best mix by question, averaged over its rows."""
        rows, predicted = self._all(classifier)
        gains = pd.Series(_over_mix(self.pooled, rows, predicted))
        return gains.groupby(self.pooled.question[rows]).mean()

    def _all(self, classifier: str) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a classifier was tried on, split after split, and what it predicted."""
        mine = [run for run in self.split_runs if run.classifier == classifier]
        if not mine:
            raise ValueError(f"no run is called {classifier!r}")
        rows = np.concatenate([run.rows for run in mine])
        predicted = np.concatenate([run.predicted for run in mine])
        return rows, predicted

    def _measure(self, run: SplitRun) -> dict[str, Any]:
        """Return the figures of one run: accuracy, cost, imitation, regret and its bounds."""
        pooled = self.pooled
        rows = run.rows
        predicted = run.predicted
        labels = pooled.labels[rows]
        acc = pooled.acc[rows]
        accuracy = chosen(acc, predicted).mean()
        oracle = chosen(acc, labels).mean()
        gain = _over_mix(pooled, rows, predicted).mean()
        # Each row has its own price. With costs multiplied by it, the price is 1 for all rows and
        # the theorem's quantities are the usual ones.
        choose = pooled.choose[rows]
        priced_cost = pooled.lam[rows, None] * pooled.budgets
        stake = regret_weights(choose, priced_cost, 1.0)  # M, the most that a row can lose
        lost = (chosen(choose, labels) - chosen(choose, predicted)).mean()
        saved = (chosen(priced_cost, labels) - chosen(priced_cost, predicted)).mean()
        wrong = predicted != labels
        eps = wrong.mean()
        return {
            "classifier": run.classifier,
            "number": run.number,
            "rows": rows.size,
            "imitation": 1 - eps,
            "majority": np.bincount(labels).max() / rows.size,
            "accuracy": accuracy,
            "oracle": oracle,
            "cost": pooled.budgets[predicted].mean(),
            "first": acc[:, 0].mean(),
            "gap": oracle - accuracy,
            "mix": accuracy - gain,
            "gain": gain,
            "eps": eps,
            "lost": lost,
            "saved": saved,
            "regret": lost - saved,
            "weighted": (stake * wrong).mean(),
            "largest": stake.max() * eps,
            "average": stake.mean() * eps,
        }


def classifiers(
    pooled: Pooled,
    split: str = "row",
    splits: int = 10,
    models: Sequence[str] | Mapping[str, int] = TRIES,
) -> Comparison:
    """Train the paper's five classifiers on the same splits of a pool.

    The split is by "row" or "question", each time at random, or "fold", which scores every question
    once. ``models`` may say on how many of the splits each classifier is tried.
    """
    held_out = list(_splits(pooled, split, splits))
    tries = models if isinstance(models, Mapping) else dict.fromkeys(models, splits)
    jobs = [(name, number) for name in tries for number in range(min(tries[name], splits))]

    def train(job: tuple[str, int]) -> SplitRun:
        name, number = job
        out = np.zeros(pooled.n, dtype=bool)
        out[held_out[number]] = True
        labels = pooled.labels[~out] if split == "row" else pooled.labelled_among(~out)
        policy = zoo(number)[name].fit_labels(pooled.features[~out], labels)
        return SplitRun(name, number, np.flatnonzero(out), policy.predict(pooled.features[out]))

    # Each model has one thread: more of them in the linear algebra would get in each other's way.
    # Warnings are set out here, because they are set for all threads at once.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the network stops at its last epoch
        return Comparison(pooled, split, tuple(side_by_side(train, jobs)))


def recorded_comparison(part: str, pooled: Pooled, split: str, splits: int = 10) -> Comparison:
    """Return what `classifiers` returns, from models that ``record_paper.py`` trained."""
    held_out = [np.sort(rows) for rows in _splits(pooled, split, splits)]
    split_runs = []
    for line in recorded_part(part):
        number = line["number"]
        predicted = np.array(list(line["predicted"]), dtype=int)
        split_runs.append(SplitRun(line["classifier"], number, held_out[number], predicted))
    return Comparison(pooled, split, tuple(split_runs))


def _splits(pooled: Pooled, split: str, splits: int) -> Iterator[np.ndarray]:
    """Yield the rows held out by each split."""
    if split not in ("row", "question", "fold"):
        raise ValueError(f'split is {split!r}; choose "row", "question" or "fold"')
    questions = np.unique(pooled.question)
    if split == "fold":
        order = np.random.default_rng(0).permutation(questions.size).argsort()
        fold = deal(range(questions.size), splits, order=order)
        for number in range(splits):
            yield np.flatnonzero(np.isin(pooled.question, questions[fold == number]))
        return
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        if split == "row":
            yield rng.permutation(pooled.n)[: round(_TEST * pooled.n)]
        else:
            out = rng.permutation(questions)[: round(_TEST * questions.size)]
            yield np.flatnonzero(np.isin(pooled.question, out))


def _over_mix(pooled: Pooled, rows: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Accuracy of each row above the best mix at the cost that its setting and target came to."""
    gains = np.empty(rows.size)
    cell = cells(pooled.setting[rows], pooled.target[rows])
    for number in range(cell.max() + 1):
        here = cell == number
        acc = pooled.acc[rows[here]]
        plan = from_labels(predicted[here], pooled.budgets.size)
        mix = best_mix(acc, pooled.budgets, plan.expected(pooled.budgets).mean())
        gains[here] = plan.expected(acc) - mix.expected(acc)
    return gains
