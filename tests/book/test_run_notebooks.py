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

from press import notebook_reads
from press.run_notebooks import PARTS, digest_of, hashes, read_by

FILES = {
    "adalib/__init__.py": "",
    "adalib/problem.py": "SIZE = 1\n",
    "adalib/unused.py": "SIZE = 1\n",
    "data/answers/one.jsonl": "{}\n",
    "data/make.py": "MADE = 1\n",
    "requirements.txt": "numpy==1\n",
    "constraints.txt": "numpy==1\n",
    "intro.md": "# Intro\n",
    "_toc.yml": "format: jb-book\nroot: intro\nchapters:\n- file: notebooks/one\n"
    "- file: notebooks/two\n",
}
IMPORTS = "import sys; sys.path.insert(0, '.'); import adalib.problem"


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


def read_of(root: Path, program: str) -> set[str]:
    """What a program is seen to read, in a process of its own."""
    record = root / "record"
    record.touch()
    watch = f"import runpy; runpy.run_path({notebook_reads.__file__!r})['watch']"
    lines = [f"{watch}({str(record)!r}, {str(root)!r}, {list(PARTS)!r})", program]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=root, check=True)
    return set(read_by(record, root))


@pytest.mark.parametrize("times", [1, 2], ids=["fresh", "compiled"])
def test_what_is_imported_counts_and_its_neighbours_do_not(root, times):
    for _ in range(times):
        found = read_of(root, IMPORTS)
    assert found == {"adalib/__init__.py", "adalib/problem.py"}


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("open('data/answers/one.jsonl')", {"data/answers/one.jsonl"}),
        ("open('intro.md')", set()),
        ("import os; os.listdir('data/answers')", {"data/answers"}),
        ("from pathlib import Path; list(Path('data').glob('*.jsonl'))", {"data"}),
        ("import subprocess; subprocess.run(['true'])", set()),
        ("import os\nif not os.fork(): open('data/make.py')\nelse: os.wait()", {"data/make.py"}),
    ],
)
def test_what_is_opened_or_listed_counts(root, program, found):
    assert read_of(root, program) == found


def test_who_starts_another_python_may_have_read_everything(root):
    run = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])"
    assert read_of(root, run) == {name for name in FILES if name.startswith(PARTS)}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda root: append(root / "adalib" / "problem.py", "MORE = 2\n"), ["adalib/problem.py"]),
        (lambda root: (root / "adalib" / "problem.py").unlink(), ["adalib/problem.py"]),
        (lambda root: append(root / "adalib" / "unused.py", "MORE = 2\n"), []),
        (lambda root: append(root / "data" / "answers" / "two.jsonl", "{}"), ["data/answers"]),
        (lambda root: append(root / "data" / "answers" / "one.jsonl", "{}"), []),
        (lambda root: append(root / "constraints.txt", "numpy==2\n"), ["constraints.txt"]),
    ],
)
def test_a_change_is_named_by_its_file(root, change, named):
    read = ("adalib/problem.py", "data/answers")
    before = hashes(root, read, digest_of)
    change(root)
    after = hashes(root, read, digest_of)
    assert [name for name in after if after[name] != before[name]] == named


@pytest.mark.nightly
def test_a_build_runs_what_is_out_of_date_and_says_why(root):
    """Two notebooks that count their own runs, built by Jupyter Book itself: with a failing page,
    again, with other code, with other pins, and with one notebook changed and changed back."""
    for name in ("one", "two"):
        write_notebook(root / "notebooks" / f"{name}.ipynb", name)
    one = IMPORTS.replace("'.'", "'..'")
    write_notebook(root / "notebooks" / "one.ipynb", "one", one)
    shutil.copytree(ROOT / "book" / "press", root / "book" / "press")
    (root / "book" / "press" / "breaks.py").write_text(
        "def setup(app):\n    app.connect('source-read', lambda *_: 1 / 0)\n"
    )

    def build(*more: str) -> tuple[bool, list[int], list[str]]:
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
        said = [line for line in done.stdout.split("\n") if "runs again" in line]
        return done.returncode == 0, counts, [line.split(": ")[-1] for line in said]

    # A build that fails in its reading, after the notebooks ran, has lost none of their runs.
    assert build("press.breaks") == (False, [1, 1], [])
    assert build() == (True, [1, 1], [])
    append(root / "adalib" / "problem.py", "SIZE = 2\n")
    assert build() == (True, [2, 1], ["adalib/problem.py changed"])
    write_notebook(root / "notebooks" / "one.ipynb", "one", one, "2")
    assert build() == (True, [3, 1], [])
    append(root / "adalib" / "problem.py", "SIZE = 3\n")
    write_notebook(root / "notebooks" / "one.ipynb", "one", one)
    assert build()[:2] == (True, [4, 1])  # not what this notebook once gave, with older code
    append(root / "requirements.txt", "scipy==1\n")
    assert build() == (True, [5, 2], ["requirements.txt changed"] * 2)
    append(root / "adalib" / "unused.py", "SIZE = 2\n")
    assert build() == (True, [5, 2], [])


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
