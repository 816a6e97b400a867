"""``python -m adalib.teach export``: the quizzes of the book for a learning platform."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 when done, 2 on bad input."""
    parser = argparse.ArgumentParser(prog="python -m adalib.teach")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    export = commands.add_parser(
        "export", help="write quizzes and misconceptions as Moodle XML and as a QTI 2.1 package"
    )
    export.add_argument(
        "--book", type=Path, default=Path(), help="folder of the book's sources (default: here)"
    )
    export.add_argument(
        "--out", type=Path, required=True, help="folder to write quizzes.xml and quizzes.zip into"
    )
    args = parser.parse_args(argv)
    quizzes = args.book / "book" / "editions" / "quizzes.py"
    try:
        if not quizzes.exists():
            raise ValueError(
                f"{args.book} has no book/editions/quizzes.py; give the folder of the book's "
                "sources"
            )
        return runpy.run_path(str(quizzes))["export"](args.book, args.out)
    except (OSError, ValueError) as error:
        print(f"python -m adalib.teach: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
