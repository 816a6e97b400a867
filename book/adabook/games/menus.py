"""The game of the chapter "Several models, several efforts": a menu of models in dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from adabook.games.base import BUDGETS, Game, listed, rounded_mean
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses


@dataclass(frozen=True)
class Charges:
    """What a provider charges for one model, in dollars per million tokens read and written."""

    read: float
    written: float


def priced_in_dollars(menu: Menu, charges: Mapping[str, Charges], prompt: float) -> Menu:
    """Price the menu's answers in dollars per thousand questions; each reads the prompt again."""
    tokens = {name: _tokens(answers) for name, answers in menu.models.items()}
    units = {
        name: 1000 * ((prompt * charges[name].read + tokens[name] * charges[name].written) / 1e6)
        for name in tokens
    }
    return menu.priced(units, per="samples")


def _tokens(responses: Responses) -> float:
    """Tokens of an answer, on average."""
    if responses.tokens is None:
        raise ValueError(
            "a price list needs tokens, and these answers have none; give a file that has them"
        )
    return float(responses.tokens.mean())


def menu_bill(menu: Menu, charges: Mapping[str, Charges], prompt: float, dollars: float) -> Game:
    """A menu of models under prices that the reader edits, with a budget in dollars.

    The budget is for a thousand questions.
    """
    data = {
        "models": [
            {"name": name, **asdict(charges[name]), "tokens": _tokens(answers)}
            for name, answers in menu.models.items()
        ],
        "arms": [[number, budget] for number in range(len(menu.models)) for budget in BUDGETS],
        "acc": np.hstack([answers.table(BUDGETS).acc for answers in menu.models.values()])
        .round(4)
        .tolist(),
        "prompt": prompt,
        "dollars": dollars,
    }
    means = {
        name: rounded_mean(answers.table(BUDGETS).acc) for name, answers in menu.models.items()
    }
    curves = (f"{name} {listed(BUDGETS, mean)}" for name, mean in means.items())
    caption = "Set the prices of two models, and see how many questions each model gets."
    return Game(
        "menu",
        data,
        caption,
        f"How often each model is right, by number of answers: {'; '.join(curves)}.",
    )
