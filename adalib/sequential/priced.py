"""Priced stopping: take another answer exactly while its expected gain exceeds lambda times its cost.

Three signals say what the next answer may bring: the votes so far, how sure the model was of each of its answers, and
the text of the question. One fit on training questions serves every price, hence every budget: `backward_induction`
values going on at all prices at once, plain rules join the priced ones in one library, and the envelope over the
library names, for a budget, two members and a coin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.sequential.library import Mix, corners, mix_for
from adalib.sequential.members import Member, Seen, plain_members, plain_points
from adalib.sequential.prior import Prior
from adalib.sequential.replay import REPLAYS, Replay, in_parts, outcomes, shares_of
from adalib.sequential.session import Session
from adalib.sequential.streams import Cost, Streams, make_streams
from adalib.sequential.value import backward_induction, follow
from adalib.sequential.votes import Votes

__all__ = ["SIGNALS", "PricedStopping"]

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
