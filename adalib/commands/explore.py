"""Write one self-contained page that explores a file, without Python or a network."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, Literal

from adalib.commands.terminal import shown


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "file", metavar="FILE", help="answers (.jsonl), accuracies (.csv), or a bundled setting"
    )
    parser.add_argument(
        "--out", metavar="PAGE", default="explore.html", help="page to write (default explore.html)"
    )
    explained = "what a budget costs: its answers, or their tokens (default samples)"
    parser.add_argument("--cost", choices=("samples", "tokens"), help=explained)


def run(args: argparse.Namespace) -> None:
    """Read the file and write the page."""
    from adalib.explorer import page

    if os.path.realpath(args.file) == os.path.realpath(args.out):
        raise ValueError(f"--out is the file itself, {args.out}; give the page another name")
    out = page([_described(args.file, args.cost)], args.out)
    print(
        f"wrote {shown(str(out))} ({out.stat().st_size / 1024:.0f} KB); "
        "open it in a browser, no network needed"
    )


def _described(file: str, cost: Literal["samples", "tokens"] | None) -> dict[str, Any]:
    """Describe the table or the answers of a file for the explorer."""
    from adalib.datasets.loading import bundled, load
    from adalib.datasets.responses import Responses
    from adalib.explorer import read_csv, setting

    path = Path(file)
    about: dict[str, Any] = {
        "name": path.name,
        "title": path.name,
        "kind": "real" if file in bundled() else "yours",
    }
    if path.suffix.lower() == ".csv":
        if cost is not None:
            raise ValueError(f"{file}: a table of accuracies has its own costs; leave out --cost")
        return setting(read_csv(path), **about)
    answers = load(file)
    if cost == "tokens" and isinstance(answers, Responses):
        table = answers.table(cost="tokens")
        return setting(table, responses=answers, unit="tokens", **about)
    return setting(answers, **about)
