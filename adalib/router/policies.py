"""The kinds of policy that a router can have, all asked in the same way.

A policy that decides while answers come in (`PricedStopping`), one that decides
before the first (`CurvePolicy`) and a race (`PricedRace`) differ in what they offer at a price. A
`Planner` puts each into the words of the router: a price for a budget, a session for a question,
and the figures from which the bound on overspending is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adalib.datasets.files import read_lines, write_lines
from adalib.router.asking import Decision, FixedVote
from adalib.router.controller import Reach
from adalib.sequential.policy import LEAST, PricedStopping
from adalib.sequential.race import PricedRace
from adalib.solve.hull import concave_hull

if TYPE_CHECKING:
    from adalib.learn.curve_policy import CurvePolicy

    Policy = PricedStopping | PricedRace | CurvePolicy

NAMES = ("curve", "race", "priced")


class Planner(ABC):
    """A policy as the router uses it.

    Attributes
    ----------
    name : str
        The kind of policy, as the folder's file has it.
    reads : mapping of str to str
        Fields of an answer that the policy weighs answers by, each with its signal.
    takes : int
        Features of a question that the policy needs; 0 if none.
    most_answers : int
        Answers that a question can get.
    least : float
        The price below which nothing is bought, budget left or not; 0 if the policy spends it all.
    one_answer : float
        Average cost of one answer in training.
    """

    name: str
    reads: Mapping[str, str] = {}
    takes: int
    most_answers: int
    least: float
    one_answer: float

    @abstractmethod
    def price(self, budget: float) -> float:
        """Return the price at which ``budget`` is spent in training."""

    @abstractmethod
    def plan(self, features: np.ndarray | None, price: float) -> Decision:
        """Decide what to do with one question at a price."""

    @abstractmethod
    def reach(self, answer: float, cap: float) -> Reach:
        """Return what a price can do if an answer, and a question, cost this much at most."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the policy to a file that `load_policy` reads."""


class StoppingPlanner(Planner):
    """Priced stopping: decide after every round of answers."""

    def __init__(self, policy: PricedStopping) -> None:
        self.policy = policy
        self.name = "priced"
        self.reads = policy.reads
        self.takes = policy.takes
        self.most_answers = int(policy.schedule[-1])
        self.least = 0.0 if policy.exact else LEAST / policy.unit
        self.one_answer = float(policy.costs[0]) / int(policy.schedule[0])

    def price(self, budget: float) -> float:
        return self.policy.price(budget)

    def plan(self, features: np.ndarray | None, price: float) -> Decision:
        number = self.policy.at_price(price)
        session = self.policy.begin(number, None if features is None else features[0])
        stops = tuple(self.policy.schedule.tolist())
        return Decision(session, float(self.policy.costs[number]), stops)

    def reach(self, answer: float, cap: float) -> Reach:
        policy = self.policy
        high = _highest_gain(policy.costs, policy.accuracies)
        most = self.most_answers * answer
        turn = int(np.diff(policy.schedule, prepend=0).max()) * answer
        return Reach(high, float(policy.costs[0]), min(cap, most), min(cap, turn))

    def save(self, path: Path) -> None:
        write_lines(path, [self.policy.to_dict()])


class CurvePlanner(Planner):
    """A curve policy: decide on a number of answers before the first, and ask them all at once."""

    def __init__(self, policy: CurvePolicy, budgets: Sequence[int]) -> None:
        self.policy = policy
        self.budgets = tuple(budgets)
        self.name = "curve"
        self.takes = policy.n_features_in_
        self.most_answers = self.budgets[-1]
        self.least = LEAST * self.budgets[-1] / float(policy.cost_[-1])
        self.one_answer = float(policy.cost_[0]) / self.budgets[0]

    def price(self, budget: float) -> float:
        return self.policy.price(budget)

    def plan(self, features: np.ndarray | None, price: float) -> Decision:
        column = int(self.policy.at_price([] if features is None else features, price)[0])
        answers = self.budgets[column]
        return Decision(FixedVote(answers), float(self.policy.cost_[column]), (answers,))

    def reach(self, answer: float, cap: float) -> Reach:
        costs = self.policy.cost_
        # No accuracy is above 1, and all answers come in one round.
        high = max(1.0 / (costs[1:] - costs[0]), default=0.0)
        return Reach(float(high), float(costs[0]), min(cap, self.most_answers * answer), cap)

    def save(self, path: Path) -> None:
        self.policy.save(path)


class RacePlanner(Planner):
    """A race: start several answers at once, and cancel those that are not worth waiting for."""

    def __init__(self, policy: PricedRace) -> None:
        self.policy = policy
        self.name = "race"
        self.reads = {field: name for field, name in policy.reads.items() if field != "tokens"}
        self.takes = policy.takes
        self.most_answers = max(member.answers for member in policy.members)
        self.least = LEAST / policy.unit
        self.one_answer = policy.unit

    @property
    def _net(self) -> np.ndarray:
        """Accuracies in training, less the price of waiting."""
        return self.policy.accuracies - self.policy.waiting_price * self.policy.waiting

    def price(self, budget: float) -> float:
        """Return the slope of the best races' envelope at this budget."""
        costs = self.policy.costs
        if not budget >= costs.min() * (1 - 1e-9):
            raise ValueError(
                f"the budget is {budget:g} tokens and the cheapest race costs {costs.min():g}; "
                "give at least that"
            )
        corners = concave_hull(costs, self._net - self.least * costs)
        if len(corners) == 1:  # a single race: no price changes anything
            return 1.0
        after = int(np.searchsorted(costs[corners], budget, side="right"))
        high = min(max(after, 1), len(corners) - 1)
        gain = self._net[corners[high]] - self._net[corners[high - 1]]
        return max(float(gain / (costs[corners[high]] - costs[corners[high - 1]])), 0.0)

    def plan(self, features: np.ndarray | None, price: float) -> Decision:
        policy = self.policy
        number = policy.at_price(price, policy.waiting_price)
        session = policy.begin(number, None if features is None else features[0])
        stops = tuple(range(1, policy.members[number].answers + 1))
        return Decision(session, float(policy.costs[number]), stops)

    def reach(self, answer: float, cap: float) -> Reach:
        # All answers may run at once, so a question has no smaller rounds.
        most = min(cap, self.most_answers * answer)
        high = _highest_gain(self.policy.costs, self._net)
        return Reach(high, float(self.policy.costs[0]), most, most)

    def save(self, path: Path) -> None:
        write_lines(path, [self.policy.to_dict()])


def _highest_gain(costs: np.ndarray, accuracies: np.ndarray) -> float:
    """The price from which every question gets the cheapest rule, which comes first."""
    dearer = costs > costs[0]
    gains = (accuracies - accuracies[0])[dearer] / (costs - costs[0])[dearer]
    return float(max(gains, default=0.0))


def planner_for(policy: Policy, budgets: Sequence[int]) -> Planner:
    """Return the planner of a fitted policy; ``budgets`` are those on offer to a curve policy."""
    if isinstance(policy, PricedRace):
        return RacePlanner(policy)
    if isinstance(policy, PricedStopping):
        return StoppingPlanner(policy)
    return CurvePlanner(policy, budgets)


def load_policy(path: Path, name: str) -> Any:
    """Read the policy of a saved router.

    One that decides before asking needs the libraries that learn.
    """
    if name in ("priced", "race"):
        ((_, saved),) = read_lines(path)
        return (PricedRace if name == "race" else PricedStopping).from_dict(saved)
    from adalib.learn.curve_policy import CurvePolicy
    from adalib.learn.saved import load_policy as load_learned

    policy = load_learned(path)
    if not isinstance(policy, CurvePolicy):
        raise ValueError("its policy cannot be held to a budget")
    return policy
