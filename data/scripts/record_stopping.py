"""Compute what each signal adds to votes in the chapter "When to stop".

The result is data/recorded/stopping.jsonl. GSM8K and a home-made setting are held out by question,
at six targets. A test computes some of the cells again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from recording import main

import adalib
from adabook.recorded import LADDER, STOPS, figures
from adalib.datasets.folds import members
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.evaluate.crossfit import with_class_numbers
from adalib.evaluate.heldout import held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Learner, Planner
from adalib.evaluate.scores import HeldOutRow, Outcome, Scores
from adalib.learn.curve_policy import CurvePolicy
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.streams import make_streams
from adalib.table import UtilityTable

TARGETS = (1.5, 2, 3, 4, 6, 8)

_BUDGETS = (1, 2, 4, 8, 16)

_SHARPNESS = (1.5, 3.0, 6.0, 12.0)
_LEFT_OUT = ("fixed", "random", "length")  # "Results" has them: no better than the mix
# Gains count over the mix already; what is in sample is no bar.
_NO_BARS = ("mix", "oracle_in_sample")


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    # On the benchmark the mix and the oracle may stop wherever the policy may.
    for name, menu in (("gsm8k-qwen15", STOPS), ("word-fewshot", _BUDGETS)):
        compute = partial(stopping_cells, adalib.load(name), TARGETS, menu=menu)
        yield f"{name} by question", compute


def stopping_cells(
    responses: Responses, targets: Sequence[float], *, menu: Sequence[int] = _BUDGETS
) -> list[dict]:
    """Compute every cell for one file: figures, and in ``over`` the leads.

    Rungs that need log-probabilities are left out where there are none, text where all texts are
    alike.
    """
    sure = responses.logprob is not None
    told = len(set(responses.questions)) > 1
    there = {"votes", *["text"] * told, *["certainty"] * sure}
    rungs = {
        name: PricedStopping(signals, exact=True)
        for name, signals in LADDER.items()
        if set(signals) <= there
    }
    learners: dict[str, Learner | Planner] = {**rungs, **({"curve": CurvePolicy()} if told else {})}
    rows = held_out(responses, targets, menu, learners=learners, noises=0)
    rows += weighted_mix(responses, targets, menu) if sure else []
    shown = [row for row in rows if row.policy not in _LEFT_OUT]
    leading = {"votes", list(rungs)[-1], "votes + text"}
    return [cell(row, shown if row.policy in leading else ()) for row in shown]


def weighted_tables(
    responses: Responses, menu: Sequence[int], seed: int
) -> Iterator[tuple[UtilityTable, UtilityTable, UtilityTable]]:
    """Yield, both ways round, the weighted votes that choose and score, and the plain ones.

    How steeply certainty weighs is chosen on the half that teaches.
    """
    halves = with_class_numbers(responses).split_samples(seed)
    voted = [{s: _weighted(half, s, menu) for s in _SHARPNESS} for half in halves]
    for number in range(2):
        teach = voted[number]
        best = max(_SHARPNESS, key=lambda s: teach[s].acc.mean())
        yield teach[best], voted[1 - number][best], halves[1 - number].table(menu)


def weighted_mix(
    responses: Responses,
    targets: Sequence[float],
    menu: Sequence[int] = _BUDGETS,
    seed: int = 0,
) -> list[HeldOutRow]:
    """Score the best mix with votes weighted by certainty: a better vote, and the same plan.

    Gains count over the mix of plain votes, next to those of `adalib.held_out`, whose answers
    ``seed`` halves alike. An oracle of weighted votes is left out: on so few orders, labels chosen
    question by question follow luck, and its gain would grow with the orders."""
    scores = Scores(["mix_weighted"])
    for chosen, scored, plain in weighted_tables(responses, menu, seed):
        for target in targets:
            mix = best_mix(chosen.acc, chosen.cost, target)
            scores.add("mix_weighted", target, Outcome(*mix.outcome(scored)), plain)
    return scores.rows(members(responses, None))


def cell(row: HeldOutRow, others: Sequence[HeldOutRow]) -> dict:
    """Return one row's figures and its lead on the others at its target.

    A lead is gain less gain, each at its own cost.
    """
    over = {}
    for other in others:
        if other.target == row.target and other.policy not in (row.policy, *_NO_BARS):
            lead = mean_interval(row.gains - other.gains)
            over[other.policy] = [
                round(float(part), 5) for part in (lead.mean, lead.low, lead.high)
            ]
    return {**figures(row), "over": over}


def _weighted(half: Responses, sharpness: float, menu: Sequence[int]) -> UtilityTable:
    """What a vote weighted by certainty is worth at every budget, over 48 orders."""
    streams = make_streams(half, menu[-1], repeats=48)
    acc = streams.mean(streams.votes(sharpness).value[:, np.array(menu) - 1])
    return UtilityTable(
        acc.clip(0, 1), np.array(menu, dtype=float), budgets=tuple(menu), ids=tuple(half.ids)
    )


if __name__ == "__main__":
    main(stopping=parts())
