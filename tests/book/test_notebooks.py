"""The notebooks as they are kept: valid, without outputs, and called in the code by the names they have."""

from __future__ import annotations

import re

import nbformat
import pytest
from conftest import ROOT, prose

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MENTION = re.compile(r'chapter\s+(\d+),\s+"([^"]+)"')


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_holds_no_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "widgets" not in notebook.metadata
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    full = [cell.source for cell in code if cell.outputs or cell.execution_count is not None]
    assert full == [], "run `make strip` to take the outputs out"


def test_docstrings_name_the_chapters_and_their_sections_as_they_are_called():
    """Every 'chapter N, "Title"' of the code, also where a line break parts it."""
    chapters = [path.stem for path in NOTEBOOKS if path.stem[0].isdigit()]
    known: dict[int, list[str]] = {}  # 9b counts as 9
    for name in chapters:
        known.setdefault(int(name[:2]), []).extend(re.findall(r"(?m)^#{1,3} (.+)$", prose(name)))
    found = [
        (file.relative_to(ROOT).as_posix(), int(number), " ".join(title.split()))
        for file in sorted((ROOT / "adalib").rglob("*.py"))
        for number, title in MENTION.findall(file.read_text(encoding="utf-8"))
    ]
    assert len(found) > 20  # the pattern still fits what we write
    assert [(file, n, title) for file, n, title in found if title not in known.get(n, ())] == []
