"""adalib: who deserves more samples when the average budget is fixed?

The package behind the book. Public names live in the module that explains them and are re-exported here;
they are loaded on first use, so that ``import adalib`` is quick and a notebook depends only on what it touches.
What speaks of the paper alone is in `adalib.paper`.
"""

from __future__ import annotations

from adalib._names import lazy

__version__ = "0.2.0"

# Public name -> the module that defines it.
_PUBLIC = {
    "UtilityTable": "table",
    "archetypes": "table",
    "answer_classes": "vote.answers",
    "extract_answer": "vote.answers",
    "same_answer": "vote.answers",
    "acc_iid": "vote.estimators",
    "acc_subsets": "vote.estimators",
    "acc_windows": "vote.estimators",
    "best_of": "vote.estimators",
    "majority": "vote.estimators",
    "pass_at": "vote.estimators",
    "DataError": "datasets.jsonl",
    "Responses": "datasets.responses",
    "Menu": "datasets.menu",
    "load": "datasets.loading",
    "tabulate": "datasets.tabulate",
    "Population": "datasets.populations",
    "beta_population": "datasets.populations",
    "flat_null": "datasets.populations",
    "two_answer": "datasets.populations",
    "average_cost": "solve.oracle",
    "bisect": "solve.bisection",
    "dual": "solve.oracle",
    "mix": "solve.bisection",
    "oracle_labels": "solve.oracle",
    "subdifferential": "solve.oracle",
    "frontier": "solve.frontier",
    "integer_optimum": "solve.integer",
    "solve_files": "solve.stream",
    "solve_shards": "solve.shards",
    "text_features": "learn.features",
    "TextEmbedding": "learn.embedding",
    "CurvePolicy": "learn.curve_policy",
    "LabelPolicy": "learn.label_policy",
    "load_policy": "learn.label_policy",
    "regret_weights": "learn.label_policy",
    "PricedStopping": "sequential.priced",
    "PricedEscalation": "sequential.escalation",
    "load_stopping": "sequential.saving",
    "save_stopping": "sequential.saving",
    "TunedRules": "sequential.tuning",
    "Plan": "evaluate.baselines",
    "best_mix": "evaluate.baselines",
    "noise_features": "evaluate.baselines",
    "bootstrap_mean": "evaluate.intervals",
    "cross_fitted_oracle": "evaluate.crossfit",
    "score_oracle": "evaluate.crossfit",
    "rehearse_oracle": "evaluate.rehearsal",
    "first_vote_table": "evaluate.first_vote",
    "held_out": "evaluate.heldout",
    "unseen_curves": "evaluate.heldout",
    "verdict": "evaluate.verdict",
    "Router": "router.router",
    "collect": "llm.collect",
    "local_model": "llm.local",
    "explore": "explorer.widget",
}

# Names that moved in 0.2 -> where to find them now. They still work, with a warning, until 0.3.
_MOVED = dict.fromkeys(
    [
        "PAPER",
        "PAPER_ABLATIONS",
        "PAPER_CLAIMS",
        "PAPER_SETTINGS",
        "as_in_paper",
        "by_difficulty",
        "by_level",
        "claim_table",
        "claimed_gains",
        "classifiers",
        "curve_clusters",
        "extra_features",
        "fit_table",
        "gain_by",
        "granularity",
        "held_out_curve",
        "implied_held_out",
        "importances",
        "label_shares",
        "learning_curve",
        "level_shares",
        "main_table",
        "near_misses",
        "oracle_gap",
        "out_of_fold",
        "paper_population",
        "paper_setting",
        "pareto",
        "pool",
        "real_pool",
        "replication_table",
        "signatures",
        "simulated_pool",
        "zoo",
    ],
    "paper",
)

__all__ = ["__version__", *_PUBLIC]
__getattr__, __dir__ = lazy(__name__, _PUBLIC, _MOVED)
