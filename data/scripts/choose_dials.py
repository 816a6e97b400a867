"""Choose families and dials of the set `story` from its pilot.

Run ``python data/scripts/choose_dials.py``; it rewrites data/pilot/dials.json.

The pilot (`make_questions.py --pilot`, its own seed) asked all families at all five dials. The
rule was written before that pilot was answered: of the three runs of three neighbouring dials, a
family takes the one whose share of right answers by the 0.5B model is nearest to its level's aim.
In levels 1 to 3 a family stays if that share reaches a floor; of levels 4 and 5 the four most
often answered stay. The final draw has another seed."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from story import CANDIDATES

import adalib

DATA = Path(__file__).resolve().parents[1]
AIM = {1: 0.75, 2: 0.60, 3: 0.45, 4: 0.30, 5: 0.15}  # right answers of one sample, by level
FLOOR = {
    1: 0.35,
    2: 0.25,
    3: 0.10,
}  # a family of these levels that the model answers less often is dropped
HARDEST = 4  # families kept of levels 4 and 5, the most often answered


def pilot() -> dict[str, list[float]]:
    """Share of right answers in the pilot, by family and dial."""
    responses = adalib.load(DATA / "pilot" / "story-qwen05.jsonl.gz")
    found: dict[str, dict[float, list]] = defaultdict(lambda: defaultdict(list))
    for family, dial, value in zip(
        responses.extras["family"],
        responses.extras["dial"],
        responses.values.mean(axis=1),
        strict=True,
    ):
        found[family][dial].append(value)
    return {
        family: [sum(v) / len(v) for _, v in sorted(dials.items())]
        for family, dials in found.items()
    }


def choose(shares: list[float], level: int) -> list[int]:
    """Return the three neighbouring dials whose mean share is nearest to the level's aim.

    Of two such runs it takes the easier one.
    """
    return min(
        ([d, d + 1, d + 2] for d in range(3)),
        key=lambda dials: abs(_mean(shares, dials) - AIM[level]),
    )


def report() -> dict:
    """What the pilot measured and what follows from it."""
    shares = pilot()
    dials = {family.name: choose(shares[family.name], family.level) for family in CANDIDATES}
    value = {name: _mean(shares[name], run) for name, run in dials.items()}
    kept = []
    for level in AIM:
        names = sorted(
            (f.name for f in CANDIDATES if f.level == level), key=lambda name: -value[name]
        )
        kept += (
            names[:HARDEST]
            if level > 3
            else [name for name in names if value[name] >= FLOOR[level]]
        )
    return {
        "aim": AIM,
        "shares": {family: [round(float(x), 3) for x in row] for family, row in shares.items()},
        "dials": {family.name: dials[family.name] for family in CANDIDATES if family.name in kept},
    }


def _mean(shares: list[float], dials: list[int]) -> float:
    return sum(shares[d] for d in dials) / len(dials)


def main() -> None:
    found = report()
    (DATA / "pilot" / "dials.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for family, dials in found["dials"].items():
        print(f"{family:20} {dials} {found['shares'][family]}")


if __name__ == "__main__":
    main()
