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
    """Fill the page in as it is read, and note which cards it has."""
    if MARK in source[0]:
        names = card_names(app)
        app.env.metadata[docname]["cards"] = names
        source[0] = with_cards(source[0], names)


def card_names(app) -> list[str]:
    """The names of the cards in the data's folder, in order."""
    return sorted(path.stem for path in (Path(app.srcdir) / "data" / "cards").glob("*.md"))


def outdated(app, env, added, changed, removed) -> list[str]:
    """Have the page read again when a card has come or gone."""
    names = card_names(app)
    return [page for page, noted in env.metadata.items() if noted.get("cards", names) != names]


def setup(app) -> dict:
    app.connect("source-read", add_cards)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
