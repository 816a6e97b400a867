"""The game of the chapter "Deploy": answers run side by side until the rule closes the race."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adabook.games.base import Game
from adalib.datasets.responses import Responses
from adalib.sequential.heat import Heat

if TYPE_CHECKING:
    from adalib.sequential.race import PricedRace
    from adalib.sequential.race_rules import PricedMember


def race(policy: PricedRace, member: PricedMember, responses: Responses, seed: int = 0) -> Game:
    """Close the race: answers run side by side at their real lengths and vote when they finish.

    The member's prices are those of the game, and it plays the same answers. Times and tokens are
    in average answers. Answers are numbered in the order in which they first finish, so that the
    right one is not given away."""
    streams = policy.streams(responses, seed, 1)
    heat = Heat(streams, member.start)
    closes = policy.play([member], streams).finished[:, 0]
    worth = heat.value(heat.streams.votes())
    lengths = np.asarray(streams.read("tokens"))[:, : member.start] / policy.unit
    questions = []
    for row in range(responses.n):
        first_seen = dict.fromkeys(heat.streams.classes[row].tolist())
        numbers = {answer: number for number, answer in enumerate(first_seen)} | {-1: -1}
        ran = streams.classes[row, : member.start].tolist()
        right = [
            numbers[answer]
            for answer, value in zip(ran, streams.worth[row], strict=False)
            if value > 0.5
        ]
        questions.append(
            {
                "lengths": lengths[row].round(3).tolist(),
                "answers": [numbers[answer] for answer in ran],
                "right": right[0] if right else -1,
                "worth": worth[row].round(3).tolist(),
                "close": int(closes[row]),
            }
        )
    data = {
        "points": 100,
        "token_price": round(100 * member.token_price, 1),
        "waiting_price": round(100 * member.waiting_price, 1),
        "questions": questions,
    }
    caption = (
        "Close the race when you think that it is decided; then the rule plays the same answers."
    )
    finishes = ", ".join(f"{question['close']}" for question in questions)
    return Game(
        "race",
        data,
        caption,
        f"On these {responses.n} questions the rule closes the race at finish {finishes} of "
        f"{member.start}.",
    )
