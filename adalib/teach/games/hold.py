"""Hold the budget: real answers stream in, the questions turn hard where the reader says, and the price follows.

The page gets everything from here, as data; ``book/_static/deploy.js`` plays it by the controller's own rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.router.controller import STEP, BudgetController
from adalib.sequential.priced import PricedStopping
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["hold", "hold_data", "hold_run", "still_run"]

_ASKED = 1000
_ORDERS = 2  # in which every question's answers are played back


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
        ``mixed`` and ``hard`` name the row that comes at each moment, before and after the shift. Hard is the third of
        the questions on which the policy asks longest. ``mix`` is the coin that meets the budget on training questions.
    """
    rng = np.random.default_rng(seed)
    stops = []
    for row in range(responses.n):
        known = None if features is None else np.asarray(features)[row]
        for _ in range(_ORDERS):
            answers = rng.permutation(responses.classes[row]).tolist()
            stops.append([_stop(policy, number, known, answers) for number in range(len(policy.members))])
    mix = policy.mix(budget)
    rows = np.arange(len(stops))
    asked = np.array(stops)[:, mix.high].reshape(-1, _ORDERS).mean(axis=1)
    longest = np.argsort(-asked, kind="stable")[: responses.n // 3]
    hard = np.flatnonzero(np.isin(rows // _ORDERS, longest))
    return {
        "budget": budget,
        # Two rules are equally good at the price itself, and rounding would choose: begin a hair above it.
        "price": policy.price(budget) * (1 + 1e-9),
        "step": STEP,
        "mix": [mix.low, mix.high, mix.share],
        "costs": policy.costs.tolist(),
        "accuracies": policy.accuracies.tolist(),
        "stops": stops,
        "mixed": rng.choice(rows, _ASKED).tolist(),
        "hard": rng.choice(hard, _ASKED).tolist(),
        "coin": rng.random(_ASKED).round(3).tolist(),
        "toss": rng.random(_ASKED).round(3).tolist(),
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
    for row in _comes(data, shift, share):
        number = int(np.argmax(accuracies - controller.price * costs))
        controller.open(costs[number])
        controller.close(costs[number], data["stops"][row][number])
    return controller


def still_run(data: dict, shift: int, share: float) -> float:
    """Average cost of the same stream at a price that stands still: two rules are as good there, and a coin chooses."""
    low, high, chance = data["mix"]
    rules = [high if toss < chance else low for toss in data["toss"]]
    asked = [data["stops"][row][rule] for row, rule in zip(_comes(data, shift, share), rules, strict=True)]
    return float(np.mean(asked))


def _comes(data: dict, shift: int, share: float) -> list[int]:
    """Which row of the stops comes at every moment."""
    moments = enumerate(zip(data["mixed"], data["hard"], data["coin"], strict=True))
    return [hard if moment >= shift and coin < share else mixed for moment, (mixed, hard, coin) in moments]


def hold(data: dict) -> HTML:
    """Put the picture on the page: make it the last expression of a cell.

    Explained in chapter 11, "Deploy".

    Parameters
    ----------
    data : dict
        Of `hold_data`.
    """
    return fragment("hold", data, "This picture is drawn with JavaScript.")
