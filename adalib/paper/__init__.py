"""All that speaks of the paper alone: its printed numbers, its protocol, its theorems, and ours beside them.

`settings` holds its tables and simulated answers that were calibrated to them; `protocol` scores as we reconstruct that
it did; `theorems` measures every statement; `results`, `patterns`, `ablations` and `classifiers` redo its experiments;
`register` puts every number and claim beside ours. Names are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "settings": [
            "PAPER",
            "PAPER_ABLATIONS",
            "PAPER_CLAIMS",
            "PAPER_SETTINGS",
            "fit_table",
            "paper_population",
            "paper_setting",
            "PAPER_WAY",
            "REAL",
            "SETTINGS",
            "TARGETS",
        ],
        "ablations": [
            "EXTRA_FEATURES",
            "LEAKS",
            "extra_features",
            "SHARES",
            "held_out_curve",
            "learning_curve",
            "MENUS",
            "granularity",
            "Pooled",
            "pool",
            "real_pool",
            "simulated_pool",
            "importances",
            "signatures",
        ],
        "protocol": ["mostly_seen", "reconstructed"],
        "results": [
            "TOLERANCE",
            "beside",
            "main_table",
            "oracle_gap",
            "claimed_gains",
            "implied_held_out",
            "GRID",
            "held_out_along",
            "in_sample_gains",
            "mix_cost",
            "pareto",
        ],
        "patterns": [
            "gain_by",
            "out_of_fold",
            "SHAPES",
            "curve_clusters",
            "by_difficulty",
            "by_level",
            "difficulty_bins",
            "group_means",
            "label_shares",
            "level_shares",
            "nearest_mix",
            "whole_counts",
        ],
        "classifiers": ["TRIES", "classifiers", "near_misses", "ZOO", "zoo"],
        "register": ["claim_table", "replication_table"],
    },
)
