"""Plain stopping rules, ours and other people's: stop at the first moment when ..., tuned to a budget.

Adaptive-Consistency (Aggarwal et al. 2023) stops when the leader looks safe, by one of four measures; ESC (Li et al.
2024) when a whole window agrees; its_hub doubles the answers until three quarters agree; Wald's test (1945) when the
evidence for or against a majority is strong enough. CISC (Taubenfeld et al. 2025) weighs every vote by how sure the
model was of it, DeepConf's offline rule (Fu et al. 2025) also leaves out the least sure; neither stops early. UAB
(Nguyen et al. 2026) plans after the first answer, by how sure that was; Huang et al. (2026) learn a prior of votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import permutations
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammainc, gammaln

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses
from adalib.sequential.streams import REPLAYS, Library, Streams, Votes, corners, count_votes, weight_of

__all__ = ["CONFIDENT", "Confidence", "Fixed", "Margin", "NEVER", "NEWER", "NEWER_CONFIDENT", "NEWER_PUBLISHED"]
__all__ += ["PEERS", "PUBLISHED", "LearnedPrior", "Published", "Rule", "TunedRules", "leader_holds", "mode_holds"]
__all__ += ["points_of", "stopping_points"]

#: More answers than anybody asks: a rule without a cap.
NEVER = 10**9
#: P(p > 1/2 | a, b) from a flat prior, for every pair of counts: rules ask for the same few thousand times.
_HOLDS = 1 - betainc(*(np.indices((256, 256)) + 1.0), 0.5)


def leader_holds(leader: ArrayLike, runner: ArrayLike) -> np.ndarray:
    """Probability that of the two leading answers, with fewer than 256 votes each, the first is the more frequent."""
    return _HOLDS[np.asarray(leader, dtype=int), np.asarray(runner, dtype=int)]


class Rule(Protocol):
    """Anything that can say when to stop: a frozen dataclass, so that equal rules are played once.

    One that votes in its own way has ``play(streams)``: the column where each stream stops, and what its vote is worth.
    """

    def stops(self, votes: Votes) -> Any:
        """Whether to stop at each moment, of the shape of the votes."""


@dataclass(frozen=True)
class Fixed:
    """Ask ``answers`` times, whatever comes."""

    answers: int

    def stops(self, votes: Votes) -> Any:
        return votes.n >= self.answers


@dataclass(frozen=True)
class Margin:
    """Stop when the leader is ``lead`` votes ahead, at ``cap`` answers, or when all of ``patience`` answers differ."""

    lead: float
    cap: int = NEVER
    patience: int = NEVER

    def stops(self, votes: Votes) -> Any:
        hopeless = (votes.n >= self.patience) & (votes.leader < 2)
        return (votes.leader - votes.runner >= self.lead) | (votes.n >= self.cap) | hopeless


@dataclass(frozen=True)
class Threshold:
    """Stop when some measure of the votes is past a threshold, which is another matter each time, or at the cap."""

    threshold: float
    cap: int = NEVER

    def stops(self, votes: Votes) -> Any:
        return votes.n >= self.cap


class Confidence(Threshold):
    """Stop when the leader would keep its lead over the runner-up with this probability, by `leader_holds`."""

    def stops(self, votes: Votes) -> Any:
        return (leader_holds(votes.leader, votes.runner) >= self.threshold) | super().stops(votes)


class Agreement(Threshold):
    """Adaptive-Consistency's majority rule: stop when the leader has this share of the answers, from two on."""

    def stops(self, votes: Votes) -> Any:
        read = votes.n - votes.empty
        return (read >= 2) & (votes.leader >= self.threshold * read * (1 - 1e-12)) | super().stops(votes)


class Agreeing(Threshold):
    """Stop when so many answers agree."""

    def stops(self, votes: Votes) -> Any:
        return (votes.leader >= self.threshold) | super().stops(votes)


class InARow(Threshold):
    """Stop when so many answers in a row agree: two of them beat the learned policy of BranchPilot's own report."""

    def stops(self, votes: Votes) -> Any:
        return (votes.run >= self.threshold) | super().stops(votes)


class Doubling(Threshold):
    """its_hub's adaptive rule: ask 2, 4, 8, ... in all, and stop when the leader has this share of what was read."""

    def stops(self, votes: Votes) -> Any:
        n, read = np.asarray(votes.n, dtype=int), votes.n - votes.empty
        doubled = (n >= 2) & (n & (n - 1) == 0) & (read > 0)
        return doubled & (votes.leader >= self.threshold * read * (1 - 1e-12)) | super().stops(votes)


class Entropy(Threshold):
    """Adaptive-Consistency's entropy rule: stop when the normalised entropy of the votes is this low, from two on."""

    def stops(self, votes: Votes) -> Any:
        lonely = votes.distinct <= 1  # an answer that stands alone is compared with one vote for another
        total = votes.n - votes.empty + lonely
        entropy = np.log(np.maximum(total, 1)) - votes.log_sum / np.maximum(total, 1)
        normal = entropy / np.log(np.maximum(votes.distinct + lonely, 2))
        return (votes.n - votes.empty >= 2) & (normal <= self.threshold + 1e-12) | super().stops(votes)


class Window(Threshold):
    """ESC: ask in windows of this many answers, and stop after one in which all are the same."""

    def stops(self, votes: Votes) -> Any:
        return (votes.n % self.threshold == 0) & (votes.run >= self.threshold) | super().stops(votes)


@dataclass(frozen=True)
class ProbabilityRatio(Threshold):
    """Wald's test: has the leader a share of ``high`` or of ``1 - high``? Stop when the wrong side is this unlikely."""

    high: float = 0.7

    def stops(self, votes: Votes) -> Any:
        evidence = (2 * votes.leader - votes.n + votes.empty) * np.log(self.high / (1 - self.high))
        return (np.abs(evidence) >= np.log((1 - self.threshold) / self.threshold) - 1e-12) | super().stops(votes)


@dataclass(frozen=True)
class Filtered:
    """Ask ``answers`` times; the ``keep`` most confident of them vote (one at least), with this ``sharpness``."""

    answers: int
    keep: float
    sharpness: float

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        told = _told(streams)
        answers = min(self.answers, streams.classes.shape[1])
        stops = np.full(len(streams.classes), answers - 1)
        if self.keep >= 1:
            return stops, streams.votes(self.sharpness).value[:, answers - 1]
        certain = told[:, :answers]
        least = -np.sort(-certain, axis=1)[:, max(int(np.ceil(self.keep * answers)), 1) - 1]
        classes = np.where(certain >= least[:, None], streams.classes[:, :answers], -1)
        votes = count_votes(classes, streams.worth[:, :answers], weight_of(self.sharpness, certain))
        return stops, votes.value[:, -1]


def _told(streams: Streams, field: str = "logprob", called: str = "log-probabilities") -> np.ndarray:
    told = streams.read(field)
    if told is None:
        raise DataError(f'there are no {called}; add "{field}" to every line of the file')
    return told


class Together(Threshold):
    """its_hub's gateway by its Beta rule: ``cap`` answers are asked at once, and the shortest comes first.

    Past the threshold the others are cancelled, each at the price of the share of it that was written by then.
    """

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        order = _told(streams, "tokens", "tokens")[:, : self.cap].argsort(axis=1, kind="stable")
        votes = count_votes(*(np.take_along_axis(part, order, axis=1) for part in (streams.classes, streams.worth)))
        stops = stopping_points(Confidence(self.threshold), votes)
        return stops, votes.value[np.arange(len(stops)), stops]

    def paid(self, streams: Streams, stops: np.ndarray) -> np.ndarray:
        """What every stream costs, in answers."""
        lengths = np.sort(np.maximum(_told(streams, "tokens", "tokens")[:, : self.cap], 1), axis=1)
        return np.minimum(lengths[np.arange(len(stops)), stops][:, None] / lengths, 1).sum(axis=1)


class Coverage(Threshold):
    """UAB as we read it: an answer is right with the first one's mean token probability p, says the planner.

    One of n right ones is then there with chance 1 - (1 - p)^n; ask while the next adds more than the threshold.
    """

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        p = np.exp(_told(streams)[:, 0]).clip(1e-6, 1 - 1e-6)
        wanted = np.ceil(np.log(self.threshold / p) / np.log1p(-p)).clip(1, min(self.cap, streams.classes.shape[1]))
        stops = wanted.astype(int) - 1
        return stops, streams.votes().value[np.arange(len(stops)), stops]


class Reservation(Threshold):
    """Weitzman's rule for boxes that are all alike: stop at an answer this certain, and give the most certain one."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        told = np.where(streams.classes >= 0, _told(streams), -np.inf)
        best = np.maximum.accumulate(told, axis=1)
        enough = best >= self.threshold
        enough[:, min(self.cap, told.shape[1]) - 1 :] = True
        stops, rows = enough.argmax(axis=1), np.arange(len(told))
        opened = np.where(np.arange(told.shape[1]) <= stops[:, None], told, -np.inf)
        return stops, np.where(np.isfinite(best[rows, stops]), streams.worth[rows, opened.argmax(axis=1)], 0.0)


@dataclass(frozen=True, eq=False)
class Posterior(Threshold):
    """Stop when the leader is the mode with this probability, by a table over answers read, leader and runner-up."""

    table: np.ndarray | None = None

    def stops(self, votes: Votes) -> Any:
        counts = (np.asarray(part, dtype=int) for part in (votes.n - votes.empty, votes.leader, votes.runner))
        return (self.table[tuple(counts)] >= self.threshold) | super().stops(votes)  # type: ignore[index]


def mode_holds(shares: ArrayLike, longest: int) -> np.ndarray:
    r"""How likely the leader of a vote is the mode, from a prior of questions: shape (T + 1, T + 1, T + 1).

    ``shares`` (N, K) are of each question's answers, largest first; one that leads with :math:`c_1` of n answers before
    a runner-up with :math:`c_2` has likelihood :math:`p_i^{c_1} p_j^{c_2} (1 - p_i - p_j)^{n - c_1 - c_2}`.
    """
    p = np.asarray(shares, dtype=float)
    n, leader, runner = np.indices((longest + 1,) * 3)
    sound = (leader >= runner) & (leader + runner <= n)
    c1, c2 = leader[sound], runner[sound]
    rest, chances = n[sound] - c1 - c2, np.zeros((2, sound.sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i, j in permutations(range(p.shape[1]), 2):
            logs = np.log(np.maximum([p[:, i], p[:, j], 1 - p[:, i] - p[:, j]], 1e-12))
            likelihood = np.exp(np.array([c1, c2, rest]).T @ logs).sum(axis=1)
            chances += np.array([[i == 0], [True]]) * likelihood
        table = np.zeros(sound.shape)
        table[sound] = np.nan_to_num(chances[0] / chances[1])
    return table


class Dirichlet(Threshold):
    """Stop when the leader is the most frequent of the five leading answers with this probability, not of two alone."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        stops = _chances(streams) >= self.threshold
        stops[:, min(self.cap, stops.shape[1]) - 1 :] = True
        first = stops.argmax(axis=1)
        return first, streams.votes().value[np.arange(len(first)), first]


def dirichlet_holds(states: ArrayLike) -> np.ndarray:
    r"""Probability that the leading answer is the most frequent, from a flat Dirichlet prior; a state is a row.

    With :math:`c_1 \ge c_2 \ge \dots` votes it is :math:`\int g_{c_1 + 1}(x) \prod_{i > 1} G_{c_i + 1}(x)\, dx`, by
    independent gamma variables. From the third on, 0 votes are nobody; two answers alone are the Beta rule.
    """
    leader, runner, *others = np.asarray(states, dtype=int).T
    most = int(leader.max(initial=0))
    x, count = np.linspace(0, most + 13 + 12 * np.sqrt(most + 1), 1601), np.arange(most + 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.exp(np.where(count > 0, count * np.log(x), 0.0) - x - gammaln(count + 1))
    below = gammainc(count + 1, x)
    inside = density[leader] * below[runner]
    for rival in others:
        inside *= np.where(rival[:, None] > 0, below[rival], 1.0)
    return np.trapezoid(inside, x, axis=1)


@lru_cache(maxsize=8)
def _chances(streams: Streams) -> np.ndarray:
    """The probability after every answer of every stream, shape (M, T); states repeat, and each is computed once."""
    (m, t), top = streams.classes.shape, 5
    held = np.zeros((m, max(int(streams.classes.max(initial=0)) + 1, top)), dtype=np.int64)
    codes = np.empty((m, t), dtype=np.int64)
    rows, digits = np.arange(m), (t + 1) ** np.arange(top)
    for step, own in enumerate(streams.classes.T):
        held[rows, np.maximum(own, 0)] += own >= 0
        codes[:, step] = np.sort(np.partition(held, -top, axis=1)[:, -top:], axis=1) @ digits
    unique, where = np.unique(codes, return_inverse=True)
    return dirichlet_holds((unique[:, None] // digits[::-1]) % (t + 1))[where.reshape(m, t)]


def stopping_points(rule: Rule, votes: Votes) -> np.ndarray:
    """The column at which every stream stops, shape (M,): the first that the rule allows, else the last."""
    stops = np.array(rule.stops(votes))
    stops[:, -1] = True
    return stops.argmax(axis=1)


def points_of(rules: Sequence[Any], votes: Votes) -> np.ndarray:
    """Where each of many rules stops every stream, shape (M, rules); those that differ by a cap are played once."""
    # A cap, and giving up, only cut short what the same rule does without them: the earliest of the three counts.
    played = cache(lambda rule: stopping_points(rule, votes))
    points = np.empty((len(votes.n), len(rules)), dtype=np.int16)
    for j, rule in enumerate(rules):
        cuts = {name: NEVER for name in ("cap", "patience") if hasattr(rule, name)}
        first = np.minimum(played(replace(rule, **cuts)), np.searchsorted(votes.n[0], getattr(rule, "cap", NEVER)))
        if getattr(rule, "patience", NEVER) < NEVER:
            first = np.minimum(first, played(Margin(np.inf, patience=rule.patience)))
        points[:, j] = first
    return points


class TunedRules(Library):
    """A family of plain rules, tuned on training questions to any budget: the envelope over its settings.

    A rule that cannot spend so little is mixed with asking once. Explained in chapter 9, "When to stop".

    Parameters
    ----------
    rules : sequence of Rule
    limit, repeats, seed : int
        Most answers asked; the others as for `PricedStopping`.

    Examples
    --------
    >>> from adalib import beta_population
    >>> teach, score = beta_population(60, 1.5, 1.5).sample(24).split_samples(0)
    >>> TunedRules(PEERS["margin"]).fit(teach).replay(score, [1.0]).answers.mean().item()
    1.0
    """

    def __init__(self, rules: Sequence[Any], *, limit: int = 40, repeats: int = 16, seed: int = 0) -> None:
        self.rules: list[Any] = [Fixed(1), *rules]
        self.schedule, self.repeats, self.seed = np.arange(1, limit + 1), repeats, seed

    def fit(self, responses: Responses, features: Any = None, groups: Any = None) -> TunedRules:
        """Learn what every setting costs and brings; neither ``features`` nor ``groups`` are looked at."""
        streams = self.streams(responses, self.seed, self.repeats)
        stops, worth = self.play(self.rules, streams)
        cost, accuracy = self.paid(self.rules, streams, stops).mean(axis=0), worth.mean(axis=0)
        best = corners(cost, accuracy)
        self.members, self.costs, self.accuracies = [self.rules[i] for i in best], cost[best], accuracy[best]
        return self

    def play(self, members: Sequence[Any], streams: Streams, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        votes, shape = streams.votes(), (len(streams.question), len(members))
        stops, worth = np.zeros(shape, dtype=int), np.zeros(shape)
        plain = [j for j, rule in enumerate(members) if not hasattr(rule, "play")]
        stops[:, plain] = points_of([members[j] for j in plain], votes)
        worth[:, plain] = np.take_along_axis(votes.value, stops[:, plain], axis=1)
        for j, rule in enumerate(members):
            if hasattr(rule, "play"):
                stops[:, j], worth[:, j] = rule.play(streams)
        return stops, worth

    def paid(self, members: Sequence[Any], streams: Streams, stops: np.ndarray) -> np.ndarray:
        paid = super().paid(members, streams, stops)
        for j, rule in enumerate(members):
            if hasattr(rule, "paid"):
                paid[:, j] = rule.paid(streams, stops[:, j])
        return paid


class LearnedPrior(TunedRules):
    """Bayesian stopping with a prior that training questions teach (Huang, Ma and Zhou 2026): three counts suffice."""

    def __init__(self, **how: int) -> None:
        super().__init__([], **how)

    def fit(self, responses: Responses, features: Any = None, groups: Any = None) -> LearnedPrior:
        votes = [np.sort(np.bincount(row[row >= 0], minlength=_TOP))[: -_TOP - 1 : -1] for row in responses.classes]
        shares = np.array(votes) / (responses.classes >= 0).sum(axis=1, keepdims=True).clip(min=1)
        table = mode_holds(shares, min(int(self.schedule[-1]), responses.samples))
        self.rules = [Fixed(1), *(Posterior(x, cap, table) for x in _SURE for cap in _CAPS)]
        super().fit(responses)
        return self


@dataclass(frozen=True)
class Published:
    """One rule as its authors use it, on at most 40 answers: it spends what it spends, whatever is asked for."""

    rule: Rule

    def replay(self, responses: Responses) -> tuple[np.ndarray, np.ndarray]:
        """Answers asked and accuracy of every question, averaged over the orders."""
        alone = TunedRules([self.rule])
        streams = alone.streams(responses, 1, REPLAYS)
        stops, worth = alone.play([self.rule], streams)
        return streams.mean(alone.paid([self.rule], streams, stops)[:, 0]), streams.mean(worth[:, 0])

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """The same at every target, for `adalib.held_out`: there is nothing to learn."""
        return [self.replay(test.answers)] * len(targets)


_CAPS = (4, 8, 16, 24, 40)
_TOP, _SURE = 4, (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_FAMILIES: Mapping[str, tuple[Any, Sequence[float], float]] = {  # the rule, its settings, and that of its authors
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
    **{name: [rule(x, cap) for x in tried for cap in _CAPS] for name, (rule, tried, _) in _FAMILIES.items()},
    "sprt": [ProbabilityRatio(e, cap, p) for e in (0.01, 0.05, 0.1, 0.2) for p in (0.55, 0.65, 0.8) for cap in _CAPS],
}

#: Every family as its authors set it: thresholds and windows of the papers and packages, at most 40 answers.
PUBLISHED: Mapping[str, Rule] = {
    **{name: rule(own, 32 if rule is Doubling else 40) for name, (rule, _, own) in _FAMILIES.items()},
    "sprt": ProbabilityRatio(0.05, 40),
}

_ASKED = (2, 3, 4, 6, 8, 12, 16, 24, 40)

#: The same for votes by confidence, of files with log-probabilities.
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
    "weitzman": [Reservation(float(np.log(x)), cap) for x in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98) for cap in _CAPS],
}

#: As their authors set them, but that the gateway's budget, its cap, is for its users to say.
NEWER_PUBLISHED = {"two_agree": Agreeing(2, 40), "in_a_row": InARow(2, 8), "gateway": Together(0.95, 8)}
