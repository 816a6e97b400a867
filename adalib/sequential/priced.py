"""What both priced policies share: a library of rules, a mix of two for a budget, and a file.

`adalib.PricedStopping` asks for one answer after the other, `adalib.PricedRace` starts several at
once. Both fit one rule per price, let plain rules join them, and keep those on the envelope of cost
and accuracy. So both have members with a cost and an accuracy in training; a price picks one of
them, a budget mixes two, and a session follows one of them through a question.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import number, numbers, reading
from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.sequential.alike import Alike, played_alike
from adalib.sequential.evidence import SignalPolicy
from adalib.sequential.replay import Library

#: The accuracy that an average answer must gain to be asked.
LEAST = 1e-3
_FOLDS = 10  # each training question is decided by a fit on the other nine tenths


def training_folds(groups: Sequence | None, n: int, seed: int = 0) -> np.ndarray:
    """Return the fold of every question, 0 for all if there is a single group."""
    group = group_numbers(range(n) if groups is None else groups, n)
    return deal(group, _FOLDS, seed) if group.any() else np.zeros(n, dtype=int)


class PricedPolicy(SignalPolicy, Library, ABC):
    """Base class of the two priced policies; accuracies are by fits without the question."""

    kind: ClassVar[str]  #: the name of this kind of policy in a file
    exact: bool = False  #: whether the whole budget is spent, however little it gains
    unit: float  #: cost of an average answer

    def check_fitted(self) -> None:
        """Raise ValueError if the policy has not learned yet."""
        if not self.members:
            raise ValueError("the policy has learned nothing yet; call its fit first")

    def own_vote(self, answers: Responses, most: int, allowed: np.ndarray) -> Alike | None:
        count = self.deciding_count
        if not count.sharpness:
            return None
        return played_alike(answers, most, allowed, self.cost, lambda one: count.count(one).value)

    @property
    def values(self) -> np.ndarray:
        """What each member is worth before its cost is paid: its accuracy in training."""
        return self.accuracies

    @property
    @abstractmethod
    def most_answers(self) -> int:
        """The most answers that a question can get."""

    @abstractmethod
    def price(self, budget: float) -> float:
        """Return the price at which ``budget`` is spent in training: the envelope's slope there."""

    def at_price(self, price: float) -> int:
        """Return the member with the most value less price times cost; ties to the cheaper."""
        return int(np.argmax(self.values - price * self.costs))

    @abstractmethod
    def begin(self, number: int, features: ArrayLike | None = None) -> Any:
        """Begin with one question by the member of this number, as `at_price` returns it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted policy as plain values, ready for `json.dumps`.

        Returns
        -------
        dict
            Numbers, names and lists, from which `from_dict` makes the same policy.

        Examples
        --------
        >>> from adalib import PricedStopping, beta_population
        >>> answers = beta_population(60, 1.5, 1.5).sample(12)
        >>> policy = PricedStopping(("votes",), repeats=2).fit(answers)
        >>> PricedStopping.from_dict(policy.to_dict()).mix(2.0) == policy.mix(2.0)
        True
        """
        self.check_fitted()
        return {
            "kind": self.kind,
            "version": 1,
            **self.signals_to_dict(),
            "unit": self.unit,
            **self._settings_to_dict(),
            "members": [member.to_dict() for member in self.members],
            "costs": self.costs.tolist(),
            "accuracies": self.accuracies.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Return the policy that `to_dict` described.

        Every name, size and number is checked, and nothing is run.

        Parameters
        ----------
        data : dict
            What `to_dict` returned, or `json.loads` of it.

        Returns
        -------
        PricedStopping or PricedRace
            A policy that decides as the saved one did.

        Raises
        ------
        DataError
            If the data are damaged, or of something else.
        """
        with reading(data, cls.kind, 1):
            policy = cls._with_settings(data)
            policy.restore_signals(data)
            policy.unit = number(data["unit"], "unit", 1e-9, 1e12)
            policy.members = policy._saved_members(data)
            count = (len(policy.members),)
            policy.costs = numbers(data["costs"], "costs", count, 0)
            policy.accuracies = numbers(data["accuracies"], "accuracies", count, 0, 1)
            if not policy.members or (np.diff(policy.costs) < 0).any():
                raise ValueError("its members are missing, or not in the order of their costs")
        return policy

    @abstractmethod
    def _settings_to_dict(self) -> dict[str, Any]:
        """Return as plain values what only this kind of policy has."""

    @classmethod
    @abstractmethod
    def _with_settings(cls, data: dict[str, Any]) -> Self:
        """Return an unfitted policy with the saved settings; ValueError if they are not sound."""

    @abstractmethod
    def _saved_members(self, data: dict[str, Any]) -> list[Any]:
        """Return the saved members, and restore what they refer to; ValueError as above."""
