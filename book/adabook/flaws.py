"""Find the flaw: results with one planted mistake, and nulls on which it shows.

A null is an experiment in which there is nothing to find. On a flat population no budget helps any
question; with shuffled labels the policy has learned nothing about the questions. A sound
evaluation reports no gain on either. Each sin reports one on at least one of them, and its size
there is the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from adabook.exercises import Checked
from adabook.exercises.values import as_name, as_number
from adalib.datasets.populations import Population, beta_population, flat_null
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.solve.frontier import Frontier, frontier
from adalib.solve.oracle import chosen
from adalib.table import UtilityTable

#: The sins, and how a paper with such a sin would describe what was done.
SINS = {
    "in-sample": "Budgets were chosen on 48 answers per question. Accuracy is the mean of the "
    "vote over these answers.",
    "overspent": "Budgets were chosen on 48 answers per question and scored on 48 others. The "
    "price was lowered until the average reached the target. The mix is the best one at the "
    "target.",
    "leak": "A table of features of each question chose the budgets: its length, its topic, and "
    "how often a single answer was right among the 48 answers that score. These answers were "
    "used for nothing else.",
    "tie rule": "Budgets were chosen on 48 answers per question and scored on 48 others. A vote "
    "counts as right if the right answer is among those with the most votes.",
    "noise": "Budgets were chosen on 48 answers per question and scored on 48 others, for ten "
    "questions. We report the most successful of twenty runs.",
}
NULLS = ("flat", "shuffled")
_BUDGETS = (1, 2, 4, 8, 16)
_SAMPLES = 48  # answers per question that choose, and as many that score
_TARGETS = (1.5, 2.0, 3.0)
_LEAST = 0.008  # a smaller gain on a null shows nothing


@dataclass(frozen=True)
class Flaw:
    """Results with one planted flaw, described as its authors would; `find_the_flaw` makes them."""

    methods: str
    _sin: str
    _seed: int

    @property
    def table(self) -> pd.DataFrame:
        """The results: target, cost, accuracy, the mix it is compared with, and the gain."""
        return self._results(None)

    def run(self, null: str) -> pd.DataFrame:
        """The same experiment where there is nothing to find: ``null`` is "flat" or "shuffled"."""
        if null not in NULLS:
            raise ValueError(f"null is {null!r}; choose one of {', '.join(NULLS)}")
        return self._results(null)

    def check(self, sin: str, null: str, gain: Any) -> Checked:
        """Say whether the flaw is named, and shown by a null whose table reports a gain."""
        hint = self._fault(as_name(sin), as_name(null), as_number(gain))
        return Checked("flaw", not hint, hint)

    def _fault(self, sin: str, null: str, gain: float) -> str:
        """Return what is wrong with a reader's verdict; "" if it is right."""
        if sin not in SINS:
            return f"the sins are {', '.join(SINS)}"
        if null not in NULLS:
            return f"the nulls are {', '.join(NULLS)}"
        shown = float(self.run(null)["gain"].max())
        if shown < _LEAST:
            return "that null reports almost no gain, so it shows nothing; try the other one"
        if abs(gain - shown) > 2e-3:
            return f'give the largest gain in run("{null}"), to three digits'
        if sin != self._sin:
            return "the null is well chosen, but that is not the flaw; read the methods again"
        return ""

    def _results(self, null: str | None) -> pd.DataFrame:
        """Return the table of the study, or of the same study on a null."""
        # The sin "noise" is to report the best of many small runs.
        size, runs = (10, 20) if self._sin == "noise" else (150, 1)
        seed = self._seed
        if null == "flat":
            population = flat_null(size, seed=seed)
        else:
            population = beta_population(size, 0.6, 0.5, seed=seed)
        tables = [
            _study(self._sin, population, seed + number, null == "shuffled")
            for number in range(runs)
        ]
        return max(tables, key=lambda table: float(table["gain"].max())).round(4)


def find_the_flaw(seed: int = 0) -> Flaw:
    """Make results to distrust: name their flaw, and show it with a null.

    The seed chooses the flaw and the numbers.

    Explained in the page "Find the flaw".

    Examples
    --------
    >>> flaw = find_the_flaw(3)
    >>> list(flaw.table.columns)
    ['target', 'cost', 'accuracy', 'mix', 'gain']
    >>> flaw.check("noise", "flat", 0.5).right
    False
    """
    sin = list(SINS)[int(np.random.default_rng([seed, 7]).integers(len(SINS)))]
    # Some draws hide their sin from both nulls; the next draw is taken until one shows it.
    draws = (Flaw(SINS[sin], sin, seed + 1000 * again) for again in count())
    return next(
        flaw for flaw in draws if max(flaw.run(null)["gain"].max() for null in NULLS) >= _LEAST
    )


def _study(sin: str, population: Population, seed: int, shuffled: bool) -> pd.DataFrame:
    """Run the study once with its flaw, at three targets."""
    first, second = (
        _table(sin, population.sample(_SAMPLES, seed=2 * seed + half)) for half in (0, 1)
    )
    score = first if sin == "in-sample" else second
    # What is scored has chosen, too: that is the leak, whatever the features are called.
    choose = (first.acc + second.acc) / 2 if sin == "leak" else first.acc
    path = frontier(choose, first.cost)
    rows = []
    for target in _TARGETS:
        labels = path.at(_overspent(path, target) if sin == "overspent" else target).labels
        if shuffled:
            labels = np.random.default_rng(seed).permutation(labels)
        cost = float(first.cost[labels].mean())
        accuracy = float(chosen(score.acc, labels).mean())
        mix = best_mix(score.acc, score.cost, target if sin == "overspent" else cost)
        mix_accuracy = float(mix.expected(score.acc).mean())
        row = {
            "target": target,
            "cost": cost,
            "accuracy": accuracy,
            "mix": mix_accuracy,
            "gain": accuracy - mix_accuracy,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _table(sin: str, answers: Responses) -> UtilityTable:
    """Estimate accuracies from answers, with the tie rule that the study has."""
    return _generous(answers) if sin == "tie rule" else answers.table(_BUDGETS)


def _overspent(path: Frontier, target: float) -> float:
    """A budget above the target: the first point of the frontier that costs 1.6 times as much."""
    point = min(int(np.searchsorted(path.cost, 1.6 * target)), path.cost.size - 1)
    return max(target, float(path.cost[point]))


def _generous(answers: Responses) -> UtilityTable:
    """Return accuracies in which every tie that includes the right answer wins, by windows."""
    acc = np.empty((answers.n, len(_BUDGETS)))
    for column, budget in enumerate(_BUDGETS):
        used = _SAMPLES // budget * budget  # answers that fill whole windows
        windows = answers.classes[:, :used].reshape(answers.n, -1, budget)
        right = answers.values[:, :used].reshape(windows.shape)
        votes = (windows[..., None] == windows[..., None, :]).sum(axis=-1)
        top = (votes == votes.max(axis=-1, keepdims=True)) & (right > 0)
        acc[:, column] = top.any(axis=-1).mean(axis=-1)
    return UtilityTable(acc, np.array(_BUDGETS))
