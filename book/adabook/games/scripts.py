"""The scripts that play the games, joined for a page and for JupyterLab.

A game's script, ``front/NAME.js``, has one function, ``render({ model, el })``. A page calls it
with the data that lies beside the place, and JupyterLab calls it as a widget.
"""

from __future__ import annotations

from pathlib import Path

FRONT = Path(__file__).parent / "front"
_SHARED = ("parts", "page", "lab")
#: The names of all scripts that fill a place, and so of the places.
SCRIPTS = tuple(sorted(file.stem for file in FRONT.glob("*.js") if file.stem not in _SHARED))


def joined(*names: str) -> str:
    """The scripts of these names as one text: each sees what comes before it."""
    return "\n".join((FRONT / f"{name}.js").read_text(encoding="utf-8") for name in names)


def page_script(name: str) -> str:
    """A script that plays a game wherever a page has a place for it.

    It is a classic script, because a page that is opened from a disk loads no modules.
    """
    whole = joined("parts", "page", name)
    return f'(function () {{\n"use strict";\n\n{whole}\neverywhere("{name}", render);\n}})();\n'
