"""Chapters have numbers and appendices letters: in their titles, in the sidebar, and every mention leads there.

The number of chapter 5, or the letter of appendix B, is the one in its file name. The titles in the notebooks stay
bare, so that a chapter can move; a page that moved leaves a signpost at its old address.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes

# Where pages stood before the book was put in its present order.
MOVED = {
    "09_ablations": "08_patterns",
    "10_stopping": "09_stopping",
    "11_deploy": "10_deploy",
    "13_minds": "11_minds",
    "replication": "b_replication",
    "calibration": "c_simulated",
    "appendix_markets": "d_markets",
}
_SIGNPOST = """<!doctype html><html lang="en"><meta charset="utf-8"><title>This page has moved</title>
<link rel="canonical" href="{new}.html"><meta http-equiv="refresh" content="0; url={new}.html">
<script>location.replace("{new}.html" + location.hash)</script>
<p>This page is now <a href="{new}.html">here</a>.</p></html>
"""
_FILE = re.compile(r"notebooks/(\d+b?|[a-d])_")
_ONE = r"(?:\d+b?|[A-D])"
_WORD = r"(?<!paper['’]s )\b(?:[Cc]hapters?|[Aa]ppendix|[Aa]ppendices)\s+"
_MENTION = re.compile(rf"{_WORD}{_ONE}(?:(?:,\s+|\s+and\s+|\s+to\s+){_ONE})*\b")
_NUMBER = re.compile(rf"(?:{_WORD})?\b({_ONE})\b")


def number(docname: str) -> str | None:
    """The number of a chapter or the letter of an appendix; None for a page that is neither.

    Examples
    --------
    >>> number("notebooks/03_budgets"), number("notebooks/d_markets"), number("book/intro")
    ('3', 'D', None)
    >>> number("notebooks/09b_race")
    '9b'
    """
    found = _FILE.match(docname)
    if found is None:
        return None
    return found[1].upper() if found[1].isalpha() else found[1].lstrip("0") or "0"


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Cut a text into parts that mention a chapter, with its number, and parts that do not.

    Examples
    --------
    >>> pieces("See chapters 2 and 3.")
    [('See ', None), ('chapters 2', '2'), (' and ', None), ('3', '3'), ('.', None)]
    """
    found, at = [], 0
    for mention in _MENTION.finditer(text):
        for part in _NUMBER.finditer(mention[0]):
            start, end = mention.start() + part.start(), mention.start() + part.end()
            found += [(text[at:start], None), (text[start:end], part[1])]
            at = end
    return [(part, chapter) for part, chapter in [*found, (text[at:], None)] if part]


def number_title(app, doctree) -> None:
    """Put the number before the title, ahead of whatever collects titles."""
    chapter = number(app.env.docname)
    title = next(iter(doctree.findall(nodes.title)), None)
    if chapter is not None and title is not None:
        title.insert(
            0, nodes.Text(f"Appendix {chapter}. " if chapter.isalpha() else f"{chapter}. ")
        )


def link_mentions(app, doctree, docname) -> None:
    """Turn every mention of another chapter in running text into a link."""
    pages = {number(other): other for other in app.env.found_docs if number(other) is not None}
    for text in list(doctree.findall(nodes.Text)):
        if not _MENTION.search(text) or _inside(
            text, nodes.reference, nodes.literal, nodes.title, nodes.literal_block
        ):
            continue
        parts = []
        for part, chapter in pieces(str(text)):
            if chapter in pages and pages[chapter] != docname:
                uri = app.builder.get_relative_uri(docname, pages[chapter])
                parts.append(nodes.reference(part, part, refuri=uri, internal=True))
            else:
                parts.append(nodes.Text(part))
        text.parent.replace(text, parts)


def _inside(node: nodes.Node, *kinds: type) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def leave_signposts(app, exception) -> None:
    """Let old addresses lead to the new ones, with whatever follows their #."""
    if exception is None and app.builder.format == "html":
        for old, new in MOVED.items():
            if (Path(app.outdir) / "notebooks" / f"{new}.html").exists():
                Path(app.outdir, "notebooks", f"{old}.html").write_text(
                    _SIGNPOST.format(new=new), encoding="utf-8"
                )


def setup(app) -> dict:
    app.connect("doctree-read", number_title, priority=100)
    app.connect("doctree-resolved", link_mentions)
    app.connect("build-finished", leave_signposts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
