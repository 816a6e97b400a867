"""The paper's ablations, each by its own protocol and beside the control that could have caught it.

A function an ablation: `classifiers` (which model imitates best), `learning_curve` and `held_out_curve` (how many
questions it takes), `granularity` (which budgets to offer), `importances` and `signatures` (what the model looks at).
They return tables with one row a run or a cell, so that a mean, a spread or a figure is one line away. Explained in
chapter 9, "Ablations".
"""

from adalib.paper.ablations.comparison import TRIES, Comparison, classifiers, near_misses
from adalib.paper.ablations.feature_shares import importances, signatures
from adalib.paper.ablations.five_classifiers import ZOO, zoo
from adalib.paper.ablations.learning_curves import SHARES, held_out_curve, learning_curve
from adalib.paper.ablations.menus import MENUS, granularity
from adalib.paper.ablations.pooled import Pooled, pool, real_pool, simulated_pool

__all__ = [
    "MENUS",
    "SHARES",
    "TRIES",
    "ZOO",
    "Comparison",
    "Pooled",
    "classifiers",
    "granularity",
    "held_out_curve",
    "importances",
    "learning_curve",
    "near_misses",
    "pool",
    "real_pool",
    "signatures",
    "simulated_pool",
    "zoo",
]
