"""Feed it noise: what a router shows in-sample and held out, with the text and with fresh random numbers in its place.

``book/_static/noise.js`` redraws the two bars; every draw was computed when the book was built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["feed"]

Gains = tuple[float, float, float, float]


def feed(text: Gains, draws: Sequence[Gains], names: Mapping[str, str]) -> HTML:
    """Put the two bars and their buttons on the page: make it the last expression of a cell.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    text : (in-sample, held out, low, high)
        Gains with the text's features, as differences of accuracies; low and high end the held-out interval.
    draws : sequence of the same
        Gains with noise in place of the features, one a draw.
    names : mapping of str to str
        What the bars are called: ``"inside"`` and ``"held out"``.

    Examples
    --------
    >>> "held out" in feed((0.06, 0.02, 0.01, 0.03), [(0.06, 0.0, -0.01, 0.01)], {"inside": "a", "held out": "b"}).html
    True
    """
    rows = [[round(100 * float(value), 2) for value in gains] for gains in (text, *draws)]
    told = f"With the text {rows[0][0]:+.1f} points inside and {rows[0][1]:+.1f} held out; with noise {rows[1][0]:+.1f}"
    return fragment("noise", {"rows": rows, "names": dict(names)}, f"{told} and {rows[1][1]:+.1f}.")
