"""Find the best budget for every question of a file, given what a question may cost on average.

The file holds sampled answers (.jsonl, of one model or several) or accuracies (.csv), or is a
bundled setting. What is found is the best plan in hindsight on those very answers: `evaluate` says
what survives on others. For tables larger than memory there is `adalib.scale.solve`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adalib.commands.options import add_shared, parse_budgets
from adalib.commands.sources import read_answers
from adalib.commands.terminal import shown

if TYPE_CHECKING:
    from adalib.solve.frontier import Allocation
    from adalib.table import UtilityTable

_NUMBERS = ("budget", "lam", "cost", "accuracy", "bound", "slack")
_OPTIMISTIC = (
    'best in hindsight on these answers, so optimistic: see the chapter "Estimation" of the book'
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        help="answers (.jsonl), accuracies (.csv), or a bundled setting",
    )
    explained = "what a question may cost on average"
    add("--budget", metavar="B", type=float, required=True, help=explained)
    add_shared(parser, "--budgets", "--estimator", "--ties", "--cost", "--prices", "--json")


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, solve, and print the budgets."""
    path = Path(args.file)
    if path.suffix.lower() == ".csv":
        from adalib.explorer import read_csv

        table = read_csv(args.file)
    else:
        offered = parse_budgets(args.budgets)
        table = _estimate(args.file, offered, args.estimator, args.ties, args.cost, args.prices)
    _solve(table, args.budget, args.json)


def _estimate(
    file: str,
    offered: tuple[int, ...],
    estimator: Literal["subsets", "windows"],
    ties: Literal["share", "first"],
    cost: Literal["samples", "tokens"] | None,
    prices: str | None,
) -> UtilityTable:
    """Estimate the accuracies of the budgets on offer from sampled answers."""
    from adalib.datasets.menu import Menu

    answers = read_answers(file, prices, cost)
    if isinstance(answers, Menu):  # whose costs are prices times answers or tokens already
        return answers.table(offered, estimator, ties)
    return answers.table(offered, estimator, ties, cost or "samples")


def _solve(table: UtilityTable, budget: float, as_json: bool) -> None:
    """Solve a table, and print the best plan within the budget."""
    from adalib.solve.frontier import frontier

    best = frontier(table).at(budget)
    numbers = {name: getattr(best, name) for name in _NUMBERS}
    bought = [table.budgets[label] for label in best.labels.tolist()]
    split = _split(best, table)
    if as_json:
        labels = dict(zip(table.ids, bought, strict=True))
        print(json.dumps({**numbers, "labels": labels, "split": split}, ensure_ascii=False))
        return
    count_by_budget = Counter(bought)
    counts = {offered: count_by_budget[offered] for offered in table.budgets}
    _print_point({**numbers, "counts": counts, "split": split}, table.n)
    print(_OPTIMISTIC)


def _split(best: Allocation, table: UtilityTable) -> dict[str, Any] | None:
    """Describe the one question that a mixed solution splits, if there is one."""
    if best.split is None:
        return None
    row, low, high, share = best.split
    return {
        "id": table.ids[row],
        "low": table.budgets[low],
        "high": table.budgets[high],
        "share": share,
    }


def _print_point(point: dict[str, Any], n_questions: int) -> None:
    """Print one point of the frontier, and the question that it splits."""
    for name in _NUMBERS:
        print(f"{name:9} {point[name]:.6g}")
    for budget, count in point["counts"].items():
        print(f"budget {shown(str(budget))}: {count:,} of {n_questions:,} questions")
    split = point["split"]
    if split:
        question = shown(str(split["id"]))
        budget = shown(str(split["high"]))
        print(
            f"to spend the slack, give {question} budget {budget} in {split['share']:.1%} of cases"
        )
