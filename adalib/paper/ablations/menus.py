"""Which budgets to put on the menu? The best allocation with coarser, finer and odd sets of budgets.

A longer menu can only raise the oracle that is chosen and scored on the same answers: there are more estimates to pick
the luckiest of. Where the truth is known, or on answers that did not choose, the menus can be told apart fairly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from adalib.datasets.populations import Population
from adalib.datasets.responses import Responses
from adalib.evaluate.crossfit import OracleScore, cross_fitted_oracle, score_oracle
from adalib.evaluate.intervals import bootstrap_mean
from adalib.paper.settings import TARGETS

__all__ = ["MENUS", "granularity"]

#: The paper's three menus, and two that chapter 5 makes one ask for.
MENUS = {
    "coarse": (1, 8, 16),
    "without 2": (1, 4, 8, 16),
    "default": (1, 2, 4, 8, 16),
    "odd": (1, 3, 5, 7, 16),
    "fine": (1, 2, 3, 4, 6, 8, 12, 16),
}


def granularity(
    source: Population | Responses,
    targets: Sequence[float] = TARGETS,
    menus: Mapping[str, Sequence[int]] = MENUS,
    **table,
) -> pd.DataFrame:
    """Value the oracle with every menu of budgets.

    Explained in chapter 9, "Ablations".

    Parameters
    ----------
    source : Population or Responses
        A population gives the exact truth, answers give estimates.
    targets : sequence of float
        Average costs allowed.
    menus : mapping of name to sequence of int
        Sets of budgets; the others are compared with "default".
    **table
        How accuracies are estimated from answers: ``estimator`` and ``ties`` of `Responses.table`.

    Returns
    -------
    DataFrame
        Columns ``menu``, ``tiers`` (how many budgets), ``target``, ``value``, ``accuracy``, ``cost``, and ``gain``,
        ``low``, ``high``: accuracy above the default menu's, question by question, with a 95% interval. ``value`` is
        "true" for a population, where nothing is estimated and the interval is the gain itself; answers have two rows:
        "in-sample" (chosen and scored on all of them) and "cross-fitted".

    Raises
    ------
    ValueError
        If there is no default menu to compare with.
    """
    if "default" not in menus:
        raise ValueError('menus have no "default"; name the one that the others are compared with so')
    scores: dict[tuple[str, str], OracleScore] = {}
    for name, budgets in menus.items():
        if isinstance(source, Population):
            truth = source.table(budgets)
            scores[name, "true"] = score_oracle(truth, truth, targets)
        else:
            full = source.table(budgets, **table)
            scores[name, "in-sample"] = score_oracle(full, full, targets)
            scores[name, "cross-fitted"] = cross_fitted_oracle(source, targets, budgets, **table)
    rows = []
    for (name, value), score in scores.items():
        extra = score.accuracy - scores["default", value].accuracy
        found = bootstrap_mean(extra)
        exact = value == "true"
        low, high = (found.mean, found.mean) if exact else (found.low, found.high)
        for j, target in enumerate(targets):
            at = score.accuracy[:, j].mean(), score.cost[:, j].mean(), found.mean[j], low[j], high[j]
            rows.append((name, len(menus[name]), target, value, *map(float, at)))
    return pd.DataFrame(rows, columns=["menu", "tiers", "target", "value", "accuracy", "cost", "gain", "low", "high"])
