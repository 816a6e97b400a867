"""Which notebooks run again after a change: read off small made-up trees, and once from a real build."""

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

INIT = '_PUBLIC = {"solve": "oracle", "load": "datasets"}\n\n\ndef __getattr__(name):\n    raise AttributeError(name)\n'
MODULES = {
    "__init__.py": INIT,
    "problem.py": "SIZE = 1\n",
    "oracle.py": "from adalib.table import SIZE\n\n\ndef solve():\n    return SIZE\n",
    "datasets.py": "def load():\n    return 0\n",
    "theory.py": "def bound():\n    from . import oracle\n\n    return oracle.solve()\n",
    "explorer/__init__.py": "from .page import page\n",
    "explorer/page.py": "from ..problem import SIZE\n\npage = SIZE\n",
    "explorer/front/numbers.js": "let x;\n",
    "dynamic.py": "from importlib import import_module\n\n\ndef get(name):\n    return import_module(name)\n",
}
USES_ORACLE = "import adalib as ad\n\nad.solve()"


@pytest.fixture
def root(tmp_path) -> Path:
    for name, text in MODULES.items():
        file = tmp_path / "adalib" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "answers.jsonl").write_text("{}\n")
    (tmp_path / "requirements.txt").write_text("numpy==1\n")
    (tmp_path / "constraints.txt").write_text("six==1\n")
    return tmp_path


def write_notebook(path: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, path)
    return path


def affected(root: Path, code: str, changed: str) -> bool:
    """Whether a notebook with this code gets another fingerprint when this file changes."""
    notebook = write_notebook(root / "notebook.ipynb", code)
    before = freshness.fingerprint(notebook, root)
    assert freshness.fingerprint(notebook, root) == before
    with (root / changed).open("a") as file:
        file.write("\n# changed\n")
    return freshness.fingerprint(notebook, root) != before


@pytest.mark.parametrize(
    "code",
    [
        "import adalib\n\nadalib.solve()",
        USES_ORACLE,
        "from adalib import solve",
        "from adalib import oracle",
        "from adalib.solve.oracle import solve",
        "import adalib.solve.oracle",
        "import adalib.solve.oracle as o",
        "def later():\n    from adalib import solve\n",
        "from adalib import theory",
    ],
)
def test_counts_what_is_imported_directly_or_not_and_nothing_else(root, code):
    for module in ("oracle", "problem"):
        assert affected(root, code, f"adalib/{module}.py")
    assert not affected(root, code, "adalib/datasets.py")
    assert not affected(root, code, "adalib/explorer/front/numbers.js")
    assert not affected(root, code, "data/answers.jsonl")


@pytest.mark.parametrize("changed", ["requirements.txt", "constraints.txt"])
def test_pins_affect_everything(root, changed):
    assert affected(root, "import numpy", changed)


@pytest.mark.parametrize("code", ["import adalib\n\nadalib.load()", "open('../data/answers.jsonl')"])
def test_data_affects_what_reads_it(root, code):
    assert affected(root, code, "data/answers.jsonl")


def test_a_module_that_names_the_data_folder_reads_it(root):
    with (root / "adalib" / "problem.py").open("a") as file:
        file.write('FILE = "data/targets.json"\n')
    assert affected(root, USES_ORACLE, "data/answers.jsonl")


def test_a_package_counts_with_its_modules_its_other_files_and_its_imports(root):
    code = "from adalib import explorer"
    for changed in ("explorer/front/numbers.js", "explorer/page.py", "problem.py"):
        assert affected(root, code, f"adalib/{changed}")
    assert not affected(root, code, "adalib/oracle.py")


@pytest.mark.parametrize(
    "code",
    [
        "from adalib import *",
        "import adalib\n\nhelp(adalib)",
        "import adalib\n\nadalib.unknown",
        "!python -m adalib solve",
        "import subprocess\n\nsubprocess.run(['python', '-m', 'adalib', 'solve'])",
        "%%bash\npython -m adalib solve --budget 2",
        "from adalib import dynamic",
    ],
)
def test_what_cannot_be_told_counts_as_everything(root, code):
    assert affected(root, code, "adalib/datasets.py")
    assert affected(root, code, "adalib/explorer/front/numbers.js")


def test_a_new_public_name_affects_nobody_and_other_changes_of_the_package_file_do(root):
    notebook = write_notebook(root / "notebook.ipynb", USES_ORACLE)
    before = freshness.fingerprint(notebook, root)
    init = root / "adalib" / "__init__.py"
    init.write_text(INIT.replace('"load"', '"bound": "theory", "load"'))
    assert freshness.fingerprint(notebook, root) == before
    init.write_text(INIT.replace("raise", "print(name)\n    raise"))
    assert freshness.fingerprint(notebook, root) != before
    init.write_text(INIT.replace('"oracle"', '"theory"'))
    assert freshness.fingerprint(notebook, root) != before


def test_reads_the_package_as_it_is():
    """Every module of adalib is understood: what it imports are modules that there are."""
    package = freshness.Package(ROOT / "adalib")
    assert {"problem", "figures"} <= set(package.modules)
    assert package.named_by_module("problem") == set()
    assert set(package.public.values()) <= set(package.modules)
    assert package.closure({"figures"}) < set(package.modules)


def test_a_build_runs_again_exactly_what_a_change_can_affect(root):
    """Two notebooks that count their own runs, built four times by Jupyter Book itself."""
    for name, module in (("one", "oracle"), ("two", "datasets")):
        count = f"with open('{name}.count', 'a') as file:\n    file.write('x')"
        write_notebook(root / "notebooks" / f"{name}.ipynb", f"from adalib import {module}", count)
    (root / "intro.md").write_text("# Intro\n")
    toc = ["format: jb-book", "root: intro", "chapters:", "- file: notebooks/one", "- file: notebooks/two"]
    (root / "_toc.yml").write_text("\n".join(toc) + "\n")
    (root / "book").mkdir()
    shutil.copytree(ROOT / "book" / "_ext", root / "book" / "_ext")
    config = {
        "only_build_toc_files": True,
        "execute": {"execute_notebooks": "cache", "raise_on_error": True},
        "sphinx": {"local_extensions": {"freshness": "book/_ext", "parallel": "book/_ext"}},
    }
    (root / "_config.yml").write_text(json.dumps(config))

    def runs() -> tuple[int, int]:
        return tuple(len((root / "notebooks" / f"{name}.count").read_text()) for name in ("one", "two"))

    def build() -> tuple[int, int]:
        command = [str(Path(sys.executable).with_name("jupyter-book")), "build", "."]
        # The notebooks import the made-up package, not the installed one.
        done = subprocess.run(
            command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return runs()

    assert build() == (1, 1)
    assert build() == (1, 1)
    with (root / "adalib" / "problem.py").open("a") as file:
        file.write("SIZE = 2\n")
    assert build() == (2, 1)
    (root / "adalib" / "oracle.py").write_text(MODULES["oracle.py"] + "\nraise RuntimeError('broken')\n")
    with pytest.raises(AssertionError, match="(?s)RuntimeError.*broken"):
        build()
    (root / "adalib" / "oracle.py").write_text(MODULES["oracle.py"])
    assert build() == (3, 1)
