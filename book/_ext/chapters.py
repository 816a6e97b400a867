"""Number the chapters: in their titles, in the sidebar, and in every mention, which leads there.

Numbers come from the order of ``_toc.yml`` (`contents`), so the titles in the notebooks stay bare,
and prose names a chapter by its key, ``{ch}`stopping` ``. A page that moved leaves a signpost at
its old address.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes

from contents import keys, pages, spelled

# Where pages stood before the book was put in its present order.
MOVED = {
    "../book/files": "../book/operate",
    "05_estimation": "06_estimation",
    "06_learning": "07_learning",
    "07_results": "08_results",
    "08_patterns": "08_results",
    "09_ablations": "08_results",
    "09b_race": "10_race",
    "10_deploy": "11_deploy",
    "10_stopping": "09_stopping",
    "11_minds": "12_menus",
    "12_referee": "13_referee",
    "13_minds": "12_menus",
    "appendix_markets": "05_markets",
    "c_simulated": "../book/data-cards",
    "calibration": "../book/data-cards",
    "d_markets": "05_markets",
    "e_calibration": "c_rivals",
    "f_patterns": "b_replication",
    "replication": "b_replication",
    "two_limits": "05_markets",
}
# Labels once began with a chapter's number, and begin with its key now.
_SIGNPOST = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>This page has moved</title>
<link rel="canonical" href="{new}.html"><meta http-equiv="refresh" content="0; url={new}.html">
<script>location.replace("{new}.html" + location.hash.replace(/^#ch\\d+b?-/, "#{key}-"))</script>
<p>This page is now <a href="{new}.html">here</a>.</p></html>
"""
_ONE = r"(?:\d+|[A-Z]\b)"
_WORD = r"(?<!paper['’]s )\b(?:[Cc]hapters?|[Aa]ppendix|[Aa]ppendices)\s+"
_MENTION = re.compile(rf"{_WORD}{_ONE}(?:(?:,\s+|\s+and\s+|\s+to\s+){_ONE})*\b")
_NUMBER = re.compile(rf"(?:{_WORD})?\b({_ONE})\b")


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
    for text in list(doctree.findall(nodes.Text)):
        if not _MENTION.search(text) or _inside(
            text, nodes.reference, nodes.literal, nodes.title, nodes.literal_block
        ):
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


def _inside(node: nodes.Node, *kinds: type) -> bool:
    """Whether a node lies inside one of these kinds."""
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
                    _SIGNPOST.format(new=new, key=new.partition("_")[2]), encoding="utf-8"
                )


def setup(app) -> dict:
    app.connect("builder-inited", read_contents)
    app.connect("env-get-outdated", renumbered)
    app.connect("source-read", spell_mentions)
    app.connect("doctree-read", number_title, priority=100)
    app.connect("doctree-resolved", link_mentions)
    app.connect("build-finished", leave_signposts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
