"""The whole comparison of chapter 10, cell by cell: every signal, every peer, and bars with the same weighted votes.

It takes minutes a file; ``data/record_stopping.py`` computes it for the bundled settings, by question and by family,
and for simulated populations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adalib.datasets.folds import members
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, from_labels
from adalib.evaluate.crossfit import compared
from adalib.evaluate.heldout import held_out, oracles_at
from adalib.evaluate.intervals import bootstrap_mean
from adalib.evaluate.scores import HeldOutRow, Tally
from adalib.evaluate.trials import Learner, Planner
from adalib.learn.curve_policy import CurvePolicy
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import make_streams
from adalib.sequential.tuning import CONFIDENT, PEERS, TunedRules
from adalib.table import UtilityTable

__all__ = ["LADDER", "compare", "stopping_cells", "weighted_bars"]

#: What each rung of the ladder looks at.
LADDER: Mapping[str, tuple[str, ...]] = {
    "votes": ("votes",),
    "votes + text": ("votes", "text"),
    "votes + certainty": ("votes", "certainty"),
    "all three": ("votes", "text", "certainty"),
}

_BUDGETS = (1, 2, 4, 8, 16)
_SHARPNESS = (1.5, 3.0, 6.0, 12.0)
_KEPT = ("cost", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "mix_cost")


def weighted_bars(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None, seed: int = 0
) -> list[HeldOutRow]:
    """Score the best mix and the static oracle when votes are weighted by certainty: a better vote, no better plan.

    How steeply certainty weighs is chosen on the half that teaches. Gains count over the mix of plain votes, so that
    they stand beside those of `adalib.held_out`. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    responses : Responses
        With log-probabilities.
    targets, groups, seed
        As for `adalib.held_out`.

    Returns
    -------
    list of HeldOutRow
        ``mix_weighted`` and ``oracle_weighted``, a row a target.
    """
    halves = compared(responses).split_samples(seed)
    voted = [{s: _weighted(half, s) for s in _SHARPNESS} for half in halves]
    tally = Tally(["mix_weighted", "oracle_weighted"])
    for number in range(2):
        teach, score = voted[number], voted[1 - number]
        best = max(_SHARPNESS, key=lambda s: teach[s].acc.mean())
        chosen, scored, plain = teach[best], score[best], halves[1 - number].table(_BUDGETS)
        for target, labels in oracles_at(chosen, targets):
            mix = best_mix(chosen.acc, chosen.cost, target)
            tally.add("mix_weighted", target, *mix.outcome(scored), plain)
            tally.add("oracle_weighted", target, *from_labels(labels, chosen.k).outcome(scored), plain)
    return tally.rows(members(responses, groups))


def compare(policy: HeldOutRow, other: HeldOutRow) -> list[float]:
    """Mean and interval of one policy's gain over another's at one target, each over the mix at its own cost."""
    found = bootstrap_mean(policy.gains - other.gains)
    return [round(float(part), 5) for part in (found.mean, found.low, found.high)]


def stopping_cells(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None, *, peers: bool = True
) -> list[dict]:
    """Compute every cell of chapter 10's table for one file of answers.

    Parameters
    ----------
    responses : Responses
        Rungs and peers that need log-probabilities are left out where there are none, text where all texts are alike.
    targets, groups
        As for `adalib.held_out`.
    peers : bool
        Whether the peers are scored too.

    Returns
    -------
    list of dict
        Policy, target, its figures, and in ``over`` its lead on others at equal cost with the interval.
    """
    sure, told = responses.logprob is not None, len(set(responses.questions)) > 1
    there = {"votes", *["text"] * told, *["certainty"] * sure}
    learners: dict[str, Learner | Planner] = {
        name: PricedStopping(signals) for name, signals in LADDER.items() if set(signals) <= there
    }
    rungs = list(learners)
    if peers:
        families = {**PEERS, **(CONFIDENT if sure else {})}
        learners |= {name: TunedRules(rules) for name, rules in families.items()}
    if told:
        learners["curve"] = CurvePolicy()
    rows = held_out(responses, targets, learners=learners, groups=groups, noises=0)
    rows += weighted_bars(responses, targets, groups) if sure else []
    found = {(row.policy, row.target): row for row in rows}
    bars = ["oracle", *(["oracle_weighted", "mix_weighted"] if sure else []), *learners]
    return [
        {
            "policy": row.policy,
            "target": row.target,
            **{name: _short(getattr(row, name)) for name in _KEPT},
            "over": {bar: compare(row, found[bar, row.target]) for bar in bars if bar != row.policy}
            if row.policy in (rungs[0], rungs[-1], "votes + text")
            else {},
        }
        for row in rows
    ]


def _weighted(half: Responses, sharpness: float) -> UtilityTable:
    """What a vote weighted by certainty is worth at every budget, over 48 orders."""
    streams = make_streams(half, _BUDGETS[-1], repeats=48)
    acc = streams.mean(streams.votes(sharpness).value[:, np.array(_BUDGETS) - 1])
    return UtilityTable(acc.clip(0, 1), np.array(_BUDGETS, dtype=float), budgets=_BUDGETS, ids=half.ids)


def _short(value: float | None) -> float | None:
    return None if value is None else round(float(value), 5)
