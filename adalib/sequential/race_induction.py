"""Backward induction over the finishes of a race, at many pairs of prices at once.

`adalib.sequential.induction` does the same for answers that are asked one by one. Here a decision
comes at every finish, the cost is that of tokens and of waiting, and besides going on there may be
second waves to start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from adalib.sequential.course import Course, Courses, KeptByStart, Waves
from adalib.sequential.evidence import Evidence
from adalib.sequential.race_rules import Finish, Outcome, race_features, second_waves
from adalib.sequential.streams import Streams

#: Predicts the net gains of the options at a finish, from its features and the true gains.
Predictor = Callable[[Finish, np.ndarray, np.ndarray], np.ndarray]


class _SeesFinishes(Protocol):
    """What a heat reads of a policy."""

    unit: float

    def evidence(
        self, course: Course, features: ArrayLike | None, *, trained_on: bool
    ) -> Evidence: ...


class Heat:
    """The courses of some streams, with what a policy's signals know at every finish.

    Parameters
    ----------
    policy : PricedRace
        A policy with fitted signals.
    streams : Streams
        Answers in the order in which they start.
    features : array_like, shape (N, d), optional
        Features of the questions, where a signal needs them.
    trained_on : bool
        Whether these are the questions from which the policy learned.
    """

    def __init__(
        self,
        policy: _SeesFinishes,
        streams: Streams,
        features: ArrayLike | None = None,
        trained_on: bool = False,
    ) -> None:
        self.courses = Courses(streams)
        self._unit = policy.unit
        self._evidence = KeptByStart(
            lambda waves: policy.evidence(
                self.courses.course(waves), features, trained_on=trained_on
            )
        )

    def closed(self, waves: Waves, finished: int, levels: int) -> Outcome:
        """Return the outcome of closing at a finish, the same at every price."""
        course = self.courses.course(waves)
        column = finished - 1
        value = course.value(self._evidence(waves).votes)
        streams = len(course.clock)
        figures = (
            course.tokens[:, column],
            value[:, column],
            course.clock[:, column],
            np.full(streams, finished),
            np.full(streams, waves.answers),
        )
        return Outcome(*(np.broadcast_to(one[:, None], (streams, levels)) for one in figures))

    def features(self, waves: Waves, finished: int) -> np.ndarray:
        """Return the features at a finish, (d, M)."""
        course = self.courses.course(waves)
        column = finished - 1
        clock = course.clock[:, column]
        return race_features(
            self._evidence(waves).at(column),
            clock / self._unit,
            (clock - course.second_start) / self._unit,
            course.first_running[:, column],
            second=waves.more > 0,
        )


def settle_race(
    heat: Heat, waves: Waves, most: int, prices: np.ndarray, predict: Predictor
) -> Outcome:
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
    Outcome
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
    options: Sequence[Outcome],
    prices: np.ndarray,
    predict: Predictor,
) -> Outcome:
    """Return the outcome of the option that promises most at a finish, or of closing there."""
    close = heat.closed(waves, finished, prices.shape[1])
    if not options:
        return close
    gains = np.hstack([_net(option, prices) - _net(close, prices) for option in options])
    finish = (waves.look, waves.more, finished)
    promised = predict(finish, heat.features(waves, finished), gains)
    chosen = Outcome(*(np.array(figures) for figures in close))
    highest = np.zeros(chosen.tokens.shape)
    for option, gain in zip(options, np.split(promised, len(options), axis=1), strict=True):
        better = gain > highest
        np.copyto(highest, gain, where=better)
        for target, source in zip(chosen, option, strict=True):
            np.copyto(target, source, where=better)
    return chosen


def _net(outcome: Outcome, prices: np.ndarray) -> np.ndarray:
    """Return accuracy less what tokens and waiting cost, (M, L)."""
    return outcome.accuracy - prices[0] * outcome.tokens - prices[1] * outcome.clock
