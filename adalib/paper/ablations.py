"""The paper's ablations, each beside what it shows where there is nothing to see.

Features that its figure names and its list does not; the pool of rows that its classifiers learn from; importances and
class profiles; menus of budgets; and how many labelled questions a policy needs. Explained in chapter 9, "Ablations".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.populations import Population
from adalib.datasets.responses import Responses
from adalib.evaluate import baselines
from adalib.evaluate.baselines import best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import OracleScore, compared, cross_fitted_oracle, score_oracle
from adalib.evaluate.intervals import bootstrap_mean
from adalib.learn.features import check_texts, one_each, question_marks, text_features
from adalib.learn.policies import LabelPolicy, side_by_side
from adalib.paper.results import recorded_part
from adalib.paper.settings import PAPER_SETTINGS, PAPER_WAY, TARGETS, answers, paper_setting, utility
from adalib.solve.bisection import bisect
from adalib.table import UtilityTable

#: Names in the paper's importance figure that its list lacks (``has_fractions`` there is taken for ``has_fraction``).
EXTRA_FEATURES = ("has_square_roots", "has_equation", "has_multi_subproblems", "single_pass_acc")

#: Features that cannot be computed without the answer key: a policy that uses one cannot be deployed.
LEAKS = ("single_pass_acc",)

_ROOT = re.compile(r"\\sqrt|√|square root", re.IGNORECASE)
_EQUATION = re.compile(r"(?<![<>!])=|\\begin\{(?:equation|align)|\bequations?\b", re.IGNORECASE)
_PARTS = (("(a)", "(b)"), ("(i)", "(ii)"), ("(1)", "(2)"))


def extra_features(questions: Sequence[str], single_pass_acc: ArrayLike | None = None) -> pd.DataFrame:
    """Compute the features that the paper's importance figure names and its list does not.

    ``single_pass_acc`` is Acc(x, 1), or one graded answer: either way it takes the answer key, which is why `LEAKS`
    names it.
    """
    texts = check_texts(questions)
    columns: dict[str, Any] = {
        "has_square_roots": [_ROOT.search(text) is not None for text in texts],
        "has_equation": [_EQUATION.search(text) is not None for text in texts],
        "has_multi_subproblems": [
            question_marks(text) > 1 or any(a in text and b in text for a, b in _PARTS) for text in texts
        ],
    }
    if single_pass_acc is not None:
        columns["single_pass_acc"] = one_each(single_pass_acc, len(texts), "single_pass_acc")
    return pd.DataFrame(columns, dtype=float)


# Several settings and targets under one another: the rows that a classifier is trained on. A question stands in the
# pool once for every setting and target, always with the same text.


_REAL = ("word-fewshot", "word-hot", "word-zeroshot")


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows for a classifier: every question of every setting at every target."""

    features: pd.DataFrame
    question: np.ndarray
    setting: np.ndarray
    target: np.ndarray
    lam: np.ndarray
    labels: np.ndarray
    choose: np.ndarray
    acc: np.ndarray
    budgets: np.ndarray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def grouped(self, groups: Sequence) -> Pooled:
        """The same rows with whole groups as questions, such as families: a split then keeps a group together.

        ``groups`` names the group of each question, in the order of their numbers.
        """
        codes = pd.factorize(np.array([str(group) for group in groups], dtype=object))[0]
        if codes.size != self.question.max() + 1:
            raise ValueError(f"groups has {codes.size} entries for {self.question.max() + 1} questions; give one each")
        return replace(self, question=codes[self.question])

    def labelled_among(self, rows: ArrayLike) -> np.ndarray:
        """The oracle's columns of some rows (a mask) at prices found on these rows alone: no others are known."""
        rows, labels = np.asarray(rows, dtype=bool), self.labels.copy()
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
    """Put settings that share their questions under one another, each at every target, labelled as the paper labels."""
    names = list(tables)
    first = tables[names[0]]
    score = tables if score is None else score
    for name in names:
        for table in (tables[name], score[name]):
            if table.ids != first.ids or table.budgets != first.budgets or table.cost.ndim != 1:
                raise ValueError(f"{name} has other questions, budgets or costs than {names[0]}; pool what is alike")
    shared = np.asarray(features, dtype=float)
    if own is None:
        own = {name: np.tile(np.eye(len(names))[j], (first.n, 1)) for j, name in enumerate(names)}
    blocks = []
    for name in names:
        for target in targets:
            search = bisect(tables[name].acc, tables[name].cost, target)
            known = np.column_stack([shared, np.asarray(own[name], dtype=float), np.full(first.n, target)])
            cells = ([name] * first.n, known[:, -1], np.full(first.n, search.lam), search.labels)
            blocks.append((known, *cells, tables[name].acc, score[name].acc))
    known, setting, aim, lam, labels, choose, acc = (np.concatenate(part) for part in zip(*blocks, strict=True))
    columns = list(features.columns) if hasattr(features, "columns") else [f"x{j}" for j in range(shared.shape[1])]
    extra = known.shape[1] - len(columns) - 1
    frame = pd.DataFrame(known, columns=[*columns, *(f"setting_{j}" for j in range(extra)), "target"])
    question = np.tile(np.arange(first.n), len(names) * len(targets))
    budgets = np.asarray(first.cost, dtype=float)
    return Pooled(frame, question, setting, aim, lam, labels, choose, acc, budgets)


def simulated_pool(seed: int = 0, targets: Sequence[float] = TARGETS) -> Pooled:
    """The paper's pool with nothing to learn: its three MATH settings, simulated, and features that are noise.

    Fourteen noise columns belong to the question and two to the question in one setting (the paper's entropy needs an
    answer of the model, and so differs by model); the target is known. Labels as in the paper: 48 answers, windows,
    first-seen ties.
    """
    names = PAPER_SETTINGS[:3]
    tables = {name: paper_setting(name).table(**PAPER_WAY) for name in names}
    n = tables[names[0]].n
    own = {name: noise_features(n, 2, seed=1000 * (seed + 1) + j) for j, name in enumerate(names)}
    return pool(tables, noise_features(n, 14, seed=seed), own, targets)


def real_pool(
    names: Sequence[str] = _REAL,
    features: ArrayLike | None = None,
    targets: Sequence[float] = TARGETS,
    seed: int = 0,
) -> Pooled:
    """Pool real settings that share their questions: labels from one half of the answers, scores from the other."""
    sets = {name: answers(name) for name in names}
    if features is None:
        features = text_features(sets[names[0]].questions)
    halves = {name: [half.table() for half in compared(r).split_samples(seed)] for name, r in sets.items()}
    choose, score = ({name: pair[j] for name, pair in halves.items()} for j in range(2))
    return pool(choose, features, targets=targets, score=score)


# What does the model look at? Importances always sum to 1, whatever the features, and the means of five classes always
# differ. So each is computed again where there is nothing to see.


def importances(
    features: pd.DataFrame,
    labels: ArrayLike,
    draws: int = 20,
    seed: int = 0,
    groups: Sequence | None = None,
) -> pd.DataFrame:
    """Share of each feature in the gain of the paper's trees, beside two references that hold no signal."""
    labels = np.asarray(labels)
    rng = np.random.default_rng(seed)
    mixed = [_shuffle(labels, groups, rng) for _ in range(draws)]
    blind = [noise_features(len(labels), features.shape[1], seed=seed + draw) for draw in range(draws)]
    jobs = [(features, labels), *((features, other) for other in mixed), *((noise, labels) for noise in blind)]
    shares = list(side_by_side(lambda job: LabelPolicy(seed=seed).fit_labels(*job).importance().to_numpy(), jobs))
    shuffled, noise = np.array(shares[1 : 1 + draws]), np.array(shares[1 + draws :])
    low, high = np.quantile(shuffled, [0.025, 0.975], axis=0)
    table = pd.DataFrame(
        {
            "feature": list(features.columns),
            "importance": shares[0],
            "shuffled_low": low,
            "shuffled_high": high,
            "noise_low": noise.min(axis=1).mean(),
            "noise_high": noise.max(axis=1).mean(),
        }
    )
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def signatures(
    features: pd.DataFrame,
    labels: ArrayLike,
    draws: int = 500,
    seed: int = 0,
    groups: Sequence | None = None,
) -> pd.DataFrame:
    """Mean of each feature in each class of the oracle's labels, drawn as in the paper and in standard deviations."""
    labels = np.asarray(labels)
    values = features.to_numpy(dtype=float)
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    classes, codes = np.unique(labels, return_inverse=True)
    member = np.eye(classes.size)[codes]
    sizes = member.sum(axis=0)

    def effects(of: np.ndarray) -> np.ndarray:
        return of.T @ scaled / sizes[:, None]

    effect = effects(member)
    rng = np.random.default_rng(seed)
    order = np.arange(labels.size)
    shuffled = np.array([effects(member[_shuffle(order, groups, rng)]) for _ in range(draws)])
    low, high = np.quantile(shuffled, [0.025, 0.975], axis=0)
    row_spread = effect.std(axis=0)
    drawn = (effect - effect.mean(axis=0)) / np.where(row_spread > 0, row_spread, 1.0)
    frame = pd.DataFrame(
        list(product(map(str, features.columns), classes.tolist())),
        columns=["feature", "label"],
    )
    frame["questions"] = np.tile(sizes.astype(int), values.shape[1])
    for name, part in (("drawn", drawn), ("effect", effect), ("low", low), ("high", high)):
        frame[name] = part.T.ravel()
    return frame.assign(outside=(frame.effect < frame.low) | (frame.effect > frame.high))


def _shuffle(labels: np.ndarray, groups: Sequence | None, rng: np.random.Generator) -> np.ndarray:
    """The labels in another order; with groups, each group gets the labels of another one."""
    if groups is None:
        return rng.permutation(labels)
    codes, names = pd.factorize(np.array([str(group) for group in groups], dtype=object))
    sizes = np.bincount(codes, minlength=len(names))
    if codes.size != labels.size or (sizes != sizes[0]).any():
        raise ValueError("groups must name one group a question, all of one size; leave them out to shuffle freely")
    blocks = np.argsort(codes, kind="stable").reshape(len(names), -1)
    shuffled = np.empty_like(labels)
    shuffled[blocks] = labels[blocks[rng.permutation(len(names))]]
    return shuffled


# Which budgets to put on the menu? A longer menu can only raise the oracle that is chosen and scored on the same
# answers: there are more estimates to pick the luckiest of. Where the truth is known, or on answers that did not
# choose, the menus can be told apart fairly.


#: The paper's three menus, and two that chapter 5 makes one ask for.
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
    """Value the oracle with every menu of budgets."""
    if "default" not in menus:
        raise ValueError('menus have no "default"; name the one that the others are compared with so')
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
        extra = score.accuracy - scores["default", value].accuracy
        interval = bootstrap_mean(extra)
        gain, low, high = map(np.asarray, (interval.mean, interval.low, interval.high))
        if value == "true":  # nothing is estimated
            low = high = gain
        for j, target in enumerate(targets):
            at = score.accuracy[:, j].mean(), score.cost[:, j].mean(), gain[j], low[j], high[j]
            rows.append((name, len(menus[name]), target, value, *map(float, at)))
    return pd.DataFrame(rows, columns=["menu", "tiers", "target", "value", "accuracy", "cost", "gain", "low", "high"])


#: The shares of the training data that the paper's figure shows.
SHARES = (0.1, 0.2, 0.25, 0.4, 0.6, 0.8, 1.0)


def learning_curve(
    table: UtilityTable,
    features: ArrayLike,
    targets: Sequence[float] = TARGETS,
    shares: Sequence[float] = SHARES,
    seeds: int = 4,
) -> pd.DataFrame:
    """Train the label policy on a growing share of the questions, and score it on what it saw and on what it did not.

    Labels come from the whole table by bisection, as the paper makes them. In the paper's figure accuracy is drawn on
    all questions. Then two things grow at once: what the model can generalise from, and how much of the test it has
    seen.
    """
    sizes = [round(share * table.n) for share in shares]
    if not sizes or min(sizes) < 1 or max(sizes) > table.n:
        raise ValueError(
            f"shares are {tuple(shares)}; give numbers up to 1, each worth at least one question of {table.n}"
        )
    inputs = pd.DataFrame(features)
    labels = {target: bisect(table.acc, table.cost, target).labels for target in targets}

    def train(job: tuple[float, float, int]) -> np.ndarray:
        target, share, seed = job
        seen = _seen(table, share, seed)
        return LabelPolicy(seed=seed).fit_labels(inputs.iloc[seen], labels[target][seen]).predict(inputs)

    jobs = list(product(targets, shares, range(seeds)))
    return _curve(table, jobs, side_by_side(train, jobs))


def recorded_curve(
    name: str, targets: Sequence[float] = TARGETS, shares: Sequence[float] = SHARES, seeds: int = 8
) -> pd.DataFrame:
    """`learning_curve` with noise features on a simulated setting, by models that ``data/record_paper.py`` trained."""
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
    table: UtilityTable, jobs: Iterable[tuple[float, float, int]], predicted: Iterable[np.ndarray]
) -> pd.DataFrame:
    """Score what the models of a learning curve predicted for all questions, on those seen, unseen and all."""
    every, rows = np.arange(table.n), []
    for (target, share, seed), columns in zip(jobs, predicted, strict=True):
        labels, seen = bisect(table.acc, table.cost, target).labels, _seen(table, share, seed)
        fixed = baselines.fixed(table.cost, target, table.n).expected(table.acc)
        for part, at in {"seen": seen, "unseen": np.setdiff1d(every, seen), "all": every}.items():
            if not at.size:
                continue
            acc, paid = table.acc[at], np.broadcast_to(table.cost, table.acc.shape)[at]
            plan = from_labels(columns[at], table.k)
            cost, value = plan.expected(paid).mean(), plan.expected(acc)
            over = value - best_mix(acc, paid, cost).expected(acc)
            rows.append(
                {
                    "target": target,
                    "share": share,
                    "seed": seed,
                    "part": part,
                    "questions": at.size,
                    "accuracy": value.mean(),
                    "cost": cost,
                    "imitation": (columns == labels)[at].mean(),
                    "fixed": fixed[at].mean(),
                    "mix": value.mean() - over.mean(),
                    "oracle": acc[np.arange(at.size), labels[at]].mean(),
                }
            )
    return pd.DataFrame(rows)
