"""Chapters for JupyterLab: what only a page can show, as Markdown and HTML.

JupyterLab takes formulas out of a text before it reads the Markdown, so a box is a ``<div>`` with
blank lines inside, never a quotation, whose ``>`` would end up in the formulas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from contents import Page, spelled
from directives import Block, blocks
from editions.text import Work, cited, references, spelled_out

_ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<([^`>]*)>)?`")
_TARGET = re.compile(r"^\([\w-]+\)=\n", re.M)
_NUMBERED = re.compile(r"\$\$([^$]*?)\$\$ *\(([\w-]+)\)")
_PAGE = re.compile(r"\[([^\]]+)\]\((?:\.\./book/[\w-]+\.md|#[^)]*)\)")
_LABEL = re.compile(r"\[([^\[\]]+)\]\((\w+(?:-\w+)+)\)")
# A mention of a chapter that is not part of a link's words already.
_MENTION = re.compile(r"\{ch\}`([\w-]+)`(?![^\[\]\n]*\]\()")
_VIEW = re.compile(r'<a href="#[^"]*">(.*?)</a>', re.S)
# Directives whose content only a built page has.
_ONLY_BUILT = ("glue", "raw", "bibliography")
#: Tags of cells whose code the page does not show.
HIDDEN = {"hide-input", "remove-input", "remove-cell", "hide-cell"}
_AT_A_SOLUTION = re.compile(r"^(?=:{3,}\{solution-(?:start|end)\})", re.M)
# A heading of a level below the exercises': folded, it hides all up to the next of theirs.
_SOLUTION = "##### Solution"
_FOLDED = {"jp-MarkdownHeadingCollapsed": True}
# An option of a quiz or a prompt: its mark, its text, and the explanation in italics that ends it.
_OPTION = re.compile(
    r"^(?P<dash> *- )\[(?P<mark>[ xX])\] "
    r"(?P<text>(?:.|\n(?! *- \[| *\d+\. |\n))*?)"
    r" *\*(?P<why>[^*]+)\*[ ]*$",
    re.M,
)
_MARK = re.compile(r"^ *- \[[ xX]\] ", re.M)
# A machine that has the package, or whose reader made one, is left alone.
_INSTALL = """try:
    import adabook
except ImportError:  # on Colab
    %pip install --quiet "adalib-book[learn,math,client,pages] @ {address}" anywidget cloudpickle"""
# As on the page: a statement has a rule at its side, what asks the reader stands on a tint, and all
# others are asides.
_BOX = "padding: 0.2em 1em; margin: 1em 0; border-left: 3px solid "
_STATEMENT = f"{_BOX}#b8560f"
_ASIDE = f"{_BOX}#a8a8a8"
_ASKING = f"{_ASIDE}; background-color: rgba(130, 130, 130, 0.1)"


@dataclass(frozen=True)
class Book:
    """What a chapter needs to know of the rest of the book to be read alone."""

    values: Mapping[str, str]  # the glued numbers, as text
    works: Mapping[str, Work]  # what may be cited, by key
    titles: Mapping[str, str] = field(default_factory=dict)  # of theorems and exercises, by label
    # Their numbers by label: "1.2" is chapter 1's second.
    equations: Mapping[str, str] = field(default_factory=dict)
    # Of theorems and exercises by label, as on the page.
    numbers: Mapping[str, str] = field(default_factory=dict)
    install: str = ""  # how to install the package, written at the head of every chapter
    chapters: Mapping[str, Page] = field(default_factory=dict)  # by the keys that prose uses
    wheel_address: str = ""  # from where a first cell installs the package, if it is published
    # Where labels stand: a notebook and its heading, "03_budgets.ipynb#Sort-the-slopes".
    places: Mapping[str, str] = field(default_factory=dict)
    # The numbered captions of figures, games and tables as markup, by page and by id of their cell.
    captions: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)


def live_text(text: str, book: Book) -> str:
    """A Markdown cell of the book as JupyterLab can show it."""
    parts = [_box(part, book) if isinstance(part, Block) else part for part in blocks(text)]
    text = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    text = _mentions_linked(text, book.chapters)
    text = cited(spelled_out(_TARGET.sub("", text), book.values), book.works)
    text = _NUMBERED.sub(
        lambda match: f"$${match[1].rstrip()} \\tag{{{book.equations[match[2]]}}}\n$$", text
    )
    text = re.sub(r"\{eq\}`([\w-]+)`", lambda match: f"({book.equations[match[1]]})", text)
    text = _ROLE.sub(
        lambda match: match[1] if match[2] else book.titles.get(match[1], match[1]), text
    )
    text = _LABEL.sub(lambda match: _placed(match[1], match[2], book.places), text)
    return _VIEW.sub(r"\1", _PAGE.sub(r"\1", text))


def _placed(words: str, label: str, places: Mapping[str, str]) -> str:
    """Lead a link to where its label stands; a label of a page that is no notebook leads nowhere.

    >>> _placed("slopes", "budgets-slopes", {"budgets-slopes": "03_budgets.ipynb#Sort-the-slopes"})
    '[slopes](03_budgets.ipynb#Sort-the-slopes)'
    """
    return f"[{words}]({places[label]})" if label in places else words


def _mentions_linked(text: str, chapters: Mapping[str, Page]) -> str:
    """Turn every mention of a chapter into its number, with a link to its notebook.

    >>> from contents import ROOT
    >>> stopping = Page("notebooks/09_stopping", "9", ROOT)
    >>> _mentions_linked("See chapter {ch}`stopping`.", {"stopping": stopping})
    'See chapter [9](09_stopping.ipynb).'
    """

    def link(match: re.Match) -> str:
        page = chapters.get(match[1])
        return f"[{match[0]}]({page.stem}.ipynb)" if page else match[0]

    return spelled(_MENTION.sub(link, text), chapters, "the text")


def _box(block: Block, book: Book) -> str:
    """A directive as a box that JupyterLab can show."""
    body = live_text(block.body, book) if block.body else ""
    kind = block.options.get("class", "")
    if "quiz" in kind or "prompt" in kind:
        body = _guessed_first(body)
    if block.name == "admonition" and "dropdown" in kind:
        return f"<details>\n<summary><b>{block.argument}</b></summary>\n\n{body}\n\n</details>"
    plain = {
        "prf:proof": f"*Proof.* {body} ∎",
        "table": f"{body}\n\n*{block.argument}*",
        "solution-start": f"{_SOLUTION}\n\n{body}",
        "solution-end": "",
        **dict.fromkeys(_ONLY_BUILT, ""),
    }
    if block.name in plain:
        return plain[block.name]
    title = block.argument
    if block.name != "admonition":
        named = (
            f"{block.name.removeprefix('prf:').capitalize()} "
            f"{book.numbers.get(block.options.get('label', ''), '')}"
        )
        named = named.rstrip()
        title = f"{named}: {title}" if title else named
    # The exercises stand in the Lab's table of contents.
    heading = f"#### {title}" if block.name == "exercise" else f"**{title}**"
    if block.name.startswith("prf:"):
        style = _STATEMENT
    else:
        asks = block.name == "exercise" or "quiz" in kind or "prompt" in kind
        style = _ASKING if asks else _ASIDE
    return f'<div style="{style}">\n\n{heading}\n\n{body}\n\n</div>'


def _guessed_first(asked: str) -> str:
    """Shut away which option is right, and why, until the reader opens one.

    A single option is a number to be guessed.

    >>> _guessed_first("- [ ] this *No.*\\n- [x] that *Yes.*").split("\\n")[1]
    '- that <details><summary>my guess</summary>Right. *Yes.*</details>'
    """
    is_number = len(_MARK.findall(asked)) == 1

    def shut(option: re.Match) -> str:
        if is_number:
            words = "Write your guess down, then open this"
            return (
                f"<details><summary>{words}</summary>{option['text']} *{option['why']}*</details>"
            )
        verdict = "Not quite." if option["mark"] == " " else "Right."
        summary = "<summary>my guess</summary>"
        why = f"<details>{summary}{verdict} *{option['why']}*</details>"
        return f"{option['dash']}{option['text']} {why}"

    hidden = _OPTION.sub(shut, asked)
    if _MARK.search(hidden):
        raise ValueError(f"every option ends with its explanation in italics: {asked[:60]!r}")
    return hidden


def live_notebook(
    notebook: NotebookNode, book: Book, captions: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> NotebookNode:
    """Return a chapter for JupyterLab: solutions and drawing code folded, figures captioned.

    ``captions`` has those of its page in ``book``.
    """
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cells += _live_texts(cell, book)
            continue
        cell = NotebookNode({**cell, "metadata": NotebookNode(cell.metadata)})
        if HIDDEN & set(cell.metadata.get("tags", [])):
            cell.metadata["jupyter"] = {"source_hidden": True}
        cells.append(cell)
        if shown := captions.get(cell.id):
            # Markdown leaves a block of HTML alone, but for its formulas.
            text = "<br>".join(shown).replace("$", "&#36;")
            caption = f"<div><small>{text}</small></div>"
            cells.append(new_markdown_cell(caption, id=f"{cell.id[:50]}-caption"))
    if book.install:
        head, *rest = cells[0].source.split("\n\n", 1)
        cells[0].source = "\n\n".join([head, f"<small>{book.install}</small>", *rest])
    if book.wheel_address:
        source = _INSTALL.format(address=book.wheel_address)
        cells.insert(1, new_code_cell(source, id="install"))
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    if listed := references(prose, book.works):
        cells.append(new_markdown_cell(f"## References\n\n{listed}", id="references"))
    return NotebookNode({**notebook, "cells": cells})


def _live_texts(cell: NotebookNode, book: Book) -> list[NotebookNode]:
    """A Markdown cell for JupyterLab, cut where a solution begins or ends, so that it can fold."""
    live: list[NotebookNode] = []
    for text in _AT_A_SOLUTION.split(cell.source):
        shown = live_text(text, book)
        if shown.strip():
            metadata = {**cell.metadata, **(_FOLDED if shown.startswith(_SOLUTION) else {})}
            part = f"{cell.id}-{len(live)}" if live else cell.id
            live.append(new_markdown_cell(shown, id=part, metadata=metadata))
    return live
