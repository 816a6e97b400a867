"""Trials: a learner learns from some questions, and is scored by cost and accuracy on others.

A policy that plans (anything with ``fit`` and ``predict``) names a budget before it asks; its cost
and accuracy are read off the table of the scoring half. A rule that watches the answers come in
brings its own ``trial``. Folds are tried side by side, one thread per processor.
"""

from __future__ import annotations

import os
import threading
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import has_fit_parameter
from tqdm import tqdm

from adalib.evaluate.baselines import PLANS, from_labels
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.table import UtilityTable

#: Policies that learn nothing, in the order of their rows.
BASELINES = ("oracle", "oracle_in_sample", "mix", *PLANS)


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions as they are handed to a learner: to learn from, or to be scored on."""

    features: pd.DataFrame  # known of a question before it is asked
    #: One half of the answers in the order in which they came: a Menu, or Responses whose texts
    #: are class numbers.
    answers: Any
    table: UtilityTable  # what those answers say of every budget
    # Questions of one group belong together: folds inside a learner must not part them either.
    groups: np.ndarray


class Half(NamedTuple):
    """One half of every question's answers, and the table that they give."""

    answers: Any
    table: UtilityTable


class Fold(NamedTuple):
    """The rows to learn from, the rows to score, and their features, a frame indexed by row."""

    train: np.ndarray
    test: np.ndarray
    features: pd.DataFrame


class Learner(typing.Protocol):
    """What `adalib.held_out` scores."""

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> Sequence[tuple[np.ndarray, ...]]:
        """Learn from ``train`` and return the costs and accuracies of ``test``; keep nothing.

        An answer of ``test`` is paid for before it is read.

        A third array may name the columns that were chosen (-1: none), and a fourth the waiting in
        average answers. Without a fourth, answers come one by one, and one waits for all of them.
        """


class Planner(typing.Protocol):
    """A policy that names a column before it asks, of which copies are fitted.

    One with ``for_budget(features, budget)`` is fitted once, without a budget but with ``groups``,
    for all targets.
    """

    def fit(
        self, features: pd.DataFrame, acc: np.ndarray, cost: np.ndarray, *, budget: float
    ) -> Planner: ...

    def predict(self, features: pd.DataFrame) -> np.ndarray: ...


def planning_policies(seed: int = 0) -> dict[str, Learner | Planner]:
    """Return the learners that decide before asking, by the names of their rows."""
    return {"label": LabelPolicy(seed=seed), "curve": CurvePolicy(seed=seed)}


def checked_learners(
    learners: Mapping[str, Learner | Planner] | None, seed: int
) -> dict[str, Learner | Planner]:
    """Return the learners to try: those given, under distinct names, or those that plan."""
    if learners is None:
        return planning_policies(seed)
    if not learners:
        raise ValueError("learners is empty; give at least one")
    for name in learners:
        if name in (*BASELINES, "noise"):
            raise ValueError(f"{name!r} is a built-in baseline; choose another name")
    return dict(learners)


@dataclass(frozen=True, eq=False)
class WithFeatures:
    """A policy that sees other features of the questions, such as noise for a control."""

    policy: Learner
    features: pd.DataFrame  # one row per question of the file

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Give the policy these features of the same questions."""
        train_features = self.features.iloc[train.features.index]
        test_features = self.features.iloc[test.features.index]
        return planned(
            self.policy,
            replace(train, features=train_features),
            replace(test, features=test_features),
            targets,
        )


class Round(NamedTuple):
    """Which half teaches and which one scores, and the learners tried so, with their names."""

    teach: Half
    score: Half
    tried: list[tuple[str, Learner | Planner]]


class Learned(NamedTuple):
    """What learners did on every question, arrays of shape (learners, targets, N)."""

    cost: np.ndarray
    accuracy: np.ndarray
    column: np.ndarray  # that was chosen; -1 where a learner names none
    waiting: np.ndarray  # in average answers; NaN where a learner does not return it


def run_folds(
    rounds: Sequence[Round], targets: Sequence[float], folds: Sequence[Fold], member: np.ndarray
) -> list[Learned]:
    """Teach every learner of every round with one half, fold by fold, and score it on the other.

    A fold's questions are scored by learners that were taught with the other folds. ``member`` is
    the group of every question.
    """

    def in_fold(job: tuple[int, Fold]) -> list[np.ndarray]:
        number, fold = job
        teach, score, tried = rounds[number]
        train = _questions(teach, fold.train, fold.features, member)
        test = _questions(score, fold.test, fold.features, member)
        of_fold = []
        for name, learner in tried:
            of_fold.append(outcomes(name, learner, train, test, targets))
            bar.update()
        return of_fold

    fields = len(Learned._fields)
    found = [np.empty((fields, len(one.tried), len(targets), len(member))) for one in rounds]
    jobs = list(product(range(len(rounds)), folds))
    with tqdm(
        total=sum(len(rounds[number].tried) for number, _ in jobs),
        desc="evaluating",
        unit=" trials",
        disable=None,
        leave=False,
        ncols=80,  # some terminals do not say their size
        nrows=24,
    ) as bar:
        for (number, fold), of_fold in zip(jobs, side_by_side(in_fold, jobs), strict=True):
            found[number][..., fold.test] = np.stack(of_fold, axis=1)
    return [Learned(*arrays) for arrays in found]


def _questions(
    half: Half, rows: np.ndarray, features: pd.DataFrame, member: np.ndarray
) -> Questions:
    """Return some questions as a learner gets them."""
    return Questions(
        features.loc[rows], half.answers.take(rows), half.table.take(rows), member[rows]
    )


def outcomes(
    name: str,
    learner: Learner | Planner,
    train: Questions,
    test: Questions,
    targets: Sequence[float],
) -> np.ndarray:
    """Try one learner and check what it returns, an array (targets, n) per field of `Learned`."""
    if hasattr(learner, "trial"):
        results = list(learner.trial(train, test, targets))
    else:
        results = planned(learner, train, test, targets)
    n = len(test.groups)
    sound = len(results) == len(targets) and all(_is_sound(arrays, n) for arrays in results)
    if not sound:
        raise ValueError(
            f"learner {name!r} must return, for each of the {len(targets)} targets, "
            f"{n} finite costs of 0 or more and {n} accuracies from 0 to 1, one per question"
        )
    left_out = (np.full(n, -1.0), np.full(n, np.nan))  # no column, and no waiting
    rows = [(*arrays, *left_out[len(arrays) - 2 :]) for arrays in results]
    return np.swapaxes(np.array(rows, dtype=float), 0, 1)


def _is_sound(arrays: Sequence[np.ndarray], n: int) -> bool:
    """Whether a trial returned n costs and n accuracies, and perhaps n columns and n waits."""
    if not 2 <= len(arrays) <= 4 or any(np.shape(array) != (n,) for array in arrays):
        return False
    cost = np.asarray(arrays[0], dtype=float)
    accuracy = np.asarray(arrays[1], dtype=float)
    return bool(((cost >= 0) & (cost < np.inf) & (accuracy >= 0) & (accuracy <= 1)).all())


def planned(
    policy: Any, train: Questions, test: Questions, targets: Sequence[float]
) -> list[tuple[np.ndarray, ...]]:
    """Fit a copy of a policy that plans, and look up its columns in the table of the test."""
    policy = deepcopy(policy)
    acc = train.table.acc
    cost = train.table.cost
    groups = {"groups": train.groups} if has_fit_parameter(policy, "groups") else {}
    results: list[tuple[np.ndarray, ...]] = []
    if hasattr(policy, "for_budget"):
        policy.fit(train.features, acc, cost, **groups)
    for target in targets:
        if hasattr(policy, "for_budget"):
            labels = policy.for_budget(test.features, target)
            # It does not imitate labels, so its columns are not compared with the oracle's.
            named = np.full(len(labels), -1.0)
        else:
            policy.fit(train.features, acc, cost, budget=target, **groups)
            labels = named = policy.predict(test.features)
        plan = from_labels(labels, train.table.k)
        waits = plan.waiting(test.answers, test.table.budgets)
        results.append((*plan.outcome(test.table), named, waits))
    return results


@cache
def cores() -> int:
    """Return how many processors this process may use; 1 where no thread can start (a browser)."""
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(work: Callable, jobs: Iterable) -> Iterator:
    """Call ``work`` on every job, one thread per processor; yield results in the order of jobs.

    Meant for training trees: they grow outside Python's lock, each model on one thread, so the
    numbers do not depend on how many processors there are.
    """
    if cores() == 1:
        yield from map(work, jobs)
        return
    from threadpoolctl import threadpool_limits  # here, because a browser does not have it

    # Matrix products that start threads of their own would compete for the same processors.
    with threadpool_limits(1, user_api="blas"):
        pool = ThreadPoolExecutor(cores())
        try:
            yield from pool.map(work, jobs)
        finally:
            # Who interrupts does not wait for the jobs that have begun.
            pool.shutdown(wait=False, cancel_futures=True)
