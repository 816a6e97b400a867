"""Show a policy of one's own the answers as they are paid for, one after the other.

The policy is handed what it has paid for, a tuple that is one answer longer every time, and says
whether to ask again. It never holds the answers that follow, so it cannot read before it pays.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.responses import Cost, Responses
from adalib.sequential.replay import in_pieces, orders_and_size
from adalib.sequential.streams import Streams, make_streams


class Answer(NamedTuple):
    """One answer that was paid for."""

    answer: str  #: as it was read, the same text for answers that are equal; "" if unreadable
    tokens: float | None  #: None where the file has none, as is the next
    logprob: float | None


def watch(
    policy: Any,
    responses: Responses,
    most: int,
    *,
    cost: Cost = "samples",
    seed: int = 1,
    orders: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Play every question back in several orders; return what each costs, and its accuracy.

    ``policy`` is fitted and ``most`` the answers that a question can get. Every order is shown to
    a copy of its own: otherwise a policy that remembers a question would know how it goes on.
    Orders so few that the answers are enough for all share none of them.
    """
    usual, size = orders_and_size(responses)

    def outcome(piece: Responses, _: Any, begin: int) -> list[np.ndarray]:
        streams = make_streams(piece, most, repeats=orders or usual, seed=seed + begin, cost=cost)
        values = streams.votes().value
        figures = np.empty((2, len(streams.question)))
        per_question = len(streams.question) // piece.n
        for order in range(per_question):
            shown = deepcopy(policy)
            for row in range(order, len(streams.question), per_question):
                last, closed = _shown(shown, streams, row)
                right = values[row, last] if closed is None else streams.worth[row, closed]
                figures[:, row] = streams.cost[row, last], right
        return [streams.mean(figure) for figure in figures]

    paid, accuracy = in_pieces(responses, None, size, outcome)
    return paid, accuracy


def _shown(policy: Any, streams: Streams, row: int) -> tuple[int, int | None]:
    """Show a policy one stream; return where it stops, and which answer it names, if it does."""
    texts, tokens, logprobs = (streams.read(field) for field in ("answers", "tokens", "logprob"))
    text_of: dict[int, str] = {-1: ""}
    seen: tuple[Answer, ...] = ()
    for number, of_answer in enumerate(streams.classes[row].tolist()):
        text = text_of.setdefault(of_answer, texts[row, number])  # type: ignore[index]
        numbers = (None if of is None else float(of[row, number]) for of in (tokens, logprobs))
        seen = (*seen, Answer(text, *numbers))
        if len(seen) == streams.classes.shape[1]:
            break
        more = policy.more(seen)
        if not isinstance(more, bool | np.bool_):
            raise ValueError(f"{_name(policy)}: more(seen) returned {more!r}; return True or False")
        if not more:
            break
    if not hasattr(policy, "answer"):
        return len(seen) - 1, None
    named = policy.answer(seen)
    places = [number for number, one in enumerate(seen) if one.answer == named]
    if not places:
        raise ValueError(
            f"{_name(policy)}: answer(seen) returned {named!r}; return the .answer of one in seen"
        )
    return len(seen) - 1, places[0]


def _name(policy: Any) -> str:
    """Name a policy in a message."""
    return f"policy {type(policy).__name__}"
