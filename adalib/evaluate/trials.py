"""Trials: a learner learns from some questions, and is scored by cost and accuracy on others.

A policy that plans (anything with ``fit`` and ``predict``) names a budget before it asks; its cost
and accuracy are read off the table of the scoring half. A rule that watches the answers come in
brings its own ``trial``.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import PLANS, Plan, from_labels
from adalib.evaluate.waiting import expected_waiting
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.peers import PEERS, TunedRules
from adalib.sequential.policy import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.sequential.streams import Cost
from adalib.table import UtilityTable
from adalib.threads import side_by_side

#: Policies that learn nothing, in the order of their rows.
BASELINES = ("oracle", "oracle_in_sample", "mix", *PLANS)
#: The row of `adalib.PricedRace`, where answers have tokens.
RACE = "race"
#: Policies that watch the answers come in.
STOPPING = ("priced", "priced_votes", "margin", "adaptive_consistency", "esc")


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


def stopping_policies(seed: int = 0, cost: Cost = "samples") -> dict[str, Learner | Planner]:
    """Return the learners that decide while answers arrive: all signals, votes alone, peers."""
    return {
        "priced": PricedStopping(seed=seed, cost=cost),
        "priced_votes": PricedStopping(("votes",), seed=seed, cost=cost),
        **{name: TunedRules(PEERS[name], seed=seed, cost=cost) for name in STOPPING[2:]},
    }


@dataclass(frozen=True)
class RaceInAnswers:
    """A race in a trial that counts cost in answers: tokens become average training answers."""

    race: PricedRace

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Run the race's own trial at the same targets in tokens."""
        unit = float(train.answers.tokens.mean())
        outcomes = self.race.trial(train, test, [target * unit for target in targets])
        return [(cost / unit, *others) for cost, *others in outcomes]


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


class _FoldJob(NamedTuple):
    """All that one fold needs and no more, because it may be sent to another machine."""

    train: Questions
    test: Questions
    targets: Sequence[float]
    learners: Mapping[str, Learner | Planner]
    #: The noise control: policies, each with its training and its test features.
    blind: Sequence[tuple[Planner, pd.DataFrame, pd.DataFrame]]


def learned(
    teach: Half,
    score: Half,
    targets: Sequence[float],
    folds: Sequence[Fold],
    member: np.ndarray,
    learners: Mapping[str, Learner | Planner],
    blind: Sequence[tuple[Planner, pd.DataFrame]],
) -> dict[str, np.ndarray]:
    """Teach every learner with one half, fold by fold, and score it on the other half.

    A fold's questions are scored by learners that were taught with the other folds. ``member`` is
    the group of every question, and ``blind`` are policies with features of pure noise.

    Returns costs, accuracies, columns and waiting by name ("noise" for all the ``blind``), shape
    (policies, targets, 4, N); waiting is NaN where a learner does not return it.
    """

    def job(fold: Fold) -> _FoldJob:
        train = _questions(teach, fold.train, fold.features, member)
        test = _questions(score, fold.test, fold.features, member)
        blind_here = [
            (policy, noise.iloc[fold.train], noise.iloc[fold.test]) for policy, noise in blind
        ]
        return _FoldJob(train, test, targets, learners, blind_here)

    by_fold = side_by_side(lambda fold: _run_fold(job(fold)), folds)
    outcomes = np.empty((len(learners) + len(blind), len(targets), 4, len(member)))
    done = tqdm(
        by_fold, total=len(folds), desc="evaluating", unit=" folds", disable=None, leave=False
    )
    for fold, of_fold in zip(folds, done, strict=True):
        outcomes[..., fold.test] = of_fold
    by_name = {name: outcomes[j : j + 1] for j, name in enumerate(learners)}
    if blind:
        by_name["noise"] = outcomes[len(learners) :]
    return by_name


def _questions(
    half: Half, rows: np.ndarray, features: pd.DataFrame, member: np.ndarray
) -> Questions:
    """Return some questions as a learner gets them."""
    return Questions(
        features.loc[rows], half.answers.take(rows), half.table.take(rows), member[rows]
    )


def _run_fold(job: _FoldJob) -> list[np.ndarray]:
    """Return every learner's outcomes in one fold, and then those of the noise control."""
    outcomes = [
        _outcomes(name, learner, job.train, job.test, job.targets)
        for name, learner in job.learners.items()
    ]
    for policy, train_noise, test_noise in job.blind:
        train = replace(job.train, features=train_noise)
        test = replace(job.test, features=test_noise)
        outcomes.append(_outcomes("noise", policy, train, test, job.targets))
    return outcomes


def _outcomes(
    name: str, learner: Any, train: Questions, test: Questions, targets: Sequence[float]
) -> np.ndarray:
    """Try a learner and check what it returns, shape (targets, 4, n).

    The column is -1 where the learner names none, and the waiting NaN.
    """
    trial = learner.trial if hasattr(learner, "trial") else partial(_planned, learner)
    results = list(trial(train, test, targets))
    n = len(test.groups)
    sound = len(results) == len(targets) and all(_is_sound(arrays, n) for arrays in results)
    if not sound:
        raise ValueError(
            f"learner {name!r} must return, for each of the {len(targets)} targets, "
            f"{n} finite costs of 0 or more and {n} accuracies from 0 to 1, one per question"
        )
    outcomes = np.empty((len(targets), 4, n))
    outcomes[:, 2] = -1.0
    outcomes[:, 3] = np.nan
    for outcome, arrays in zip(outcomes, results, strict=True):
        outcome[: len(arrays)] = arrays
    return outcomes


def _is_sound(arrays: Sequence[np.ndarray], n: int) -> bool:
    """Whether a trial returned n costs and n accuracies, and perhaps n columns and n waits."""
    if not 2 <= len(arrays) <= 4 or any(np.shape(array) != (n,) for array in arrays):
        return False
    cost = np.asarray(arrays[0], dtype=float)
    accuracy = np.asarray(arrays[1], dtype=float)
    return bool(((cost >= 0) & (cost < np.inf) & (accuracy >= 0) & (accuracy <= 1)).all())


def _planned(
    policy: Any, train: Questions, test: Questions, targets: Sequence[float]
) -> list[tuple[np.ndarray, ...]]:
    """Look up a policy's columns in the table of the scoring half, for every target."""
    policy = deepcopy(policy)
    acc = train.table.acc
    cost = train.table.cost
    k = train.table.k
    if hasattr(policy, "for_budget"):
        policy.fit(train.features, acc, cost, groups=train.groups)
        plans = [from_labels(policy.for_budget(test.features, target), k) for target in targets]
        # It does not imitate labels, so its columns are not compared with the oracle's.
        columns = [np.full(len(test.groups), -1.0)] * len(plans)
    else:
        columns = [
            policy.fit(train.features, acc, cost, budget=target).predict(test.features)
            for target in targets
        ]
        plans = [from_labels(labels, k) for labels in columns]
    return [
        (*plan.outcome(test.table), labels, plan_waiting(plan, test.answers, test.table))
        for plan, labels in zip(plans, columns, strict=True)
    ]


def plan_waiting(plan: Plan, answers: Any, table: UtilityTable) -> np.ndarray:
    """Return the waiting per question if its answers are asked together; NaN for a menu.

    It is measured in average answers.
    """
    if not isinstance(answers, Responses):
        return np.full(table.n, np.nan)
    average_tokens = 1.0 if answers.tokens is None else float(np.mean(answers.tokens))
    budgets = [int(b) for b in table.budgets]
    return plan.expected(expected_waiting(answers, budgets, average_tokens))
