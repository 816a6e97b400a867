"""``python -m adalib.teach WORD ...``: what a teacher does with homework and tokens."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd

from adalib.teach.course import Grade, class_list, grade, student_key

SECRET = "ADALIB_CLASS_SECRET"
#: Where a roster may have the name that a student signs with: ours, Canvas's, Moodle's.
ID_COLUMNS = ("student", "SIS Login ID", "ID number", "Username", "Email address", "ID")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one word and return its exit code: 0 done, 1 a token was refused, 2 bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m adalib.teach", description="Homework and tokens."
    )
    words = parser.add_subparsers(dest="word", metavar="WORD", required=True)
    keys = words.add_parser(
        "keys", help=f"print each student's key, made from the class's secret in ${SECRET}"
    )
    keys.add_argument("students", nargs="+", metavar="STUDENT")
    graded = words.add_parser(
        "grade", help=f"check the seals of tokens and grade them, with the secret in ${SECRET}"
    )
    graded.add_argument("file", type=Path, help="a text file with one token per line")
    graded.add_argument("--json", action="store_true", help="print one JSON object")
    graded.add_argument(
        "--roster", type=Path, help="a CSV of the class, such as Canvas or Moodle export it"
    )
    graded.add_argument(
        "--id", help="the roster's column with the names that students use here (default: found)"
    )
    graded.add_argument(
        "--sheet", default="1", help="with --roster: the sheet that counts (default: 1)"
    )
    graded.add_argument(
        "--salt", help="the salt of the exam; without it, exams and salted homework are refused"
    )
    graded.add_argument(
        "--due", type=datetime.fromisoformat, help="with --roster: the end, as 2026-11-20T18:00"
    )
    graded.add_argument(
        "--csv", type=Path, help="with --roster: the same CSV with points, to import again"
    )
    args = parser.parse_args(argv)
    try:
        return {"keys": _keys, "grade": _grade}[args.word](args)
    except (OSError, ValueError) as error:
        print(f"python -m adalib.teach: {error}", file=sys.stderr)
        return 2


def _secret() -> str:
    if not os.environ.get(SECRET):
        raise ValueError(
            f"the class's secret is missing; put a long random text into the variable {SECRET}"
        )
    return os.environ[SECRET]


def _keys(args: argparse.Namespace) -> int:
    for student in args.students:
        print(f"{student}\t{student_key(_secret(), student)}")
    return 0


def _grade(args: argparse.Namespace) -> int:
    tokens = [line.strip() for line in _read(args.file).splitlines() if line.strip()]
    if not tokens:
        raise ValueError(f"{args.file}: holds no token; give a file with one a line")
    grades = [grade(token, _secret(), args.salt) for token in tokens]
    if args.roster:
        return _class(args, grades)
    if args.json:
        print(json.dumps({"grades": [vars(one) | {"score": len(one.right)} for one in grades]}))
    else:
        for one in grades:
            said = (
                f"refused: {one.refused}"
                if one.refused
                else f"{len(one.right)} of {one.of}: {', '.join(one.right)}"
            )
            print(f"{one.student or '?'}\t{one.sheet}\t{said}")
    return 1 if any(one.refused for one in grades) else 0


def _class(args: argparse.Namespace, grades: list[Grade]) -> int:
    """Write the class's points beside its names; what did not count goes to standard error."""
    text = _read(args.roster)
    separator = max(",;\t", key=text.partition("\n")[0].count)  # of equally many the comma
    roster = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    known = [args.id] if args.id else ID_COLUMNS
    name = next(
        (each for each in known if each in roster and roster[each].str.strip().ne("").any()), None
    )
    if name is None:
        raise ValueError(
            f"{args.roster}: has no column {' or '.join(known)} with names in it; name one with --id"
        )
    points, left_out = class_list(roster, name, grades, args.sheet, args.due)
    if args.csv:
        points.to_csv(args.csv, index=False, sep=separator)
    else:
        print(points.to_string(index=False))
    for one in left_out:
        print(f"{one.student or '?'}\tnot counted: {one.refused}", file=sys.stderr)
    return 1 if left_out else 0


def _read(file: Path) -> str:
    """The text of a file that any editor, Excel or a Windows shell has written."""
    raw = file.read_bytes()
    try:
        return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
