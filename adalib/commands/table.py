"""Make a table of accuracies from files of sampled answers, in Parquet files, for `solve`.

Files may be larger than memory; answers are compared on all cores, or on all machines of a Dask
scheduler. The same command goes on where an earlier one stopped. Needs the extra: pip install
'adalib[scale]'.
"""

from __future__ import annotations

import argparse

from adalib.commands.options import add_shared, parse_budgets


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "files", metavar="ANSWERS", nargs="+", help="files of answers (.jsonl or .jsonl.gz)"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", required=True, help="folder for the table; must not exist yet"
    )
    add_shared(parser, "--budgets", "--estimator", "--ties", "--cost", "--scheduler")


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, and write the table."""
    from adalib.scale.machines import Cluster, Here
    from adalib.scale.tables import tabulate

    estimation = {"estimator": args.estimator, "ties": args.ties, "cost": args.cost or "samples"}
    with Cluster(args.scheduler) if args.scheduler else Here(processes=True) as machines:
        rows = tabulate(
            args.files,
            args.out,
            budgets=parse_budgets(args.budgets),
            machines=machines,
            **estimation,
        )
    print(f"wrote {args.out}: {rows:,} questions")
