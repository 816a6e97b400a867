"""The priced race: start several answers at once, and close when the running ones are not worth it.

At every finish the state is the vote so far with its signals, how many answers still run, and how
long they have run. There are three options: wait for the next finish, start a second wave, or close
and cancel. `PricedRace.fit` makes a library: `adalib.sequential.race_rules` gives a rule for every
first wave and every pair of prices, one per token and one per unit of waiting, and plain races join
them. Those on the envelope of cost and accuracy at some price of waiting are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import groupby, product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import number, numbers, whole
from adalib.datasets.responses import Responses
from adalib.sequential.evidence import Evidence
from adalib.sequential.heat import Heat, RaceOutcome, RaceTimeline, Waves
from adalib.sequential.induction import CrossFit, by_fold
from adalib.sequential.priced import LEAST, PricedPolicy, training_folds
from adalib.sequential.race_rules import (
    STARTS,
    Finish,
    PlainRace,
    PricedMember,
    Promise,
    SettledRace,
    plain_races,
    settle_together,
)
from adalib.sequential.race_session import RaceSession
from adalib.sequential.replay import REPLAYS, Mix, Tried, in_pieces, mix_for, shares_of
from adalib.sequential.signals import SIGNALS, usual_signals
from adalib.sequential.signals.base import Lesson
from adalib.sequential.streams import Streams, make_streams
from adalib.solve.hull import concave_hull
from adalib.tolerances import TRAINED, meets

#: Prices tried: accuracy per tokens of one average answer, and per time of one average answer.
TOKEN_PRICES = np.geomspace(1e-3, 0.2, 10)
WAITING_PRICES = (0.0, 0.02, 0.05, 0.15)
#: Prices of waiting at which the best races are kept.
_KEPT_AT = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2)
_HALVINGS = 30  # of the interval in which the price of waiting is sought
_RIDGE = 0.01
_AVERAGED = ("tokens", "accuracy", "clock")  # what tells which races are kept
_STREAMS = 4000  # played back at a time, so that memory does not grow with the questions
_MOST_SAVED = 4096  # answers that saved data may ask for


class RaceReplay(NamedTuple):
    """Every question's expected outcome at every budget, arrays of shape (N, budgets)."""

    cost: np.ndarray  #: tokens generated, cancelled answers included
    accuracy: np.ndarray
    waiting: np.ndarray  #: time until the race was closed, in average answers
    finished: np.ndarray
    started: np.ndarray


class PricedRace(PricedPolicy):
    r"""Start several answers at once, and close the race when going on is not worth its price.

    With :math:`v` the accuracy of the vote among finished answers, :math:`c` the tokens generated
    by all answers, cancelled ones included, and :math:`w` the time until the race is closed, the
    policy at prices :math:`\lambda` and :math:`\mu` maximises :math:`E[v - \lambda c - \mu w]`.
    One fit serves every pair of prices. Explained in the chapter "Deploy".

    Parameters
    ----------
    signals : sequence of str, optional
        Names in `adalib.sequential.signals.SIGNALS`, as for `PricedStopping`. Default: the usual
        ones, except "length", since a race always knows how long answers have run.
    waiting_price : float
        Price of waiting for the time of one average answer, in accuracy, at most.
    waiting_limit : float
        Waiting that needs no price, in average answers. The policy takes the lowest price at which
        it waits no longer than this in training, and ``waiting_price`` if that is not enough; 0 for
        ``waiting_price`` always. We chose both defaults after looking at the sets of the chapter
        "Deploy".
    most : int
        Answers per question that start, at most.
    repeats, seed : int
        Orders in which every training question is played back, and their seed.

    Attributes
    ----------
    signals_in_use : dict of str to Signal
        The fitted signals that say something.
    deciding_count : VoteCount
        The signal whose count closes the vote.
    members : list of PricedMember or PlainRace
        The races that are best at some pair of prices.
    costs, accuracies, waiting : ndarray, shape (members,)
        Their average tokens, accuracy and waiting (in average answers) in training.
    unit : float
        Tokens of an average training answer.

    References
    ----------
    "First Finish Search", arXiv 2505.18149, and "short-m@k", arXiv 2505.17813, are plain members.
    Backward induction is Longstaff and Schwartz 2001.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from adalib import beta_population
    >>> answers = beta_population(60, 2, 1).sample(16)
    >>> tokens = np.random.default_rng(0).exponential(100, (60, 16))
    >>> teach, score = replace(answers, tokens=tokens).split_samples(0)
    >>> race = PricedRace(most=4, repeats=2).fit(teach)
    >>> played = race.replay(score, [2 * race.unit], waiting_price=0.05)
    >>> bool(played.waiting.mean() < 1)
    True
    """

    kind = "race"
    cost = "tokens"
    members: list[PricedMember | PlainRace]
    waiting: np.ndarray

    def __init__(
        self,
        signals: Sequence[str] | None = None,
        *,
        waiting_price: float = 0.07,
        waiting_limit: float = 0.9,
        most: int = 12,
        repeats: int = 16,
        seed: int = 0,
    ) -> None:
        self.signals = self.checked_names(signals)
        if most < 1 or not waiting_price >= 0 or not waiting_limit >= 0:
            raise ValueError(
                f"most is {most}, waiting_price {waiting_price} and waiting_limit {waiting_limit}; "
                "give 1 or more, and 0 or more for the other two"
            )
        self.waiting_price = waiting_price
        self.waiting_limit = waiting_limit
        self.members = []  # until a fit
        self.most = self.offered = most  # a fit lowers the first where there are fewer answers
        self.repeats = repeats
        self.seed = seed

    def fit(
        self,
        responses: Responses,
        features: ArrayLike | None = None,
        groups: Sequence | None = None,
    ) -> Self:
        """Learn what going on is worth, at every pair of prices.

        Parameters
        ----------
        responses : Responses
            Answers to the training questions, with tokens.
        features : array_like, shape (N, d), optional
            Features of the questions, for the signal "text".
        groups : sequence, optional
            The group of each question; a group is left out together. Default: each its own.

        Returns
        -------
        PricedRace
            The policy itself.
        """
        self.most = min(self.offered, responses.samples)
        plain = plain_races(self.most)
        self.members = list(plain)  # so that as many answers are played back as any may start
        streams = self.streams(responses, self.seed, self.repeats)
        self.unit = max(float(np.asarray(responses.tokens).mean()), 1e-9)
        fold = training_folds(groups, responses.n, self.seed)
        schedule = np.arange(1, self.most + 1)
        lesson = Lesson(responses, streams, schedule, fold, features)
        # A race knows how long its answers run, so no other signal need look at their tokens.
        usual = [name for name in usual_signals() if SIGNALS[name].reads != "tokens"]
        self.fit_signals(lesson, usual)
        # Streams of one fold lie together, so that no product of features copies any.
        order, folds = by_fold(fold[streams.question])
        timeline = RaceTimeline(self, streams.take(order), trained_on=True, folds=folds)
        back = np.argsort(order)
        priced: list[PricedMember] = []
        averages: list[np.ndarray] = []
        plain_averages: list[np.ndarray] = []
        # One first wave after the other, because a timeline keeps the heats of one at a time.
        for start, races in groupby(plain, key=lambda race: race.start):
            if start in STARTS:
                members, of_members = self._fit_priced(timeline, start, back)
                priced += members
                averages.append(of_members)
            plain_averages.append(self._averages(races, timeline, back))
        self._keep_best([*priced, *plain], np.hstack([*averages, *plain_averages]))
        return self

    def _fit_priced(
        self, timeline: RaceTimeline, start: int, back: np.ndarray
    ) -> tuple[list[PricedMember], np.ndarray]:
        """Fit a race of one first wave for every pair of prices; return also their averages."""
        pairs = np.array(list(product(TOKEN_PRICES, WAITING_PRICES)))
        fitted, settled = self._fit_start(timeline, start, pairs.T / self.unit)
        members = []
        for level, (token_price, waiting_price) in enumerate(pairs.tolist()):
            rules = {finish: rule[:, :, level] for finish, rule in fitted.items()}
            members.append(PricedMember(start, self.most, token_price, waiting_price, rules))
        # Accuracy by fits that did not see the question, cost and waiting by the rule itself.
        asked = zip(_AVERAGED, (1, 0, 1), strict=True)
        figures = [settled.figure(name, player)[back] for name, player in asked]
        return members, np.array([figure.mean(axis=0) for figure in figures])

    def _fit_start(
        self, timeline: RaceTimeline, start: int, prices: np.ndarray
    ) -> tuple[dict[Finish, np.ndarray], SettledRace]:
        """Fit the rules of one first wave, (options, d + 1, L) per finish, and play them.

        They are played by fits that did not see the question, and by the rules themselves.
        """
        coefficients: dict[Finish, np.ndarray] = {}

        def learn(finish: Finish, x: np.ndarray, gains: np.ndarray) -> Promise:
            fit = CrossFit.of(x, gains, timeline.folds, _RIDGE * finish.finished)
            coefficients[finish] = fit.coefficients
            return fit.left_out

        def follow(finish: Finish, x: np.ndarray, gains: np.ndarray) -> Promise:
            fitted = coefficients[finish]
            return lambda rows: fitted[0] + x[:, rows].T @ fitted[1:]

        settled = settle_together(timeline, Waves(start), self.most, prices, [learn, follow])
        levels = prices.shape[1]
        rules = {
            finish: np.array(np.split(fitted, fitted.shape[1] // levels, axis=1))
            for finish, fitted in coefficients.items()
        }
        return rules, settled

    def _averages(
        self, races: Iterable[PlainRace], timeline: RaceTimeline, back: np.ndarray
    ) -> np.ndarray:
        """Return average tokens, accuracy and clock of plain races."""
        outcomes = [race.play(timeline, self.deciding_count) for race in races]
        columns = ([getattr(one, name) for one in outcomes] for name in _AVERAGED)
        return np.array([np.column_stack(figures)[back].mean(axis=0) for figures in columns])

    def _keep_best(self, members: list[Any], averages: np.ndarray) -> None:
        """Keep the races that are on the envelope at some price of waiting."""
        costs, accuracies, clocks = averages
        waiting = clocks / self.unit
        best: set[int] = set()
        for price in (*_KEPT_AT, self.waiting_price):
            net = accuracies - price * waiting + LEAST * costs / self.unit
            best |= set(concave_hull(costs, net))
        order = sorted(best, key=lambda place: (costs[place], place))
        self.members = [members[place] for place in order]
        self.costs = costs[order]
        self.accuracies = accuracies[order]
        self.waiting = waiting[order]

    def mix(self, budget: float, waiting_price: float | None = None) -> Mix:
        """Return the two members, and the share of the second, that cost at most ``budget``.

        Where a price of waiting is given, it holds and the limit does not.
        """
        self.check_fitted()
        price = self.price_of_waiting(budget) if waiting_price is None else waiting_price
        net = self.accuracies - price * self.waiting - LEAST * self.costs / self.unit
        return mix_for(self.costs, net, budget)

    def waits(self, budget: float, waiting_price: float | None = None) -> float:
        """Return the average waiting in training, in average answers."""
        low, high, share = self.mix(budget, waiting_price)
        return float((1 - share) * self.waiting[low] + share * self.waiting[high])

    def price_of_waiting(self, budget: float) -> float:
        """Return the lowest price of waiting that meets the limit; ``waiting_price`` at most."""
        low = 0.0
        high = self.waiting_price
        if self.waits(budget, low) <= self.waiting_limit:
            return low
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if self.waits(budget, middle) <= self.waiting_limit:
                high = middle
            else:
                low = middle
        return high

    @property
    def values(self) -> np.ndarray:
        """Accuracy of every member in training, less the price of its waiting."""
        return self.accuracies - self.waiting_price * self.waiting

    @property
    def most_answers(self) -> int:
        return max(member.answers for member in self.members)

    def price(self, budget: float) -> float:
        self.check_fitted()
        if not meets(budget, self.costs.min(), TRAINED):
            raise ValueError(
                f"the budget is {budget:g}, below the cheapest race's {self.costs.min():g}"
            )
        corners = concave_hull(self.costs, self.values)
        if len(corners) == 1:  # a single race: no price changes anything
            return 1.0
        after = int(np.searchsorted(self.costs[corners], budget, side="right"))
        high = min(max(after, 1), len(corners) - 1)
        costs = self.costs[corners[high - 1 : high + 1]]
        values = self.values[corners[high - 1 : high + 1]]
        return max(float((values[1] - values[0]) / (costs[1] - costs[0])), 0.0)

    def start(
        self,
        budget: float,
        features: ArrayLike | None = None,
        rng: np.random.Generator | int | None = None,
        *,
        waiting_price: float | None = None,
    ) -> RaceSession:
        """Begin with one question.

        Parameters
        ----------
        budget : float
            Average tokens over many questions; which of two members decides on this one is random.
        features : array_like, shape (d,), optional
            Features of the question, where a signal needs them.
        rng : Generator or int, optional
            Source of that random choice.
        waiting_price : float, optional
            Price of waiting; default: the policy's own.

        Returns
        -------
        RaceSession
        """
        return self.begin(self.mix(budget, waiting_price).draw(rng), features)

    def begin(self, number: int, features: ArrayLike | None = None) -> RaceSession:
        """Begin with one question by the member of this number."""
        return RaceSession(self, self.members[number], features)

    def replay(
        self,
        responses: Responses,
        budgets: Sequence[float],
        features: ArrayLike | None = None,
        *,
        waiting_price: float | None = None,
        seed: int = 1,
    ) -> RaceReplay:
        """Play answers to unseen questions back, at every budget.

        Parameters
        ----------
        responses : Responses
            Answers with tokens.
        budgets : sequence of float
            Average tokens per question.
        features : array_like, shape (N, d), optional
            Features of the questions, where a signal needs them.
        waiting_price : float, optional
            Price of waiting; default: the policy's own.
        seed : int
            Seed of the orders in which answers are played back.

        Returns
        -------
        RaceReplay
        """
        mixes = [self.mix(budget, waiting_price) for budget in budgets]
        return self.replay_mixes(responses, mixes, features, seed=seed)

    def replay_mixes(
        self,
        responses: Responses,
        mixes: Sequence[Mix],
        features: ArrayLike | None = None,
        *,
        seed: int = 1,
    ) -> RaceReplay:
        """Play answers back to some mixes of members, one column each, as `replay` does."""
        used, shares = shares_of(mixes)
        members = [self.members[number] for number in used]
        size = max(_STREAMS // min(REPLAYS, responses.samples), 1)

        def outcome(piece: Responses, features: np.ndarray | None, begin: int) -> list[np.ndarray]:
            streams = self.streams(piece, seed + begin, REPLAYS)
            figures = self.play(members, streams, features)
            return [streams.mean(figure @ shares.T) for figure in figures]

        mean = RaceOutcome(*in_pieces(responses, features, size, outcome))
        waiting = mean.clock / self.unit
        return RaceReplay(mean.tokens, mean.accuracy, waiting, mean.finished, mean.started)

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[Tried]:
        """Learn from ``train`` and return what it did on ``test``, for `adalib.held_out`."""
        policy = copy(self)
        policy.offered = min(self.offered, train.answers.samples, test.answers.samples)
        policy.fit(train.answers, train.features, train.groups)
        played = policy.replay(test.answers, policy.affordable(targets), test.features)
        alike = policy.own_vote(test.answers, policy.most_answers, test.allowed)
        return [
            Tried(cost, accuracy, waiting=waiting, alike=alike)
            for cost, accuracy, waiting in zip(
                played.cost.T, played.accuracy.T, played.waiting.T, strict=True
            )
        ]

    def streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        """Play the answers back, as many per question as a member may start."""
        if responses.samples < self.most_answers:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers per question, and the race "
                f"may start {self.most_answers}; give as many, or fit it with fewer"
            )
        return make_streams(responses, self.most_answers, repeats=repeats, seed=seed, cost="tokens")

    def play(
        self, members: Sequence[Any], streams: Streams, features: ArrayLike | None = None
    ) -> RaceOutcome:
        """Return the outcome of every stream under every member, arrays of shape (M, members)."""
        timeline = RaceTimeline(self, streams, features)
        outcomes: dict[int, RaceOutcome] = {}
        # In the order of their first waves, because a timeline keeps the heats of one at a time.
        for place in sorted(range(len(members)), key=lambda place: members[place].start):
            member = members[place]
            if isinstance(member, PricedMember):
                outcomes[place] = member.play(timeline, self.unit)
            else:
                outcomes[place] = member.play(timeline, self.deciding_count)
        figures = zip(*(outcomes[place] for place in range(len(members))), strict=True)
        return RaceOutcome(*(np.column_stack(columns) for columns in figures))

    def evidence(
        self, heat: Heat, features: ArrayLike | None = None, *, trained_on: bool = False
    ) -> Evidence:
        """Return what the signals know at every finish of a heat."""
        columns = np.arange(heat.clock.shape[1])
        return self.evidence_at(columns, heat.streams, features, trained_on=trained_on)

    def fit_member(
        self, responses: Responses, start: int, token_price: float, waiting_price: float
    ) -> PricedMember:
        """Return a race of ``start`` answers at one pair of prices, in the library or not.

        The prices are in accuracy per tokens and per time of an average answer.
        """
        streams = self.streams(responses, self.seed, self.repeats)
        fold = training_folds(None, responses.n, self.seed)
        order, folds = by_fold(fold[streams.question])
        prices = np.array([[token_price], [waiting_price]]) / self.unit
        timeline = RaceTimeline(self, streams.take(order), trained_on=True, folds=folds)
        fitted, _ = self._fit_start(timeline, start, prices)
        rules = {finish: rule[:, :, 0] for finish, rule in fitted.items()}
        return PricedMember(start, self.most, token_price, waiting_price, rules)

    def _settings_to_dict(self) -> dict[str, Any]:
        return {
            "waiting_price": self.waiting_price,
            "waiting_limit": self.waiting_limit,
            "most": self.most,
            "waiting": self.waiting.tolist(),
        }

    @classmethod
    def _with_settings(cls, data: dict[str, Any]) -> Self:
        return cls(
            list(data["signals"]),
            waiting_price=number(data["waiting_price"], "waiting_price", 0, 1e12),
            waiting_limit=number(data["waiting_limit"], "waiting_limit", 0, 1e12),
            most=whole(data["most"], "most", 1, _MOST_SAVED),
        )

    def _saved_members(self, data: dict[str, Any]) -> list[PricedMember | PlainRace]:
        evidence = self.evidence_of_one_answer()
        self.waiting = numbers(data["waiting"], "waiting", (len(data["members"]),), 0)
        return [
            PlainRace.from_dict(saved["plain"], self.most)
            if "plain" in saved
            else PricedMember.from_dict(saved, self.most, evidence)
            for saved in data["members"]
        ]
