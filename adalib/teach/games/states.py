"""The state picture: in which votes does one go on, at which price, and how text and certainty move the border."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import Streams
from adalib.sequential.value import backward_induction
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["limit_prices", "states"]

_PRICES = np.geomspace(0.0005, 0.15, 41).round(5)
_FEWEST = 12  # streams that must have been in a state for it to be shown
_SIDES = {"text": ("not used", "promises little", "promises much")}
_SIDES["certainty"] = ("not used", "unsure leader", "sure leader")


def limit_prices(policy: PricedStopping, streams: Streams) -> np.ndarray:
    """The highest price at which each training stream goes on, at every checkpoint but the last, (M, S - 1).

    A price of 0 stops at once. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    policy : PricedStopping
        Fitted on these questions.
    streams : Streams
        Answers of the training questions, played back.
    """
    seen = policy.seen(streams, taught=True)
    features = [seen.at(column).features() for column in range(policy.schedule.size - 1)]
    paid = streams.cost[:, policy.schedule - 1]
    fitted, _ = backward_induction(features, seen.votes.value, paid, _PRICES, streams.question % 10)
    found = np.empty((len(paid), len(features)))
    for column, known in enumerate(features):
        goes = fitted[column, 0] + known.T @ fitted[column, 1:] > 0
        found[:, column] = np.where(goes, _PRICES, 0.0).max(axis=1)
    return found


def states(policies: Mapping[tuple[bool, bool], PricedStopping], streams: Streams, most: int = 7) -> HTML:
    """Put the picture on the page: make it the last expression of a cell.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    policies : mapping of (knows texts, knows certainty) to PricedStopping
        Four of them, fitted on the same questions.
    streams : Streams
        Answers of those questions, played back. Each state shows the median over the streams that were in it.
    most : int
        Votes of the leader, at most.
    """
    limits = {key: limit_prices(policy, streams) for key, policy in policies.items()}
    told = policies[True, True].seen(streams, taught=True).told
    plain, weighed = told["votes"], told["certainty"]
    last = limits[True, True].shape[1]
    promise = np.broadcast_to(told["text"].start[:, None], (len(streams.question), last))
    sure = (weighed.leader / np.maximum(plain.leader, 1))[:, :last]
    leader, runner = plain.leader[:, :last], plain.runner[:, :last]

    def cell(text: int, certainty: int, first: int, second: int) -> float | None:
        here = (leader == first) & (runner == second)
        for chosen, signal in ((text, promise), (certainty, sure)):
            if chosen and here.any():
                low, high = np.quantile(signal[here], [1 / 3, 2 / 3])
                here = here & (signal <= low if chosen == 1 else signal >= high)
        values = limits[text > 0, certainty > 0][here]
        return None if values.size < _FEWEST else round(float(np.median(values)), 5)

    grid = [[[[cell(t, c, a, b) for a in range(1, most + 1)] for b in range(most)] for c in range(3)] for t in range(3)]
    data = {"most": most, "prices": _PRICES.tolist(), "start": 26, "limits": grid, **_SIDES}
    return fragment("states", data, "This picture is drawn with JavaScript.")
