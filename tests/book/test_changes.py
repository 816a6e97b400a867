"""A chapter proposes changes to its reader, and its cells still run with each of them."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import pytest
from changed_chapter import affected, changes_of, code_cells, failures, needed, place_of
from conftest import ROOT

from contents import lessons

CHAPTERS = [page.path for page in lessons() if changes_of(page.path)]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.nightly
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_reader_makes_a_change_and_runs_again(path):
    command = [sys.executable, ROOT / "tests" / "helpers" / "changed_chapter.py", path]
    run = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def notebook_of(folder, *cells):
    """A small chapter, from Markdown (texts that begin with #) and code."""
    kinds = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    notebook = nbformat.v4.new_notebook(
        cells=[kinds[not text.startswith("#")](text) for text in cells]
    )
    path = folder / "chapter.ipynb"
    nbformat.write(notebook, path)
    return path


END = (
    "# End\n\n## Change this and run again\n\n- In [Top](top), change `{}` to `{}`. What happens?\n"
)


def test_a_change_that_breaks_a_later_cell_is_found(tmp_path):
    size, use = "# A\n\n(top)=\n## Top", "size = 3"
    cells = (size, use, "row = [0] * size", "assert len(row) == 3", "unrelated = 1")
    path = notebook_of(tmp_path, *cells, END.format("size = 3", "size = 4"))
    sources = [source for source, _, _ in code_cells(path)]
    assert affected(0, sources) == [0, 1, 2]
    sources += ["print(row, unrelated)", "row = [1]", "row"]
    assert affected(0, sources) == [0, 1, 2, 4]  # the last row is another one
    assert needed([0, 1, 2, 4], sources) == [3]
    assert affected(0, ["import numpy as np", "np.pi"]) == [0]
    (failed,) = failures(path)
    assert "AssertionError" in failed
    path = notebook_of(tmp_path, *cells, END.format("size = 3", "size = 1 + 2"))
    assert failures(path) == []


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("# A\n\n(top)=", "n = 2", "m = n"), "exactly once"),
        (("# A\n\n(top)=", "n = 1", "n = 1"), "exactly once"),
        (("# A\n\n(other)=", "n = 1"), "stands below"),
        (("# A\n\n(top)=\n{solution-start} x", "n = 1", "# {solution-end}"), "exactly once"),
    ],
)
def test_a_change_that_names_no_cell_is_refused(tmp_path, cells, message):
    path = notebook_of(tmp_path, *cells, END.format("n = 1", "n = 2"))
    (change,) = changes_of(path)
    with pytest.raises(ValueError, match=message):
        place_of(change, code_cells(path))


def test_an_item_of_another_form_is_refused(tmp_path):
    path = notebook_of(tmp_path, "# A", END.format("n", "m").replace("In [Top](top), c", "C"))
    with pytest.raises(ValueError, match="write every item as"):
        changes_of(path)
