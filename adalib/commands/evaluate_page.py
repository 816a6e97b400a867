"""The page that `evaluate --out` writes: accuracy against cost, in one file without a network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from adalib.datasets.files import written

if TYPE_CHECKING:
    import pandas as pd

# Policies that are drawn only when a reader clicks on their names.
_CONTROLS = ("oracle_in_sample", "fixed", "random", "length", "noise")

_PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';
 img-src data: blob:">
<style>
body {{ margin: auto; max-width: 62rem; font: 1rem/1.5 system-ui, sans-serif }}
pre {{ overflow: auto }}
</style>
<h1>{title}</h1><p>{verdict}</p>{figure}{tables}</html>
"""


def write_page(
    path: str, title: str, verdict: str, rows: pd.DataFrame, tables: Sequence[str]
) -> None:
    """Write the verdict, a figure of the rows and the tables, which are plain text."""
    text = _PAGE.format(
        title=escape(title),
        verdict=escape(verdict),
        figure=_figure(rows),
        tables="".join(f"<pre>{escape(table)}</pre>" for table in tables),
    )
    with written(path) as page:
        page.write(text.encode("utf-8", "replace"))


def _figure(rows: pd.DataFrame) -> str:
    """Draw accuracy against cost, a line per policy, as HTML that holds plotly.js."""
    import plotly.express as px

    figure = px.line(
        rows,
        x="cost",
        y="accuracy",
        color="policy",
        markers=True,
        height=560,
        color_discrete_sequence=px.colors.qualitative.Dark24,
        color_discrete_map={"oracle": "black", "mix": "grey"},
        hover_data=["target", "low", "high"],
        template="plotly_white",
    )
    figure.for_each_trace(
        lambda line: line.update(visible="legendonly" if line.name in _CONTROLS else True)
    )
    figure.update_layout(xaxis_title="average cost per question", yaxis_tickformat=".0%")
    return figure.to_html(full_html=False, include_plotlyjs=True, config={"displaylogo": False})
