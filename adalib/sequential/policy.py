"""Priced stopping: take another answer while its expected gain exceeds lambda times its cost.

Signals say what the next answer may bring (`adalib.sequential.signals`). One fit on training
questions serves every price, hence every budget: `backward_induction` values going on at all prices
at once, plain rules join the priced ones in one library, and the envelope over the library gives
two members and a share for any budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.sequential.certificate import certified
from adalib.sequential.evidence import Evidence, SignalPolicy
from adalib.sequential.induction import backward_induction, first_stops
from adalib.sequential.replay import REPLAYS, Library, Mix, mix_for
from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.session import Member, Session
from adalib.sequential.signals.base import Lesson
from adalib.sequential.streams import Cost, Streams
from adalib.solve.hull import concave_hull

_FOLDS = 10  # each training question is decided by a fit on the other nine tenths
_SCHEDULE = (*range(1, 17), 20, 24, 28, 32, 40)
_CAPS = (4, 8, 16, 24)  # of the plain rules, next to the longest vote
#: Prices tried, in accuracy per cost of one average answer. Below the first, three hundred
#: questions cannot tell rules apart, and rules fitted there would differ from fold to fold.
PRICES = np.geomspace(1e-3, 0.3, 32)
#: The accuracy that an average answer must gain to be asked. With exact=True the sign flips, so the
#: whole budget is spent even on a flat curve.
LEAST = 1e-3


def training_folds(groups: Sequence | None, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of every question, and its fold: 0 for all if there is a single group."""
    group = group_numbers(range(n) if groups is None else groups, n)
    fold = deal(group, _FOLDS, seed) if group.any() else np.zeros(n, dtype=int)
    return group, fold


class PricedStopping(SignalPolicy, Library):
    r"""Stop when the next answer is not worth its price.

    With :math:`v_n` the accuracy of the vote after n answers and :math:`c_n` their cost, the policy
    at price :math:`\lambda` maximises :math:`E[v_\tau - \lambda c_\tau]` over stopping times
    :math:`\tau`. Explained in the chapter "When to stop".

    Parameters
    ----------
    signals : sequence of str, optional
        Names in `adalib.sequential.signals.SIGNALS`: "votes" (always used), "text", which needs
        ``features``, and "certainty", "entropy" and "length", which need the answers'
        log-probabilities, mean token entropies and numbers of tokens. A signal that says nothing is
        left out. Default: votes, text and certainty, and length where certainty says nothing.
    cost : {"samples", "tokens"} or function of Responses
        What an answer costs (`adalib.sequential.streams.Money` is a price list).
    schedule : sequence of int, optional
        Numbers of answers at which one may stop: ``range(4, 41, 4)`` asks in rounds of four.
        Default: after every answer up to 16, then after 20, 24, 28, 32 and 40.
    repeats, seed : int
        Orders in which every training question is played back, and their seed.
    certify : float, optional
        Stop no earlier than some answer is certified as the model's most frequent one, except with
        this probability (`adalib.sequential.certificate`), or at the last checkpoint. The budget
        cannot be below the cost of this certificate.
    exact : bool
        Whether to spend the whole budget. By default the budget is a limit, and no answer is asked
        that gains next to nothing.

    Attributes
    ----------
    signals_in_use : dict of str to Signal
        The fitted signals that say something.
    deciding_count : VoteCount
        The signal whose count closes the vote.
    members : list of Member
        The rules on the envelope, cheapest first.
    costs, accuracies, rounds : ndarray, shape (members,)
        Their average cost, accuracy and rounds of waiting in training; the accuracies are by fits
        that did not see the question.
    prices : ndarray
        The prices of those members that are priced rules.
    unit : float
        Cost of an average answer.

    References
    ----------
    F. Longstaff and E. Schwartz, "Valuing American options by simulation: a simple least-squares
    approach", Review of Financial Studies 14 (2001).

    Examples
    --------
    >>> from adalib import beta_population
    >>> teach, score = beta_population(60, 1.5, 1.5).sample(24).split_samples(0)
    >>> policy = PricedStopping(("votes",), repeats=2).fit(teach)
    >>> policy.replay(score, [1.0]).cost.mean().item(), policy.start(1.0).add("7")
    (1.0, False)
    """

    FORMAT = "adalib stopping, version 3"
    RULES: Mapping[str, type[Rule]] = {rule.__name__: rule for rule in (Confidence, Fixed, Margin)}
    round_price = 0.0  # a round of waiting is free here: see `adalib.sequential.rounds`

    coefficients: list[np.ndarray]
    members: list[Member]
    prices: np.ndarray
    rounds: np.ndarray
    unit: float

    def __init__(
        self,
        signals: Sequence[str] | None = None,
        *,
        cost: Cost = "samples",
        schedule: Sequence[int] | None = None,
        repeats: int = 16,
        seed: int = 0,
        certify: float | None = None,
        exact: bool = False,
    ) -> None:
        if certify is not None and not 0 < certify < 1:
            raise ValueError(
                f"certify is {certify}; give a chance of error between 0 and 1, such as 0.05"
            )
        self.signals = self.checked_names(signals)
        self.cost = cost
        self.repeats = repeats
        self.seed = seed
        self.certify = certify
        self.exact = exact
        self.schedule = np.array(_SCHEDULE if schedule is None else schedule, dtype=int)
        if not self.schedule.size or self.schedule[0] < 1 or (np.diff(self.schedule) < 1).any():
            raise ValueError("the schedule must be increasing numbers of answers, from 1 or more")

    def fit(
        self,
        responses: Responses,
        features: ArrayLike | None = None,
        groups: Sequence | None = None,
    ) -> Self:
        """Learn what going on is worth at every price.

        Parameters
        ----------
        responses : Responses
            Answers to the training questions.
        features : array_like, shape (N, d), optional
            Features of the questions, for the signal "text".
        groups : sequence, optional
            The group of each question; a group is left out together. Default: each its own.

        Returns
        -------
        PricedStopping
            The policy itself.
        """
        self.schedule = self.schedule[self.schedule <= responses.samples]
        if not self.schedule.size:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers, fewer than "
                "the first checkpoint"
            )
        _, fold = training_folds(groups, responses.n, self.seed)
        streams = self.streams(responses, self.seed, self.repeats)
        self.fit_signals(Lesson(responses, streams, self.schedule, fold, features))
        evidence = self.evidence(streams, trained_on=True)
        self._fit_library(evidence, streams, fold[streams.question])
        return self

    def mix(self, budget: float) -> Mix:
        """Return the two members, and the share of the second, that cost at most ``budget``.

        With ``exact`` they cost all of it.
        """
        least = LEAST if self.exact else -LEAST
        return mix_for(self.costs, self.accuracies + least * self.costs / self.unit, budget)

    def spends(self, budget: float) -> float:
        """Return the average cost in training; the rest of the budget is not worth spending."""
        return self._mean_of(self.costs, budget)

    def waits(self, budget: float) -> float:
        """Return the average rounds of waiting in training; a loaded policy does not have it."""
        return self._mean_of(self.rounds, budget)

    def _mean_of(self, figures: np.ndarray, budget: float) -> float:
        """Return the mean of a figure of the members under the mix of this budget."""
        low, high, share = self.mix(budget)
        return float((1 - share) * figures[low] + share * figures[high])

    def streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        if responses.samples < self.schedule[-1]:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers per question, and the policy "
                f"may ask for {self.schedule[-1]}; give as many, or fit it with a shorter schedule"
            )
        return super().streams(responses, seed, repeats)

    def play(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        evidence = self.evidence(streams, features)
        stops = np.maximum(self._stops(evidence, members), self._earliest(streams))
        return stops, np.take_along_axis(evidence.votes.value, stops, axis=1)

    def start(
        self,
        budget: float,
        features: ArrayLike | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> Session:
        """Begin with one question.

        Parameters
        ----------
        budget : float
            Average cost over many questions; which of two members decides on this one is random.
        features : array_like, shape (d,), optional
            Features of the question, where a signal needs them.
        rng : Generator or int, optional
            Source of that random choice.

        Returns
        -------
        Session
        """
        mix = self.mix(budget)
        use_high = np.random.default_rng(rng).random() < mix.share
        return self.begin(mix.high if use_high else mix.low, features)

    def begin(self, number: int, features: ArrayLike | None = None) -> Session:
        """Begin with one question by the member of this number, as `at_price` returns it."""
        return Session(self, self.members[number], features)

    def at_price(self, price: float) -> int:
        """Return the member with the most accuracy less price times cost; ties to the cheaper."""
        return int(np.argmax(self.accuracies - price * self.costs))

    def price(self, budget: float) -> float:
        """Return the price at which ``budget`` is spent in training: the envelope's slope there."""
        mix = self.mix(budget)
        low = mix.low
        high = mix.high
        if high <= low:
            low = max(mix.low - 1, 0)
            high = max(mix.low, 1)
        if high >= self.costs.size:  # a single member: no price changes anything
            return 1.0
        gain = self.accuracies[high] - self.accuracies[low]
        return max(float(gain / (self.costs[high] - self.costs[low])), 0.0)

    def stops_at(
        self,
        responses: Responses,
        features: ArrayLike | None,
        price: float,
        *,
        seed: int = 1,
        repeats: int = REPLAYS,
    ) -> tuple[np.ndarray, float]:
        """Return where each stream stops at the nearest price on the envelope, and that price."""
        if not self.prices.size:
            raise ValueError(
                "no price is on the envelope of this policy: plain rules alone are best here"
            )
        nearest = int(np.abs(self.prices - price).argmin())
        streams = self.streams(responses, seed, repeats)
        stops, _ = self.play([Member(None, price=nearest)], streams, features)
        return stops[:, 0], float(self.prices[nearest])

    def evidence(
        self, streams: Streams, features: ArrayLike | None = None, *, trained_on: bool = False
    ) -> Evidence:
        """Return what the signals know of streams at the checkpoints.

        ``trained_on`` says that these are the questions from which the policy learned.
        """
        columns = self.schedule - 1
        return self.evidence_at(columns, streams, features, trained_on=trained_on)

    @property
    def largest_round(self) -> int:
        """The most answers that are ever asked at once."""
        return int(np.diff(self.schedule, prepend=0).max())

    @classmethod
    def from_settings(
        cls,
        round_price: float,
        signals: Sequence[str] | None,
        schedule: list[int],
        settings: dict[str, Any],
    ) -> Self:
        """Return the policy that a file describes, not fitted yet."""
        return cls(signals, schedule=schedule, **settings)

    def coefficient_shapes(self, features: int) -> list[tuple[int, ...]]:
        """Return the shapes of the coefficients at one price, given the number of features."""
        return [(features + 1,)] * (self.schedule.size - 1)

    def _fit_library(self, evidence: Evidence, streams: Streams, fold: np.ndarray) -> None:
        """Fit a rule for every price, add the plain rules, and keep the envelope."""
        value = evidence.votes.value
        paid = streams.cost[:, self.schedule - 1]
        self.unit = float((paid[:, -1] / int(self.schedule[-1])).mean())
        prices = PRICES / self.unit
        features = self._checkpoint_features(evidence)
        coefficients, stops = backward_induction(features, value, paid, prices, fold)
        plain = self._plain_members(evidence)
        earliest = self._earliest(streams)
        stops = np.maximum(np.column_stack([stops, self._stops(evidence, plain)]), earliest)
        accuracy = np.take_along_axis(value, stops, axis=1).mean(axis=0)
        if features:
            # Accuracy must be measured by fits that did not see the question. Cost is better
            # measured by the rule itself: fits on fewer questions are noisier, and noise stops
            # early.
            priced = first_stops(list(coefficients), features)
            stops[:, : prices.size] = np.maximum(priced, earliest)
        cost = np.take_along_axis(paid, stops, axis=1).mean(axis=0)
        figures = np.array([cost, accuracy, stops.mean(axis=0) + 1])
        self._keep(prices, list(coefficients), plain, figures)

    def _plain_members(self, evidence: Evidence) -> list[Member]:
        """Return the rules that need no fit: fixed numbers, and those of every count under caps."""
        longest = int(self.schedule[-1])
        caps = {
            int(self.schedule[self.schedule >= min(cap, longest)][0]) for cap in (*_CAPS, longest)
        }
        plain = [Member(Fixed(int(answers))) for answers in self.schedule]
        for cap, count in product(sorted(caps), self.counts()):
            rules = count.rules(evidence.states[count.name], cap, longest)
            plain += [Member(rule, count.name) for rule in rules]
        return plain

    def _keep(
        self, prices: np.ndarray, coefficients: list, plain: list[Member], figures: np.ndarray
    ) -> None:
        """Keep the members on the envelope of cost and accuracy.

        ``figures`` has the rows cost, accuracy and rounds, and a column per member: the priced
        rules first, then the plain ones.
        """
        best = concave_hull(figures[0], figures[1] + LEAST * figures[0] / self.unit)
        priced = [place for place in best if place < prices.size]
        self.costs, self.accuracies, self.rounds = figures[:, best]
        self.prices = prices[priced]
        self.coefficients = [fitted[..., priced] for fitted in coefficients]
        by_place = dict(enumerate(plain, prices.size))
        by_place |= {place: Member(None, price=j) for j, place in enumerate(priced)}
        self.members = [by_place[place] for place in best]

    def _earliest(self, streams: Streams) -> np.ndarray:
        """Return the first checkpoint at which each stream may stop, (M, 1): its certificate's."""
        if self.certify is None:
            return np.zeros((1, 1), dtype=int)
        when, _ = certified(streams.classes, self.certify)
        return np.searchsorted(self.schedule, when).clip(max=self.schedule.size - 1)[:, None]

    def _checkpoint_features(self, evidence: Evidence) -> list[np.ndarray]:
        """Return the features at every checkpoint but the last."""
        return [evidence.at(column).features() for column in range(self.schedule.size - 1)]

    def _stops(self, evidence: Evidence, members: Sequence[Member]) -> np.ndarray:
        """Return the checkpoint at which each member stops every stream, shape (M, members)."""
        stops = np.full((len(evidence.votes.n), len(members)), self.schedule.size - 1)
        for count in self.counts():
            plain = [
                j
                for j, member in enumerate(members)
                if member.rule is not None and member.by == count.name
            ]
            rules = [members[j].rule for j in plain]
            stops[:, plain] = points_of(rules, evidence.states[count.name])
        priced = [j for j, member in enumerate(members) if member.rule is None]
        if priced and self.schedule.size > 1:
            chosen = [members[j].price for j in priced]
            coefficients = [fitted[:, chosen] for fitted in self.coefficients]
            stops[:, priced] = first_stops(coefficients, self._checkpoint_features(evidence))
        return stops
