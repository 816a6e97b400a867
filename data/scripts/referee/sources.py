"""What the checks of the paper's claims read: printed tables, answers, records and statements.

A test hands a check changed copies, and its verdict must change with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from adabook.paper import models, results, settings, theorems
from adalib.datasets.populations import flat_null
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import Interval

#: Our 1.5B model on both benchmarks, GPT-4o-mini on GSM8K, and Qwen2.5-7B on MATH, of whose
#: answers only the right ones were counted.
GSM8K, MATH = settings.BENCHMARKS
STRONG = "gsm8k-gpt4omini"
COUNTED = "math-qwen7b"
#: The same sets, as the record of ``record_policies.py`` calls them.
SMALL = ("gsm8k-1.5b", "math-1.5b")
#: The paper's settings on MATH.
ON_MATH = settings.PAPER_SETTINGS[:3]


def _nobody_gains() -> Responses:
    return flat_null(1000).sample(48)


@dataclass(frozen=True)
class Sources:
    """Everything that a verdict rests on."""

    tables: Mapping[str, dict] = field(default_factory=lambda: settings.PAPER)
    ablations: Mapping[str, dict] = field(default_factory=lambda: settings.PAPER_ABLATIONS)
    sentences: Mapping[str, list] = field(default_factory=lambda: settings.PAPER_CLAIMS)
    answers: Callable[[str], Responses] = settings.answers
    nobody_gains: Callable[[], Responses] = _nobody_gains
    record: Callable[[str], pd.DataFrame] = results.recorded_frame
    statements: Mapping[str, Callable] = field(default_factory=lambda: theorems.STATEMENTS)
    cases: int = 700

    @cached_property
    def worth(self) -> pd.DataFrame:
        """What each policy gains, by set, policy, target and number of training questions."""
        found = models.frame().query("paid == 'answers'")
        return found.set_index(["set", "policy", "target", "taught"])

    def gain(self, name: str, policy: str, target: float = 3.0, taught: int = TAUGHT) -> Interval:
        """One policy's gain over the best mix of its cost, over five deals."""
        row = self.worth.loc[name, policy, target, taught]
        return Interval(float(row.gain), float(row.low), float(row.high))

    def printed(
        self, method: str, names: tuple[str, ...] = settings.PAPER_SETTINGS
    ) -> pd.DataFrame:
        """The printed accuracies of a method, a row per setting and a column per budget."""
        rows = [self.tables[name]["main"][method]["accuracy"] for name in names]
        return pd.DataFrame(rows, index=list(names), columns=list(settings.TARGETS))

    def printed_misses(self, names: tuple[str, ...] = settings.PAPER_SETTINGS) -> pd.DataFrame:
        """What the printed searches spend beyond their budgets."""
        costs = [self.tables[name]["lambda_sweep"]["cost"] for name in names]
        return pd.DataFrame(costs, index=list(names)) - list(settings.TARGETS)

    def failures(self, statement: str) -> pd.DataFrame:
        """In how many random cases each line of a statement fails; the printed lines come first."""
        drawn = theorems.random_cases(self.cases, seed=1)
        lines = theorems.survey(self.statements[statement], drawn)
        lines = lines.assign(fails=~lines.holds.astype(bool))
        return lines.groupby(["version", "claim"], sort=False).fails.sum().reset_index()
