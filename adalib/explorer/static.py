"""The explorer on a page without a kernel: everything inlined, nothing fetched."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from adalib.colours import BUDGETS, MEANINGS, MODELS
from adalib.datasets.files import written
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.explorer.data import setting
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable

_FRONT = Path(__file__).parent / "front"
_MEANINGS = ("oracle", "price", "mix")  # the colours that the style sheet uses

_COMPUTING = ("numbers", "oracle", "path", "votes")
_OWN_FILE = ("files", "csv", "jsonlines", "models", "crossfit")
_DRAWING = (
    "dom",
    "scales",
    "drawing",
    "tiles",
    "staircase",
    "frontier",
    "split",
    "question",
    "pays",
)
_WHOLE = ("controls", "challenge", "stories", "own_file", "address", "explorer", "hosts")

#: Scripts of the front end, in the order in which they are joined. They are plain JavaScript, and
#: each sees what comes before it: both hosts, the module element of a static page and anywidget in
#: Jupyter, take one text without imports.
PARTS = (*_COMPUTING, *_OWN_FILE, *_DRAWING, *_WHOLE)


@cache
def script() -> str:
    """Return the whole front end, in the order of `PARTS`, after the colours of the figures."""
    scripts = [(_FRONT / f"{name}.js").read_text(encoding="utf-8") for name in PARTS]
    colours = [
        f"const BUDGET_COLOURS = {list(BUDGETS)};",
        f"const MODEL_COLOURS = {[list(ends) for ends in MODELS]};",
    ]
    return "\n".join([*colours, *scripts])


@cache
def style() -> str:
    """Return the style sheet, after the colours of the book by their meaning."""
    colours = " ".join(f"--ax-{meaning}: {MEANINGS[meaning]};" for meaning in _MEANINGS)
    rules = (_FRONT / "explorer.css").read_text(encoding="utf-8")
    return f".adalib-explorer {{ {colours} }}\n{rules}"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="adalib">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 1.2rem; max-width: 80rem; font-family: system-ui, sans-serif; line-height: 1.5;
  background: light-dark(#ffffff, #14181e); color: light-dark(#1b2733, #e6ebf0); color-scheme: light dark; }}
h1 {{ font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.3rem; }}
body > p {{ max-width: 46rem; margin: 0 0 1rem; }}
</style>
</head>
<body>
<h1>What is one more answer worth?</h1>
<p>Every question keeps the budget whose accuracy, less the price of its compute, is highest. Drag the price
and watch which questions let go of what.</p>
{body}
</body>
</html>
"""  # noqa: E501


def static_html(settings: Sequence[dict[str, Any]]) -> str:
    """Return an explorer of settings, the first one shown, as a fragment of HTML.

    A page may hold several. ``IPython.display.HTML(static_html([setting(table), ...]))`` shows it.
    """
    settings = list(settings)
    names = [one["name"] for one in settings]
    if not settings or len(set(names)) < len(names):
        raise ValueError(f"give at least one setting, each with a name of its own, got {names}")
    ident = f"adalib-explorer-{secrets.token_hex(4)}"
    return (
        f'<style>{style()}</style>\n<div id="{ident}" class="adalib-explorer"></div>\n'
        f"<noscript>{_still(settings[0])}</noscript>\n"
        f'<script type="application/json" id="{ident}-data">{_inline_json(settings)}</script>\n'
        f'<script type="module">\n{script()}\nmountStatic("{ident}");\n</script>'
    )


def page(
    source: UtilityTable | Responses | Menu | Sequence[dict[str, Any]], out: str | os.PathLike[str]
) -> Path:
    """Write one HTML file that explores a source or settings; it opens without a network."""
    settings = list(source) if isinstance(source, Sequence) else [setting(source)]
    title = f"Lambda explorer: {settings[0]['title']}"
    text = _PAGE.format(title=escape(title), body=static_html(settings))
    with written(out) as file:
        file.write(text.encode("utf-8", "replace"))
    return Path(out)


def _inline_json(value: object) -> str:
    """Return JSON that is safe in a script element: no tag, comment or line separator."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _still(one: dict[str, Any]) -> str:
    """Return a static figure for browsers without scripts: the staircase and the frontier."""
    k = len(one["budgets"])
    acc, cost = (np.asarray(one[name], dtype=float).reshape(-1, k) for name in ("acc", "cost"))
    whole = frontier(acc, cost[0] if len(cost) == 1 else cost)
    order = np.argsort(whole.lam, kind="stable")
    order = order[np.isfinite(whole.lam[order])]
    lam, spend, accuracy = (
        np.asarray(a, dtype=float)[order] for a in (whole.lam, whole.cost, whole.accuracy)
    )
    return (
        '<figure style="margin:1rem 0"><svg viewBox="0 0 720 300" width="100%" '
        'role="img" style="max-width:720px" '
        'aria-label="Left: average cost falls in steps as the price rises. '
        'Right: accuracy against average cost." '
        'font-family="system-ui, sans-serif" font-size="12" fill="currentColor" stroke="none">'
        + _plot(
            10,
            np.sqrt(lam),
            spend,
            "price (square-root scale)",
            f"average cost ({one['unit']})",
            steps=True,
        )
        + _plot(370, spend, accuracy, f"average cost ({one['unit']})", "accuracy", steps=False)
        + f"</svg><figcaption>{escape(one['title'])}: what the oracle spends at each price, "
        "and the accuracy that it reaches with it. "
        "With scripts on, this figure becomes the lambda explorer.</figcaption></figure>"
    )


def _plot(
    left: int, x: np.ndarray, y: np.ndarray, x_label: str, y_label: str, *, steps: bool
) -> str:
    """One small line plot, 340 wide and 300 high, with the ends of both axes written out."""
    x0 = float(x.min())
    x1 = float(x.max())
    y0 = float(y.min())
    y1 = float(y.max())
    across = left + 50 + 280 * (x - x0) / (x1 - x0 or 1)
    down = 250 - 210 * (y - y0) / (y1 - y0 or 1)
    ends = (x0**2, x1**2) if steps else (x0, x1)
    if steps:
        across = np.repeat(across, 2)[1:]
        down = np.repeat(down, 2)[:-1]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    return (
        f'<text x="{left}" y="20">{escape(y_label)}</text>'
        f'<text x="{left + 44}" y="254" text-anchor="end">{y0:.3g}</text>'
        f'<text x="{left + 44}" y="44" text-anchor="end">{y1:.3g}</text>'
        f'<text x="{left + 50}" y="272">{ends[0]:.3g}</text>'
        f'<text x="{left + 330}" y="272" text-anchor="end">{ends[1]:.3g}</text>'
        f'<text x="{left + 190}" y="290" text-anchor="middle">{escape(x_label)}</text>'
        f'<path d="M{left + 50} 30V256H{left + 335}" fill="none" stroke="currentColor" '
        'stroke-opacity=".4"/>'
        f'<polyline points="{points}" fill="none" stroke="#2b7bba" stroke-width="2"/>'
    )
