"""Find the flaw: a small table of results with one planted sin, to be named and shown with a null.

A null is an experiment in which there is nothing to find. On a flat population no budget helps any question; with
shuffled labels the policy knows nothing about the questions. A sound evaluation reports no gain on either. Each sin
reports one on at least one of them, and how large it is there is the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from adalib.datasets.populations import Population, beta_population, flat_null
from adalib.evaluate.baselines import best_mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import chosen
from adalib.table import UtilityTable
from adalib.teach.exercises import Checked
from adalib.teach.exercises.reading import as_name, as_number

__all__ = ["NULLS", "SINS", "Flaw", "find_the_flaw"]

#: The sins, and how a paper with such a sin would describe what was done.
SINS = {
    "in-sample": "Budgets were chosen on 48 answers a question. Accuracy is the mean of the vote over these answers.",
    "overspent": "Budgets were chosen on 48 answers a question and scored on 48 others. The price was lowered until "
    "the average reached the target. The mix is the best one at the target.",
    "leak": "A table of features of each question chose the budgets: its length, its topic, and how often a "
    "single answer was right among the 48 answers that score. They chose nothing else.",
    "tie rule": "Budgets were chosen on 48 answers a question and scored on 48 others. A vote counts as right if the "
    "right answer is among those with the most votes.",
    "noise": "Budgets were chosen on 48 answers a question and scored on 48 others, for ten questions. We report the "
    "most successful of twenty runs.",
}

#: The experiments with nothing to find.
NULLS = ("flat", "shuffled")

_BUDGETS, _SAMPLES, _LEAST = (1, 2, 4, 8, 16), 48, 0.008


@dataclass(frozen=True)
class Flaw:
    """Results with one planted sin; `find_the_flaw` makes them.

    Attributes
    ----------
    methods : str
        What was done, in the words of its authors.
    """

    methods: str
    _sin: str
    _seed: int

    @property
    def table(self) -> pd.DataFrame:
        """The results: target, cost, accuracy, the mix it is compared with, and the gain."""
        return _results(self._sin, _people(self._sin, self._seed), self._seed, False)

    def run(self, null: str) -> pd.DataFrame:
        """The same experiment where there is nothing to find: ``null`` is "flat" or "shuffled"."""
        if null not in NULLS:
            raise ValueError(f"null is {null!r}; choose one of {', '.join(NULLS)}")
        size = _size(self._sin)
        people = (
            flat_null(size, seed=self._seed) if null == "flat" else beta_population(size, 0.6, 0.5, seed=self._seed)
        )
        return _results(self._sin, people, self._seed, null == "shuffled")

    def check(self, sin: str, null: str, gain: Any) -> Checked:
        """Say whether the sin is named, and shown by a null that reports a gain: the largest gain of that table."""
        if as_name(sin) not in SINS:
            return Checked("flaw", False, f"the sins are {', '.join(SINS)}")
        if as_name(null) not in NULLS:
            return Checked("flaw", False, f"the nulls are {', '.join(NULLS)}")
        shown = float(self.run(as_name(null))["gain"].max())
        if shown < _LEAST:
            return Checked("flaw", False, "that null reports next to no gain, so it shows nothing; try the other one")
        if abs(as_number(gain) - shown) > 2e-3:
            return Checked("flaw", False, f'read the largest gain off run("{as_name(null)}"), to three digits')
        if as_name(sin) != self._sin:
            return Checked("flaw", False, "the null is well chosen, but that was not done; read the methods again")
        return Checked("flaw", True)


def find_the_flaw(seed: int = 0) -> Flaw:
    """Results to distrust: name what is wrong with them, and show it with a null.

    Explained in the page "Homework and exams".

    Parameters
    ----------
    seed : int
        Chooses the sin and the numbers.

    Examples
    --------
    >>> flaw = find_the_flaw(3)
    >>> list(flaw.table.columns)
    ['target', 'cost', 'accuracy', 'mix', 'gain']
    >>> flaw.check("noise", "flat", 0.5).right
    False
    """
    sin = list(SINS)[int(np.random.default_rng([seed, 7]).integers(len(SINS)))]
    return Flaw(SINS[sin], sin, seed)


def _size(sin: str) -> int:
    return 10 if sin == "noise" else 150


def _people(sin: str, seed: int) -> Population:
    return beta_population(_size(sin), 0.6, 0.5, seed=seed)


def _results(sin: str, population: Population, seed: int, shuffled: bool) -> pd.DataFrame:
    runs = [_once(sin, population, seed + number, shuffled) for number in range(20 if sin == "noise" else 1)]
    return max(runs, key=lambda run: run["gain"].max()).round(4)


def _once(sin: str, population: Population, seed: int, shuffled: bool) -> pd.DataFrame:
    table: Callable[..., UtilityTable] = _generous if sin == "tie rule" else lambda answers: answers.table(_BUDGETS)
    first, second = (table(population.sample(_SAMPLES, seed=2 * seed + half)) for half in (0, 1))
    score = first if sin == "in-sample" else second
    # What is scored has chosen, too: that is the leak, whatever the features are called.
    choose = (first.acc + second.acc) / 2 if sin == "leak" else first.acc
    path, rows = frontier(choose, first.cost), []
    for target in (1.5, 2.0, 3.0):
        allowed = path.cost[min(np.searchsorted(path.cost, 1.6 * target), path.cost.size - 1)]
        labels = path.at(max(target, float(allowed)) if sin == "overspent" else target).labels
        if shuffled:
            labels = np.random.default_rng(seed).permutation(labels)
        cost, accuracy = float(first.cost[labels].mean()), float(chosen(score.acc, labels).mean())
        mix = float(best_mix(score.acc, score.cost, target if sin == "overspent" else cost).expected(score.acc).mean())
        rows.append({"target": target, "cost": cost, "accuracy": accuracy, "mix": mix, "gain": accuracy - mix})
    return pd.DataFrame(rows)


def _generous(answers: Any) -> UtilityTable:
    """Accuracies in which every tie with the right answer in it is a win, from votes over windows."""
    acc = np.empty((answers.n, len(_BUDGETS)))
    for column, budget in enumerate(_BUDGETS):
        windows = answers.classes[:, : _SAMPLES // budget * budget].reshape(answers.n, -1, budget)
        right = answers.values[:, : windows.shape[1] * budget].reshape(windows.shape)
        votes = (windows[..., None] == windows[..., None, :]).sum(axis=-1)
        top = (votes == votes.max(axis=-1, keepdims=True)) & (right > 0)
        acc[:, column] = top.any(axis=-1).mean(axis=-1)
    return UtilityTable(acc, _BUDGETS)
