"""The two dear tables of chapter 13: what pays for each model, and the ways through a menu of two, all held out.

Together they take more than a minute; ``data/record_minds.py`` computes them for the bundled answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import held_out
from adalib.evaluate.stopping_table import LADDER, row_figures
from adalib.evaluate.trials import Learner, Planner, Questions
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.escalation import PricedEscalation
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import Money

__all__ = ["GO_UP", "MODEL_LEARNERS", "model_cells", "way_cells"]

_REPEATS = 4  # orders in which a rule sees the answers that teach it: few, so that anyone can compute it again

#: What is held out for every model, by its name in the table.
MODEL_LEARNERS: Mapping[str, Planner | Learner] = {
    "label policy": LabelPolicy(),
    "curve policy": CurvePolicy(),
    **{f"stopping: {name}": PricedStopping(signals, repeats=_REPEATS) for name, signals in LADDER.items()},
}

#: Priced stopping with escalation, by its name in the table.
GO_UP = "go on or go up"


class _Alone:
    """One model of a menu, stopped by a price; below the price of one answer it pays for one answer."""

    def __init__(self, name: str):
        self.name = name

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list:
        unit = train.answers.unit[self.name]
        rule = PricedStopping(cost=Money(0, unit), schedule=range(1, 9))
        rule.fit(train.answers.models[self.name], train.features, train.groups)
        asked = [max(target, unit) for target in targets]
        return rule.replay(test.answers.models[self.name], asked, test.features).pairs()


def model_cells(
    answers: Responses, targets: Sequence[float], learners: Mapping[str, Planner | Learner] = MODEL_LEARNERS
) -> list[dict]:
    """Hold out what pays for one model: both oracles, noise, and the learners.

    Explained in chapter 13, "Three minds".

    Parameters
    ----------
    answers : Responses
        One model's.
    targets : sequence of float
        Average numbers of answers.
    learners : mapping, optional
        Some of `MODEL_LEARNERS`; default: all.

    Examples
    --------
    >>> import adalib
    >>> few = adalib.load("story-qwen15").take(range(40))
    >>> cells = model_cells(few, [2], {"curve policy": MODEL_LEARNERS["curve policy"]})
    >>> [cell["policy"] for cell in cells]
    ['oracle', 'oracle_in_sample', 'curve policy', 'noise']
    """
    rows = held_out(answers, targets, folds=2, learners=learners, noises=1)
    return [row_figures(row) for row in rows if row.policy in ("oracle", "oracle_in_sample", "noise", *learners)]


def way_cells(menu: Menu, targets: Sequence[float], alone: str | None = None) -> list[dict]:
    """Hold out the ways through a menu: its oracle, going on or up under one price, and one model alone.

    Explained in chapter 13, "Three minds".

    Parameters
    ----------
    menu : Menu
        The cheaper model first.
    targets : sequence of float
        Average costs.
    alone : str, optional
        The model that is also stopped by its own price, without the other.
    """
    learners: dict[str, Learner] = {GO_UP: PricedEscalation(repeats=_REPEATS)}
    if alone is not None:
        learners[f"{alone} alone, priced"] = _Alone(alone)
    rows = held_out(menu, targets, folds=2, learners=learners, noises=0)
    return [row_figures(row) for row in rows if row.policy in ("oracle", *learners)]
