"""An index of theorems by title and chapter; sphinx-proof itself lists labels."""

from __future__ import annotations

from docutils import nodes
from sphinx_proof.domain import ProofIndex


def collect_titles(app, doctree) -> None:
    """Keep the title of every statement, which sphinx-proof leaves in the page."""
    for node in doctree.findall(nodes.Element):
        if node.get("realtype") and node.get("label"):
            app.env.proof_list[node["label"]]["title"] = (
                node["title"].strip().removeprefix("(").removesuffix(")")
            )


def by_chapter(index, docnames=None) -> tuple[list, bool]:
    """Return what Sphinx wants of an index: (heading, entries), one heading per chapter."""
    env = index.domain.env
    chapters: dict[str, list] = {}
    for label, found in getattr(env, "proof_list", {}).items():
        if not label:
            continue
        entry = (
            found.get("title") or found["realtype"].title(),
            0,
            found["docname"],
            label,
            "",
            "",
            found["realtype"],
        )
        chapters.setdefault(found["docname"], []).append(entry)
    return [(env.titles[docname].astext(), chapters[docname]) for docname in sorted(chapters)], True


def setup(app) -> dict:
    ProofIndex.generate = by_chapter
    ProofIndex.localname = "Definitions and theorems"
    app.connect("doctree-read", collect_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
