"""The look of the book's figures: the palette, and the plotly template called "adalib".

Figures are drawn on a transparent ground, because a page may be light or dark.
"""

from __future__ import annotations

import plotly.graph_objects as go
import plotly.io as pio

from adabook.colours import MEANINGS

# Okabe and Ito's palette, which people with any common colour blindness can tell apart, without
# its black and its yellow: each vanishes on one of our two backgrounds.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")

#: For series that have no colour of their own; pink is noise, everywhere.
SERIES = tuple(colour for colour in COLOURS if colour != MEANINGS["noise"])

#: The same in every figure: what is claimed in sample, and what is true.
CLAIMED = MEANINGS["claimed"]
TRUE = MEANINGS["oracle"]
#: One colour for a policy, wherever it appears.
POLICY = {
    "oracle": MEANINGS["oracle"],
    "priced": MEANINGS["price"],
    "curve": MEANINGS["policy"],
    "label": MEANINGS["label-policy"],
    "noise": MEANINGS["noise"],
    "mix": MEANINGS["mix"],
}

#: The name under which plotly knows the template.
TEMPLATE = "adalib"

# Greys that read on white and on black alike, for JupyterLab; on a page book/_static/figures.js
# sharpens them to fit.
_TEXT = "#717880"
_GRID = "rgba(128, 134, 142, 0.3)"
_TRANSPARENT = "rgba(0, 0, 0, 0)"
_COLOUR_SCALE = "Cividis"
_FAMILY = "Adalib Sans, system-ui, sans-serif"

# The axes make their own room (automargin), so narrow screens lose nothing to fixed margins.
_MARGIN = {"l": 8, "r": 12, "t": 24, "b": 8}
_AXIS = {
    "gridcolor": _GRID,
    "zerolinecolor": _GRID,
    "linecolor": _GRID,
    "automargin": True,
    "title": {"standoff": 10},
}

# A title hangs from the upper edge of the figure, above the legend.
_TITLE = {
    "font": {"size": 16},
    "x": 0,
    "xref": "paper",
    "y": 0.98,
    "yref": "container",
    "yanchor": "top",
    "automargin": True,
}

# Legends lie above the plot: they wrap on a phone, and a slider below keeps its place.
_LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}

pio.templates[TEMPLATE] = go.layout.Template(
    data={
        kind: [{"colorscale": _COLOUR_SCALE}]
        for kind in ("heatmap", "contour", "surface", "histogram2d")
    },
    layout={
        "colorway": SERIES,
        "colorscale": {
            "sequential": _COLOUR_SCALE,
            "sequentialminus": _COLOUR_SCALE,
            "diverging": "PuOr",
        },
        "font": {"family": _FAMILY, "size": 14, "color": _TEXT},
        "title": _TITLE,
        "paper_bgcolor": _TRANSPARENT,
        "plot_bgcolor": _TRANSPARENT,
        "height": 420,
        "margin": _MARGIN,
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "legend": _LEGEND,
        "hoverlabel": {"font": {"family": _FAMILY, "size": 13}, "align": "left"},
        "sliderdefaults": {
            "pad": {"t": 44, "b": 8},
            "bordercolor": _GRID,
            "bgcolor": _GRID,
            "tickcolor": _GRID,
        },
        "updatemenudefaults": {"bordercolor": _GRID, "bgcolor": _TRANSPARENT},
    },
)


def faint(colour: str, opacity: float) -> str:
    """A colour of the palette, seen through.

    >>> faint("#0072B2", 0.5)
    'rgba(0, 114, 178, 0.5)'
    """
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
