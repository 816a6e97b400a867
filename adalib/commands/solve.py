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
from pathlib import Path
from typing import Any

from adalib.commands.cli import add_shared, parse_budgets, parse_numbers, read_answers, shown

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
    from adalib.datasets.menu import Menu
    from adalib.solve.frontier import frontier

    budgets = parse_numbers(",".join(args.budget), "--budget")  # given twice, both count
    if Path(args.file).suffix == ".parquet" or Path(args.file).is_dir():
        return _run_parquet(args, budgets)
    if len(budgets) > 1 or args.out or args.scheduler:
        raise ValueError(
            "several budgets, --out and --scheduler are for tables in Parquet; "
            "`adalib table` makes one"
        )
    if Path(args.file).suffix.lower() == ".csv":
        from adalib.explorer import read_csv

        table = read_csv(args.file)
    else:
        answers = read_answers(args.file, args.prices, args.cost)
        estimation = parse_budgets(args.budgets), args.estimator, args.ties
        table = (
            answers.table(*estimation)
            if isinstance(answers, Menu)
            else answers.table(*estimation, args.cost or "samples")
        )
    best = frontier(table.acc, table.cost).at(budgets[0])
    split = None
    if best.split:
        row, low, high, share = best.split
        split = {
            "id": table.ids[row],
            "low": table.budgets[low],
            "high": table.budgets[high],
            "share": share,
        }
    numbers = {name: getattr(best, name) for name in _NUMBERS}
    labels = {
        name: table.budgets[label]
        for name, label in zip(table.ids, best.labels.tolist(), strict=True)
    }
    if args.json:
        print(json.dumps({**numbers, "labels": labels, "split": split}, ensure_ascii=False))
        return
    counts = {budget: list(labels.values()).count(budget) for budget in table.budgets}
    _show({**numbers, "counts": counts, "split": split}, table.n)
    print(_OPTIMISTIC)


def _show(point: dict[str, Any], rows: int) -> None:
    """Print one point of the frontier, and the question that it splits."""
    for name in _NUMBERS:
        print(f"{name:9} {point[name]:.6g}")
    for budget, count in point["counts"].items():
        print(f"budget {shown(str(budget))}: {count:,} of {rows:,} questions")
    if split := point["split"]:
        who = shown(str(split["id"]))
        budget = shown(str(split["high"]))
        print(f"to spend the slack, give {who} budget {budget} in {split['share']:.1%} of cases")


def _run_parquet(args: argparse.Namespace, budgets: list[float]) -> None:
    """Solve a table in Parquet, which may be larger than memory."""
    from adalib.datasets.files import check_room
    from adalib.scale.machines import Cluster, Here
    from adalib.scale.stream import solve_files

    if not args.out:
        raise ValueError("say where the labels go: --out FOLDER")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([MG])i?B?", args.memory.strip(), re.IGNORECASE)
    if not match:
        raise ValueError(f"--memory is {args.memory!r}; give a size such as 800MB or 2GB")
    memory = int(float(match[1]) * {"M": 10**6, "G": 10**9}[match[2].upper()])
    if not args.scheduler:
        mend = "give less with --memory SIZE, or free some"
        check_room(args.file, f"solving with --memory {args.memory}", memory, mend)
    with Cluster(args.scheduler) if args.scheduler else Here() as machines:
        solved = solve_files(args.file, budgets, args.out, memory=memory, machines=machines)
    result = solved.as_json()
    if args.json:
        print(json.dumps(result, ensure_ascii=False))
        return
    for point in result["points"]:
        _show(point, solved.rows)
        print(f"labels: column {point['labels']} of {solved.folder}; rounds: {point['rounds']}")
    print(_OPTIMISTIC)
