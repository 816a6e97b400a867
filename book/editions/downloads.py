"""What a download button hands out: a notebook for JupyterLab, and the package it needs."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat

from editions.writing import live_notebooks
from press.address import wheel_address


def wheel_of(app) -> Path | None:
    """The package that `make book` built next to the book; a hand-out brings its own."""
    return next((Path(app.srcdir) / "dist").glob("*.whl"), None)


def offer_wheel(app, pagename, templatename, context, doctree) -> None:
    """One more line in the download menu of a notebook."""
    wheel = wheel_of(app)
    menus = context.get("header_buttons", [])
    menu = next((menu for menu in menus if menu["label"] == "download-buttons"), None)
    if wheel and menu and pagename.startswith("notebooks/"):
        menu["buttons"].append(
            {
                "type": "link",
                "url": context["pathto"](f"_sources/notebooks/{wheel.name}", resource=True),
                "text": "adalib.whl",
                "tooltip": (
                    f"The package that runs the notebook ({wheel.stat().st_size / 1e6:.0f} MB)"
                ),
                "icon": "fas fa-download",
                "label": "download-wheel-button",
            }
        )


def write(app, exception) -> None:
    """Put the live notebooks and the wheel where the button looks, in place of the sources."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_sources" / "notebooks"
    executed = Path(app.outdir).parent / "jupyter_execute" / "notebooks"
    repository = app.config.adalib_repository
    version = app.config.html_context["book_version"]
    address = wheel_address(repository, version) if repository else ""
    notebooks = live_notebooks(Path(app.srcdir), executed, wheel_address=address)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / name)
    if wheel := wheel_of(app):
        shutil.copy(wheel, folder)


def setup(app) -> dict:
    app.connect("html-page-context", offer_wheel, priority=600)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
