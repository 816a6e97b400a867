"""What every game puts on a page: a place with its data, inert until the book's script of that name plays it."""

from __future__ import annotations

import json

from adalib.teach.figures.style import HTML

__all__ = ["fragment"]


def fragment(name: str, data: dict, without: str = "This is played with JavaScript.") -> HTML:
    """A place of class ``adalib-NAME`` with its data, for the script that looks for that class.

    Parameters
    ----------
    name : str
        Of the game; ``book/_ext/offline.py`` knows its script.
    data : dict
        Plain lists, texts and numbers.
    without : str
        What a reader sees whose browser runs no scripts.

    Examples
    --------
    >>> "u003c" in fragment("guess", {"title": "</script>"}).html
    True
    """
    # "<" is escaped so that no text can close the element.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return HTML(f'<div class="adalib-{name}"><p>{without}</p><script type="application/json">{text}</script></div>')
