"""Numbers and links for what Sphinx does not see: the figures, games and tables that cells write.

"Figure 3.2" is the second figure of chapter 3, and "Game E.1" the first game of the page on the
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
from itertools import count

from sphinx.util import logging

# The explorer has no caption but where no script runs, and gets one here.
_CAPTIONS = re.compile(
    r'<noscript>.*?</noscript>|(?P<explorer><div id="adalib-explorer-)'
    r"|<(?P<kind>figcaption|caption)\b(?P<more>[^>]*)>",
    re.S,
)
# Sphinx counts only the tables of the prose.
_ITS_OWN = re.compile(r'(<caption\b[^>]*>)\s*<span class="caption-number">.*?</span>', re.S)
_EXERCISES = re.compile(r'(<span class="caption-number">Exercise )\d+')
_CORE = re.compile(r"\((\w+) \(core\)\)")
_STATEMENTS = re.compile(
    r'(<span class="caption-number">(?:Theorem|Lemma|Proposition|Corollary|Definition)) (?=</span>)'
)
_KINDS = {"figcaption": "Figure", "caption": "Table"}
_LINK = re.compile(r'(<a class="adalib-see" href=")#([\w-]+)"([^>]*>)(.*?</a>)', re.S)
_CHAPTER = re.compile(r'<span class="adalib-chapter">(.*?)</span>', re.S)
EXPLORER = "The explorer: drag the price, and watch who buys how much."
logger = logging.getLogger(__name__)


def numbered(body: str, chapter: str) -> str:
    """Number every caption, theorem and exercise of a page within its chapter.

    Examples
    --------
    >>> numbered("<figcaption>", "3")
    '<figcaption><a class="adalib-number" id="figure-3-1" href="#figure-3-1">Figure 3.1.</a> '
    >>> numbered('<p><span class="caption-number">Exercise 11 </span> (read)</p>', "3")
    '<p><span class="caption-number">Exercise 3.1 </span> (read)</p>'
    >>> numbered('<p><span class="caption-number">Lemma </span> (The ledger)</p>', "4")
    '<p><span class="caption-number">Lemma 4.1 </span> (The ledger)</p>'
    """
    counts: dict[str, count] = defaultdict(lambda: count(1))

    def name(match: re.Match) -> str:
        if not match["kind"] and not match["explorer"]:
            return match[0]
        if match["explorer"] or "adalib-told" in match["more"]:
            kind = "Game"
        else:
            kind = _KINDS[match["kind"]]
        number = f"{chapter}.{next(counts[kind])}"
        anchor = f"{kind.lower()}-{number.replace('.', '-').lower()}"
        link = f'<a class="adalib-number" id="{anchor}" href="#{anchor}">{kind} {number}.</a> '
        if match["explorer"]:
            return f'<p class="adalib-told">{link}{EXPLORER}</p>{match[0]}'
        return match[0] + link

    exercises = count(1)
    statements = count(1)
    body = _ITS_OWN.sub(r"\1", body)
    body = _EXERCISES.sub(lambda match: f"{match[1]}{chapter}.{next(exercises)}", body)
    body = _CORE.sub(r"(\1, core)", body)
    body = _STATEMENTS.sub(lambda match: f"{match[1]} {chapter}.{next(statements)} ", body)
    return _CAPTIONS.sub(name, body)


def initials(pagename: str) -> str:
    """Return what stands before the numbers of a page that is no chapter.

    >>> initials("notebooks/market"), initials("notebooks/own_file")
    ('M', 'OF')
    """
    return "".join(word[0] for word in pagename.rpartition("/")[2].split("_")).upper()


def number_captions(app, pagename, templatename, context, doctree) -> None:
    """Number what a page shows."""
    if "body" in context:
        front = app.numbers.get(pagename) or initials(pagename)
        context["body"] = numbered(context["body"], front)


def lead_to_labels(app, pagename, templatename, context, doctree) -> None:
    """Give every such link of a page the address of its label and the number of its chapter."""
    place_by_label = app.env.get_domain("std").anonlabels

    def address(match: re.Match) -> str:
        start, label, attributes, words = match.groups()
        if label not in place_by_label:
            logger.warning(
                "a table links to the label %r, which no page has", label, location=pagename
            )
            return match.group(0)
        document, anchor = place_by_label[label][:2]
        page = "" if document == pagename else app.builder.get_relative_uri(pagename, document)
        words = _CHAPTER.sub(lambda held: _called(app.numbers.get(document, ""), held[1]), words)
        return f'{start}{page}#{anchor}"{attributes}{words}'

    if "body" in context:
        context["body"] = _LINK.sub(address, context["body"])


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


def setup(app) -> dict:
    app.connect("html-page-context", number_captions)
    app.connect("html-page-context", lead_to_labels)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
