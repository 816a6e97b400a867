"""The student's book takes the outputs of the book over, and Jupyter Book finds them fresh."""

from __future__ import annotations

import json

import nbformat
import pytest
from freshness import fingerprint
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from editions.runs import take_runs
from editions.student import without_solutions

START, END = ":::{solution-start} ex\n:class: dropdown\n:::", ":::{solution-end}\n:::"
NAME = "notebooks/one"


def written(folder, cells):
    path = folder / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture
def books(tmp_path):
    """A book whose only notebook has run, and the student's sources of it."""
    code = [new_code_cell("x = 1\nx"), new_code_cell("x + 1"), new_code_cell("x + 2")]
    cells = [code[0], new_markdown_cell(START), code[1], new_markdown_cell(END), code[2]]
    path = written(tmp_path / "book", cells)
    written(tmp_path / "student", without_solutions(cells))
    executed = nbformat.read(path, as_version=4)
    ran = [cell for cell in executed.cells if cell.cell_type == "code"]
    for number, cell in enumerate(ran, 1):
        cell.execution_count = number
        value = {"text/plain": str(number)}
        cell.outputs = [new_output("execute_result", value, execution_count=number)]
    cache = get_cache(tmp_path / "book" / "_build" / ".jupyter_cache")
    cache.cache_notebook_bundle(CacheBundleIn(executed, str(path)), check_validity=False)
    return tmp_path / "book", tmp_path / "student"


def test_the_cells_that_are_left_keep_their_outputs(books):
    book, student = books
    for _ in range(2):  # a second time replaces the first
        assert take_runs(book, student, [NAME]) == [NAME]
    cache = get_cache(student / "_build" / ".jupyter_cache")
    source = nbformat.read(student / f"{NAME}.ipynb", as_version=4)
    assert not source.cells[0].outputs
    merged = cache.merge_match_into_notebook(source)[1]
    found = [cell.outputs[0].data["text/plain"] for cell in merged.cells if cell.outputs]
    assert found == ["1", "3"]
    kept = json.loads((student / "_build" / ".fingerprints.json").read_text())
    assert kept["ran"] == {NAME: fingerprint(student / f"{NAME}.ipynb", student)}


def test_what_the_book_has_not_run_is_left_to_run(books, tmp_path):
    _, student = books
    (tmp_path / "empty" / "notebooks").mkdir(parents=True)
    other = new_notebook(cells=[new_code_cell("y = 2")])
    nbformat.write(other, tmp_path / "empty" / f"{NAME}.ipynb")
    assert take_runs(tmp_path / "empty", student, [NAME]) == []


def test_a_cell_that_the_book_does_not_have_is_refused(books):
    book, student = books
    path = student / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = "another"
    nbformat.write(notebook, path)
    with pytest.raises(ValueError, match="'another' is not in the book"):
        take_runs(book, student, [NAME])
