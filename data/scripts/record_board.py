"""Score every policy on equal terms; the result is data/recorded/board.jsonl, the scoreboard's.

Three sets that anybody may download, in answers and in tokens. The policies are those of
`adalib.compare`, and every class in ``book/adabook/policies``: a file there has parts of its own,
so a new one is computed alone. A rule that takes no budget stands at what it spends, and ``over``
is the lead of the book's two watching policies on it, asked to spend as much. In the parts "other
marks" every question has the marks of another one's answers, and nothing should gain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules

from recording import main

from adabook import policies
from adabook.controls import with_other_marks
from adabook.recorded import figures
from adalib.datasets.loading import load
from adalib.datasets.responses import Cost, Responses
from adalib.evaluate.compare import answer_cost, compare, in_answers, stopping_policies
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Policy, fresh
from adalib.evaluate.scores import HeldOutRow

SETS = ("gsm8k-gpt4omini", "math-qwen15", "math500-gpt-oss-20b")
TARGETS = (2, 3, 4, 8)
#: For the mix, too: a rule that may ask forty times needs a bar that may.
BUDGETS = (1, 2, 4, 8, 16, 40)
_WATCHING = ("priced", "priced_votes")
_NULL_AT = 3


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows: the package's, then those of a file."""
    for name in SETS:
        for paid, compute in (
            ("answers", partial(cells, name, "samples")),
            ("other marks", partial(null_cells, name)),
            ("tokens", partial(cells, name, "tokens")),
        ):
            yield f"{name}, {paid}", compute
            for file in iter_modules(policies.__path__):
                yield f"{name}, {paid}, {file.name}", partial(compute, file=file.name)


def written(file: str, answers: Responses) -> dict[str, type]:
    """Return the policies in a file of ``adabook/policies`` that these answers allow, by name."""
    module = import_module(f"{policies.__name__}.{file}")
    return {
        name: one
        for name, one in vars(module).items()
        if isinstance(one, type) and one.__module__ == module.__name__
        if hasattr(one, "more") or hasattr(one, "predict")
        if answers.logprob is not None or not needs_logprob(one, answers)
    }


def needs_logprob(policy: type, answers: Responses) -> bool:
    """Whether a policy refuses answers without log-probabilities, as these are."""
    try:
        if hasattr(policy, "more"):
            fresh(policy, _NULL_AT).fit(answers.take(range(10)))
    except ValueError:
        return True
    return False


def takes_budget(policy: type) -> bool:
    """Whether a class is made for a budget."""
    return "budget" in signature(policy).parameters


def offered(answers: Responses) -> tuple[int, ...]:
    """Return the budgets that half of the answers can hold."""
    return tuple(budget for budget in BUDGETS if budget <= answers.samples // 2)


def cells(name: str, cost: Cost, file: str | None = None) -> list[dict]:
    """Return a cell per policy and target; one per policy that takes no budget."""
    answers = load(name)
    assert isinstance(answers, Responses)
    if file is None:
        rows = compare(answers, TARGETS, offered(answers), cost=cost)
        return [cell(row, {}) for row in rows]
    own = written(file, answers)
    alone = {name for name, policy in own.items() if not takes_budget(policy)}
    rows = [
        row
        for row in learned(answers, own, TARGETS, cost)
        if row.policy not in alone or row.target == TARGETS[0]
    ]
    ours = at_what_they_spend(answers, [row for row in rows if row.policy in alone], cost)
    return [cell(row, ours.get(row.policy, {})) for row in rows]


def learned(
    answers: Responses, learners: Mapping[str, Policy], targets: Sequence[float], cost: Cost
) -> list[HeldOutRow]:
    """Return the rows of some policies, with targets and costs in average answers."""
    if not learners or not targets:
        return []
    unit = answer_cost(answers, cost)
    rows = held_out(
        answers,
        [target * unit for target in targets],
        offered(answers),
        learners=learners,
        noises=0,
        protocol=Protocol(cost=cost),
    )
    return [in_answers(row, unit) for row in rows if row.policy in learners]


def at_what_they_spend(
    answers: Responses, rules: list[HeldOutRow], cost: Cost
) -> dict[str, dict[str, list[float]]]:
    """Return the leads of our watching policies on rules, each at the rule's own cost."""
    policies_of_ours = stopping_policies(cost)
    # Of two halves of the answers, one has the longer ones: all of it costs more than an average.
    least = 1.0 if cost == "samples" else 1.01
    spent = {rule.policy: max(rule.cost, least) for rule in rules}
    targets = sorted(set(spent.values()))
    rows = learned(answers, {name: policies_of_ours[name] for name in _WATCHING}, targets, cost)
    ours = {
        name: dict(zip(targets, [row for row in rows if row.policy == name], strict=True))
        for name in _WATCHING
        if rules
    }
    return {
        rule.policy: {name: lead(ours[name][spent[rule.policy]], rule) for name in _WATCHING}
        for rule in rules
    }


def lead(row: HeldOutRow, other: HeldOutRow) -> list[float]:
    """Return by how much one gains more than another, each at its own cost, with its interval."""
    found = mean_interval(row.gains - other.gains)
    return [round(float(end), 5) for end in (found.mean, found.low, found.high)]


def null_cells(name: str, file: str | None = None) -> list[dict]:
    """Return what policies that watch gain where the marks are those of other questions."""
    answers = load(name)
    assert isinstance(answers, Responses)
    learners = stopping_policies() if file is None else written(file, answers)
    rows = learned(with_other_marks(answers), learners, [_NULL_AT], "samples")
    return [cell(row, {}) for row in rows if row.kind == "watches"]


def cell(row: HeldOutRow, over: Mapping[str, list[float]]) -> dict:
    """Return what is recorded of a row."""
    return {**figures(row), "kind": row.kind, **({"over": over} if over else {})}


if __name__ == "__main__":
    main(board=parts())
