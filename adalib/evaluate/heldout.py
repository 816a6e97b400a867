"""The held-out protocol: score a question by models and labels that never saw its answers.

One half of every question's samples teaches and the other half scores, both ways round; the
questions are dealt into folds, and each is scored by models of the other folds. The bar is the
same for everyone: any whole number of answers, or two of them by lot, at the cost that a policy
really had, chosen on the samples that score. It stands whatever numbers a policy may give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, members, subsample
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Cost, Responses, first_vote_table, joined
from adalib.evaluate.baselines import (
    PLANS,
    Plan,
    from_labels,
    noise_features,
    waiting_times,
)
from adalib.evaluate.crossfit import check_halves, with_class_numbers
from adalib.evaluate.learners import (
    BASELINES,
    Fold,
    Half,
    Learned,
    Policy,
    Round,
    WithFeatures,
    checked_learners,
    kind_of,
    run_folds,
)
from adalib.evaluate.scores import HeldOutRow, Outcome, Scores
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.describe import DESCRIBED, describe
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.alike import Alike, allowances, drawn, played_alike
from adalib.sequential.replay import Mix
from adalib.solve.frontier import frontier
from adalib.table import NUMBERS, PAPER_MENU, UtilityTable
from adalib.tolerances import meets

#: Training questions that a fold learns from, at most: the text's prior takes time with their
#: cube. More may do better.
TAUGHT = 1000

#: How a half of the answers, Responses or a Menu, becomes a table: a function of them and of the
#: budgets on offer.
MakeTable = Callable[[Any, Sequence[int]], UtilityTable]


@dataclass(frozen=True, eq=False, kw_only=True)
class Protocol:
    """How `held_out` deals questions and answers into parts that teach and parts that score.

    Explained on the page "Whom to ask, and how hard to think".

    Parameters
    ----------
    folds : int
        Number of folds. The questions of a fold are scored by models that learned from the others.
    groups : sequence, optional
        One label per question; questions with the same label stay in one fold. By default those
        with the same text do.
    taught : int
        The largest number of questions that a model learns from.
    cost : {"samples", "tokens"} or Prices
        What is paid: answers, their tokens, or dollars. A menu has prices of its own.
    table : callable, optional
        A function of (Responses, budgets) that returns the table of costs and accuracies, for
        another vote. By default it is `Responses.table`.
    seed : int
        Seed of the folds, of the halves and of the learners.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null, held_out
    >>> pairs = Protocol(folds=2, groups=[question // 2 for question in range(40)])
    >>> learners = {"curve": CurvePolicy()}
    >>> rows = held_out(
    ...     flat_null(40).sample(8), [2], (1, 4), learners=learners, noises=0, protocol=pairs
    ... )
    >>> rows[-1].policy
    'curve'
    """

    folds: int = 5
    groups: Sequence | None = None
    taught: int = TAUGHT
    cost: Cost = "samples"
    table: MakeTable | None = None
    seed: int = 0

    def make_table(self, responses: Responses | Menu) -> MakeTable:
        """Return what makes the table of these answers, or of a half of them."""
        if self.table is not None:
            return self.table
        if isinstance(responses, Menu):
            return Menu.table
        return partial(Responses.table, cost=self.cost)


@dataclass(frozen=True, eq=False)
class PaidFeatures:
    """Features that were read off a first answer, and what becomes of that answer.

    Such features are not free: the model had to answer once. Either that answer opens the vote, or
    it is thrown away and its cost is added.

    Parameters
    ----------
    features : DataFrame or array_like of shape (N, d), optional
        What is known of each question. Default: the features of its text.
    first : Responses, optional
        The answer that was looked at, as `Responses.set_aside` returns it. It is the first of every
        vote that is scored, and no model learns from it.
    overhead : float
        What the features cost per question on top of the budget: 1 if the answer is thrown away.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null, held_out
    >>> first, rest = flat_null(40).sample(9).set_aside(0)
    >>> paid = PaidFeatures(features=[[len(row[0])] for row in first.answers], first=first)
    >>> learners = {"curve": CurvePolicy()}
    >>> rows = held_out(rest, [2], (1, 4), learners=learners, features=paid, noises=0)
    >>> rows[-1].policy
    'curve'
    """

    features: ArrayLike | None = None
    first: Responses | None = None
    overhead: float = 0.0


def held_out(
    responses: Responses | Menu,
    targets: Sequence[float],
    budgets: Sequence[int] = NUMBERS,
    *,
    learners: Mapping[str, Policy] | None = None,
    features: ArrayLike | PaidFeatures | None = None,
    noises: int = 2,
    protocol: Protocol | None = None,
) -> list[HeldOutRow]:
    """Score every policy on questions and samples that it has not seen.

    One half of every question's samples teaches and the other half scores, both ways round. The
    questions are dealt into folds, and each is scored by models that learned from the others.
    Explained in the chapter "When to stop".

    Parameters
    ----------
    responses : Responses or Menu
        Recorded answers of one model, or of several models at their prices, to at least ten
        questions. Every question needs at least twice as many samples as the largest budget.
    targets : sequence of float
        Average costs per question, in the unit of the table: answers unless ``protocol`` says
        otherwise. None may be below the cost of the smallest budget.
    budgets : sequence of int
        Numbers of answers on offer to the policies that plan and to the oracle, in increasing
        order. The bar may give everyone any number, whatever is on offer here.
    learners : mapping of str to learner, optional
        Policies by the names of their rows, or classes that make one. A policy that plans has
        ``fit(features, table)`` and ``predict(features)``, which returns a column for every
        question. One that watches has ``fit(answers)`` and ``more(seen)``, which says whether to
        ask again after the answers seen so far, and perhaps ``answer(seen)``, which picks one of
        them in place of the vote. Whoever needs more control has ``trial``
        (`adalib.evaluate.learners`). Default: ``label`` and ``curve``.
    features : DataFrame, array_like of shape (N, d), or PaidFeatures, optional
        What is known of a question before it is asked. Default: `describe`, by an embedding
        fitted in every fold.
    noises : int
        Number of noise policies per half, so that the control does not rest on one draw; with 0
        there is no such row.
    protocol : Protocol, optional
        How questions and answers are dealt: folds, groups that stay together, training questions
        per fold, cost table and seed. Default: five folds of questions.

    Returns
    -------
    list of HeldOutRow
        One row per policy and target, sorted by target: the baselines (``oracle``, which is
        cross-fitted, ``oracle_in_sample``, which is chosen and scored on all samples, ``mix``,
        which is the same for everyone, chosen on the half that teaches, and the paper's ``fixed``,
        ``random`` and ``length`` on the paper's menu), the learners, and ``noise``, which is
        ``label`` with random numbers as features. Intervals are those of `mean_interval`, over
        questions, or over groups if ``protocol`` gives some.

    Raises
    ------
    ValueError
        If there are too few questions, samples or training questions, or a target cannot be met.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null
    >>> answers = flat_null(40).sample(8)
    >>> rows = held_out(answers, [2], (1, 4), learners={"curve": CurvePolicy()}, noises=0)
    >>> rows[0].policy, rows[-1].policy
    ('oracle', 'curve')
    """
    settings = Protocol() if protocol is None else protocol
    paid = features if isinstance(features, PaidFeatures) else PaidFeatures(features)
    trained = checked_learners(learners, settings.seed)
    _check_settings(settings, paid, noises)
    check_halves(responses, budgets)

    # Deal the questions into folds, and the answers into halves.
    member = members(responses, settings.groups)
    fold_of = deal(member, settings.folds, settings.seed)
    folds = list(_folds(responses, fold_of, paid.features, settings.taught, settings.seed))
    first, votes = _votes(responses, paid.first)
    halves = votes.split_samples(settings.seed)
    table = settings.make_table(responses)
    full = table(votes, budgets)
    targets = check_targets(targets, full.cost)
    menu = isinstance(responses, Menu)
    kinds = {name: kind_of(name, one, targets[0], menu) for name, one in trained.items()}

    # Each half teaches once, and the other one scores.
    rounds = []
    for number, (teaching, scoring) in enumerate((halves, halves[::-1])):
        first_seed = 1000 * settings.seed + noises * number
        noise_seeds = range(first_seed, first_seed + noises)
        tried = [*trained.items(), *_noise_policies(responses.n, noise_seeds, settings.seed)]
        teach = _half(teaching, table, budgets, responses, settings)
        if first is None:
            score = _half(scoring, table, budgets, responses, settings)
        else:
            opened = partial(_opened, first, scoring)
            score = _half(joined(first, scoring), opened, budgets, responses, settings)
        rounds.append(Round(teach, score, tried))
    scores = Scores([*BASELINES, *trained, "noise"], kinds)
    learned = run_folds(rounds, targets, folds, member)
    for (teach, score, tried), found in zip(rounds, learned, strict=True):
        oracles = oracles_at(teach.table, targets)
        _add_plans(scores, oracles, responses.questions, teach, score)
        names = [name for name, _ in tried]
        add_learned(scores, names, found, oracles, score, paid.overhead)

    # The oracle that is too good: chosen and scored on all answers.
    everything = _half(votes, table, budgets, responses, settings)
    for target, labels in oracles_at(everything.table, targets):
        plan = from_labels(labels, full.k)
        outcome = _outcome(plan, everything.answers, everything.table)
        scores.add("oracle_in_sample", target, outcome, everything.alike)
    return scores.rows(member, families=settings.groups is not None)


def _check_settings(settings: Protocol, paid: PaidFeatures, noises: int) -> None:
    """Raise for settings that contradict each other or leave nothing to learn from."""
    if noises < 0 or not 0 <= paid.overhead < np.inf:
        raise ValueError(f"noises is {noises} and overhead {paid.overhead}; give 0 or more")
    if settings.taught < 2:
        raise ValueError(f"taught is {settings.taught}; give at least 2 questions to learn from")
    if paid.first is not None and settings.table is not None:
        raise ValueError(
            "the table of a vote that a first answer opens is given; give first or table, not both"
        )


def _noise_policies(n: int, seeds: Sequence[int], policy_seed: int) -> list[tuple[str, Policy]]:
    """Return the controls, all under one name; trees read single precision, and so is the noise."""
    return [
        (
            "noise",
            WithFeatures(LabelPolicy(seed=policy_seed), noise_features(n, seed=seed).astype("f4")),
        )
        for seed in seeds
    ]


def _half(
    answers: Any,
    table: MakeTable,
    budgets: Sequence[int],
    whole: Responses | Menu,
    settings: Protocol,
) -> Half:
    """Return some answers with their table, and with the plans that are the same for everyone.

    Everyone may get any number of answers up to half of what the ``whole`` file has, of any model.
    """
    most = whole.samples // 2
    numbers = range(1, most + 1)
    paper = table(answers, [number for number in PAPER_MENU if number <= most])
    if isinstance(whole, Menu):
        alike = Alike.of_tables([table(one, numbers) for one in answers.apart()])
        for name, one in whole.models.items() if whole.per_question else ():
            allowed = allowances(one, most, "tokens")
            played = played_alike(answers.models[name], most, allowed, "tokens")
            alike = alike.joined(Alike(whole.prices[name] * played.cost, played.accuracy))
        return Half(answers, table(answers, budgets), settings.cost, paper, alike)
    alike = Alike.of_tables([table(answers, numbers)])
    allowed = allowances(whole, most, settings.cost)
    if allowed.size:
        alike = alike.joined(played_alike(answers, most, allowed, settings.cost))
    return Half(answers, table(answers, budgets), settings.cost, paper, alike, allowed)


def _opened(first: Responses, scoring: Responses, _: Any, budgets: Sequence[int]) -> UtilityTable:
    """Return the table of votes that a first answer opens."""
    return first_vote_table(first, scoring, budgets)


def _add_plans(
    scores: Scores,
    oracles: Sequence[tuple[float, np.ndarray]],
    questions: Sequence[str],
    teach: Half,
    score: Half,
) -> None:
    """Score the cross-fitted oracle, the mix and the baselines, chosen on the teaching half."""
    for target, labels in oracles:
        oracle = _outcome(from_labels(labels, teach.table.k), score.answers, score.table)
        scores.add("oracle", target, oracle, score.alike)
        scores.add("mix", target, _by_lot(teach.alike.lot(target), score), score.alike)
        for name, plan_of in PLANS.items():
            plan = plan_of(questions, teach.paper.cost, target)
            outcome = _outcome(plan, score.answers, score.paper)
            scores.add(name, target, outcome, score.alike)


def _outcome(plan: Plan, answers: Responses | Menu, table: UtilityTable) -> Outcome:
    """Return what a plan costs and scores on one half of the answers."""
    return Outcome(*plan.outcome(table), plan.waiting(answers, table.budgets))


def _by_lot(lot: Mix, half: Half) -> Outcome:
    """Return what one plan for everyone, or a lot between two, costs and scores on one half."""
    cost = drawn(half.alike.cost, lot)
    waiting = None
    if isinstance(half.answers, Responses):
        numbers = half.alike.cost.shape[1] - half.allowed.size
        # Answers under an allowance come one by one, and each is waited for.
        one_by_one = half.alike.cost[:, numbers:] / np.mean(half.alike.cost[:, 0])
        together = waiting_times(half.answers, range(1, numbers + 1))
        waiting = drawn(np.hstack([together, one_by_one]), lot)
    return Outcome(cost, drawn(half.alike.accuracy, lot), waiting)


def add_learned(
    scores: Scores,
    names: Sequence[str],
    found: Learned,
    oracles: Sequence[tuple[float, np.ndarray]],
    score: Half,
    overhead: float = 0.0,
) -> None:
    """Record what `run_folds` returned, and compare its columns with the oracle's labels.

    Learners of one name, as the controls are, count as the plan that draws one of them. The
    control does not pay ``overhead``, since it never looked at what that buys.
    """
    cost_of_answer = np.mean(score.table.cost[..., 0]) / _fewest_answers(score.table)
    for name in dict.fromkeys(names):
        same_name = [place for place, other in enumerate(names) if other == name]
        for number, (target, labels) in enumerate(oracles):
            cost, accuracy, column, waiting = (array[same_name, number] for array in found[:4])
            alike = score.alike.joined(found.alike[same_name[0]][number])
            # Answers that come one by one are waited for one after the other.
            waits = np.where(np.isnan(waiting), cost / cost_of_answer, waiting)
            paid = cost.mean(axis=0) + (0.0 if name == "noise" else overhead)
            outcome = Outcome(paid, accuracy.mean(axis=0), waits.mean(axis=0))
            scores.add(name, target, outcome, alike, *_imitation(column, labels))


def _imitation(column: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return how often columns are the oracle's labels, and how often the commonest one is.

    Both are NaN where a learner names no columns.
    """
    if (column < 0).any():
        return np.nan, np.nan
    return float((column == labels).mean()), float(np.bincount(labels).max() / labels.size)


def _fewest_answers(table: UtilityTable) -> float:
    """Return how many answers the cheapest budget has; NaN for a menu, whose columns are models."""
    try:
        return float(table.budgets[0])
    except (TypeError, ValueError):
        return np.nan


def unseen_curves(
    responses: Responses,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    protocol: Protocol | None = None,
) -> np.ndarray:
    """Predict the curve of every question with a `CurvePolicy` that learned from the other folds.

    The policy learns from all samples of those questions, and from none of the question's own.
    Explained in the chapter "The paper".

    Parameters
    ----------
    responses : Responses
        Recorded answers.
    budgets : sequence of int
        Numbers of answers at which the curves are predicted.
    protocol : Protocol, optional
        Folds, groups and seed; the other fields are not used.

    Returns
    -------
    array, shape (N, K)
        The predicted accuracy of every question at every budget.

    Examples
    --------
    >>> from adalib import flat_null
    >>> unseen_curves(flat_null(40).sample(8), budgets=(1, 4)).shape
    (40, 2)
    """
    settings = Protocol() if protocol is None else protocol
    fold = deal(members(responses, settings.groups), settings.folds, settings.seed)
    table = responses.table(budgets)
    curves = np.empty_like(table.acc)
    for train, test, features in _folds(responses, fold, None, responses.n, settings.seed):
        policy = CurvePolicy(seed=settings.seed).fit(
            features.loc[train], table.acc[train], table.cost
        )
        curves[test] = policy.curves(features.loc[test])
    return curves


def check_targets(targets: Sequence[float], cost: np.ndarray) -> list[float]:
    """Return the targets without repeats; raise for one below the cheapest column's mean cost."""
    cheapest = float(np.mean(cost[..., 0]))
    wanted = list(dict.fromkeys(float(target) for target in targets))
    if not wanted:
        raise ValueError("there is no target; give at least one average cost")
    for target in wanted:
        if not np.isfinite(target):
            raise ValueError(f"target {target} cannot be met: give a finite number")
        if not meets(target, cheapest):
            least = f"the cheapest budget costs {cheapest:g}, give at least that"
            raise ValueError(f"target {target:g} cannot be met: {least}")
    return wanted


def oracles_at(table: UtilityTable, targets: Sequence[float]) -> list[tuple[float, np.ndarray]]:
    """The oracle's labels at every target, with the target."""
    path = frontier(table)
    return [(target, path.at(target).labels) for target in targets]


@lru_cache(maxsize=32)
def _described(train: tuple[str, ...], texts: tuple[str, ...]) -> pd.DataFrame:
    """Do as `describe`; the result is cached, since settings often share their questions."""
    values = describe(train, texts)
    return pd.DataFrame(values, columns=DESCRIBED[: values.shape[1]])


def _folds(
    responses: Responses | Menu,
    fold: np.ndarray,
    features: ArrayLike | None,
    taught: int,
    seed: int,
) -> Iterator[Fold]:
    """Yield, fold by fold, the rows that teach, those that are scored, and their features.

    The rows that are scored come in an order of their own in every deal, since many files begin
    with the easy questions, and a policy that counts them would gain.
    """
    texts = np.array(responses.questions, dtype=object)
    given = None if features is None else pd.DataFrame(features).reset_index(drop=True)
    draw = np.random.default_rng(seed)
    order = np.random.default_rng([seed, 1])
    for out in np.unique(fold):
        train = subsample(np.flatnonzero(fold != out), taught, draw)
        test = order.permutation(np.flatnonzero(fold == out))
        rows = np.concatenate([train, test])
        if given is None:
            described = _described(tuple(texts[train]), tuple(texts[rows]))
            yield Fold(train, test, described.set_axis(rows))
        else:
            yield Fold(train, test, given)


def _votes(responses: Responses | Menu, first: Responses | None) -> tuple[Responses | None, Any]:
    """Compare all answers with one another once; return those that open a vote, and the rest."""
    if first is None:
        return None, with_class_numbers(responses)
    if isinstance(responses, Menu):
        raise ValueError(
            "a menu has no first answer, for it is not known whose; give the answers of one model"
        )
    return with_class_numbers(joined(first, responses)).set_aside(0)
