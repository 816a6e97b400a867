"""Two of the paper's ablations: five classifiers on a pool of rows, and the features of its figure.

Explained in the chapter "What a text is worth".
"""

from adabook.paper.ablations.classifiers import (
    TRIES,
    Pooled,
    held_out_rows,
    predictions,
    recorded_predictions,
    simulated_pool,
    summary,
    zoo,
)
from adabook.paper.ablations.features import EXTRA_FEATURES, LEAKS, extra_features

__all__ = [
    "EXTRA_FEATURES",
    "LEAKS",
    "TRIES",
    "Pooled",
    "extra_features",
    "held_out_rows",
    "predictions",
    "recorded_predictions",
    "simulated_pool",
    "summary",
    "zoo",
]
