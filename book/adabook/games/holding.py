"""Games of the chapter "Deploy": a budget that holds, and a bill in dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from adabook.games.base import Game
from adalib.datasets.responses import Responses
from adalib.serve.budget import STEP, BudgetController

if TYPE_CHECKING:
    from adalib.sequential.priced_stopping import PricedStopping


_ASKED = 1000
_ORDERS = 2  # in which every question's answers are played back


def hold(
    policy: PricedStopping,
    responses: Responses,
    features: ArrayLike | None,
    budget: float,
    seed: int = 0,
) -> Game:
    """Hold the budget: the questions turn hard where the reader says, and the price follows.

    ``stops`` has one row per question and order, and one column per member of the policy;
    ``mixed`` and ``hard`` name the row that comes at each moment, before and after the shift. Hard
    is the third on which the policy asks longest."""
    rng = np.random.default_rng(seed)
    stops = _played_back(policy, responses, features, rng)
    mix = policy.mix(budget)
    rows = np.arange(len(stops))
    asked = np.array(stops)[:, mix.high].reshape(-1, _ORDERS).mean(axis=1)
    longest = np.argsort(-asked, kind="stable")[: responses.n // 3]
    hard = np.flatnonzero(np.isin(rows // _ORDERS, longest))
    data = {
        "budget": budget,
        # Two rules are equally good at the price itself, and rounding would choose: begin a hair
        # above it.
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
    moved = hold_run(data, _ASKED // 2, 1.0, STEP)
    still = still_run(data, _ASKED // 2, 1.0)
    spent = (
        f"a fixed price spends {still:.2f} answers per question, a moving price spends "
        f"{moved.spent / _ASKED:.2f}"
    )
    without = (
        f"Of {_ASKED} questions the second half is hard: {spent}, and the budget is {budget:g}."
    )
    return Game(
        "hold", data, "Let the questions turn hard, and watch the price hold the budget.", without
    )


def _played_back(
    policy: PricedStopping,
    responses: Responses,
    features: ArrayLike | None,
    rng: np.random.Generator,
) -> list[list[int]]:
    """Return how many answers every member asks, a row per question and order of its answers."""

    def asked_by(number: int, question_features: np.ndarray | None, answers: list[int]) -> int:
        session = policy.begin(number, question_features)
        stops = (
            asked
            for asked, answer in enumerate(answers, 1)
            if not session.add(None if answer < 0 else answer)
        )
        return next(stops, len(answers))

    members = range(len(policy.members))
    stops = []
    for row in range(responses.n):
        question_features = None if features is None else np.asarray(features)[row]
        for _ in range(_ORDERS):
            answers = rng.permutation(responses.classes[row]).tolist()
            stops.append([asked_by(number, question_features, answers) for number in members])
    return stops


def hold_run(
    data: dict[str, Any], shift: int, share: float, step: float, path: list[float] | None = None
) -> BudgetController:
    """Play the stream of `hold` by the controller, as the page does.

    After ``shift`` some of the questions are hard.

    The price after every question is appended to ``path``.
    """
    costs = np.array(data["costs"])
    accuracies = np.array(data["accuracies"])
    controller = BudgetController(data["budget"], data["price"], step=step)
    for row in _comes(data, shift, share):
        number = int(np.argmax(accuracies - controller.price * costs))
        controller.open(costs[number])
        controller.close(costs[number], data["stops"][row][number])
        if path is not None:
            path.append(controller.price)
    return controller


def still_run(data: dict[str, Any], shift: int, share: float) -> float:
    """Return the average cost of the same stream at a fixed price.

    Two rules are equally good at that price, and a coin chooses between them.
    """
    low, high, chance = data["mix"]
    rules = [high if toss < chance else low for toss in data["toss"]]
    asked = [
        data["stops"][row][rule]
        for row, rule in zip(_comes(data, shift, share), rules, strict=True)
    ]
    return float(np.mean(asked))


def _comes(data: dict[str, Any], shift: int, share: float) -> list[int]:
    """Which row of the stops comes at every moment."""
    moments = enumerate(zip(data["mixed"], data["hard"], data["coin"], strict=True))
    return [
        hard if moment >= shift and coin < share else mixed
        for moment, (mixed, hard, coin) in moments
    ]


@dataclass(frozen=True)
class PriceList:
    """An endpoint's prices per million tokens, the lengths of prompts and answers, daily load."""

    read: float = 0.4
    cached: float = 0.1  # for a prompt that was just sent
    written: float = 1.6
    prompt: float = 250
    answer: float = 300
    questions: float = 10_000

    def dollars(self, answers: float) -> float:
        """Return what a question with so many answers costs; later answers read a cached prompt.

        >>> round(PriceList(read=2, cached=1, written=8, prompt=500, answer=250).dollars(3), 6)
        0.008
        """
        read = self.prompt * (self.read + (answers - 1) * self.cached)
        return (read + answers * self.answer * self.written) / 1e6


def bill(
    rows: Sequence[tuple[float, float, float | None]],
    most: float,
    focus: int = 0,
    prices: PriceList | None = None,
) -> Game:
    """The bill of a policy and of the same for everyone, by prices that the reader edits.

    One row per budget: what the policy spent, how often it was right, and what everybody would have
    to get to be as often right, or None if no number does.
    """
    prices = prices or PriceList()
    data = {
        "prices": asdict(prices),
        "rows": [list(row) for row in rows],
        "most": most,
        "focus": focus,
    }
    spent, accuracy, mixed = rows[focus]
    other = (
        ""
        if mixed is None
        else f"; the same for everyone costs ${1000 * prices.dollars(mixed):.2f} for that"
    )
    without = (
        f"A thousand questions cost ${1000 * prices.dollars(spent):.2f}, and {accuracy:.1%} are "
        f"right{other}."
    )
    return Game("bill", data, "What a day costs at your own prices.", without)
