"""Which notebooks run again after a change: read off small made-up trees, and once from a real build."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dependencies
import freshness
import nbformat
import pytest
from conftest import ROOT

INIT = """from adalib._names import lazy

_PUBLIC = {"solve": "oracle", "load": "datasets", "listed": "registry.table"}

__getattr__, __dir__ = lazy(__name__, _PUBLIC)
"""
MODULES = {
    "__init__.py": INIT,
    "_names.py": (
        "from importlib import import_module\n\n\ndef lazy(name, public):\n    def find(what):\n"
        "        if what not in public:\n            raise AttributeError(what)\n"
        "        return getattr(import_module(f'{name}.{public[what]}'), what)\n\n    return find, list\n"
    ),
    "problem.py": "SIZE = 1\nSHAPE = 2\n\n\ndef cost():\n    return SIZE\n",
    "oracle.py": "from adalib.problem import SIZE\n\n\ndef solve():\n    return SIZE\n\n\ndef other():\n    return 0\n",
    "datasets.py": "from pathlib import Path\n\n\ndef load():\n    return Path(__file__).parent.parent / 'data'\n",
    "theory.py": "def bound():\n    from . import oracle\n\n    return oracle.solve()\n",
    "explorer/__init__.py": "from .page import page\n",
    "explorer/page.py": (
        "from pathlib import Path\n\nfrom ..problem import SIZE\n\n_HERE = Path(__file__).parent\n\n\n"
        "def page():\n    return (_HERE / 'front' / 'numbers.js').read_text() + str(SIZE)\n"
    ),
    "explorer/front/numbers.js": "let x;\n",
    "registry/__init__.py": "from . import entries, table\n",
    "registry/table.py": "ENTRIES = {}\n\n\ndef entry(f):\n    ENTRIES[f.__name__] = f\n    return f\n\n\n"
    "def listed():\n    return list(ENTRIES)\n",
    "registry/entries.py": "from .table import entry\n\n\n@entry\ndef first():\n    return 1\n\n\n"
    "def beside():\n    return 2\n",
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


def affected(root: Path, code: str, changed: str, old: str = "", new: str = "") -> bool:
    """Whether a notebook with this code gets another fingerprint when this file changes."""
    notebook = write_notebook(root / "notebook.ipynb", code)
    before = freshness.fingerprint(notebook, root)
    assert freshness.fingerprint(notebook, root) == before
    text = (root / changed).read_text()
    assert old in text
    (root / changed).write_text(text.replace(old, new) if old else text + "\nprint('changed')\n")
    after = freshness.fingerprint(notebook, root)
    (root / changed).write_text(text)
    return after != before


@pytest.mark.parametrize(
    "code",
    [
        "import adalib\n\nadalib.solve()",
        USES_ORACLE,
        "from adalib import solve\n\nsolve()",
        "from adalib import oracle\n\noracle.solve()",
        "from adalib.oracle import solve as s\n\ns()",
        "import adalib.oracle\n\nadalib.oracle.solve()",
        "import adalib.oracle as o\n\no.solve()",
        "def later():\n    from adalib import solve\n\n    solve()",
        "from adalib import theory\n\ntheory.bound()",
        "import adalib.oracle as o\n\nvars(o)",
    ],
)
def test_counts_what_is_used_directly_or_not_and_nothing_else(root, code):
    assert affected(root, code, "adalib/oracle.py", "return SIZE", "return SIZE + 1")
    assert affected(root, code, "adalib/problem.py", "SIZE = 1", "SIZE = 2")
    assert affected(root, code, "adalib/oracle.py"), "a statement that runs when the module is imported"
    assert affected(root, code, "adalib/problem.py"), "a statement that runs when the module is imported"
    assert not affected(root, code, "adalib/problem.py", "SHAPE = 2", "SHAPE = 3")
    assert not affected(root, code, "adalib/problem.py", "return SIZE", "return SIZE + 1")
    assert not affected(root, code, "adalib/datasets.py")
    assert not affected(root, code, "adalib/explorer/front/numbers.js")
    assert not affected(root, code, "data/answers.jsonl")


def test_a_name_that_is_not_used_and_a_comment_affect_nobody(root):
    for code in (USES_ORACLE, "from adalib.oracle import solve"):
        assert not affected(root, code, "adalib/oracle.py", "return 0", "return 1")
        assert not affected(root, code, "adalib/oracle.py", "return SIZE\n", "return SIZE  # why\n")
    assert not affected(root, "from adalib.oracle import solve", "adalib/oracle.py", "return SIZE", "return SIZE + 1")


def test_a_docstring_counts_where_something_reads_it(root):
    change = ("adalib/oracle.py", "solve():\n", "solve():\n    'Told.'\n")
    assert not affected(root, USES_ORACLE, *change)
    assert affected(root, f"{USES_ORACLE}\nprint(ad.solve.__doc__)", *change)


@pytest.mark.parametrize("changed", ["requirements.txt", "constraints.txt"])
def test_pins_affect_everything(root, changed):
    assert affected(root, "import numpy", changed)


@pytest.mark.parametrize("code", ["import adalib\n\nadalib.load()", "open('../data/answers.jsonl')"])
def test_data_affects_what_reads_it(root, code):
    assert affected(root, code, "data/answers.jsonl")
    assert not affected(root, code, "adalib/explorer/front/numbers.js")


def test_a_statement_that_names_the_data_folder_reads_it(root):
    with (root / "adalib" / "oracle.py").open("a") as file:
        file.write('\n\ndef read():\n    return open("data/targets.json")\n')
    assert affected(root, "from adalib.oracle import read\n\nread()", "data/answers.jsonl")
    assert not affected(root, USES_ORACLE, "data/answers.jsonl")


def test_a_file_beside_the_code_counts_where_the_code_looks_for_it(root):
    code = "from adalib import explorer\n\nexplorer.page()"
    assert affected(root, code, "adalib/explorer/front/numbers.js")
    assert affected(root, code, "adalib/problem.py", "SIZE = 1", "SIZE = 2")
    assert not affected(root, code, "adalib/oracle.py")


def test_what_registers_itself_counts_with_the_registry(root):
    """A decorator that keeps what it decorates: nobody names the function, and yet it is used."""
    code = "import adalib\n\nadalib.listed()"
    assert affected(root, code, "adalib/registry/entries.py", "return 1", "return 3")
    assert not affected(root, code, "adalib/registry/entries.py", "return 2", "return 3")


@pytest.mark.parametrize(
    "code",
    [
        "from adalib import *",
        "import adalib\n\nhelp(adalib)",
        "import adalib\n\ngetattr(adalib, 'load')",
        "import adalib\n\nadalib.unknown",
        "!python -m adalib solve",
        "import adalib\n\nadalib.solve?",
        "import subprocess\n\nsubprocess.run(['python', '-m', 'adalib', 'solve'])",
        "import os\n\nname = 'adalib'\nos.system(f'python -m {name}')",
        "%%bash\npython -m adalib solve --budget 2",
        "from adalib import dynamic\n\ndynamic.get('x')",
        "from adalib.oracle import solve\nsolve(\n  adalib nonsense",
    ],
)
def test_what_cannot_be_told_counts_as_everything(root, code):
    assert affected(root, code, "adalib/problem.py", "SHAPE = 2", "SHAPE = 3")
    assert affected(root, code, "adalib/explorer/front/numbers.js")


def test_a_word_that_happens_to_be_the_name_of_the_package_is_a_word(root):
    code = f"{USES_ORACLE}\nfigure.update_layout(template='adalib', font='system-ui')\nprint('see adalib.load')"
    assert not affected(root, code, "adalib/datasets.py")


def test_a_new_public_name_affects_nobody_and_other_changes_of_the_package_file_do(root):
    assert not affected(root, USES_ORACLE, "adalib/__init__.py", '"load"', '"bound": "theory", "load"')
    assert affected(root, USES_ORACLE, "adalib/__init__.py", "__getattr__", "print()\n__getattr__")
    assert affected(root, USES_ORACLE, "adalib/__init__.py", '"oracle"', '"theory"')


def test_a_module_that_cannot_be_read_counts_as_everything(root):
    assert affected(root, USES_ORACLE, "adalib/problem.py", "SIZE = 1", "SIZE = = 1")


def test_reads_the_package_as_it_is():
    """Every public name is followed to a definition, and no chapter depends on everything."""
    package = dependencies.Package(ROOT / "adalib")
    for base in ("", "paper"):
        for name in package.modules[base].public:
            code = f"from adalib{base and '.'}{base} import {name}\n\n{name}"
            reached = package.reached_by(code)
            assert dependencies.EVERYTHING not in reached, code
            assert any(at >= 0 for _, at in reached), code
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        reached = package.reached_by(freshness.notebook_code(notebook))
        assert dependencies.EVERYTHING not in reached, notebook.name


def test_reads_what_really_runs():
    """Whatever solving a bundled setting calls, reading has found."""
    code = (
        "import adalib\n\nquestions = adalib.load('drill-fewshot').take(range(20))\ntable = questions.table()\n"
        "print(adalib.frontier(table.acc, table.cost).at(2).cost, adalib.bisect(table.acc, table.cost, 2).lam)"
    )
    ran: set[tuple[str, int]] = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function, no class or module
            ran.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        exec(compile(code, "cells", "exec"), {})
    finally:
        sys.setprofile(before)
    package = dependencies.Package(ROOT / "adalib")
    reached = package.reached_by(code)
    found = 0
    for file, line in ran:
        if not Path(file).is_relative_to(ROOT / "adalib"):
            continue
        parts = Path(file).relative_to(ROOT / "adalib").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for at, statement in enumerate(package.modules[name].statements):
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
            if first <= line <= statement.end_lineno:
                assert (name, at) in reached, f"{file}:{line}"
                found += 1
    assert found > 30


def test_a_build_runs_again_exactly_what_a_change_can_affect(root):
    """Two notebooks that count their own runs, built eight times by Jupyter Book itself."""
    for name, uses in (("one", "oracle.solve()"), ("two", "datasets.load()")):
        count = f"with open('{name}.count', 'a') as file:\n    file.write('x')"
        imports = f"from adalib import {uses.split('.')[0]}"
        write_notebook(root / "notebooks" / f"{name}.ipynb", imports, uses, count)
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
    with (root / "adalib" / "oracle.py").open("a") as file:
        file.write("\n\ndef unused():\n    return 1\n")
    assert build() == (2, 1)
    (root / "adalib" / "oracle.py").write_text(MODULES["oracle.py"] + "\nraise RuntimeError('broken')\n")
    with pytest.raises(AssertionError, match="(?s)RuntimeError.*broken"):
        build()
    (root / "adalib" / "oracle.py").write_text(MODULES["oracle.py"])
    assert build() == (3, 1)
    # A build that fails in its reading, after the notebooks ran, has lost none of their runs.
    with (root / "adalib" / "problem.py").open("a") as file:
        file.write("SIZE = 3\n")
    breaks = "def setup(app):\n    app.connect('source-read', lambda *_: 1 / 0)\n"
    (root / "book" / "_ext" / "breaks.py").write_text(breaks)
    config["sphinx"]["local_extensions"]["breaks"] = "book/_ext"
    (root / "_config.yml").write_text(json.dumps(config))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        build()
    assert runs() == (4, 1)
    del config["sphinx"]["local_extensions"]["breaks"]
    (root / "_config.yml").write_text(json.dumps(config))
    assert build() == (4, 1)
