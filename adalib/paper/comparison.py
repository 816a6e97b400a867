"""Which classifier imitates best? Split a pool of rows, by row or by question, and train the zoo on the same splits.

A split by rows puts copies of a question on both sides; a split by questions does not, and its labels for training are
made from training questions alone. What differs between the two is what the copies were worth.
Explained in chapter 9, "Ablations".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from adalib.datasets.folds import deal
from adalib.evaluate.baselines import best_mix, from_labels
from adalib.evaluate.intervals import Interval, bootstrap_mean
from adalib.learn.policies import LabelPolicy, regret_weights, side_by_side
from adalib.paper.ablations import Pooled
from adalib.paper.results import recorded_part

#: The five classifiers of the paper's ablation, in the order of its table.
ZOO = ("logistic", "svm", "forest", "mlp", "gbm")


def zoo(seed: int = 0) -> dict[str, LabelPolicy]:
    """Return the five classifiers of the paper's ablation as unfitted policies, by name.

    Logistic regression, an SVM with a Gaussian kernel, a random forest of 100 trees, a network with 64 hidden units,
    and XGBoost; the first, second and fourth see standardised features.
    """
    models = (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=seed)),
        make_pipeline(StandardScaler(), SVC(kernel="rbf", random_state=seed)),
        RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1),
        make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(64,), random_state=seed)),
        None,  # the default, XGBoost at the paper's hyper-parameters
    )
    return {name: LabelPolicy(model, seed=seed) for name, model in zip(ZOO, models, strict=True)}


#: On how many splits each classifier is tried: ten as in the paper; the network, which takes four times as long as
#: a forest, on two.
TRIES = {"logistic": 10, "svm": 10, "forest": 10, "mlp": 2, "gbm": 10}

_TEST = 0.2  # share of the rows, or of the questions, that a random split holds out
_BY_ROWS = ("row", "stratified")
_SLOWEST_FIRST = ("mlp", "forest", "gbm", "svm", "logistic")


class Trial(NamedTuple):
    """One classifier on one split: the rows held out, and the columns predicted for them."""

    classifier: str
    number: int
    rows: np.ndarray
    predicted: np.ndarray


@dataclass(frozen=True, eq=False)
class Comparison:
    """What every classifier did on every split: the trials, and what they add up to."""

    pooled: Pooled
    split: str
    trials: tuple[Trial, ...]

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a trial, everything measured on its held-out rows.

        ``imitation`` is the share of the oracle's labels repeated and ``majority`` that of the commonest label;
        ``first`` and ``oracle`` are the accuracies of one answer each and of the oracle's labels on the same rows, and
        ``gap`` what is missing to the oracle; ``mix`` is the best random mix at the same cost, setting by setting and
        target by target, and ``gain`` what the classifier has above it. ``eps``, ``regret``, ``weighted``, ``largest``
        and ``average`` are the share of wrong labels, the relaxed regret, E[M 1(wrong)], and the largest and the mean M
        times ``eps``; ``lost`` is accuracy lost and ``saved`` the price of the cost saved, on the accuracies that made
        the labels: ``regret = lost - saved``.
        """
        return pd.DataFrame([self._measure(trial) for trial in self.trials])

    def summary(self) -> pd.DataFrame:
        """Mean and standard deviation over the splits, one row a classifier, as in the paper's table."""
        columns = ["accuracy", "gap", "imitation", "cost", "first", "oracle", "majority", "gain"]
        grouped = self.runs.groupby("classifier", sort=False)[columns]
        spread = grouped.std(ddof=0).add_suffix("_std")
        return pd.concat([grouped.mean(), spread, grouped.size().rename("splits")], axis=1).reset_index()

    def by_setting(self) -> pd.DataFrame:
        """Accuracy of every classifier on every setting's held-out rows, pooled over the splits."""
        rows = []
        for name in dict.fromkeys(trial.classifier for trial in self.trials):
            index, predicted = self._all(name)
            value = self.pooled.acc[index, predicted]
            for setting in dict.fromkeys(self.pooled.setting):
                mask = self.pooled.setting[index] == setting
                rows.append((name, setting, value[mask].mean(), self.pooled.acc[index[mask], 0].mean()))
        return pd.DataFrame(rows, columns=["classifier", "setting", "accuracy", "first"])

    def confusion(self, classifier: str) -> np.ndarray:
        """Count held-out rows by oracle column (row) and predicted column, shape (K, K), over all splits."""
        index, predicted = self._all(classifier)
        counts = np.zeros((self.pooled.budgets.size,) * 2, dtype=int)
        np.add.at(counts, (self.pooled.labels[index], predicted), 1)
        return counts

    def losses(self, classifier: str) -> pd.DataFrame:
        """What each kind of error costs: ``label``, ``predicted``, ``count``, and the mean net value lost, ``loss``."""
        index, predicted = self._all(classifier)
        labels, at = self.pooled.labels[index], np.arange(index.size)
        net = self.pooled.choose[index] - self.pooled.lam[index, None] * self.pooled.budgets
        frame = pd.DataFrame({"label": labels, "predicted": predicted, "loss": net[at, labels] - net[at, predicted]})
        wrong = frame[labels != predicted].groupby(["label", "predicted"]).loss
        return wrong.agg(count="size", loss="mean").reset_index()

    def gain(self, classifier: str) -> Interval:
        """Gain over the best mix at the realised cost, with an interval over questions ("fold" only)."""
        if self.split != "fold":
            raise ValueError(
                f'an interval over questions needs split "fold", where each is scored once; not {self.split!r}'
            )
        index, predicted = self._all(classifier)
        gains = pd.Series(_over_mix(self.pooled, index, predicted)).groupby(self.pooled.question[index]).mean()
        return bootstrap_mean(gains.to_numpy())

    def _all(self, classifier: str) -> tuple[np.ndarray, np.ndarray]:
        mine = [trial for trial in self.trials if trial.classifier == classifier]
        if not mine:
            raise ValueError(f"no trial is called {classifier!r}")
        return np.concatenate([trial.rows for trial in mine]), np.concatenate([trial.predicted for trial in mine])

    def _measure(self, trial: Trial) -> dict:
        pooled, rows, predicted = self.pooled, trial.rows, trial.predicted
        labels, acc, at = pooled.labels[rows], pooled.acc[rows], np.arange(rows.size)
        accuracy, oracle = acc[at, predicted].mean(), acc[at, labels].mean()
        gain = _over_mix(pooled, rows, predicted).mean()
        # A price a row: with costs already priced, the price is 1 and the theorem's quantities are the usual ones.
        choose, priced = pooled.choose[rows], pooled.lam[rows, None] * pooled.budgets
        wrong, worst = predicted != labels, regret_weights(choose, priced, 1.0)
        lost = (choose[at, labels] - choose[at, predicted]).mean()
        saved = (priced[at, labels] - priced[at, predicted]).mean()
        return {
            "classifier": trial.classifier,
            "number": trial.number,
            "rows": rows.size,
            "imitation": 1 - wrong.mean(),
            "majority": np.bincount(labels).max() / rows.size,
            "accuracy": accuracy,
            "cost": pooled.budgets[predicted].mean(),
            "first": acc[:, 0].mean(),
            "oracle": oracle,
            "gap": oracle - accuracy,
            "mix": accuracy - gain,
            "gain": gain,
            "eps": wrong.mean(),
            "regret": lost - saved,
            "weighted": (worst * wrong).mean(),
            "largest": worst.max() * wrong.mean(),
            "average": worst.mean() * wrong.mean(),
            "lost": lost,
            "saved": saved,
        }


def classifiers(
    pooled: Pooled,
    split: str = "row",
    splits: int = 10,
    models: Sequence[str] | Mapping[str, int] = TRIES,
) -> Comparison:
    """Train the paper's five classifiers on the same splits of a pool."""
    held, by_rows = list(_splits(pooled, split, splits)), split in _BY_ROWS
    tries = models if isinstance(models, Mapping) else dict.fromkeys(models, splits)
    # The slow ones first, so that no thread is left alone with one of them at the end.
    queue = sorted(tries, key=_SLOWEST_FIRST.index)
    jobs = [(name, number) for name in queue for number in range(min(tries[name], splits))]

    def train(job: tuple[str, int]) -> Trial:
        name, number = job
        out = np.zeros(pooled.n, dtype=bool)
        out[held[number]] = True
        labels = pooled.labels[~out] if by_rows else pooled.labelled_among(~out)
        policy = zoo(number)[name].fit_labels(pooled.features[~out], labels)
        return Trial(name, number, np.flatnonzero(out), policy.predict(pooled.features[out]))

    # A thread a model: more in the linear algebra would only be in each other's way, and warnings are set for all.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the network stops at its last epoch
        trials = list(side_by_side(train, jobs))
    order = list(tries)
    return Comparison(pooled, split, tuple(sorted(trials, key=lambda t: (order.index(t.classifier), t.number))))


def recorded_comparison(part: str, pooled: Pooled, split: str, splits: int = 10) -> Comparison:
    """What the classifiers that ``data/record_paper.py`` trained did: as `classifiers` on the same pool and splits."""
    held = [np.sort(rows) for rows in _splits(pooled, split, splits)]
    trials = [
        Trial(line["classifier"], line["number"], held[line["number"]], np.array(list(line["predicted"]), dtype=int))
        for line in recorded_part(part)
    ]
    return Comparison(pooled, split, tuple(trials))


def near_misses(confusion: ArrayLike) -> dict[str, float]:
    """Say where the errors of a confusion matrix go."""
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


def _splits(pooled: Pooled, split: str, splits: int) -> Iterator[np.ndarray]:
    """The rows held out by each split."""
    if split not in (*_BY_ROWS, "question", "fold"):
        raise ValueError(f'split is {split!r}; choose "row", "stratified", "question" or "fold"')
    if splits < (2 if split == "fold" else 1):
        raise ValueError(f"splits is {splits}; give at least {2 if split == 'fold' else 1}")
    if split == "stratified":
        dealer = StratifiedShuffleSplit(splits, test_size=_TEST, random_state=0)
        yield from (out for _, out in dealer.split(pooled.labels, pooled.labels))
        return
    names = np.unique(pooled.question)
    if split == "fold":
        order = np.random.default_rng(0).permutation(names.size).argsort()
        fold = deal(range(names.size), splits, order=order)
        yield from (np.flatnonzero(np.isin(pooled.question, names[fold == number])) for number in range(splits))
        return
    for number in range(splits):
        rng = np.random.default_rng(number)
        if split == "row":
            yield rng.permutation(pooled.n)[: round(_TEST * pooled.n)]
        else:
            out = rng.permutation(names)[: round(_TEST * names.size)]
            yield np.flatnonzero(np.isin(pooled.question, out))


def _over_mix(pooled: Pooled, rows: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Accuracy of each row above the best mix at the cost that its setting and target came to."""
    gains = np.empty(rows.size)
    cell = pd.factorize(pd.MultiIndex.from_arrays([pooled.setting[rows], pooled.target[rows]]))[0]
    k = pooled.budgets.size
    for number in range(cell.max() + 1):
        mask = cell == number
        acc, plan = pooled.acc[rows[mask]], from_labels(predicted[mask], k)
        bar = best_mix(acc, pooled.budgets, plan.expected(pooled.budgets).mean())
        gains[mask] = plan.expected(acc) - bar.expected(acc)
    return gains
