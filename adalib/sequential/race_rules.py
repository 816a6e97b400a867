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
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.files import number, numbers, whole
from adalib.sequential.evidence import Evidence
from adalib.sequential.heat import Heats, RaceOutcome, RaceTimeline, Waves, race_features
from adalib.sequential.rules import NEVER
from adalib.sequential.signals.votes import VoteCount
from adalib.sequential.votes import Votes

STARTS = (1, 2, 3, 4, 6, 8, 12)  #: sizes of a priced race's first wave
_LOOKS = (1, 2, 3, 4)  # finishes at which its second wave may start
_MORE = (2, 4)  # sizes of its second wave


class Finish(NamedTuple):
    """A moment of decision."""

    look: int  #: the finish at which the second wave started; 0 without one
    more: int  #: the answers of the second wave
    finished: int  #: answers that finished so far


#: What the options of some streams are predicted to gain over closing.
Promise = Callable[[slice], np.ndarray]
#: Gives that, from a finish, its features and the true gains of all streams.
Predictor = Callable[[Finish, np.ndarray, np.ndarray], Promise]


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

    def play(self, heats: Heats, count: VoteCount | None = None) -> RaceOutcome:
        """Return every stream's outcome; leads are of plain votes, ``count`` gives the answer."""
        heat = heats.heat(Waves(self.start, self.look, self.more))
        plain = heat.streams.votes()
        votes = plain if count is None else count.count(heat.streams)
        stops = self.leads(plain)
        stops[:, self.last - 1 :] = True
        stop = stops.argmax(axis=1)
        rows = np.arange(len(stop))
        started = np.full(len(stop), self.start)
        if self.more:
            started = np.where(stop >= self.look, self.answers, self.start)
        return RaceOutcome(
            heat.tokens[rows, stop],
            votes.value[rows, heat.last_tied[rows, stop]],
            heat.clock[rows, stop],
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
            points[Finish(0, 0, finished)] = options
        for more in sizes:
            for later in range(finished + 1, start + more):
                points[Finish(finished, more, later)] = 1
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
        return self.start + max([0, *(finish.more for finish in self.rules)])

    def gains(self, finish: Finish, features: np.ndarray) -> np.ndarray:
        """Return what every option promises over closing, shape (..., options)."""
        rules = self.rules[finish]
        return rules[:, 0] + features.T @ rules[:, 1:].T

    def play(self, timeline: RaceTimeline, unit: float) -> RaceOutcome:
        """Return every stream's outcome, arrays of shape (M, 1); ``unit`` is an average answer."""

        def promised(finish: Finish, features: np.ndarray, gains: np.ndarray) -> Promise:
            return lambda rows: self.gains(finish, features[:, rows])

        prices = np.array([[self.token_price], [self.waiting_price]]) / unit
        return settle_race(timeline, Waves(self.start), self.most, prices, promised)

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
        for *numbered, rule in saved["rules"]:
            finish = Finish(*numbered)
            shape = (points.pop(finish), feature_count(evidence, second=finish.more > 0) + 1)
            rules[finish] = numbers(rule, "rules", shape)
        if points:
            raise ValueError("a race has no rule for some of its finishes")
        token_price = number(saved["token_price"], "token_price", 0)
        waiting_price = number(saved["waiting_price"], "waiting_price", 0)
        return cls(start, most, token_price, waiting_price, rules)


def settle_race(
    timeline: RaceTimeline, waves: Waves, most: int, prices: np.ndarray, predict: Predictor
) -> RaceOutcome:
    r"""Decide from the last finish to the first, and carry the outcomes back.

    With prices :math:`\lambda` and :math:`\mu`, the option with the highest predicted
    :math:`v - \lambda c - \mu w` is taken: accuracy, tokens and waiting at the close. What is
    carried back is what the decisions really brought; the predictions only decide.

    Parameters
    ----------
    timeline : RaceTimeline
        Heats of the streams with their features.
    waves : Waves
        The answers that start. Where a second wave has not started, it is among the options.
    most : int
        Answers of both waves, at most.
    prices : ndarray, shape (2, L)
        Prices per token and per tick of the clock.
    predict : callable
        Told the finish, its features, and the net gains of the options over closing that streams
        really had, (M, options * L), it returns a function of some rows that predicts theirs.

    Returns
    -------
    RaceOutcome
        Arrays of shape (M, L).
    """
    settled = settle_together(timeline, waves, most, prices, [predict])
    return RaceOutcome(*(settled.figure(name) for name in RaceOutcome._fields))


def settle_together(
    timeline: RaceTimeline,
    waves: Waves,
    most: int,
    prices: np.ndarray,
    predictors: Sequence[Predictor],
) -> SettledRace:
    """Settle a race by several predictors at once, which share its heats and features.

    The gains that all of them are shown are those of the first one's decisions.
    """
    closings: list[RaceOutcome] = []
    settled = _settled(timeline, waves, most, prices, predictors, closings)
    return SettledRace(closings, settled.closes)


class SettledRace(NamedTuple):
    """Every way to close a race, and by predictor the one taken for each stream, (M, L)."""

    closings: list[RaceOutcome]
    closes: list[np.ndarray]

    def figure(self, name: str, player: int = 0) -> np.ndarray:
        """Return a field of `RaceOutcome` as one of the predictors decided, (M, L)."""
        figures = np.column_stack([getattr(closing, name) for closing in self.closings])
        return np.take_along_axis(figures, self.closes[player], axis=1)


class _Settled(NamedTuple):
    """Races decided from some finish on, arrays of shape (M, L)."""

    net: np.ndarray  #: what the first predictor's decisions bring
    closes: list[np.ndarray]  #: by predictor, the closing of each stream, as a number in a list


def _settled(
    timeline: RaceTimeline,
    waves: Waves,
    most: int,
    prices: np.ndarray,
    predictors: Sequence[Predictor],
    closings: list[RaceOutcome],
) -> _Settled:
    """Decide from the last finish to the first, and add every way to close to ``closings``.

    Carrying the number of a closing instead of its figures moves a tenth of the memory.
    """
    last = waves.answers
    closing = timeline.closed(waves, last)
    net = _net(closing, prices, slice(None))
    closes = [np.full(net.shape, len(closings), dtype=np.int16) for _ in predictors]
    closings.append(closing)
    settled = _Settled(net, closes)
    for finished in reversed(range(waves.look + 1, last + 1)):
        options = [settled] if finished < last else []
        for more in second_waves(waves, finished, most):
            second = Waves(waves.start, finished, more)
            options.append(_settled(timeline, second, most, prices, predictors, closings))
        if options:
            settled = _decided(timeline, waves, finished, prices, options, predictors, closings)
    return settled


def _net(closing: RaceOutcome, prices: np.ndarray, rows: slice) -> np.ndarray:
    """Return what closing brings some streams, accuracy less tokens and waiting at their prices."""
    net = closing.accuracy[rows, None] - np.multiply.outer(closing.tokens[rows], prices[0])
    net -= np.multiply.outer(closing.clock[rows], prices[1])
    return net


def _decided(
    timeline: RaceTimeline,
    waves: Waves,
    finished: int,
    prices: np.ndarray,
    options: Sequence[_Settled],
    predictors: Sequence[Predictor],
    closings: list[RaceOutcome],
) -> _Settled:
    """Close at a finish or take the option that promises most; the first one is overwritten."""
    closing = timeline.closed(waves, finished)
    levels = prices.shape[1]
    closed = np.empty_like(options[0].net)
    gains = np.empty((len(closed), len(options) * levels))
    pieces = timeline.pieces(levels)
    for rows in pieces:
        closed[rows] = _net(closing, prices, rows)
        for place, option in enumerate(options):
            columns = slice(place * levels, (place + 1) * levels)
            np.subtract(option.net[rows], closed[rows], out=gains[rows, columns])
    finish = Finish(waves.look, waves.more, finished)
    features = timeline.features(waves, finished)
    promises = [predict(finish, features, gains) for predict in predictors]
    first, *others = options
    for rows in pieces:
        for player, promise in enumerate(promises):
            highest, *promised = np.split(promise(rows), len(options), axis=1)
            closes = first.closes[player][rows]
            for option, gain in zip(others, promised, strict=True):
                better = gain > highest
                np.maximum(highest, gain, out=highest)
                np.copyto(closes, option.closes[player][rows], where=better)
                if player == 0:
                    np.copyto(first.net[rows], option.net[rows], where=better)
            nothing_pays = highest <= 0
            np.copyto(closes, len(closings), where=nothing_pays)
            if player == 0:
                np.copyto(first.net[rows], closed[rows], where=nothing_pays)
    closings.append(closing)
    return first
