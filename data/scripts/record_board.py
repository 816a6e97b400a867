"""Score every policy on equal terms; the result is data/recorded/board.jsonl, the scoreboard's.

Three sets that anybody may download, in answers and in tokens. The policies are those of
`adalib.compare`, and every class in ``book/adabook/policies``: whoever adds a file there has a row.
A rule that takes no budget stands at what it spends, and ``over`` is the lead of the book's two
watching policies on it, asked to spend as much. In the parts "other marks" every question has the
marks of another one's answers, and nothing should gain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

import numpy as np
from recording import main

from adabook import policies
from adabook.recorded import figures
from adalib.datasets.loading import load
from adalib.datasets.responses import Cost, Responses
from adalib.evaluate.compare import answer_cost, compare, stopping_policies
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Policy
from adalib.evaluate.scores import HeldOutRow

SETS = ("gsm8k-gpt4omini", "math-qwen15", "math500-gpt-oss-20b")
TARGETS = (2, 3, 4, 8)
#: For the mix, too: a rule that may ask forty times needs a bar that may.
BUDGETS = (1, 2, 4, 8, 16, 40)
_WATCHING = ("priced", "priced_votes")
_NULL_AT = 3


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    for name in SETS:
        yield f"{name}, answers", partial(cells, name, "samples")
        yield f"{name}, other marks", partial(null_cells, name)
    for name in SETS:
        yield f"{name}, tokens", partial(cells, name, "tokens")


def written(answers: Responses, per_answer: float = 1.0) -> dict[str, type | Callable]:
    """Return the classes of ``adabook/policies`` that these answers allow, by their names.

    Those that take a budget are told it in answers, each of which costs ``per_answer``.
    """
    found: dict[str, type | Callable] = {}
    for module in iter_modules(policies.__path__):
        loaded = import_module(f"{policies.__name__}.{module.name}")
        for name, one in vars(loaded).items():
            own = isinstance(one, type) and one.__module__ == loaded.__name__
            acts = hasattr(one, "more") or hasattr(one, "predict")
            sees = answers.logprob is not None or module.name != "by_certainty"
            if own and acts and sees:
                found[name] = one
                if takes_budget(one):
                    found[name] = partial(_told, one, per_answer)
    return found


def _told(policy: Callable, per_answer: float, budget: float) -> Any:
    """Make a policy that is told its budget in answers."""
    return policy(budget / per_answer)


def takes_budget(policy: Callable) -> bool:
    """Whether a class is made for a budget."""
    return "budget" in signature(policy).parameters


def offered(answers: Responses) -> tuple[int, ...]:
    """Return the budgets that half of the answers can hold."""
    return tuple(budget for budget in BUDGETS if budget <= answers.samples // 2)


def cells(name: str, cost: Cost) -> list[dict]:
    """Return a cell per policy and target; one per policy that takes no budget."""
    answers = load(name)
    assert isinstance(answers, Responses)
    unit = answer_cost(answers, cost)
    own = written(answers, unit)
    rows = compare(answers, TARGETS, offered(answers), cost=cost, policies=own)
    alone = {name for name, policy in own.items() if not takes_budget(policy)}
    shown = [row for row in rows if row.policy not in alone or row.target == TARGETS[0]]
    ours = at_what_they_spend(answers, [row for row in shown if row.policy in alone], cost, unit)
    return [cell(row, ours.get(row.policy, {})) for row in shown]


def at_what_they_spend(
    answers: Responses, rules: list[HeldOutRow], cost: Cost, unit: float
) -> dict[str, dict[str, list[float]]]:
    """Return the leads of our watching policies on rules, each at the rule's own cost."""
    learners: Mapping[str, Policy] = {
        name: policy for name, policy in stopping_policies(cost).items() if name in _WATCHING
    }
    targets = {row.policy: max(row.cost, 1.0) * unit for row in rules}
    rows = held_out(
        answers,
        sorted(set(targets.values())),
        offered(answers),
        learners=learners,
        noises=0,
        protocol=Protocol(cost=cost),
    )
    ours = {(row.policy, row.target): row for row in rows}
    return {
        rule.policy: {name: lead(ours[name, targets[rule.policy]], rule) for name in _WATCHING}
        for rule in rules
    }


def lead(row: HeldOutRow, other: HeldOutRow) -> list[float]:
    """Return by how much one gains more than another, each at its own cost, with its interval."""
    found = mean_interval(row.gains - other.gains)
    return [round(float(end), 5) for end in (found.mean, found.low, found.high)]


def null_cells(name: str) -> list[dict]:
    """Return what policies that watch gain where the marks are those of other questions."""
    answers = load(name)
    assert isinstance(answers, Responses)
    marks = np.random.default_rng(0).permutation(answers.values)
    learners = {**stopping_policies(), **written(answers)}
    rows = held_out(
        replace(answers, correct=marks), [_NULL_AT], offered(answers), learners=learners, noises=0
    )
    return [cell(row, {}) for row in rows if row.kind == "watches"]


def cell(row: HeldOutRow, over: Mapping[str, list[float]]) -> dict:
    """Return what is recorded of a row."""
    return {**figures(row), "kind": row.kind, **({"over": over} if over else {})}


if __name__ == "__main__":
    main(board=parts())
