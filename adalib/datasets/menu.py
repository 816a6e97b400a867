"""A menu of models or efforts: their answers to the same questions, and what an answer costs.

Which model to ask, at which effort and how often is one choice, an arm. With one column per arm,
the table, the frontier and the price decide all three. A reasoning model writes more where a
question is hard, so an arm may cost every question something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.responses import OwnCost, Responses
from adalib.table import UtilityTable
from adalib.vote.estimators import Ties


@dataclass(frozen=True, eq=False, init=False)
class Menu:
    """The same questions answered by several models, or by one model at several efforts.

    Explained on the page "Whom to ask, and how hard to think".

    Parameters
    ----------
    models : mapping of str to Responses
        Answers of each model, or of each effort of a model; all have the same questions in the
        same order.
    prices : mapping of str to float, optional
        Price of one token of each model: its parameters, or money. Default: 1 for all. If a model
        has no tokens, these are the prices of one answer for all models.
    unit : mapping of str to float, optional
        Cost of one answer of each model. Default: the price times the mean tokens of its answers.
        It is fixed here, so that halves of a menu have the same costs.
    per_question : bool
        Whether every question pays for its own tokens, as a bill does, instead of ``unit``. Menus
        of efforts do, because hard questions both gain and cost more.

    Attributes
    ----------
    models, prices, unit : mapping
        As given, or the defaults.
    per_question : bool
        As given.
    n, samples : int
        Number of questions, and of answers per question that every model has.
    ids, questions, golds, levels, extras
        As in `Responses`, of the first model.
    source : str
        Name of the file or setting, for messages.

    Raises
    ------
    DataError
        If the models' questions differ, prices are missing or not positive, or questions are to
        pay for their own tokens and a model has none.

    Examples
    --------
    >>> small = Responses(["a", "b"], ["?", "??"], ["7", "8"], [["7", "7"], ["3", "4"]])
    >>> large = Responses(["a", "b"], ["?", "??"], ["7", "8"], [["7", "7"], ["8", "8"]])
    >>> menu = Menu({"small": small, "large": large}, prices={"small": 1, "large": 3})
    >>> table = menu.table([1, 2])
    >>> table.budgets, table.cost.tolist(), table.acc[1].tolist()
    (('small x1', 'small x2', 'large x1', 'large x2'), [1.0, 2.0, 3.0, 6.0], [0.0, 0.0, 1.0, 1.0])
    """

    models: Mapping[str, Responses]
    prices: Mapping[str, float]
    unit: Mapping[str, float] = field(repr=False)
    per_question: bool = False

    def __init__(
        self,
        models: Mapping[str, Responses],
        prices: Mapping[str, float] | None = None,
        unit: Mapping[str, float] | None = None,
        per_question: bool = False,
    ) -> None:
        if not models:
            raise DataError("a menu needs at least one model")
        object.__setattr__(self, "models", models)
        for name, responses in models.items():
            for column in ("ids", "questions", "golds"):
                if list(getattr(responses, column)) != list(getattr(self, column)):
                    raise DataError(
                        f"{self.source}: {name} has other {column} than the first model; "
                        "give the same, in order"
                    )
        prices = dict.fromkeys(models, 1.0) if prices is None else dict(prices)
        if set(prices) != set(models):
            raise DataError(
                f"{self.source}: the prices are for {', '.join(prices)}; "
                f"give one for each of {', '.join(models)}"
            )
        for name, price in prices.items():
            if not 0 < price < np.inf:
                raise DataError(
                    f"{self.source}: the price of {name} is {price}; give a number above 0"
                )
        if unit is None:
            mean_tokens = {
                name: float(responses.tokens.mean())
                for name, responses in models.items()
                if responses.tokens is not None
            }
            all_have_tokens = len(mean_tokens) == len(models)
            unit = {
                name: prices[name] * (mean_tokens[name] if all_have_tokens else 1.0)
                for name in models
            }
        object.__setattr__(self, "prices", prices)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "per_question", per_question)
        if per_question:
            self._check_tokens("price answers")

    @property
    def _first(self) -> Responses:
        return next(iter(self.models.values()))

    def __len__(self) -> int:
        """Number of questions."""
        return self.n

    @property
    def samples(self) -> int:
        """Number of answers per question that every model has."""
        return min(responses.samples for responses in self.models.values())

    source = property(lambda self: self._first.source, doc="Name of the file, for messages.")
    n = property(lambda self: self._first.n, doc="Number of questions.")
    ids = property(lambda self: self._first.ids, doc="Names of the questions.")
    questions = property(lambda self: self._first.questions, doc="Texts of the questions.")
    golds = property(lambda self: self._first.golds, doc="Correct answers.")
    levels = property(lambda self: self._first.levels, doc="Difficulty levels.")
    extras = property(
        lambda self: self._first.extras, doc="Every other field of the first model's lines."
    )

    def priced(
        self, prices: Mapping[str, float], per: Literal["tokens", "samples"] | None = None
    ) -> Menu:
        """Return the same answers at other prices, ``per`` token or per answer.

        The default is per token if all models have tokens. Priced per answer, all questions pay
        the same. Explained on the page "Whom to ask, and how hard to think".
        """
        if per == "samples":
            return Menu(self.models, prices, unit=dict(prices))
        if per == "tokens":
            self._check_tokens("price answers")
        return Menu(self.models, prices, per_question=self.per_question)

    def _check_tokens(self, other_mend: str) -> None:
        """Raise DataError if a model has no tokens."""
        for name, responses in self.models.items():
            if responses.tokens is None:
                raise DataError(
                    f'{self.source}: {name} has no tokens; add "tokens" to its lines, '
                    f"or {other_mend}"
                )

    def arms(self, budgets: Sequence[int] = (1, 2, 4, 8, 16)) -> list[tuple[str, int]]:
        """Return every model with every number of answers, cheapest first, as table columns."""
        return list(self._bills(budgets, None))

    def table(
        self,
        budgets: Sequence[int] = (1, 2, 4, 8, 16),
        estimator: Literal["subsets", "windows"] = "subsets",
        ties: Ties = "share",
        cost: Mapping[str, OwnCost] | None = None,
    ) -> UtilityTable:
        """Estimate the accuracy of every arm, a majority vote over b answers of one model.

        Columns are arms, named "model xb", in the order of their average cost; the estimate is
        that of `Responses.table`, as is ``cost``, given for each model in place of its unit. If
        questions pay for their own tokens, costs have one row per question. Where an arm happened
        to be cheaper than one to its left, it is charged as much as that one, because costs never
        fall along a row. Explained on the page "Whom to ask, and how hard to think".
        """
        acc = {
            name: responses.table(budgets, estimator, ties).acc
            for name, responses in self.models.items()
        }
        place = {b: j for j, b in enumerate(budgets)}
        bills = self._bills(budgets, cost)
        return UtilityTable(
            np.column_stack([acc[name][:, place[b]] for name, b in bills]),
            np.maximum.accumulate(list(bills.values())).T,
            budgets=[f"{name} x{b}" for name, b in bills],
            ids=self.ids,
        )

    def _bills(
        self, budgets: Sequence[int], cost: Mapping[str, OwnCost] | None
    ) -> dict[tuple[str, int], np.ndarray]:
        """Return what each arm costs, of all or of each question, in the order of the means."""
        bills: dict[tuple[str, int], np.ndarray] = {}
        for name, responses in self.models.items():
            if cost is not None:
                if name not in cost:
                    raise DataError(f"{self.source}: there is no cost for {name}; give one")
                of_model = responses.bill(budgets, cost[name])
            elif self.per_question:
                of_model = self.prices[name] * responses.bill(budgets, "tokens")
            else:
                of_model = self.unit[name] * np.asarray(budgets, dtype=float)
            bills |= {(name, b): of_model[..., j] for j, b in enumerate(budgets)}
        if any(np.ndim(one) for one in bills.values()):  # questions pay differently
            bills = {arm: np.broadcast_to(one, self.n) for arm, one in bills.items()}
        return dict(sorted(bills.items(), key=lambda arm: float(np.mean(arm[1]))))

    def apart(self) -> list[Menu]:
        """Return a menu of each model alone, whose arms cost what they really do."""
        return [
            Menu({name: one}, {name: self.prices[name]}, {name: self.unit[name]}, self.per_question)
            for name, one in self.models.items()
        ]

    def take(self, rows: ArrayLike) -> Menu:
        """Return the menu of some questions, in the order given."""
        return replace(
            self, models={name: responses.take(rows) for name, responses in self.models.items()}
        )

    def split_samples(self, seed: int) -> tuple[Menu, Menu]:
        """Deal every model's samples at random into two halves."""
        halves = {name: responses.split_samples(seed) for name, responses in self.models.items()}
        first = {name: pair[0] for name, pair in halves.items()}
        second = {name: pair[1] for name, pair in halves.items()}
        return replace(self, models=first), replace(self, models=second)
