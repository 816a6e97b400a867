"""Other people's stopping rules, as published and tuned to a budget.

Adaptive-Consistency stops when the leader looks safe, by one of four measures [1]_. ESC stops when
a whole window agrees [2]_. its_hub doubles the answers until three quarters agree. Wald's test
stops when the evidence for or against a majority is strong enough [3]_. CISC weights every vote by
how sure the model was of it [4]_, and DeepConf's offline rule also leaves out the least sure [5]_;
neither stops early. UAB plans after the first answer, by how sure that was [6]_. Huang et al. learn
a prior over votes [7]_.

References
----------
.. [1] Aggarwal et al. 2023. .. [2] Li et al. 2024. .. [3] Wald 1945. .. [4] Taubenfeld et al. 2025.
.. [5] Fu et al. 2025. .. [6] Nguyen et al. 2026. .. [7] Huang, Ma and Zhou 2026.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses
from adalib.sequential.replay import REPLAYS, Library
from adalib.sequential.rules import (
    Confidence,
    Fixed,
    Margin,
    Rule,
    Threshold,
    points_of,
    stopping_points,
)
from adalib.sequential.streams import Cost, Streams
from adalib.sequential.votes import Votes, count_votes, vote_weight
from adalib.solve.hull import concave_hull

__all__ = [
    "CONFIDENT",
    "NEWER",
    "NEWER_CONFIDENT",
    "NEWER_PUBLISHED",
    "PEERS",
    "PUBLISHED",
    "LearnedPrior",
    "Published",
    "TunedRules",
    "dirichlet_holds",
    "mode_holds",
]


class Agreement(Threshold):
    """Adaptive-Consistency's majority rule: stop when the leader has this share of the answers.

    It needs two answers or more.
    """

    def stops(self, votes: Votes) -> Any:
        read = votes.n - votes.empty
        return (read >= 2) & (votes.leader >= self.threshold * read * (1 - 1e-12)) | super().stops(
            votes
        )


class Agreeing(Threshold):
    """Stop when this many answers agree."""

    def stops(self, votes: Votes) -> Any:
        return (votes.leader >= self.threshold) | super().stops(votes)


class InARow(Threshold):
    """Stop when this many answers in a row agree.

    Two beat the learned policy in BranchPilot's report.
    """

    def stops(self, votes: Votes) -> Any:
        return (votes.run >= self.threshold) | super().stops(votes)


class Doubling(Threshold):
    """its_hub's adaptive rule: ask 2, 4, 8, ... in all until the leader has this share.

    The share is of readable answers.
    """

    def stops(self, votes: Votes) -> Any:
        n = np.asarray(votes.n, dtype=int)
        read = votes.n - votes.empty
        doubled = (n >= 2) & (n & (n - 1) == 0) & (read > 0)
        return doubled & (votes.leader >= self.threshold * read * (1 - 1e-12)) | super().stops(
            votes
        )


class Entropy(Threshold):
    """Adaptive-Consistency's entropy rule: stop when the votes' normalised entropy is this low."""

    def stops(self, votes: Votes) -> Any:
        # A single answer is compared with one vote for another, as in the authors' code.
        lonely = votes.distinct <= 1
        total = votes.n - votes.empty + lonely
        entropy = np.log(np.maximum(total, 1)) - votes.log_sum / np.maximum(total, 1)
        normal = entropy / np.log(np.maximum(votes.distinct + lonely, 2))
        return (votes.n - votes.empty >= 2) & (normal <= self.threshold + 1e-12) | super().stops(
            votes
        )


class Window(Threshold):
    """ESC: ask in windows of this many answers, and stop after one in which all are the same."""

    def stops(self, votes: Votes) -> Any:
        return (votes.n % self.threshold == 0) & (votes.run >= self.threshold) | super().stops(
            votes
        )


@dataclass(frozen=True)
class ProbabilityRatio(Threshold):
    """Wald's test of a leader's share, ``high`` against ``1 - high``, with this error rate."""

    high: float = 0.7

    def stops(self, votes: Votes) -> Any:
        evidence = (2 * votes.leader - votes.n + votes.empty) * np.log(self.high / (1 - self.high))
        return (
            np.abs(evidence) >= np.log((1 - self.threshold) / self.threshold) - 1e-12
        ) | super().stops(votes)


@dataclass(frozen=True)
class Filtered:
    """Ask ``answers`` times; the ``keep`` most confident vote, with this ``sharpness``.

    At least one votes.
    """

    answers: int
    keep: float
    sharpness: float

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        certainty = _field(streams)
        answers = min(self.answers, streams.classes.shape[1])
        stops = np.full(len(streams.classes), answers - 1)
        if self.keep >= 1:
            return stops, streams.votes(self.sharpness).value[:, answers - 1]
        certain = certainty[:, :answers]
        least = -np.sort(-certain, axis=1)[:, max(int(np.ceil(self.keep * answers)), 1) - 1]
        classes = np.where(certain >= least[:, None], streams.classes[:, :answers], -1)
        votes = count_votes(
            classes, streams.worth[:, :answers], vote_weight(self.sharpness, certain)
        )
        return stops, votes.value[:, -1]


def _field(
    streams: Streams, field: str = "logprob", in_words: str = "log-probabilities"
) -> np.ndarray:
    """Return a field of every answer; raise DataError if the file does not have it."""
    values = streams.read(field)
    if values is None:
        raise DataError(f'there are no {in_words}; add "{field}" to every line of the file')
    return values


class Together(Threshold):
    """its_hub's gateway with its Beta rule: ask ``cap`` answers at once, the shortest comes first.

    Past the threshold the others are cancelled. Each then costs the share that was written by then.
    """

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        order = _field(streams, "tokens", "tokens")[:, : self.cap].argsort(axis=1, kind="stable")
        votes = count_votes(
            *(np.take_along_axis(part, order, axis=1) for part in (streams.classes, streams.worth))
        )
        stops = stopping_points(Confidence(self.threshold), votes)
        return stops, votes.value[np.arange(len(stops)), stops]

    def paid(self, streams: Streams, stops: np.ndarray) -> np.ndarray:
        """Return the cost of every stream, in answers."""
        lengths = np.sort(np.maximum(_field(streams, "tokens", "tokens")[:, : self.cap], 1), axis=1)
        return np.minimum(lengths[np.arange(len(stops)), stops][:, None] / lengths, 1).sum(axis=1)


class Coverage(Threshold):
    """UAB as we read it: the first answer's mean token probability p is taken as its accuracy.

    One of n answers is then right with probability 1 - (1 - p)^n. Ask while the next answer adds
    more than the threshold.
    """

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        p = np.exp(_field(streams)[:, 0]).clip(1e-6, 1 - 1e-6)
        wanted = np.ceil(np.log(self.threshold / p) / np.log1p(-p)).clip(
            1, min(self.cap, streams.classes.shape[1])
        )
        stops = wanted.astype(int) - 1
        return stops, streams.votes().value[np.arange(len(stops)), stops]


class Reservation(Threshold):
    """Weitzman's rule for identical boxes: stop at an answer this certain; return the surest."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        certainty = np.where(streams.classes >= 0, _field(streams), -np.inf)
        best = np.maximum.accumulate(certainty, axis=1)
        enough = best >= self.threshold
        enough[:, min(self.cap, certainty.shape[1]) - 1 :] = True
        stops = enough.argmax(axis=1)
        rows = np.arange(len(certainty))
        opened = np.where(np.arange(certainty.shape[1]) <= stops[:, None], certainty, -np.inf)
        readable = np.isfinite(best[rows, stops])
        return stops, np.where(readable, streams.worth[rows, opened.argmax(axis=1)], 0.0)


@dataclass(frozen=True, eq=False)
class Posterior(Threshold):
    """Stop when the leader is the mode with this probability, looked up in a table.

    The table is by readable answers, votes of the leader and votes of the runner-up.
    """

    table: np.ndarray | None = None

    def stops(self, votes: Votes) -> Any:
        counts = (votes.n - votes.empty, votes.leader, votes.runner)
        index = tuple(np.asarray(count, dtype=int) for count in counts)
        return (self.table[index] >= self.threshold) | super().stops(votes)  # type: ignore[index]


def mode_holds(shares: ArrayLike, longest: int) -> np.ndarray:
    r"""Return the probability that a leader is the mode, from a prior, shape (T + 1, T + 1, T + 1).

    ``shares`` (N, K) are the shares of each question's answers, largest first. A leader with
    :math:`c_1` of n answers before a runner-up with :math:`c_2` has likelihood
    :math:`p_i^{c_1} p_j^{c_2} (1 - p_i - p_j)^{n - c_1 - c_2}`.
    """
    p = np.asarray(shares, dtype=float)
    n, leader, runner = np.indices((longest + 1,) * 3)
    sound = (leader >= runner) & (leader + runner <= n)
    c1 = leader[sound]
    c2 = runner[sound]
    rest = n[sound] - c1 - c2
    chances = np.zeros((2, sound.sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i, j in permutations(range(p.shape[1]), 2):
            logs = np.log(np.maximum([p[:, i], p[:, j], 1 - p[:, i] - p[:, j]], 1e-12))
            likelihood = np.exp(np.array([c1, c2, rest]).T @ logs).sum(axis=1)
            chances += np.array([[i == 0], [True]]) * likelihood
        table = np.zeros(sound.shape)
        table[sound] = np.nan_to_num(chances[0] / chances[1])
    return table


class Dirichlet(Threshold):
    """Stop when the leader is the most frequent of five leading answers with this probability."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        stops = _chances(streams) >= self.threshold
        stops[:, min(self.cap, stops.shape[1]) - 1 :] = True
        first = stops.argmax(axis=1)
        return first, streams.votes().value[np.arange(len(first)), first]


def dirichlet_holds(states: ArrayLike) -> np.ndarray:
    r"""Return the probability that the leader is the most frequent, from a flat Dirichlet prior.

    Each row of ``states`` has the votes :math:`c_1 \ge c_2 \ge \dots`; the probability is
    :math:`\int g_{c_1 + 1}(x) \prod_{i > 1} G_{c_i + 1}(x)\, dx`, by independent gamma variables.
    From the third on, 0 votes mean no answer; two answers alone are the Beta rule.
    """
    from scipy.special import gammainc, gammaln  # here, because a server has no scipy

    leader, runner, *others = np.asarray(states, dtype=int).T
    most = int(leader.max(initial=0))
    x = np.linspace(0, most + 13 + 12 * np.sqrt(most + 1), 1601)
    count = np.arange(most + 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.exp(np.where(count > 0, count * np.log(x), 0.0) - x - gammaln(count + 1))
    below = gammainc(count + 1, x)
    inside = density[leader] * below[runner]
    for rival in others:
        inside *= np.where(rival[:, None] > 0, below[rival], 1.0)
    return np.trapezoid(inside, x, axis=1)


@lru_cache(maxsize=8)
def _chances(streams: Streams) -> np.ndarray:
    """Return the probability after every answer, (M, T); equal states are computed once."""
    m, t = streams.classes.shape
    top = 5
    held = np.zeros((m, max(int(streams.classes.max(initial=0)) + 1, top)), dtype=np.int64)
    codes = np.empty((m, t), dtype=np.int64)
    rows = np.arange(m)
    digits = (t + 1) ** np.arange(top)
    for step, own in enumerate(streams.classes.T):
        held[rows, np.maximum(own, 0)] += own >= 0
        codes[:, step] = np.sort(np.partition(held, -top, axis=1)[:, -top:], axis=1) @ digits
    unique, where = np.unique(codes, return_inverse=True)
    return dirichlet_holds((unique[:, None] // digits[::-1]) % (t + 1))[where.reshape(m, t)]


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
        votes = [
            np.sort(np.bincount(row[row >= 0], minlength=_TOP))[: -_TOP - 1 : -1]
            for row in responses.classes
        ]
        shares = np.array(votes) / (responses.classes >= 0).sum(axis=1, keepdims=True).clip(min=1)
        table = mode_holds(shares, min(int(self.schedule[-1]), responses.samples))
        self.rules = [Fixed(1), *(Posterior(x, cap, table) for x in _SURE for cap in _CAPS)]
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


_CAPS = (4, 8, 16, 24, 40)
_TOP = 4
_SURE = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# The rule of each family, the settings tried, and its authors' setting.
_FAMILIES: Mapping[str, tuple[Any, Sequence[float], float]] = {
    "margin": (Margin, range(1, 9), 3),
    "adaptive_consistency": (Confidence, (0.6, 0.8, 0.9, 0.95, 0.975, 0.99), 0.95),
    "esc": (Window, range(2, 9), 5),
    "ac_entropy": (Entropy, (0.2, 0.4, 0.5, 0.6, 0.75, 0.9), 0.75),
    "ac_majority": (Agreement, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9), 0.8),
    "ac_dirichlet": (Dirichlet, (0.5, 0.7, 0.8, 0.9, 0.95, 0.99), 0.95),
    "doubling": (Doubling, (0.55, 0.65, 0.75, 0.85, 0.95), 0.75),
}

#: The settings of every family that `TunedRules` chooses among.
PEERS: Mapping[str, Sequence[Rule]] = {
    **{
        name: [rule(x, cap) for x in tried for cap in _CAPS]
        for name, (rule, tried, _) in _FAMILIES.items()
    },
    "sprt": [
        ProbabilityRatio(e, cap, p)
        for e in (0.01, 0.05, 0.1, 0.2)
        for p in (0.55, 0.65, 0.8)
        for cap in _CAPS
    ],
}

#: Every family as its authors set it, with at most 40 answers.
PUBLISHED: Mapping[str, Rule] = {
    **{
        name: rule(own, 32 if rule is Doubling else 40)
        for name, (rule, _, own) in _FAMILIES.items()
    },
    "sprt": ProbabilityRatio(0.05, 40),
}

_ASKED = (2, 3, 4, 6, 8, 12, 16, 24, 40)

#: Settings of votes by confidence, for files with log-probabilities.
CONFIDENT: Mapping[str, Sequence[Any]] = {
    "cisc": [Filtered(b, 1.0, sharpness) for sharpness in (1.5, 3.0, 6.0, 12.0) for b in _ASKED],
    "deepconf": [Filtered(b, keep, 6.0) for keep in (0.1, 0.9) for b in _ASKED],
}

#: Rules of 2026, tuned as the others are; the second mapping needs log-probabilities.
NEWER: Mapping[str, Sequence[Any]] = {
    "two_agree": [Agreeing(k, cap) for k in (2, 3, 4, 6) for cap in _CAPS],
    "in_a_row": [InARow(k, cap) for k in (2, 3, 4) for cap in _CAPS],
    "gateway": [Together(x, cap) for x in (0.8, 0.9, 0.95, 0.99) for cap in (2, 4, 8, 16)],
}
NEWER_CONFIDENT: Mapping[str, Sequence[Any]] = {
    "uab": [Coverage(float(x), cap) for x in np.geomspace(1e-4, 0.3, 14) for cap in (8, 16, 40)],
    "weitzman": [
        Reservation(float(np.log(x)), cap)
        for x in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
        for cap in _CAPS
    ],
}

#: As their authors set them; the gateway's cap is left to its users.
NEWER_PUBLISHED = {
    "two_agree": Agreeing(2, 40),
    "in_a_row": InARow(2, 8),
    "gateway": Together(0.95, 8),
}
