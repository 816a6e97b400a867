"""Who gets the budget: tables by level, by difficulty and by the shape of the curve, and whether they pay.

An oracle that chose by noise also has a pattern: it spends where the noise is. So a table of budgets alone says little.
`gain_by` puts beside it what the budgets were worth: groups and labels are made from one half of every question's
samples, and the gain is read off the other.
"""

from adalib.paper.patterns.halves import gain_by, out_of_fold
from adalib.paper.patterns.shapes import SHAPES, Clusters, curve_clusters
from adalib.paper.patterns.tables import (
    by_difficulty,
    by_level,
    difficulty_bins,
    group_means,
    label_shares,
    level_shares,
)
from adalib.paper.patterns.whole_counts import nearest_mix, whole_counts

__all__ = [
    "SHAPES",
    "Clusters",
    "by_difficulty",
    "by_level",
    "curve_clusters",
    "difficulty_bins",
    "gain_by",
    "group_means",
    "label_shares",
    "level_shares",
    "nearest_mix",
    "out_of_fold",
    "whole_counts",
]
