"""Collect what policies cost and scored, and turn it into rows with intervals.

A policy is scored twice, once on each half of the samples, next to the best plan that is the same
for everyone, at the cost that it had (`adalib.sequential.alike`). `Scores` averages the halves
question by question, and puts intervals on the averages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from adalib.evaluate.intervals import mean_interval
from adalib.sequential.alike import Alike


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOutRow:
    """One policy at one target, held out."""

    protocol: str = field(init=False, default="held out")
    policy: str
    #: How it decides: "plans" before it asks, "watches" the answers come in, or a "baseline".
    kind: str = field(default="baseline", repr=False)
    target: float  #: average cost asked for
    cost: float  #: average cost it had
    accuracy: float  #: mean over the questions
    low: float  #: its 95% interval
    high: float
    #: Accuracy of the same number of answers for everyone, or of a lot between two numbers, at the
    #: same cost; chosen on the samples that score it.
    mix_accuracy: float
    gain: float  #: ``accuracy - mix_accuracy``
    #: Its 95% interval, question by question; None for the mix itself, which gains 0.
    gain_low: float | None
    gain_high: float | None
    #: Gain as a share of the cross-fitted oracle's at this target; None where that one gains
    #: nothing. It may exceed 1 where samples are few: the oracle knows a question from half of its
    #: samples, a policy learns from all others.
    share: float | None = None
    #: How often the policy names the oracle's label; None if it does not imitate labels.
    imitation: float | None
    majority: float | None  #: how often the commonest label would be right
    #: What the same for everyone must spend to be as accurate; None where it never is.
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


def as_table(rows: Sequence) -> pd.DataFrame:
    """Return rows as a table whose first column names the protocol."""
    hidden = ("kind", "families", "largest", "gains")
    names = [f.name for f in fields(rows[0]) if f.name not in hidden]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


class _Tally:
    """What one policy did at one target: sums over the halves, and each half's own figures."""

    def __init__(self) -> None:
        self.accuracy = np.zeros(1)  # of every question, summed over the halves
        self.mix_accuracy = np.zeros(1)
        self.figures: list[dict[str, float]] = []  # of each half

    def mean(self, figure: str) -> float:
        """Return the mean of a figure over the halves."""
        return float(np.mean([of_half[figure] for of_half in self.figures]))


class Scores:
    """The results of every policy at every target, averaged over the halves.

    ``order`` is the order of the policies' rows, and ``kinds`` says how those that learn decide.
    """

    def __init__(self, order: Sequence[str], kinds: Mapping[str, str] | None = None) -> None:
        self._order = list(order)
        self._kinds = kinds or {}
        self._tallies: dict[tuple[float, str], _Tally] = {}  # by target and policy

    def add(
        self,
        policy: str,
        target: float,
        outcome: Outcome,
        alike: Alike,
        imitation: float = np.nan,
        majority: float = np.nan,
    ) -> None:
        """Record what a policy did on one half, next to the same for everyone at its cost.

        ``alike`` has the plans of the half which scores. ``imitation`` is how often the policy
        names the oracle's label, and ``majority`` how often the commonest label is right.
        """
        tally = self._tallies.setdefault((target, policy), _Tally())
        tally.accuracy = tally.accuracy + outcome.accuracy
        tally.mix_accuracy = tally.mix_accuracy + alike.at(outcome.cost.mean())
        tally.figures.append(
            {
                "cost": outcome.cost.mean(),
                "mix_cost": alike.cost_of(outcome.accuracy.mean()),
                "waiting": np.nan if outcome.waiting is None else outcome.waiting.mean(),
                "imitation": imitation,
                "majority": majority,
            }
        )

    def rows(self, member: np.ndarray, families: bool = False) -> list[HeldOutRow]:
        """Average the halves question by question, and put intervals on the averages.

        ``member`` numbers the group of every question. The groups are copies of one question or,
        with ``families``, those that were given.
        """
        keys = sorted(self._tallies, key=lambda key: (key[0], self._order.index(key[1])))
        rows = [self._row(target, policy, member, families) for target, policy in keys]
        oracle_gains = {row.target: row.gain for row in rows if row.policy == "oracle"}
        return [
            replace(row, share=row.gain / oracle_gains[row.target])
            if oracle_gains.get(row.target, 0.0) > 0
            else row
            for row in rows
        ]

    def _row(self, target: float, policy: str, member: np.ndarray, families: bool) -> HeldOutRow:
        """Return the row of one policy at one target, without its share of the oracle's gain."""
        tally = self._tallies[target, policy]
        halves = len(tally.figures)
        accuracy = tally.accuracy / halves
        mix_accuracy = tally.mix_accuracy / halves
        gains = _group_values(accuracy - mix_accuracy, member)
        mean_accuracy, low, high = _interval(_group_values(accuracy, member), least=0.0)
        gain, gain_low, gain_high = _interval(gains, least=-1.0)
        is_mix = policy == "mix"  # which is not compared with itself
        return HeldOutRow(
            policy=policy,
            kind=self._kinds.get(policy, "baseline"),
            target=target,
            cost=tally.mean("cost"),
            accuracy=mean_accuracy,
            low=low,
            high=high,
            mix_accuracy=float(mix_accuracy.mean()),
            gain=gain,
            gain_low=None if is_mix else gain_low,
            gain_high=None if is_mix else gain_high,
            imitation=_finite(tally.mean("imitation")),
            majority=_finite(tally.mean("majority")),
            mix_cost=_finite(tally.mean("mix_cost")),
            waiting=_finite(tally.mean("waiting")),
            families=families and len(gains) < len(member),
            largest=float(np.bincount(member).max() * len(gains) / len(member)),
            gains=gains,
        )


def _finite(figure: float) -> float | None:
    """Return a figure that is a number; None for one that there is not."""
    return figure if np.isfinite(figure) else None


def _interval(values: np.ndarray, least: float) -> tuple[float, float, float]:
    """Return the mean and Student's interval, cut where no mean can lie: at ``least`` and at 1."""
    found = mean_interval(values)
    return float(found.mean), max(float(found.low), least), min(float(found.high), 1.0)


def _group_values(values: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return one value per group, whose plain mean is the mean over all questions.

    A group counts by what its questions add to the total above the mean, so that large groups weigh
    more. The spread of these values gives the interval of a ratio estimate.
    """
    excess = np.bincount(member, values - values.mean())
    return values.mean() + excess * excess.size / len(values)
