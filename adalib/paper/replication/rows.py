"""The replication table: one row for everything that the paper shows, in its order, and our own experiments last."""

from __future__ import annotations

import pandas as pd

from adalib.paper.replication import ablation_rows, figure_rows, own_rows, setup_rows, table_rows, theory_rows
from adalib.paper.replication.cells import Row

__all__ = ["ROWS", "replication_table", "row"]

#: Every row, in the order of the paper.
ROWS: tuple[Row, ...] = (
    *theory_rows.ROWS,
    *setup_rows.ROWS,
    *table_rows.MAIN,
    figure_rows.PARETO,
    table_rows.ABLATION,
    figure_rows.HEATMAP,
    *figure_rows.APPENDIX,
    *table_rows.LEVELS,
    *figure_rows.SHAPES,
    table_rows.SWEEP,
    *figure_rows.SEARCH,
    *ablation_rows.ROWS,
    *own_rows.ROWS,
)


def row(id: str) -> Row:
    """Return the row of an item of the paper, by its id."""
    return next(row for row in ROWS if row.id == id)


def replication_table() -> pd.DataFrame:
    """Measure every row and put them in one table.

    Explained in the replication page.

    Returns
    -------
    DataFrame
        A row an item: ``id``, ``what``, ``compared``, ``paper``, ``ours``, ``difference`` (the largest), ``cells``,
        ``outside`` (how many do not agree), ``status``, ``chapter`` (where it is explained), ``href``, ``note``.
    """
    return pd.DataFrame(
        [
            {
                "id": row.id,
                "what": row.what,
                "compared": row.compared,
                "paper": row.found.paper(),
                "ours": row.found.ours(),
                "difference": row.found.difference(),
                "cells": len(row.found.cells),
                "outside": len(row.found.outside),
                "status": row.status,
                "chapter": row.link.name,
                "href": row.link.href,
                "note": row.found.note,
            }
            for row in ROWS
        ]
    )
