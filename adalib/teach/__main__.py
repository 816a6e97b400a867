"""``python -m adalib.teach WORD ...``: what a teacher does with homework, tokens and quizzes."""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from adalib.teach.course import grade, student_key

SECRET = "ADALIB_CLASS_SECRET"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one word and return its exit code: 0 done, 1 a token was refused, 2 bad input."""
    parser = argparse.ArgumentParser(prog="python -m adalib.teach", description="Homework, tokens and quizzes.")
    words = parser.add_subparsers(dest="word", metavar="WORD", required=True)
    keys = words.add_parser("keys", help=f"print each student's key, made from the class's secret in ${SECRET}")
    keys.add_argument("students", nargs="+", metavar="STUDENT")
    graded = words.add_parser("grade", help=f"check the seals of tokens and grade them, with the secret in ${SECRET}")
    graded.add_argument("file", type=Path, help="a text file with a token a line")
    graded.add_argument("--json", action="store_true", help="print one JSON object")
    export = words.add_parser("export", help="write quizzes and misconceptions as Moodle XML and as a QTI 2.1 package")
    export.add_argument("--book", type=Path, default=Path(), help="folder of the book's sources (default: here)")
    export.add_argument("--out", type=Path, required=True, help="folder to write quizzes.xml and quizzes.zip into")
    args = parser.parse_args(argv)
    try:
        return {"keys": _keys, "grade": _grade, "export": _export}[args.word](args)
    except (OSError, ValueError) as error:
        print(f"python -m adalib.teach: {error}", file=sys.stderr)
        return 2


def _secret() -> str:
    secret = os.environ.get(SECRET, "")
    if not secret:
        raise ValueError(f"the class's secret is missing; put a long random text into the variable {SECRET}")
    return secret


def _keys(args: argparse.Namespace) -> int:
    for student in args.students:
        print(f"{student}\t{student_key(_secret(), student)}")
    return 0


def _grade(args: argparse.Namespace) -> int:
    tokens = [line.strip() for line in args.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not tokens:
        raise ValueError(f"{args.file}: holds no token; give a file with one a line")
    grades = [grade(token, _secret()) for token in tokens]
    if args.json:
        print(json.dumps({"grades": [vars(one) | {"score": len(one.right)} for one in grades]}))
    else:
        for one in grades:
            said = f"refused: {one.refused}" if one.refused else f"{len(one.right)} of {one.of}: {', '.join(one.right)}"
            print(f"{one.student or '?'}\t{one.sheet}\t{said}")
    return 1 if any(one.refused for one in grades) else 0


def _export(args: argparse.Namespace) -> int:
    quizzes = args.book / "book" / "editions" / "quizzes.py"
    if not quizzes.exists():
        raise ValueError(f"{args.book}: has no book/editions/quizzes.py; give the folder of the book's sources")
    return runpy.run_path(str(quizzes))["export"](args.book, args.out)


if __name__ == "__main__":
    sys.exit(main())
