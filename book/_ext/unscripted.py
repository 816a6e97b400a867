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
_MOST = 8  # points of a trace; of a longer one so many are shown, evenly, with both ends


def values(column: Any) -> list:
    """The values of a column of a trace; plotly writes arrays of numbers in base 64."""
    if isinstance(column, dict):
        column = np.frombuffer(b64decode(column["bdata"]), dtype=column["dtype"]).tolist()
    return list(column or [])


def points(trace: dict) -> str:
    """Return the points of a trace as text, place before value.

    A horizontal bar has its place on the y axis.

    >>> points({"type": "bar", "orientation": "h", "x": [0.25, 0.5], "y": ["mix", "oracle"]})
    'mix: 0.25, oracle: 0.5'
    """
    x = values(trace.get("x"))
    y = values(trace.get("y"))
    if trace.get("orientation") == "h" or (y and isinstance(y[0], str)):
        x, y = y, x
    pairs = zip(x or range(len(y)), y, strict=False)
    pairs = [pair for pair in pairs if None not in pair and not _is_nan(pair[1])]
    if all(place == "" for place, _ in pairs):
        return f"{len(pairs)} in a row" if pairs else ""
    shown = np.linspace(0, len(pairs) - 1, min(_MOST, len(pairs))).round().astype(int)
    texts = [f"{_text(pairs[at][0])}: {_text(pairs[at][1])}" for at in shown]
    more = f" ({len(shown)} of {len(pairs)} points)" if len(pairs) > _MOST else ""
    return ", ".join(texts) + more


def _is_nan(value: Any) -> bool:
    return value != value


def _text(value: str | float) -> str:
    """A name, or a number to three digits."""
    return plain(value) if isinstance(value, str) else f"{value:.3g}"


def panel(layout: dict, trace: dict) -> str:
    """Return the titles of a trace's panel and of its axes."""
    x_axis = _axis(layout, trace, "x")
    y_axis = _axis(layout, trace, "y")
    left, right = x_axis.get("domain", (0, 1))
    top = y_axis.get("domain", (0, 1))[1]
    # Plotly has no titles of panels; they are notes above the middle of the upper edge.
    over = []
    for note in layout.get("annotations", []):
        if note.get("xref") != "paper":
            continue
        if abs(note["x"] - (left + right) / 2) + abs(note.get("y", 0) - top) < 0.01:
            over.append(plain(note.get("text", "")))
    titles = [plain((axis.get("title") or {}).get("text") or "") for axis in (x_axis, y_axis)]
    return ". ".join([*over, ": ".join(filter(None, titles))]).strip(". ")


def _axis(layout: dict, trace: dict, letter: str) -> dict:
    """The axis of a trace: a trace says "x2" where the layout says "xaxis2"."""
    number = trace.get(f"{letter}axis", letter)[1:]
    return layout.get(f"{letter}axis{number}", {})


def numbers(figure: dict) -> str:
    """Return the numbers of a figure as a list: a trace's name and points, by panel."""
    lines_by_panel: dict[str, list[str]] = {}
    for trace in figure["data"]:
        # A shade around a line has nothing to hover over, and says nothing here either.
        if trace.get("hoverinfo") == "skip" or trace.get("visible", True) is not True:
            continue
        listed = points(trace)
        if listed:
            name = f"<b>{escape(plain(trace['name']))}</b> " if trace.get("name") else ""
            lines = lines_by_panel.setdefault(panel(figure["layout"], trace), [])
            lines.append(f"<dd>{name}{escape(listed)}</dd>")
    return "".join(
        f"<dl><dt>{escape(title)}</dt>{''.join(lines)}</dl>"
        for title, lines in lines_by_panel.items()
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
