"""Each page as Markdown next to its HTML, and ``llms.txt``, which lists them for assistants.

The Markdown has the text, with its numbers filled in, and the cells that the page shows. Figures,
games and lists, which need a browser, are left out. ``llms.txt`` is as llmstxt.org describes it.
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from nbformat import NotebookNode

from contents import Page, pages
from editions.lab_notebooks import HIDDEN, Book, live_text
from editions.writing import live_notebooks, read_book

_INCLUDED = re.compile(r"^```\{include\} (\S+)\n```$", re.M)
_COMMENT = re.compile(r"^% .*\n", re.M)
_TO_NOTEBOOK = re.compile(r"(\]\([\w./-]+)\.ipynb(?=[#)])")
_TO_CHAPTER = re.compile(r"\]\((?=\w+\.ipynb\))")
_TO_LABEL = re.compile(r"\[([^\[\]]+)\]\([\w-]+\)")


def notebook_as_markdown(notebook: NotebookNode) -> str:
    """Return a notebook of `live_notebooks` as Markdown, without the cells that only draw."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif not HIDDEN & set(cell.metadata.get("tags", [])):
            parts.append(f"```python\n{cell.source}\n```")
    return _linked("\n\n".join(parts))


def page_as_markdown(page: Page, book: Book) -> str:
    """Return a page that is Markdown already with its numbers and the files that it includes."""

    def included(found: re.Match) -> str:
        return (page.path.parent / found[1]).read_text(encoding="utf-8")

    text = _COMMENT.sub("", page.path.read_text(encoding="utf-8"))
    text = live_text(_INCLUDED.sub(included, text), book)
    return _linked(_TO_CHAPTER.sub("](../notebooks/", text))  # chapters are in the other folder


def _linked(text: str) -> str:
    """Lead from Markdown to Markdown; a label of the built page leads nowhere there.

    >>> _linked("[Budgets](../notebooks/03_budgets.ipynb#slopes), [slopes](budgets-slopes)")
    '[Budgets](../notebooks/03_budgets.md#slopes), slopes\\n'
    """
    return _TO_LABEL.sub(r"\1", _TO_NOTEBOOK.sub(r"\1.md", text)).strip() + "\n"


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


def write(app, exception) -> None:
    """Write the Markdown of every page of the build, and the list."""
    if exception or app.builder.format != "html":
        return
    root = Path(app.srcdir)
    built = Path(app.outdir)
    executed = built.parent / "jupyter_execute" / "notebooks"
    notebooks = live_notebooks(root, executed)
    book = read_book(root, executed)
    for page in pages(root):
        if page.path.suffix == ".md":
            text = page_as_markdown(page, book)
        else:
            text = notebook_as_markdown(notebooks[page.path.name])
        (built / f"{page.name}.md").write_text(text, encoding="utf-8")
    listed = llms_txt(root, app.config.html_baseurl)
    (built / "llms.txt").write_text(listed, encoding="utf-8")


def link_markdown(app, pagename, templatename, context, doctree) -> None:
    """Name a page's Markdown in its head."""
    if doctree and app.builder.format == "html":
        file = f"{pagename.rpartition('/')[2]}.md"
        link = f'<link rel="alternate" type="text/markdown" href="{file}">\n'
        context["metatags"] = context.get("metatags", "") + link


def setup(app) -> dict:
    app.connect("html-page-context", link_markdown)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
