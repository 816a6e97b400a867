"""Who is on trial: the names of all rows, and the learners behind them.

Some policies learn nothing, some decide before asking, some watch the answers come in, and one is a control that knows
nothing. `adalib.held_out` scores them all alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from adalib.evaluate.trials import Learner, Planner
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.priced import PricedStopping
from adalib.sequential.tuning import PEERS, TunedRules

__all__ = ["BASELINES", "POLICIES", "STOPPING", "checked", "planning_policies", "stopping_policies"]

#: Policies that learn nothing, in the order of their rows.
BASELINES = ("oracle", "oracle_in_sample", "mix", "fixed", "random", "length")

#: Policies that watch the answers come in, of which `stopping_policies` gives the learners.
STOPPING = ("priced", "priced_votes", "margin", "adaptive_consistency", "esc")

#: The order of all rows, where nothing else is asked for.
POLICIES = (*BASELINES, "label", "curve", *STOPPING, "noise")


def planning_policies(seed: int = 0) -> dict[str, Planner]:
    """What decides before asking, by the name of its rows: ``label`` and ``curve``."""
    return {"label": LabelPolicy(seed=seed), "curve": CurvePolicy(seed=seed)}


def stopping_policies(seed: int = 0) -> dict[str, Learner]:
    """What decides while the answers come in, by the name of its rows, for the ``learners`` of `held_out`.

    ``priced`` looks at every signal that the file has, ``priced_votes`` at the votes alone; the others are peers, tuned
    to the same cost. Explained in chapter 10, "When to stop".
    """
    return {
        "priced": PricedStopping(seed=seed),
        "priced_votes": PricedStopping(("votes",), seed=seed),
        **{name: TunedRules(PEERS[name], seed=seed) for name in STOPPING[2:]},
    }


def checked(learners: Mapping[str, Learner | Planner] | None, seed: int) -> dict[str, Learner | Planner]:
    """The learners to put on trial: those given, each under a name of its own, or those that plan."""
    if learners is None:
        return planning_policies(seed)
    if not learners:
        raise ValueError("learners is empty; give at least one")
    taken = [name for name in learners if name in (*BASELINES, "noise")]
    if taken:
        raise ValueError(f"a learner is called {taken[0]!r}, which is a row of its own; give it another name")
    return dict(learners)
