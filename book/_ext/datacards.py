"""Put the card of every bundled setting where a page has the line ``% every data card``.

The cards are the files of ``data/cards/``, so that a new setting needs its answers and its card,
and no list of names.
"""

from __future__ import annotations

from pathlib import Path

MARK = "% every data card"


def with_cards(text: str, names: list[str]) -> str:
    """Replace the mark by a section per card, which includes the card's file.

    >>> print(with_cards("# Cards\\n\\n% every data card", ["word-hot"]))
    # Cards
    <BLANKLINE>
    ## word-hot
    <BLANKLINE>
    ```{include} ../data/cards/word-hot.md
    ```
    """
    sections = [f"## {name}\n\n```{{include}} ../data/cards/{name}.md\n```" for name in names]
    return text.replace(MARK, "\n\n".join(sections))


def add_cards(app, docname, source) -> None:
    """Fill the page in as it is read, and have it read again when a card comes or goes."""
    if MARK in source[0]:
        folder = Path(app.srcdir) / "data" / "cards"
        app.env.note_dependency(str(folder))  # its time changes with its list of files
        source[0] = with_cards(source[0], sorted(path.stem for path in folder.glob("*.md")))


def setup(app) -> dict:
    app.connect("source-read", add_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
