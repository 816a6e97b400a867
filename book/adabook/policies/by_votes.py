"""Published stopping rules that count votes, each as its authors set it.

Change a number or a line, and score it: ``adalib evaluate answers.jsonl --policy by_votes.py``.
``seen`` holds the answers that were paid for; an answer that could not be read is "".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from scipy.special import betainc

MOST = 40  #: answers to a question, where the authors name no limit


def counts(seen: Sequence[Any]) -> tuple[int, int, int]:
    """Return the votes of the leader, those of the runner-up, and all votes."""
    votes = Counter(one.answer for one in seen if one.answer)
    first, second, *_ = *sorted(votes.values(), reverse=True), 0, 0
    return first, second, votes.total()


class Untaught:
    """Base class of rules that learn nothing."""

    def fit(self, answers: Any) -> None:
        """Nothing to learn."""


class AdaptiveConsistency(Untaught):
    """Stop when the leader is the more frequent of the two first answers (Aggarwal et al. 2023).

    From a flat prior, its share of the votes for both has a Beta distribution.
    """

    sure = 0.95

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether that is less than sure."""
        first, second, _ = counts(seen)
        leads = betainc(second + 1, first + 1, 0.5)  # chance that its share is above a half
        return bool(leads < self.sure) and len(seen) < MOST


class EarlyStopping(Untaught):
    """ESC: ask five at a time, and stop after five that are all the same (Li et al. 2024)."""

    window = 5

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether the last window is not full, or its answers differ."""
        last = {one.answer for one in seen[-self.window :]}
        agree = len(seen) % self.window == 0 and len(last) == 1 and "" not in last
        return not agree and len(seen) < MOST


class Lead(Untaught):
    """Stop at a lead of three votes."""

    lead = 3

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether the lead is smaller."""
        first, second, _ = counts(seen)
        return first - second < self.lead and len(seen) < MOST


class WaldsTest(Untaught):
    """Stop when a majority for the leader is accepted or rejected (Wald 1945).

    A share of 0.7 is tested against one of 0.3, each with an error of 5%.
    """

    share, error = 0.7, 0.05

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether the evidence is too weak either way."""
        first, _, total = counts(seen)
        evidence = (2 * first - total) * np.log(self.share / (1 - self.share))
        needed = np.log((1 - self.error) / self.error)
        return bool(abs(evidence) < needed) and len(seen) < MOST


class Doubling(Untaught):
    """Ask 2, 4, 8, 16 or 32 times, until three quarters agree: its_hub's adaptive rule."""

    share = 0.75

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether it is no time to stop, or too few agree."""
        first, _, total = counts(seen)
        agree = len(seen) in (2, 4, 8, 16) and 0 < self.share * total <= first
        return not agree and len(seen) < 32


class TwoAgree(Untaught):
    """Stop at the first two answers that are the same."""

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether all differ so far."""
        return counts(seen)[0] < 2 and len(seen) < MOST


class TwoInARow(Untaught):
    """Stop at two equal answers in a row: the rule that beat BranchPilot's learned one (2026)."""

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether the last two differ."""
        *_, before, last = ("", *(one.answer for one in seen))
        return (last != before or not last) and len(seen) < 8


class LearnedPrior:
    """Stop when the leader is the most frequent answer, by a learned prior (Huang et al. 2026).

    The prior is every training question, with the shares of its four most frequent answers.
    """

    sure = 0.95

    def fit(self, answers: Any) -> None:
        """Learn those shares."""
        rows = [row[row >= 0] for row in answers.classes]
        found = [np.sort(np.bincount(row, minlength=4))[:-5:-1] / max(row.size, 1) for row in rows]
        shares = np.array(found).T
        # The leader may be any answer i and the runner-up any other j; answer 0 is the mode.
        pairs = [(i, shares[i], shares[j]) for i, j in permutations(range(4), 2)]

        @cache
        def chance(first: int, second: int, others: int) -> float:
            """The chance that a leader with so many votes is the mode."""
            with np.errstate(divide="ignore", invalid="ignore"):
                each = [
                    np.sum(p**first * q**second * np.clip(1 - p - q, 1e-12, 1) ** others)
                    for _, p, q in pairs
                ]
            mode = sum(x for (i, _, _), x in zip(pairs, each, strict=True) if i == 0)
            return float(mode / max(sum(each), 1e-300))

        self.chance = chance

    def more(self, seen: Sequence[Any]) -> bool:
        """Whether that is less than sure."""
        first, second, total = counts(seen)
        unsure = not total or self.chance(first, second, total - first - second) < self.sure
        return unsure and len(seen) < MOST
