"""Go on, or go up: priced stopping with a second, dearer model behind the first.

After each answer of the cheap model there are three ways on: keep the leading answer, ask again, or hand the question
to the dear model, which then stops by the same price. Going up ends the cheap model's part: this is the stopping of
chapter 9 with two ways to stop, by the same backward induction: what would each bring, judged by what is known now?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.sequential.priced import PricedStopping, cross_fitted, dealt
from adalib.sequential.signals import Text
from adalib.sequential.streams import REPLAYS, Streams, make_streams, mix_for, shares_of

__all__ = ["PricedEscalation"]

_SIGNALS = ("votes", "text", "certainty")
_ARMS = (1, 2, 4, 8)  # numbers of answers of one model alone: plain members of the library

Guesser = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
Above = tuple[np.ndarray, np.ndarray]  # what going up costs and brings, at every price


class PricedEscalation:
    """Ask the cheap model first; keep its answer, go on, or go up, as the price says.

    Explained in chapter 11, "Several models". Fitted, ``first`` and ``second`` say how each model would stop alone.

    Parameters
    ----------
    most, repeats : int
        Answers of either model, at most, and orders in which every training question is played back.

    Examples
    --------
    >>> from adalib import Menu, beta_population
    >>> small, large = (beta_population(40, a, 1.5).sample(8) for a in (1.5, 3))
    >>> menu = Menu({"small": small, "large": large}, prices={"small": 1, "large": 5})
    >>> ((cost, accuracy),) = PricedEscalation(most=4).fit(menu).replay(menu, [1.0])
    >>> cost.mean().item()
    1.0
    """

    def __init__(self, *, most: int = 8, repeats: int = 16) -> None:
        self.most, self.repeats = most, repeats

    def fit(self, menu: Menu, features: ArrayLike | None = None, groups: Sequence | None = None) -> PricedEscalation:
        """Learn what each way on is worth, at every price, from a menu of two models, the cheaper one first."""
        if len(menu.models) != 2:
            raise ValueError(f"escalation is from one model to another; the menu has {len(menu.models)} models")
        unit = menu.unit or {}
        self.order = sorted(menu.models, key=lambda name: unit[name])
        self.units = [unit[name] for name in self.order]
        self.prices = np.geomspace(1e-3 / self.units[1], 0.3 / self.units[0], 40)
        cheap, dear = (menu.models[name] for name in self.order)
        member, fold = dealt(groups, menu.n)
        known = None if features is None else np.asarray(features, dtype=float)
        self.first, self.second = (self._alone(answers, known, member) for answers in (cheap, dear))
        streams = make_streams(cheap, int(self.first.schedule[-1]), repeats=self.repeats)
        self.coefficients: dict[int, np.ndarray] = {}

        def learn(step: int, state: np.ndarray, gains: np.ndarray) -> np.ndarray:
            self.coefficients[step], guess = cross_fitted(state, gains, fold[streams.question], ridge=0.01)
            return guess

        above = self._taught_apart(dear, known, member, fold % 2)
        paid, worth = self._members(menu, streams, known, above, learn, taught=True)
        # A member a price, then every arm of one model alone, all by fits that did not see the question.
        self.costs, self.accuracies = paid.mean(axis=0), worth.mean(axis=0)
        return self

    def replay(
        self, menu: Menu, budgets: Sequence[float], features: ArrayLike | None = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Play answers back to unseen questions: cost and accuracy of every question, a pair a budget."""
        cheap, dear = (menu.models[name] for name in self.order)
        used, shares = shares_of([mix_for(self.costs, self.accuracies, budget) for budget in budgets])
        above = self._above(self.second, dear, features, seed=1)
        streams = make_streams(cheap, int(self.first.schedule[-1]), repeats=REPLAYS, seed=1)
        fitted = self.coefficients
        paid, worth = self._members(
            menu, streams, features, above, lambda step, state, _: fitted[step][0] + state.T @ fitted[step][1:]
        )
        return list(zip((paid[:, used] @ shares.T).T, (worth[:, used] @ shares.T).T, strict=True))

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and be scored on ``test``, for `adalib.held_out`."""
        policy = copy(self)
        policy.most = min(self.most, train.answers.samples, test.answers.samples)
        return policy.fit(train.answers, train.features, train.groups).replay(test.answers, targets, test.features)

    def _alone(self, answers: Responses, known: np.ndarray | None, member: np.ndarray) -> PricedStopping:
        schedule = range(1, min(self.most, answers.samples) + 1)
        policy = PricedStopping(_SIGNALS, schedule=schedule, repeats=self.repeats, exact=True)
        return policy.fit(answers, known, member.tolist())

    def _above(self, policy: PricedStopping, dear: Responses, known: ArrayLike | None, seed: int) -> Above:
        """What going up costs and brings to every question, at every price: two arrays of shape (N, L)."""
        chosen = [policy.at_price(price * self.units[1]) for price in self.prices]
        used, place = np.unique(chosen, return_inverse=True)
        played = policy.replay(dear, policy.costs[used].tolist(), known, seed=seed)
        return self.units[1] * played.cost[:, place], played.accuracy[:, place]

    def _taught_apart(self, dear: Responses, known: np.ndarray | None, member: np.ndarray, half: np.ndarray) -> Above:
        """The same for training questions: the worth of each half by a fit on the other, lest chance count twice."""
        # A cost is chosen by nobody, and a fit on half of the questions would spend otherwise than the deployed one.
        paid, worth = self._above(self.second, dear, known, seed=0)
        for part in (0, 1) if half.any() else ():
            rest, out = np.flatnonzero(half != part), np.flatnonzero(half == part)
            taught, asked = (None if known is None else known[rows] for rows in (rest, out))
            policy = self._alone(dear.take(rest), taught, member[rest])
            worth[out] = self._above(policy, dear.take(out), asked, seed=0)[1]
        return paid, worth

    def _members(
        self, menu: Menu, streams: Streams, known: ArrayLike | None, above: Above, guess: Guesser, taught: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cost and accuracy of every question (rows) under every member of the library (columns)."""
        heard = [*self.first.heard.values(), *self.second.heard.values()]
        said = [signal.foretold(known, taught) for signal in heard if isinstance(signal, Text)]
        text, seen = np.zeros((0, len(streams.question))), self.first.seen(streams, known, taught=taught)
        if len(said) == 2:
            guesses = np.hstack(said)[streams.question].T
            text = np.vstack([guesses, guesses**2, guesses[1] * guesses[2]])
        else:  # what says nothing of one model is not heard of the other
            seen = seen._replace(signals={name: one for name, one in seen.signals.items() if not one.takes})
        value = np.hstack([np.zeros((len(streams.question), 1)), seen.votes.value])
        states = [text]  # before the first answer the text is all there is
        for step in range(self.first.schedule.size):
            votes = seen.at(step).features()
            states.append(np.vstack([votes, text[2:4], text[2:4] * votes[0]]))
        up = above[0][streams.question], above[1][streams.question]
        paid, worth = settle(states, value, up, self.units[0], self.prices, guess)
        alone = menu.table([b for b in _ARMS if b <= menu.samples])
        bill = np.broadcast_to(alone.cost, alone.acc.shape)
        return np.hstack([streams.mean(paid), bill]), np.hstack([streams.mean(worth), alone.acc])


def settle(
    states: Sequence[np.ndarray], value: np.ndarray, up: Above, unit: float, prices: np.ndarray, guess: Guesser
) -> tuple[np.ndarray, np.ndarray]:
    """From the last step to the first: the way that promises most is taken, and what it really brings is carried back.

    ``states`` has what is known of M streams before the first answer and after each, ``value`` (M, S) what the cheap
    model's vote is worth there, ``unit`` what its answer costs. ``guess`` tells, from a step, its state and the net
    gains over keeping, what going up and (but for the last step) going on promise. Returns cost and worth, (M, L).
    """
    last, levels = value.shape[1] - 1, prices.size
    paid, worth = np.zeros_like(up[0]), np.repeat(value[:, -1:], levels, axis=1)
    for step in reversed(range(last + 1)):
        ways = [(np.zeros_like(paid), np.repeat(value[:, step : step + 1], levels, axis=1)), up]
        if step < last:
            ways.append((paid + unit, worth))
        keep = ways[0][1]
        gains = np.hstack([brings - prices * costs - keep for costs, brings in ways[1:]])
        promised = np.split(guess(step, states[step], gains), len(ways) - 1, axis=1)
        best = np.argmax([np.zeros_like(paid), *promised], axis=0)
        paid, worth = (np.choose(best, [way[which] for way in ways]) for which in (0, 1))
    return paid, worth
