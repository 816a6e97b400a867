"""Show a policy of one's own the answers as they are paid for, one after the other.

The policy is handed what it has paid for, a tuple that is one answer longer every time, and says
whether to ask again. It never holds the answers that follow, so it cannot read before it pays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.responses import Cost, Responses
from adalib.sequential.alike import Alike, plans_of
from adalib.sequential.replay import Tried, in_pieces, orders_and_size
from adalib.sequential.streams import Streams, make_streams

#: How the orders are played: a function of what plays one, and of their numbers.
Each = Callable[[Callable[[int], np.ndarray], Iterable[int]], Iterable[Any]]


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
    allowed: np.ndarray | None = None,
    each: Each = map,
) -> Tried:
    """Play every question back in several orders; return what each costs, and its accuracy.

    ``policy`` is fitted and ``most`` the answers that a question can get. Every order is shown to
    a copy of its own: otherwise a policy that remembers a question would know how it goes on. What
    it keeps on its class or in its module is out of reach of a copy, so ``each`` may play every
    order in a process of its own. A copy meets the questions in an order of their own, too: their
    places in a file say nothing. Orders so few that the answers are enough for all share none.
    With ``allowed``, a policy that names the answer itself is also asked after every answer, for
    plans that are the same for everyone but answer as it does (`adalib.sequential.alike`).
    """
    usual, size = orders_and_size(responses)
    plans = allowed if hasattr(policy, "answer") else None

    def outcome(piece: Responses, _: Any, begin: int) -> list[np.ndarray]:
        streams = make_streams(piece, most, repeats=orders or usual, seed=seed + begin, cost=cost)
        values = streams.votes().value
        per_question = len(streams.question) // piece.n

        def play(order: int) -> np.ndarray:
            shown, found = deepcopy(policy), np.empty((2, piece.n))
            for question in np.random.default_rng([seed, begin, order]).permutation(piece.n):
                row = question * per_question + order
                last, closed = _shown(shown, streams, row)
                right = values[row, last] if closed is None else streams.worth[row, closed]
                found[:, question] = streams.cost[row, last], right
            return found

        figures = np.stack(list(each(play, range(per_question))), axis=-1)
        found = [streams.mean(figure.ravel()) for figure in figures]
        if plans is not None:
            alike = plans_of(streams, _named(policy, streams, per_question, each), plans)
            found += [alike.cost, alike.accuracy]
        return found

    paid, accuracy, *alike = in_pieces(responses, None, size, outcome)
    return Tried(paid, accuracy, alike=Alike(*alike) if alike else None)


def _named(policy: Any, streams: Streams, per_question: int, each: Each) -> np.ndarray:
    """Return how right the answer is that a policy names after each answer of every stream."""

    def play(order: int) -> np.ndarray:
        shown = deepcopy(policy)
        return np.array(
            [
                [streams.worth[row, _place_named(shown, seen)] for seen in _prefixes(streams, row)]
                for row in range(order, len(streams.question), per_question)
            ]
        )

    worth = np.stack(list(each(play, range(per_question))), axis=1)
    return worth.reshape(streams.classes.shape)


def _prefixes(streams: Streams, row: int) -> Iterator[tuple[Answer, ...]]:
    """Yield what has been paid for after each answer of a stream."""
    texts, tokens, logprobs = (streams.read(field) for field in ("answers", "tokens", "logprob"))
    text_of: dict[int, str] = {-1: ""}
    seen: tuple[Answer, ...] = ()
    for number, of_answer in enumerate(streams.classes[row].tolist()):
        text = text_of.setdefault(of_answer, texts[row, number])  # type: ignore[index]
        numbers = (None if of is None else float(of[row, number]) for of in (tokens, logprobs))
        seen = (*seen, Answer(text, *numbers))
        yield seen


def _shown(policy: Any, streams: Streams, row: int) -> tuple[int, int | None]:
    """Show a policy one stream; return where it stops, and which answer it names, if it does."""
    seen: tuple[Answer, ...] = ()
    for seen in _prefixes(streams, row):
        if len(seen) == streams.classes.shape[1]:
            break
        more = policy.more(seen)
        if not isinstance(more, bool | np.bool_):
            raise ValueError(f"{_name(policy)}: more(seen) returned {more!r}; return True or False")
        if not more:
            break
    return len(seen) - 1, _place_named(policy, seen) if hasattr(policy, "answer") else None


def _place_named(policy: Any, seen: Sequence[Answer]) -> int:
    """Return the place of the answer that a policy names."""
    named = policy.answer(seen)
    places = [number for number, one in enumerate(seen) if one.answer == named]
    if not places:
        raise ValueError(
            f"{_name(policy)}: answer(seen) returned {named!r}; return the .answer of one in seen"
        )
    return places[0]


def _name(policy: Any) -> str:
    """Name a policy in a message."""
    return f"policy {type(policy).__name__}"
