"""Keep, ask again, or escalate: priced stopping with a more expensive model behind the first.

After each answer of the cheap model there are three options: keep the leading answer, ask again, or
hand the question to the expensive model, which then stops by the same price. Escalating ends the
cheap model's turn, so this is priced stopping with two ways to stop, by the same backward
induction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.folds import group_numbers
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.sequential.evidence import Evidence
from adalib.sequential.induction import cross_fitted
from adalib.sequential.policy import PricedStopping, training_folds
from adalib.sequential.replay import REPLAYS, mix_for, shares_of
from adalib.sequential.signals.text import Text
from adalib.sequential.streams import Streams, make_streams

_SIGNALS = ("votes", "text", "certainty")
_ARMS = (1, 2, 4, 8)  # numbers of answers of one model alone: plain members of the library

#: Predicts the net gains of the options at a step, from the step, its features and the true gains.
Predictor = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


class Escalated(NamedTuple):
    """What handing over to the expensive model costs and scores, at every price: (rows, prices)."""

    cost: np.ndarray
    accuracy: np.ndarray


class PricedEscalation:
    """Ask the cheap model first; keep its answer, ask again, or escalate, as the price says.

    Explained in the chapter "Several models, several efforts".

    Parameters
    ----------
    most : int
        Answers of either model, at most.
    repeats : int
        Orders in which every training question is played back.

    Attributes
    ----------
    order : list of str
        Names of the cheap and of the expensive model.
    units : list of float
        Cost of one answer of each.
    prices : ndarray, shape (L,)
        Prices of one unit of cost, in accuracy.
    first, second : PricedStopping
        How the cheap and the expensive model would stop alone.
    coefficients : dict of int to ndarray
        The linear rule at every step, the constant first: what escalating and asking again promise
        at every price.
    costs, accuracies : ndarray
        What each member of the library costs and scores in training: one per price, then fixed
        numbers of answers of one model alone.

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
        self.most = most
        self.repeats = repeats

    def fit(
        self, menu: Menu, features: ArrayLike | None = None, groups: Sequence | None = None
    ) -> PricedEscalation:
        """Learn what each option is worth, at every price.

        Parameters
        ----------
        menu : Menu
            Answers of two models to the same questions.
        features : array_like, shape (N, d), optional
            Features of the questions.
        groups : sequence, optional
            The group of each question; a group is left out together.

        Returns
        -------
        PricedEscalation
            The policy itself.
        """
        if len(menu.models) != 2:
            raise ValueError(
                f"escalation is from one model to another; the menu has {len(menu.models)} models"
            )
        self.order = sorted(menu.models, key=menu.unit.__getitem__)
        self.units = [menu.unit[name] for name in self.order]
        self.prices = np.geomspace(1e-3 / self.units[1], 0.3 / self.units[0], 40)
        cheap, expensive = (menu.models[name] for name in self.order)
        group = group_numbers(range(menu.n) if groups is None else groups, menu.n)
        fold = training_folds(groups, menu.n)
        question_features = None if features is None else np.asarray(features, dtype=float)
        self.first = self._alone(cheap, question_features, group)
        self.second = self._alone(expensive, question_features, group)
        streams = make_streams(cheap, int(self.first.schedule[-1]), repeats=self.repeats)
        self.coefficients: dict[int, np.ndarray] = {}

        def learn(step: int, state: np.ndarray, gains: np.ndarray) -> np.ndarray:
            folds = fold[streams.question]
            self.coefficients[step], predicted = cross_fitted(state, gains, folds, ridge=0.01)
            return predicted

        half = fold % 2  # whole folds, so that no group is in both halves
        escalated = self._escalated_apart(expensive, question_features, group, half)
        cost, accuracy = self._members(
            menu, streams, question_features, escalated, learn, trained_on=True
        )
        self.costs = cost.mean(axis=0)
        self.accuracies = accuracy.mean(axis=0)
        return self

    def replay(
        self, menu: Menu, budgets: Sequence[float], features: ArrayLike | None = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Play answers to unseen questions back.

        Parameters
        ----------
        menu : Menu
            Answers of the same two models.
        budgets : sequence of float
            Average costs per question.
        features : array_like, shape (N, d), optional
            Features of the questions, if the policy was fitted with them.

        Returns
        -------
        list of (cost, accuracy)
            One pair of arrays of shape (N,) per budget.
        """
        cheap, expensive = (menu.models[name] for name in self.order)
        mixes = [mix_for(self.costs, self.accuracies, budget) for budget in budgets]
        used, shares = shares_of(mixes)
        escalated = self._escalated(self.second, expensive, features, seed=1)
        streams = make_streams(cheap, int(self.first.schedule[-1]), repeats=REPLAYS, seed=1)

        def predict(step: int, state: np.ndarray, _: np.ndarray) -> np.ndarray:
            fitted = self.coefficients[step]
            return fitted[0] + state.T @ fitted[1:]

        cost, accuracy = self._members(menu, streams, features, escalated, predict)
        mixed_costs = (cost[:, used] @ shares.T).T
        mixed_accuracies = (accuracy[:, used] @ shares.T).T
        return list(zip(mixed_costs, mixed_accuracies, strict=True))

    def trial(
        self, train: Any, test: Any, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and return cost and accuracy on ``test``, for `adalib.held_out`."""
        policy = copy(self)
        policy.most = min(self.most, train.answers.samples, test.answers.samples)
        policy.fit(train.answers, train.features, train.groups)
        return policy.replay(test.answers, targets, test.features)

    def _alone(
        self, answers: Responses, features: np.ndarray | None, group: np.ndarray
    ) -> PricedStopping:
        """Fit how one model would stop alone."""
        schedule = range(1, min(self.most, answers.samples) + 1)
        policy = PricedStopping(_SIGNALS, schedule=schedule, repeats=self.repeats, exact=True)
        return policy.fit(answers, features, group.tolist())

    def _escalated(
        self, policy: PricedStopping, expensive: Responses, features: ArrayLike | None, seed: int
    ) -> Escalated:
        """Return what escalating every question costs and scores, at every price, (N, L)."""
        chosen = [policy.at_price(price * self.units[1]) for price in self.prices]
        used, place = np.unique(chosen, return_inverse=True)
        played = policy.replay(expensive, policy.costs[used].tolist(), features, seed=seed)
        return Escalated(self.units[1] * played.cost[:, place], played.accuracy[:, place])

    def _escalated_apart(
        self,
        expensive: Responses,
        features: np.ndarray | None,
        group: np.ndarray,
        half: np.ndarray,
    ) -> Escalated:
        """Return `_escalated` for training questions, each half's accuracy by a fit on the other.

        Otherwise luck would count twice. The cost is that of the deployed fit, since a fit on half
        of the questions would spend differently.
        """
        cost, accuracy = self._escalated(self.second, expensive, features, seed=0)
        if not half.any():  # one group of questions cannot be halved
            return Escalated(cost, accuracy)
        for number in (0, 1):
            others = np.flatnonzero(half != number)
            own = np.flatnonzero(half == number)
            others_features = None if features is None else features[others]
            own_features = None if features is None else features[own]
            policy = self._alone(expensive.take(others), others_features, group[others])
            left_out = self._escalated(policy, expensive.take(own), own_features, seed=0)
            accuracy[own] = left_out.accuracy
        return Escalated(cost, accuracy)

    def _members(
        self,
        menu: Menu,
        streams: Streams,
        features: ArrayLike | None,
        escalated: Escalated,
        predict: Predictor,
        trained_on: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return cost and accuracy of every question (rows) under every member (columns)."""
        evidence = self.first.evidence(streams, features, trained_on=trained_on)
        states = self._states(evidence, streams, features, trained_on)
        value = np.hstack([np.zeros((len(streams.question), 1)), evidence.votes.value])
        by_stream = Escalated(*(figures[streams.question] for figures in escalated))
        cost, accuracy = settle(states, value, by_stream, self.units[0], self.prices, predict)
        alone = menu.table([b for b in _ARMS if b <= menu.samples])
        alone_cost = np.broadcast_to(alone.cost, alone.acc.shape)
        return (
            np.hstack([streams.mean(cost), alone_cost]),
            np.hstack([streams.mean(accuracy), alone.acc]),
        )

    def _states(
        self,
        evidence: Evidence,
        streams: Streams,
        features: ArrayLike | None,
        trained_on: bool,
    ) -> list[np.ndarray]:
        """Return the features before the first answer of the cheap model and after each."""
        signals = [*self.first.signals_in_use.values(), *self.second.signals_in_use.values()]
        texts = [signal for signal in signals if isinstance(signal, Text)]
        before_asking = np.zeros((0, len(streams.question)))
        expensive_text = before_asking
        if len(texts) == 2:
            predicted = [text.predicted(features, trained_on)[streams.question].T for text in texts]
            cheap_text, expensive_text = predicted  # each (2, M): of one answer, of a long vote
            both = np.vstack(predicted)
            long_vote_times_answer = cheap_text[1] * expensive_text[0]
            before_asking = np.vstack([both, both**2, long_vote_times_answer])
        else:  # a text that says nothing about one model is not used for the other either
            without_text = {
                name: signal for name, signal in evidence.signals.items() if not signal.takes
            }
            evidence = evidence._replace(signals=without_text)
        states = [before_asking]
        for step in range(self.first.schedule.size):
            votes = evidence.at(step).features()
            leader_share = votes[0]
            states.append(np.vstack([votes, expensive_text, expensive_text * leader_share]))
        return states


def settle(
    states: Sequence[np.ndarray],
    value: np.ndarray,
    escalated: Escalated | tuple[np.ndarray, np.ndarray],
    unit: float,
    prices: np.ndarray,
    predict: Predictor,
) -> tuple[np.ndarray, np.ndarray]:
    """Take the most promising option from the last step to the first, and carry its outcome back.

    ``states`` are features of M streams before the first answer and after each, ``value`` (M, S) is
    the accuracy of the cheap model's vote there, ``unit`` the cost of its answer. ``predict``
    returns, from a step, its features and the net gains over keeping, what escalating and (except
    at the last step) asking again promise. Returns cost and accuracy at each of the L prices,
    (M, L).
    """
    last = value.shape[1] - 1
    levels = prices.size
    cost = np.zeros_like(escalated[0])
    accuracy = np.repeat(value[:, -1:], levels, axis=1)
    for step in reversed(range(last + 1)):
        keep = np.repeat(value[:, step : step + 1], levels, axis=1)
        free = np.zeros_like(cost)
        costs = [free, escalated[0]]
        accuracies = [keep, escalated[1]]
        if step < last:
            costs.append(cost + unit)
            accuracies.append(accuracy)
        gains = np.hstack(
            [
                option_accuracy - prices * option_cost - keep
                for option_cost, option_accuracy in zip(costs[1:], accuracies[1:], strict=True)
            ]
        )
        promised = np.split(predict(step, states[step], gains), len(costs) - 1, axis=1)
        best = np.argmax([free, *promised], axis=0)
        cost = np.choose(best, costs)
        accuracy = np.choose(best, accuracies)
    return cost, accuracy
