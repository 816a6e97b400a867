"""What a figure shows without scripts: its numbers, trace by trace, under its caption."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from html import escape
from typing import Any

import numpy as np
from listing import plain

_FIGURE = re.compile(
    r'<figure class="adalib-figure">.*?"application/json">(.*?)</script>.*?</figcaption>', re.DOTALL
)
_HIDE = "<noscript><style>.adalib-figure .plotly-graph-div { display: none; }</style></noscript>\n"
_MOST = 8  # points of a trace; of a longer one so many, evenly, with both ends


def values(column: Any) -> list:
    """A column of a trace: plotly writes numbers as they lie in memory."""
    if isinstance(column, dict):
        column = np.frombuffer(b64decode(column["bdata"]), dtype=column["dtype"]).tolist()
    return list(column or [])


def points(trace: dict) -> str:
    """Return the points of a trace, place before value; a lying bar has its place on the y axis.

    >>> points({"type": "bar", "orientation": "h", "x": [0.25, 0.5], "y": ["mix", "oracle"]})
    'mix: 0.25, oracle: 0.5'
    """
    x = values(trace.get("x"))
    y = values(trace.get("y"))
    if trace.get("orientation") == "h" or (y and isinstance(y[0], str)):
        x, y = y, x
    pairs = [
        pair
        for pair in zip(x or range(len(y)), y, strict=False)
        if None not in pair and pair[1] == pair[1]
    ]
    if all(place == "" for place, _ in pairs):
        return f"{len(pairs)} in a row" if pairs else ""
    shown = np.linspace(0, len(pairs) - 1, min(_MOST, len(pairs))).round().astype(int)
    pairs_shown = [
        [plain(end) if isinstance(end, str) else f"{end:.3g}" for end in pairs[at]] for at in shown
    ]
    more = f" ({len(shown)} of {len(pairs)} points)" if len(pairs) > _MOST else ""
    return ", ".join(map(": ".join, pairs_shown)) + more


def panel(layout: dict, trace: dict) -> str:
    """Return the titles of a trace's panel and of its axes."""
    x, y = (layout.get(f"{way}axis{trace.get(f'{way}axis', way)[1:]}", {}) for way in "xy")
    left, right = x.get("domain", (0, 1))
    top = y.get("domain", (0, 1))[1]
    over = [
        plain(note.get("text", ""))
        for note in layout.get("annotations", [])
        if note.get("xref") == "paper"
        and abs(note["x"] - (left + right) / 2) + abs(note.get("y", 0) - top) < 0.01
    ]
    titles = [plain((axis.get("title") or {}).get("text") or "") for axis in (x, y)]
    return ". ".join([*over, ": ".join(filter(None, titles))]).strip(". ")


def numbers(figure: dict) -> str:
    """Return the numbers of a figure as a list: a trace's name and points, by panel.

    A shade around a line is left out.
    """
    parts: dict[str, list[str]] = {}
    for trace in figure["data"]:
        if (
            trace.get("hoverinfo") != "skip"
            and trace.get("visible", True) is True
            and (listed := points(trace))
        ):
            name = f"<b>{escape(plain(trace['name']))}</b> " if trace.get("name") else ""
            parts.setdefault(panel(figure["layout"], trace), []).append(
                f"<dd>{name}{escape(listed)}</dd>"
            )
    return "".join(
        f"<dl><dt>{escape(title)}</dt>{''.join(lines)}</dl>" for title, lines in parts.items()
    )


def tell(app, pagename, templatename, context, doctree) -> None:
    """Put the numbers behind the caption of every figure of a page."""
    body, found = _FIGURE.subn(
        lambda shown: f"{shown[0]}<noscript>{numbers(json.loads(shown[1]))}</noscript>",
        context.get("body", ""),
    )
    if found:
        context |= {"body": body, "metatags": context.get("metatags", "") + _HIDE}


def setup(app) -> dict:
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
