"""All that speaks of the paper alone: its printed numbers, its protocol, its theorems, and ours beside them.

`settings` holds its tables and simulated answers that were calibrated to them; `results` scores as we reconstruct that
it did; `theorems` measures every statement; `patterns`, `ablations` and `comparison` redo its experiments; `register`
puts every number and claim beside ours. Names are loaded on first use.
"""

import lazy_loader

_NAMES = {
    "settings": "PAPER PAPER_ABLATIONS PAPER_CLAIMS PAPER_SETTINGS PAPER_WAY REAL SETTINGS TARGETS fit_table"
    " paper_population paper_setting",
    "results": "GRID TOLERANCE beside claimed_gains held_out_along implied_held_out in_sample_gains main_table mix_cost"
    " mostly_seen oracle_gap pareto reconstructed recorded_frame recorded_rows",
    "patterns": "SHAPES by_difficulty by_level curve_clusters difficulty_bins gain_by group_means label_shares"
    " level_shares nearest_mix out_of_fold whole_counts",
    "ablations": "EXTRA_FEATURES LEAKS MENUS Pooled SHARES extra_features granularity held_out_curve importances"
    " learning_curve pool real_pool recorded_curve signatures simulated_pool",
    "comparison": "TRIES ZOO classifiers near_misses recorded_comparison zoo",
    "register": "claim_table replication_table",
}

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={module: names.split() for module, names in _NAMES.items()}
)
