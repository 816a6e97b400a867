"""What `adalib evaluate` found, and the four ways to say it: text, JSON, a page, the next command.

There is one result, judged once, and each way reads it.
"""

from __future__ import annotations

import shlex
import textwrap
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adalib.datasets.folds import seen_groups
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Cost, Responses
from adalib.evaluate.compare import RACE, answer_cost, compare
from adalib.evaluate.heldout import Protocol
from adalib.evaluate.learners import Policy
from adalib.evaluate.report import page
from adalib.evaluate.scores import HeldOutRow, as_table
from adalib.evaluate.verdict import Verdict, reasons, summary, verdict

_WIDTH = 100  # of lines on a terminal
_PROMISED = (
    *("policy", "kind", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain"),
    *("gain_low", "gain_high"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """A verdict with what was judged, and what was paid.

    Where questions were held out by a field, ``groups`` names it. ``own`` are the user's policies.
    """

    answers: Responses | Menu
    told: Verdict
    cost: Cost
    groups: str | None
    own: Collection[str]

    @classmethod
    def of(
        cls,
        answers: Responses | Menu,
        targets: Sequence[float] | None,
        budgets: Sequence[int],
        cost: Cost,
        groups: str | None,
        own: Mapping[str, Policy],
    ) -> Evaluation:
        """Compare all policies, once more by the groups that ids or texts show, and judge."""
        rows = compare(answers, targets, budgets, cost=cost, groups=groups, policies=own)
        seen = seen_groups(answers.ids, answers.questions) if groups is None else None
        by_group = None
        if seen is not None and len(set(seen.labels)) >= Protocol.folds:
            warnings.warn(seen.warning, stacklevel=2)
            by_group = compare(
                answers, targets, budgets, cost=cost, groups=seen.labels, policies=own
            )
        told = verdict(rows, groups=by_group)
        return cls(answers=answers, told=told, cost=cost, groups=groups, own=set(own))

    @cached_property
    def dollars(self) -> float | None:
        """What an average answer costs, where dollars are paid."""
        return None if isinstance(self.cost, str) else answer_cost(self.answers, self.cost)

    @cached_property
    def tested(self) -> str:
        """How it was tested."""
        return reasons(self.told)

    @property
    def held(self) -> str:
        """What was held out."""
        by = f" by {self.groups}" if self.groups else ""
        n, different = self.answers.n, len(self.told.rows[0].gains)
        copies = "" if self.groups or different == n else f" ({different:,} different ones)"
        return f"Held out{by}, {n:,} questions{copies} with {self.answers.samples} samples"

    def as_json(self) -> dict[str, Any]:
        """Return what ``--json`` promises."""
        rows = [_promised(row) for row in self.told.rows]
        return {
            "rows": rows,
            "verdict": str(self.told),
            "word": self.told.word,
            "why": self.tested,
        }

    def as_text(self, every: bool, why: bool) -> str:
        """Return the sentence and a table: of every policy, or of those that the verdict chose."""
        if every:
            table = as_table(self.told.rows).drop(columns="protocol")
            shown = table.to_string(index=False, na_rep="–", float_format="{:.4f}".format)
        else:
            shown = summary(self.told, self.dollars).to_string(index=False)
            shown += "\nAccuracies in percent, gains in points, with 95% intervals; "
            shown += "every policy: --all"
        tested = f"{self.held}; how it was tested: --why"
        if why:
            tested = textwrap.fill(f"{self.held}. {self.tested}", _WIDTH)
        return f"{textwrap.fill(str(self.told), _WIDTH)}\n\n{shown}\n{tested}"

    def as_page(self, title: str, worth: float | None) -> str:
        """Return the page that ``--report`` writes."""
        unit = "the prices of the file"
        if isinstance(self.answers, Responses):
            unit = "average answers"
        each = "" if self.dollars is None else f", each ${self.dollars:.3g}"
        counted = {"samples": "answers", "tokens": "tokens"}.get(str(self.cost), "dollars")
        paid = f"What is paid: {counted}. Costs are in {unit}{each}. {self.held}."
        notes = [paid, self.tested]
        return page(self.told.rows, title, str(self.told), notes, self.dollars, worth)

    def next_step(self, file: str) -> str:
        """Return the command to type next: fit the policy that pays, or look at the file."""
        best = self.told.found.rows[self.told.found.best]
        name = shlex.quote(file)
        served = best.kind == "watches" and best.policy not in self.own
        if self.told.word != "pays" or not served:
            return f"Next: adalib explore {name} --out explore.html"
        if best.policy != RACE:
            return f"Next: adalib fit {name} --budget {best.target:g} --out router"
        tokens = best.target * answer_cost(self.answers, "tokens")
        return f"Next: adalib fit {name} --policy race --budget {tokens:.0f} --out router"


def _promised(row: HeldOutRow) -> dict[str, Any]:
    """Return the fields of a row that are promised; a race is judged by its waiting too."""
    names = [*_PROMISED, *(["waiting"] if row.policy == RACE else [])]
    return {name: getattr(row, name) for name in names}
