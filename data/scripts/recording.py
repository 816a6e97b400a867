"""What all recording scripts share: the deals, and a record that is written part by part."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable

from tqdm import tqdm

from adalib.datasets.files import read_lines, write_lines
from adalib.datasets.loading import data_folder

#: Ways of dealing the questions into folds and the answers into halves; the book shows the first.
DEALS = range(5)
#: Numbers of answers at which a priced policy may stop; the mix and the oracle have the same.
STOPS = (*range(1, 17), 20, 24, 28, 32, 40)

#: The name of a part of a record, and a function that computes its rows.
Part = tuple[str, Callable[[], Iterable[dict]]]


def main(**records: Iterable[Part] | Callable[[list[str]], Iterable[Part]]) -> None:
    """Run a script: compute the parts that its records lack, or all of them with ``--anew``.

    Parts that depend on files named on the command line are given as a function of those.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("files", nargs="*", help="questions with their texts, if parts need them")
    parser.add_argument("--anew", action="store_true", help="compute also what is there already")
    given = parser.parse_args()
    for name, parts in records.items():
        record(name, parts(given.files) if callable(parts) else parts, anew=given.anew)


def record(name: str, parts: Iterable[Part], *, anew: bool = False) -> None:
    """Compute the parts that ``data/recorded/NAME.jsonl`` lacks, and save after each.

    With ``anew`` all parts are computed. So a script can be stopped and started again.
    """
    file = data_folder() / "recorded" / f"{name}.jsonl"
    rows: list[dict] = []
    if file.exists() and not anew:
        rows = [row for _, row in read_lines(file)]
    computed_parts = {row["part"] for row in rows}
    for part, compute in tqdm(list(parts), unit=" parts"):
        if part in computed_parts:
            continue
        rows += [{"part": part, **row} for row in compute()]
        write_lines(file, rows)
