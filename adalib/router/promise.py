"""What a router promises: its accuracy, cost and waiting on questions that it has not learned from.

The questions are dealt into folds. A router is fitted on all folds but one, with the same options,
and the answers to the questions of the last one are played back to it. The bar is the best random
mix of fixed budgets at the same cost, chosen on the answers that score it, which favours the mix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tqdm import tqdm

from adalib.datasets.folds import deal, drawn, members
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import from_labels
from adalib.evaluate.crossfit import compared
from adalib.evaluate.scores import Outcome, Scores, mix_for
from adalib.router.router import Router
from adalib.table import UtilityTable

_FOLDS = 5
_BUDGETS = (1, 2, 4, 8, 16, 32)  # of the mix that a router is compared with


@dataclass(frozen=True)
class Promise:
    """Averages over held-out questions, each interval with 95% confidence.

    Costs are in the router's unit. ``waits`` is in the unit of ``waits_for``: rounds of answers, or
    times of one average answer in a race.
    """

    questions: int
    accuracy: float
    low: float
    high: float
    cost: float
    waits: float
    waits_for: str
    mix_accuracy: float
    gain: float
    gain_low: float
    gain_high: float


def held_out_promise(responses: Responses, options: Mapping[str, Any], *, seed: int = 0) -> Promise:
    """Measure what `Router.fit` with these options achieves on questions that it has not seen.

    Parameters
    ----------
    responses : Responses
        At least ten questions. Where there are many, a random sample is used, so that each fold
        learns from as many questions as the router itself, ``options["taught"]``.
    options : mapping
        The keyword arguments of `Router.fit`; ``policy`` is "priced", "curve" or "race".
    seed : int
        Seed of the sample and of the folds.

    Returns
    -------
    Promise
    """
    rows = drawn(range(responses.n), options["taught"] * _FOLDS // (_FOLDS - 1), seed)
    answers = compared(responses.take(rows))
    member = members(answers, None)
    fold = deal(member, _FOLDS, seed)
    cost, accuracy, waits = np.empty((3, answers.n))
    for out in tqdm(np.unique(fold), desc="holding out", unit=" folds", disable=None, leave=False):
        test = np.flatnonzero(fold == out)
        router = Router.fit(answers.take(fold != out), **options)
        cost[test], accuracy[test], waits[test] = _played(router, answers.take(test))
    scores = Scores(["router"])
    budget = float(options["budget"])
    outcome = Outcome(cost, accuracy)
    scores.add("router", budget, outcome, mix_for(outcome, _table(answers, options["cost"])))
    (row,) = scores.rows(member)
    return Promise(
        questions=answers.n,
        accuracy=row.accuracy,
        low=row.low,
        high=row.high,
        cost=row.cost,
        waits=float(waits.mean()),
        waits_for="average answers" if options["policy"] == "race" else "rounds",
        mix_accuracy=row.mix_accuracy,
        gain=row.gain,
        gain_low=float(row.gain_low or 0.0),
        gain_high=float(row.gain_high or 0.0),
    )


def _played(router: Router, unseen: Responses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play the answers back; return each question's cost, accuracy and waiting."""
    features = None if router.reader is None else router.reader.read(unseen.questions)
    budget = router.controller.budget
    policy = router.policy
    if router.name == "curve":
        table = unseen.table(router.budgets, cost=router.cost)  # type: ignore[arg-type]
        labels = policy.for_budget(features, budget)
        cost, accuracy = from_labels(labels, table.k).outcome(table)
        return cost, accuracy, np.ones(unseen.n)
    if router.name == "race":
        price = policy.waiting_price
        race = policy.replay(unseen, [budget], features, waiting_price=price)
        return race.cost[:, 0], race.accuracy[:, 0], race.waiting[:, 0]
    replay = policy.replay(unseen, [budget], features)
    return replay.cost[:, 0], replay.accuracy[:, 0], replay.rounds[:, 0]


def _table(answers: Responses, cost: Any) -> UtilityTable:
    """The accuracy of a vote of each budget, and its cost in the router's unit."""
    budgets = tuple(budget for budget in _BUDGETS if budget <= answers.samples)
    if isinstance(cost, str):
        return answers.table(budgets, cost=cost)  # type: ignore[arg-type]
    # Of one answer to each question, by a price list.
    each = cost(answers).mean(axis=1, keepdims=True)
    return replace(answers.table(budgets), cost=each * np.array(budgets, dtype=float))
