"""Published rules that use how certain the model was of each answer, for files with ``logprob``.

``one.logprob`` is the mean log-probability of an answer's tokens. All but one choose the winner in
their own way, which is ``answer``. Where the authors leave open how much to ask, the rule takes the
budget, in answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST = 40  #: answers to a question


class ByCertainty:
    """Base class: refuse files without log-probabilities."""

    def fit(self, answers: Any) -> None:
        """Refuse what cannot be used."""
        if answers.logprob is None:
            raise ValueError(f'{type(self).__name__} needs "logprob" on every line of the file')


class ToABudget(ByCertainty):
    """Base class of those that leave open how much to ask."""

    def __init__(self, budget: float) -> None:
        self.budget = budget


def heaviest(seen: Iterable[Any], sharpness: float) -> str:
    """Return the answer with the largest sum of exp(sharpness * logprob)."""
    weights: dict[str, float] = defaultdict(float)
    for one in seen:
        weights[one.answer] += np.exp(sharpness * one.logprob) if one.answer else 0.0
    return max(weights, key=lambda answer: weights[answer])


class Cisc(ToABudget):
    """CISC: every vote weighs as much as the model was sure of it (Taubenfeld et al. 2025)."""

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether the budget is not spent."""
        return len(seen) < min(round(self.budget), MOST)

    def answer(self, seen: Sequence[Any]) -> str:
        """Name the winner."""
        return heaviest(seen, sharpness=6.0)


class DeepConf(Cisc):
    """DeepConf's offline rule: the least sure tenth does not vote (Fu et al. 2025)."""

    keep = 0.9

    def answer(self, seen: Sequence[Any]) -> str:
        """Name the winner among the others."""
        surest = sorted(seen, key=lambda one: -one.logprob)
        return heaviest(surest[: int(np.ceil(self.keep * len(seen)))], sharpness=6.0)


class Cges(ByCertainty):
    """CGES as we read it: stop once an answer has this posterior (Aghazadeh et al. 2025).

    An answer's mean token probability c is taken as the chance that it is right. If another one of
    d is, it came with chance (1 - c) / d.
    """

    sure = 0.99

    def posterior(self, seen: Sequence[Any]) -> dict[str, float]:
        """Return the log odds of every answer against one that has not come."""
        distinct = len({one.answer for one in seen if one.answer})
        odds: dict[str, float] = defaultdict(float)
        for one in seen:
            if one.answer:
                c = np.clip(np.exp(one.logprob), 1e-6, 1 - 1e-6)
                odds[one.answer] += np.log(distinct) + np.log(c / (1 - c))
        return odds

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether no answer is likely enough."""
        odds = np.array([0.0, *self.posterior(seen).values()])
        chances = np.exp(odds - odds.max())
        likely = max(chances[1:], default=0.0) >= self.sure * chances.sum()
        return not likely and len(seen) < MOST

    def answer(self, seen: Sequence[Any]) -> str:
        """Name the likeliest answer."""
        odds = self.posterior(seen)
        return max(odds, key=lambda answer: odds[answer], default="")


class Uab(ToABudget):
    """UAB as we read it: plan from how likely the first answer was (Nguyen et al. 2026).

    Its mean token probability p is taken as its accuracy, so that answer n + 1 adds p (1 - p)^n.
    Ask while that is worth the price at which the training questions spend the budget.
    """

    def fit(self, answers: Any) -> None:
        """Find that price."""
        super().fit(answers)
        p = np.exp(answers.logprob[:, 0]).clip(1e-6, 1 - 1e-6)
        adds = p[:, None] * (1 - p[:, None]) ** np.arange(1, min(MOST, answers.samples))
        further = int((self.budget - 1) * len(p))  # answers after the first
        self.price = np.sort(adds, axis=None)[::-1][min(further, adds.size - 1)]

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether the next answer is worth it."""
        p = np.clip(np.exp(seen[0].logprob), 1e-6, 1 - 1e-6)
        return bool(p * (1 - p) ** len(seen) > self.price) and len(seen) < MOST


class Weitzman(ToABudget):
    """Stop at an answer as certain as the reservation value; name the surest (Kalayci et al. 2025).

    All boxes are alike, so one value serves all: the one at which training questions spend the
    budget.
    """

    def fit(self, answers: Any) -> None:
        """Find that value."""
        super().fit(answers)
        values = np.quantile(answers.logprob, np.linspace(0, 1, 101))
        asked = answers.logprob[:, :MOST]
        reached = [asked >= value for value in values]
        spent = [
            np.where(one.any(axis=1), one.argmax(axis=1) + 1, asked.shape[1]).mean()
            for one in reached
        ]
        self.reserve = values[np.searchsorted(spent, self.budget, side="right") - 1]

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether no readable answer is so certain."""
        sure = any(one.answer and one.logprob >= self.reserve for one in seen)
        return not sure and len(seen) < MOST

    def answer(self, seen: Sequence[Any]) -> str:
        """Name the surest readable answer."""
        return max(seen, key=lambda one: (one.answer != "", one.logprob)).answer
