"""The front end as its two hosts need it: one script, joined from parts of one subject each, and one style sheet.

A static page inlines the script in a module element and calls ``mountStatic``; Jupyter gives it to anywidget, which
calls ``render``. Both want one text without imports, so the parts in ``front/`` are plain JavaScript that sees what
stands before it, and this module says what stands where.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from adalib.colours import BUDGETS, MODELS

__all__ = ["PARTS", "script", "style"]

_FRONT = Path(__file__).parent / "front"

PARTS = (
    # what is computed
    "numbers",
    "oracle",
    "path",
    "votes",
    # a reader's own file
    "files",
    "csv",
    "jsonlines",
    "models",
    "crossfit",
    # what is drawn
    "dom",
    "scales",
    "drawing",
    "tiles",
    "staircase",
    "frontier",
    "split",
    "question",
    "pays",
    # what holds it together
    "controls",
    "own_file",
    "address",
    "explorer",
    "hosts",
)


@cache
def script() -> str:
    """Return the whole front end, in the order of `PARTS`, after the colours that the figures use too.

    Examples
    --------
    >>> script().startswith("const BUDGET_COLOURS = ['#")
    True
    """
    parts = [(_FRONT / f"{part}.js").read_text(encoding="utf-8") for part in PARTS]
    colours = [f"const BUDGET_COLOURS = {list(BUDGETS)};", f"const MODEL_COLOURS = {[list(ends) for ends in MODELS]};"]
    return "\n".join([*colours, *parts])


@cache
def style() -> str:
    """Return the style sheet."""
    return (_FRONT / "explorer.css").read_text(encoding="utf-8")
