"""A chapter proposes changes to its reader: each is where it says, and its cells run with it."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import pytest
from changed_chapter import place_of, read_chapter
from conftest import ROOT

from contents import lessons

CHAPTERS = [page.path for page in lessons() if read_chapter(page.path)[0]]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(path) -> subprocess.CompletedProcess:
    """Run a chapter with each of its changes."""
    command = [sys.executable, ROOT / "tests" / "helpers" / "changed_chapter.py", path]
    return subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_is_to_be_changed_stands_where_the_chapter_says(path):
    changes, cells = read_chapter(path)
    assert [place_of(change, cells) for change in changes]


@pytest.mark.nightly
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_reader_makes_a_change_and_runs_again(path):
    done = run(path)
    assert done.returncode == 0, done.stderr


def notebook_of(folder, *cells):
    """A small chapter, from Markdown (texts that begin with #) and code."""
    kinds = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    notebook = nbformat.v4.new_notebook(
        cells=[kinds[not text.startswith("#")](text) for text in cells]
    )
    path = folder / "chapter.ipynb"
    nbformat.write(notebook, path)
    return path


END = "# End\n\n## Change this and run again\n\n- In [Top](top), change `{}` to `{}`, or not.\n"
CELLS = ("# A\n\n(top)=\n## Top", "size = 3", "row = [0] * size", "assert len(row) == 3")


@pytest.mark.parametrize(("new", "code"), [("size = 4", 1), ("size = 1 + 2", 0)])
def test_a_change_that_breaks_a_later_cell_is_found(tmp_path, new, code):
    done = run(notebook_of(tmp_path, *CELLS, END.format("size = 3", new)))
    assert done.returncode == code
    assert ("assert len(row) == 3" in done.stderr) == bool(code)


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
    (change,), read = read_chapter(notebook_of(tmp_path, *cells, END.format("n = 1", "n = 2")))
    with pytest.raises(ValueError, match=message):
        place_of(change, read)
