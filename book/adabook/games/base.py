"""A game: its data, its caption, and its numbers for a browser without scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from adabook.figures.page import HTML
from adalib.datasets.responses import Responses

BUDGETS = (1, 2, 4, 8, 16)


class Game(HTML):
    """A place of class ``adalib-NAME`` with its data and caption; in JupyterLab, a widget.

    For a browser that runs no scripts it also has its numbers in words.

    >>> "u003c" in Game("guess", {"title": "</script>"}, "Guess.", "It rises.").html
    True
    """

    def __init__(self, name: str, data: dict[str, Any], caption: str, without: str) -> None:
        self.name = name
        self.data = data
        self.without = without
        # "<" is escaped so that no text can close the element.
        text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        place = f'<p>{escape(without)}</p><script type="application/json">{text}</script>'
        figcaption = f'<figcaption class="adalib-told">{escape(caption)}</figcaption>'
        super().__init__(
            '<figure class="adalib-game"><div '
            f'class="adalib-{name}">{place}</div>{figcaption}</figure>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": self.html, "text/plain": self.without}
        try:
            from adabook.games.widget import widget
        except ModuleNotFoundError:  # a cell that runs in a page has no Jupyter
            return bundle
        view = widget(self.name, self.data).get_view_spec()
        return {"application/vnd.jupyter.widget-view+json": view, **bundle}


def listed(budgets: Sequence[float], curve: Sequence[float]) -> str:
    """A curve in words: 0.25 with 1, 0.50 with 4."""
    return ", ".join(f"{value:.2f} with {b:g}" for b, value in zip(budgets, curve, strict=True))


def texts_by_class(responses: Responses, row: int) -> dict[int, str]:
    """One way of writing for each class of answers, the first, so that equal answers look equal."""
    pairs = zip(responses.classes[row][::-1].tolist(), responses.answers[row][::-1], strict=True)
    return {number: text for number, text in pairs if number >= 0}


def rounded_mean(values: np.ndarray) -> Any:
    """The average over questions, to four digits."""
    return values.mean(axis=0).round(4).tolist()
