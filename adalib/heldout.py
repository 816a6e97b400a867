"""The held-out protocol: no question is scored by a model that saw it, and no sample by labels that it made.

One half of every question's samples teaches and the other half scores, both ways round; the questions are dealt into
folds, and each is scored by models of the other folds. The bar is the best random mix at the cost that a policy really
had: whoever does not clear it has not told two questions apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from tqdm import tqdm

from adalib import baselines
from adalib.baselines import Plan, best_mix, from_labels, noise_features
from adalib.datasets import DataError, Responses
from adalib.embedding import TextEmbedding
from adalib.evaluate import bootstrap_mean, check_halves, compared
from adalib.features import text_features
from adalib.frontier import frontier
from adalib.policy import CurvePolicy, LabelPolicy
from adalib.problem import UtilityTable

__all__ = ["FEWEST", "POLICIES", "HeldOutRow", "check_targets", "held_out"]

#: With fewer questions than this there is nothing to learn from and nothing to be sure of.
FEWEST = 10

#: The order of the rows.
POLICIES = ("oracle", "oracle_in_sample", "mix", "fixed", "random", "length", "label", "curve", "noise")

_DIMS = 4  # of the text embedding: enough to tell vocabularies apart, and quick to grow trees on
_NOISES = 2  # noise policies a half, so that the control does not stand on one draw


@dataclass(frozen=True, eq=False)
class HeldOutRow:
    """One policy at one target, held out.

    Attributes
    ----------
    policy : str
    target, cost : float
        Average cost asked for, and had.
    accuracy, low, high : float
        Mean over the questions and its 95% interval.
    mix_accuracy : float
        Accuracy of the best random mix at the same cost, chosen on the samples that score it: as strong a bar as there
        is. The policy ``mix``, chosen on the other samples, therefore lies a little below it.
    gain, gain_low, gain_high : float
        ``accuracy - mix_accuracy`` with its 95% interval, question by question.
    share : float or None
        Gain as a share of the cross-fitted oracle's at this target; None where that one gains nothing. It may exceed 1
        where samples are few: the oracle knows a question from half of its samples, a policy learns from all others.
    imitation, majority : float or None
        For a policy that learns labels: how often it repeats the oracle's, and how often the commonest label would.
    gains : ndarray, shape (G,)
        What the interval resamples: the gain of every question, or, where questions are grouped, of every group.
    """

    protocol: str = field(init=False, default="held out")
    policy: str
    target: float
    cost: float
    accuracy: float
    low: float
    high: float
    mix_accuracy: float
    gain: float
    gain_low: float
    gain_high: float
    share: float | None
    imitation: float | None
    majority: float | None
    gains: np.ndarray = field(repr=False)


def held_out(
    responses: Responses,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    folds: int = 5,
    groups: Sequence | None = None,
    features: ArrayLike | None = None,
    splits: int = 1,
    seed: int = 0,
) -> list[HeldOutRow]:
    """Score every policy on questions and samples that it has not seen.

    Explained in chapter 7, "Results".

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
    member = _members(responses, groups)
    fold = _folds(member, folds, seed)
    check_halves(responses, budgets, splits)
    targets = check_targets(targets, np.asarray(budgets, dtype=float))
    votes = compared(responses)
    inputs = list(_inputs(responses, fold, features))
    tally = _Tally()
    with tqdm(total=2 * splits * len(inputs), desc="evaluating", unit=" folds", disable=None, leave=False) as bar:
        for number in range(2 * splits):
            halves = [part.table(budgets) for part in votes.split_samples(seed + number // 2)]
            choose, score = halves if number % 2 == 0 else halves[::-1]
            noises = range(_NOISES * number, _NOISES * (number + 1))
            blind = [noise_features(responses.n, seed=1000 * seed + noise) for noise in noises]
            learned = np.zeros((2 + _NOISES, len(targets), choose.n), dtype=int)
            # Trees grow outside Python's lock, each model on one thread: folds side by side change no digit.
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                for (_, test, _), columns in zip(
                    inputs, pool.map(lambda fold: _learn(choose, targets, *fold, blind, seed), inputs), strict=True
                ):
                    learned[:, :, test] = columns
                    bar.update()
            for (target, best), columns in zip(_oracles(choose, targets), learned.swapaxes(0, 1), strict=True):
                for policy, plan in _plans(choose, responses.questions, target, best, columns).items():
                    labels = {"label": columns[:1], "noise": columns[2:]}.get(policy)
                    imitated = () if labels is None else ((labels == best).mean(), np.bincount(best).max() / best.size)
                    tally.add(policy, target, plan, score, imitated)
    full = votes.table(budgets)
    for target, best in _oracles(full, targets):
        tally.add("oracle_in_sample", target, from_labels(best, full.k), full)
    return tally.rows(member)


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


def _members(responses: Responses, groups: Sequence | None) -> np.ndarray:
    """The group of every question, numbered in the order of appearance."""
    n = responses.n
    if n < FEWEST:
        raise DataError(f"{responses.source}: has {n} questions; give at least {FEWEST} to learn from and score on")
    if groups is None:
        # Copies of a question must not stand on both sides. A handful of texts for all is no copying: then the texts
        # are kinds of questions, and it is fair to learn about a kind.
        groups = responses.questions if len(set(responses.questions)) >= FEWEST else range(n)
    if len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries for {n} questions; give one a question")
    member, names = pd.factorize(np.array([str(group) for group in groups], dtype=object))
    if len(names) < 2:
        raise DataError(f"{responses.source}: all questions are in one group; give at least two, or no groups")
    return member


def _folds(member: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """The fold of every question, none of which parts a group."""
    if folds < 2:
        raise ValueError(f"folds is {folds}; give at least 2")
    # Largest groups first, each to the fold with the fewest questions so far: folds of nearly one size.
    sizes = np.bincount(member)
    order = np.random.default_rng(seed).permutation(sizes.size)
    place, load = np.empty(sizes.size, dtype=int), np.zeros(min(folds, sizes.size), dtype=int)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        place[group] = load.argmin()
        load[place[group]] += sizes[group]
    return place[member]


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
            embedded = TextEmbedding(_DIMS).fit(texts).transform(responses.questions)
            known = pd.concat([given, embedded], axis=1)
        yield train, test, known


def _learn(
    choose: UtilityTable,
    targets: Sequence[float],
    train: np.ndarray,
    test: np.ndarray,
    known: pd.DataFrame,
    blind: Sequence[pd.DataFrame],
    seed: int,
) -> np.ndarray:
    """Columns for the test questions, (policies, targets, test): label, curve, and label on each noise."""
    acc = choose.acc[train]

    def imitate(inputs: pd.DataFrame) -> list[np.ndarray]:
        fit = LabelPolicy(seed=seed).fit
        return [fit(inputs.iloc[train], acc, choose.cost, budget=t).predict(inputs.iloc[test]) for t in targets]

    curve = CurvePolicy(seed=seed).fit(known.iloc[train], acc, choose.cost)
    priced = [curve.for_budget(known.iloc[test], target) for target in targets]
    return np.array([imitate(known), priced, *(imitate(noise) for noise in blind)])


def _oracles(table: UtilityTable, targets: Sequence[float]) -> list[tuple[float, np.ndarray]]:
    path = frontier(table.acc, table.cost)
    return [(target, path.at(target).labels) for target in targets]


def _plans(
    choose: UtilityTable, questions: Sequence[str], target: float, best: np.ndarray, learned: np.ndarray
) -> dict[str, Plan]:
    """Every policy's plan at one target; ``best`` are the oracle's columns, ``learned`` what `_learn` found."""
    label, curve, *noise = (from_labels(columns, choose.k) for columns in learned)
    return {
        "oracle": from_labels(best, choose.k),
        "mix": best_mix(choose.acc, choose.cost, target),
        "fixed": baselines.fixed(choose.cost, target, choose.n),
        "random": baselines.random(choose.cost, target, choose.n),
        "length": baselines.length(questions, choose.cost, target),
        "label": label,
        "curve": curve,
        # The mean of the noise policies is the plan that draws one of them.
        "noise": Plan(np.mean([plan.weights for plan in noise], axis=0)),
    }


class _Tally:
    """What every policy had at every target, half by half."""

    def __init__(self) -> None:
        self._turns: dict[tuple[float, str], list[tuple]] = {}

    def add(self, policy: str, target: float, plan: Plan, score: UtilityTable, imitated: tuple = ()) -> None:
        """Score a plan on the half that did not choose it, beside the best mix at its cost on that half."""
        cost = plan.expected(score.cost).mean()
        # The bar knows the half that scores: nobody passes it because the other half misjudged the average question.
        mix = best_mix(score.acc, score.cost, cost)
        turn = cost, plan.expected(score.acc), mix.expected(score.acc), imitated
        self._turns.setdefault((target, policy), []).append(turn)

    def rows(self, member: np.ndarray) -> list[HeldOutRow]:
        """Average the halves question by question, and put intervals on the averages, over the groups."""
        keys = sorted(self._turns, key=lambda key: (key[0], POLICIES.index(key[1])))
        cost, accuracy, mix, imitated = (
            [np.mean([turn[part] for turn in self._turns[key]], axis=0) for key in keys] for part in range(4)
        )
        accuracy, mix = np.column_stack(accuracy), np.column_stack(mix)
        gains = _units(accuracy - mix, member)
        value, gain = bootstrap_mean(_units(accuracy, member)), bootstrap_mean(gains)
        best = {target: gain.mean[j] for j, (target, policy) in enumerate(keys) if policy == "oracle"}
        return [
            HeldOutRow(
                policy,
                target,
                *map(float, (cost[j], value.mean[j], value.low[j], value.high[j], mix[:, j].mean())),
                *map(float, (gain.mean[j], gain.low[j], gain.high[j])),
                float(gain.mean[j] / best[target]) if best[target] > 0 else None,
                *(map(float, imitated[j]) if imitated[j].size else (None, None)),
                gains[:, j],
            )
            for j, (target, policy) in enumerate(keys)
        ]


def _units(values: np.ndarray, member: np.ndarray) -> np.ndarray:
    """One row a group, whose mean is the mean over questions and whose spread is that of groups drawn whole.

    A group's row is the mean plus what the group's questions add to it (the linearised ratio of resampled totals to
    resampled sizes). Groups of one question are left as they are.
    """
    mean, sizes = values.mean(axis=0), np.bincount(member)
    excess = np.zeros((sizes.size, values.shape[1]))
    np.add.at(excess, member, values - mean)
    return mean + excess * sizes.size / len(values)
