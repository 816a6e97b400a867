"""Priced stopping: take another answer exactly while its expected gain exceeds lambda times its cost.

Three signals say what the next answer may bring: the votes so far, how sure the model was of each of its answers, and
the text of the question. One fit on training questions serves every price, hence every budget: `backward_induction`
values going on at all prices at once, plain rules join the priced ones in one library, and the envelope over the
library names, for a budget, two members and a coin.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.sequential.replay import REPLAYS, Mix, Replay, corners, in_parts, mix_for, outcomes, shares_of
from adalib.sequential.rules import NEVER, Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.signals import Prior
from adalib.sequential.streams import Cost, Streams, Votes, make_streams
from adalib.sequential.value import backward_induction, follow, state_features

__all__ = ["Member", "PricedStopping", "SIGNALS", "Seen", "Session", "plain_members", "plain_points"]


# Members of the library: what is known at a checkpoint, and rules that need no fit.


class Seen(NamedTuple):
    """What is known at every checkpoint: the votes, the votes weighted by certainty, and what the text says."""

    plain: Votes
    weighted: Votes | None
    prior: np.ndarray | None

    @property
    def value(self) -> np.ndarray:
        """What the vote is worth at every checkpoint: the weighted one, where certainty is known."""
        return (self.plain if self.weighted is None else self.weighted).value

    def features(self, column: int) -> np.ndarray:
        """The features at one checkpoint, shape (d, M)."""
        weighted = None if self.weighted is None else self.weighted.at(column)
        return state_features(self.plain.at(column), weighted, self.prior)


class Member(NamedTuple):
    """A member of the library: a plain rule on plain or weighted votes, or (rule None) a priced one."""

    rule: Rule | None
    weighted: bool = False
    price: int = -1


def plain_points(members: Sequence[Member], seen: Seen) -> np.ndarray:
    """Where plain members stop every stream, shape (M, members)."""
    found = np.empty((len(seen.plain.n), len(members)), dtype=np.int16)
    for weighted, votes in ((False, seen.plain), (True, seen.weighted)):
        places = [j for j, member in enumerate(members) if member.weighted == weighted]
        if places:
            found[:, places] = points_of([members[j].rule for j in places], votes)
    return found


def plain_members(schedule: np.ndarray, weighted: Votes | None) -> list[Member]:
    """Rules that need no fit: fixed numbers, leads and Beta thresholds with caps, quitting where nothing repeats."""
    longest = int(schedule[-1])
    caps = sorted({int(schedule[schedule >= min(cap, longest)][0]) for cap in (4, 8, 16, 24, longest)})
    waits = [NEVER, *(wait for wait in (3, 5, 8, 12) if wait < longest)]
    members = [Member(Fixed(int(answers))) for answers in schedule]
    for cap in caps:
        members += [Member(Margin(lead, cap, wait)) for lead in (1, 2, 3, 4, 5) for wait in waits]
        members += [Member(Confidence(level, cap)) for level in (0.7, 0.8, 0.9, 0.95, 0.99)]
        if weighted is not None:
            one = float((weighted.leader[:, 0]).mean())  # what an average answer weighs
            leads = (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4)
            members += [Member(Margin(lead * one, cap), weighted=True) for lead in leads]
    return members


# One question, answer by answer: the policy at work.


class Session:
    """The vote on one question, with a policy that says whether to go on.

    Made by `PricedStopping.start`. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    policy : PricedStopping
    member : Member
        The member of the library that the coin chose for this question.
    prior : ndarray, shape (2,), or None
        What the text says.
    """

    def __init__(self, policy: PricedStopping, member: Member, prior: np.ndarray | None) -> None:
        self._policy, self._member, self._prior = policy, member, prior
        self._votes: dict[Hashable, int] = {}
        self._weights: dict[Hashable, float] = {}
        self._checkpoints = {int(n): column for column, n in enumerate(policy.schedule)}
        self._n = self._empty = self._run = 0
        self._last: Hashable = None
        self._go = True

    @property
    def goes_on(self) -> bool:
        """Whether another answer is worth its price."""
        return self._go

    @property
    def leaders(self) -> list[Hashable]:
        """The answers that lead the vote, in the order they came: one, several that are tied, or none."""
        counts = self._weights if self._policy.sharpness else self._votes
        return [answer for answer, votes in counts.items() if votes == max(counts.values())]

    def add(self, answer: Hashable, logprob: float | None = None) -> bool:
        """Count one more answer, and say whether to go on.

        Parameters
        ----------
        answer : hashable
            Equal answers are one class; None or "" is an answer that could not be read.
        logprob : float, optional
            Mean log-probability of its tokens; needed where the policy weighs by certainty.

        Returns
        -------
        bool
        """
        self._n += 1
        if answer is None or answer == "":
            self._empty += 1
            self._run = 0
        else:
            self._votes[answer] = self._votes.get(answer, 0) + 1
            self._weights[answer] = self._weights.get(answer, 0.0) + self._weight(logprob)
            self._run = self._run + 1 if answer == self._last else 1
        self._last = answer
        column = self._checkpoints.get(self._n)
        if self._n >= self._policy.schedule[-1]:
            self._go = False
        elif column is not None:
            self._go = not self._stops(column)
        return self._go

    def _weight(self, logprob: float | None) -> float:
        if not self._policy.sharpness:
            return 1.0
        if logprob is None:
            raise ValueError("this policy weighs answers by their log-probability; give logprob with every answer")
        return float(np.exp(max(self._policy.sharpness * logprob, -600.0)))

    def _state(self, counts: dict[Hashable, float]) -> Votes:
        first, second = 0.0, 0.0
        for votes in counts.values():
            if votes > first:
                first, second = votes, first
            elif votes > second:
                second = votes
        log_sum = sum(votes * log(votes) for votes in counts.values())
        return Votes(self._n, first, second, len(counts), self._empty, self._run, log_sum, np.nan)

    def _stops(self, column: int) -> bool:
        weighted = self._state(self._weights) if self._policy.sharpness else None
        if self._member.rule is not None:
            votes = weighted if self._member.weighted else self._state(self._votes)
            return bool(self._member.rule.stops(votes))
        known = state_features(self._state(self._votes), weighted, self._prior)
        fitted = self._policy.coefficients[column, :, self._member.price]
        return bool(fitted[0] + known @ fitted[1:] <= 0)


#: What a stopping rule may look at: the votes always, the text and the certainty where they are there.
SIGNALS = ("votes", "text", "certainty")

_FOLDS = 10  # inside the training questions: each is decided by a fit on nine tenths of the others
_SHARPNESS = (0.0, 1.5, 3.0, 6.0, 12.0)
_LONG = 16  # the text is asked for the accuracy of one answer, and of a vote of so many
#: A text that explains less than this of what questions left out differ in is not listened to: it would only move the
#: budget about. Noise explains about nothing; the texts of the bundled settings explain more, by family too.
_TOLD = 0.03
#: Prices tried, in accuracy for the cost of one average answer. Three hundred questions cannot tell apart what is worth
#: less than the first of them, and rules fitted there would differ from fold to fold: plain rules do that part.
_PRICES = np.geomspace(1e-3, 0.3, 32)
#: A budget is there to be spent: of rules that differ by less than this, in accuracy for an average answer, the dearer
#: one is kept. Three hundred questions cannot tell so little apart, and a flat curve would not be climbed at all.
_SPENT = 1e-3


class PricedStopping:
    """Stop when the next answer is not worth its price.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    signals : sequence of str
        Some of `SIGNALS`; "votes" is always among them. Text needs ``features``, certainty needs log-probabilities;
        what is not there, or a text that says nothing, is left out.
    cost : {"samples", "tokens"} or function of Responses
        What an answer costs (`adalib.sequential.streams.Money` is a price list).
    schedule : sequence of int, optional
        Numbers of answers at which one may stop: ``range(4, 41, 4)`` asks in rounds of four. Default: after every
        answer up to 16, then after 20, 24, 28, 32 and 40.
    repeats : int
        Orders in which every training question is played back.
    seed : int

    Attributes
    ----------
    members : list of Member
        The library, cheapest first: the corners of the envelope.
    prices : ndarray
        Of the priced members, in accuracy a unit of cost.
    unit : float
        What an average answer costs.
    costs, accuracies : ndarray
        Of every member on training questions; accuracies by fits that did not see the question.
    """

    def __init__(
        self,
        signals: Sequence[str] = SIGNALS,
        *,
        cost: Cost = "samples",
        schedule: Sequence[int] | None = None,
        repeats: int = 16,
        seed: int = 0,
    ) -> None:
        unknown = set(signals) - set(SIGNALS)
        if unknown:
            raise ValueError(f"{sorted(unknown)[0]!r} is no signal; choose among {', '.join(SIGNALS)}")
        self.signals, self.cost, self.repeats, self.seed = tuple(signals), cost, repeats, seed
        self.schedule = np.array(schedule if schedule is not None else [*range(1, 17), 20, 24, 28, 32, 40], dtype=int)
        if not self.schedule.size or self.schedule[0] < 1 or (np.diff(self.schedule) < 1).any():
            raise ValueError("the schedule must be increasing numbers of answers, from 1 or more")

    def fit(
        self, responses: Responses, features: ArrayLike | None = None, groups: Sequence | None = None
    ) -> PricedStopping:
        """Learn from training questions what going on is worth, at every price.

        Parameters
        ----------
        responses : Responses
        features : array_like, shape (N, d), optional
            Known of a question before it is asked.
        groups : sequence of N values, optional
            Questions of one group are left out together when the library is valued.

        Returns
        -------
        PricedStopping
            Itself.
        """
        self.schedule = self.schedule[self.schedule <= responses.samples]
        if not self.schedule.size:
            raise ValueError(f"{responses.source}: has {responses.samples} answers, fewer than the first checkpoint")
        member = group_numbers(range(responses.n) if groups is None else groups, responses.n)
        fold = deal(member, _FOLDS, self.seed) if member.any() else np.zeros(responses.n, dtype=int)
        streams = self._streams(responses, self.seed, self.repeats)
        self.sharpness = self._sharpness(streams)
        self.prior = None
        if "text" in self.signals and features is not None and member.any():
            ends = responses.table((1, min(_LONG, responses.samples))).acc
            prior = Prior().fit(features, ends, fold)
            self.prior = prior if prior.explained > _TOLD else None
        seen = self.seen(streams, None if self.prior is None else self.prior.left_out)
        self._fit_library(seen, streams, fold[streams.question])
        return self

    def mix(self, budget: float) -> Mix:
        """The two members, and the chance of the dearer, that cost ``budget`` on training questions."""
        return mix_for(self.costs, self.accuracies + _SPENT * self.costs / self.unit, budget)

    def replay(
        self, responses: Responses, budgets: Sequence[float], features: ArrayLike | None = None, *, seed: int = 1
    ) -> Replay:
        """Play answers back to unseen questions, at every budget.

        Parameters
        ----------
        responses : Responses
            Answers that the policy did not learn from.
        budgets : sequence of B float
            Average costs to aim for.
        features : array_like, shape (N, d), optional
            As given to `fit`.
        seed : int
            Of the orders.

        Returns
        -------
        Replay
        """
        if responses.samples < self.schedule[-1]:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers a question, and the policy may ask for "
                f"{self.schedule[-1]}; give as many, or fit it with a shorter schedule"
            )
        used, shares = shares_of([self.mix(budget) for budget in budgets])
        members = [self.members[number] for number in used]

        def play(answers: Responses, known: ArrayLike | None, seed: int, orders: int) -> Replay:
            streams = self._streams(answers, seed, orders)
            seen = self.seen(streams, None if self.prior is None else self.prior.predict(known))
            stops = self._stops(seen, members)
            worth = np.take_along_axis(seen.value, stops, axis=1)
            return outcomes(streams, worth, self.schedule, stops, shares)

        return in_parts(play, responses, features, seed)

    def start(
        self, budget: float, features: ArrayLike | None = None, rng: np.random.Generator | int | None = None
    ) -> Session:
        """Begin with one question: toss the coin, and look at the text.

        Parameters
        ----------
        budget : float
            Average cost over many questions.
        features : array_like, shape (d,), optional
            Of this question, as given to `fit`.
        rng : Generator or seed

        Returns
        -------
        Session
        """
        mix = self.mix(budget)
        return self.begin(mix.high if np.random.default_rng(rng).random() < mix.share else mix.low, features)

    def begin(self, number: int, features: ArrayLike | None = None) -> Session:
        """Begin with one question by the member of this number, as `at_price` names it."""
        member = self.members[number]
        if self.prior is None:
            return Session(self, member, None)
        if features is None:
            raise ValueError("this policy was fitted with features of the text; give those of the question")
        return Session(self, member, self.prior.predict(np.asarray(features, dtype=float)[None])[0])

    def at_price(self, price: float) -> int:
        """The number of the member that a price picks: most accuracy less price times cost, ties to the cheaper."""
        return int(np.argmax(self.accuracies - price * self.costs))

    def price(self, budget: float) -> float:
        """The price at which ``budget`` is spent on training questions: the slope of the envelope there."""
        mix = self.mix(budget)
        low, high = (mix.low, mix.high) if mix.high > mix.low else (max(mix.low - 1, 0), max(mix.low, 1))
        if high >= self.costs.size:  # a single member: no price changes anything
            return 1.0
        slope = (self.accuracies[high] - self.accuracies[low]) / (self.costs[high] - self.costs[low])
        return max(float(slope), 0.0)

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and be scored on ``test``, for `adalib.held_out`."""
        # One half may be an answer longer than the other: nobody plans for more than there is to ask.
        schedule = self.schedule[self.schedule <= test.answers.samples]
        policy = PricedStopping(
            self.signals, cost=self.cost, schedule=schedule, repeats=self.repeats, seed=self.seed
        ).fit(train.answers, train.features, train.groups)
        return policy.replay(test.answers, targets, test.features).pairs()

    def stops_at(
        self,
        responses: Responses,
        features: ArrayLike | None,
        price: float,
        *,
        seed: int = 1,
        repeats: int = REPLAYS,
    ) -> tuple[np.ndarray, float]:
        """Where every stream stops at the nearest price on the envelope: checkpoints, shape (M,), and that price."""
        if not self.prices.size:
            raise ValueError("no price is on the envelope of this policy: plain rules alone are best here")
        near = int(np.abs(self.prices - price).argmin())
        seen = self.seen(
            self._streams(responses, seed, repeats), None if self.prior is None else self.prior.predict(features)
        )
        return self._stops(seen, [Member(None, price=near)])[:, 0], float(self.prices[near])

    def _streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        return make_streams(responses, int(self.schedule[-1]), repeats=repeats, seed=seed, cost=self.cost)

    def _sharpness(self, streams: Streams) -> float:
        """How steeply certainty weighs: whatever votes best on training questions, over the first few checkpoints."""
        if "certainty" not in self.signals or streams.logprob is None:
            return 0.0
        early = streams.first(int(self.schedule[:8][-1]))
        worth = [self._checkpoints(early.votes(sharpness)).value.mean() for sharpness in _SHARPNESS]
        return _SHARPNESS[int(np.argmax(worth))]

    def _checkpoints(self, votes: Votes) -> Votes:
        return votes.at(self.schedule[self.schedule <= votes.n.shape[-1]] - 1)

    def seen(self, streams: Streams, prior: np.ndarray | None) -> Seen:
        """What the policy knows of streams at its checkpoints; ``prior`` has a row a question."""
        weighted = self._checkpoints(streams.votes(self.sharpness)) if self.sharpness else None
        told = None if prior is None else prior[streams.question].T
        return Seen(self._checkpoints(streams.votes()), weighted, told)

    def _fit_library(self, seen: Seen, streams: Streams, fold: np.ndarray) -> None:
        value, paid = seen.value, streams.cost[:, self.schedule - 1]
        self.unit = float((paid[:, -1] / self.schedule[-1]).mean())
        prices = _PRICES / self.unit
        features = [seen.features(column) for column in range(self.schedule.size - 1)]
        coefficients, stops = backward_induction(features, value, paid, prices, fold)
        members = [Member(None, price=number) for number in range(prices.size)]
        plain = plain_members(self.schedule, seen.weighted)
        stops = np.column_stack([stops, plain_points(plain, seen)])
        accuracy = np.take_along_axis(value, stops, axis=1).mean(axis=0)
        if features:
            # How right it is must be said by fits that did not see the question. How much it spends is better said by
            # the rule itself: fits on fewer questions are rougher, and a rough guess says "stop" too early once.
            stops[:, : prices.size] = follow(coefficients, features)
        cost = np.take_along_axis(paid, stops, axis=1).mean(axis=0)
        best = corners(cost, accuracy + _SPENT * cost / self.unit)
        kept = [(members + plain)[number] for number in best]
        priced = [member.price for member in kept if member.rule is None]
        self.prices = prices[priced]
        self.coefficients = coefficients[..., priced] if len(coefficients) else coefficients
        self.members = [m if m.rule is not None else Member(None, price=priced.index(m.price)) for m in kept]
        self.costs, self.accuracies = cost[best], accuracy[best]

    def _stops(self, seen: Seen, members: Sequence[Member]) -> np.ndarray:
        """The checkpoint at which each member stops every stream, shape (M, members)."""
        found = np.full((len(seen.plain.n), len(members)), self.schedule.size - 1)
        priced = np.flatnonzero([member.rule is None for member in members])
        plain = [j for j, member in enumerate(members) if member.rule is not None]
        found[:, plain] = plain_points([members[j] for j in plain], seen)
        if priced.size and self.schedule.size > 1:
            wanted = self.coefficients[..., [members[j].price for j in priced]]
            found[:, priced] = follow(wanted, [seen.features(column) for column in range(self.schedule.size - 1)])
        return found
