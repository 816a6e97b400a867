"""Choose the dials of the set `story` from its pilot: `python data/choose_dials.py` rewrites data/story/pilot.json.

The pilot (`make_questions.py --pilot`, its own seed) asked all families at all five dials. The rule was written before
the pilot was answered: of the three runs of three neighbouring dials, a family takes the one whose share of right
answers by the 0.5B model is nearest to its level's aim. No family is dropped. The final draw has another seed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import adalib

HERE = Path(__file__).parent
AIM = {1: 0.75, 2: 0.60, 3: 0.45, 4: 0.30, 5: 0.15}  # right answers of one sample, by level


def pilot(model: str) -> dict[str, list[float]]:
    """Share of right answers in the pilot, by family and dial."""
    responses = adalib.load(HERE / "pilot" / f"story-{model}.jsonl.gz")
    found = defaultdict(lambda: defaultdict(list))
    for family, dial, value in zip(
        responses.extras["family"], responses.extras["dial"], responses.values.mean(axis=1), strict=True
    ):
        found[family][dial].append(value)
    return {family: [sum(v) / len(v) for _, v in sorted(dials.items())] for family, dials in found.items()}


def choose(shares: list[float], level: int) -> list[int]:
    """The three neighbouring dials whose mean share is nearest to the level's aim; the easier ones where two are."""
    return min(
        ([d, d + 1, d + 2] for d in range(3)), key=lambda dials: abs(sum(shares[d] for d in dials) / 3 - AIM[level])
    )


def report() -> dict:
    """What the pilot measured and what follows from it."""
    from story import CANDIDATES

    shares = {model: pilot(model) for model in ("qwen05", "qwen15")}
    return {
        "aim": AIM,
        "shares": {m: {f: [round(x, 3) for x in row] for f, row in found.items()} for m, found in shares.items()},
        "dials": {family.name: choose(shares["qwen05"][family.name], family.level) for family in CANDIDATES},
    }


def main() -> None:
    found = report()
    (HERE / "story" / "pilot.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for family, dials in found["dials"].items():
        print(f"{family:20} {dials}", *(found["shares"][model][family] for model in found["shares"]))


if __name__ == "__main__":
    main()
