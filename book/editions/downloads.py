"""What lies beside a page: its notebook for JupyterLab, the package that runs it, its Markdown."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat

from contents import pages
from editions.facts import FACTS, gather
from editions.handout import write_index
from editions.markdown_pages import write_pages
from editions.writing import live_notebooks
from press.address import wheel_address, wheel_name


def offer_wheel(app, pagename, templatename, context, doctree) -> None:
    """One more line in the download menu of a notebook; `make book` puts the package there."""
    menus = context.get("header_buttons", [])
    menu = next((menu for menu in menus if menu["label"] == "download-buttons"), None)
    if menu and pagename.startswith("notebooks/"):
        name = wheel_name(app.config.html_context["book_version"])
        menu["buttons"].append(
            {
                "type": "link",
                "url": context["pathto"](f"_sources/notebooks/{name}", resource=True),
                "text": "adalib.whl",
                "tooltip": "The package that runs the notebook",
                "icon": "fas fa-download",
                "label": "download-wheel-button",
            }
        )


def link_markdown(app, pagename, templatename, context, doctree) -> None:
    """Name a page's Markdown in its head."""
    if doctree and app.builder.format == "html":
        file = f"{pagename.rpartition('/')[2]}.md"
        link = f'<link rel="alternate" type="text/markdown" href="{file}">\n'
        context["metatags"] = context.get("metatags", "") + link


def write(app, exception) -> None:
    """Put the notebooks where the button looks, and the Markdown beside the pages."""
    if exception or app.builder.format != "html":
        return
    root = Path(app.srcdir)
    built = Path(app.outdir)
    executed = built.parent / "jupyter_execute" / "notebooks"
    repository = app.config.adalib_repository
    version = app.config.html_context["book_version"]
    address = wheel_address(repository, version) if repository else ""
    facts = json.dumps(gather(pages(root), app.env.get_doctree), ensure_ascii=False)
    (executed / FACTS).write_text(facts, encoding="utf-8")
    notebooks = live_notebooks(root, executed, wheel_address=address)
    folder = built / "_sources" / "notebooks"
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / name)
    write_index(app.builder)
    write_pages(root, built, executed, notebooks, app.config.html_baseurl, app.env.get_doctree)


def setup(app) -> dict:
    app.connect("html-page-context", offer_wheel, priority=600)
    app.connect("html-page-context", link_markdown)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
