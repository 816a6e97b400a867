"""A menu of models: several models' answers to the same questions, and what one answer of each costs.

Whom to ask and how often is one choice, an arm; with a column an arm the table, the frontier and the price settle both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses
from adalib.table import UtilityTable
from adalib.vote.estimators import Ties

__all__ = ["Menu"]


@dataclass(frozen=True, eq=False, init=False)
class Menu:
    """The same questions answered by several models.

    Explained in chapter 11, "Several models".

    Parameters
    ----------
    models : mapping of str to Responses
        What each model answered; all have the same questions in the same order.
    prices : mapping of str to float, optional
        Price of one token of each model: its parameters, or money. Default: 1 for all. Where a model has no tokens,
        the price of one answer, for all.
    unit : mapping of str to float, optional
        What one answer of each model costs. Default: the price times the mean tokens of its answers. It is fixed here,
        so that halves and parts of a menu cost the same.

    Examples
    --------
    >>> small = Responses(["a", "b"], ["?", "??"], ["7", "8"], [["7", "7"], ["3", "4"]])
    >>> large = Responses(["a", "b"], ["?", "??"], ["7", "8"], [["7", "7"], ["8", "8"]])
    >>> table = Menu({"small": small, "large": large}, prices={"small": 1, "large": 3}).table([1, 2])
    >>> table.budgets, table.cost.tolist(), table.acc[1].tolist()
    (('small x1', 'small x2', 'large x1', 'large x2'), [1.0, 2.0, 3.0, 6.0], [0.0, 0.0, 1.0, 1.0])
    """

    models: Mapping[str, Responses]
    prices: Mapping[str, float]
    unit: Mapping[str, float] = field(repr=False)

    def __init__(
        self,
        models: Mapping[str, Responses],
        prices: Mapping[str, float] | None = None,
        unit: Mapping[str, float] | None = None,
    ) -> None:
        if not models:
            raise DataError("a menu needs at least one model")
        object.__setattr__(self, "models", models)
        for name, responses in models.items():
            for what in ("ids", "questions", "golds"):
                if list(getattr(responses, what)) != list(getattr(self, what)):
                    fault = f"{name} has other {what} than the first model"
                    raise DataError(f"{self.source}: {fault}; give the same, in order")
        prices = dict.fromkeys(models, 1.0) if prices is None else dict(prices)
        if set(prices) != set(models):
            fault = f"the prices are for {', '.join(prices)}"
            raise DataError(f"{self.source}: {fault}; give one for each of {', '.join(models)}")
        for name, price in prices.items():
            if not 0 < price < np.inf:
                raise DataError(f"{self.source}: the price of {name} is {price}; give a number above 0")
        if unit is None:
            tokens = {name: responses.tokens for name, responses in models.items()}
            means = {name: float(counts.mean()) for name, counts in tokens.items() if counts is not None}
            unit = {name: prices[name] * (means[name] if len(means) == len(models) else 1.0) for name in models}
        object.__setattr__(self, "prices", prices)
        object.__setattr__(self, "unit", unit)

    @property
    def _first(self) -> Responses:
        return next(iter(self.models.values()))

    @property
    def samples(self) -> int:
        """Number of answers per question that every model has."""
        return min(responses.samples for responses in self.models.values())

    source = property(lambda self: self._first.source, doc="Where it came from, for messages.")
    n = property(lambda self: self._first.n, doc="Number of questions.")
    ids = property(lambda self: self._first.ids, doc="Names of the questions.")
    questions = property(lambda self: self._first.questions, doc="Texts of the questions.")
    golds = property(lambda self: self._first.golds, doc="Right answers.")
    levels = property(lambda self: self._first.levels, doc="How hard each question is said to be.")
    extras = property(lambda self: self._first.extras, doc="Every other field of the first model's lines.")

    def priced(self, prices: Mapping[str, float], per: Literal["tokens", "samples"] | None = None) -> Menu:
        """The same answers at other prices: of a token (by default, where all models have tokens) or of an answer.

        Explained in chapter 11, "Several models".
        """
        for name, responses in self.models.items():
            if per == "tokens" and responses.tokens is None:
                raise DataError(f'{self.source}: {name} has no tokens; add "tokens" to its lines, or price answers')
        return Menu(self.models, prices, unit=dict(prices) if per == "samples" else None)

    def arms(self, budgets: Sequence[int] = (1, 2, 4, 8, 16)) -> list[tuple[str, int]]:
        """Every model with every number of answers, from the cheapest to the dearest, as the table's columns are."""
        every = [(name, b) for name in self.models for b in budgets]
        return sorted(every, key=lambda arm: arm[1] * self.unit[arm[0]])

    def table(
        self,
        budgets: Sequence[int] = (1, 2, 4, 8, 16),
        estimator: Literal["subsets", "windows"] = "subsets",
        ties: Ties = "share",
    ) -> UtilityTable:
        """Estimate the accuracy of every arm, a majority vote over b answers of one model, as `Responses.table` does.

        A column is an arm, named "model x b", ordered by what it costs. Explained in chapter 11, "Several models".
        """
        acc = {name: responses.table(budgets, estimator, ties).acc for name, responses in self.models.items()}
        place = {b: j for j, b in enumerate(budgets)}
        arms = self.arms(budgets)
        return UtilityTable(
            np.column_stack([acc[name][:, place[b]] for name, b in arms]),
            [b * self.unit[name] for name, b in arms],
            budgets=[f"{name} x{b}" for name, b in arms],
            ids=self.ids,
        )

    def take(self, rows: ArrayLike) -> Menu:
        """Keep some questions, in the order given. Explained in chapter 11, "Several models"."""
        return replace(self, models={name: responses.take(rows) for name, responses in self.models.items()})

    def split_samples(self, seed: int) -> tuple[Menu, Menu]:
        """Deal every model's samples at random into two halves. Explained in chapter 11, "Several models"."""
        halves = {name: responses.split_samples(seed) for name, responses in self.models.items()}
        one, other = ({name: pair[i] for name, pair in halves.items()} for i in (0, 1))
        return replace(self, models=one), replace(self, models=other)
