"""Write one self-contained page that explores a file: drag the price of compute, without Python or a network."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from adalib.commands.arguments import shown

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``explore`` takes."""
    parser.add_argument("file", metavar="FILE", help="answers (.jsonl), accuracies (.csv), or a bundled setting")
    parser.add_argument("--out", metavar="PAGE", default="explore.html", help="page to write (default explore.html)")


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    from adalib.datasets.loading import bundled, load
    from adalib.explorer import page, read_csv, setting

    path = Path(args.file)
    if os.path.realpath(args.file) == os.path.realpath(args.out):
        raise ValueError(f"--out is the file itself, {args.out}; give the page another name")
    source = read_csv(path) if path.suffix.lower() == ".csv" else load(args.file)
    kind = "real" if args.file in bundled() else "yours"
    out = page([setting(source, name=path.name, title=path.name, kind=kind)], args.out)
    print(f"wrote {shown(str(out))} ({out.stat().st_size / 1024:.0f} KB); open it in a browser, no network needed")
    return 0
