"""The notebooks as they are kept: valid, without outputs, and runnable by any Python 3 kernel."""

from __future__ import annotations

import re

import nbformat
import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_notebooks_hold_no_outputs():
    full = []
    for path in NOTEBOOKS:
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells, 1):
            if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
                full.append(f"{path.name}, cell {number}")
    assert full == [], "run `make strip` to take the outputs out"


def test_notebooks_are_valid():
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3", path.name
        assert "widgets" not in notebook.metadata, path.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_tests_that_a_chapter_points_at_exist(path):
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    files = set(re.findall(r"`(tests/[\w/]+\.py)`", text))
    assert {file for file in files if not (ROOT / file).exists()} == set()
    code = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    named = re.findall(r"`(test_\w+)`", text)
    assert [name for name in named if f"def {name}(" not in code and f'"{name}"' not in code] == []  # or its id
