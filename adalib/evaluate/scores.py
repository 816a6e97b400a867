"""Collect what policies cost and scored, and turn it into rows with intervals.

A policy is scored twice, once on each half of the samples. `Scores` averages the halves question by
question, next to the best random mix at the cost that the policy had, and puts intervals on the
averages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.solve.hull import mix_cost
from adalib.table import UtilityTable

# The figures of a row: those that are computed question by question, and means over the halves.
_FIGURES = ("accuracy", "low", "high", "mix_accuracy", "gain", "gain_low", "gain_high")
_MEANS = ("cost", "mix_cost", "waiting", "imitation", "majority")


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
        cost: np.ndarray,
        accuracy: np.ndarray,
        score: UtilityTable,
        imitation: tuple[float, float] = (np.nan, np.nan),
        waiting: np.ndarray | None = None,
    ) -> None:
        """Record each question's cost and accuracy on one half, and the best mix at their cost.

        ``score`` is the table of that half, and ``imitation`` how often the policy names the
        oracle's label, and how often the commonest label is right.
        """
        # A first answer may be shorter than its question's mean: where tokens are paid, nothing is
        # cheaper than the cheapest budget, and that is the bar.
        spent = max(cost.mean(), np.mean(score.cost[..., 0]))
        # The bar is chosen on the half that scores, so that no policy passes it because the other
        # half misjudged the average question.
        mix = best_mix(score.acc, score.cost, spent, n=1).expected(score.acc)
        waited = np.nan if waiting is None else float(waiting.mean())
        means = cost.mean(), _mix_cost(score, accuracy.mean()), waited, *imitation
        key = (target, policy)
        self._means.setdefault(key, []).append(means)
        self._sums[key] = np.array([accuracy, mix]) + self._sums.get(key, 0.0)

    def add_learned(
        self,
        outcomes: Mapping[str, np.ndarray],
        oracles: Sequence[tuple[float, np.ndarray]],
        score: UtilityTable,
        overhead: float = 0.0,
    ) -> None:
        """Record what `learned` returned, and compare its columns with the oracle's labels.

        The noise control does not pay ``overhead``, since it never looked at what that buys.
        """
        # A budget's cost is in proportion to its answers.
        cost_of_answer = np.mean(score.cost[..., 0]) / _answers(score)
        for name, by_policy in outcomes.items():
            for number, (target, labels) in enumerate(oracles):
                # Each of shape (policies, N). Noise has several policies: the mean over them is the
                # plan that draws one.
                cost, accuracy, columns, waiting = by_policy[:, number].swapaxes(0, 1)
                imitation = (np.nan, np.nan)
                if (columns >= 0).all():
                    commonest = np.bincount(labels).max() / labels.size
                    imitation = ((columns == labels).mean(), commonest)
                paid = cost.mean(axis=0) + (0.0 if name == "noise" else overhead)
                # Answers that come one by one are waited for one after the other.
                one_by_one = cost / cost_of_answer
                waits = np.where(np.isnan(waiting), one_by_one, waiting).mean(axis=0)
                self.add(name, target, paid, accuracy.mean(axis=0), score, imitation, waits)

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
        columns = [
            accuracy.mean,
            accuracy.low,
            accuracy.high,
            mix_accuracy,
            gain.mean,
            compared * gain.low,
            compared * gain.high,
            *np.array([np.mean(self._means[key], axis=0) for key in keys]).T,
        ]
        names = _FIGURES + _MEANS
        return [
            {
                name: figure if np.isfinite(figure) else None
                for name, figure in zip(names, row, strict=True)
            }
            for row in np.column_stack(columns).tolist()
        ]


def _answers(score: UtilityTable) -> float:
    """Return how many answers the cheapest budget has; NaN for a menu, whose columns are models."""
    try:
        return float(score.budgets[0])
    except (TypeError, ValueError):
        return np.nan


def _mix_cost(score: UtilityTable, accuracy: float) -> float:
    """Return the least that a random mix spends to be this accurate; infinite if it never is."""
    cost = np.broadcast_to(score.cost, score.acc.shape).mean(axis=0)
    mean = score.acc.mean(axis=0)
    return mix_cost(cost, mean, accuracy)


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
