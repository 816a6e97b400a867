"""The notebooks as they are kept: valid, without outputs, and with nothing that is never shown."""

from __future__ import annotations

import ast

import nbformat
import pytest
from conftest import ROOT
from IPython.core.inputtransformer2 import TransformerManager

from strip import KERNEL, strip

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    full = [cell.source for cell in code if cell.outputs or cell.execution_count is not None]
    assert full == [], "run `make strip` to take the outputs out"
    assert "widgets" not in notebook.metadata, "run `make strip` to take their state out"
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    assert kernel == "python3", "run `make strip` to name the kernel that every machine has"


def test_a_notebook_that_ran_elsewhere_is_put_into_our_form(tmp_path):
    cell = nbformat.v4.new_code_cell("1 + 1", execution_count=3, id="sum")
    cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "2"})]
    cell.metadata.update({"scrolled": True, "tags": ["hide-input"]})
    metadata = {"widgets": {}, "kernelspec": KERNEL | {"name": "conda"}, "adalib": {"lesson": True}}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata=metadata)
    strip(notebook)
    empty = nbformat.v4.new_code_cell("1 + 1", id="sum", metadata={"tags": ["hide-input"]})
    assert notebook.cells == [empty]
    assert notebook.metadata == {
        "adalib": {"lesson": True},
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }


# Functions that are called for what they do. Jupyter shows the value of a cell's last line alone.
FOR_EFFECT = {"agrees", "give", "give_range", "glue", "print"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_cell_would_show_is_its_last_line(path):
    """A table in the middle of a cell never reaches the page."""
    lost = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        code = TransformerManager().transform_cell(cell.source)
        for statement in ast.parse(code).body[:-1]:
            match statement:
                case ast.Expr(ast.Call(ast.Name(name))) if name not in FOR_EFFECT:
                    lost.append(ast.unparse(statement))
    assert lost == [], "give each a cell of its own, or make it the last line"
