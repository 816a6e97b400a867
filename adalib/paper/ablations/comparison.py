"""The paper's ablations, each beside what it shows where there is nothing to see.

Extra features, five classifiers on a pool of rows, menus of budgets, and how many labelled
questions a policy needs. Explained in the chapter "Results and ablations".
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adalib.datasets.folds import deal
from adalib.datasets.populations import Population
from adalib.datasets.responses import ReadText, Responses
from adalib.evaluate import baselines
from adalib.evaluate.baselines import best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import OracleScore, compared, cross_fitted_oracle, score_oracle
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.learn.features import check_texts, one_each, question_marks, text_features
from adalib.learn.policies import LabelPolicy, regret_weights, side_by_side
from adalib.paper.results import recorded_part
from adalib.paper.settings import (
    PAPER_SETTINGS,
    PAPER_WAY,
    REAL,
    TARGETS,
    answers,
    paper_setting,
    utility,
)
from adalib.solve.bisection import bisect
from adalib.table import UtilityTable

#: Names in the paper's importance figure that its list lacks (``has_fractions`` there is taken for
#: ``has_fraction``).
EXTRA_FEATURES = ("has_square_roots", "has_equation", "has_multi_subproblems", "single_pass_acc")

#: Features that cannot be computed without the answer key: a policy that uses one cannot be
#: deployed.
LEAKS = ("single_pass_acc",)

_ROOT = re.compile(r"\\sqrt|√|square root", re.IGNORECASE)
_EQUATION = re.compile(r"(?<![<>!])=|\\begin\{(?:equation|align)|\bequations?\b", re.IGNORECASE)
_PARTS = (("(a)", "(b)"), ("(i)", "(ii)"), ("(1)", "(2)"))


def extra_features(
    questions: Sequence[str], single_pass_acc: ArrayLike | None = None
) -> pd.DataFrame:
    """Return the features that the paper's figure names and its list does not.

    ``single_pass_acc`` needs the correct answers.
    """
    texts = check_texts(questions)
    values = [text.features[-3:] if isinstance(text, ReadText) else _look(text) for text in texts]
    columns: dict[str, Any] = dict(zip(EXTRA_FEATURES, np.reshape(values, (-1, 3)).T, strict=False))
    if single_pass_acc is not None:
        columns["single_pass_acc"] = one_each(single_pass_acc, len(texts), "single_pass_acc")
    return pd.DataFrame(columns, dtype=float)


def _look(text: str) -> tuple[bool, ...]:
    parts = question_marks(text) > 1 or any(a in text and b in text for a, b in _PARTS)
    return _ROOT.search(text) is not None, _EQUATION.search(text) is not None, parts


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows for a classifier: every question of every setting at every target.

    All arrays but the last have one entry per row.
    """

    features: pd.DataFrame
    question: np.ndarray  #: number of the question
    setting: np.ndarray  #: name of the setting
    target: np.ndarray  #: average cost that was aimed for
    lam: np.ndarray  #: price that bisection found for that target
    labels: np.ndarray  #: the oracle's column
    choose: np.ndarray  #: accuracies that made the labels
    acc: np.ndarray  #: accuracies that score
    budgets: np.ndarray  #: cost of each column

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def grouped(self, groups: Sequence) -> Pooled:
        """Return the same rows with groups as questions, so that a split keeps a group together."""
        codes = pd.factorize(np.array([str(group) for group in groups], dtype=object))[0]
        return replace(self, question=codes[self.question])

    def labelled_among(self, rows: ArrayLike) -> np.ndarray:
        """Return the oracle's columns of some rows (a mask) at prices found on these rows alone."""
        rows = np.asarray(rows, dtype=bool)
        labels = self.labels.copy()
        cell = pd.factorize(pd.MultiIndex.from_arrays([self.setting, self.target]))[0]
        for number in np.unique(cell[rows]):
            here = rows & (cell == number)
            labels[here] = bisect(self.choose[here], self.budgets, self.target[here][0]).labels
        return labels[rows]


def pool(
    tables: Mapping[str, UtilityTable],
    features: ArrayLike,
    own: Mapping[str, ArrayLike] | None = None,
    targets: Sequence[float] = TARGETS,
    score: Mapping[str, UtilityTable] | None = None,
) -> Pooled:
    """Stack settings that share their questions, each at every target, labelled by bisection."""
    names = list(tables)
    first = tables[names[0]]
    score = tables if score is None else score
    shared = np.asarray(features, dtype=float)
    if own is None:
        own = {name: np.tile(np.eye(len(names))[j], (first.n, 1)) for j, name in enumerate(names)}
    blocks = []
    for name, target in product(names, targets):
        search = bisect(tables[name].acc, tables[name].cost, target)
        inputs = np.column_stack(
            [shared, np.asarray(own[name], dtype=float), np.full(first.n, target)]
        )
        cells = ([name] * first.n, inputs[:, -1], np.full(first.n, search.lam), search.labels)
        blocks.append((inputs, *cells, tables[name].acc, score[name].acc))
    inputs, setting, aim, lam, labels, choose, acc = (
        np.concatenate(part) for part in zip(*blocks, strict=True)
    )
    columns = (
        list(features.columns)
        if hasattr(features, "columns")
        else [f"x{j}" for j in range(shared.shape[1])]
    )
    extra = inputs.shape[1] - len(columns) - 1
    frame = pd.DataFrame(
        inputs, columns=[*columns, *(f"setting_{j}" for j in range(extra)), "target"]
    )
    question = np.tile(np.arange(first.n), len(names) * len(targets))
    return Pooled(
        frame, question, setting, aim, lam, labels, choose, acc, np.asarray(first.cost, dtype=float)
    )


def simulated_pool(seed: int = 0, targets: Sequence[float] = TARGETS) -> Pooled:
    """Return the paper's pool as we reconstruct it: simulated MATH settings with noise features."""
    names = PAPER_SETTINGS[:3]
    tables = {name: paper_setting(name).table(**PAPER_WAY) for name in names}
    n = tables[names[0]].n
    # The paper's entropy needs an answer of the model: two columns of the sixteen differ by
    # setting.
    own = {name: noise_features(n, 2, seed=1000 * (seed + 1) + j) for j, name in enumerate(names)}
    return pool(tables, noise_features(n, 14, seed=seed), own, targets)


def real_pool(
    names: Sequence[str] = REAL[:3],
    features: ArrayLike | None = None,
    targets: Sequence[float] = TARGETS,
) -> Pooled:
    """Pool real settings that share their questions; one half of the answers labels, one scores."""
    sets = {name: answers(name) for name in names}
    if features is None:
        features = text_features(sets[names[0]].questions)
    halves = {
        name: [half.table() for half in compared(r).split_samples(0)] for name, r in sets.items()
    }
    choose, score = ({name: pair[j] for name, pair in halves.items()} for j in range(2))
    return pool(choose, features, targets=targets, score=score)


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

        ``majority`` is the share of the commonest label, ``mix`` the best random mix at the same
        cost, setting by setting and target by target; ``eps``, ``regret``, ``weighted``,
        ``largest`` and ``average`` are the share of wrong labels, lost - saved, E[M 1(wrong)], and
        the largest and the mean M times ``eps``."""
        return pd.DataFrame([self._measure(trial) for trial in self.trials])

    def summary(self) -> pd.DataFrame:
        """Return means and deviations over the splits, one row per classifier."""
        columns = ["accuracy", "gap", "imitation", "cost", "first", "oracle", "majority", "gain"]
        grouped = self.runs.groupby("classifier", sort=False)[columns]
        spread = grouped.std(ddof=0).add_suffix("_std")
        return pd.concat(
            [grouped.mean(), spread, grouped.size().rename("splits")], axis=1
        ).reset_index()

    def confusion(self, classifier: str) -> np.ndarray:
        """Count held-out rows by oracle column (row) and predicted column, over all splits."""
        index, predicted = self._all(classifier)
        counts = np.zeros((self.pooled.budgets.size,) * 2, dtype=int)
        np.add.at(counts, (self.pooled.labels[index], predicted), 1)
        return counts

    def losses(self, classifier: str) -> pd.DataFrame:
        """Tabulate errors by ``label`` and ``predicted``: ``count``, and mean net value lost."""
        index, predicted = self._all(classifier)
        labels = self.pooled.labels[index]
        at = np.arange(index.size)
        net = self.pooled.choose[index] - self.pooled.lam[index, None] * self.pooled.budgets
        frame = pd.DataFrame(
            {"label": labels, "predicted": predicted, "loss": net[at, labels] - net[at, predicted]}
        )
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
        gains = self._gains(classifier) - (0.0 if over is None else self._gains(over))
        return mean_interval(gains.to_numpy())

    def _gains(self, classifier: str) -> pd.Series:
        index, predicted = self._all(classifier)
        return (
            pd.Series(_over_mix(self.pooled, index, predicted))
            .groupby(self.pooled.question[index])
            .mean()
        )

    def _all(self, classifier: str) -> tuple[np.ndarray, np.ndarray]:
        mine = [trial for trial in self.trials if trial.classifier == classifier]
        if not mine:
            raise ValueError(f"no trial is called {classifier!r}")
        return np.concatenate([trial.rows for trial in mine]), np.concatenate(
            [trial.predicted for trial in mine]
        )

    def _measure(self, trial: Trial) -> dict:
        """Return the figures of one trial: accuracy, cost, imitation, regret and its bounds."""
        pooled = self.pooled
        rows = trial.rows
        predicted = trial.predicted
        labels = pooled.labels[rows]
        acc = pooled.acc[rows]
        at = np.arange(rows.size)
        accuracy = acc[at, predicted].mean()
        oracle = acc[at, labels].mean()
        gain = _over_mix(pooled, rows, predicted).mean()
        # A price a row: with costs already priced, the price is 1 and the theorem's quantities are
        # the usual ones.
        choose = pooled.choose[rows]
        priced = pooled.lam[rows, None] * pooled.budgets
        wrong = predicted != labels
        worst = regret_weights(choose, priced, 1.0)
        lost = (choose[at, labels] - choose[at, predicted]).mean()
        saved = (priced[at, labels] - priced[at, predicted]).mean()
        eps = wrong.mean()
        majority = np.bincount(labels).max() / rows.size
        return {
            "classifier": trial.classifier,
            "number": trial.number,
            "rows": rows.size,
            "imitation": 1 - eps,
            "majority": majority,
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
            # Three bounds on the regret.
            "weighted": (worst * wrong).mean(),
            "largest": worst.max() * eps,
            "average": worst.mean() * eps,
        }


def classifiers(
    pooled: Pooled,
    split: str = "row",
    splits: int = 10,
    models: Sequence[str] | Mapping[str, int] = TRIES,
) -> Comparison:
    """Train the paper's five classifiers on the same splits of a pool.

    A split by rows puts copies of a question on both sides; one by questions does not, and its
    labels for training are made from training questions alone. What differs is what the copies were
    worth."""
    held = list(_splits(pooled, split, splits))
    tries = models if isinstance(models, Mapping) else dict.fromkeys(models, splits)
    jobs = [(name, number) for name in tries for number in range(min(tries[name], splits))]

    def train(job: tuple[str, int]) -> Trial:
        name, number = job
        out = np.zeros(pooled.n, dtype=bool)
        out[held[number]] = True
        labels = pooled.labels[~out] if split == "row" else pooled.labelled_among(~out)
        policy = zoo(number)[name].fit_labels(pooled.features[~out], labels)
        return Trial(name, number, np.flatnonzero(out), policy.predict(pooled.features[out]))

    # A thread a model: more in the linear algebra would only be in each other's way, and warnings
    # are set for all.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the network stops at its last epoch
        return Comparison(pooled, split, tuple(side_by_side(train, jobs)))


def recorded_comparison(part: str, pooled: Pooled, split: str, splits: int = 10) -> Comparison:
    """Return what `classifiers` returns, from models that ``data/record_paper.py`` trained."""
    held = [np.sort(rows) for rows in _splits(pooled, split, splits)]
    trials = [
        Trial(
            line["classifier"],
            line["number"],
            held[line["number"]],
            np.array(list(line["predicted"]), dtype=int),
        )
        for line in recorded_part(part)
    ]
    return Comparison(pooled, split, tuple(trials))


def _splits(pooled: Pooled, split: str, splits: int) -> Iterator[np.ndarray]:
    """The rows held out by each split."""
    if split not in ("row", "question", "fold"):
        raise ValueError(f'split is {split!r}; choose "row", "question" or "fold"')
    names = np.unique(pooled.question)
    if split == "fold":
        fold = deal(
            range(names.size),
            splits,
            order=np.random.default_rng(0).permutation(names.size).argsort(),
        )
        yield from (
            np.flatnonzero(np.isin(pooled.question, names[fold == number]))
            for number in range(splits)
        )
        return
    for rng in map(np.random.default_rng, range(splits)):
        if split == "row":
            yield rng.permutation(pooled.n)[: round(_TEST * pooled.n)]
        else:
            out = rng.permutation(names)[: round(_TEST * names.size)]
            yield np.flatnonzero(np.isin(pooled.question, out))


def _over_mix(pooled: Pooled, rows: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Accuracy of each row above the best mix at the cost that its setting and target came to."""
    gains = np.empty(rows.size)
    cell = pd.factorize(pd.MultiIndex.from_arrays([pooled.setting[rows], pooled.target[rows]]))[0]
    for number in range(cell.max() + 1):
        mask = cell == number
        acc = pooled.acc[rows[mask]]
        plan = from_labels(predicted[mask], pooled.budgets.size)
        bar = best_mix(acc, pooled.budgets, plan.expected(pooled.budgets).mean())
        gains[mask] = plan.expected(acc) - bar.expected(acc)
    return gains


#: The paper's three menus, and two more that its tie rule suggests.
MENUS = {
    "coarse": (1, 8, 16),
    "without 2": (1, 4, 8, 16),
    "default": (1, 2, 4, 8, 16),
    "odd": (1, 3, 5, 7, 16),
    "fine": (1, 2, 3, 4, 6, 8, 12, 16),
}


def granularity(
    source: Population | Responses,
    targets: Sequence[float] = TARGETS,
    menus: Mapping[str, Sequence[int]] = MENUS,
    **table,
) -> pd.DataFrame:
    """Value the oracle with every menu of budgets, in-sample and cross-fitted.

    Where the population is known, its truth is used instead.

    In-sample a longer menu can only raise it: there are more estimates to pick the luckiest of.
    """
    scores: dict[tuple[str, str], OracleScore] = {}
    for name, budgets in menus.items():
        if isinstance(source, Population):
            truth = source.table(budgets)
            scores[name, "true"] = score_oracle(truth, truth, targets)
        else:
            full = source.table(budgets, **table)
            scores[name, "in-sample"] = score_oracle(full, full, targets)
            scores[name, "cross-fitted"] = cross_fitted_oracle(source, targets, budgets, **table)
    rows = []
    for (name, value), score in scores.items():
        change = score.accuracy - scores["default", value].accuracy
        interval = mean_interval(change)
        gain = np.asarray(interval.mean)
        # Nothing is estimated, or no question moves.
        exact = (value == "true") | (np.abs(change).max(axis=0) < 1e-12)
        low = np.where(exact, gain, interval.low)
        high = np.where(exact, gain, interval.high)
        for j, target in enumerate(targets):
            at = score.accuracy[:, j].mean(), score.cost[:, j].mean(), gain[j], low[j], high[j]
            rows.append((name, len(menus[name]), target, value, *map(float, at)))
    return pd.DataFrame(
        rows,
        columns=["menu", "tiers", "target", "value", "accuracy", "cost", "gain", "low", "high"],
    )


#: The shares of the training data that the paper's figure shows.
SHARES = (0.1, 0.2, 0.25, 0.4, 0.6, 0.8, 1.0)


def learning_curve(
    table: UtilityTable,
    features: ArrayLike,
    targets: Sequence[float] = TARGETS,
    shares: Sequence[float] = SHARES,
    seeds: int = 4,
) -> pd.DataFrame:
    """Train the label policy on a growing share of the questions; score it on seen and unseen ones.

    In the paper's figure accuracy is drawn on all questions, where two things grow at once: what
    the model can generalise from, and how much of the test it has seen.
    """
    inputs = pd.DataFrame(features)
    labels = {target: bisect(table.acc, table.cost, target).labels for target in targets}

    def train(job: tuple[float, float, int]) -> np.ndarray:
        target, share, seed = job
        seen = _seen(table, share, seed)
        return (
            LabelPolicy(seed=seed)
            .fit_labels(inputs.iloc[seen], labels[target][seen])
            .predict(inputs)
        )

    jobs = list(product(targets, shares, range(seeds)))
    return _curve(table, jobs, side_by_side(train, jobs))


def recorded_curve(
    name: str, targets: Sequence[float] = TARGETS, shares: Sequence[float] = SHARES, seeds: int = 8
) -> pd.DataFrame:
    """Return a `learning_curve` on noise by models that ``data/record_paper.py`` trained."""
    runs = {
        (run["target"], run["share"], run["seed"]): np.array(list(run["predicted"]), dtype=int)
        for run in recorded_part(f"{name}, growing shares")
    }
    jobs = [job for job in product(targets, shares, range(seeds)) if job in runs]
    return _curve(utility(name), jobs, [runs[job] for job in jobs])


def _seen(table: UtilityTable, share: float, seed: int) -> np.ndarray:
    """The questions that a share trains on."""
    return np.random.default_rng(seed).permutation(table.n)[: round(share * table.n)]


def _curve(
    table: UtilityTable, jobs: Sequence[tuple], predicted: Iterable[np.ndarray]
) -> pd.DataFrame:
    """Score a learning curve's predictions on seen, unseen and all questions."""
    every = np.arange(table.n)
    rows = []
    for (target, share, seed), columns in zip(jobs, predicted, strict=True):
        labels = bisect(table.acc, table.cost, target).labels
        seen = _seen(table, share, seed)
        fixed = baselines.fixed(table.cost, target, table.n).expected(table.acc)
        for part, at in {"seen": seen, "unseen": np.setdiff1d(every, seen), "all": every}.items():
            if not at.size:
                continue
            acc = table.acc[at]
            paid = np.broadcast_to(table.cost, table.acc.shape)[at]
            plan = from_labels(columns[at], table.k)
            cost = plan.expected(paid).mean()
            value = plan.expected(acc)
            over = value - best_mix(acc, paid, cost).expected(acc)
            same = (columns == labels)[at].mean()
            oracle = acc[np.arange(at.size), labels[at]].mean()
            scores = value.mean(), cost, same, fixed[at].mean(), value.mean() - over.mean(), oracle
            rows.append((target, share, seed, part, at.size, *scores))
    run = ["target", "share", "seed", "part", "questions"]
    scored = ["accuracy", "cost", "imitation", "fixed"]
    return pd.DataFrame(rows, columns=[*run, *scored, "mix", "oracle"])
