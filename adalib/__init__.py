"""adalib: who deserves more samples when the average budget is fixed?

The package behind the book. Public names live in the module that explains them and are re-exported here;
they are loaded on first use, so that ``import adalib`` is quick and a notebook depends only on what it touches.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# Public name -> the module that defines it.
_PUBLIC = {
    "UtilityTable": "problem",
    "archetypes": "problem",
    "Responses": "datasets",
    "load": "datasets",
    "DataError": "datasets",
    "acc_iid": "vote",
    "acc_subsets": "vote",
    "acc_windows": "vote",
    "answer_classes": "vote",
    "best_of": "vote",
    "extract_answer": "vote",
    "majority": "vote",
    "pass_at": "vote",
    "same_answer": "vote",
    "collect": "llm",
    "local_model": "llm",
    "PAPER": "simulate",
    "PAPER_ABLATIONS": "simulate",
    "PAPER_CLAIMS": "simulate",
    "PAPER_SETTINGS": "simulate",
    "Population": "simulate",
    "beta_population": "simulate",
    "fit_table": "simulate",
    "flat_null": "simulate",
    "paper_population": "simulate",
    "paper_setting": "simulate",
    "two_answer": "simulate",
    "average_cost": "oracle",
    "bisect": "oracle",
    "dual": "oracle",
    "mix": "oracle",
    "oracle_labels": "oracle",
    "subdifferential": "oracle",
    "frontier": "frontier",
    "integer_optimum": "integer",
    "cross_fitted_oracle": "evaluate",
    "rehearse_oracle": "rehearse",
    "score_oracle": "evaluate",
    "first_vote_table": "signals",
    "unseen_curves": "heldout",
    "as_in_paper": "protocols",
    "held_out": "protocols",
    "verdict": "protocols",
    "claimed_gains": "results",
    "implied_held_out": "results",
    "main_table": "results",
    "oracle_gap": "results",
    "pareto": "results",
    "extra_features": "features",
    "text_features": "features",
    "TextEmbedding": "embedding",
    "CurvePolicy": "policy",
    "LabelPolicy": "policy",
    "load_policy": "policy",
    "regret_weights": "policy",
    "zoo": "policy",
    "Plan": "baselines",
    "best_mix": "baselines",
    "noise_features": "baselines",
    "by_difficulty": "patterns",
    "by_level": "patterns",
    "curve_clusters": "patterns",
    "gain_by": "patterns",
    "label_shares": "patterns",
    "level_shares": "patterns",
    "out_of_fold": "patterns",
    "classifiers": "ablations",
    "granularity": "ablations",
    "held_out_curve": "ablations",
    "importances": "ablations",
    "learning_curve": "ablations",
    "near_misses": "ablations",
    "pool": "ablations",
    "real_pool": "ablations",
    "signatures": "ablations",
    "simulated_pool": "ablations",
    "claim_table": "replication",
    "replication_table": "replication",
    "explore": "explorer",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'adalib' has no attribute {name!r}")
    return getattr(import_module(f"adalib.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
