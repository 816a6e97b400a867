"""adalib: who deserves more samples when the average budget is fixed?

The package behind the book. Public names live in the module that explains them and are re-exported
here. They are loaded on first use, so that ``import adalib`` is quick and a notebook depends only
on what it uses. What concerns the paper alone is in `adabook.paper`.
"""

from importlib import import_module
from typing import Any

import lazy_loader

__version__ = "0.4.0"

_loaded, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "table": ["UtilityTable", "archetypes"],
        "vote.answers": ["answer_classes", "same_answer"],
        "vote.extract": ["extract_answer"],
        "vote.estimators": ["acc_subsets", "acc_windows", "majority"],
        "vote.best_of": ["best_of", "pass_at"],
        "datasets.files": ["DataError"],
        "datasets.responses": ["Prices", "Responses", "first_vote_table"],
        "datasets.menu": ["Menu"],
        "datasets.passes": ["Passes", "load_passes"],
        "datasets.folds": ["seen_groups"],
        "datasets.loading": ["load"],
        "datasets.populations": ["Population", "beta_population", "flat_null", "two_answer"],
        "solve.oracle": ["average_cost", "dual", "oracle_labels", "subdifferential"],
        "solve.bisection": ["bisect", "mix"],
        "solve.frontier": ["frontier"],
        "solve.integer": ["integer_optimum"],
        "learn.features": ["text_features"],
        "learn.embedding": ["TextEmbedding"],
        "learn.label_policy": ["LabelPolicy", "regret_weights"],
        "learn.curve_policy": ["CurvePolicy"],
        "sequential.priced_stopping": ["PricedStopping"],
        "sequential.race": ["PricedRace"],
        "sequential.checked": ["CheckedStopping"],
        "sequential.published_rules": ["TunedRules"],
        "evaluate.baselines": ["Plan", "best_mix", "noise_features"],
        "evaluate.intervals": ["mean_interval"],
        "evaluate.crossfit": ["cross_fitted_oracle", "score_oracle", "rehearse_oracle"],
        "evaluate.heldout": ["PaidFeatures", "Protocol", "held_out", "unseen_curves"],
        "evaluate.compare": ["compare"],
        "evaluate.verdict": ["verdict"],
        "serve.budget": ["BudgetController"],
        "serve.router": ["Router"],
        "explorer.widget": ["explore"],
    },
)


def __getattr__(name: str) -> Any:
    """Load a public name; one sentence says how to install what it needs."""
    if name in ("evaluate", "vote"):  # packages that are called for what they do
        return import_module(f"adalib.{name}")
    try:
        return _loaded(name)
    except ModuleNotFoundError as error:
        from adalib.extras import missing_words

        words = missing_words(error)
        if not words:
            raise
        raise ModuleNotFoundError(f"adalib.{name}: {words}", name=error.name) from error
