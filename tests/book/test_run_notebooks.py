"""Which notebooks run again after a change: once from real builds of a small made-up book."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT

from press.run_notebooks import PARTS, made_from

FILES = {
    "adalib/problem.py": "SIZE = 1\n",
    "book/adabook/prose.py": "WORD = 'one'\n",
    "data/answers.jsonl": "{}\n",
    "data/make.py": "MADE = 1\n",
    "requirements.txt": "numpy==1\n",
    "constraints.txt": "numpy==1\n",
    "intro.md": "# Intro\n",
    "_toc.yml": "format: jb-book\nroot: intro\nchapters:\n- file: notebooks/one\n"
    "- file: notebooks/two\n",
}


@pytest.fixture
def root(tmp_path) -> Path:
    """A small book."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def append(file: Path, text: str) -> None:
    """Change a file."""
    with file.open("a") as changed:
        changed.write(text)


@pytest.mark.parametrize("name", FILES)
def test_a_change_is_named_by_its_part(root, name):
    before = made_from(root)
    append(root / name, "MORE = 2\n")
    after = made_from(root)
    different = [part for part in after if after[part] != before[part]]
    counts = name.startswith(PARTS) and name != "data/make.py"
    assert different == [part for part in PARTS if counts and name.startswith(part)]


@pytest.mark.nightly
def test_a_build_runs_what_is_out_of_date_and_says_why(root):
    """Two notebooks that count their own runs, built by Jupyter Book itself: with a failing page,
    again, with other code, and with one notebook changed."""
    for name in ("one", "two"):
        write_notebook(root / "notebooks" / f"{name}.ipynb", name)
    shutil.copytree(ROOT / "book" / "press", root / "book" / "press")
    (root / "book" / "press" / "breaks.py").write_text(
        "def setup(app):\n    app.connect('source-read', lambda *_: 1 / 0)\n"
    )

    def build(*more: str) -> tuple[bool, list[int], bool]:
        extensions = dict.fromkeys(["press.run_notebooks", *more], "book")
        config = {
            "only_build_toc_files": True,
            "execute": {"execute_notebooks": "cache", "raise_on_error": True},
            "sphinx": {"local_extensions": extensions},
        }
        (root / "_config.yml").write_text(json.dumps(config))
        command = [str(Path(sys.executable).with_name("jupyter-book")), "build", "."]
        done = subprocess.run(command, cwd=root, env={**os.environ}, capture_output=True, text=True)
        print(done.stdout[-2000:], done.stderr[-2000:])  # shown if the test fails
        counts = [
            len((root / "notebooks" / f"{name}.count").read_text()) for name in ("one", "two")
        ]
        return done.returncode == 0, counts, "adalib changed" in done.stdout

    # A build that fails in its reading, after the notebooks ran, has lost none of their runs.
    assert build("press.breaks") == (False, [1, 1], False)
    assert build() == (True, [1, 1], False)
    append(root / "adalib" / "problem.py", "SIZE = 2\n")
    assert build() == (True, [2, 2], True)
    write_notebook(root / "notebooks" / "two.ipynb", "two", "2")
    assert build() == (True, [2, 3], False)


def write_notebook(path: Path, name: str, *cells: str) -> None:
    """Write a notebook that counts its runs."""
    count = f"with open('{name}.count', 'a') as file:\n    file.write('x')"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in (count, *cells)],
        metadata={"kernelspec": kernel},
    )
    path.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, path)
