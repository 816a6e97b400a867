"""The families of the question set `story`: two to five steps, in words, all written for this project.

Five dials a family, of which a pilot chose three (`pilot.json`); `make_questions.py` draws from those. Every gold is
computed twice, by formula and by counting, walking or trying, and the two must agree.
"""

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
CANDIDATES = tuple(sorted((*EVERYDAY, *TRADE, *TRAVEL, *COUNTING, *UNKNOWNS), key=lambda family: family.level))

_CHOSEN = Path(__file__).parent / "pilot.json"


def chosen() -> tuple:
    """The families with the three dials that the pilot chose."""
    dials = json.loads(_CHOSEN.read_text(encoding="utf-8"))["dials"]
    return tuple(replace(family, dials=tuple(dials[family.name])) for family in CANDIDATES)
