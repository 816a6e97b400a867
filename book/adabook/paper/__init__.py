"""What speaks of the paper alone: its printed numbers, its protocol, its theorems, and ours.

`settings` holds its tables and simulated answers that were calibrated to them; `results` scores as
we reconstruct that it did; `theorems` measures every statement; `patterns` and `ablations` redo its
experiments. `referee` has our verdict on each of its claims. Names are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["ablations", "patterns", "referee", "results", "settings", "theorems"],
    submod_attrs={
        "settings": [
            "PAPER",
            "PAPER_ABLATIONS",
            "PAPER_CLAIMS",
            "PAPER_SETTINGS",
            "PAPER_WAY",
            "REAL",
            "SETTINGS",
            "TARGETS",
            "fit_table",
            "paper_population",
            "paper_setting",
        ],
        "results": ["main_table", "reconstructed", "recorded_frame", "recorded_rows"],
    },
)
