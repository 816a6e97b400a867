"""``PYTHONPATH=book python -m editions NAME``, from the root of the book: what the Makefile calls.

``live`` puts Python next to the built book, and ``lite`` writes JupyterLite with the student's
notebooks. ``lab`` writes the notebooks for `make lab`, ``source`` and ``key`` the sources of the
student's and the instructor's books, and ``student`` and ``instructor``, once those are built, an
edition to hand out; ``otter`` the assignments for Otter-Grader, ``slides`` a deck per chapter,
``quizzes`` the questions for Moodle and others, ``pdf`` the whole book as one file.
``otter-class ZIP FOLDER OUT.csv`` grades the notebooks of a folder with an assignment's autograder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from editions.handout import hand_out
from editions.pyodide import write_live
from editions.quizzes import export
from editions.slides import write_decks
from editions.writing import (
    instructor_sources,
    live_notebooks,
    read_values,
    refresh,
    student_sources,
)


class EditionError(Exception):
    """An edition cannot be written; the message is one line that says what to do."""


def main(words: Sequence[str], root: Path) -> int:
    """Write an edition of the book below ``root``, say where it is, and return the exit code."""
    name = words[0] if words else ""
    try:
        if name == "otter-class":
            _grade(*map(Path, words[1:]))
        elif name in _EDITIONS and len(words) == 1:
            _EDITIONS[name](root)
        else:
            *others, last = _EDITIONS
            names = f"{', '.join(others)} or {last}"
            raise EditionError(f"no edition is called {' '.join(words)!r}: say {names}")
    except EditionError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _live(root: Path) -> None:
    """Python next to the book, so that cells run in the page."""
    _check_built(root)
    try:
        size = write_live(root, root / ".cache" / "pyodide", root / "_build" / "html" / "_live")
    except RuntimeError as error:
        raise EditionError(f"make live: {error}") from None
    print(f"Cells run in the page ({size / 1e6:.0f} MB beside the book): read it with  make serve")


def _lite(root: Path) -> None:
    """JupyterLite with the student's notebooks."""
    from editions.lite import write_lite  # needs requirements-lite.txt

    build = root / "_build"
    try:
        write_lite(root, _executed(root), _wheel(root), build / "lite-source", build / "lite")
    except RuntimeError as error:
        raise EditionError(f"make lite: {error}") from None
    print(
        "Put the folder on any static host, or try it:  python3 -m http.server --bind 127.0.0.1 "
        "--directory _build/lite"
    )


def _lab(root: Path) -> None:
    """The notebooks for `make lab`; what their reader changed is kept."""
    for kept in refresh(root / "lab", live_notebooks(root, _executed(root))):
        print(f"lab/{kept} is kept as you changed it; remove it to get the book's again")


def _source(root: Path) -> None:
    """The sources of the student's book."""
    from editions.runs import take_runs  # needs what builds the book

    source = root / "_build" / "student" / "source"
    written = student_sources(root, source, read_values(_executed(root)))
    taken = take_runs(root, source, written)
    print(f"{len(taken)} of {len(written)} notebooks keep the outputs of `make book`")


def _key(root: Path) -> None:
    """The sources of the instructor's book."""
    instructor_sources(root, root / "_build" / "instructor" / "source")


def _student(root: Path) -> None:
    """The student's edition, once its book is built."""
    hand_out("student", root, root / "_build" / "student" / "source" / "_build")


def _instructor(root: Path) -> None:
    """The instructor's edition, once its book is built."""
    hand_out("instructor", root, root / "_build" / "instructor" / "source" / "_build")


def _otter(root: Path) -> None:
    """The assignments for Otter-Grader."""
    from editions.otter import write_assignments  # needs requirements-otter.txt

    target = root / "_build" / "otter"
    whole = live_notebooks(root, _executed(root))
    students = live_notebooks(root, _executed(root), students=True)
    written = write_assignments(whole, students, _wheel(root), target)
    print(f"{len(written)} assignments, each a notebook and an autograder.zip:  {target}")


def _grade(autograder: Path, submissions: Path, out: Path) -> None:
    """Grade the notebooks of a folder with an assignment's autograder."""
    from editions.otter import grade_class

    print(f"{grade_class(autograder, submissions, out)} submissions graded:  {out}")


def _slides(root: Path) -> None:
    """A deck per chapter."""
    _check_built(root)
    target = root / "_build" / "slides"
    decks = write_decks(root, root / "_build" / "html", target)
    print(f"{len(decks)} decks:  file://{target}/index.html")


def _quizzes(root: Path) -> None:
    """The questions for Moodle and other platforms."""
    target = root / "_build" / "quizzes"
    count = export(root, target)
    print(f"{count} questions: {target}/quizzes.xml (Moodle) and quizzes.zip (QTI 2.1)")


def _pdf(root: Path) -> None:
    """The whole book as one file."""
    _check_built(root)
    from editions.pdf import write_pdf  # needs the browser of the tests

    target = root / "_build" / "book.pdf"
    print(f"Printed  {write_pdf(root, target)} pages  file://{target}")


_EDITIONS: dict[str, Callable[[Path], None]] = {
    "live": _live,
    "lite": _lite,
    "lab": _lab,
    "source": _source,
    "key": _key,
    "student": _student,
    "instructor": _instructor,
    "otter": _otter,
    "slides": _slides,
    "quizzes": _quizzes,
    "pdf": _pdf,
}


def _check_built(root: Path) -> None:
    """Refuse to go on without the pages of the book."""
    if not (root / "_build" / "html" / "index.html").exists():
        raise EditionError("there is no built book in _build/html: run `make book` first")


def _executed(root: Path) -> Path:
    """The folder with the notebooks that `make book` ran."""
    return root / "_build" / "jupyter_execute" / "notebooks"


def _wheel(root: Path) -> Path:
    """The package that `make book` built."""
    return next((root / "dist").glob("*.whl"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
