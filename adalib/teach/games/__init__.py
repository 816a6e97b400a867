"""Games that run on a page, with no kernel and no network.

A function computes all that its game needs and leaves it on the page as data;
``book/_static/NAME.js`` plays it. Make it the last expression of a cell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.colours import BUDGETS as COLOURS
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.router.controller import STEP, BudgetController
from adalib.sequential.courses import Course
from adalib.sequential.streams import Streams, make_streams
from adalib.sequential.votes import vote_weight
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import archetypes
from adalib.teach.figures import HTML

if TYPE_CHECKING:
    from adalib.sequential.policy import PricedStopping
    from adalib.sequential.race import PricedRace
    from adalib.sequential.race_state import PricedMember

__all__ = [
    "Charges",
    "Game",
    "PriceList",
    "bill",
    "feed",
    "guess",
    "hold",
    "hold_run",
    "kinds",
    "limit_prices",
    "lineup",
]
__all__ += [
    "market",
    "menu_bill",
    "priced_in_dollars",
    "race",
    "sentence",
    "spend",
    "states",
    "still_run",
    "stop",
]
__all__ += ["tangent", "votes"]

_BUDGETS = (1, 2, 4, 8, 16)


class Game(HTML):
    """A place of class ``adalib-NAME`` with its data and caption.

    For a browser that runs no scripts it also has its numbers in words.

    >>> "u003c" in Game("guess", {"title": "</script>"}, "Guess.", "It rises.").html
    True
    """

    def __init__(self, name: str, data: dict[str, Any], caption: str, without: str) -> None:
        self.data = data
        # "<" is escaped so that no text can close the element.
        text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        place = f'<p>{escape(without)}</p><script type="application/json">{text}</script>'
        figcaption = f'<figcaption class="adalib-told">{escape(caption)}</figcaption>'
        super().__init__(
            '<figure class="adalib-game"><div '
            f'class="adalib-{name}">{place}</div>{figcaption}</figure>'
        )


def _listed(budgets: Sequence[float], curve: Sequence[float]) -> str:
    """A curve in words: 0.25 with 1, 0.50 with 4."""
    return ", ".join(f"{value:.2f} with {b:g}" for b, value in zip(budgets, curve, strict=True))


# A vote, a budget a kind, a price


def votes(responses: Responses, row: int) -> Game:
    """Ask one question again and again: its real answers come in one by one, and vote.

    An answer is 0, right; 1, the commonest wrong one; 2, another wrong one; or 3, unread, with an
    empty text."""
    classes = responses.classes[row]
    right = responses.values[row] > 0
    wrong = np.bincount(classes[~right & (classes >= 0)], minlength=1).argmax()
    answers = _written(responses, row)
    data = {
        "answers": [answers.get(number, "") for number in classes.tolist()],
        "kinds": np.select([classes < 0, right, classes == wrong], [3, 0, 1], default=2).tolist(),
        "right": answers.get(int(classes[right][0]), "") if right.any() else "",
    }
    caption = "Ask one question again and again, and watch the vote."
    return Game("votes", data, caption, f"{right.sum()} of {right.size} answers are right.")


def _written(responses: Responses, row: int) -> dict[int, str]:
    """One way of writing for each class of answers, the first, so that equal answers look equal."""
    pairs = zip(responses.classes[row][::-1].tolist(), responses.answers[row][::-1], strict=True)
    return {number: text for number, text in pairs if number >= 0}


def kinds(responses: Responses, seed: int = 0) -> Game:
    """Spend by kind: a budget for each of the four kinds, next to the best mix and the oracle.

    Kinds, mix and oracle are chosen on half of the answers to each question, and all are scored on
    the other half."""
    seen, scored = (half.table(_BUDGETS) for half in responses.split_samples(seed))
    found = archetypes(seen)
    path = frontier(seen.acc, seen.cost)
    everyone = np.arange(seen.n)
    costs = np.arange(_BUDGETS[0], _BUDGETS[-1] + 0.25, 0.25)
    data: dict[str, Any] = {
        "budgets": list(_BUDGETS),
        "kinds": [
            {
                "name": name,
                "count": int((found == name).sum()),
                "acc": _mean(scored.acc[found == name]),
            }
            for name in ("easy", "responsive", "diminishing", "hard")
        ],
        "costs": costs.tolist(),
        "mix": [_mean(best_mix(seen.acc, seen.cost, c).expected(scored.acc)) for c in costs],
        "oracle": [_mean(scored.acc[everyone, path.at(c).labels]) for c in costs],
    }
    curves = "; ".join(f"{kind['name']} {_listed(_BUDGETS, kind['acc'])}" for kind in data["kinds"])
    caption = (
        "Give each kind of question a budget, beside the best mix and the oracle at the same cost."
    )
    return Game("kinds", data, caption, f"How often each kind is right, by its answers: {curves}.")


def _mean(values: np.ndarray) -> Any:
    """The average over questions, to four digits."""
    return values.mean(axis=0).round(4).tolist()


_STEP = 0.001  # by which a price in a sentence moves


def tangent(budgets: Sequence[int], curve: ArrayLike, start: float, most: float = 0.1) -> Game:
    """A line of slope λ rests on one question's curve; its intercept is the net value."""
    data = {
        "budgets": list(budgets),
        "curve": np.asarray(curve).round(6).tolist(),
        "start": start,
        "most": most,
    }
    without = f"The accuracy of the vote is {_listed(budgets, data['curve'])} answers."
    return Game("price", data, "Drag the price, and watch what one question buys.", without)


def sentence(
    responses: Responses, name: str, start: float, most: float = 0.1, seed: int = 0
) -> Game:
    """A price in a sentence: what all questions buy, how accurate they are, a mix of that cost.

    Oracle and mix are chosen on half of the answers to each question and scored on the other half.
    """
    seen, scored = (half.table(_BUDGETS) for half in responses.split_samples(seed))
    prices = np.arange(round(most / _STEP) + 1) * _STEP
    labels = [oracle_labels(seen.acc, seen.cost, price) for price in prices]
    cost = [float(seen.cost[own].mean()) for own in labels]
    data = {
        "n": seen.n,
        "name": name,
        "budgets": list(_BUDGETS),
        "colours": list(COLOURS),
        "start": start,
        "most": most,
        "bought": [np.bincount(own, minlength=len(_BUDGETS)).tolist() for own in labels],
        "cost": np.round(cost, 4).tolist(),
        "accuracy": [_mean(scored.acc[np.arange(seen.n), own]) for own in labels],
        "mix": [_mean(best_mix(seen.acc, seen.cost, spent).expected(scored.acc)) for spent in cost],
    }
    at = round(start / _STEP)
    scores = f"accuracy {data['accuracy'][at]:.3f}, best mix {data['mix'][at]:.3f}"
    without = f"At a price of {start:g}: {cost[at]:.2f} answers per question, {scores}."
    return Game(
        "price", data, f"Drag the price, and watch what all questions of {name} buy.", without
    )


_VOTE = {"axis": "answers in the vote", "unit": "answers", "who": "the vote"}


def guess(
    budgets: Sequence[float],
    truth: Sequence[float],
    known: int = 1,
    start: Sequence[float] | None = None,
    ends: tuple[float, float] = (0, 1),
    words: Mapping[str, str] | None = None,
) -> Game:
    """Guess a curve, the vote's or the oracle's: drag all points but the first, then see the truth.

    The points begin where the known ones end, or on the curve ``start``, which then stays in
    sight. ``ends`` are those of the axis."""
    curves = [[round(float(value), 4) for value in curve] for curve in (truth, start or [])]
    terms = dict(words or _VOTE)
    data = {"budgets": list(budgets), "truth": curves[0], "known": known, "start": curves[1]}
    data |= {"ends": list(ends), "words": terms}
    caption = f"Draw the accuracy of {terms['who']} before you see it."
    return Game(
        "guess", data, caption, f"The accuracy of {terms['who']} is {_listed(budgets, curves[0])}."
    )


_HANDS = (120, 60)  # questions on a wide screen, and on a phone


def spend(responses: Responses, budget: float = 2.0, seed: int = 0) -> Game:
    """Spend the answers, on the welcome page: the reader hands out a budget, then the price does.

    Every question starts with one answer. The questions are taken evenly from all levels, more for
    a wide screen than for a phone."""
    levels = [
        "" if level is None else str(level) for level in responses.levels or [None] * responses.n
    ]
    order = np.argsort(levels, kind="stable")
    picks = (
        np.linspace(0, responses.n - 1, min(size, responses.n)).round().astype(int)
        for size in _HANDS
    )
    hands = [_hand(responses.take(order[pick].tolist()), budget, seed) for pick in picks]
    data = {"budgets": list(_BUDGETS), "colours": list(COLOURS), "hands": hands}
    right = [f"{hands[0][who]:.0%}" for who in ("oracle_accuracy", "mix_accuracy")]
    without = (
        f"With {hands[0]['total']} answers one price gets {right[0]} right, "
        f"and the best mix {right[1]}."
    )
    return Game("spend", data, f"Spend {budget:g} answers per question yourself.", without)


def _hand(responses: Responses, budget: float, seed: int) -> dict[str, Any]:
    """What a player holds. Player and price see half of the samples; the other half scores both."""
    seen, scored = (half.table(_BUDGETS) for half in responses.split_samples(seed))
    best = frontier(seen.acc, seen.cost).at(budget)
    mix = best_mix(seen.acc, seen.cost, budget)
    return {
        "total": round(budget * responses.n),
        "questions": list(responses.questions),
        "seen": np.round(seen.acc * 10_000).astype(int).tolist(),
        "scored": np.round(scored.acc * 10_000).astype(int).tolist(),
        "oracle": best.labels.tolist(),
        "price": round(best.lam, 4),
        "oracle_accuracy": float(scored.acc[np.arange(responses.n), best.labels].mean()),
        "mix_accuracy": float(mix.expected(scored.acc).mean()),
    }


def lineup(acc: ArrayLike, cost: ArrayLike, names: Sequence[str]) -> Game:
    """Slopes, sorted: the edges of a few envelopes line up into one staircase.

    An edge is [question, cost, accuracy, cost, accuracy], its ends in its own envelope; the
    steepest come first.

    >>> played = lineup([[0.2, 0.3, 0.9]], [1, 2, 4], ["a"])
    >>> played.data["edges"]  # the second budget is below the line
    [[0, 1.0, 0.2, 4.0, 0.9]]
    """
    acc = np.asarray(acc, dtype=float)
    cost = np.asarray(cost, dtype=float)
    edges: list[list[float]] = []
    for row, curve in enumerate(acc):
        path = frontier(curve[None, :], cost)
        corners = [
            (float(c), round(float(a), 4)) for c, a in zip(path.cost, path.accuracy, strict=True)
        ]
        edges += [[row, *low, *high] for low, high in pairwise(corners)]
    edges.sort(key=lambda edge: -(edge[4] - edge[2]) / (edge[3] - edge[1]))
    first = [round(float(value), 4) for value in acc[:, 0]]
    order = ", ".join(f"{names[int(edge[0])]} from {edge[1]:g} to {edge[3]:g}" for edge in edges)
    data = {"names": list(names), "edges": edges, "first": first, "cost": cost.tolist()}
    return Game(
        "lineup",
        data,
        "Line up the steps of all questions, the steepest first.",
        f"In order: {order}.",
    )


Gains = tuple[float, float, float, float]


def feed(text: Gains, draws: Sequence[Gains], names: Mapping[str, str]) -> Game:
    """Feed it noise: what a router shows with the text, and with fresh random numbers in its place.

    Gains are (in-sample, held out, low, high), the last two the held-out interval; ``names`` are
    those of the two bars."""
    rows = [[round(100 * float(value), 2) for value in gains] for gains in (text, *draws)]
    gains = (
        f"With text {rows[0][0]:+.1f} points inside and {rows[0][1]:+.1f} held out; "
        f"with noise {rows[1][0]:+.1f}"
    )
    caption = "Train the router on random numbers instead of the text, as often as you like."
    return Game(
        "noise", {"rows": rows, "names": dict(names)}, caption, f"{gains} and {rows[1][1]:+.1f}."
    )


# When to stop


def stop(
    policy: PricedStopping,
    responses: Responses,
    features: ArrayLike | None,
    price: float,
    seed: int = 0,
) -> Game:
    """When to stop: answers to real questions come in one by one at a price; then the price plays.

    The policy was fitted on other questions, and plays at the nearest price on its envelope, by
    the same answers."""
    # Points for a right answer.
    points = 100
    rows = range(responses.n)
    streams = make_streams(responses, int(policy.schedule[-1]), repeats=1, seed=seed)
    stops, near = policy.stops_at(responses, features, price, seed=seed, repeats=1)
    worth = policy.deciding_count.count(streams).value
    sure = streams.read("logprob")
    count = policy.deciding_count  # whose votes count; plain votes have no sharpness
    field = streams.read(count.reads) if count.sharpness else None
    weights = (
        np.ones(worth.shape) if field is None else vote_weight(count.sign * count.sharpness, field)
    )
    written = [_written(responses, row) for row in rows]  # class -1 is no answer
    questions = [
        {
            "text": responses.questions[row],
            "gold": responses.golds[row],
            "answers": [written[row].get(number, "") for number in streams.classes[row].tolist()],
            "sure": [] if sure is None else np.exp(sure[row]).round(2).tolist(),
            "weight": weights[row].round(4).tolist(),
            "worth": worth[row].round(3).tolist(),
            "stop": int(policy.schedule[stops[row]]),
        }
        for row in rows
    ]
    data = {"points": points, "price": round(points * near, 1), "questions": questions}
    asked = ", ".join(f"{question['stop']}" for question in questions)
    caption = "Stop asking when you think it is enough; then the price plays the same answers."
    return Game(
        "stop",
        data,
        caption,
        f"On these {responses.n} questions the price stops after {asked} answers.",
    )


_PRICES = np.geomspace(0.0005, 0.15, 41).round(5)
_FEWEST = 12  # streams that must have been in a state for it to be shown


def limit_prices(policy: PricedStopping, streams: Streams) -> np.ndarray:
    """Return the highest price at which each training stream continues, at every checkpoint.

    The last checkpoint is left out; 0 means that the stream stops at once.
    """
    from adalib.sequential.induction import (
        backward_induction,  # here, because other games need no scipy
    )

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
        "In which votes the price goes on, and how the text and the model's certainty move the "
        "border."
    )
    goes = ", ".join(f"{a} to {b} up to {alone[b][a - 1]:.3g}" for a, b in leads)
    return Game(
        "states",
        data,
        caption,
        f"By votes alone it goes on, leader to runner-up and price: {goes}.",
    )


# The race


def race(policy: PricedRace, member: PricedMember, responses: Responses, seed: int = 0) -> Game:
    """Close the race: answers run side by side at their real lengths and vote when they finish.

    The member's prices are those of the game, and it plays the same answers. Times and tokens are
    in average answers. Answers are numbered in the order in which they first finish, so that the
    right one is not given away."""
    streams = policy.streams(responses, seed, 1)
    course = Course(streams, member.start)
    closes = policy.play([member], streams).finished[:, 0]
    worth = course.value(course.streams.votes())
    lengths = np.asarray(streams.read("tokens"))[:, : member.start] / policy.unit
    questions = []
    for row in range(responses.n):
        first_seen = dict.fromkeys(course.streams.classes[row].tolist())
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
        "Close the race when you think that it is decided; then the price plays the same answers."
    )
    finishes = ", ".join(f"{question['close']}" for question in questions)
    return Game(
        "race",
        data,
        caption,
        f"On these {responses.n} questions the price closes the race at finish {finishes} of "
        f"{member.start}.",
    )


# The budget held, and what it costs in dollars

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

    def asked_by(number: int, question_features: np.ndarray | None, answers: list[int]) -> int:
        session = policy.begin(number, question_features)
        stops = (
            asked
            for asked, answer in enumerate(answers, 1)
            if not session.add(None if answer < 0 else answer)
        )
        return next(stops, len(answers))

    rng = np.random.default_rng(seed)
    stops = []
    for row in range(responses.n):
        question_features = None if features is None else np.asarray(features)[row]
        for _ in range(_ORDERS):
            answers = rng.permutation(responses.classes[row]).tolist()
            stops.append(
                [
                    asked_by(number, question_features, answers)
                    for number in range(len(policy.members))
                ]
            )
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
        f"a fixed price spends {still:.2f} answers per question, one that moves "
        f"{moved.spent / _ASKED:.2f}"
    )
    without = (
        f"Of {_ASKED} questions the second half is hard: {spent}, and the budget is {budget:g}."
    )
    return Game(
        "hold", data, "Let the questions turn hard, and watch the price hold the budget.", without
    )


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
    """The bill of a policy and of the equally accurate mix, by prices that the reader edits.

    A row a budget: what the policy spent, how often it was right, and what the best mix spends for
    that, or None."""
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
        else f"; the best mix needs ${1000 * prices.dollars(mixed):.2f} for that"
    )
    without = (
        f"A thousand questions cost ${1000 * prices.dollars(spent):.2f}, and {accuracy:.1%} are "
        f"right{other}."
    )
    return Game("bill", data, "What a day costs at your own prices.", without)


# Whom to ask for which money


@dataclass(frozen=True)
class Charges:
    """What a provider charges for one model, in dollars per million tokens read and written."""

    read: float
    written: float


def priced_in_dollars(menu: Menu, charges: Mapping[str, Charges], prompt: float) -> Menu:
    """Price the menu's answers in dollars per thousand questions; each reads the prompt again."""
    tokens = {name: _tokens(answers) for name, answers in menu.models.items()}
    units = {
        name: 1000 * ((prompt * charges[name].read + tokens[name] * charges[name].written) / 1e6)
        for name in tokens
    }
    return menu.priced(units, per="samples")


def _tokens(responses: Responses) -> float:
    """Tokens of an answer, on average."""
    if responses.tokens is None:
        raise ValueError(
            "a price list is for tokens, and these answers come without; give a file that has them"
        )
    return float(responses.tokens.mean())


def menu_bill(menu: Menu, charges: Mapping[str, Charges], prompt: float, dollars: float) -> Game:
    """A menu of models under prices that the reader edits, with a budget in dollars.

    The budget is for a thousand questions.
    """
    data = {
        "models": [
            {"name": name, **asdict(charges[name]), "tokens": _tokens(answers)}
            for name, answers in menu.models.items()
        ],
        "arms": [[number, budget] for number in range(len(menu.models)) for budget in _BUDGETS],
        "acc": np.hstack([answers.table(_BUDGETS).acc for answers in menu.models.values()])
        .round(4)
        .tolist(),
        "prompt": prompt,
        "dollars": dollars,
    }
    means = {name: _mean(answers.table(_BUDGETS).acc) for name, answers in menu.models.items()}
    curves = (f"{name} {_listed(_BUDGETS, mean)}" for name, mean in means.items())
    caption = "Set the prices of two models, and see which questions ask which."
    return Game(
        "menu",
        data,
        caption,
        f"How often each model is right, by its answers: {'; '.join(curves)}.",
    )


# The market game, for a classroom

_CARDS = 40
# Of five students, in an order that mixes them: most have something to buy.
_DEAL = ("responsive", "easy", "responsive", "hard", "diminishing")


def market(responses: Responses) -> Game:
    """The market game: every student is a question with a real curve, the teacher is the price.

    Curves are in whole points of accuracy: a best buy can be found in one's head. Kinds are dealt
    in turn, and no two cards have the same curve. The twin is the card with the widest step: at
    one price it goes from ``low`` to ``high``."""
    table = responses.table(_BUDGETS)
    points = np.round(100 * table.acc).astype(int)
    _, first = np.unique(points, axis=0, return_index=True)
    kinds = archetypes(table)
    piles = {kind: _spread(np.flatnonzero(kinds == kind), first, points) for kind in set(_DEAL)}
    dealt = [piles[_DEAL[at % len(_DEAL)]].pop(0) for at in range(_CARDS)]

    def card(row: int) -> dict[str, Any]:
        return {
            "id": responses.ids[row],
            "question": responses.questions[row],
            "points": points[row].tolist(),
        }

    def widest_step(row: int) -> tuple[int, int]:
        bought = frontier(points[row, None] / 100, _BUDGETS).cost.astype(int).tolist()
        return max(
            pairwise(bought), key=lambda step: step[1] - step[0], default=(bought[0], bought[0])
        )

    steps = [widest_step(row) for row in range(len(points))]
    twin = max(range(len(points)), key=lambda row: (steps[row][1] - steps[row][0], points[row, -1]))
    low, high = steps[twin]
    cards = [card(row) for row in dealt]
    data = {
        "budgets": list(_BUDGETS),
        "colours": list(COLOURS),
        "cards": cards,
        "twin": {**card(twin), "low": low, "high": high},
    }
    lines = "; ".join(
        f"card {at}: {', '.join(map(str, one['points']))}" for at, one in enumerate(cards, 1)
    )
    without = f"Points of accuracy with {', '.join(map(str, _BUDGETS))} answers. {lines}."
    return Game(
        "market",
        data,
        "The market game: every card is a question, and the class is the market.",
        without,
    )


def _spread(rows: np.ndarray, allowed: np.ndarray, points: np.ndarray) -> list[int]:
    """The rows of one kind, those far apart in what they gain first."""
    rows = np.intersect1d(rows, allowed)
    ordered = rows[np.argsort(points[rows, -1] - points[rows, 0], kind="stable")].tolist()
    # The first, the middle, the quarters, ...: places in the order of their bits read backwards.
    return [ordered[i] for i in sorted(range(len(ordered)), key=lambda i: f"{i:012b}"[::-1])]
