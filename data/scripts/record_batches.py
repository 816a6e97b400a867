"""Price batches against asking one by one; the result is data/recorded/batches.jsonl.

Three policies by votes alone must be as right as watching one by one is at three answers: watching,
watching in rounds, and the same number for everyone (any number up to half of the file's, or two by
lot). Each is scored on questions and answers that it has not seen, in five deals. A row says what a
policy must spend, in answers, with an interval over questions; a batch may bill less for each. It
also says how many rounds a question waits for, and what tokens an answer has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from recording import DEALS, Part, main

from adabook.paper.settings import benchmark
from adalib.datasets.folds import deal, members, subsample
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.crossfit import with_class_numbers
from adalib.sequential.priced_stopping import PricedStopping
from adalib.solve.hull import concave_hull

BUDGET = 3.0  # answers that watching one by one may spend
SCHEDULES = {"2, 5, 16": (2, 5, 16), "3, 16": (3, 16)}
_GRID = np.arange(2.0, 8.01, 0.25)  # budgets of the rounds, between which costs are interpolated
_TAUGHT = 1000  # questions that a fold learns from at most, as in `held_out`
_FOLDS = 5
_DRAWS = 1000  # of the questions, for an interval


def sets() -> dict[str, Callable[[], Any]]:
    """Return the sets of the record: a strong model, and a weak one on easy and hard questions."""
    return {
        "gsm8k-gpt4omini": partial(load, "gsm8k-gpt4omini"),
        "gsm8k": partial(benchmark, "gsm8k"),
        "math": partial(benchmark, "math"),
    }


def parts() -> Iterator[Part]:
    """Yield the name of a set, and a function that computes its rows."""
    for name, answers in sets().items():
        yield name, partial(rows_of, answers)


def rows_of(answers: Callable[[], Any]) -> list[dict]:
    """Average the deals question by question, and read off what each policy must spend."""
    responses = with_class_numbers(answers())
    deals = [played(responses, seed) for seed in DEALS]
    found = {name: np.mean([one[name] for one in deals], axis=0) for name in deals[0]}
    rng = np.random.default_rng(0)
    draws = rng.integers(responses.n, size=(_DRAWS, responses.n))
    weights = np.array([np.bincount(draw, minlength=responses.n) for draw in draws]) / responses.n
    weights = np.vstack([np.full(responses.n, 1 / responses.n), weights])  # all of them first
    watched = found["watching"]
    target = weights @ watched[1, :, 0]
    rows = [
        {
            "policy": "watching",
            "answers": round(float(watched[0].mean()), 4),
            "right": round(float(target[0]), 5),
            "per_answer": round(float(watched[2].mean() / watched[0].mean()), 3),
            "tokens": round(float(np.mean(responses.tokens)), 3),
            "waits": round(float(watched[3].mean()), 4),
        }
    ]
    for name in (*SCHEDULES, "same"):
        cost, right, tokens, waits = (weights @ figure for figure in found[name])
        needed = [reached(*pair) for pair in zip(cost, right, target, strict=True)]
        at = float(needed[0])
        rows.append(
            {
                "policy": name,
                "answers": round(at, 4),
                "low": round(float(np.quantile(needed[1:], 0.025, method="nearest")), 4),
                "high": round(float(np.quantile(needed[1:], 0.975, method="nearest")), 4),
                "per_answer": round(float(np.interp(at, cost[0], tokens[0] / cost[0])), 3),
                "waits": round(float(np.interp(at, cost[0], waits[0])), 4),
            }
        )
    return rows


def reached(cost: np.ndarray, right: np.ndarray, target: float) -> float:
    """Return the least cost on the upper envelope at which the target is reached; inf if never."""
    best = concave_hull(cost, right)
    if right[best[-1]] < target:
        return np.inf
    return float(np.interp(target, right[best], cost[best]))


def played(responses: Responses, seed: int) -> dict[str, np.ndarray]:
    """Score every policy in one deal: its figures, an array (figures, questions, budgets).

    The figures are answers, accuracy, tokens and rounds of waiting.
    """
    member = members(responses, None)
    fold_of = deal(member, _FOLDS, seed)
    halves = responses.split_samples(seed)
    budgets = {"watching": np.array([BUDGET]), **dict.fromkeys(SCHEDULES, _GRID)}
    found = {name: np.zeros((4, responses.n, len(grid))) for name, grid in budgets.items()}
    numbers = np.arange(1, responses.samples // 2 + 1)
    same = np.zeros((4, responses.n, numbers.size))
    for teach, score in permutations(halves):
        table = score.table(numbers.tolist())
        assert score.tokens is not None  # every set of the record has them
        mean_tokens = score.tokens.mean(axis=1)
        same[:2] += np.stack([np.broadcast_to(numbers, table.acc.shape), table.acc]) / 2
        same[2] += np.outer(mean_tokens, numbers) / 2
        same[3] += 0.5
        for fold in range(_FOLDS):
            test = np.flatnonzero(fold_of == fold)
            train = subsample(np.flatnonzero(fold_of != fold), _TAUGHT, seed)
            lesson, met = teach.take(train), score.take(test)
            for name, grid in budgets.items():
                schedule = SCHEDULES.get(name)
                policy = PricedStopping(("votes",), schedule=schedule, exact=True)
                policy = policy.limited_to(min(lesson.samples, met.samples))
                policy.fit(lesson, groups=member[train])
                found[name][:, test] += figures(policy, met, grid) / 2
    return found | {"same": same}


def figures(policy: PricedStopping, answers: Responses, budgets: Any) -> np.ndarray:
    """Play answers back, and return the figures of `played` at every budget."""
    streams = policy.streams(answers, 1, 48)
    stops, right = policy.play(policy.members, streams)
    spent = np.asarray(streams.read("tokens")).cumsum(axis=1)
    taken = policy.schedule[stops]
    tokens = np.take_along_axis(spent, taken - 1, axis=1)
    each = np.stack([streams.mean(x) for x in (taken, right, tokens, stops + 1.0)])
    mixes = [policy.mix(budget) for budget in policy.affordable(budgets)]
    return np.stack(
        [(1 - m.share) * each[..., m.low] + m.share * each[..., m.high] for m in mixes], axis=-1
    )


if __name__ == "__main__":
    main(batches=parts())
