"""Each page as Markdown next to its HTML, and ``llms.txt``, which lists them for assistants.

The Markdown has the text, with its numbers filled in, the cells that the page shows, what they
print, their tables, and the captions of figures and games, which themselves need a browser.
``llms.txt`` is as llmstxt.org describes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import yaml
from bs4 import BeautifulSoup
from docutils import nodes
from nbformat import NotebookNode

from contents import Page, pages
from editions.lab_notebooks import HIDDEN, Book, live_text
from editions.writing import is_part, read_book, read_doctree

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


def cell_outputs(doctree: nodes.document, ids: Sequence[str]) -> dict[str, str]:
    """Return what the cells of a page print and tabulate, by the ids of all its cells."""
    outputs: dict[str, list[str]] = {}
    for cell in doctree.findall(lambda node: is_part(node, "cell_code")):
        for output in cell.findall(lambda node: is_part(node, "cell_code_output")):
            shown = outputs.setdefault(ids[cell["cell_index"]], [])
            for node in output.findall(nodes.raw):
                tables = BeautifulSoup(node.astext(), "html.parser").find_all("table")
                shown += [as_pipes(str(table)) for table in tables]
            for node in output.findall(nodes.literal_block):
                if not _has_page_form(node):
                    shown.append(f"```\n{node.astext().rstrip()}\n```")
    return {id_: "\n\n".join(shown) for id_, shown in outputs.items() if shown}


def _has_page_form(text: nodes.literal_block) -> bool:
    """Whether a text stands in for the HTML of a page, which has the same in another form."""
    forms = text.parent.parent.children if is_part(text.parent.parent, "mime_bundle") else []
    return any(form.get("mime_type") == "text/html" for form in forms)


def as_pipes(table: str) -> str:
    """Return an HTML table as Markdown, its caption without the number above it.

    >>> table = "<table><caption>Two</caption><tr><th>a</th><th>b</th></tr><tr><td>1|2</td>"
    >>> print(as_pipes(table + "<td>3</td></tr></table>"))
    Two
    <BLANKLINE>
    | a | b |
    |---|---|
    | 1\\|2 | 3 |
    """
    markup = BeautifulSoup(table, "html.parser")
    for number in markup.select(".adalib-number"):
        number.decompose()
    rows = [
        [
            " ".join(cell.get_text(" ").split()).replace("|", "\\|")
            for cell in row.find_all(["th", "td"])
        ]
        for row in markup.find_all("tr")
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * max(map(len, rows), default=1))
    caption = markup.caption.get_text().strip() + "\n\n" if markup.caption else ""
    return caption + "\n".join(lines)


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
) -> None:
    """Write the Markdown of every page of a build, and the list.

    ``notebooks`` are those of `live_notebooks`; ``executed`` and ``address`` are as there and in
    `llms_txt`.
    """
    book = read_book(root, executed)
    for page in pages(root):
        if page.path.suffix == ".md":
            text = page_as_markdown(page, book)
        else:
            ids = [cell.id for cell in nbformat.read(page.path, as_version=4).cells]
            outputs = cell_outputs(read_doctree(executed, page), ids)
            text = notebook_as_markdown(notebooks[page.path.name], outputs)
        (built / f"{page.name}.md").write_text(text, encoding="utf-8")
    (built / "llms.txt").write_text(llms_txt(root, address), encoding="utf-8")
