"""Collect what policies cost and scored, and turn it into rows with intervals.

A policy is scored twice, once on each half of the samples, next to the best random mix at the cost
that it had (`mix_for`). `Scores` averages the halves question by question, and puts intervals on
the averages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.solve.hull import mix_cost
from adalib.table import UtilityTable

_MEANS = ("cost", "mix_cost", "waiting", "imitation", "majority")  # of a row, over the halves


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOutRow:
    """One policy at one target, held out."""

    protocol: str = field(init=False, default="held out")
    policy: str
    target: float  #: average cost asked for
    cost: float  #: average cost it had
    accuracy: float  #: mean over the questions
    low: float  #: its 95% interval
    high: float
    #: Accuracy of the best random mix at the same cost, chosen on the samples that score it.
    mix_accuracy: float
    gain: float  #: ``accuracy - mix_accuracy``
    #: Its 95% interval, question by question; None for the mix itself, which gains 0.
    gain_low: float | None
    gain_high: float | None
    #: Gain as a share of the cross-fitted oracle's at this target; None where that one gains
    #: nothing. It may exceed 1 where samples are few: the oracle knows a question from half of its
    #: samples, a policy learns from all others.
    share: float | None
    #: How often the policy names the oracle's label; None if it does not imitate labels.
    imitation: float | None
    majority: float | None  #: how often the commonest label would be right
    #: What the best random mix must spend to be as accurate; None where it never is.
    mix_cost: float | None = None
    waiting: float | None = None  #: per question, in average answers; None for a menu
    #: Whether ``gains`` are those of groups that were given.
    families: bool = field(default=False, repr=False)
    #: The largest group's size over the average size, which is the most that a group can lose.
    largest: float = field(default=1.0, repr=False)
    #: What the interval is computed from: of every question, or of every group.
    gains: np.ndarray = field(repr=False)


class Outcome(NamedTuple):
    """What a policy did on some questions, one number per question in every array."""

    cost: np.ndarray
    accuracy: np.ndarray
    waiting: np.ndarray | None = None  # in average answers


class Mix(NamedTuple):
    """The best random mix that a policy is compared with."""

    accuracy: np.ndarray  # of every question, if the mix spends what the policy spent
    cost: float  # of a mix as accurate as the policy; infinite if there is none


def mix_for(outcome: Outcome, table: UtilityTable) -> Mix:
    """Return the best random mix at the cost of a policy, chosen on the table that scores.

    It is chosen there, so that no policy passes it because the other half misjudged the average
    question.
    """
    costs = np.broadcast_to(table.cost, table.acc.shape).mean(axis=0)
    # A first answer may be shorter than its question's mean: where tokens are paid, nothing is
    # cheaper than the cheapest budget, and that is the bar.
    spent = max(outcome.cost.mean(), np.mean(table.cost[..., 0]))
    accuracy = best_mix(table.acc, table.cost, spent, n=1).expected(table.acc)
    return Mix(accuracy, mix_cost(costs, table.acc.mean(axis=0), outcome.accuracy.mean()))


def as_table(rows: Sequence) -> pd.DataFrame:
    """Return rows as a table whose first column names the protocol."""
    names = [f.name for f in fields(rows[0]) if f.name not in ("families", "largest", "gains")]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


class Scores:
    """The results of every policy at every target, averaged over the halves.

    ``order`` is the order of the policies' rows.
    """

    def __init__(self, order: Sequence[str]) -> None:
        self._order = list(order)
        # By (target, policy): a row of `_MEANS` for each half.
        self._means: dict[tuple[float, str], list[tuple[float, ...]]] = {}
        # By (target, policy), summed over the halves: every question's accuracy and the mix's,
        # shape (2, N).
        self._sums: dict[tuple[float, str], np.ndarray] = {}

    def add(
        self,
        policy: str,
        target: float,
        outcome: Outcome,
        mix: Mix,
        imitation: tuple[float, float] = (np.nan, np.nan),
    ) -> None:
        """Record what a policy did on one half, next to the best mix at its cost.

        ``imitation`` is how often the policy names the oracle's label, and how often the commonest
        label is right.
        """
        waited = np.nan if outcome.waiting is None else float(outcome.waiting.mean())
        means = outcome.cost.mean(), mix.cost, waited, *imitation
        key = (target, policy)
        self._means.setdefault(key, []).append(means)
        self._sums[key] = np.array([outcome.accuracy, mix.accuracy]) + self._sums.get(key, 0.0)

    def rows(self, member: np.ndarray, families: bool = False) -> list[HeldOutRow]:
        """Average the halves question by question, and put intervals on the averages.

        ``member`` numbers the group of every question. The groups are copies of one question or,
        with ``families``, those that were given.
        """
        keys = sorted(self._means, key=lambda key: (key[0], self._order.index(key[1])))
        values, gains, mix_accuracy = self._by_group(keys, member)
        figures_by_row = self._figures(keys, values, gains, mix_accuracy)
        oracle_gains = {
            target: figures["gain"]
            for (target, policy), figures in zip(keys, figures_by_row, strict=True)
            if policy == "oracle"
        }
        largest_group = np.bincount(member).max() * len(gains) / len(member)
        rows = []
        for j, ((target, policy), figures) in enumerate(zip(keys, figures_by_row, strict=True)):
            oracle_gain = oracle_gains.get(target) or 0.0
            row = HeldOutRow(
                policy=policy,
                target=target,
                families=families and len(gains) < len(member),
                largest=float(largest_group),
                gains=gains[:, j],
                share=figures["gain"] / oracle_gain if oracle_gain > 0 else None,
                **figures,
            )
            rows.append(row)
        return rows

    def _by_group(
        self, keys: Sequence[tuple[float, str]], member: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return accuracies and gains, a row per group and a column per key, and the mix's means.

        Columns are filled one at a time, since there may be very many questions.
        """
        values, gains = np.empty((2, member.max() + 1, len(keys)))
        mix_accuracy = np.empty(len(keys))
        for j, key in enumerate(keys):
            accuracy, mix = self._sums[key] / len(self._means[key])
            values[:, j] = _group_values(accuracy, member)
            gains[:, j] = _group_values(accuracy - mix, member)
            mix_accuracy[j] = mix.mean()
        return values, gains, mix_accuracy

    def _figures(
        self,
        keys: Sequence[tuple[float, str]],
        values: np.ndarray,
        gains: np.ndarray,
        mix_accuracy: np.ndarray,
    ) -> list[dict[str, Any]]:
        """Return each key's figures by name; None stands for what is not finite."""
        accuracy = _interval(values, least=0.0)
        gain = _interval(gains, least=-1.0)
        # The mix is not compared with itself.
        compared = np.where([policy == "mix" for _, policy in keys], np.nan, 1.0)
        figures: dict[str, Any] = {
            "accuracy": accuracy.mean,
            "low": accuracy.low,
            "high": accuracy.high,
            "mix_accuracy": mix_accuracy,
            "gain": gain.mean,
            "gain_low": compared * gain.low,
            "gain_high": compared * gain.high,
        }
        means = np.array([np.mean(self._means[key], axis=0) for key in keys])
        figures |= dict(zip(_MEANS, means.T, strict=True))
        return [
            {
                name: float(column[row]) if np.isfinite(column[row]) else None
                for name, column in figures.items()
            }
            for row in range(len(keys))
        ]


def _interval(values: np.ndarray, least: float) -> Interval:
    """Return Student's interval, cut where no mean can lie: below ``least`` and above 1."""
    found = mean_interval(values)
    return Interval(found.mean, np.maximum(found.low, least), np.minimum(found.high, 1.0))


def _group_values(values: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return one value per group, whose plain mean is the mean over all questions.

    A group counts by what its questions add to the total above the mean, so that large groups weigh
    more. The spread of these values gives the interval of a ratio estimate.
    """
    excess = np.bincount(member, values - values.mean())
    return values.mean() + excess * excess.size / len(values)
