"""Which policy to deploy: the one that gains most on questions it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import held_out
from adalib.evaluate.verdict import verdict
from adalib.learn.curve_policy import CurvePolicy
from adalib.sequential.priced import PricedStopping

__all__ = ["recommended"]


def recommended(
    responses: Responses,
    budget: float,
    budgets: Sequence[int],
    signals: Sequence[str],
    cost: Literal["samples", "tokens"] = "samples",
    groups: Sequence | None = None,
    seed: int = 0,
) -> tuple[str, str]:
    """Hold out, compare at this budget, and name "priced" or "curve" with the verdict's sentence.

    Explained in chapter 11, "Deploy".

    Parameters
    ----------
    responses : Responses
        As many as `held_out` needs.
    budget : float
        Average cost at which they are compared.
    budgets : sequence of int
        Numbers of answers on offer to the curve policy; those with twice as many answers in the file are used.
    signals, cost, groups, seed
        As for `Router.fit`.
    """
    learners = {"curve": CurvePolicy(seed=seed), "priced": PricedStopping(signals, cost=cost, seed=seed)}
    offered = [b for b in budgets if 2 * b <= responses.samples]
    table = partial(Responses.table, cost=cost)
    rows = held_out(responses, [budget], offered, groups=groups, learners=learners, noises=0, table=table, seed=seed)
    best = max((row for row in rows if row.policy in learners), key=lambda row: row.gain)
    return best.policy, verdict(rows)
