"""Put notebooks into the form in which they are kept: no outputs, no counts, and our kernel.

``python book/strip.py NOTEBOOK ...``; `make strip` names them all.
"""

from __future__ import annotations

import sys

import nbformat

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_OF_A_RUN = ("collapsed", "execution", "scrolled")


def strip(notebook: nbformat.NotebookNode) -> None:
    """Take out of a notebook what a run or an editor put there."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            for name in _OF_A_RUN:
                cell.metadata.pop(name, None)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.kernelspec = dict(KERNEL)
    notebook.metadata.language_info = {"name": "python"}


if __name__ == "__main__":
    for path in sys.argv[1:]:
        kept = nbformat.read(path, as_version=4)
        strip(kept)
        nbformat.write(kept, path)
