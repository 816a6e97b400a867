"""All that speaks of the paper alone: its printed numbers, its protocol, its theorems, and ours beside them.

`settings` holds its tables and simulated answers that were calibrated to them; `results` scores as we reconstruct that
it did; `theorems` measures every statement; `patterns`, `ablations` and `comparison` redo its experiments; `register`
puts every number and claim beside ours. Names are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["ablations", "comparison", "patterns", "register", "theorems"],
    submod_attrs={
        "settings": ["PAPER", "PAPER_ABLATIONS", "PAPER_CLAIMS", "PAPER_SETTINGS", "PAPER_WAY", "REAL", "SETTINGS"]
        + ["TARGETS", "fit_table", "paper_population", "paper_setting"],
        "results": ["GRID", "TOLERANCE", "beside", "claimed_gains", "implied_held_out", "in_sample_gains", "main_table"]
        + ["mix_cost", "mostly_seen", "oracle_gap", "pareto", "reconstructed", "recorded_frame", "recorded_rows"],
        "register": ["claim_table", "replication_table"],
    },
)
