"""The held-out protocol: no question is scored by a model that saw it, and no sample by labels that it made.

One half of every question's samples teaches and the other half scores, both ways round; the questions are dealt into
folds, and each is scored by models of the other folds. `adalib.evaluate.scores` holds the bar and the intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from tqdm import tqdm

from adalib.datasets.folds import deal, drawn, members
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate import baselines
from adalib.evaluate.baselines import best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import check_halves, compared
from adalib.evaluate.scores import HeldOutRow, Tally
from adalib.evaluate.trials import BASELINES, Fold, Half, Learner, Planner, checked, learned
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.scale.machines import Machines
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable

__all__ = ["TAUGHT", "check_targets", "first_vote_table", "held_out", "joined", "oracles_at", "unseen_curves"]


# An answer that is there already: what a vote is worth when one known answer opens it.
#
# Some features need the model to answer once: the entropy of its tokens, say. That answer has been paid for. It can be
# thrown away, and then it is a cost on top of the budget; or it can be the first vote, and then b answers still cost b.
# But a policy that looked at the answer must be scored with votes that hold it: an answer given with doubt is more
# often wrong than another one to the same question.


def joined(first: Responses, rest: Responses) -> Responses:
    """Put one answer in front of the others of the same questions; fields that are not one number each are dropped."""
    if list(first.ids) != list(rest.ids) or first.samples != 1:
        raise ValueError("the first answers must be one a question, to the same questions; see Responses.set_aside")
    answers = [[*one, *more] for one, more in zip(first.answers, rest.answers, strict=True)]
    sampled = {"correct": np.hstack([first.values, rest.values])}
    for name in ("tokens", "logprob", "entropy"):
        both = [getattr(part, name) for part in (first, rest)]
        sampled[name] = None if any(values is None for values in both) else np.hstack(both)
    return replace(rest, answers=answers, extras={}, **sampled)


def first_vote_table(first: Responses, rest: Responses, budgets: Sequence[int] = (1, 2, 4, 8, 16)) -> UtilityTable:
    r"""Estimate the accuracy of a vote of b answers that is opened by one given answer; ties are shared.

    The average over all choices of b - 1 among the R others. It needs no counting of its own: of the subsets of b among
    all R + 1 answers, those without the first are the subsets of the others, so the rest of the average is left over,

    .. math:: \mathrm{Acc}_{\mathrm{first}}(b) = \mathrm{Acc}_{R+1}(b)
              + \frac{R - b + 1}{b} \bigl(\mathrm{Acc}_{R+1}(b) - \mathrm{Acc}_R(b)\bigr) .

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    first : Responses
        One answer a question, as `Responses.set_aside` gives it.
    rest : Responses
        Other answers to the same questions, at least as many as the largest budget.
    budgets : sequence of int
        Numbers of answers that vote, the first one included; increasing.

    Returns
    -------
    UtilityTable
        At b = 1 the accuracy is 0 or 1: whether the first answer is right.

    Examples
    --------
    >>> answers = Responses(["a"], ["?"], ["7"], [["8", "7", "7", "9"]])
    >>> first_vote_table(*answers.set_aside(0), budgets=[1, 2, 3]).acc.round(3).tolist()
    [[0.0, 0.333, 0.556]]
    """
    without, together = rest.table(budgets), joined(first, rest).table(budgets)
    b = np.asarray(without.budgets, dtype=float)
    acc = together.acc + (rest.samples - b + 1) / b * (together.acc - without.acc)
    return replace(without, acc=acc.clip(0, 1))  # the difference of two averages may miss 0 and 1 by rounding


#: Training questions that a fold learns from, at most: the text's prior takes time with their cube. More may do better.
TAUGHT = 1000

_DIMS = 4  # of the text embedding: enough to tell vocabularies apart, and quick to grow trees on


#: How a half of the answers becomes a table: a function of them and of the budgets on offer.
MakeTable = Callable[[Responses, Sequence[int]], UtilityTable]


def held_out(
    responses: Responses | Menu,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    folds: int = 5,
    groups: Sequence | None = None,
    features: ArrayLike | None = None,
    learners: Mapping[str, Learner | Planner] | None = None,
    noises: int = 2,
    first: Responses | None = None,
    overhead: float = 0.0,
    table: MakeTable = Responses.table,
    splits: int = 1,
    taught: int = TAUGHT,
    machines: Machines | None = None,
    seed: int = 0,
) -> list[HeldOutRow]:
    """Score every policy on questions and samples that it has not seen.

    Explained in chapter 7, "Results"; ``learners``, ``first`` and ``overhead`` in chapter 6, "Learning".

    Parameters
    ----------
    responses : Responses or Menu
        At least `FEWEST` questions, with at least twice as many samples as the largest budget; of a menu, each model.
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
    learners : mapping of str to learner, optional
        What learns, by the name of its rows: a policy that plans, with ``fit`` and ``predict``, of which copies are
        fitted (`adalib.evaluate.trials.Planner`), or anything that says what each question cost and how accurate it
        was, with ``trial`` (`adalib.evaluate.trials.Learner`). Default: ``label`` and ``curve``.
    noises : int
        Noise policies a half, so that the control does not stand on one draw; with 0 there is no such row.
    first : Responses, optional
        One more answer a question that ``features`` may have looked at, as `Responses.set_aside` gives it. It opens
        every vote that is scored; it teaches nothing and costs nothing beyond its place in the vote.
    overhead : float
        What ``features`` cost a question on top of its budget: 1 for an answer that is looked at and thrown away.
        Added to the cost of the learners, and so to the cost at which they are compared.
    table : function of (Responses, budgets), optional
        What a half of the answers says of every budget: another vote, or another cost. Default: their own `table`.
    splits : int
        How often the samples are dealt into halves; results are averaged question by question.
    taught : int
        Training questions that a fold learns from, drawn at random where there are more; all questions are scored.
    machines : Machines, optional
        Where the folds are worked on, `adalib.scale.machines.Cluster` for many. Default: the cores of this machine.
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
    learners = checked(learners, seed)
    if noises < 0 or not 0 <= overhead < np.inf:
        raise ValueError(f"noises is {noises} and overhead {overhead}; give 0 or more")
    if first is not None and table is not Responses.table:
        raise ValueError("the table of a vote that a first answer opens is given; give first or table, not both")
    if isinstance(responses, Menu):
        if first is not None:
            raise ValueError("a menu has no first answer, for it is not known whose; give the answers of one model")
        table = Menu.table if table is Responses.table else table
    votes = compared(responses if first is None else joined(first, responses))
    opening, votes = (None, votes) if first is None else votes.set_aside(0)
    full = table(votes, budgets)
    targets = check_targets(targets, full.cost)
    if taught < 2:
        raise ValueError(f"taught is {taught}; give at least 2 questions to learn from")
    inputs = list(_inputs(responses, fold, features, taught, seed))
    tally = Tally([*BASELINES, *learners, "noise"])
    bar = tqdm(total=2 * splits * len(inputs), desc="evaluating", unit=" folds", disable=None, leave=False)

    def turn(number: int) -> None:  # nothing but the tally outlives it
        teach, score = _halves(votes, opening, number, seed, table, budgets)
        seeds = range(1000 * seed + noises * number, 1000 * seed + noises * (number + 1))
        noise = (noise_features(responses.n, seed=one).astype(np.float32) for one in seeds)  # as trees read it
        blind = [(LabelPolicy(seed=seed), known) for known in noise]
        found = learned(teach, score, targets, inputs, member, learners, blind, bar, machines)
        best = oracles_at(teach.table, targets)
        _add_baselines(tally, teach.table, score.table, responses.questions, best)
        tally.add_learned(found, best, score.table, overhead)

    with bar:
        for number in range(2 * splits):
            turn(number)
    for target, labels in oracles_at(full, targets):
        tally.add("oracle_in_sample", target, *from_labels(labels, full.k).outcome(full), full)
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
    for train, test, known in _inputs(responses, fold, features, responses.n, seed):
        policy = CurvePolicy(seed=seed).fit(known.loc[train], table.acc[train], table.cost)
        found[test] = policy.curves(known.loc[test])
    return found


def check_targets(targets: Sequence[float], cost: np.ndarray) -> list[float]:
    """Return the targets, each once; one below the cheapest column's cost, or its mean, is refused."""
    cheapest = float(np.mean(cost[..., 0]))
    found = [float(target) for target in targets]
    if not found:
        raise ValueError("there is no target; give at least one average cost")
    for target in found:
        if not np.isfinite(target):
            raise ValueError(f"target {target} cannot be met: give a finite number")
        if target < cheapest * (1 - 1e-12):
            raise ValueError(
                f"target {target:g} cannot be met: the cheapest budget costs {cheapest:g}, give at least that"
            )
    return list(dict.fromkeys(found))


@lru_cache(maxsize=32)
def _embedded(train: tuple[str, ...], texts: tuple[str, ...]) -> pd.DataFrame:
    """The embedding of all texts that knows the training ones; kept, since settings often share their questions."""
    return TextEmbedding(_DIMS).fit(train).transform(texts)


def _inputs(
    responses: Responses, fold: np.ndarray, features: ArrayLike | None, taught: int, seed: int
) -> Iterator[Fold]:
    """One fold after the other."""
    given = pd.DataFrame(text_features(responses.questions) if features is None else features).reset_index(drop=True)
    draw = np.random.default_rng(seed)
    for out in np.unique(fold):
        train, test = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        train = drawn(train, taught, draw)
        texts = tuple(responses.questions[i] for i in train)
        known = given
        if features is None and any(text.strip() for text in texts):
            rows = np.concatenate([train, test])
            embedded = _embedded(texts, tuple(responses.questions[i] for i in rows)).set_index(rows)
            known = pd.concat([given.loc[rows], embedded], axis=1)
        yield Fold(train, test, known)


def _halves(
    votes: Responses, opening: Responses | None, number: int, seed: int, table: MakeTable, budgets: Sequence[int]
) -> tuple[Half, Half]:
    """The half that teaches and the half that scores; turns 0 and 1 are one split, both ways round."""
    teach, score = votes.split_samples(seed + number // 2)[:: 1 if number % 2 == 0 else -1]
    taught = Half(teach, table(teach, budgets))
    if opening is None:
        return taught, Half(score, table(score, budgets))
    return taught, Half(joined(opening, score), first_vote_table(opening, score, budgets))


def oracles_at(table: UtilityTable, targets: Sequence[float]) -> list[tuple[float, np.ndarray]]:
    """The oracle's labels at every target, with the target."""
    path = frontier(table.acc, table.cost)
    return [(target, path.at(target).labels) for target in targets]


def _add_baselines(
    tally: Tally,
    choose: UtilityTable,
    score: UtilityTable,
    questions: Sequence[str],
    oracles: Sequence[tuple[float, np.ndarray]],
) -> None:
    """Score every plan that learns nothing."""
    for target, best in oracles:
        plans = {
            "oracle": from_labels(best, choose.k),
            "mix": best_mix(choose.acc, choose.cost, target),
            "fixed": baselines.fixed(choose.cost, target, choose.n),
            "random": baselines.random(choose.cost, target, choose.n),
            "length": baselines.length(questions, choose.cost, target),
        }
        for policy, plan in plans.items():
            tally.add(policy, target, *plan.outcome(score), score)
