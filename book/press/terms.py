"""Link a page's first use of a glossary word to the glossary, with its definition on hover."""

from __future__ import annotations

import re

from docutils import nodes

GLOSSARY = "book/glossary"
_LEFT_ALONE = (
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.title,
    nodes.math,
    nodes.raw,
    nodes.caption,
    nodes.citation,  # what others called their work
)


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
    for text in list(doctree.findall(nodes.Text)):
        if _left_alone(text) or not words.search(text):
            continue
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


def _left_alone(node: nodes.Node) -> bool:
    """Whether a text is no running text: a title, code, a link, a formula, an option of a quiz."""
    in_paragraph = False
    while node is not None:
        classes = node.get("classes", []) if isinstance(node, nodes.Element) else []
        if isinstance(node, _LEFT_ALONE) or "quiz" in classes:
            return True
        in_paragraph = in_paragraph or isinstance(node, nodes.paragraph)
        node = node.parent
    return not in_paragraph


def setup(app) -> dict:
    app.connect("doctree-read", collect)
    # After the mentions of chapters have become links.
    app.connect("doctree-resolved", link, priority=600)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
