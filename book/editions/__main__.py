"""``PYTHONPATH=book python -m editions NAME``, from the root of the book: what the Makefile calls.

``live`` puts Python beside the built book, and ``lite`` writes JupyterLite with the student's notebooks. ``lab`` writes
the notebooks for `make lab`, ``source`` and ``key`` the sources of the student's and the instructor's books, and
``student`` and ``instructor``, once those are built, an edition to hand out; ``slides`` a deck per chapter, ``pdf`` the
whole book as one file.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nbformat

from editions.pyodide import write_live
from editions.slides import write_decks
from editions.writing import instructor_sources, live_notebooks, read_values, refresh, student_sources


def main(name: str, root: Path) -> int:
    """Write an edition and say where it is."""
    build = root / "_build"
    executed = build / "jupyter_execute" / "notebooks"
    if name == "source":
        student_sources(root, build / "student" / "source", read_values(executed))
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
    elif name == "slides":
        decks = write_decks(build / "html", build / "slides")
        print(f"{len(decks)} decks:  file://{build}/slides/index.html")
    elif name == "pdf":
        from editions.pdf import write_pdf  # needs the browser of the tests

        print(f"Printed  {write_pdf(root, build / 'book.pdf')} pages  file://{build}/book.pdf")
    else:
        words = "live, lite, lab, source, key, student, instructor, slides or pdf"
        print(f"no edition is called {name!r}: say {words}", file=sys.stderr)
        return 2
    return 0


def in_browsers(name: str, root: Path, build: Path) -> None:
    """Python for the pages of the book, or JupyterLite."""
    if name == "live":
        size = write_live(root, root / ".cache" / "pyodide", build / "html" / "_live")
        print(f"Cells run in the page ({size / 1e6:.0f} MB beside the book): read it with  make serve")
        return
    from editions.lite import write_lite  # needs requirements-lite.txt

    executed, wheel = build / "jupyter_execute" / "notebooks", next((root / "dist").glob("*.whl"))
    write_lite(root, executed, wheel, build / "lite-source", build / "lite")
    print(
        "Put the folder on any static host, or try it:  python3 -m http.server --bind 127.0.0.1 --directory _build/lite"
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
    for wheel in (root / "dist").glob("*.whl"):
        shutil.copy(wheel, target)
    print(f"The book:       file://{target}/html/index.html\nThe notebooks:  {target}/notebooks")


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]), Path.cwd()))
