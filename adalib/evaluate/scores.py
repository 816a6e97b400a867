"""Held-out scores: collect what every policy had, half by half, and put intervals on the averages.

The bar is the best random mix at the cost that a policy really had, chosen on the samples that score: whoever does not
clear it has not told two questions apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd

from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import bootstrap_mean
from adalib.sequential.replay import corners
from adalib.table import UtilityTable

__all__ = ["HeldOutRow", "Tally", "as_table"]


@dataclass(frozen=True, eq=False, kw_only=True)
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
        For a policy that learns one target's labels: how often it repeats the oracle's, and how often the commonest
        label would.
    mix_cost : float or None
        What the best random mix must spend to be as accurate; None where it never is.
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
    mix_cost: float | None = None
    gains: np.ndarray = field(repr=False)


def as_table(rows: Sequence) -> pd.DataFrame:
    """Return rows as a table whose first column names the protocol. Explained in chapter 7, "Results"."""
    names = [f.name for f in fields(rows[0]) if f.name != "gains"]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


class Tally:
    """What every policy had at every target, half by half.

    Parameters
    ----------
    order : sequence of str
        The policies in the order of their rows.
    """

    def __init__(self, order: Sequence[str]) -> None:
        self._order = list(order)
        self._turns: dict[tuple[float, str], list[tuple]] = {}
        #: Sums over the turns of every question's accuracy; the mix's are made again from its shares and the table.
        self._sums: dict[tuple[float, str], np.ndarray] = {}
        self._mixes: dict[tuple[float, str], list[tuple[np.ndarray, UtilityTable]]] = {}

    def add(
        self,
        policy: str,
        target: float,
        cost: np.ndarray,
        accuracy: np.ndarray,
        score: UtilityTable,
        imitated: tuple[float, float] | None = None,
    ) -> None:
        """Take down what every question cost and how accurate it was, beside the best mix at that cost.

        Parameters
        ----------
        policy : str
        target : float
            Average cost aimed at.
        cost, accuracy : ndarray, shape (N,)
            On the half that scores.
        score : UtilityTable
            The mix may spend all that the policy spent on budgets of this table.
        imitated : pair of float, optional
            How often the policy repeated the oracle's labels, and how often the commonest label would.
        """
        # A first answer may be shorter than its question's mean: where tokens are paid, nothing is cheaper than the
        # cheapest budget, and that is the bar.
        spent = max(cost.mean(), np.mean(score.cost[..., 0]))
        # The bar knows the half that scores: nobody passes it because the other half misjudged the average question.
        mix = best_mix(score.acc, score.cost, spent, n=1).weights
        turn = cost.mean(), imitated or (), _mix_cost(score, accuracy.mean())
        self._turns.setdefault((target, policy), []).append(turn)
        self._sums[target, policy] = accuracy + self._sums.get((target, policy), 0.0)
        self._mixes.setdefault((target, policy), []).append((mix, score))

    def add_learned(
        self,
        found: Mapping[str, np.ndarray],
        oracles: Sequence[tuple[float, np.ndarray]],
        score: UtilityTable,
        overhead: float = 0.0,
    ) -> None:
        """Take down what `adalib.evaluate.trials.learned` found, beside the oracle's labels at every target.

        ``overhead`` is what every question pays on top, save where noise is in place of what it bought.
        """
        for name, parts in found.items():
            for number, (target, labels) in enumerate(oracles):
                at = parts[:, number]
                columns = at["column"]
                imitated = (columns == labels).mean(), np.bincount(labels).max() / labels.size
                # Noise has several policies: the mean over them is the plan that draws one.
                self.add(
                    name,
                    target,
                    at["cost"].mean(axis=0) + (0.0 if name == "noise" else overhead),
                    at["accuracy"].mean(axis=0),
                    score,
                    None if (columns < 0).any() else imitated,
                )

    def rows(self, member: np.ndarray) -> list[HeldOutRow]:
        """Average the halves question by question, and put intervals on the averages, over the groups."""
        keys = sorted(self._turns, key=lambda key: (key[0], self._order.index(key[1])))
        cost, imitated, saved = (
            [np.mean([turn[part] for turn in self._turns[key]], axis=0) for key in keys] for part in range(3)
        )
        # A column at a time, for there may be very many questions.
        values, gains = np.empty((2, member.max() + 1, len(keys)))
        bar = []
        for j, key in enumerate(keys):
            accuracy = self._sums[key] / len(self._turns[key])
            mix = np.mean([(shares * score.acc).sum(axis=1) for shares, score in self._mixes[key]], axis=0)
            values[:, j], gains[:, j] = _units(accuracy, member), _units(accuracy - mix, member)
            bar.append(float(mix.mean()))
        value, gain = bootstrap_mean(values, bounds=(0, 1)), bootstrap_mean(gains)
        best = {target: gain.mean[j] for j, (target, policy) in enumerate(keys) if policy == "oracle"}
        rows = []
        for j, (target, policy) in enumerate(keys):
            same, majority = map(float, imitated[j]) if imitated[j].size else (None, None)
            rows.append(
                HeldOutRow(
                    policy=policy,
                    target=target,
                    cost=float(cost[j]),
                    accuracy=float(value.mean[j]),
                    low=float(value.low[j]),
                    high=float(value.high[j]),
                    mix_accuracy=bar[j],
                    gain=float(gain.mean[j]),
                    gain_low=float(gain.low[j]),
                    gain_high=float(gain.high[j]),
                    share=float(gain.mean[j] / best[target]) if best.get(target, 0) > 0 else None,
                    imitation=same,
                    majority=majority,
                    mix_cost=float(saved[j]) if np.isfinite(saved[j]) else None,
                    gains=gains[:, j],
                )
            )
        return rows


def _mix_cost(score: UtilityTable, accuracy: float) -> float:
    """The least that the best random mix spends to be this accurate; infinite where it never is."""
    cost, mean = np.broadcast_to(score.cost, score.acc.shape).mean(axis=0), score.acc.mean(axis=0)
    best = corners(cost, mean)
    return float(np.interp(accuracy, mean[best], cost[best], right=np.inf if accuracy > mean[best[-1]] else None))


def _units(values: np.ndarray, member: np.ndarray) -> np.ndarray:
    """One value a group, whose mean is the mean over questions and whose spread is that of groups drawn whole.

    A group's value is the mean plus what the group's questions add to it (the linearised ratio of resampled totals to
    resampled sizes). Groups of one question are left as they are.
    """
    mean = values.mean()
    excess = np.bincount(member, values - mean)
    return mean + excess * excess.size / len(values)
