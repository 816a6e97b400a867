"""Choose families and dials of the set `story` from its pilot.

Run ``python data/scripts/choose_dials.py``; it rewrites data/pilot/dials.json.

The pilot (`make_questions.py --pilot`, its own seed) asked all families at all five dials. The
rule was written before that pilot was answered: of the three runs of three neighbouring dials, a
family takes the one whose share of right answers by the 0.5B model is nearest to its level's aim.
In levels 1 to 3 a family stays if that share reaches a floor; of levels 4 and 5 the four most
often answered stay. The final draw has another seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from story import CANDIDATES

import adalib

DATA = Path(__file__).resolve().parents[1]
AIM = {1: 0.75, 2: 0.60, 3: 0.45, 4: 0.30, 5: 0.15}  # right answers of one sample, by level
# A family of these levels that the model answers less often is dropped.
FLOOR = {1: 0.35, 2: 0.25, 3: 0.10}
HARDEST = 4  # families kept of levels 4 and 5, the most often answered


def pilot() -> pd.DataFrame:
    """Share of right answers in the pilot, a row per family and a column per dial."""
    answers = adalib.load(DATA / "pilot" / "story-qwen05.jsonl.gz")
    asked = {"family": answers.extras["family"], "dial": answers.extras["dial"]}
    right = pd.DataFrame({**asked, "right": answers.values.mean(axis=1)})
    return right.pivot_table("right", "family", "dial", sort=False)


def choose(shares: np.ndarray, level: int) -> list[int]:
    """Return the three neighbouring dials whose mean share is nearest to the level's aim.

    Of two such runs it takes the easier one.
    """
    runs = [[dial, dial + 1, dial + 2] for dial in range(3)]
    return min(runs, key=lambda run: abs(shares[run].mean() - AIM[level]))


def report() -> dict:
    """What the pilot measured and what follows from it."""
    shares = {family: row.to_numpy() for family, row in pilot().iterrows()}
    dials = {family.name: choose(shares[family.name], family.level) for family in CANDIDATES}
    value = {name: shares[name][run].mean() for name, run in dials.items()}
    kept: list[str] = []
    for level in AIM:
        names = [family.name for family in CANDIDATES if family.level == level]
        if level > 3:
            kept += sorted(names, key=value.__getitem__, reverse=True)[:HARDEST]
        else:
            kept += [name for name in names if value[name] >= FLOOR[level]]
    return {
        "aim": AIM,
        "shares": {family: row.round(3).tolist() for family, row in shares.items()},
        "dials": {family.name: dials[family.name] for family in CANDIDATES if family.name in kept},
    }


def main() -> None:
    found = report()
    (DATA / "pilot" / "dials.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for family, dials in found["dials"].items():
        print(f"{family:20} {dials} {found['shares'][family]}")


if __name__ == "__main__":
    main()
