"""A game in JupyterLab: the script that plays it on a page, as a widget."""

from __future__ import annotations

from functools import cache
from typing import Any

import anywidget
import traitlets

from adabook.colours import MEANINGS
from adabook.games.scripts import FRONT, joined


@cache
def style() -> str:
    """The style sheet of all games, with the book's colours; the Lab keeps one for all widgets."""
    colours = "".join(f" --{name}: {colour};" for name, colour in MEANINGS.items())
    sheets = ((FRONT / name).read_text(encoding="utf-8") for name in ("games.css", "lab.css"))
    return "\n".join([f".adalib-lab {{{colours} }}", *sheets])


class GameWidget(anywidget.AnyWidget):
    """One game: the name of its script, and its data."""

    _esm: Any = traitlets.Unicode().tag(sync=True)
    _css: Any = traitlets.Unicode().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)
    data: Any = traitlets.Dict().tag(sync=True)


def widget(name: str, data: dict[str, Any]) -> GameWidget:
    """Return a game as a widget.

    >>> widget("guess", {"truth": [0.2, 0.6]}).data
    {'truth': [0.2, 0.6]}
    """
    script = joined("parts", name, "lab")
    return GameWidget(_esm=script, _css=style(), name=name, data=data)
