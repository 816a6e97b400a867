"""``PYTHONPATH=book python -m editions NAME``, from the root of the book: what the Makefile calls.

``live`` puts Python beside the built book, and ``lite`` writes JupyterLite with the student's
notebooks. ``lab`` writes the notebooks for `make lab`, ``source`` and ``key`` the sources of the
student's and the instructor's books, and ``student`` and ``instructor``, once those are built, an
edition to hand out; ``otter`` the assignments for Otter-Grader, ``slides`` a deck per chapter,
``quizzes`` the questions for Moodle and others, ``pdf`` the whole book as one file.
``otter-class ZIP FOLDER OUT.csv`` grades the notebooks of a folder with an assignment's autograder.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path

import nbformat

from editions.pyodide import write_live
from editions.quizzes import export
from editions.slides import write_decks
from editions.statements import statements
from editions.writing import (
    instructor_sources,
    live_notebooks,
    read_values,
    refresh,
    student_sources,
)

START = """# Start here

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
CHECK = """import sys

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


def main(name: str, root: Path) -> int:
    """Write an edition and say where it is."""
    build = root / "_build"
    executed = build / "jupyter_execute" / "notebooks"
    if name == "source":
        from editions.runs import take_runs  # needs what builds the book

        source = build / "student" / "source"
        written = student_sources(root, source, read_values(executed))
        taken = take_runs(root, source, written)
        print(f"{len(taken)} of {len(written)} notebooks keep the outputs of `make book`")
    elif name == "key":
        instructor_sources(root, build / "instructor" / "source")
    elif name == "lab":
        for kept in refresh(root / "lab", live_notebooks(root, executed)):
            print(f"lab/{kept} is kept as you changed it; remove it to get the book's again")
    elif name in ("student", "instructor"):
        hand_out(name, root, build / name / "source" / "_build")
    elif name in ("live", "slides", "pdf") and not (build / "html" / "index.html").exists():
        print("there is no built book in _build/html: run `make book` first", file=sys.stderr)
        return 2
    elif name in ("live", "lite"):
        try:
            in_browsers(name, root, build)
        except RuntimeError as error:
            print(f"make {name}: {error}", file=sys.stderr)
            return 2
    elif name == "otter":
        from editions.otter import write_assignments  # needs requirements-otter.txt

        whole = live_notebooks(root, executed)
        students = live_notebooks(root, executed, students=True)
        wheel = next((root / "dist").glob("*.whl"))
        written = write_assignments(whole, students, wheel, build / "otter")
        print(f"{len(written)} assignments, each a notebook and an autograder.zip:  {build}/otter")
    elif name.startswith("otter-class "):
        from editions.otter import grade_class

        autograder, submissions, out = map(Path, name.split()[1:])
        print(f"{grade_class(autograder, submissions, out)} submissions graded:  {out}")
    elif name == "slides":
        decks = write_decks(root, build / "html", build / "slides")
        print(f"{len(decks)} decks:  file://{build}/slides/index.html")
    elif name == "quizzes":
        count = export(root, build / "quizzes")
        print(f"{count} questions: {build}/quizzes/quizzes.xml (Moodle) and quizzes.zip (QTI 2.1)")
    elif name == "pdf":
        from editions.pdf import write_pdf  # needs the browser of the tests

        print(f"Printed  {write_pdf(root, build / 'book.pdf')} pages  file://{build}/book.pdf")
    else:
        words = "live, lite, lab, source, key, student, instructor, otter, slides, quizzes or pdf"
        print(f"no edition is called {name!r}: say {words}", file=sys.stderr)
        return 2
    return 0


def in_browsers(name: str, root: Path, build: Path) -> None:
    """Python for the pages of the book, or JupyterLite."""
    if name == "live":
        size = write_live(root, root / ".cache" / "pyodide", build / "html" / "_live")
        print(
            f"Cells run in the page ({size / 1e6:.0f} MB beside the book): read it with  make serve"
        )
        return
    from editions.lite import write_lite  # needs requirements-lite.txt

    executed = build / "jupyter_execute" / "notebooks"
    wheel = next((root / "dist").glob("*.whl"))
    write_lite(root, executed, wheel, build / "lite-source", build / "lite")
    print(
        "Put the folder on any static host, or try it:  python3 -m http.server --bind 127.0.0.1 "
        "--directory _build/lite"
    )


def hand_out(name: str, root: Path, built: Path) -> None:
    """Put the built book, the notebooks and the wheel into one folder."""
    target = root / "_build" / name
    for part in ("html", "notebooks"):
        shutil.rmtree(target / part, ignore_errors=True)
    shutil.copytree(built / "html", target / "html")
    live = root / "_build" / "html" / "_live"
    if live.exists():  # after `make live`
        shutil.copytree(live, target / "html" / "_live", dirs_exist_ok=True)
    (target / "notebooks").mkdir()
    executed = built / "jupyter_execute" / "notebooks"
    for file, notebook in live_notebooks(root, executed, students=name == "student").items():
        nbformat.write(notebook, target / "notebooks" / file)
    wheel = next((root / "dist").glob("*.whl"))
    shutil.copy(wheel, target)
    (target / "START-HERE.md").write_text(START.format(wheel=wheel.name), encoding="utf-8")
    (target / "check_environment.py").write_text(CHECK, encoding="utf-8")
    shutil.copy(root / "LICENSE", target)
    values = read_values(root / "_build" / "jupyter_execute" / "notebooks")
    (target / "statements.tex").write_text(statements(root, values), encoding="utf-8")
    parts = ["START-HERE.md", "LICENSE", "check_environment.py", "statements.tex", wheel.name]
    parts += ["html", "notebooks"]
    with zipfile.ZipFile(target / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as pack:
        for path in sorted(
            one for part in parts for one in [target / part, *(target / part).rglob("*")]
        ):
            pack.write(path, Path(name) / path.relative_to(target))
    print(f"The book:       file://{target}/html/index.html\nThe notebooks:  {target}/notebooks")
    print(f"To hand out:    {target / name}.zip")


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]), Path.cwd()))
