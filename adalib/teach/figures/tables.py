"""Tables, cards and findings: what a page shows in words and numbers, with links into the chapters."""

from __future__ import annotations

import html
from collections.abc import Sequence

import pandas as pd

from adalib.evaluate.intervals import in_points
from adalib.teach.figures.style import HTML

__all__ = ["cards", "finding", "folded", "linked_table", "table"]


def table(frame: pd.DataFrame, digits: int = 3, caption: str = "", points: Sequence[str] = ()) -> HTML:
    """Put a table on the page: whole texts, numbers to so many digits, no row numbers; make it the last expression.

    Texts are shown as text, whatever they hold, and missing values left blank. The columns named in ``points`` hold
    gains of accuracy. Explained in the teaching page, "How to add a chapter".
    """
    frame = frame.assign(**{name: frame[name].map(in_points, na_action="ignore") for name in points})
    with pd.option_context("display.max_colwidth", None):
        text = frame.to_html(
            index=False, na_rep="", float_format=lambda v: number(v, digits), border=0, classes="adalib-table"
        )
    return HTML(f'<div class="adalib-scroll">{captioned(text, caption)}</div>')


def captioned(text: str, caption: str) -> str:
    """The markup of a table, with its caption."""
    return text.replace("<thead>", f"<caption>{html.escape(caption)}</caption><thead>", 1) if caption else text


def number(value: float, digits: int = 3) -> str:
    """A number of a table: one digit where it is large, and no minus before nothing.

    >>> number(0.5178), number(22.853), number(-0.0001)
    ('0.518', '22.9', '0.000')
    """
    text = f"{value:.{1 if abs(value) >= 20 else digits}f}"
    return text if float(text) else text.lstrip("-")


def linked_table(frame: pd.DataFrame, column: str, labels: Sequence[str], bold: str = "", caption: str = "") -> HTML:
    """A table, one of whose columns links to sections by their labels; all its texts are shown as text.

    The build looks up where a label is (``book/_ext/labels.py``) and stops if there is none. What follows the first
    line of a text is set smaller, below it; in the column ``bold`` the first line stands out.
    """
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in frame.columns)
    rows = []
    for values, label in zip(frame.itertuples(index=False), labels, strict=True):
        cells = []
        for name, value in zip(frame.columns, values, strict=True):
            first, _, rest = html.escape(str(value)).partition("\n")
            first = f"<strong>{first}</strong>" if name == bold else first
            text = f"{first}<br><small>{rest}</small>" if rest else first
            if name == column:
                text = _see(label, text)
            cells.append(f'<td data-label="{html.escape(str(name), quote=True)}">{text}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    parts = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return HTML(captioned(f'<div class="adalib-scroll"><table class="adalib-table">{parts}</table></div>', caption))


def cards(claims: pd.DataFrame) -> HTML:
    """Claims as cards: shut, a verdict and a name; open, the paper's words, why, and the number that decides.

    ``claims`` has the columns of ``adalib.paper.register.claim_table``. The build looks up the labels in ``see``, as
    for `linked_table`; ``book/_static/cards.js`` adds buttons that show one verdict alone.
    """
    made = []
    for claim in claims.itertuples():
        verdict, name, says, place, reason, number, chapter = (
            html.escape(str(part), quote=True)
            for part in (claim.verdict, claim.name, claim.says, claim.place, claim.reason, claim.number, claim.chapter)
        )
        star = " *" if claim.inferred else ""
        made.append(
            f'<details class="adalib-card" data-verdict="{verdict}"><summary><span class="card-verdict">{verdict}{star}'
            f"</span> {name}</summary><p>“{says}” <small>{place}</small></p><p>{reason}</p>"
            f'<p class="card-number">{number}</p><p>{_see(claim.see, f"The evidence: {chapter}")}</p></details>'
        )
    return HTML(f'<div class="adalib-cards">{"".join(made)}<script type="application/json">{{}}</script></div>')


def finding(number: str, words: str, label: str, link: str) -> HTML:
    """A result that a reader will quote, for the welcome page: its number large, its words, and where it is shown.

    ``label`` is that of the section that shows it, and ``link`` the words of the link to it.

    >>> finding("+3.1 points", "of accuracy.", "ch07-real", "Chapter 7").html.count("adalib-see")
    1
    """
    texts = f"<strong>{html.escape(number)}</strong> <span>{html.escape(words)}</span>"
    return HTML(f'<p class="adalib-finding">{texts} {_see(label, html.escape(link))}</p>')


def _see(label: str, text: str) -> str:
    """A link to a label of the book (``book/_ext/labels.py``)."""
    return f'<a class="adalib-see" href="#{html.escape(label, quote=True)}" style="white-space: nowrap">{text}</a>'


def folded(parts: Sequence[tuple[str, str, pd.DataFrame]], digits: int = 3) -> HTML:
    """Tables that open on a click, each under its title, with a line of text as its caption."""
    texts = []
    for title, words, frame in parts:
        head = f"<summary>{html.escape(title)}</summary>"
        texts.append(f"<details>{head}{table(frame, digits, words or title).html}</details>")
    return HTML("".join(texts))
