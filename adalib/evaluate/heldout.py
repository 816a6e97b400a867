"""The held-out protocol: no question is scored by a model that saw it, and no sample by labels that it made.

One half of every question's samples teaches and the other half scores, both ways round; the questions are dealt into
folds, and each is scored by models of the other folds. The bar is the best random mix at the cost that a policy really
had, chosen on the samples that score: whoever does not clear it has not told two questions apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, drawn, members
from adalib.datasets.menu import Menu
from adalib.datasets.responses import SAMPLED, Responses
from adalib.evaluate.baselines import PLANS, best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import check_halves, compared
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.evaluate.trials import (
    BASELINES,
    Fold,
    Half,
    Learner,
    Planner,
    checked,
    learned,
    plan_waiting,
)
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_features
from adalib.learn.policies import CurvePolicy, LabelPolicy
from adalib.scale.machines import Machines
from adalib.solve.frontier import frontier
from adalib.solve.hull import mix_cost
from adalib.table import UtilityTable

__all__ = [
    "TAUGHT",
    "HeldOutRow",
    "Known",
    "Protocol",
    "Scores",
    "as_table",
    "check_targets",
    "first_vote_table",
]
__all__ += ["held_out", "joined", "oracles_at", "unseen_curves"]

#: Training questions that a fold learns from, at most: the text's prior takes time with their cube. More may do better.
TAUGHT = 1000
_DIMS = 4  # of the text embedding: enough to tell vocabularies apart, and quick to grow trees on

#: How a half of the answers, Responses or a Menu, becomes a table: a function of them and of the budgets on offer.
MakeTable = Callable[[Any, Sequence[int]], UtilityTable]

_FIGURES = (
    "accuracy",
    "low",
    "high",
    "mix_accuracy",
    "gain",
    "gain_low",
    "gain_high",
)  # means and their intervals
_MEANS = ("cost", "mix_cost", "waiting", "imitation", "majority")


@dataclass(frozen=True, eq=False, kw_only=True)
class Protocol:
    """How `held_out` deals questions and answers into parts that teach and parts that score.

    Explained in the chapter "Results and ablations".

    Parameters
    ----------
    folds : int
        Number of folds. The questions of a fold are scored by models that learned from the others.
    groups : sequence, optional
        One label per question; questions with the same label stay in one fold. By default those
        with the same text do.
    taught : int
        The largest number of questions that a model learns from.
    table : callable, optional
        A function of (Responses, budgets) that returns the table of costs and accuracies: another
        vote, or another cost. By default it is `Responses.table`.
    machines : Machines, optional
        Where the folds are worked on, such as `adalib.scale.machines.Cluster`; by default on the
        cores of this machine.
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
    table: MakeTable | None = None
    machines: Machines | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Known:
    """Features that were read off a first answer, and what becomes of that answer.

    Such features are not free: the model had to answer once. Either that answer opens the vote, or
    it is thrown away and its cost is added. Explained in the chapter "Learning".

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
    >>> known = Known(features=[[len(row[0])] for row in first.answers], first=first)
    >>> learners = {"curve": CurvePolicy()}
    >>> rows = held_out(rest, [2], (1, 4), learners=learners, features=known, noises=0)
    >>> rows[-1].policy
    'curve'
    """

    features: ArrayLike | None = None
    first: Responses | None = None
    overhead: float = 0.0


def held_out(
    responses: Responses | Menu,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    learners: Mapping[str, Learner | Planner] | None = None,
    features: ArrayLike | Known | None = None,
    noises: int = 2,
    protocol: Protocol | None = None,
) -> list[HeldOutRow]:
    """Score every policy on questions and samples that it has not seen.

    One half of every question's samples teaches and the other half scores, both ways round. The
    questions are dealt into folds, and each is scored by models that learned from the others.
    Explained in the chapter "Results and ablations"; ``learners`` in the chapter "Learning".

    Parameters
    ----------
    responses : Responses or Menu
        Recorded answers of one model, or of several models at their prices, to at least ten
        questions. Every question needs at least twice as many samples as the largest budget.
    targets : sequence of float
        Average costs per question, in the unit of the table: answers unless ``protocol`` says
        otherwise. None may be below the cost of the smallest budget.
    budgets : sequence of int
        Numbers of answers on offer to the policies that plan, to the mix and to the oracle, in
        increasing order.
    learners : mapping of str to learner, optional
        What learns, by the name of its rows. A policy that plans has ``fit`` and ``predict``
        (`adalib.evaluate.trials.Planner`); anything else has ``trial``, which returns what each
        question cost and how accurate it was (`adalib.evaluate.trials.Learner`). Default:
        ``label`` and ``curve``.
    features : DataFrame, array_like of shape (N, d), or Known, optional
        What is known of a question before it is asked. Default: `text_features`, and a small
        `TextEmbedding` fitted in every fold.
    noises : int
        Number of noise policies per half, so that the control does not rest on one draw; with 0
        there is no such row.
    protocol : Protocol, optional
        How questions and answers are dealt: folds, groups that stay together, training questions
        per fold, cost table, machines and seed. Default: five folds of questions.

    Returns
    -------
    list of HeldOutRow
        One row per policy and target, sorted by target: the baselines (``oracle``, which is
        cross-fitted, ``oracle_in_sample``, which is chosen and scored on all samples as is its
        mix, ``mix``, ``fixed``, ``random``, ``length``), the learners, and ``noise``, which is
        ``label`` with random numbers as features. Intervals are those of `mean_interval`, over
        questions, or over groups if ``protocol`` gives some.

    Raises
    ------
    ValueError
        If there are too few questions, samples or training questions, or a target cannot be met.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null
    >>> rows = held_out(flat_null(40).sample(8), [2], (1, 4), learners={"curve": CurvePolicy()}, noises=0)
    >>> [row.policy for row in rows]
    ['oracle', 'oracle_in_sample', 'mix', 'fixed', 'random', 'length', 'curve']
    """
    how = Protocol() if protocol is None else protocol
    known = features if isinstance(features, Known) else Known(features)
    member = members(responses, how.groups)
    fold = deal(member, how.folds, how.seed)
    check_halves(responses, budgets)
    trained = checked(learners, how.seed)
    if noises < 0 or not 0 <= known.overhead < np.inf:
        raise ValueError(f"noises is {noises} and overhead {known.overhead}; give 0 or more")
    if how.taught < 2:
        raise ValueError(f"taught is {how.taught}; give at least 2 questions to learn from")
    if known.first is not None and how.table is not None:
        raise ValueError(
            "the table of a vote that a first answer opens is given; give first or table, not both"
        )
    opening, votes = _votes(responses, known.first)
    table: MakeTable = how.table or type(responses).table
    full = table(votes, budgets)
    targets = check_targets(targets, full.cost)
    inputs = list(_inputs(responses, fold, known.features, how.taught, how.seed))
    scores = Scores([*BASELINES, *trained, "noise"])

    def turn(
        number: int,
    ) -> None:  # the one half teaches and then the other; nothing but the scores outlives it
        first, second = votes.split_samples(how.seed)[:: 1 if number == 0 else -1]
        teach, score = Half(first, table(first, budgets)), Half(second, table(second, budgets))
        if opening is not None:
            score = Half(joined(opening, second), first_vote_table(opening, second, budgets))
        seeds = range(1000 * how.seed + noises * number, 1000 * how.seed + noises * (number + 1))
        noise = (
            noise_features(responses.n, seed=one).astype(np.float32) for one in seeds
        )  # as trees read it
        blind = [(LabelPolicy(seed=how.seed), one) for one in noise]
        outcomes = learned(teach, score, targets, inputs, member, trained, blind, how.machines)
        oracles = oracles_at(teach.table, targets)
        acc, cost = teach.table.acc, teach.table.cost
        for target, labels in oracles:
            plans = {
                "oracle": from_labels(labels, teach.table.k),
                "mix": best_mix(acc, cost, target),
            }
            for name, plan_of in PLANS.items():
                plans[name] = plan_of(responses.questions, cost, target)
            for policy, plan in plans.items():
                waits = plan_waiting(plan, score.answers, score.table)
                scores.add(policy, target, *plan.outcome(score.table), score.table, waiting=waits)
        scores.add_learned(outcomes, oracles, score.table, known.overhead)

    turn(0)
    turn(1)
    for target, labels in oracles_at(full, targets):
        plan = from_labels(labels, full.k)
        waits = plan_waiting(plan, responses, full)
        scores.add("oracle_in_sample", target, *plan.outcome(full), full, waiting=waits)
    return scores.rows(member, families=how.groups is not None)


def unseen_curves(
    responses: Responses,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    protocol: Protocol | None = None,
) -> np.ndarray:
    """Predict the curve of every question with a `CurvePolicy` that learned from the other folds.

    The policy learns from all samples of those questions, and from none of the question's own.
    Explained in the chapter "Learning".

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
    how = Protocol() if protocol is None else protocol
    fold = deal(members(responses, how.groups), how.folds, how.seed)
    table = responses.table(budgets)
    curves = np.empty_like(table.acc)
    for train, test, known in _inputs(responses, fold, None, responses.n, how.seed):
        policy = CurvePolicy(seed=how.seed).fit(known.loc[train], table.acc[train], table.cost)
        curves[test] = policy.curves(known.loc[test])
    return curves


def first_vote_table(
    first: Responses, rest: Responses, budgets: Sequence[int] = (1, 2, 4, 8, 16)
) -> UtilityTable:
    r"""Estimate the accuracy of a vote of b answers that is opened by one given answer.

    A policy that looked at an answer must be scored on votes that hold it, because answers that
    were looked at and found doubtful are wrong more often. Of the subsets of b among all R + 1
    answers, those without the first are the subsets of the R others, so the average over all
    choices of b - 1 among these is what is left over,

    .. math:: \mathrm{Acc}_{\mathrm{first}}(b) = \mathrm{Acc}_{R+1}(b)
              + \frac{R - b + 1}{b} \bigl(\mathrm{Acc}_{R+1}(b) - \mathrm{Acc}_R(b)\bigr) .

    Ties are shared. Explained in the chapter "Learning".

    Parameters
    ----------
    first : Responses
        One answer per question, as `Responses.set_aside` returns it.
    rest : Responses
        The other answers to the same questions.
    budgets : sequence of int
        Numbers of answers in the vote, the first one included.

    Returns
    -------
    UtilityTable
        The accuracies; the cost of a vote is its number of answers.

    Examples
    --------
    >>> answers = Responses(["a"], ["?"], ["7"], [["8", "7", "7", "9"]])
    >>> first_vote_table(*answers.set_aside(0), budgets=[1, 2, 3]).acc.round(3).tolist()
    [[0.0, 0.333, 0.556]]
    """
    without, together = rest.table(budgets), joined(first, rest).table(budgets)
    b = np.asarray(without.budgets, dtype=float)
    acc = together.acc + (rest.samples - b + 1) / b * (together.acc - without.acc)
    return replace(
        without, acc=acc.clip(0, 1)
    )  # the difference of two averages may miss 0 and 1 by rounding


def joined(first: Responses, rest: Responses) -> Responses:
    """Put one answer in front of the others of the same questions; fields that are not one number each are dropped."""
    if list(first.ids) != list(rest.ids) or first.samples != 1:
        raise ValueError(
            "the first answers must be one a question, to the same questions; see Responses.set_aside"
        )
    answers = [[*one, *more] for one, more in zip(first.answers, rest.answers, strict=True)]
    pairs = {name: [getattr(first, name), getattr(rest, name)] for name in SAMPLED}
    pairs["correct"] = [first.values, rest.values]
    sampled: dict[str, Any] = {
        name: None if any(part is None for part in pair) else np.hstack(pair)
        for name, pair in pairs.items()
    }
    return replace(rest, answers=answers, extras={}, **sampled)


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOutRow:
    """One policy at one target, held out."""

    protocol: str = field(init=False, default="held out")
    policy: str
    target: float  # average cost asked for
    cost: float  # and had
    accuracy: float  # mean over the questions and its 95% interval
    low: float
    high: float
    mix_accuracy: (
        float  # of the best random mix at the same cost, chosen on the samples that score it
    )
    gain: float  # ``accuracy - mix_accuracy`` with its 95% interval, question by question
    gain_low: float | None  # the mix's own gain is 0 but for rounding, and has no interval
    gain_high: float | None
    #: Gain as a share of the cross-fitted oracle's at this target; None where that one gains nothing. It may exceed 1
    #: where samples are few: the oracle knows a question from half of its samples, a policy learns from all others.
    share: float | None
    imitation: (
        float | None
    )  # how often the oracle's labels are repeated, where one target's labels are learned
    majority: float | None  # and how often the commonest would be right
    mix_cost: float | None = (
        None  # what the best random mix must spend to be as accurate; None where it never is
    )
    waiting: float | None = None  # per question, in average answers; None for a menu
    families: bool = field(
        default=False, repr=False
    )  # whether ``gains`` are those of groups that were given
    #: The largest group's size over the average size, which is the most that a group can lose.
    largest: float = field(default=1.0, repr=False)
    gains: np.ndarray = field(
        repr=False
    )  # what the interval is computed from: of every question, or of every group


def as_table(rows: Sequence) -> pd.DataFrame:
    """Return rows as a table whose first column names the protocol."""
    names = [f.name for f in fields(rows[0]) if f.name not in ("families", "largest", "gains")]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


class Scores:
    """What every policy had at every target, averaged over the halves; ``order`` is that of the policies' rows."""

    def __init__(self, order: Sequence[str]) -> None:
        self._order = list(order)
        self._turns: dict[tuple[float, str], list[tuple[float, ...]]] = {}  # a row of means a half
        self._sums: dict[
            tuple[float, str], np.ndarray
        ] = {}  # every question's accuracy and the mix's, shape (2, N)

    def add(
        self,
        policy: str,
        target: float,
        cost: np.ndarray,
        accuracy: np.ndarray,
        score: UtilityTable,
        imitated: tuple[float, float] = (np.nan, np.nan),
        waiting: np.ndarray | None = None,
    ) -> None:
        """Take down what every question cost and how accurate it was, beside the best mix of the table at that cost."""
        # A first answer may be shorter than its question's mean: where tokens are paid, nothing is cheaper than the
        # cheapest budget, and that is the bar.
        spent = max(cost.mean(), np.mean(score.cost[..., 0]))
        # The bar knows the half that scores: nobody passes it because the other half misjudged the average question.
        mix = best_mix(score.acc, score.cost, spent, n=1).expected(score.acc)
        waited = np.nan if waiting is None else float(waiting.mean())
        means = cost.mean(), _mix_cost(score, accuracy.mean()), waited, *imitated
        self._turns.setdefault((target, policy), []).append(means)
        self._sums[target, policy] = np.array([accuracy, mix]) + self._sums.get(
            (target, policy), 0.0
        )

    def add_learned(
        self,
        outcomes: Mapping[str, np.ndarray],
        oracles: Sequence[tuple[float, np.ndarray]],
        score: UtilityTable,
        overhead: float = 0.0,
    ) -> None:
        """Take down what `learned` returned, beside the oracle's labels; noise did not buy what costs ``overhead``."""
        for name, parts in outcomes.items():
            for number, (target, labels) in enumerate(oracles):
                # Noise has several policies: the mean over them is the plan that draws one.
                cost, accuracy, columns, waiting = parts[:, number].swapaxes(0, 1)
                imitated = (np.nan, np.nan)
                if (columns >= 0).all():
                    imitated = (columns == labels).mean(), np.bincount(labels).max() / labels.size
                paid = cost.mean(axis=0) + (0.0 if name == "noise" else overhead)
                # One by one, one waits for all that is paid; a budget's cost is in proportion to its answers.
                one_answer = np.mean(score.cost[..., 0]) / _answers(score)
                waits = np.where(np.isnan(waiting), cost / one_answer, waiting).mean(axis=0)
                self.add(name, target, paid, accuracy.mean(axis=0), score, imitated, waits)

    def rows(self, member: np.ndarray, families: bool = False) -> list[HeldOutRow]:
        """Average the halves question by question, and put intervals on the averages.

        ``member`` numbers the group of every question. The groups are copies of one question or, with
        ``families``, those that were given.
        """
        keys = sorted(self._turns, key=lambda key: (key[0], self._order.index(key[1])))
        # A column at a time, for there may be very many questions.
        values, gains = np.empty((2, member.max() + 1, len(keys)))
        bars = np.empty(len(keys))
        for j, key in enumerate(keys):
            accuracy, mix = self._sums[key] / len(self._turns[key])
            values[:, j], gains[:, j], bars[j] = (
                _units(accuracy, member),
                _units(accuracy - mix, member),
                mix.mean(),
            )
        families = families and len(gains) < len(member)
        largest = float(np.bincount(member).max() * len(gains) / len(member))
        value = _interval(values, least=0.0)
        gain = _interval(gains, least=-1.0)
        means = np.array([np.mean(self._turns[key], axis=0) for key in keys]).T
        own = np.where(
            [policy == "mix" for _, policy in keys], np.nan, 1.0
        )  # the mix beside itself
        figures = [
            value.mean,
            value.low,
            value.high,
            bars,
            gain.mean,
            own * gain.low,
            own * gain.high,
            *means,
        ]
        told = [
            dict(zip(_FIGURES + _MEANS, row, strict=True))
            for row in np.column_stack(figures).tolist()
        ]
        best = {
            target: row["gain"]
            for (target, policy), row in zip(keys, told, strict=True)
            if policy == "oracle"
        }
        rows = []
        for j, (target, policy) in enumerate(keys):
            known: dict[str, Any] = {
                name: figure if np.isfinite(figure) else None for name, figure in told[j].items()
            }
            known["share"] = known["gain"] / best[target] if best.get(target, 0) > 0 else None
            rows.append(
                HeldOutRow(
                    policy=policy,
                    target=target,
                    families=families,
                    largest=largest,
                    gains=gains[:, j],
                    **known,
                )
            )
        return rows


def check_targets(targets: Sequence[float], cost: np.ndarray) -> list[float]:
    """Return the targets, each once; one below the cheapest column's cost, or its mean, is refused."""
    cheapest = float(np.mean(cost[..., 0]))
    wanted = list(dict.fromkeys(float(target) for target in targets))
    if not wanted:
        raise ValueError("there is no target; give at least one average cost")
    for target in wanted:
        if not np.isfinite(target):
            raise ValueError(f"target {target} cannot be met: give a finite number")
        if target < cheapest * (1 - 1e-12):
            least = f"the cheapest budget costs {cheapest:g}, give at least that"
            raise ValueError(f"target {target:g} cannot be met: {least}")
    return wanted


def oracles_at(table: UtilityTable, targets: Sequence[float]) -> list[tuple[float, np.ndarray]]:
    """The oracle's labels at every target, with the target."""
    path = frontier(table.acc, table.cost)
    return [(target, path.at(target).labels) for target in targets]


@lru_cache(maxsize=32)
def _embedded(train: tuple[str, ...], texts: tuple[str, ...]) -> pd.DataFrame:
    """The embedding of all texts that knows the training ones; kept, since settings often share their questions."""
    return TextEmbedding(_DIMS).fit(train).transform(texts)


def _inputs(
    responses: Responses | Menu,
    fold: np.ndarray,
    features: ArrayLike | None,
    taught: int,
    seed: int,
) -> Iterator[Fold]:
    """One fold after the other."""
    texts = np.array(responses.questions, dtype=object)
    given = pd.DataFrame(
        text_features(responses.questions) if features is None else features
    ).reset_index(drop=True)
    draw = np.random.default_rng(seed)
    for out in np.unique(fold):
        train, test = drawn(np.flatnonzero(fold != out), taught, draw), np.flatnonzero(fold == out)
        known = given
        if features is None and any(text.strip() for text in texts[train]):
            rows = np.concatenate([train, test])
            embedded = _embedded(tuple(texts[train]), tuple(texts[rows])).set_index(rows)
            known = pd.concat([given.loc[rows], embedded], axis=1)
        yield Fold(train, test, known)


def _votes(responses: Responses | Menu, first: Responses | None) -> tuple[Responses | None, Any]:
    """The answers that open a vote, where there are some, and all others, compared with one another once."""
    if first is None:
        return None, compared(responses)
    if isinstance(responses, Menu):
        raise ValueError(
            "a menu has no first answer, for it is not known whose; give the answers of one model"
        )
    return compared(joined(first, responses)).set_aside(0)


def _answers(score: UtilityTable) -> float:
    """Return how many answers the cheapest budget has; not a number for a menu, whose columns name models."""
    try:
        return float(score.budgets[0])
    except (TypeError, ValueError):
        return np.nan


def _mix_cost(score: UtilityTable, accuracy: float) -> float:
    """The least that the best random mix spends to be this accurate; infinite where it never is."""
    cost, mean = np.broadcast_to(score.cost, score.acc.shape).mean(axis=0), score.acc.mean(axis=0)
    return mix_cost(cost, mean, accuracy)


def _interval(units: np.ndarray, least: float) -> Interval:
    """Student's interval, cut where no mean can lie: below ``least`` and above 1."""
    found = mean_interval(units)
    return Interval(found.mean, np.maximum(found.low, least), np.minimum(found.high, 1.0))


def _units(values: np.ndarray, member: np.ndarray) -> np.ndarray:
    """One value a group: the mean plus what its questions add to it, the linearised ratio of resampled totals."""
    excess = np.bincount(member, values - values.mean())
    return values.mean() + excess * excess.size / len(values)
