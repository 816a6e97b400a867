"""Each page as Markdown next to its HTML, and ``llms.txt``, which lists them for assistants.

The Markdown has the text, with its numbers filled in, the cells that the page shows, what they
print, their tables, and the captions of figures and games, which themselves need a browser.
``llms.txt`` is as llmstxt.org describes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from docutils import nodes
from nbformat import NotebookNode

from contents import Page, pages
from editions.facts import cell_outputs
from editions.lab_notebooks import HIDDEN, Book, live_text
from editions.writing import read_book

_INCLUDED = re.compile(r"^```\{include\} (\S+)\n```$", re.M)
_COMMENT = re.compile(r"^% .*\n", re.M)
_TO_NOTEBOOK = re.compile(r"(\]\([\w./-]+)\.ipynb(?=[#)])")
_TO_CHAPTER = re.compile(r"\]\((?=\w+\.ipynb[)#])")


def notebook_as_markdown(notebook: NotebookNode, outputs: Mapping[str, str]) -> str:
    """Return a notebook of `live_notebooks` as Markdown; ``outputs`` are those of its cells."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.id != "install":
            if not HIDDEN & set(cell.metadata.get("tags", [])):
                parts.append(f"```python\n{cell.source}\n```")
            parts += [outputs[cell.id]] if cell.id in outputs else []
    return _linked("\n\n".join(parts))


def page_as_markdown(page: Page, book: Book) -> str:
    """Return a page that is Markdown already with its numbers and the files that it includes."""

    def included(found: re.Match) -> str:
        return (page.path.parent / found[1]).read_text(encoding="utf-8")

    text = _COMMENT.sub("", page.path.read_text(encoding="utf-8"))
    text = live_text(_INCLUDED.sub(included, text), book)
    return _linked(_TO_CHAPTER.sub("](../notebooks/", text))  # chapters are in the other folder


def _linked(text: str) -> str:
    """Lead from Markdown to Markdown.

    >>> _linked("[Budgets](../notebooks/03_budgets.ipynb#slopes)")
    '[Budgets](../notebooks/03_budgets.md#slopes)\\n'
    """
    return _TO_NOTEBOOK.sub(r"\1.md", text).strip() + "\n"


def llms_txt(root: Path, address: str) -> str:
    """List all pages by the parts of the contents; ``address`` is "" or ends with a slash."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    about = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["title"]
    title, _, summary = about.partition("? ")
    by_name = {page.name: page for page in pages(root)}

    def entry(name: str) -> str:
        page = by_name[name]
        place = f": {page.place}" if page.number else ""
        return f"- [{page.title}]({address}{name}.md){place}"

    lines = [f"# {title}?", "", f"> {summary}.", "", entry(contents["root"])]
    for part in contents["parts"]:
        lines += ["", f"## {part['caption']}", ""]
        lines += [entry(listed["file"]) for listed in part["chapters"]]
    return "\n".join(lines) + "\n"


def write_pages(
    root: Path,
    built: Path,
    executed: Path,
    notebooks: Mapping[str, NotebookNode],
    address: str,
    doctree_of: Callable[[str], nodes.document],
) -> None:
    """Write the Markdown of every page of a build, and the list.

    ``notebooks`` are those of `live_notebooks`; ``executed`` and ``address`` are as there and in
    `llms_txt`, and ``doctree_of`` as for `editions.facts.gather`.
    """
    book = read_book(root, executed)
    for page in pages(root):
        if page.path.suffix == ".md":
            text = page_as_markdown(page, book)
        else:
            outputs = cell_outputs(doctree_of(page.name), page)
            text = notebook_as_markdown(notebooks[page.path.name], outputs)
        (built / f"{page.name}.md").write_text(text, encoding="utf-8")
    (built / "llms.txt").write_text(llms_txt(root, address), encoding="utf-8")
