"""Games of the chapter "When to stop": answers one by one, and the states of a vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from adabook.games.base import Game, texts_by_class
from adalib.datasets.responses import Responses
from adalib.sequential.streams import Streams, make_streams
from adalib.sequential.votes import vote_weight

if TYPE_CHECKING:
    from adalib.sequential.priced_stopping import PricedStopping


def stop(
    policy: PricedStopping,
    responses: Responses,
    features: ArrayLike | None,
    price: float,
    seed: int = 0,
) -> Game:
    """When to stop: answers to real questions come in one by one at a price; then the rule plays.

    The policy was fitted on other questions, and plays at the nearest price on its envelope, by
    the same answers."""
    points = 100  # for a right answer
    streams = make_streams(responses, int(policy.schedule[-1]), repeats=1, seed=seed)
    stops, near = policy.stops_at(responses, features, price, seed=seed, repeats=1)
    worth = policy.deciding_count.count(streams).value
    sure = streams.read("logprob")
    count = policy.deciding_count  # whose votes count; plain votes have no sharpness
    field = streams.read(count.reads) if count.sharpness else None
    weights = (
        np.ones(worth.shape) if field is None else vote_weight(count.sign * count.sharpness, field)
    )
    # The game opens with a question where going on pays, so that a first reader sees why one would.
    ended = policy.schedule[stops]
    first = int(np.argmax(worth[np.arange(responses.n), ended - 1] - worth[:, 0]))
    rows = sorted(range(responses.n), key=lambda row: row != first)
    written = {row: texts_by_class(responses, row) for row in rows}  # class -1 is no answer
    questions = [
        {
            "text": responses.questions[row],
            "gold": responses.golds[row],
            "answers": [written[row].get(number, "") for number in streams.classes[row].tolist()],
            "sure": [] if sure is None else np.exp(sure[row]).round(2).tolist(),
            "weight": weights[row].round(4).tolist(),
            "worth": worth[row].round(3).tolist(),
            "stop": int(ended[row]),
        }
        for row in rows
    ]
    data = {"points": points, "price": round(points * near, 1), "questions": questions}
    asked = ", ".join(f"{question['stop']}" for question in questions)
    caption = "Stop asking when you think it is enough; then the rule plays the same answers."
    return Game(
        "stop",
        data,
        caption,
        f"On these {responses.n} questions the rule stops after {asked} answers.",
    )


_PRICES = np.geomspace(0.0005, 0.15, 41).round(5)
_FEWEST = 12  # streams that must have been in a state for it to be shown


def limit_prices(policy: PricedStopping, streams: Streams) -> np.ndarray:
    """Return the highest price at which each training stream continues, at every checkpoint.

    The last checkpoint is left out; 0 means that the stream stops at once.
    """
    # Here, because other games need no scipy.
    from adalib.sequential.induction import backward_induction

    evidence = policy.evidence(streams, trained_on=True)
    features = [evidence.at(column).features() for column in range(policy.schedule.size - 1)]
    paid = streams.cost[:, policy.schedule - 1]
    fitted, _ = backward_induction(
        features, evidence.votes.value, paid, _PRICES, streams.question % 10
    )
    limits = np.empty((len(paid), len(features)))
    for column, inputs in enumerate(features):
        goes = fitted[column, 0] + inputs.T @ fitted[column, 1:] > 0
        limits[:, column] = np.where(goes, _PRICES, 0.0).max(axis=1)
    return limits


def states(
    policies: Mapping[tuple[bool, bool], PricedStopping], streams: Streams, most: int = 7
) -> Game:
    """The state picture: at which votes and prices the policy continues.

    It shows how the text and the model's certainty move the border.

    ``policies`` are four, by whether they know texts and certainty. A state shows the median of
    the streams in it."""
    limits = {key: limit_prices(policy, streams) for key, policy in policies.items()}
    signals = policies[True, True].evidence(streams, trained_on=True).states
    plain = signals["votes"]
    weighed = signals["certainty"]
    last = limits[True, True].shape[1]
    promise = np.broadcast_to(signals["text"].start[:, None], (len(streams.question), last))
    sure = (weighed.leader / np.maximum(plain.leader, 1))[:, :last]
    leader = plain.leader[:, :last]
    runner = plain.runner[:, :last]

    def cell(text: int, certainty: int, first: int, second: int) -> float | None:
        here = (leader == first) & (runner == second)
        for chosen, signal in ((text, promise), (certainty, sure)):
            if chosen and here.any():
                low, high = np.quantile(signal[here], [1 / 3, 2 / 3])
                here = here & (signal <= low if chosen == 1 else signal >= high)
        values = limits[text > 0, certainty > 0][here]
        return None if values.size < _FEWEST else round(float(np.median(values)), 5)

    data = {
        "most": most,
        "prices": _PRICES.tolist(),
        "start": 26,
        "limits": [
            [
                [[cell(t, c, a, b) for a in range(1, most + 1)] for b in range(most)]
                for c in range(3)
            ]
            for t in range(3)
        ],
        "text": ("not used", "predicts low", "predicts high"),
        "certainty": ("not used", "unsure leader", "sure leader"),
    }
    alone = data["limits"][0][0]
    leads = [(a, b) for b in range(2) for a in range(b + 1, 5) if alone[b][a - 1] is not None]
    caption = (
        "In which states of the vote the rule goes on, and how the text and the model's "
        "certainty move the border."
    )
    goes = ", ".join(f"{a} to {b}: {alone[b][a - 1]:.3g}" for a, b in leads)
    return Game(
        "states",
        data,
        caption,
        f"By votes alone the rule goes on, leader to runner-up, up to these prices: {goes}.",
    )
