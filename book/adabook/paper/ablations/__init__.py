"""The paper's ablations, each next to what it shows where there is nothing to see.

Extra features (`features`), five classifiers (`comparison`) on a pool of rows (`pools`), menus of
budgets (`menus`), how many labelled questions a policy needs (`learning_curves`), and which
features matter for which budget (`importance`). Explained in the chapter "The test".
"""

from adabook.paper.ablations.comparison import (
    TRIES,
    ZOO,
    Comparison,
    SplitRun,
    classifiers,
    recorded_comparison,
    zoo,
)
from adabook.paper.ablations.features import EXTRA_FEATURES, LEAKS, extra_features
from adabook.paper.ablations.importance import beyond_chance, class_means
from adabook.paper.ablations.learning_curves import SHARES, learning_curve, recorded_curve
from adabook.paper.ablations.menus import MENUS, granularity
from adabook.paper.ablations.pools import Pooled, pool, real_pool, simulated_pool

__all__ = [
    "EXTRA_FEATURES",
    "LEAKS",
    "MENUS",
    "SHARES",
    "TRIES",
    "ZOO",
    "Comparison",
    "Pooled",
    "SplitRun",
    "beyond_chance",
    "class_means",
    "classifiers",
    "extra_features",
    "granularity",
    "learning_curve",
    "pool",
    "real_pool",
    "recorded_comparison",
    "recorded_curve",
    "simulated_pool",
    "zoo",
]
