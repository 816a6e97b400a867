"""What others do: stopping rules from their published descriptions.

Adaptive-Consistency (Aggarwal et al. 2023) stops when the leader looks safe, by one of four measures; ESC (Li et al.
2024) when a whole window agrees; its_hub doubles the answers until three quarters agree; Wald's test (1945) when the
evidence for or against a majority is strong enough. `adalib.sequential.dirichlet` has Adaptive-Consistency's fourth
rule, `adalib.sequential.filtering` the votes by confidence of CISC and DeepConf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adalib.sequential.rules import NEVER
from adalib.sequential.votes import Votes

__all__ = ["Agreement", "Doubling", "Entropy", "ProbabilityRatio", "Window"]


@dataclass(frozen=True)
class Agreement:
    """Adaptive-Consistency's majority rule: stop when the leader has this share of the answers, from two on."""

    threshold: float
    cap: int = NEVER

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
    cap: int = NEVER

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
    cap: int = NEVER

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether a window has just closed in agreement."""
        return ((votes.n % self.size == 0) & (votes.run >= self.size)) | (votes.n >= self.cap)


@dataclass(frozen=True)
class Doubling:
    """its_hub's adaptive rule: ask 2, 4, 8, ... in all, and stop when the leader has this share of what was read."""

    threshold: float = 0.75
    cap: int = NEVER

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
    cap: int = NEVER

    def stops(self, votes: Votes) -> np.ndarray:
        """Whether the ratio of the two likelihoods has left its bounds."""
        against = votes.n - votes.empty - votes.leader
        evidence = (votes.leader - against) * np.log(self.high / (1 - self.high))
        return (np.abs(evidence) >= np.log((1 - self.error) / self.error) - 1e-12) | (votes.n >= self.cap)
