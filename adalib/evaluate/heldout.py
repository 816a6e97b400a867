"""The held-out protocol: no question is scored by a model that saw it, and no sample by labels that it made.

One half of every question's samples teaches and the other half scores, both ways round; the questions are dealt into
folds, and each is scored by models of the other folds. `adalib.evaluate.scores` holds the bar and the intervals.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import lru_cache
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from tqdm import tqdm

from adalib.datasets.responses import Responses
from adalib.evaluate import baselines
from adalib.evaluate.baselines import Plan, best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import check_halves, compared
from adalib.evaluate.first_vote import first_vote_table, joined
from adalib.evaluate.folds import deal, members
from adalib.evaluate.scores import HeldOutRow, Tally
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_features
from adalib.learn.label_policy import CurvePolicy, LabelPolicy
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable

__all__ = ["BASELINES", "POLICIES", "HeldOutRow", "Learner", "check_targets", "held_out", "unseen_curves"]

#: Policies that learn nothing, in the order of their rows.
BASELINES = ("oracle", "oracle_in_sample", "mix", "fixed", "random", "length")

#: The order of all rows, where nothing else is asked for.
POLICIES = (*BASELINES, "label", "curve", "noise")

_DIMS = 4  # of the text embedding: enough to tell vocabularies apart, and quick to grow trees on


class Learner(Protocol):
    """What `held_out` can score: any object with these two methods, as `LabelPolicy` and `CurvePolicy` have them.

    One that also has ``for_budget(features, budget)`` is fitted once, without a budget, and asked for every target.
    """

    def fit(self, features: pd.DataFrame, acc: np.ndarray, cost: np.ndarray, *, budget: float) -> Learner:
        """Learn from training questions."""

    def predict(self, features: pd.DataFrame) -> np.ndarray:
        """Return a column for every question."""


def held_out(
    responses: Responses,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    folds: int = 5,
    groups: Sequence | None = None,
    features: ArrayLike | None = None,
    learners: Mapping[str, Learner] | None = None,
    noises: int = 2,
    first: Responses | None = None,
    overhead: float = 0.0,
    splits: int = 1,
    seed: int = 0,
) -> list[HeldOutRow]:
    """Score every policy on questions and samples that it has not seen.

    Explained in chapter 7, "Results"; ``learners``, ``first`` and ``overhead`` in chapter 6, "Learning".

    Parameters
    ----------
    responses : Responses
        At least `FEWEST` questions, with at least twice as many samples as the largest budget.
    targets : sequence of float
        Average costs to aim for, each at least the cheapest budget's.
    budgets : sequence of int
        Numbers of samples on offer, increasing.
    folds : int
        Parts that the questions are dealt into; each is scored by models of the others.
    groups : sequence of N values, optional
        Questions of one group stay in one fold: with families, a policy is scored on families that it never saw.
        Default: questions with the same text, which are one question asked twice.
    features : DataFrame or array_like, shape (N, d), optional
        Known of a question before it is asked. Default: `text_features`, and a small `TextEmbedding` that is fitted
        anew in every fold, on its training questions.
    learners : mapping of str to Learner, optional
        What learns, by the name of its rows; copies of it are fitted. Default: ``label`` and ``curve``.
    noises : int
        Noise policies a half, so that the control does not stand on one draw; with 0 there is no such row.
    first : Responses, optional
        One more answer a question that ``features`` may have looked at, as `Responses.set_aside` gives it. It opens
        every vote that is scored; it teaches nothing and costs nothing beyond its place in the vote.
    overhead : float
        What ``features`` cost a question on top of its budget: 1 for an answer that is looked at and thrown away.
        Added to the cost of the learners, and so to the cost at which they are compared.
    splits : int
        How often the samples are dealt into halves; results are averaged question by question.
    seed : int

    Returns
    -------
    list of HeldOutRow
        A row a policy and target. ``oracle`` is cross-fitted; ``oracle_in_sample`` is chosen and scored on all
        samples, and so is its mix; ``noise`` is ``label`` with features that know nothing.

    Raises
    ------
    DataError
        If there are too few questions, groups or samples.
    ValueError
        If a target lies below the cheapest budget, or folds or splits are too few.
    """
    member = members(responses, groups)
    fold = deal(member, folds, seed)
    check_halves(responses, budgets, splits)
    targets = check_targets(targets, np.asarray(budgets, dtype=float))
    learners = _checked(learners, seed)
    if noises < 0 or not 0 <= overhead < np.inf:
        raise ValueError(f"noises is {noises} and overhead {overhead}; give 0 or more")
    votes = compared(responses if first is None else joined(first, responses))
    opening, votes = (None, votes) if first is None else votes.set_aside(0)
    inputs = list(_inputs(responses, fold, features))
    tally = Tally([*BASELINES, *learners, "noise"])
    with tqdm(total=2 * splits * len(inputs), desc="evaluating", unit=" folds", disable=None, leave=False) as bar:
        for number in range(2 * splits):
            halves = votes.split_samples(seed + number // 2)[:: 1 if number % 2 == 0 else -1]
            choose, score = halves[0].table(budgets), halves[1].table(budgets)
            if opening is not None:
                score = first_vote_table(opening, halves[1], budgets)
            seeds = range(1000 * seed + noises * number, 1000 * seed + noises * (number + 1))
            blind = [noise_features(responses.n, seed=noise) for noise in seeds]
            learned = _learn(choose, targets, inputs, learners, blind, seed, bar)
            for (target, best), columns in zip(_oracles(choose, targets), learned.swapaxes(0, 1), strict=True):
                for policy, plan in _plans(choose, responses.questions, target, best).items():
                    tally.add(policy, target, plan, score)
                majority = np.bincount(best).max() / best.size
                for (name, learner), chosen in zip(learners.items(), columns, strict=False):
                    imitated = ((chosen == best).mean(), majority) if isinstance(learner, LabelPolicy) else ()
                    tally.add(name, target, from_labels(chosen, choose.k), score, imitated, overhead)
                if noises:
                    # The mean of the noise policies is the plan that draws one of them.
                    chosen = columns[len(learners) :]
                    plan = Plan(np.mean([from_labels(labels, choose.k).weights for labels in chosen], axis=0))
                    tally.add("noise", target, plan, score, ((chosen == best).mean(), majority))
    full = votes.table(budgets)
    for target, best in _oracles(full, targets):
        tally.add("oracle_in_sample", target, from_labels(best, full.k), full)
    return tally.rows(member)


def unseen_curves(
    responses: Responses,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    folds: int = 5,
    groups: Sequence | None = None,
    features: ArrayLike | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Predict the curve of every question with a `CurvePolicy` of the other folds.

    All samples teach: the question's own are not among them. Explained in chapter 6, "Learning".

    Parameters
    ----------
    responses, budgets, folds, groups, features, seed
        As for `held_out`.

    Returns
    -------
    ndarray, shape (N, K)
        In [0, 1].
    """
    fold = deal(members(responses, groups), folds, seed)
    table = responses.table(budgets)
    found = np.empty_like(table.acc)
    for train, test, known in _inputs(responses, fold, features):
        policy = CurvePolicy(seed=seed).fit(known.iloc[train], table.acc[train], table.cost)
        found[test] = policy.curves(known.iloc[test])
    return found


def check_targets(targets: Sequence[float], cost: np.ndarray) -> list[float]:
    """Return the targets, each once; one below the cheapest cost is refused."""
    found = [float(target) for target in targets]
    if not found:
        raise ValueError("there is no target; give at least one average cost")
    for target in found:
        if not np.isfinite(target):
            raise ValueError(f"target {target} cannot be met: give a finite number")
        if target < cost[0]:
            raise ValueError(
                f"target {target:g} cannot be met: the cheapest budget costs {cost[0]:g}, give at least that"
            )
    return list(dict.fromkeys(found))


@lru_cache(maxsize=32)
def _embedded(train: tuple[str, ...], texts: tuple[str, ...]) -> pd.DataFrame:
    """The embedding of all texts that knows the training ones; kept, since settings often share their questions."""
    return TextEmbedding(_DIMS).fit(train).transform(texts)


def _inputs(
    responses: Responses, fold: np.ndarray, features: ArrayLike | None
) -> Iterator[tuple[np.ndarray, np.ndarray, pd.DataFrame]]:
    """Training questions, test questions and the features of all, one fold after the other."""
    given = pd.DataFrame(text_features(responses.questions) if features is None else features)
    for out in np.unique(fold):
        train, test = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        texts = [responses.questions[i] for i in train]
        known = given
        if features is None and any(text.strip() for text in texts):
            embedded = _embedded(tuple(texts), tuple(responses.questions))
            known = pd.concat([given, embedded], axis=1)
        yield train, test, known


def _checked(learners: Mapping[str, Learner] | None, seed: int) -> dict[str, Learner]:
    if learners is None:
        return {"label": LabelPolicy(seed=seed), "curve": CurvePolicy(seed=seed)}
    if not learners:
        raise ValueError("learners is empty; give at least one")
    taken = [name for name in learners if name in (*BASELINES, "noise")]
    if taken:
        raise ValueError(f"a learner is called {taken[0]!r}, which is a row of its own; give it another name")
    return dict(learners)


def _learn(
    choose: UtilityTable,
    targets: Sequence[float],
    inputs: Sequence[tuple[np.ndarray, np.ndarray, pd.DataFrame]],
    learners: Mapping[str, Learner],
    blind: Sequence[pd.DataFrame],
    seed: int,
    bar: tqdm,
) -> np.ndarray:
    """Columns of all questions, (policies, targets, N): the learners, and ``label`` on each noise."""

    def learn(learner: Learner, known: pd.DataFrame, train: np.ndarray, test: np.ndarray) -> list[np.ndarray]:
        policy, seen, unseen, acc = deepcopy(learner), known.iloc[train], known.iloc[test], choose.acc[train]
        if hasattr(policy, "for_budget"):
            policy.fit(seen, acc, choose.cost)
            return [policy.for_budget(unseen, target) for target in targets]
        return [policy.fit(seen, acc, choose.cost, budget=target).predict(unseen) for target in targets]

    def one_fold(fold: tuple[np.ndarray, np.ndarray, pd.DataFrame]) -> list[list[np.ndarray]]:
        train, test, known = fold
        told = [learn(learner, known, train, test) for learner in learners.values()]
        return told + [learn(LabelPolicy(seed=seed), noise, train, test) for noise in blind]

    found = np.zeros((len(learners) + len(blind), len(targets), choose.n), dtype=int)
    # Trees grow outside Python's lock, each model on one thread: folds side by side change no digit.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (_, test, _), columns in zip(inputs, pool.map(one_fold, inputs), strict=True):
            found[:, :, test] = columns
            bar.update()
    return found


def _oracles(table: UtilityTable, targets: Sequence[float]) -> list[tuple[float, np.ndarray]]:
    path = frontier(table.acc, table.cost)
    return [(target, path.at(target).labels) for target in targets]


def _plans(choose: UtilityTable, questions: Sequence[str], target: float, best: np.ndarray) -> dict[str, Plan]:
    """Every plan at one target that learns nothing; ``best`` are the oracle's columns."""
    return {
        "oracle": from_labels(best, choose.k),
        "mix": best_mix(choose.acc, choose.cost, target),
        "fixed": baselines.fixed(choose.cost, target, choose.n),
        "random": baselines.random(choose.cost, target, choose.n),
        "length": baselines.length(questions, choose.cost, target),
    }
