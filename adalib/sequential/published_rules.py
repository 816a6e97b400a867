"""Stopping rules of other people, tuned to a budget, to compare priced stopping with.

Each rule has settings, such as a threshold and a cap. `TunedRules` tries all settings of one family
on training questions and keeps the best for every budget, so that a comparison is fair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adalib.datasets.responses import Cost, Responses
from adalib.sequential.replay import RuleLibrary
from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, Threshold, points_of
from adalib.sequential.streams import Streams
from adalib.sequential.votes import Votes
from adalib.solve.hull import concave_hull

CAPS = (4, 8, 16, 24, 40)  #: most answers per question


class Window(Threshold):
    """ESC: ask in windows of this many answers, and stop after one in which all are the same."""

    def stops(self, votes: Votes) -> Any:
        window_ends = votes.n % self.threshold == 0
        return (window_ends & (votes.run >= self.threshold)) | super().stops(votes)


class TunedRules(RuleLibrary):
    """A family of plain rules, tuned on training questions to any budget.

    The tuned rules are the envelope over the settings. For a budget below the cheapest setting,
    that is mixed with asking once. Explained in the chapter "When to stop".

    Parameters
    ----------
    rules : sequence of Rule
        The settings of the family.
    limit : int
        Answers per question, at most.
    repeats, seed : int
        Orders in which every training question is played back, and their seed.
    cost : {"samples", "tokens"}
        What an answer costs.

    Attributes
    ----------
    members : list of Rule
        The settings on the envelope, cheapest first.
    costs, accuracies : ndarray, shape (members,)
        Their average cost and accuracy in training.

    Examples
    --------
    >>> from adalib import beta_population
    >>> teach, score = beta_population(60, 1.5, 1.5).sample(24).split_samples(0)
    >>> TunedRules(PEERS["margin"]).fit(teach).replay(score, [1.0]).answers.mean().item()
    1.0
    """

    def __init__(
        self,
        rules: Sequence[Any],
        *,
        limit: int = 40,
        repeats: int = 16,
        seed: int = 0,
        cost: Cost = "samples",
    ) -> None:
        self.rules: list[Any] = [Fixed(1), *rules]
        self.schedule = np.arange(1, limit + 1)
        self.repeats = repeats
        self.seed = seed
        self.cost = cost

    def fit(self, responses: Responses, features: Any = None, groups: Any = None) -> TunedRules:
        """Learn what every setting costs and scores.

        Parameters
        ----------
        responses : Responses
            Answers to the training questions.
        features, groups
            Not used; here so that every policy is fitted alike.

        Returns
        -------
        TunedRules
            The policy itself.
        """
        streams = self.streams(responses, self.seed, self.repeats)
        stops, right = self.play(self.rules, streams)
        cost = self.paid(self.rules, streams, stops).mean(axis=0)
        accuracy = right.mean(axis=0)
        best = concave_hull(cost, accuracy)
        self.members = [self.rules[i] for i in best]
        self.costs = cost[best]
        self.accuracies = accuracy[best]
        return self

    def play(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        votes = streams.votes()
        stops = points_of(members, votes).astype(int)
        return stops, np.take_along_axis(votes.value, stops, axis=1)


#: The settings of every family that `TunedRules` chooses among: a lead in votes,
#: Adaptive-Consistency (Aggarwal et al. 2023) and early-stopping consistency (Li et al. 2024).
PEERS: Mapping[str, Sequence[Rule]] = {
    "margin": [Margin(lead, cap) for lead in range(1, 9) for cap in CAPS],
    "adaptive_consistency": [
        Confidence(level, cap) for level in (0.6, 0.8, 0.9, 0.95, 0.975, 0.99) for cap in CAPS
    ],
    "esc": [Window(size, cap) for size in range(2, 9) for cap in CAPS],
}
