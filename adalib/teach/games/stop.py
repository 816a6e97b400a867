"""When to stop: the answers to ten real questions come in one by one, each for a price; then the price plays.

The policy was fitted on other questions. Player and policy see the same answers and close the same vote. The page gets
everything from here, as data; ``book/_static/stop.js`` plays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import make_streams
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["stop", "stop_data"]

_POINTS = 100  # for a right answer


def stop_data(
    policy: PricedStopping, responses: Responses, features: ArrayLike | None, price: float, seed: int = 0
) -> dict:
    """What the page needs: the answers in one order, what each moment's vote is worth, and the policy's stop.

    Parameters
    ----------
    policy : PricedStopping
        Fitted on other questions, to stop after any answer.
    responses : Responses
        The questions to play with.
    features : array_like, shape (N, d), optional
        Of these questions, as given to `PricedStopping.fit`.
    price : float
        Accuracy that an answer must bring; the policy plays at the price on its envelope that is nearest.
    seed : int
        Of the order in which the answers come.

    Returns
    -------
    dict
        Plain lists and numbers.
    """
    answers = int(policy.schedule[-1])
    streams = make_streams(responses, answers, repeats=1, seed=seed)
    stops, near = policy.stops_at(responses, features, price, seed=seed, repeats=1)
    worth, sure = policy.decides.count(streams).value, streams.read("logprob")
    return {
        "points": _POINTS,
        "price": round(_POINTS * near, 1),
        "questions": [
            {
                "text": responses.questions[row],
                "gold": responses.golds[row],
                "answers": _texts(responses, row, streams.classes[row]),
                "sure": [] if sure is None else np.exp(sure[row]).round(2).tolist(),
                "worth": worth[row].round(3).tolist(),
                "stop": int(policy.schedule[stops[row]]),
            }
            for row in range(responses.n)
        ],
    }


def stop(policy: PricedStopping, responses: Responses, features: ArrayLike | None, price: float, seed: int = 0) -> HTML:
    """Put the game on the page: make it the last expression of a cell.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    policy, responses, features, price, seed
        As for `stop_data`.
    """
    data = stop_data(policy, responses, features, price, seed)
    return fragment("stop", data, "This game is played with JavaScript.")


def _texts(responses: Responses, row: int, classes: np.ndarray) -> list[str]:
    """One way of writing for each class, so that equal answers look equal."""
    written: dict[int, str] = {}
    for number, text in zip(responses.classes[row].tolist(), responses.answers[row], strict=True):
        written.setdefault(number, text)
    return ["" if number < 0 else written[number] for number in classes.tolist()]
