"""Find the best budget for every question of a file, given what a question may cost on average.

The file holds sampled answers (.jsonl) or accuracies (.csv), or is the name of a bundled setting. What is found is the
best plan in hindsight on those very answers: `evaluate` says what survives on others.
"""

from __future__ import annotations

import argparse
import json

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``solve`` takes."""
    add = parser.add_argument
    add("file", metavar="FILE", help="answers (.jsonl), accuracies (.csv), or a bundled setting")
    add("--budget", metavar="B", type=float, required=True, help="what a question may cost on average")
    add("--budgets", metavar="LIST", default="1,2,4,8,16", help="budgets on offer (default 1,2,4,8,16)")
    add("--estimator", choices=("subsets", "windows"), default="subsets", help="how accuracy is estimated")
    add("--ties", choices=("share", "first"), default="share", help="what happens to tied votes")
    add("--cost", choices=("samples", "tokens"), default="samples", help="what a budget costs")
    add("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    """Solve, and print the plan."""
    from adalib.commands.arguments import read_table
    from adalib.solve.frontier import frontier

    table = read_table(args.file, args.budgets, estimator=args.estimator, ties=args.ties, cost=args.cost)
    best = frontier(table.acc, table.cost).at(args.budget)
    split = best.split and {
        "id": table.ids[best.split.row],
        "low": table.budgets[best.split.low],
        "high": table.budgets[best.split.high],
        "share": best.split.share,
    }
    numbers = {name: getattr(best, name) for name in ("budget", "lam", "cost", "accuracy", "bound", "slack")}
    labels = {name: table.budgets[label] for name, label in zip(table.ids, best.labels.tolist(), strict=True)}
    if args.json:
        print(json.dumps({**numbers, "labels": labels, "split": split}, ensure_ascii=False))
        return 0
    for name, value in numbers.items():
        print(f"{name:9} {value:.6g}")
    for budget in table.budgets:
        print(f"budget {budget}: {sum(label == budget for label in labels.values())} of {table.n} questions")
    if split:
        print(f"to spend the slack, give {split['id']} budget {split['high']} in {split['share']:.1%} of cases")
    print("best in hindsight on these answers, so optimistic: see chapter 5 of the book")
    return 0
