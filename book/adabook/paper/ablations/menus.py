"""Menus of budgets: what the oracle gains if more budgets, or other ones, are on offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from adabook.paper.settings import TARGETS
from adalib.datasets.populations import Population
from adalib.datasets.responses import Responses
from adalib.evaluate.crossfit import OracleScore, cross_fitted_oracle, score_oracle
from adalib.evaluate.intervals import mean_interval

#: The paper's three menus, and two more that its tie rule suggests.
MENUS = {
    "coarse": (1, 8, 16),
    "without 2": (1, 4, 8, 16),
    "default": (1, 2, 4, 8, 16),
    "odd": (1, 3, 5, 7, 16),
    "fine": (1, 2, 3, 4, 6, 8, 12, 16),
}

_COLUMNS = ["menu", "tiers", "target", "value", "accuracy", "cost", "gain", "low", "high"]


def granularity(
    source: Population | Responses,
    targets: Sequence[float] = TARGETS,
    menus: Mapping[str, Sequence[int]] = MENUS,
    **table: Any,
) -> pd.DataFrame:
    """Value the oracle with every menu of budgets, in-sample and cross-fitted.

    Where the population is known, its truth is used instead.

    In-sample a longer menu can only raise it: there are more estimates to pick the luckiest of.
    """
    scores_by_menu = {
        name: _scores(source, targets, budgets, table) for name, budgets in menus.items()
    }
    frames = []
    for name, scores in scores_by_menu.items():
        for value, score in scores.items():
            default = scores_by_menu["default"][value]
            gains = _gains(score, default, targets, is_exact=value == "true")
            frames.append(gains.assign(menu=name, tiers=len(menus[name]), value=value))
    return pd.concat(frames, ignore_index=True)[_COLUMNS]


def _scores(
    source: Population | Responses,
    targets: Sequence[float],
    budgets: Sequence[int],
    table: Mapping[str, Any],
) -> dict[str, OracleScore]:
    """The oracle's score with one menu, by how it is valued."""
    if isinstance(source, Population):
        truth = source.table(budgets)
        return {"true": score_oracle(truth, truth, targets)}
    full = source.table(budgets, **table)
    return {
        "in-sample": score_oracle(full, full, targets),
        "cross-fitted": cross_fitted_oracle(source, targets, budgets, **table),
    }


def _gains(
    score: OracleScore, default: OracleScore, targets: Sequence[float], is_exact: bool
) -> pd.DataFrame:
    """The accuracy of one menu and its gain over the default one, a row per target."""
    change = score.accuracy - default.accuracy
    interval = mean_interval(change)
    gain = np.asarray(interval.mean)
    # There is no interval where nothing is estimated, or where no question moves.
    certain = is_exact | (np.abs(change).max(axis=0) < 1e-12)
    return pd.DataFrame(
        {
            "target": list(targets),
            "accuracy": [float(column.mean()) for column in score.accuracy.T],
            "cost": [float(column.mean()) for column in score.cost.T],
            "gain": gain,
            "low": np.where(certain, gain, interval.low),
            "high": np.where(certain, gain, interval.high),
        }
    )
