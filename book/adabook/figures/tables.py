"""Tables on a page: whole texts, rounded numbers, captions, and links into the chapters."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import pandas as pd

from adabook.figures.page import HTML, bold_finding
from adalib.evaluate.intervals import in_points

_LARGE = 20  # a number from here on has one digit after the point


def table(
    frame: pd.DataFrame, digits: int = 3, caption: str = "", points: Sequence[str] = ()
) -> HTML:
    """Put a table on the page, with whole texts, rounded numbers and no row numbers.

    Make it the last expression of a cell.

    Texts are shown as text, whatever they hold; a cell that is `HTML` is markup, and missing values
    are left blank. The columns named in ``points`` hold gains of accuracy. Explained in
    CONTRIBUTING.md.
    """
    gains = {name: frame[name].map(in_points, na_action="ignore") for name in points}
    shown = frame.assign(**gains).rename(columns=_escaped)
    for name in shown:
        if shown[name].dtype.kind not in "fiub":
            shown[name] = shown[name].map(_escaped)
    with pd.option_context("display.max_colwidth", None):
        markup = shown.to_html(
            index=False,
            escape=False,
            na_rep="",
            float_format=lambda value: _rounded(value, digits),
            border=0,
            classes="adalib-table",
        )
    return HTML(f'<div class="adalib-scroll">{_captioned(markup, caption)}</div>')


def _escaped(value: Any) -> Any:
    """A text as markup that shows it; a number as it is."""
    if isinstance(value, HTML):
        return value.html
    return html.escape(value, quote=False) if isinstance(value, str) else value


def _captioned(markup: str, caption: str) -> str:
    """The markup of a table, with its caption if there is one."""
    if not caption:
        return markup
    return markup.replace("<thead>", f"<caption>{bold_finding(caption)}</caption><thead>", 1)


def _rounded(value: float, digits: int) -> str:
    """A number of a table: one digit where it is large, and no minus before nothing.

    >>> _rounded(0.5178, 3), _rounded(22.853, 3), _rounded(-0.0001, 3)
    ('0.518', '22.9', '0.000')
    """
    shown_digits = 1 if abs(value) >= _LARGE else digits
    text = f"{value:.{shown_digits}f}"
    return text if float(text) else text.lstrip("-")
