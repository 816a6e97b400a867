"""The process in which a policy that somebody handed in runs: it decides, and judges nothing.

This file imports nothing of adabook. `adabook.competition` runs its text where adabook, the data
and the answers that are not paid for cannot be found. It reads one request per line and writes one
reply, so all that a policy knows of the scored questions has come through this pipe.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
from typing import Any


class Entrant:
    """One policy that was handed in."""

    def start(self, source: str, budget: float, name: str | None = None) -> dict[str, Any]:
        """Run the file and make a policy, the first one if it has no name; say how it decides."""
        from adalib.evaluate.policy_files import classes_in

        found = classes_in(source, "entry.py")
        name = name or next(iter(found))
        made = found[name]
        if hasattr(made, "predict") == hasattr(made, "more") or not hasattr(made, "fit"):
            raise ValueError(f"class {name}: give it fit, and either predict or more")
        parameters = inspect.signature(made).parameters
        self.budget = budget
        self.policy = made(budget=budget) if "budget" in parameters else made()
        return {
            "names": list(found),
            "kind": "plans" if hasattr(made, "predict") else "watches",
            "answers": hasattr(made, "answer"),
        }

    def plan(self, features: dict, acc: list, cost: list, budgets: list) -> None:
        """Let a policy that plans learn."""
        from adalib.table import UtilityTable

        table = UtilityTable(acc, cost, budgets)
        takes_budget = "budget" in inspect.signature(self.policy.fit).parameters
        self.policy.fit(_frame(features), table, **{"budget": self.budget} if takes_budget else {})

    def columns(self, features: dict) -> list[int]:
        """Name a column for every question."""
        return [int(column) for column in self.policy.predict(_frame(features))]

    def watch(self, answers: dict) -> None:
        """Let a policy that watches learn."""
        from adalib.datasets.responses import Responses

        self.policy.fit(Responses(**answers))

    def more(self, seen: list) -> bool:
        """Ask the policy whether to go on."""
        more = self.policy.more(_seen(seen))
        if str(more) not in ("True", "False"):  # numpy has its own
            raise ValueError(f"returned {more!r}; return True or False")
        return bool(more)

    def answer(self, seen: list) -> str:
        """Ask the policy for its answer."""
        return str(self.policy.answer(_seen(seen)))


def _frame(features: dict) -> Any:
    import pandas as pd

    return pd.DataFrame(features["values"], columns=features["columns"])


def _seen(seen: list) -> tuple:
    from adalib.sequential.watching import Answer

    return tuple(Answer(*one) for one in seen)


def serve() -> None:
    """Do what the lines ask for, one after the other."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a policy prints is not a reply
    requests, sys.stdin = sys.stdin, io.StringIO()
    entrant = Entrant()
    for line in requests:
        method, words = json.loads(line)
        reply: dict[str, Any]
        try:
            reply = {"value": getattr(entrant, method)(**words)}
        except (Exception, SystemExit) as error:
            reply = {"error": f"{method}: {type(error).__name__}: {error}"}
        replies.write(json.dumps(reply, default=repr) + "\n")
        replies.flush()


if __name__ == "__main__":
    serve()
