"""Whom to ask for which money: a menu of models under a price list that the reader edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from adalib.datasets.menu import Menu
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["Charges", "menu_bill", "priced_in_dollars"]


@dataclass(frozen=True)
class Charges:
    """What a provider charges for one model, in dollars per million tokens.

    Explained in chapter 13, "Three minds".

    Attributes
    ----------
    read, written : float
        Of prompts and of answers.

    Examples
    --------
    >>> round(Charges(read=0.1, written=0.4).answer(prompt=250, tokens=40), 9)
    4.1e-05
    """

    read: float
    written: float

    def answer(self, prompt: float, tokens: float) -> float:
        """Dollars for one answer; every answer reads the prompt again."""
        return (prompt * self.read + tokens * self.written) / 1e6


def priced_in_dollars(menu: Menu, charges: Mapping[str, Charges], prompt: float) -> Menu:
    """The menu with its answers priced in dollars per thousand questions.

    Explained in chapter 13, "Three minds".

    Parameters
    ----------
    menu : Menu
        With tokens.
    charges : mapping of str to Charges
        The price list, a model a key.
    prompt : float
        Tokens of a prompt.
    """
    tokens = {name: float(responses.tokens.mean()) for name, responses in menu.models.items()}
    units = {name: 1000 * charges[name].answer(prompt, tokens[name]) for name in menu.models}
    return menu.priced(units, per="samples")


def menu_bill(menu: Menu, charges: Mapping[str, Charges], prompt: float, dollars: float) -> HTML:
    """Put the price list, and what one price for all buys under it, on the page: the last expression of a cell.

    Explained in chapter 13, "Three minds".

    Parameters
    ----------
    menu, charges, prompt
        As for `priced_in_dollars`; where the reader begins.
    dollars : float
        The budget for a thousand questions, where the reader begins.
    """
    models, arms, columns = [], [], []
    for number, (name, responses) in enumerate(menu.models.items()):
        made, asked = responses.table(), charges[name]
        about = {"name": name, "read": asked.read, "written": asked.written}
        models.append(about | {"tokens": float(responses.tokens.mean())})
        arms += [[number, budget] for budget in made.budgets]
        columns.append(made.acc)
    acc = np.hstack(columns).round(4).tolist()
    data = {"models": models, "arms": arms, "acc": acc, "prompt": prompt, "dollars": dollars}
    return fragment("menu", data, "This bill is added up with JavaScript.")
