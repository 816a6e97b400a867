"""Other people's stopping rules, tuned to a budget or exactly as published.

Each rule of `adalib.sequential.peer_rules` has settings, such as a threshold and a cap.
`TunedRules` tries all settings of one family on training questions and keeps the best for every
budget, so that a comparison with priced stopping is fair. `Published` takes a rule as its authors
set it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adalib.datasets.responses import Responses
from adalib.sequential.peer_rules import (
    Agreeing,
    Agreement,
    Coverage,
    Dirichlet,
    Doubling,
    Entropy,
    Filtered,
    InARow,
    Posterior,
    ProbabilityRatio,
    Reservation,
    Together,
    Window,
    mode_holds,
)
from adalib.sequential.replay import REPLAYS, Library
from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.streams import Cost, Streams
from adalib.solve.hull import concave_hull

_CAPS = (4, 8, 16, 24, 40)  # most answers per question
_MODE_CHANCES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # thresholds of `LearnedPrior`
_PRIOR_ANSWERS = 4  # most frequent answers that its prior describes


class TunedRules(Library):
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
    cost : {"samples", "tokens"} or function of Responses
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
        shape = (len(streams.question), len(members))
        stops = np.zeros(shape, dtype=int)
        accuracy = np.zeros(shape)
        # Rules that only look at the votes are played together, which is faster.
        plain = [j for j, rule in enumerate(members) if not hasattr(rule, "play")]
        stops[:, plain] = points_of([members[j] for j in plain], votes)
        accuracy[:, plain] = np.take_along_axis(votes.value, stops[:, plain], axis=1)
        for j, rule in enumerate(members):
            if hasattr(rule, "play"):
                stops[:, j], accuracy[:, j] = rule.play(streams)
        return stops, accuracy

    def paid(self, members: Sequence[Any], streams: Streams, stops: np.ndarray) -> np.ndarray:
        paid = super().paid(members, streams, stops)
        for j, rule in enumerate(members):
            if hasattr(rule, "paid"):
                paid[:, j] = rule.paid(streams, stops[:, j])
        return paid


class LearnedPrior(TunedRules):
    """Bayesian stopping with a prior learned from training questions (Huang, Ma and Zhou 2026)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__([], **settings)

    def fit(self, responses: Responses, features: Any = None, groups: Any = None) -> LearnedPrior:
        largest_first = [
            np.sort(np.bincount(row[row >= 0], minlength=_PRIOR_ANSWERS))[::-1][:_PRIOR_ANSWERS]
            for row in responses.classes
        ]
        readable = (responses.classes >= 0).sum(axis=1, keepdims=True)
        shares = np.array(largest_first) / readable.clip(min=1)
        table = mode_holds(shares, min(int(self.schedule[-1]), responses.samples))
        settings = [Posterior(chance, cap, table) for chance in _MODE_CHANCES for cap in _CAPS]
        self.rules = [Fixed(1), *settings]
        super().fit(responses)
        return self


@dataclass(frozen=True)
class Published:
    """One rule as its authors use it, on at most 40 answers, whatever that costs."""

    rule: Rule

    def replay(self, responses: Responses) -> tuple[np.ndarray, np.ndarray]:
        """Return answers asked and accuracy of every question, averaged over the orders."""
        alone = TunedRules([self.rule])
        streams = alone.streams(responses, 1, REPLAYS)
        stops, accuracy = alone.play([self.rule], streams)
        paid = alone.paid([self.rule], streams, stops)
        return streams.mean(paid[:, 0]), streams.mean(accuracy[:, 0])

    def trial(
        self, train: Any, test: Any, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return one outcome at every target, for `adalib.held_out`: there is nothing to learn."""
        return [self.replay(test.answers)] * len(targets)


# By name: the rule of each family, the settings tried, and its authors' setting.
_FAMILIES: Mapping[str, tuple[Any, Sequence[float], float]] = {
    "margin": (Margin, range(1, 9), 3),
    "adaptive_consistency": (Confidence, (0.6, 0.8, 0.9, 0.95, 0.975, 0.99), 0.95),
    "esc": (Window, range(2, 9), 5),
    "ac_entropy": (Entropy, (0.2, 0.4, 0.5, 0.6, 0.75, 0.9), 0.75),
    "ac_majority": (Agreement, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9), 0.8),
    "ac_dirichlet": (Dirichlet, (0.5, 0.7, 0.8, 0.9, 0.95, 0.99), 0.95),
    "doubling": (Doubling, (0.55, 0.65, 0.75, 0.85, 0.95), 0.75),
}


def _capped(rule: Any, settings: Sequence[float], caps: Sequence[int] = _CAPS) -> list[Any]:
    """Return the rule at every setting, under every cap."""
    return [rule(setting, cap) for setting in settings for cap in caps]


#: The settings of every family that `TunedRules` chooses among.
PEERS: Mapping[str, Sequence[Rule]] = {
    **{name: _capped(rule, tried) for name, (rule, tried, _) in _FAMILIES.items()},
    "sprt": [
        ProbabilityRatio(error, cap, share)
        for error in (0.01, 0.05, 0.1, 0.2)
        for share in (0.55, 0.65, 0.8)
        for cap in _CAPS
    ],
}

#: Every family as its authors set it, with at most 40 answers.
PUBLISHED: Mapping[str, Rule] = {
    **{
        name: rule(authors_setting, 32 if rule is Doubling else 40)
        for name, (rule, _, authors_setting) in _FAMILIES.items()
    },
    "sprt": ProbabilityRatio(0.05, 40),
}

_ASKED = (2, 3, 4, 6, 8, 12, 16, 24, 40)  # answers of a rule that never stops early

#: Settings of votes by confidence, for files with log-probabilities.
CONFIDENT: Mapping[str, Sequence[Any]] = {
    "cisc": [
        Filtered(answers, 1.0, sharpness)
        for sharpness in (1.5, 3.0, 6.0, 12.0)
        for answers in _ASKED
    ],
    "deepconf": [Filtered(answers, keep, 6.0) for keep in (0.1, 0.9) for answers in _ASKED],
}

#: Rules of 2026, tuned as the others are.
NEWER: Mapping[str, Sequence[Any]] = {
    "two_agree": _capped(Agreeing, (2, 3, 4, 6)),
    "in_a_row": _capped(InARow, (2, 3, 4)),
    "gateway": _capped(Together, (0.8, 0.9, 0.95, 0.99), caps=(2, 4, 8, 16)),
}

#: Rules of 2026 that need log-probabilities.
NEWER_CONFIDENT: Mapping[str, Sequence[Any]] = {
    "uab": _capped(Coverage, np.geomspace(1e-4, 0.3, 14).tolist(), caps=(8, 16, 40)),
    "weitzman": _capped(Reservation, [float(np.log(p)) for p in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)]),
}

#: As their authors set them; the gateway's cap is left to its users.
NEWER_PUBLISHED = {
    "two_agree": Agreeing(2, 40),
    "in_a_row": InARow(2, 8),
    "gateway": Together(0.95, 8),
}
