"""The families of the question set `story`: two to five steps, all written for this project.

Five dials a family, of which a pilot chose three (`pilot.json`); `make_questions.py` draws from
those. Every gold is computed twice, by formula and by counting, walking or trying, and the two
must agree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from story.counting import COUNTING
from story.everyday import EVERYDAY
from story.trade import TRADE
from story.travel import TRAVEL
from story.unknowns import UNKNOWNS

#: All families with all five dials, as the pilot asked them, by level.
CANDIDATES = tuple(
    sorted((*EVERYDAY, *TRADE, *TRAVEL, *COUNTING, *UNKNOWNS), key=lambda family: family.level)
)

_CHOSEN = Path(__file__).resolve().parents[2] / "pilot" / "dials.json"
_PER_DIAL = {1: 5, 2: 5, 3: 4, 4: 3, 5: 3}


def chosen() -> tuple:
    """The families that the pilot kept, with the three dials that it chose."""
    dials = json.loads(_CHOSEN.read_text(encoding="utf-8"))["dials"]
    kept = [family for family in CANDIDATES if family.name in dials]
    return tuple(replace(f, dials=tuple(dials[f.name]), per_dial=_PER_DIAL[f.level]) for f in kept)
