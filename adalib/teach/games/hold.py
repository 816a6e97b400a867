"""Hold the budget: real answers stream in, the questions turn hard where the reader says, and the price follows.

The page gets everything from here, as data; ``book/_static/deploy.js`` plays it by the controller's own rule.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.router.controller import STEP, BudgetController
from adalib.sequential.priced import PricedStopping
from adalib.teach.figures.style import HTML

__all__ = ["hard_third", "hold", "hold_data", "hold_run"]

_ASKED = 1000
_ORDERS = 2  # in which every question's answers are played back


def hard_third(responses: Responses) -> np.ndarray:
    """The third of the questions whose answers agree least: those on which a vote is long."""
    agreement = [np.bincount(row[row >= 0], minlength=1).max() for row in responses.classes]
    return np.argsort(agreement, kind="stable")[: responses.n // 3]


def hold_data(
    policy: PricedStopping, responses: Responses, features: ArrayLike | None, budget: float, seed: int = 0
) -> dict:
    """What the page needs: where every rule of the policy stops on every question, and who comes when.

    Parameters
    ----------
    policy : PricedStopping
        Fitted on other questions.
    responses : Responses
        Questions to come, with their answers.
    features : array_like, shape (N, d), optional
        Of these questions, as given to `PricedStopping.fit`.
    budget : float
    seed : int
        Of the orders and of who comes.

    Returns
    -------
    dict
        Plain lists and numbers. ``stops`` has a row a question and order, a column a member of the policy;
        ``mixed`` and ``hard`` name the row that comes at each moment, before and after the shift.
    """
    rng = np.random.default_rng(seed)
    stops = []
    for row in range(responses.n):
        known = None if features is None else np.asarray(features)[row]
        for _ in range(_ORDERS):
            answers = rng.permutation(responses.classes[row]).tolist()
            stops.append([_stop(policy, number, known, answers) for number in range(len(policy.members))])
    rows = np.arange(len(stops))
    hard = np.flatnonzero(np.isin(rows // _ORDERS, hard_third(responses)))
    return {
        "budget": budget,
        "price": policy.price(budget),
        "step": STEP,
        "costs": policy.costs.round(6).tolist(),
        "accuracies": policy.accuracies.round(6).tolist(),
        "stops": stops,
        "mixed": rng.choice(rows, _ASKED).tolist(),
        "hard": rng.choice(hard, _ASKED).tolist(),
        "coin": rng.random(_ASKED).round(3).tolist(),
    }


def _stop(policy: PricedStopping, number: int, known: np.ndarray | None, answers: list[int]) -> int:
    session = policy.begin(number, known)
    for asked, answer in enumerate(answers, start=1):
        if not session.add(None if answer < 0 else answer):
            return asked
    return len(answers)


def hold_run(data: dict, shift: int, share: float, step: float) -> BudgetController:
    """Play the stream by `BudgetController`, as the page plays it.

    Parameters
    ----------
    data : dict
        Of `hold_data`.
    shift : int
        Questions before the mix changes.
    share : float
        Share of hard questions after that.
    step : float
    """
    costs, accuracies = np.array(data["costs"]), np.array(data["accuracies"])
    controller = BudgetController(data["budget"], data["price"], step=step)
    for moment, (mixed, hard, coin) in enumerate(zip(data["mixed"], data["hard"], data["coin"], strict=True)):
        row = hard if moment >= shift and coin < share else mixed
        number = int(np.argmax(accuracies - controller.price * costs))
        controller.open(costs[number])
        controller.close(costs[number], data["stops"][row][number])
    return controller


def hold(data: dict) -> HTML:
    """Put the picture on the page: make it the last expression of a cell.

    Explained in chapter 11, "Deploy".

    Parameters
    ----------
    data : dict
        Of `hold_data`.
    """
    return HTML(
        '<div class="adalib-hold"><p>This picture is drawn with JavaScript.</p>'
        f'<script type="application/json">{json.dumps(data)}</script></div>'
    )
