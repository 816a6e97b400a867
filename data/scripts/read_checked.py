"""Write what the chapter on checked answers reads: `python data/scripts/read_checked.py FOLDER`.

FOLDER holds `game24-gpt4-cot.jsonl.gz`, `game24-gpt4-standard.jsonl.gz` (puzzles with the answers
of GPT-4) and `codecontests-passes.csv` (passes in 10,000). The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adalib.datasets.files import read_lines, write_lines

CHECKED = Path(__file__).resolve().parents[1] / "checked"
#: The model of the chapter; what the others passed stays on the line.
MODEL = "Llama 3 70B Instruct"
ATTEMPTS = 10_000


def puzzles(path: Path) -> Iterator[dict[str, Any]]:
    """The puzzles of Game of 24, with every expression as it was written."""
    for _, line in read_lines(path):
        kept = {name: line[name] for name in ("id", "question", "answers", "correct")}
        kept |= {"gold": "24", "dollars": line["cost"], "checked": True}
        yield kept | {name: line[name] for name in ("completion_tokens", "prompt_tokens")}


def problems(path: Path) -> Iterator[dict[str, Any]]:
    """The problems of CodeContests: passes of one model, and next to them those of the others."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = f"codecontests-{row.pop('Problem Idx')}"
            passes = {model: int(count) for model, count in row.items()}
            yield {
                "id": name,
                "passes": passes.pop(MODEL),
                "attempts": ATTEMPTS,
                "others": passes,
                "checked": True,
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for kind in ("cot", "standard"):
        lines = puzzles(folder / f"game24-gpt4-{kind}.jsonl.gz")
        write_lines(CHECKED / f"game24-{kind}.jsonl.gz", lines)
    write_lines(CHECKED / "codecontests.jsonl", problems(folder / "codecontests-passes.csv"))


if __name__ == "__main__":
    main()
