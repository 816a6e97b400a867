"""The notebook that a page's download button hands out reads well in JupyterLab."""

from __future__ import annotations

from pathlib import Path

import nbformat

from editions.writing import live_notebooks


def write(app, exception) -> None:
    """Put the live notebooks where the button looks, in place of the sources as they are kept."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_sources" / "notebooks"
    executed = Path(app.outdir).parent / "jupyter_execute" / "notebooks"
    for name, notebook in live_notebooks(Path(app.srcdir), executed).items():
        nbformat.write(notebook, folder / name)


def setup(app) -> dict:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
