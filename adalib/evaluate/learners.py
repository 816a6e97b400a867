"""Trials: a learner learns from some questions, and is scored by cost and accuracy on others.

A policy that plans (``fit`` and ``predict``) names a column before it asks; its cost and accuracy
are read off the table of the scoring half. A policy that watches (``fit`` and ``more``) is shown
one answer after the other and says whether to ask again. Anything else brings its own ``trial``.
Folds are tried side by side, one thread per processor.
"""

from __future__ import annotations

import os
import threading
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import signature
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import has_fit_parameter
from tqdm import tqdm

from adalib.datasets.responses import Cost, Responses
from adalib.evaluate.baselines import PLANS, from_labels
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.alike import Alike
from adalib.sequential.replay import Tried
from adalib.sequential.watching import Answer, Each, watch
from adalib.table import UtilityTable

#: Policies that learn nothing, in the order of their rows.
BASELINES = ("oracle", "oracle_in_sample", "mix", *PLANS)


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions as they are handed to a learner: to learn from, or to be scored on."""

    features: pd.DataFrame  # known of a question before it is asked
    #: One half of the answers in the order in which they came: a Menu or Responses.
    answers: Any
    table: UtilityTable  # what those answers say of every budget
    # Questions of one group belong together: folds inside a learner must not part them either.
    groups: np.ndarray
    cost: Cost = "samples"  # what is paid for an answer
    #: Allowances that everyone may get alike, where answers differ in cost (`adalib.sequential`).
    allowed: np.ndarray = field(default_factory=lambda: np.empty(0))
    half: int = 0  # the number of the half that teaches: controls draw other noise for each


class Half(NamedTuple):
    """One half of every question's answers, what they give, and what is paid."""

    answers: Any
    table: UtilityTable  # of what is on offer to policies that plan
    cost: Cost
    paper: UtilityTable  # of the paper's menu
    alike: Alike  # the plans that are the same for everyone
    allowed: np.ndarray = np.empty(0)  # their allowances, the last of those plans


class Fold(NamedTuple):
    """The rows to learn from, the rows to score, and their features, a frame indexed by row."""

    train: np.ndarray
    test: np.ndarray
    features: pd.DataFrame


#: How a row's policy decides: before it asks, or while answers come in. Baselines learn nothing.
Kind = Literal["baseline", "plans", "watches"]


class Learner(typing.Protocol):
    """What `adalib.held_out` scores.

    It watches the answers come in, unless it has an attribute ``plans`` that is true.
    """

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> Sequence[Tried]:
        """Learn from ``train`` and return what it did on ``test``, for every target; keep nothing.

        An answer of ``test`` is paid for before it is read.
        """


class Planner(typing.Protocol):
    """A policy that names a column before it asks.

    ``fit`` may take ``budget``, the average to spend, and ``groups``, one label per question. One
    with ``for_budget(features, budget)`` is fitted once, without a budget, for all targets.
    """

    def fit(self, features: pd.DataFrame, table: UtilityTable, /) -> Any: ...

    def predict(self, features: pd.DataFrame) -> np.ndarray: ...


class Watcher(typing.Protocol):
    """A policy that looks at the answers that were paid for, and says whether to ask again.

    With a method ``answer(seen)`` it also names the answer at the end, one that it saw; otherwise
    the most frequent one counts, and those that are tied share the win.
    """

    def fit(self, answers: Responses) -> Any: ...

    def more(self, seen: Sequence[Answer]) -> bool: ...


#: A learner, or what makes one: a class or a function. Where it has a parameter ``budget``, it is
#: told the average to spend: in the unit of the table if it plans, in answers if it watches.
Policy = Learner | Planner | Watcher | Callable[..., Learner | Planner | Watcher]


def fresh(policy: Policy, target: float) -> Any:
    """Return a policy that has seen nothing: a copy of the object, or a new one of its maker."""
    if not _is_maker(policy):
        return policy if hasattr(policy, "trial") else deepcopy(policy)  # a trial keeps nothing
    return policy(budget=target) if _takes_budget(policy) else policy()  # type: ignore[operator]


def _is_maker(policy: Any) -> bool:
    """Whether this is no policy yet, but a class or a function that makes one."""
    acts = any(hasattr(policy, name) for name in ("trial", "predict", "more"))
    return isinstance(policy, type) or (callable(policy) and not acts)


def _takes_budget(policy: Any) -> bool:
    """Whether another policy has to be made for every budget."""
    return _is_maker(policy) and "budget" in signature(policy).parameters


def kind_of(name: str, policy: Policy, target: float, menu: bool = False) -> Kind:
    """Say how a policy decides; ValueError if a method is missing, or a menu is to be watched."""
    made = fresh(policy, target)
    if hasattr(made, "trial"):
        kind: Kind = "plans" if getattr(made, "plans", False) else "watches"
        return _allowed(name, kind, menu)
    found = [method for method in ("predict", "more") if callable(getattr(made, method, None))]
    if not callable(getattr(made, "fit", None)) or len(found) != 1:
        has = ", ".join(["fit"] * hasattr(made, "fit") + found) or "neither"
        raise ValueError(
            f"policy {name!r} has {has}; give it fit(features, table) and predict(features) to "
            "plan, or fit(answers) and more(seen) to watch the answers come in"
        )
    return _allowed(name, "plans" if found == ["predict"] else "watches", menu)


def _allowed(name: str, kind: Kind, menu: bool) -> Kind:
    """Return how a policy decides; ValueError if it watches and there are several models."""
    if menu and kind == "watches":
        raise ValueError(
            f"policy {name!r} watches the answers of one model, and there are several; give it "
            "fit(features, table) and predict(features), or give the answers of one model"
        )
    return kind


def planning_policies(seed: int = 0) -> dict[str, Policy]:
    """Return the learners that decide before asking, by the names of their rows."""
    return {"label": LabelPolicy(seed=seed), "curve": CurvePolicy(seed=seed)}


def checked_learners(learners: Mapping[str, Policy] | None, seed: int) -> dict[str, Policy]:
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

    policy: Planner
    features: pd.DataFrame  # one row per question of the file
    plans = True

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
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
    tried: list[tuple[str, Policy]]


class Learned(NamedTuple):
    """What learners did on every question: arrays of shape (learners, targets, N), and the bar."""

    cost: np.ndarray
    accuracy: np.ndarray
    column: np.ndarray  # that was chosen; -1 where a learner names none
    waiting: np.ndarray  # in average answers; NaN where a learner does not return it
    #: By learner and target: its own way of voting for everyone alike, None for the plain vote.
    alike: list[list[Alike | None]]


def run_folds(
    rounds: Sequence[Round], targets: Sequence[float], folds: Sequence[Fold], member: np.ndarray
) -> list[Learned]:
    """Teach every learner of every round with one half, fold by fold, and score it on the other.

    A fold's questions are scored by learners that were taught with the other folds. ``member`` is
    the group of every question.
    """

    def in_fold(job: tuple[int, Fold]) -> list[list[Tried]]:
        number, fold = job
        teach, score, tried = rounds[number]
        train = _questions(teach, fold.train, fold.features, member, number)
        test = _questions(score, fold.test, fold.features, member, number)
        of_fold = []
        for name, learner in tried:
            of_fold.append(outcomes(name, learner, train, test, targets))
            bar.update()
        return of_fold

    jobs = list(product(range(len(rounds)), folds))
    by_round: list[list[list[list[Tried]]]] = [[] for _ in rounds]  # by fold, learner and target
    with tqdm(
        total=sum(len(rounds[number].tried) for number, _ in jobs),
        desc="evaluating",
        unit=" trials",
        disable=None,
        leave=False,
        ncols=80,  # some terminals do not say their size
        nrows=24,
    ) as bar:
        for (number, _), of_fold in zip(jobs, side_by_side(in_fold, jobs), strict=True):
            by_round[number].append(of_fold)
    return [
        _joined(one.score, of_folds, folds, len(member))
        for one, of_folds in zip(rounds, by_round, strict=True)
    ]


def _joined(
    score: Half, of_folds: list[list[list[Tried]]], folds: Sequence[Fold], n: int
) -> Learned:
    """Join what the folds of a round found, by fold, learner and target."""

    def array(field: str) -> np.ndarray:
        found = np.full((len(of_folds[0]), len(of_folds[0][0]), n), np.nan)
        for of_fold, fold in zip(of_folds, folds, strict=True):
            found[..., fold.test] = [[getattr(one, field) for one in of] for of in of_fold]
        return found

    alike = []
    for of_learner in zip(*of_folds, strict=True):
        by_target = zip(*of_learner, strict=True)
        alike.append([_joined_alike(score, of_target, folds) for of_target in by_target])
    return Learned(array("cost"), array("accuracy"), array("column"), array("waiting"), alike)


def _joined_alike(score: Half, tried: Sequence[Tried], folds: Sequence[Fold]) -> Alike | None:
    """Join a policy's own way of voting for everyone alike; None if it is the plain vote.

    A policy may weigh votes in one fold and count plain ones in another, whose plans then stand in.
    """
    longest = next((one.alike for one in tried if one.alike is not None), None)
    if longest is None:
        return None
    # The plans are numbers of answers, and allowances after them.
    allowed = len(score.allowed)
    plans = score.alike.cost.shape[1]
    numbers = longest.cost.shape[1] - allowed
    same = [*range(numbers), *range(plans - allowed, plans)]
    cost = score.alike.cost[:, same]
    accuracy = score.alike.accuracy[:, same]
    for one, fold in zip(tried, folds, strict=True):
        if one.alike is not None:
            cost[fold.test] = one.alike.cost
            accuracy[fold.test] = one.alike.accuracy
    return Alike(cost, accuracy)


def _questions(
    half: Half, rows: np.ndarray, features: pd.DataFrame, member: np.ndarray, number: int
) -> Questions:
    """Return some questions as a learner gets them."""
    return Questions(
        features.loc[rows],
        half.answers.take(rows),
        half.table.take(rows),
        member[rows],
        half.cost,
        half.allowed,
        number,
    )


def outcomes(
    name: str,
    learner: Policy,
    train: Questions,
    test: Questions,
    targets: Sequence[float],
) -> list[Tried]:
    """Try one learner, check what it returns, and fill in what it leaves out."""
    made = fresh(learner, targets[0])
    if hasattr(made, "trial"):
        results = [Tried(*one) if len(one) > 1 else one for one in made.trial(train, test, targets)]
    elif hasattr(made, "more"):
        results = watched(learner, train, test, targets)
    else:
        results = planned(learner, train, test, targets)
    n = len(test.groups)
    if len(results) != len(targets) or not all(_is_sound(one, n) for one in results):
        raise ValueError(
            f"learner {name!r} must return, for each of the {len(targets)} targets, "
            f"{n} finite costs of 0 or more and {n} accuracies from 0 to 1, one per question"
        )
    none = np.full(n, -1.0)
    unknown = np.full(n, np.nan)
    return [
        one._replace(
            column=none if one.column is None else one.column,
            waiting=unknown if one.waiting is None else one.waiting,
        )
        for one in results
    ]


def _is_sound(one: Tried, n: int) -> bool:
    """Whether a trial returned n costs and n accuracies, and perhaps n columns and n waits."""
    if len(one) < 2 or any(np.shape(array) != (n,) for array in one[:4] if array is not None):
        return False
    cost = np.asarray(one.cost, dtype=float)
    accuracy = np.asarray(one.accuracy, dtype=float)
    return bool(((cost >= 0) & (cost < np.inf) & (accuracy >= 0) & (accuracy <= 1)).all())


def planned(
    policy: Policy, train: Questions, test: Questions, targets: Sequence[float]
) -> list[Tried]:
    """Fit a policy that plans, and look up its columns in the table of the test."""
    # The index has the questions' places in the file, which are no feature.
    features = test.features.reset_index(drop=True)

    def fitted(target: float, **options: Any) -> Any:
        made = fresh(policy, target)
        taken = {name: options[name] for name in options if has_fit_parameter(made, name)}
        made.fit(train.features.reset_index(drop=True), train.table, **taken)
        return made

    results: list[Tried] = []
    for_all = None
    if hasattr(fresh(policy, targets[0]), "for_budget"):
        for_all = fitted(targets[0], groups=train.groups)
    for target in targets:
        if for_all is None:
            made = fitted(target, budget=target, groups=train.groups)
            labels = named = _columns(made, made.predict(features), test.table)
        else:
            labels = for_all.for_budget(features, target)
            # It does not imitate labels, so its columns are not compared with the oracle's.
            named = np.full(len(labels), -1.0)
        plan = from_labels(labels, train.table.k)
        waits = plan.waiting(test.answers, test.table.budgets)
        results.append(Tried(*plan.outcome(test.table), named, waits))
    return results


def _columns(policy: Any, labels: Any, table: UtilityTable) -> np.ndarray:
    """Return the columns that a policy named; ValueError if they are none."""
    columns = np.asarray(labels)
    in_table = columns.shape == (table.n,) and columns.dtype.kind in "iu"
    if not in_table or not ((columns >= 0) & (columns < table.k)).all():
        raise ValueError(
            f"policy {type(policy).__name__}: predict(features) must return {table.n} whole "
            f"numbers from 0 to {table.k - 1}, the column of every question"
        )
    return columns


def watched(
    policy: Policy,
    train: Questions,
    test: Questions,
    targets: Sequence[float],
    each: Each = map,
) -> list[Tried]:
    """Fit a policy that watches, and show it the answers of the test, as `watch` does."""
    # One half may have an answer more than the other; play what both have.
    most = min(train.answers.samples, test.answers.samples)
    average = float(np.mean(train.answers.answer_costs(train.cost)))
    results: list[Tried] = []
    for target in targets:
        if not results or _takes_budget(policy):
            made = fresh(policy, target / average)  # a rule counts answers, whatever is paid
            made.fit(train.answers)
            results.append(
                watch(made, test.answers, most, cost=test.cost, allowed=test.allowed, each=each)
            )
        else:
            results.append(results[-1])
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
