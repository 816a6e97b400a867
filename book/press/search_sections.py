"""The search finds sections: Sphinx's index is fed each section of a page as a page of its own.

Its address is the page's with the section's anchor, and the index holds how it begins, so that what
was found is shown without another request. ``search_scorer.js`` puts the sections in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

import sphinx.search
from docutils import nodes

_LEAD = 160  # letters of a section's beginning


class SectionIndex(sphinx.search.IndexBuilder):
    """Sphinx's index, by section."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._leads: dict[str, str] = {}

    def feed(self, docname: str, filename: str, title: str, doctree: nodes.document) -> None:
        for anchor, heading, section in sections(doctree):
            name = f"{docname}#{anchor}" if anchor else docname
            super().feed(name, filename, heading or title, section)
            self._leads[name] = lead(section)

    def prune(self, docnames: Iterable[str]) -> None:
        kept = set(docnames)
        super().prune([name for name in self._titles if name.partition("#")[0] in kept])

    def freeze(self) -> dict[str, Any]:
        frozen = super().freeze()
        return frozen | {"leads": [self._leads.get(name, "") for name in frozen["docnames"]]}

    def load(self, stream: IO, format: Any) -> None:  # noqa: A002 - Sphinx names it so
        frozen = format.load(stream)
        if "leads" not in frozen:
            raise ValueError("old format")  # as Sphinx says of an index that is to be made anew
        stream.seek(0)
        super().load(stream, format)
        self._leads = dict(zip(frozen["docnames"], frozen["leads"], strict=True))


def sections(part: nodes.Element) -> Iterator[tuple[str, str, nodes.Element]]:
    """The parts of a page, each without the sections in it: its anchor, its heading, itself.

    What stands before the first heading of second rank is the page itself, without an anchor.
    """
    inside = [child for child in part.children if isinstance(child, nodes.section)]
    own = part.copy()
    # Not added but put there: what is added forgets its place in the page, which is written next.
    own.children = [child for child in part.children if child not in inside]
    is_page = isinstance(part, nodes.document) or isinstance(part.parent, nodes.document)
    heading = own.next_node(nodes.title)
    if isinstance(part, nodes.section):
        yield "" if is_page else part["ids"][0], heading.astext() if heading else "", own
    for section in inside:
        yield from sections(section)


def lead(section: nodes.Element) -> str:
    """How a section begins: its first paragraph in words, cut between two of them.

    What is in a box or a table is not looked at: it may be a solution.
    """
    for paragraph in section.children:
        if not isinstance(paragraph, nodes.paragraph) or "adalib-runs" in paragraph["classes"]:
            continue
        if not paragraph.next_node(nodes.math):
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= _LEAD else text[:_LEAD].rpartition(" ")[0] + " …"
    return ""


def setup(app) -> dict:
    # The builder imports it by this name, and Sphinx has no other place for an index of one's own.
    sphinx.search.IndexBuilder = SectionIndex  # type: ignore[misc, assignment]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
