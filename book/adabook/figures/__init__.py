"""Figures, tables and cards on a page of the book, which needs no network and may turn dark.

A chapter imports what it needs from here: :func:`show` places a ``plotly`` figure on the page,
:func:`drawing` one that was drawn by hand, :func:`table` a table, :func:`cards` and :func:`finding`
what we found. In JupyterLab its own renderer draws the figures.

``style`` has the colours and the template, ``page``, ``tables`` and ``findings`` what is shown.
``shapes`` holds what figures are made of. Of the chapters' own figures, ``votes``, ``prices`` and
``duality`` draw those on prices, ``evidence`` and ``choices`` those on results.
"""

from __future__ import annotations

from adabook.figures.findings import cards, finding
from adabook.figures.page import HTML, drawing, plain, show
from adabook.figures.style import COLOURS, faint
from adabook.figures.tables import folded, linked_table, table
from adalib.evaluate.intervals import in_points

__all__ = [
    "COLOURS",
    "HTML",
    "cards",
    "drawing",
    "faint",
    "finding",
    "folded",
    "in_points",
    "linked_table",
    "plain",
    "show",
    "table",
]
