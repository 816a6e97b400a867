"""Render the package's reference from its docstrings, linked with the chapters both ways.

A page with the line ``% every exported name`` gets a section per folder of the package, from the
lowest folder up, with every name that ``adalib`` exports, and then one per module for leaving the
book. In a docstring, 'the chapter "Budgets"' becomes a link to that chapter; in a chapter, the
first mention of an exported name in code leads to the reference.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes

import adalib
from contents import lessons

MARK = "% every exported name"
REFERENCE = "book/api"
#: The modules for leaving the book, in the order in which one needs them, and what to read in each.
LEAVING = {
    "ask.collect": ["collect"],
    "ask.endpoint": ["model_asker"],
    "serve.router": ["Router"],
    "serve.checking": ["CheckedRouter"],
    "serve.budget": ["BudgetController"],
    "serve.server": ["serve"],
    "batch.job": ["batch"],
    "cli": ["solve", "evaluate", "explore", "fit"],
}
_TITLE = re.compile(r'\b(the (?:chapter|appendix))\s+"([^"]+)"')
_CALLED = re.compile(r"(adalib\.)?(\w+)(?:\(.*\))?", re.S)


def from_the_lowest(root: Path) -> list[str]:
    """List the folders of the package from the lowest up, as the lint's layers have them."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [name.strip() for layer in reversed(layers) for name in layer.split("|")]


def sections(root: Path) -> str:
    """Write the sections of the reference in MyST, each with a table of names and docstrings."""
    leaving = {module.split(".")[0] for module in LEAVING}
    names_by_folder: dict[str, list[str]] = {folder: [] for folder in from_the_lowest(root)}
    for name in adalib.__all__:
        folder = getattr(adalib, name).__module__.split(".")[1]
        names_by_folder[folder].append(name)
    folders = [
        _section(folder, "adalib", sorted(names))
        for folder, names in names_by_folder.items()
        if names and folder not in leaving
    ]
    modules = [
        _section(module, "adalib" if names[0] in adalib.__all__ else f"adalib.{module}", names)
        for module, names in LEAVING.items()
    ]
    return "\n\n".join([*folders, "(leaving-the-book)=\n## Leaving the book", *modules])


def _section(folder: str, module: str, names: list[str]) -> str:
    """Write one section: the summary of a folder or file, a table of names, and docstrings."""
    table = [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in names)]
    entries: list[str] = []
    for name in names:
        kind = "autoclass" if name[0].isupper() else "autofunction"
        entries += ["", f".. {kind}:: {name}"]
    body = "\n".join([f".. currentmodule:: {module}", "", *table, *entries])
    heading = "###" if folder in LEAVING else "##"
    return f"{heading} {folder}\n\n{_summary(folder)}\n\n```{{eval-rst}}\n{body}\n```"


def _summary(folder: str) -> str:
    """Return the first line of a module's docstring; not by import, which may need an extra."""
    spec = find_spec(f"adalib.{folder}")
    assert spec is not None
    assert spec.origin is not None
    described = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    assert described  # ruff asks for one in every module
    return described.split("\n")[0].replace("``", "`")


def add_sections(app, docname, source) -> None:
    """Fill the page in as it is read."""
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, sections(Path(app.srcdir)))


def find_titles(app) -> None:
    """Keep the page of every chapter's title."""
    app.page_by_title = {page.title: page.name for page in lessons(Path(app.srcdir))}


def link_chapters(app, what, name, thing, options, lines: list[str]) -> None:
    """Lead from a docstring to the chapter that it names."""

    def link(match: re.Match) -> str:
        words, title = match.groups()
        page = app.page_by_title.get(" ".join(title.split()))
        return f"{words} :doc:`{title} </{page}>`" if page in app.env.found_docs else match[0]

    lines[:] = _TITLE.sub(link, "\n".join(lines)).split("\n")


def exported(code: str, names: Mapping[str, str]) -> str | None:
    """Return the exported name that a piece of code calls or mentions, if it is plainly ours.

    >>> exported("adalib.load(name)", {"load": ""}), exported("load", {"load": ""})
    ('load', None)
    >>> exported("held_out", {"held_out": ""})
    'held_out'
    """
    match = _CALLED.fullmatch(code)
    if match is None or match[2] not in names:
        return None
    # A plain word such as "mix" may mean anything; with "adalib.", "_" or a capital it is ours.
    is_ours = match[1] or "_" in match[2] or match[2] != match[2].lower()
    return match[2] if is_ours else None


def link_names(app, doctree, docname) -> None:
    """Lead from the first mention of each exported name in a chapter to the reference."""
    if REFERENCE not in app.env.found_docs or not app.numbers.get(docname):
        return
    address = app.builder.get_relative_uri(docname, REFERENCE)
    names = dict.fromkeys(adalib.__all__, "")
    linked: set[str] = set()
    for code in list(doctree.findall(nodes.literal)):
        name = exported(code.astext(), names)
        inside_link = isinstance(code.parent, (nodes.reference, nodes.title))
        if name is None or name in linked or inside_link:
            continue
        linked.add(name)
        link = nodes.reference("", "", refuri=f"{address}#adalib.{name}", internal=True)
        code.replace_self(link)
        link.append(code)


def setup(app) -> dict:
    app.connect("builder-inited", find_titles)
    app.connect("source-read", add_sections)
    app.connect("autodoc-process-docstring", link_chapters, priority=100)  # before numpydoc
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
