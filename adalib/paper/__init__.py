"""All that speaks of the paper alone: its printed numbers, its protocol, its theorems, and ours beside them.

`printed` holds its tables and `stand_ins` simulated answers that were calibrated to them; `protocol` scores as we
reconstruct that it did; `theorems` measures every statement; `results`, `patterns` and `ablations` redo its
experiments; `replication` puts every number and claim beside ours. Names are loaded on first use.
"""

from __future__ import annotations

from adalib._names import lazy

# Public name -> the module that defines it.
_PUBLIC = {
    "PAPER": "printed",
    "PAPER_ABLATIONS": "printed",
    "PAPER_CLAIMS": "printed",
    "PAPER_SETTINGS": "printed",
    "fit_table": "stand_ins",
    "paper_population": "stand_ins",
    "paper_setting": "stand_ins",
    "PAPER_WAY": "settings",
    "REAL": "settings",
    "SETTINGS": "settings",
    "TARGETS": "settings",
    "EXTRA_FEATURES": "unlisted_features",
    "LEAKS": "unlisted_features",
    "extra_features": "unlisted_features",
    "mostly_seen": "protocol",
    "reconstructed": "protocol",
    "TOLERANCE": "results.replica",
    "beside": "results.replica",
    "main_table": "results.replica",
    "oracle_gap": "results.replica",
    "claimed_gains": "results.inferred",
    "implied_held_out": "results.inferred",
    "GRID": "results.frontiers",
    "held_out_along": "results.frontiers",
    "in_sample_gains": "results.frontiers",
    "mix_cost": "results.frontiers",
    "pareto": "results.frontiers",
    "gain_by": "patterns.halves",
    "out_of_fold": "patterns.halves",
    "SHAPES": "patterns.shapes",
    "curve_clusters": "patterns.shapes",
    "by_difficulty": "patterns.tables",
    "by_level": "patterns.tables",
    "difficulty_bins": "patterns.tables",
    "group_means": "patterns.tables",
    "label_shares": "patterns.tables",
    "level_shares": "patterns.tables",
    "nearest_mix": "patterns.whole_counts",
    "whole_counts": "patterns.whole_counts",
    "SHARES": "ablations.learning_curves",
    "held_out_curve": "ablations.learning_curves",
    "learning_curve": "ablations.learning_curves",
    "MENUS": "ablations.menus",
    "granularity": "ablations.menus",
    "Pooled": "ablations.pooled",
    "pool": "ablations.pooled",
    "real_pool": "ablations.pooled",
    "simulated_pool": "ablations.pooled",
    "importances": "ablations.feature_shares",
    "signatures": "ablations.feature_shares",
    "TRIES": "ablations.comparison",
    "classifiers": "ablations.comparison",
    "near_misses": "ablations.comparison",
    "ZOO": "ablations.five_classifiers",
    "zoo": "ablations.five_classifiers",
    "claim_table": "replication.register",
    "replication_table": "replication.register",
}

__all__ = [*_PUBLIC]
__getattr__, __dir__ = lazy(__name__, _PUBLIC, renamed={"as_in_paper": "reconstructed"})
