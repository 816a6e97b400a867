r"""Other people's stopping rules, one class each, as their authors describe them.

Adaptive-Consistency stops when the leader looks safe, by one of four measures [1]_. ESC stops when
a whole window agrees [2]_. its_hub doubles the answers until three quarters agree. Wald's test
stops when the evidence for or against a majority is strong enough [3]_. CISC weights every vote by
how sure the model was of it [4]_, and DeepConf's offline rule also leaves out the least sure [5]_;
neither stops early. CGES adds such weights up to a posterior, and stops by it [8]_. UAB plans after
the first answer, by how sure that was [6]_. Huang et al. learn a prior over votes [7]_.

A rule either looks at the votes (``stops``) or plays whole streams in its own way: ``play`` returns
the column where each stream stops and the accuracy of its vote, and ``paid`` what it costs.
`record_stopping.py` and `record_rivals.py` play them. Three of the families are in
`adalib.sequential.published_rules` as well, since `adalib.held_out` compares with them.

References
----------
.. [1] Aggarwal et al. 2023. .. [2] Li et al. 2024. .. [3] Wald 1945. .. [4] Taubenfeld et al. 2025.
.. [5] Fu et al. 2025. .. [6] Nguyen et al. 2026. .. [7] Huang, Ma and Zhou 2026.
.. [8] Aghazadeh et al. 2025.
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
from adalib.sequential.published_rules import CAPS, TunedRules, Window
from adalib.sequential.replay import REPLAYS
from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, Threshold, stopping_points
from adalib.sequential.streams import Streams
from adalib.sequential.votes import Votes, count_votes, vote_weight

_ALMOST = 1 - 1e-12  # so that a share which is rounded down still reaches its threshold
_MODE_CHANCES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # thresholds of `LearnedPrior`
_PRIOR_ANSWERS = 4  # most frequent answers that its prior describes
_DIRICHLET_ANSWERS = 5  # leading answers that Adaptive-Consistency's Dirichlet rule compares


class Agreement(Threshold):
    """Adaptive-Consistency's majority rule: stop when the leader has this share of the answers.

    It needs two answers or more.
    """

    def stops(self, votes: Votes) -> Any:
        enough = votes.leader >= self.threshold * votes.readable * _ALMOST
        return ((votes.readable >= 2) & enough) | super().stops(votes)


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
        power_of_two = (n >= 2) & (n & (n - 1) == 0)
        enough = votes.leader >= self.threshold * votes.readable * _ALMOST
        return (power_of_two & (votes.readable > 0) & enough) | super().stops(votes)


class Entropy(Threshold):
    """Adaptive-Consistency's entropy rule: stop when the votes' normalised entropy is this low."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        return _closed(_entropies(streams) <= self.threshold + 1e-12, self.cap, streams)


def normalised_entropy(votes: Votes, log_sum: np.ndarray) -> np.ndarray:
    """Return the entropy of votes whose c log c add up to ``log_sum``; infinite below two votes."""
    # A single answer is compared with one vote for another, as in the authors' code.
    alone = votes.distinct <= 1
    total = np.maximum(votes.readable + alone, 1)
    entropy = np.log(total) - log_sum / total
    largest_entropy = np.log(np.maximum(votes.distinct + alone, 2))
    return np.where(votes.readable >= 2, entropy / largest_entropy, np.inf)


@lru_cache(maxsize=8)
def _entropies(streams: Streams) -> np.ndarray:
    """Return the normalised entropy of the votes after every answer, (M, T)."""
    classes = streams.classes
    counts = np.arange(classes.shape[1] + 1)
    added = np.diff(counts * np.log(np.maximum(counts, 1)))  # to c log c by the next vote
    earlier = np.tril(classes[:, :, None] == classes[:, None, :], -1).sum(axis=2)
    log_sum = np.where(classes >= 0, added[earlier], 0.0).cumsum(axis=1)
    return normalised_entropy(streams.votes(), log_sum)


def _closed(stops: np.ndarray, cap: int, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
    """Return where streams stop first, at the cap at the latest, and the accuracy of the vote."""
    stops[:, min(cap, stops.shape[1]) - 1 :] = True
    first = stops.argmax(axis=1)
    return first, streams.votes().value[np.arange(len(first)), first]


@dataclass(frozen=True)
class ProbabilityRatio(Threshold):
    """Wald's test of a leader's share, ``high`` against ``1 - high``, with this error rate."""

    high: float = 0.7

    def stops(self, votes: Votes) -> Any:
        for_leader = 2 * votes.leader - votes.n + votes.empty  # less the votes against it
        evidence = for_leader * np.log(self.high / (1 - self.high))
        needed = np.log((1 - self.threshold) / self.threshold) - 1e-12
        return (np.abs(evidence) >= needed) | super().stops(votes)


@dataclass(frozen=True)
class Filtered:
    """Ask ``answers`` times; the ``keep`` most confident vote, with this ``sharpness``.

    ``keep`` is a share of the answers, and at least one votes.
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
        voting = max(int(np.ceil(self.keep * answers)), 1)
        most_certain_first = -np.sort(-certain, axis=1)
        least = most_certain_first[:, voting - 1]
        classes = np.where(certain >= least[:, None], streams.classes[:, :answers], -1)
        weights = vote_weight(self.sharpness, certain)
        votes = count_votes(classes, streams.worth[:, :answers], weights)
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
        lengths = _field(streams, "tokens", "tokens")[:, : self.cap]
        order = lengths.argsort(axis=1, kind="stable")
        classes = np.take_along_axis(streams.classes, order, axis=1)
        worth = np.take_along_axis(streams.worth, order, axis=1)
        votes = count_votes(classes, worth)
        stops = stopping_points(Confidence(self.threshold), votes)
        return stops, votes.value[np.arange(len(stops)), stops]

    def paid(self, streams: Streams, stops: np.ndarray) -> np.ndarray:
        """Return the cost of every stream, in answers."""
        lengths = np.sort(np.maximum(_field(streams, "tokens", "tokens")[:, : self.cap], 1), axis=1)
        written = lengths[np.arange(len(stops)), stops][:, None]
        return np.minimum(written / lengths, 1).sum(axis=1)


class Believed(Threshold):
    """CGES as we read it: stop once an answer has this posterior probability, and return it.

    An answer's mean token probability c is taken as the chance that it is right. If another one of
    d is right, it came with chance (1 - c) / d. Here d counts the distinct answers so far, less the
    right one, plus one that has not come yet.
    """

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        chance, worth = _beliefs(streams)
        enough = chance >= self.threshold
        enough[:, min(self.cap, chance.shape[1]) - 1 :] = True
        stops = enough.argmax(axis=1)
        return stops, worth[np.arange(len(stops)), stops]


@lru_cache(maxsize=8)
def _beliefs(streams: Streams) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior probability of the likeliest answer after each, and its worth, (M, T).

    Against an answer that has not come, one that came n times has the log odds n log d plus the sum
    of its log(c / (1 - c)).
    """
    c = np.exp(_field(streams)).clip(1e-6, 1 - 1e-6)
    odds = np.log(c / (1 - c))
    streams_count, steps = streams.classes.shape
    shape = streams_count, max(int(streams.classes.max(initial=0)), 0) + 1
    votes, evidence, worth = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    rows = np.arange(streams_count)
    chance, of_best = np.zeros((2, streams_count, steps))
    for step, own in enumerate(streams.classes.T):
        seen, came = own >= 0, np.maximum(own, 0)
        votes[rows, came] += seen
        evidence[rows, came] += seen * odds[:, step]
        worth[rows, came] = np.where(seen, streams.worth[:, step], worth[rows, came])
        distinct = (votes > 0).sum(axis=1, keepdims=True).clip(min=1)
        log_odds = np.where(votes > 0, votes * np.log(distinct) + evidence, -np.inf)
        best = log_odds.argmax(axis=1)
        top = log_odds[rows, best].clip(min=0)  # an answer that has not come has log odds 0
        total = np.exp(-top) + np.exp(log_odds - top[:, None]).sum(axis=1)
        chance[:, step] = np.exp(log_odds[rows, best] - top) / total
        of_best[:, step] = worth[rows, best]
    return chance, of_best


class Coverage(Threshold):
    """UAB as we read it: the first answer's mean token probability p is taken as its accuracy.

    One of n answers is then right with probability 1 - (1 - p)^n. Ask while the next answer adds
    more than the threshold.
    """

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        p = np.exp(_field(streams)[:, 0]).clip(1e-6, 1 - 1e-6)
        # Answer n + 1 adds p (1 - p)^n, which falls to the threshold at this n.
        wanted = np.ceil(np.log(self.threshold / p) / np.log1p(-p))
        most = min(self.cap, streams.classes.shape[1])
        stops = wanted.clip(1, most).astype(int) - 1
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
        asked = np.arange(certainty.shape[1]) <= stops[:, None]
        surest = np.where(asked, certainty, -np.inf).argmax(axis=1)
        readable = np.isfinite(best[rows, stops])
        return stops, np.where(readable, streams.worth[rows, surest], 0.0)


@dataclass(frozen=True, eq=False)
class Posterior(Threshold):
    """Stop when the leader is the mode with this probability, looked up in a table.

    The table is by readable answers, votes of the leader and votes of the runner-up, as
    `mode_holds` returns it.
    """

    table: np.ndarray | None = None

    def stops(self, votes: Votes) -> Any:
        counts = (votes.readable, votes.leader, votes.runner)
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
    possible = (leader >= runner) & (leader + runner <= n)
    first = leader[possible]
    second = runner[possible]
    rest = n[possible] - first - second
    counts = np.array([first, second, rest]).T
    leader_is_mode = np.zeros(len(counts))
    all_cases = np.zeros(len(counts))
    for i, j in permutations(range(p.shape[1]), 2):
        # The leader may be any answer i and the runner-up any other j; answer 0 is the mode.
        logs = np.log(np.maximum([p[:, i], p[:, j], 1 - p[:, i] - p[:, j]], 1e-12))
        likelihood = np.exp(counts @ logs).sum(axis=1)
        all_cases += likelihood
        if i == 0:
            leader_is_mode += likelihood
    table = np.zeros(possible.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        table[possible] = np.nan_to_num(leader_is_mode / all_cases)
    return table


class Dirichlet(Threshold):
    """Stop when the leader is the most frequent of five leading answers with this probability."""

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        return _closed(_dirichlet_chances(streams) >= self.threshold, self.cap, streams)


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
    integrand = density[leader] * below[runner]
    for rival in others:
        integrand *= np.where(rival[:, None] > 0, below[rival], 1.0)
    return np.trapezoid(integrand, x, axis=1)


@lru_cache(maxsize=8)
def _dirichlet_chances(streams: Streams) -> np.ndarray:
    """Return `dirichlet_holds` after every answer, (M, T).

    A state is the votes of the leading answers. It is packed into one whole number, whose digits in
    base T + 1 are those votes, so that equal states are found and computed once.
    """
    streams_count, steps = streams.classes.shape
    top = _DIRICHLET_ANSWERS
    classes = max(int(streams.classes.max(initial=0)) + 1, top)
    votes = np.zeros((streams_count, classes), dtype=np.int64)
    packed = np.empty((streams_count, steps), dtype=np.int64)
    rows = np.arange(streams_count)
    digits = (steps + 1) ** np.arange(top)
    for step, own in enumerate(streams.classes.T):
        votes[rows, np.maximum(own, 0)] += own >= 0
        leading = np.partition(votes, -top, axis=1)[:, -top:]
        packed[:, step] = np.sort(leading, axis=1) @ digits
    states, which = np.unique(packed, return_inverse=True)
    largest_first = (states[:, None] // digits[::-1]) % (steps + 1)
    return dirichlet_holds(largest_first)[which.reshape(streams_count, steps)]


class TunedRivals(TunedRules):
    """`TunedRules` for rules some of which vote, or pay, in their own way."""

    def play(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        plain = [j for j, rule in enumerate(members) if not hasattr(rule, "play")]
        shape = (len(streams.question), len(members))
        stops = np.zeros(shape, dtype=int)
        accuracy = np.zeros(shape)
        together = super().play([members[j] for j in plain], streams)
        stops[:, plain], accuracy[:, plain] = together
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


class LearnedPrior(TunedRivals):
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
        settings = [Posterior(chance, cap, table) for chance in _MODE_CHANCES for cap in CAPS]
        self.rules = [Fixed(1), *settings]
        super().fit(responses)
        return self


@dataclass(frozen=True)
class Published:
    """One rule as its authors use it, on at most 40 answers, whatever that costs."""

    rule: Rule

    def replay(self, responses: Responses) -> tuple[np.ndarray, np.ndarray]:
        """Return answers asked and accuracy of every question, averaged over the orders."""
        alone = TunedRivals([self.rule])
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


def _capped(rule: Any, settings: Sequence[float], caps: Sequence[int] = CAPS) -> list[Any]:
    """Return the rule at every setting, under every cap."""
    return [rule(setting, cap) for setting in settings for cap in caps]


#: The settings of every family that `TunedRivals` chooses among.
PEERS: Mapping[str, Sequence[Rule]] = {
    **{name: _capped(rule, tried) for name, (rule, tried, _) in _FAMILIES.items()},
    "sprt": [
        ProbabilityRatio(error, cap, share)
        for error in (0.01, 0.05, 0.1, 0.2)
        for share in (0.55, 0.65, 0.8)
        for cap in CAPS
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

#: The posterior of CGES, which was added later and is recorded by itself.
POSTERIOR: Mapping[str, Sequence[Any]] = {
    "cges": _capped(Believed, (0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999999)),
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
