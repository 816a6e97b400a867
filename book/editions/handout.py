"""A folder and a zip file to hand out: the built book, its notebooks and the package."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import nbformat

from editions.statements import statements
from editions.writing import live_notebooks, read_values

_START = """# Start here

**To read**, open `html/index.html` in a browser. Sliders, quizzes and exercises with a short
answer work there; nothing is installed and nothing is sent.

**To run the notebooks** you need Python 3.11 or newer. In this folder:

    python3 -m venv venv
    venv/bin/pip install "./{wheel}[notebooks]"
    venv/bin/python check_environment.py
    venv/bin/jupyter lab notebooks

On Windows write `py` for `python3` and `venv\\Scripts\\` for `venv/bin/`. The third line says
whether all is well. Exercises are numbered alike in book and notebooks.

**On a Chromebook or a tablet**, where nothing can be installed, two ways are left. Ask your teacher
for the address of the notebooks in the browser (JupyterLite, which `make lite` writes for any web
server), and keep what you write with *File, Download*, because a browser may delete it. Or read the
book at your teacher's address instead of from this folder; the cells of its chapters then run in
the page. `html/index.html` itself opens on a Chromebook once the zip is unpacked with the Files
app.

The text is under CC BY 4.0 and the code under the MIT licence; `LICENSE` has both.
"""
_CHECK = """import sys

if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0])
try:
    import jupyterlab, plotly

    import adalib
except ImportError as error:
    sys.exit(f"{error.name} is missing: install the package as START-HERE.md says")
table = adalib.load("word-fewshot").table()
assert round(adalib.frontier(table.acc, table.cost).at(2).cost, 6) <= 2
print("All is well: open the notebooks.")
"""


def hand_out(name: str, root: Path, built: Path) -> None:
    """Put the built book, the notebooks and the package into ``_build/NAME``, and zip them.

    ``name`` is "student" or "instructor", and ``built`` the folder of that edition's build.
    """
    target = root / "_build" / name
    wheel = next((root / "dist").glob("*.whl"))
    _copy_book(root, built, target / "html")
    _write_notebooks(root, built, target / "notebooks", students=name == "student")
    shutil.copy(wheel, target)
    shutil.copy(root / "LICENSE", target)
    (target / "START-HERE.md").write_text(_START.format(wheel=wheel.name), encoding="utf-8")
    (target / "check_environment.py").write_text(_CHECK, encoding="utf-8")
    values = read_values(root / "_build" / "jupyter_execute" / "notebooks")
    (target / "statements.tex").write_text(statements(root, values), encoding="utf-8")
    files = ["START-HERE.md", "LICENSE", "check_environment.py", "statements.tex", wheel.name]
    _zip(target, [*files, "html", "notebooks"], name)
    print(f"The book:       file://{target}/html/index.html\nThe notebooks:  {target}/notebooks")
    print(f"To hand out:    {target / name}.zip")


def _copy_book(root: Path, built: Path, target: Path) -> None:
    """Copy the pages and, after `make live`, Python for them."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(built / "html", target)
    live = root / "_build" / "html" / "_live"
    if live.exists():
        shutil.copytree(live, target / "_live", dirs_exist_ok=True)


def _write_notebooks(root: Path, built: Path, target: Path, students: bool) -> None:
    """Write every chapter for JupyterLab."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    executed = built / "jupyter_execute" / "notebooks"
    for file, notebook in live_notebooks(root, executed, students=students).items():
        nbformat.write(notebook, target / file)


def _zip(target: Path, parts: list[str], name: str) -> None:
    """Zip some files and folders of a folder, below one folder of the edition's name."""
    paths = [path for part in parts for path in (target / part, *(target / part).rglob("*"))]
    with zipfile.ZipFile(target / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as pack:
        for path in sorted(paths):
            pack.write(path, Path(name) / path.relative_to(target))
