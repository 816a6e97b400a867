"""Find the best budget for every question of a file, given what a question may cost on average.

The file holds sampled answers (.jsonl, of one model or several) or accuracies (.csv), or is a
bundled setting; or it is a table in Parquet (a file or a folder of them, larger than memory if need
be; `table` makes one), whose labels are written to a folder, on all cores or on all machines of a
Dask scheduler. The same command goes on where an earlier one stopped. What is found is the best
plan in hindsight on those very answers: `evaluate` says what survives on others.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adalib.commands.options import add_shared, parse_budgets, parse_numbers
from adalib.commands.sources import read_answers
from adalib.commands.terminal import shown

if TYPE_CHECKING:
    from adalib.solve.frontier import Allocation
    from adalib.table import UtilityTable

_NUMBERS = ("budget", "lam", "cost", "accuracy", "bound", "slack")
_OPTIMISTIC = (
    'best in hindsight on these answers, so optimistic: see the chapter "Estimation" of the book'
)
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([MG])i?B?", re.IGNORECASE)
_BYTES = {"M": 10**6, "G": 10**9}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        help="answers (.jsonl), accuracies (.csv, .parquet or a folder), or a bundled setting",
    )
    explained = "what a question may cost on average (Parquet: several, 1.5,2,3)"
    add("--budget", metavar="B", required=True, action="append", help=explained)
    add_shared(parser, "--budgets", "--estimator", "--ties", "--cost", "--prices")
    add("--out", metavar="LABELS", help="Parquet: folder for the labels; must not exist yet")
    add(
        "--memory",
        metavar="SIZE",
        default="1GB",
        help="Parquet: stay under this, here or a worker (default 1GB)",
    )
    add_shared(parser, "--scheduler", "--json")


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, solve, and print the budgets."""
    budgets = parse_numbers(",".join(args.budget), "--budget")  # given twice, both count
    path = Path(args.file)
    if path.suffix == ".parquet" or path.is_dir():
        _solve_parquet(args.file, budgets, args.out, args.memory, args.scheduler, args.json)
        return
    if len(budgets) > 1 or args.out or args.scheduler:
        raise ValueError(
            "several budgets, --out and --scheduler are for tables in Parquet; "
            "`adalib table` makes one"
        )
    if path.suffix.lower() == ".csv":
        from adalib.explorer import read_csv

        table = read_csv(args.file)
    else:
        offered = parse_budgets(args.budgets)
        table = _estimate(args.file, offered, args.estimator, args.ties, args.cost, args.prices)
    _solve(table, budgets[0], args.json)


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
    """Solve a table that fits into memory, and print the best plan within the budget."""
    from adalib.solve.frontier import frontier

    best = frontier(table.acc, table.cost).at(budget)
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


def _solve_parquet(
    file: str,
    budgets: list[float],
    out: str | None,
    memory: str,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Solve a table in Parquet, which may be larger than memory, and print its points."""
    from adalib.datasets.files import check_room
    from adalib.scale.machines import Cluster, Here
    from adalib.scale.stream import solve_files

    if not out:
        raise ValueError("say where the labels go: --out FOLDER")
    memory_bytes = _parse_memory(memory)
    if not scheduler:
        mend = "give less with --memory SIZE, or free some"
        check_room(file, f"solving with --memory {memory}", memory_bytes, mend)
    with Cluster(scheduler) if scheduler else Here() as machines:
        solved = solve_files(file, budgets, out, memory=memory_bytes, machines=machines)
    result = solved.as_json()
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
        return
    for point in result["points"]:
        _print_point(point, solved.rows)
        print(f"labels: column {point['labels']} of {solved.folder}; rounds: {point['rounds']}")
    print(_OPTIMISTIC)


def _parse_memory(text: str) -> int:
    """Read "800MB" or "2GB" as bytes."""
    match = _MEMORY.fullmatch(text.strip())
    if not match:
        raise ValueError(f"--memory is {text!r}; give a size such as 800MB or 2GB")
    number, unit = match.groups()
    return int(float(number) * _BYTES[unit.upper()])
