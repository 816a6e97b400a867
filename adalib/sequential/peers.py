"""What others do: stopping rules from their published descriptions, and votes weighted or filtered by confidence.

Adaptive-Consistency (Aggarwal et al. 2023) stops when the leader looks safe, by one of four measures; ESC (Li et al.
2024) when a whole window agrees; its_hub doubles the answers until three quarters agree; Wald's test (1945) when the
evidence for or against a majority is strong enough. CISC (Taubenfeld et al. 2025) weighs votes by confidence, which is
the ``sharpness`` of `Streams.votes`; DeepConf (Fu et al. 2025) also leaves out the least confident answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import gamma

from adalib.sequential.library import corners, mix_for
from adalib.sequential.replay import REPLAYS, Replay, in_parts, outcomes, shares_of
from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, stopping_points
from adalib.sequential.streams import Cost, Streams, make_streams
from adalib.sequential.votes import Votes, count_votes

__all__ = [
    "PEERS",
    "Agreement",
    "Doubling",
    "Entropy",
    "ProbabilityRatio",
    "TunedRules",
    "Window",
    "dirichlet_holds",
    "filtered_value",
]


@dataclass(frozen=True)
class Agreement:
    """Adaptive-Consistency's majority rule: stop when the leader has this share of the answers, from two on."""

    threshold: float
    cap: int = 10**9

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether the share is there."""
        read = votes.n - votes.empty
        return ((read >= 2) & (votes.leader >= self.threshold * read * (1 - 1e-12))) | (votes.n >= self.cap)


@dataclass(frozen=True)
class Entropy:
    """Adaptive-Consistency's entropy rule: stop when the normalised entropy of the votes is this low, from two on.

    An answer that stands alone is compared with one vote for another.
    """

    threshold: float
    cap: int = 10**9

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether the votes are concentrated."""
        lonely = votes.distinct <= 1
        total = votes.n - votes.empty + lonely
        entropy = np.log(np.maximum(total, 1)) - votes.log_sum / np.maximum(total, 1)
        normal = entropy / np.log(np.maximum(votes.distinct + lonely, 2))
        return ((votes.n - votes.empty >= 2) & (normal <= self.threshold + 1e-12)) | (votes.n >= self.cap)


@dataclass(frozen=True)
class Window:
    """ESC: ask in windows, and stop after one in which all answers are the same."""

    size: int
    cap: int = 10**9

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether a window has just closed in agreement."""
        return ((votes.n % self.size == 0) & (votes.run >= self.size)) | (votes.n >= self.cap)


@dataclass(frozen=True)
class Doubling:
    """its_hub's adaptive rule: ask 2, 4, 8, ... in all, and stop when the leader has this share of what was read."""

    threshold: float = 0.75
    cap: int = 10**9

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether a doubling has just ended in agreement."""
        n = np.asarray(votes.n, dtype=int)
        doubled = (n >= 2) & (n & (n - 1) == 0)
        read = votes.n - votes.empty
        agreed = (read > 0) & (votes.leader >= self.threshold * read * (1 - 1e-12))
        return (doubled & agreed) | (votes.n >= self.cap)


@dataclass(frozen=True)
class ProbabilityRatio:
    """Wald's test: has the leader a share of ``high`` or of ``1 - high``? Stop when the wrong side is this unlikely."""

    error: float = 0.05
    high: float = 0.7
    cap: int = 10**9

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether the ratio of the two likelihoods has left its bounds."""
        against = votes.n - votes.empty - votes.leader
        evidence = (votes.leader - against) * np.log(self.high / (1 - self.high))
        return (np.abs(evidence) >= np.log((1 - self.error) / self.error) - 1e-12) | (votes.n >= self.cap)


def dirichlet_holds(counts: ArrayLike, top: int = 5) -> float:
    r"""Probability that the leading answer is the most frequent one, from a flat Dirichlet prior over the ``top``.

    With :math:`c_1 \ge c_2 \ge \dots` votes, independent gamma variables give the Dirichlet, and one integral is left:
    :math:`\int g_{c_1 + 1}(x) \prod_{i > 1} G_{c_i + 1}(x)\, dx`. Two answers alone are the Beta rule.

    Examples
    --------
    >>> round(dirichlet_holds([3, 0]), 4), round(dirichlet_holds([2, 2, 2]), 4)
    (0.9375, 0.3333)
    """
    a = np.sort(np.asarray(counts, dtype=float))[::-1][:top] + 1
    x = np.linspace(0, a[0] + 12 * np.sqrt(a[0]) + 12, 4001)
    density = gamma.pdf(x, a[0]) * np.prod(gamma.cdf(x[:, None], a[1:]), axis=1)
    return float(np.trapezoid(density, x))


def filtered_value(streams: Streams, answers: int, keep: float, sharpness: float) -> np.ndarray:
    """What a vote of the most confident answers is worth, stream by stream: DeepConf's offline rule.

    Parameters
    ----------
    streams : Streams
        With log-probabilities.
    answers : int
        How many are asked.
    keep : float
        Share of them that votes, the most confident ones; at least one.
    sharpness : float
        How steeply certainty weighs, as in `Streams.votes`.

    Returns
    -------
    ndarray, shape (M,)
    """
    certain = streams.logprob[:, :answers]
    least = -np.sort(-certain, axis=1)[:, max(int(np.ceil(keep * answers)), 1) - 1]
    classes = np.where(certain >= least[:, None], streams.classes[:, :answers], -1)
    weights = np.exp(np.maximum(sharpness * certain, -600.0))
    return count_votes(classes, streams.worth[:, :answers], weights).value[:, -1]


class TunedRules:
    """A family of plain rules, tuned on training questions to any budget: the envelope over its settings.

    A rule that cannot spend so little is mixed with asking once. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    rules : sequence of Rule
    limit : int
        Most answers asked.
    cost, repeats, seed
        As for `PricedStopping`.
    """

    def __init__(
        self, rules: Sequence[Rule], *, limit: int = 40, cost: Cost = "samples", repeats: int = 16, seed: int = 0
    ) -> None:
        self.rules = [Fixed(1), *rules]
        self.limit, self.cost, self.repeats, self.seed = limit, cost, repeats, seed

    def fit(self, responses: Any) -> TunedRules:
        """Learn what every setting costs and brings."""
        streams, votes = self._played(responses, self.seed, self.repeats)
        stops = np.column_stack([stopping_points(rule, votes) for rule in self.rules])
        cost, accuracy = (np.take_along_axis(x, stops, axis=1).mean(axis=0) for x in (streams.cost, votes.value))
        best = corners(cost, accuracy)
        self.members, self.costs, self.accuracies = [self.rules[i] for i in best], cost[best], accuracy[best]
        return self

    def replay(self, responses: Any, budgets: Sequence[float], *, seed: int = 1) -> Replay:
        """Play answers back to unseen questions, at every budget."""
        used, shares = shares_of([mix_for(self.costs, self.accuracies, budget) for budget in budgets])

        def play(answers: Any, _: Any, seed: int) -> Replay:
            streams, votes = self._played(answers, seed, REPLAYS)
            stops = np.column_stack([stopping_points(self.members[number], votes) for number in used])
            return outcomes(streams, votes.value, votes.n[0].astype(int), stops, shares)

        return in_parts(play, responses, None, seed)

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and be scored on ``test``, for `adalib.held_out`."""
        limit = min(self.limit, train.answers.samples, test.answers.samples)
        tuned = TunedRules(self.rules[1:], limit=limit, cost=self.cost, repeats=self.repeats, seed=self.seed)
        return tuned.fit(train.answers).replay(test.answers, targets).pairs()

    def _played(self, responses: Any, seed: int, repeats: int) -> tuple[Streams, Votes]:
        streams = make_streams(responses, self.limit, repeats=repeats, seed=seed, cost=self.cost)
        return streams, streams.votes()


_CAPS = (4, 8, 16, 24, 40)

#: The settings of every family that `TunedRules` chooses among.
PEERS: Mapping[str, Sequence[Rule]] = {
    "margin": [Margin(lead, cap) for lead in range(1, 9) for cap in _CAPS],
    "adaptive_consistency": [Confidence(p, cap) for p in (0.6, 0.8, 0.9, 0.95, 0.975, 0.99) for cap in _CAPS],
    "esc": [Window(size, cap) for size in range(2, 9) for cap in _CAPS],
    "ac_entropy": [Entropy(h, cap) for h in (0.2, 0.4, 0.5, 0.6, 0.75, 0.9) for cap in _CAPS],
    "ac_majority": [Agreement(share, cap) for share in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9) for cap in _CAPS],
    "doubling": [Doubling(share, cap) for share in (0.55, 0.65, 0.75, 0.85, 0.95) for cap in _CAPS],
    "sprt": [ProbabilityRatio(e, p, cap) for e in (0.01, 0.05, 0.1, 0.2) for p in (0.55, 0.65, 0.8) for cap in _CAPS],
}
