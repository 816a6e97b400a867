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
from copy import deepcopy
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """One answer that was paid for."""

    answer: str
    tokens: float | None
    logprob: float | None


class Entrant:
    """One policy that was handed in, and its copies, one for each order of the answers."""

    def start(self, source: str, budget: float) -> dict[str, Any]:
        """Run the file and make its policy; say how it decides."""
        names: dict[str, Any] = {"__name__": "entry"}
        exec(compile(source, "entry.py", "exec"), names)
        found = [one for one in names.values() if _is_policy(one)]
        if len(found) != 1:
            raise ValueError(
                f"the file has {len(found)} classes that decide; write one, with fit and either "
                "predict or more"
            )
        parameters = inspect.signature(found[0]).parameters
        self.budget = budget
        self.policy = found[0](budget=budget) if "budget" in parameters else found[0]()
        self.copies: dict[int, Any] = {}
        return {
            "name": found[0].__name__,
            "kind": "plans" if hasattr(found[0], "predict") else "watches",
            "answers": hasattr(found[0], "answer"),
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

    def more(self, copy: int, seen: list) -> bool:
        """Ask a copy of the policy whether to go on."""
        more = self._copy(copy).more(_seen(seen))
        if str(more) not in ("True", "False"):  # numpy has its own
            raise ValueError(f"returned {more!r}; return True or False")
        return bool(more)

    def answer(self, copy: int, seen: list) -> str:
        """Ask a copy of the policy for its answer."""
        return str(self._copy(copy).answer(_seen(seen)))

    def _copy(self, number: int) -> Any:
        if number not in self.copies:
            self.copies[number] = deepcopy(self.policy)
        return self.copies[number]


def _is_policy(one: Any) -> bool:
    """Whether this is a class of the file that learns and decides."""
    if not inspect.isclass(one) or one.__module__ != "entry" or not hasattr(one, "fit"):
        return False
    return hasattr(one, "predict") != hasattr(one, "more")


def _frame(features: dict) -> Any:
    import pandas as pd

    return pd.DataFrame(features["values"], columns=features["columns"])


def _seen(seen: list) -> tuple[Answer, ...]:
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
        except Exception as error:
            reply = {"error": f"{method}: {type(error).__name__}: {error}"}
        replies.write(json.dumps(reply, default=repr) + "\n")
        replies.flush()


if __name__ == "__main__":
    serve()
