"""The rules of a race: when to close it, wait for the next finish, or start a second wave.

A plain race counts finishes and votes. *First finish search* [1]_ takes the answer that finishes
first; *short-m@k* [2]_ starts k answers and votes among the first m to finish; voting in parallel
waits for all of them. A priced race predicts at every finish what each option gains over closing,
by a linear rule in what is known there, and takes the best. `settle_race` fits and plays such rules
by backward induction over the finishes, at many pairs of prices at once.

References
----------
.. [1] "First Finish Search: efficient test-time scaling in large language models", arXiv
   2505.18149.
.. [2] "Don't overthink it: preferring shorter thinking chains for improved LLM reasoning", arXiv
   2505.17813.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adalib.datasets.files import number, numbers, whole
from adalib.sequential.course import Courses, Heat, RaceOutcome, Waves, race_features
from adalib.sequential.evidence import Evidence
from adalib.sequential.rules import NEVER
from adalib.sequential.signals.votes import VoteCount
from adalib.sequential.votes import Votes

STARTS = (1, 2, 3, 4, 6, 8, 12)  #: sizes of a priced race's first wave
_LOOKS = (1, 2, 3, 4)  # finishes at which its second wave may start
_MORE = (2, 4)  # sizes of its second wave

#: A moment of decision: the second wave's look and size (0, 0 without one), and finishes so far.
Finish = tuple[int, int, int]
#: Predicts the net gains of the options at a finish, from its features and the true gains.
Predictor = Callable[[Finish, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class PlainRace:
    """Start ``start`` answers; close at finish ``close``, or when the leader is ``lead`` ahead.

    If ``more`` is not 0 and the race is not closed at finish number ``look``, that many answers
    start there; then it closes at finish number ``then``, or when the leader is ``lead`` ahead.
    """

    start: int
    close: int
    lead: float = NEVER
    look: int = 0
    more: int = 0
    then: int = 0

    @property
    def answers(self) -> int:
        """The most answers that start."""
        return self.start + self.more

    @property
    def last(self) -> int:
        """The finish at which the race closes at the latest."""
        return self.then if self.more else self.close

    def leads(self, votes: Votes) -> Any:
        """Return whether the leader is far enough ahead to close."""
        return votes.leader - votes.runner >= self.lead

    def play(self, courses: Courses, count: VoteCount | None = None) -> RaceOutcome:
        """Return every stream's outcome; leads are of plain votes, ``count`` gives the answer."""
        course = courses.course(Waves(self.start, self.look, self.more))
        plain = course.streams.votes()
        votes = plain if count is None else count.count(course.streams)
        stops = self.leads(plain)
        stops[:, self.last - 1 :] = True
        stop = stops.argmax(axis=1)
        rows = np.arange(len(stop))
        started = np.full(len(stop), self.start)
        if self.more:
            started = np.where(stop >= self.look, self.answers, self.start)
        return RaceOutcome(
            course.tokens[rows, stop],
            course.value(votes)[rows, stop],
            course.clock[rows, stop],
            stop + 1,
            started,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the race as plain values."""
        return {"plain": vars(self)}

    @classmethod
    def from_dict(cls, saved: dict[str, Any], most: int) -> PlainRace:
        """Return the race of these fields; raise ValueError if it never closes."""
        sizes = dict(saved)
        lead = number(sizes.pop("lead"), "lead", 0, NEVER)
        race = cls(lead=lead, **{name: whole(size, name, 0, most) for name, size in sizes.items()})
        sound = race.start >= 1 and 1 <= race.close <= race.start and race.answers <= most
        if race.more:
            sound = sound and 1 <= race.look <= race.start and race.look < race.then <= race.answers
        if not sound:
            raise ValueError("a plain race closes at a finish that never comes")
        return race


def plain_races(most: int) -> list[PlainRace]:
    """Return the plain races that join the priced ones in a library, up to ``most`` answers."""
    starts = [n for n in (1, 2, 3, 4, 5, 6, 8, 10, 12) if n <= most]
    races = {PlainRace(n, k) for n in starts for k in range(1, n + 1)}
    for n in starts:
        races |= {PlainRace(n, k, lead) for k in range(3, n + 1) for lead in (2, 3)}
        for look in (2, 3):
            for more in (2, 4, 8):
                if look <= n and n + more <= most:
                    closes = {look + 1, look + 2, n + more // 2, n + more}
                    races |= {PlainRace(n, n, 2, look, more, then) for then in closes}
    return sorted(races, key=lambda race: (race.start, str(race)))


def second_waves(waves: Waves, finished: int, most: int) -> list[int]:
    """Return the sizes of a second wave that may start at a finish; none if one has started."""
    if waves.more or finished not in _LOOKS:
        return []
    return [more for more in _MORE if waves.start + more <= most]


def decision_points(start: int, most: int) -> dict[Finish, int]:
    """Return every finish with a decision, and how many options it has besides closing."""
    points: dict[Finish, int] = {}
    for finished in range(1, start + 1):
        sizes = second_waves(Waves(start), finished, most)
        options = int(finished < start) + len(sizes)
        if options:
            points[0, 0, finished] = options
        for more in sizes:
            for later in range(finished + 1, start + more):
                points[finished, more, later] = 1
    return points


def feature_count(evidence: Evidence, second: bool) -> int:
    """Return how many features a race has with these signals."""
    return race_features(evidence, 1.0, 0.0, 0, second).size


@dataclass(frozen=True, eq=False)
class PricedMember:
    """A race that starts ``start`` answers and follows fitted rules, at one pair of prices.

    ``rules`` has, for every finish with a decision, coefficients of shape (options, d + 1), the
    constant first: of waiting for the next finish (if an answer runs), then of every second wave.
    """

    start: int
    most: int  #: answers of both waves, at most
    token_price: float  #: accuracy per tokens of an average answer
    waiting_price: float  #: accuracy per time of an average answer
    rules: dict[Finish, np.ndarray] = field(repr=False)

    @property
    def answers(self) -> int:
        """The most answers that start."""
        return self.start + max([0, *(more for _, more, _ in self.rules)])

    def gains(self, finish: Finish, features: np.ndarray) -> np.ndarray:
        """Return what every option promises over closing, shape (..., options)."""
        rules = self.rules[finish]
        return rules[:, 0] + features.T @ rules[:, 1:].T

    def play(self, heat: Heat, unit: float) -> RaceOutcome:
        """Return every stream's outcome, arrays of shape (M, 1); ``unit`` is an average answer."""

        def promised(finish: Finish, features: np.ndarray, gains: np.ndarray) -> np.ndarray:
            return self.gains(finish, features)

        prices = np.array([[self.token_price], [self.waiting_price]]) / unit
        return settle_race(heat, Waves(self.start), self.most, prices, promised)

    def to_dict(self) -> dict[str, Any]:
        """Return the member as plain values."""
        return {
            "start": self.start,
            "token_price": self.token_price,
            "waiting_price": self.waiting_price,
            "rules": [[*finish, rule.tolist()] for finish, rule in self.rules.items()],
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any], most: int, evidence: Evidence) -> PricedMember:
        """Return the member that `to_dict` described; raise ValueError if it is not sound."""
        start = whole(saved["start"], "start", 1, most)
        points = decision_points(start, most)
        rules = {}
        for look, more, finished, rule in saved["rules"]:
            finish = (look, more, finished)
            shape = (points.pop(finish), feature_count(evidence, second=more > 0) + 1)
            rules[finish] = numbers(rule, "rules", shape)
        if points:
            raise ValueError("a race has no rule for some of its finishes")
        token_price = number(saved["token_price"], "token_price", 0)
        waiting_price = number(saved["waiting_price"], "waiting_price", 0)
        return cls(start, most, token_price, waiting_price, rules)


def settle_race(
    heat: Heat, waves: Waves, most: int, prices: np.ndarray, predict: Predictor
) -> RaceOutcome:
    r"""Decide from the last finish to the first, and carry the outcomes back.

    With prices :math:`\lambda` and :math:`\mu`, the option with the highest predicted
    :math:`v - \lambda c - \mu w` is taken: accuracy, tokens and waiting at the close. What is
    carried back is what the decisions really brought; the predictions only decide.

    Parameters
    ----------
    heat : Heat
        Courses of the streams with their features.
    waves : Waves
        The answers that start. Where a second wave has not started, it is among the options.
    most : int
        Answers of both waves, at most.
    prices : ndarray, shape (2, L)
        Prices per token and per tick of the clock.
    predict : callable
        Returns the net gains of the options over closing, (M, options * L), from the finish, its
        features, and the gains that they really had.

    Returns
    -------
    RaceOutcome
        Arrays of shape (M, L).
    """
    last = waves.answers
    settled = heat.closed(waves, last, prices.shape[1])
    for finished in reversed(range(waves.look + 1, last + 1)):
        options = [settled] if finished < last else []
        for more in second_waves(waves, finished, most):
            second = Waves(waves.start, finished, more)
            options.append(settle_race(heat, second, most, prices, predict))
        settled = _decided(heat, waves, finished, options, prices, predict)
    return settled


def _decided(
    heat: Heat,
    waves: Waves,
    finished: int,
    options: Sequence[RaceOutcome],
    prices: np.ndarray,
    predict: Predictor,
) -> RaceOutcome:
    """Return the outcome of the option that promises most at a finish, or of closing there."""
    close = heat.closed(waves, finished, prices.shape[1])
    if not options:
        return close
    gains = np.hstack([_net(option, prices) - _net(close, prices) for option in options])
    finish = (waves.look, waves.more, finished)
    promised = predict(finish, heat.features(waves, finished), gains)
    chosen = RaceOutcome(*(np.array(figures) for figures in close))
    highest = np.zeros(chosen.tokens.shape)
    for option, gain in zip(options, np.split(promised, len(options), axis=1), strict=True):
        better = gain > highest
        np.copyto(highest, gain, where=better)
        for target, source in zip(chosen, option, strict=True):
            np.copyto(target, source, where=better)
    return chosen


def _net(outcome: RaceOutcome, prices: np.ndarray) -> np.ndarray:
    """Return accuracy less what tokens and waiting cost, (M, L)."""
    return outcome.accuracy - prices[0] * outcome.tokens - prices[1] * outcome.clock
