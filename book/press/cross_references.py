"""Numbers and links for what Sphinx does not see: the figures, games and tables that cells write.

"Figure 3.2" is the second figure of chapter 3, and "Game EX.1" the first game of the page on the
explorer. A figure's caption comes from ``adabook.figures.show``, a game's from ``adabook.games``
and a table's from ``table``; which chapter they are in, and how many come before them, only the
page can tell. Exercises are counted by their extension through the whole book, and here within
their chapter. Theorems, lemmas and definitions have names, by which the text calls them, and one
count together: "Theorem 4.2" is not the paper's Theorem 2.

Text links to a label by MyST's own syntax. A table that a cell makes writes ``<a
class="adalib-see" href="#label">``, and the page that holds the label is looked up here. Inside
such a link ``<span class="adalib-chapter">`` holds words that give way to the number of that page,
"chapter 7". A label that no page has stops the build.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import count

from docutils import nodes
from myst_nb.ext.glue.crossref import PendingGlueReference
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_enumerable_node
from sphinx_proof.nodes import unenumerable_node

from press import rewrite

# The explorer has no caption but where no script runs, and gets one here.
_CAPTIONS = re.compile(
    r'<noscript>.*?</noscript>|(?P<explorer><div id="adalib-explorer-)'
    r"|<(?P<kind>figcaption|caption)\b(?P<more>[^>]*)>(?P<words>.*?)</(?P=kind)>",
    re.S,
)
_LINK = re.compile(r'(<a class="adalib-see" href=")#([\w-]+)"([^>]*>)(.*?</a>)', re.S)
_CHAPTER = re.compile(r'<span class="adalib-chapter">(.*?)</span>', re.S)
EXPLORER = "The explorer: drag the price, and watch who buys how much."
logger = logging.getLogger(__name__)


def initials(pagename: str) -> str:
    """Return what stands before the numbers of a page that is no chapter.

    A notebook whose name is one word has two letters, because many begin alike.

    >>> initials("notebooks/models"), initials("notebooks/own_file"), initials("book/intro")
    ('MO', 'OF', 'I')
    """
    folder, _, name = pagename.rpartition("/")
    words = name.split("_")
    if folder == "notebooks" and len(words) == 1:
        return name[:2].upper()
    return "".join(word[0] for word in words).upper()


def count_exercises(app, builder) -> None:
    """Count the exercises of a page from one, and leave tables to `number`."""
    for name, numbers in app.env.toc_fignumbers.items():
        front = app.numbers.get(name) or initials(name)
        ids = numbers.get("exercise", {})
        numbers["exercise"] = {label: (front, at) for at, label in enumerate(ids, 1)}
        numbers.pop("table", None)


def number(app, doctree, docname: str = "") -> None:
    """Number every caption, exercise, theorem and definition of a page within its chapter.

    That is done when the page has been read, so that other editions find it; where a page pastes
    what another shows, when that is there.
    """
    is_waiting = not docname and any(True for _ in doctree.findall(PendingGlueReference))
    if is_waiting or doctree.get("is_numbered"):
        return
    doctree["is_numbered"] = True
    docname = docname or app.env.docname
    front = app.numbers.get(docname) or initials(docname)
    counts: dict[str, count] = defaultdict(lambda: count(1))

    def link(kind: str) -> tuple[str, str]:
        number = f"{front}.{next(counts[kind])}"
        anchor = f"{kind.lower()}-{number.replace('.', '-').lower()}"
        name = f"{kind} {number}."
        return name, f'<a class="adalib-number" id="{anchor}" href="#{anchor}">{name}</a> '

    kinds = (nodes.raw, nodes.table, exercise_enumerable_node, unenumerable_node)
    for node in list(doctree.findall(lambda node: isinstance(node, kinds))):
        if isinstance(node, nodes.raw):
            node["captions"] = []
            rewrite(node, partial(captioned, link=link, found=node["captions"]))
        elif isinstance(node, nodes.table):
            for title in node.children[: isinstance(node[0], nodes.title)]:
                title.insert(0, nodes.raw("", link("Table")[1], format="html"))
        elif isinstance(node, exercise_enumerable_node):
            node["place"] = f"{front}.{next(counts['exercise'])}"
            for text in node[0].findall(lambda text: str(text).endswith(" (core)")):
                text.parent.replace(text, nodes.Text(f"{text.removesuffix(' (core)')}, core"))
        else:
            node["place"] = f"{front}.{next(counts['statement'])}"
            named = f"{node['realtype'].capitalize()} {node['place']} "
            title = node[0]
            title["ids"] = []  # its box has them
            title.insert(0, nodes.inline("", named, classes=["caption-number"]))


def captioned(
    markup: str, link: Callable[[str], tuple[str, str]], found: list[tuple[str, str]]
) -> str:
    """What a cell shows, with a number before each caption.

    ``link`` gives the next number of a kind, as text and as markup. Each number and its caption's
    words are added to ``found``, for other editions; a table has its words there already.

    Examples
    --------
    >>> found = []
    >>> captioned("<figcaption>It rises.</figcaption>", lambda kind: (kind, f"{kind}: "), found)
    '<figcaption>Figure: It rises.</figcaption>'
    >>> found
    [('Figure', 'It rises.')]
    """

    def name(part: re.Match) -> str:
        if part["explorer"]:
            number, linked = link("Game")
            found.append((number, EXPLORER))
            return f'<p class="adalib-told">{linked}{EXPLORER}</p>{part[0]}'
        kind, more, words = part["kind"], part["more"], part["words"]
        if not kind:
            return part[0]
        is_table, is_game = kind == "caption", "adalib-told" in more
        number, linked = link("Table" if is_table else "Game" if is_game else "Figure")
        found.append((number, "" if is_table else words))
        return f"<{kind}{more}>{linked}{words}</{kind}>"

    return _CAPTIONS.sub(name, markup)


def lead_to_labels(app, doctree, docname) -> None:
    """Give every such link of a page the address of its label and the number of its chapter."""
    place_by_label = app.env.get_domain("std").anonlabels

    def address(match: re.Match) -> str:
        start, label, attributes, words = match.groups()
        if label not in place_by_label:
            logger.warning(
                "a table links to the label %r, which no page has", label, location=docname
            )
            return match.group(0)
        document, anchor = place_by_label[label][:2]
        page = "" if document == docname else app.builder.get_relative_uri(docname, document)
        words = _CHAPTER.sub(lambda held: _called(app.numbers.get(document, ""), held[1]), words)
        return f'{start}{page}#{anchor}"{attributes}{words}'

    for node in doctree.findall(nodes.raw):
        rewrite(node, partial(_LINK.sub, address))


def _called(number: str, words: str) -> str:
    """Name the chapter with this number, with a capital if the words that stand there have one.

    >>> _called("7", "In the book"), _called("A", "in the book"), _called("", "in the book")
    ('Chapter 7', 'appendix A', 'in the book')
    """
    if not number:
        return words
    kind = "chapter" if number.isdigit() else "appendix"
    if words[0].isupper():
        kind = kind.capitalize()
    return f"{kind} {number}"


def begin_statement(translator, node: unenumerable_node) -> None:
    """Begin the box of a theorem or a definition, whose title has its number already."""
    translator.body.append(translator.starttag(node, "div", CLASS="admonition"))


def end_statement(translator, node: unenumerable_node) -> None:
    """End what `begin_statement` began."""
    translator.body.append("</div>\n")


def setup(app) -> dict:
    app.add_node(unenumerable_node, override=True, html=(begin_statement, end_statement))
    app.connect("write-started", count_exercises)
    app.connect("doctree-read", number, priority=800)
    app.connect("doctree-resolved", number)
    app.connect("doctree-resolved", lead_to_labels)
    # Pages that an older build has read lack what this one keeps of their captions.
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
