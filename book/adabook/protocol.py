"""How every policy of the book is scored: the questions, the deals, the menu and the features.

It is written down here once. ``data/scripts/record_policies.py`` scores by it, the result is
``data/recorded/policies.jsonl``, and every page takes its rows from there: one truth has one
number.
"""

from __future__ import annotations

from functools import cache

import pandas as pd

from adabook.paper.counts import bounds
from adabook.paper.settings import benchmark
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.learn.features import text_features

#: Sets whose votes are known.
VOTED = {
    "gsm8k-gpt4omini": "GPT-4o-mini, GSM8K",
    "gsm8k-1.5b": "1.5B, GSM8K",
    "math-1.5b": "1.5B, MATH",
    "math500-gpt-oss-20b": "gpt-oss-20b, MATH-500",
}
#: The two ends of a set of which only counts of right answers are known: as if all wrong answers
#: agreed, and as if all differed.
BOUNDED = {
    "math-7b-agree": "Qwen2.5-7B, MATH, wrong answers agree",
    "math-7b-differ": "Qwen2.5-7B, MATH, wrong answers differ",
}
#: Sets on which published rules stand beside ours.
RIVALS = ("gsm8k-gpt4omini", "math-1.5b", "math500-gpt-oss-20b")
#: Ways of dealing the questions into folds and the answers into halves.
DEALS = range(5)
#: Average answers per question, or average answers' worth of tokens.
TARGETS = (1.5, 2.0, 3.0, 4.0, 8.0)


@cache
def answers_of(name: str) -> Responses:
    """Return the answers of a set, by its name here."""
    if name in ("gsm8k-1.5b", "math-1.5b"):
        return benchmark(name.removesuffix("-1.5b"))
    if name in BOUNDED:
        counted = load("math-qwen7b")
        assert isinstance(counted, Responses)
        return getattr(bounds(counted), name.rpartition("-")[2])
    found = load(name)
    assert isinstance(found, Responses)
    return found


@cache
def features_of(name: str) -> pd.DataFrame:
    """Return what every policy that reads the text is told of it: fifteen simple features."""
    return text_features(answers_of(name).questions)
