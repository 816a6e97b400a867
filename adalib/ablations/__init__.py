"""The paper's ablations, each by its own protocol and beside the control that could have caught it.

A function an ablation: `classifiers` (which model imitates best), `learning_curve` and `held_out_curve` (how many
questions it takes), `granularity` (which budgets to offer), `importances` and `signatures` (what the model looks at).
They return tables with one row a run or a cell, so that a mean, a spread or a figure is one line away. Explained in
chapter 9, "Ablations".
"""

from adalib.ablations.data import SHARES, held_out_curve, learning_curve
from adalib.ablations.menus import MENUS, granularity
from adalib.ablations.pooling import Pooled, pool, real_pool, simulated_pool
from adalib.ablations.signals import importances, signatures
from adalib.ablations.splits import TRIES, Comparison, classifiers, near_misses

__all__ = [
    "MENUS",
    "SHARES",
    "TRIES",
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
]
