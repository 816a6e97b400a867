"""Compute the whole comparison of chapter 10; writes data/recorded/stopping.json, which is not kept in the repository.

Run ``python data/record_stopping.py`` (several minutes on two cores; what is there already is kept, so that it can be
stopped and started again; ``--anew`` begins anew). Every bundled setting is held out by question and by family, at six
targets, simulated populations by question. The cells come from `adalib.evaluate.stopping_table.stopping_cells`, which
a test calls for a small file.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import adalib
from adalib.datasets.jsonl import write_lines
from adalib.datasets.responses import Responses
from adalib.evaluate.stopping_table import stopping_cells

FILE = Path(__file__).resolve().parent / "recorded" / "stopping.json"
TARGETS = (1.5, 2, 3, 4, 6, 8)
SETTINGS = ("word-fewshot", "word-hot", "word-zeroshot", "drill-fewshot")


def jobs() -> Iterator[tuple[str, str, Responses, list | None, bool]]:
    """Yield a name, a protocol, the answers, their groups and whether peers are scored."""
    for name in SETTINGS:
        yield name, "question", adalib.load(name), None, True
    for name in SETTINGS:
        answers = adalib.load(name)
        yield name, "family", answers, answers.extras["family"], False
    simulated = {
        "Beta(1.5, 1.5)": adalib.beta_population(300, 1.5, 1.5),
        "Beta(0.5, 0.5)": adalib.beta_population(300, 0.5, 0.5),
        "votes say nothing": adalib.flat_null(300),
    }
    for name, population in simulated.items():
        yield name, "question", population.sample(96, seed=1), None, True


def main() -> None:
    """Compute what is missing, and write after every part."""
    kept = {} if "--anew" in sys.argv or not FILE.exists() else json.loads(FILE.read_text())["parts"]
    FILE.parent.mkdir(exist_ok=True)
    for name, protocol, answers, groups, peers in jobs():
        key = f"{name} by {protocol}"
        if key not in kept:
            kept[key] = stopping_cells(answers, TARGETS, groups, peers=peers)
            print(key, flush=True)
            about = f"python data/record_stopping.py, numpy {np.__version__}, Python {platform.python_version()}"
            write_lines(FILE, [{"made_by": about, "targets": TARGETS, "parts": kept}])


if __name__ == "__main__":
    main()
