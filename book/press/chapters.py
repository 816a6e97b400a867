"""Number the chapters: in their titles, in the sidebar, and in every mention, which leads there.

Numbers come from the order of ``_toc.yml`` (`contents`), so the titles in the notebooks stay bare,
and prose names a chapter by its key, ``{ch}`stopping` ``.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes

from contents import keys, pages, spelled
from press import texts

_ONE = r"(?:\d+|[A-Z]\b)"
_WORD = r"(?<!paper['’]s )\b(?:[Cc]hapters?|[Aa]ppendix|[Aa]ppendices)\s+"
_MENTION = re.compile(rf"{_WORD}{_ONE}(?:(?:,\s+|\s+and\s+|\s+to\s+){_ONE})*\b")
_NUMBER = re.compile(rf"(?:{_WORD})?\b({_ONE})\b")
_NO_MENTIONS = (nodes.reference, nodes.literal, nodes.title, nodes.literal_block)


def read_contents(app) -> None:
    """Read ``_toc.yml`` once, before anything asks for a number."""
    root = Path(app.srcdir)
    app.numbers = {page.name: page.number for page in pages(root)}
    app.chapters_by_key = keys(root)


def renumbered(app, env, added, changed, removed) -> list[str]:
    """After a change of ``_toc.yml`` that moves a number, have Sphinx read every page again."""
    before = getattr(env, "adalib_numbers", None)
    env.adalib_numbers = app.numbers
    return [] if before in (None, app.numbers) else sorted(env.found_docs - added)


def spell_mentions(app, docname, source) -> None:
    """Put numbers where the source of a page names chapters by their keys."""
    source[0] = spelled(source[0], app.chapters_by_key, docname)


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Cut a text into parts that mention a chapter, with its number, and parts that do not.

    Examples
    --------
    >>> pieces("See chapters 2 and 3.")
    [('See ', None), ('chapters 2', '2'), (' and ', None), ('3', '3'), ('.', None)]
    """
    found = []
    at = 0
    for mention in _MENTION.finditer(text):
        for part in _NUMBER.finditer(mention[0]):
            start = mention.start() + part.start()
            end = mention.start() + part.end()
            found += [(text[at:start], None), (text[start:end], part[1])]
            at = end
    return [(part, chapter) for part, chapter in [*found, (text[at:], None)] if part]


def number_title(app, doctree) -> None:
    """Put the number before the title, ahead of whatever collects titles."""
    number = app.numbers.get(app.env.docname, "")
    title = next(iter(doctree.findall(nodes.title)), None)
    if number and title is not None:
        title.insert(0, nodes.Text(f"{number}. " if number.isdigit() else f"Appendix {number}. "))


def link_mentions(app, doctree, docname) -> None:
    """Turn every mention of another chapter in running text into a link."""
    page_by_number = {
        number: page for page, number in app.numbers.items() if page in app.env.found_docs
    }
    for text in texts(doctree, lambda node: isinstance(node, _NO_MENTIONS)):
        if not _MENTION.search(text):
            continue
        parts = []
        for part, chapter in pieces(str(text)):
            page = page_by_number.get(chapter, docname)
            if page != docname:
                uri = app.builder.get_relative_uri(docname, page)
                parts.append(nodes.reference(part, part, refuri=uri, internal=True))
            else:
                parts.append(nodes.Text(part))
        text.parent.replace(text, parts)


def setup(app) -> dict:
    app.connect("builder-inited", read_contents)
    app.connect("env-get-outdated", renumbered)
    app.connect("source-read", spell_mentions)
    app.connect("doctree-read", number_title, priority=100)
    app.connect("doctree-resolved", link_mentions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
