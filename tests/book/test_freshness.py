"""Which notebooks run again after a change: read off a small made-up tree, and once from real
builds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import freshness
import nbformat
import pytest
from conftest import ROOT

MODULES = {
    "__init__.py": (
        "import lazy_loader\n\n"
        "__getattr__, __dir__, __all__ = lazy_loader.attach(\n"
        '    __name__, submod_attrs={"oracle": ["solve"]}\n'
        ")\n"
    ),
    "problem.py": "SIZE = 1\n",
    "oracle.py": "from adalib.problem import SIZE\n\n\ndef solve():\n    return SIZE\n",
    "theory.py": "def bound():\n    from . import oracle\n\n    return oracle.solve()\n",
    "datasets.py": "def load():\n    return 1\n",
    "explorer/__init__.py": "from .page import page\n",
    "explorer/page.py": "from ..problem import SIZE\n\n\ndef page():\n    return str(SIZE)\n",
    "explorer/front/numbers.js": "let x;\n",
}


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    # The real packages would be found before the made-up one.
    for package in freshness.PACKAGES:
        monkeypatch.delitem(sys.modules, package, raising=False)
    for name, text in MODULES.items():
        file = tmp_path / "adalib" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "answers.jsonl").write_text("{}\n")
    (tmp_path / "requirements.txt").write_text("numpy==1\n")
    return tmp_path


def write_notebook(path: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    path.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, path)
    return path


def affected(root: Path, code: str, file: str, more: str = "MORE = 1\n") -> bool:
    """Whether a notebook's fingerprint changes when a file does."""
    notebook = write_notebook(root / "notebook.ipynb", code)
    before = freshness.fingerprint(notebook, root)
    with (root / file).open("a") as changed:
        changed.write(more)
    return freshness.fingerprint(notebook, root) != before


USES = {
    "import adalib\n\nadalib.solve()": {"adalib/oracle.py", "adalib/problem.py"},
    "from adalib.oracle import solve as s": {"adalib/oracle.py", "adalib/problem.py"},
    "from adalib import theory": {"adalib/theory.py", "adalib/oracle.py", "adalib/problem.py"},
    "from adalib import explorer": {
        "adalib/problem.py",
        *(f"adalib/{m}" for m in MODULES if m.startswith("explorer")),
    },
    "from adalib.datasets import load": {"adalib/datasets.py"},
    "from importlib import import_module\n\nimport_module('ada' 'lib')  # adalib": {
        f"adalib/{m}" for m in MODULES
    },
    "!python -m adalib solve": {f"adalib/{module}" for module in MODULES},
    "import numpy": set(),
}


@pytest.mark.parametrize("code", USES)
def test_a_change_counts_where_it_can_reach(root, code):
    counted = {f"adalib/{module}" for module in MODULES if affected(root, code, f"adalib/{module}")}
    assert counted - {"adalib/__init__.py"} == USES[code] - {"adalib/__init__.py"}
    assert affected(root, code, "data/answers.jsonl") == bool(USES[code])
    assert affected(root, code, "requirements.txt")


def test_comments_do_not_count(root):
    assert not affected(root, "import adalib\n\nadalib.solve()", "adalib/oracle.py", "# said\n")


def test_imports_of_chapters_are_followed():
    package = freshness.Package(ROOT)
    for name, modules in package.public.items():
        reached = package.reached_by(f"import adalib\n\nadalib.{name}")
        assert modules <= reached <= package.graph.modules, name
        assert reached != package.graph.modules, name
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        reached = package.reached_by(freshness.notebook_code(notebook))
        assert reached != package.graph.modules, notebook.name
        assert reached, notebook.name


def test_a_build_runs_again_exactly_what_a_change_can_affect(root):
    """Two notebooks that count their own runs, built by Jupyter Book itself: anew, with a failing
    page, and changed."""
    for name, uses in (("one", "oracle.solve()"), ("two", "datasets.load()")):
        count = f"with open('{name}.count', 'a') as file:\n    file.write('x')"
        write_notebook(
            root / "notebooks" / f"{name}.ipynb",
            f"from adalib import {uses.split('.')[0]}",
            uses,
            count,
        )
    (root / "intro.md").write_text("# Intro\n")
    toc = [
        "format: jb-book",
        "root: intro",
        "chapters:",
        "- file: notebooks/one",
        "- file: notebooks/two",
    ]
    (root / "_toc.yml").write_text("\n".join(toc) + "\n")
    (root / "book").mkdir()
    shutil.copytree(ROOT / "book" / "_ext", root / "book" / "_ext")
    local = {"freshness": "book/_ext", "parallel": "book/_ext"}

    def build(**more: str) -> tuple[bool, list[int]]:
        config = {
            "only_build_toc_files": True,
            "execute": {"execute_notebooks": "cache", "raise_on_error": True},
            "sphinx": {"local_extensions": {**local, **more}},
        }
        (root / "_config.yml").write_text(json.dumps(config))
        command = [str(Path(sys.executable).with_name("jupyter-book")), "build", "."]
        # The notebooks import the made-up package, not the installed one.
        done = subprocess.run(
            command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True
        )
        print(done.stdout.decode()[-2000:], done.stderr.decode()[-2000:])  # shown if the test fails
        counts = [
            len((root / "notebooks" / f"{name}.count").read_text()) for name in ("one", "two")
        ]
        return done.returncode == 0, counts

    # A build that fails in its reading, after the notebooks ran, has lost none of their runs: the
    # next one runs what a change can affect, and nothing else.
    (root / "book" / "_ext" / "breaks.py").write_text(
        "def setup(app):\n    app.connect('source-read', lambda *_: 1 / 0)\n"
    )
    assert build(breaks="book/_ext") == (False, [1, 1])
    with (root / "adalib" / "problem.py").open("a") as file:
        file.write("SIZE = 2\n")
    assert build() == (True, [2, 1])
