"""Draw the authored questions from their families: this script rewrites data/questions/.

The same seed gives the same files, byte for byte. The pilots that chose the families and dials
used their own seed (`--pilot`); no question was dropped, replaced or edited after a model had
answered it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import story
from families import DRILL, NAMES, THINGS, WORD, Family, Numbers

DATA = Path(__file__).resolve().parents[1]
SEED = 2026_11_15
PILOT_SEED = 7


def draw_family(family: Family, rng: Random, taken: set[str]) -> list[dict]:
    """Draw a family's questions without repeats, with the phrasings taken in turn."""
    questions: list[dict] = []
    for dial in family.dials:
        made = tries = 0
        while made < family.per_dial:
            tries += 1
            if tries > 10_000:
                raise RuntimeError(
                    f"family {family.name} has too few distinct questions at dial {dial}"
                )
            numbers = family.kind.draw(rng, dial)
            name, other = rng.sample(NAMES, 2)
            phrasing = len(questions) % len(family.phrasings)
            text = family.phrasings[phrasing].format(
                name=name, other=other, things=rng.choice(THINGS), **numbers
            )
            gold = family.kind.answer(Numbers(**numbers))
            check = family.kind.check(Numbers(**numbers))
            if gold != check:
                raise AssertionError(
                    f"family {family.name}: {text!r} has answer {gold}, but counting gives {check}"
                )
            # The same numbers in the same words but for a name would be the same question twice.
            key = f"{family.name} {phrasing} {sorted(numbers.items())}"
            if text in taken or key in taken:
                continue
            taken |= {text, key}
            questions.append(
                {"question": text, "gold": str(gold), "level": family.level, "family": family.name}
            )
            questions[-1] |= {"phrasing": phrasing, "dial": dial}
            made += 1
    return questions


def draw_set(name: str, families: Sequence[Family], seed: int) -> list[dict]:
    """Draw a whole question set.

    Each family has its own random stream, so adding one leaves the others unchanged.
    """
    taken: set[str] = set()
    questions = []
    for family in families:
        rng = Random(f"{seed}/{name}/{family.name}")
        for i, question in enumerate(draw_family(family, rng, taken)):
            questions.append({"id": f"{name}-{family.name}-{i:02d}", **question})
    return questions


def write(path: Path, questions: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in questions), encoding="utf-8"
    )
    print(
        f"{path.name}: {len(questions)} questions in {len({q['family'] for q in questions})} "
        "families"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pilot", type=Path, metavar="FOLDER", help="write a pilot draw with its own seed there"
    )
    pilot = parser.parse_args().pilot
    folder, seed = (pilot, PILOT_SEED) if pilot else (DATA / "questions", SEED)
    write(folder / "word.jsonl", draw_set("word", WORD, seed))
    write(folder / "drill.jsonl", draw_set("drill", DRILL, seed))
    write(
        folder / "story.jsonl",
        draw_set("story", story.CANDIDATES if pilot else story.chosen(), seed),
    )


if __name__ == "__main__":
    main()
