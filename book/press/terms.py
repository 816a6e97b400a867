"""Link a page's first use of a glossary word to the glossary, with its definition on hover."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.addnodes import desc_signature
from sphinx.ext.autosummary import autosummary_table

from press import texts

GLOSSARY = "book/glossary"
_LEFT_ALONE = (
    nodes.reference,
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.citation,  # what others called their work
    desc_signature,
)
_RUNNING = (nodes.paragraph, nodes.Inline, autosummary_table)


def collect(app, doctree) -> None:
    """When the glossary is read: keep what it says of each word."""
    if app.env.docname != GLOSSARY:
        return
    app.env.adalib_terms = {}
    for item in doctree.findall(nodes.definition_list_item):
        meaning = item.next_node(nodes.definition).astext().split(" See chapter")[0]
        for term in item.findall(nodes.term):
            app.env.adalib_terms[term.astext()] = (term["ids"][0], " ".join(meaning.split()))


def pattern(terms) -> re.Pattern:
    """What finds the words in a text, the longest first, also in the plural.

    A word is found whole or not at all: not "price" in "priced", "in-price" or "price's".

    Examples
    --------
    >>> [found["word"] for found in pattern(["dual", "dual function"]).finditer("Dual functions")]
    ['Dual functions']
    >>> [found["term"] for found in pattern(["price"]).finditer("Priced, a price's, prices.")]
    ['price']
    """
    words = "|".join(re.escape(term) for term in sorted(terms, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w-])(?P<word>(?P<term>{words})s?)(?![\w-]|['\N{{RIGHT SINGLE QUOTATION MARK}}]\w)",
        re.IGNORECASE,
    )


def link(app, doctree, docname) -> None:
    """Lead from the first use of each word in running text to the glossary."""
    terms = getattr(app.env, "adalib_terms", {})
    if docname == GLOSSARY or not terms:
        return
    meaning_by_term = {term.lower(): value for term, value in terms.items()}
    page = app.builder.get_relative_uri(docname, GLOSSARY)
    words = pattern(terms)
    used = set()
    for text in texts(doctree, _is_left_alone):
        parts = []
        at = 0
        plain = str(text)
        for found in words.finditer(plain):
            term = found["term"].lower()
            if term not in used:
                used.add(term)
                anchor, meaning = meaning_by_term[term]
                parts.append(nodes.Text(plain[at : found.start()]))
                parts.append(
                    nodes.reference(
                        found["word"],
                        found["word"],
                        refuri=f"{page}#{anchor}",
                        internal=True,
                        reftitle=meaning,
                        classes=["adalib-term"],
                    )
                )
                at = found.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(plain[at:])])


def _is_left_alone(node: nodes.Element) -> bool:
    """Whether it holds no running text, but a title, code, a link, a formula or a quiz."""
    holds_text = isinstance(node, nodes.TextElement) and not isinstance(node, _RUNNING)
    return holds_text or isinstance(node, _LEFT_ALONE) or "quiz" in node["classes"]


def setup(app) -> dict:
    app.connect("doctree-read", collect)
    # After the mentions of chapters have become links.
    app.connect("doctree-resolved", link, priority=600)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
