"""Write one self-contained page that explores a file, without Python or a network."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from adalib.commands.cli import shown


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
    from adalib.datasets.loading import bundled, load
    from adalib.datasets.responses import Responses
    from adalib.explorer import page, read_csv, setting

    path = Path(args.file)
    if os.path.realpath(args.file) == os.path.realpath(args.out):
        raise ValueError(f"--out is the file itself, {args.out}; give the page another name")
    kind = "real" if args.file in bundled() else "yours"
    about: dict[str, Any] = {"name": path.name, "title": path.name, "kind": kind}
    if path.suffix.lower() == ".csv":
        if args.cost is not None:
            raise ValueError(
                f"{args.file}: a table of accuracies has its own costs; leave out --cost"
            )
        source: Any = read_csv(path)
    else:
        source = load(args.file)
        if args.cost == "tokens" and isinstance(source, Responses):
            about |= {"responses": source, "unit": "tokens"}
            source = source.table(cost="tokens")
    out = page([setting(source, **about)], args.out)
    print(
        f"wrote {shown(str(out))} ({out.stat().st_size / 1024:.0f} KB); "
        "open it in a browser, no network needed"
    )
