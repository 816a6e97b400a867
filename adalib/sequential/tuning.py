"""Peers tuned to a budget: the settings of one family, valued on training questions, and the envelope over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from adalib.sequential.dirichlet import Dirichlet
from adalib.sequential.filtering import Filtered
from adalib.sequential.library import corners, mix_for
from adalib.sequential.peers import Agreement, Doubling, Entropy, ProbabilityRatio, Window
from adalib.sequential.replay import REPLAYS, Replay, in_parts, outcomes, shares_of
from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.streams import Cost, Streams, make_streams

__all__ = ["CONFIDENT", "PEERS", "PUBLISHED", "Player", "Published", "TunedRules"]


class Player(Protocol):
    """A rule that looks at more than the votes' `Votes`, or that votes in its own way."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        """The answer after which each stream stops, counted from 0, and what its vote is worth there."""


class TunedRules:
    """A family of plain rules, tuned on training questions to any budget: the envelope over its settings.

    A rule that cannot spend so little is mixed with asking once. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    rules : sequence of Rule or Player
    limit : int
        Most answers asked.
    cost, repeats, seed
        As for `PricedStopping`.
    """

    def __init__(
        self,
        rules: Sequence[Rule | Player],
        *,
        limit: int = 40,
        cost: Cost = "samples",
        repeats: int = 16,
        seed: int = 0,
    ) -> None:
        self.rules = [Fixed(1), *rules]
        self.limit, self.cost, self.repeats, self.seed = limit, cost, repeats, seed

    def fit(self, responses: Any) -> TunedRules:
        """Learn what every setting costs and brings."""
        streams = self._streams(responses, self.seed, self.repeats)
        stops, worth = _played(self.rules, streams)
        cost, accuracy = np.take_along_axis(streams.cost, stops, axis=1).mean(axis=0), worth.mean(axis=0)
        best = corners(cost, accuracy)
        self.members, self.costs, self.accuracies = [self.rules[i] for i in best], cost[best], accuracy[best]
        return self

    def replay(self, responses: Any, budgets: Sequence[float], *, seed: int = 1) -> Replay:
        """Play answers back to unseen questions, at every budget."""
        used, shares = shares_of([mix_for(self.costs, self.accuracies, budget) for budget in budgets])
        members = [self.members[number] for number in used]

        def play(answers: Any, _: Any, seed: int, orders: int) -> Replay:
            streams = self._streams(answers, seed, orders)
            stops, worth = _played(members, streams)
            return outcomes(streams, worth, np.arange(1, streams.classes.shape[1] + 1), stops, shares)

        return in_parts(play, responses, None, seed)

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and be scored on ``test``, for `adalib.held_out`."""
        limit = min(self.limit, train.answers.samples, test.answers.samples)
        tuned = TunedRules(self.rules[1:], limit=limit, cost=self.cost, repeats=self.repeats, seed=self.seed)
        return tuned.fit(train.answers).replay(test.answers, targets).pairs()

    def _streams(self, responses: Any, seed: int, repeats: int) -> Streams:
        return make_streams(responses, self.limit, repeats=repeats, seed=seed, cost=self.cost)


class Published:
    """One rule as its authors use it: it spends what it spends, whatever is asked for.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    rule : Rule or Player
    limit : int
        Most answers asked.
    """

    def __init__(self, rule: Rule | Player, *, limit: int = 40) -> None:
        self.rule, self.limit = rule, limit

    def replay(self, responses: Any, *, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Answers asked and accuracy of every question, averaged over the orders."""
        streams = make_streams(responses, self.limit, repeats=REPLAYS, seed=seed)
        stops, worth = _played([self.rule], streams)
        return streams.mean(stops[:, 0] + 1.0), streams.mean(worth[:, 0])

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """The same at every target, for `adalib.held_out`: there is nothing to learn."""
        return [self.replay(test.answers)] * len(targets)


def _played(rules: Sequence[Rule | Player], streams: Streams) -> tuple[np.ndarray, np.ndarray]:
    """Where each rule stops every stream, and what the vote is worth there, both (M, rules)."""
    votes = streams.votes()
    plain = [j for j, rule in enumerate(rules) if not hasattr(rule, "play")]
    stops, worth = np.zeros((len(votes.n), len(rules)), dtype=int), np.zeros((len(votes.n), len(rules)))
    stops[:, plain] = points_of([rules[j] for j in plain], votes)
    worth[:, plain] = np.take_along_axis(votes.value, stops[:, plain], axis=1)
    for j in set(range(len(rules))) - set(plain):
        stops[:, j], worth[:, j] = rules[j].play(streams)
    return stops, worth


_CAPS = (4, 8, 16, 24, 40)

#: The settings of every family that `TunedRules` chooses among.
PEERS: Mapping[str, Sequence[Rule | Player]] = {
    "margin": [Margin(lead, cap) for lead in range(1, 9) for cap in _CAPS],
    "adaptive_consistency": [Confidence(p, cap) for p in (0.6, 0.8, 0.9, 0.95, 0.975, 0.99) for cap in _CAPS],
    "esc": [Window(size, cap) for size in range(2, 9) for cap in _CAPS],
    "ac_entropy": [Entropy(h, cap) for h in (0.2, 0.4, 0.5, 0.6, 0.75, 0.9) for cap in _CAPS],
    "ac_majority": [Agreement(share, cap) for share in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9) for cap in _CAPS],
    "ac_dirichlet": [Dirichlet(p, cap) for p in (0.5, 0.7, 0.8, 0.9, 0.95, 0.99) for cap in _CAPS],
    "doubling": [Doubling(share, cap) for share in (0.55, 0.65, 0.75, 0.85, 0.95) for cap in _CAPS],
    "sprt": [ProbabilityRatio(e, p, cap) for e in (0.01, 0.05, 0.1, 0.2) for p in (0.55, 0.65, 0.8) for cap in _CAPS],
}

_ASKED = (2, 3, 4, 6, 8, 12, 16, 24, 40)

#: The same for votes by confidence, of files with log-probabilities.
CONFIDENT: Mapping[str, Sequence[Player]] = {
    "cisc": [Filtered(b, 1.0, sharpness) for sharpness in (1.5, 3.0, 6.0, 12.0) for b in _ASKED],
    "deepconf": [Filtered(b, keep, 6.0) for keep in (0.1, 0.9) for b in _ASKED],
}

#: Every family as its authors set it: thresholds and windows of the papers and packages, at most 40 answers.
PUBLISHED: Mapping[str, Rule | Player] = {
    "margin": Margin(3, 40),
    "adaptive_consistency": Confidence(0.95, 40),
    "esc": Window(5, 40),
    "ac_entropy": Entropy(0.75, 40),
    "ac_majority": Agreement(0.8, 40),
    "ac_dirichlet": Dirichlet(0.95, 40),
    "doubling": Doubling(0.75, 32),
    "sprt": ProbabilityRatio(0.05, 0.7, 40),
}
