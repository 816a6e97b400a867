"""``PYTHONPATH=book python -m editions NAME``, from the root of the book: what the Makefile calls.

``live`` puts Python next to the built book. ``lab`` writes the notebooks for `make lab`,
``student`` the edition to hand out, ``instructor`` a teacher's pack, ``homework`` the
assignments with their autograders, ``exam`` an exam with its key, ``competition`` what a class gets
to beat the price, ``slides`` a deck for each list of slides, ``quizzes`` the questions for Moodle,
``pdf`` the whole book as one file.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from adabook.grade import file_name
from adabook.homework import SHEETS
from contents import pages
from editions.assignments import write_chapter, write_homework
from editions.competition import own_answers, world, write_competition
from editions.exam import write_exam
from editions.handout import hand_out
from editions.pack import HANDED_OUT, write_pack
from editions.pyodide import write_live
from editions.quizzes import export
from editions.slides import write_decks
from editions.writing import live_notebooks, refresh


class EditionError(Exception):
    """An edition cannot be written; the message is one line that says what to do."""


def main(words: Sequence[str], root: Path) -> int:
    """Write an edition of the book below ``root``, say where it is, and return the exit code."""
    name = words[0] if words else ""
    try:
        if name in _EDITIONS and len(words) == 1:
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


def _lab(root: Path) -> None:
    """The notebooks for `make lab`; what their reader changed is kept."""
    for kept in refresh(root / "lab", live_notebooks(root, _executed(root))):
        print(f"lab/{kept} is kept as you changed it; remove it to get the book's again")


def _student(root: Path) -> None:
    """The student's edition, cut out of the book."""
    _check_built(root)
    hand_out(root, _executed(root), root / "_build" / "student")


def _instructor(root: Path) -> None:
    """The teacher's pack: homework for the roster, and what only a teacher gets."""
    from editions.pdf import print_as_one, print_markdown  # need the browser of the tests

    _homework(root)
    target = root / "_build" / "instructor"
    students = read_roster(os.environ.get("ROSTER", ""))
    files = write_pack(root, _executed(root), target, read_secret(root), students, _sheet())
    printed = print_as_one(root, files, target / "pack.pdf")
    (handed_out,) = print_markdown(root, [target / f"{HANDED_OUT}.md"])
    print(f"The teacher's pack:  {target}, and in one file  {printed}")
    print(f"To hand out:  {handed_out}")


def _homework(root: Path) -> None:
    """Homework for a roster and, if the teacher names some, chapters."""
    target = root / "_build" / "homework"
    named = os.environ.get("CHAPTERS", "").split()
    chapters = {page.key: page for page in pages(root) if _has_exercises(page.path)}
    unknown = [key for key in named if key not in chapters]
    if unknown:
        raise EditionError(f"no chapter is called {unknown[0]!r}: say one of {', '.join(chapters)}")
    students = read_roster(os.environ.get("ROSTER", ""))
    kind = _sheet()
    write_homework(read_secret(root), students, _wheel(root), target / kind, kind)
    print(f"For {len(students)} students: hand out {target / kind}/notebooks, keep the rest")
    print("On Gradescope an id has to be the e-mail or the SID that it knows a student by.")
    whole, unsolved = (
        live_notebooks(root, _executed(root), students=for_students) if named else {}
        for for_students in (False, True)
    )
    for key in named:
        file = f"{chapters[key].stem}.ipynb"
        write_chapter(unsolved[file], whole[file], students, _wheel(root), target / key)
        print(f"Chapter {key}:  {target / key}")


def _sheet() -> str:
    """The kind of sheet that the teacher names, or that of the two weeks."""
    kind = os.environ.get("SHEET", "") or "homework"
    if kind not in SHEETS:
        raise EditionError(f"no sheet is called {kind!r}: say one of {', '.join(SHEETS)}")
    return kind


def _has_exercises(path: Path) -> bool:
    """Whether a page is a notebook with exercises that are checked."""
    return path.suffix == ".ipynb" and "checks(" in path.read_text(encoding="utf-8")


_HEADERS = {"id", "ids", "student", "student_id", "student id", "sid", "name", "email", "username"}


def read_roster(file: str) -> list[str]:
    """The ids of a class: the lines of a file, or forty numbered ones without a file."""
    if not file:
        return [f"student-{number:02d}" for number in range(1, 41)]
    try:
        # A spreadsheet may begin its text files with a mark, which this encoding leaves out.
        lines = Path(file).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise EditionError(f"{file}: cannot be read ({error}); write one id per line") from None
    lines_by_file: dict[str, int] = {}
    ids: list[str] = []
    for number, line in enumerate(lines, 1):
        student = unicodedata.normalize("NFC", line).strip()
        if not student:
            continue
        where = f"{file}, line {number}: {student!r}"
        if any(mark in student for mark in ',;\t"'):
            raise EditionError(f"{where} looks like a row of a table; keep the column of ids alone")
        if not ids and student.lower() in _HEADERS:
            raise EditionError(f"{where} looks like the heading of a column; remove the line")
        # Some systems do not tell capitals in the names of files.
        own_file = file_name(student).lower()
        if own_file in lines_by_file:
            other = lines_by_file[own_file]
            raise EditionError(
                f"{where} would get the same file as line {other}; change one of them"
            )
        lines_by_file[own_file] = number
        ids.append(student)
    if not ids:
        raise EditionError(f"{file}: is empty; write one id per line")
    return ids


def read_secret(root: Path) -> str:
    """The teacher's secret: drawn once, and kept where `make clean` does not reach."""
    kept = Path(os.environ.get("SECRET_FILE", "") or root / "secret.txt")
    if os.environ.get("SECRET", ""):
        raise EditionError(
            "SECRET is not read any more, because a sentence can be guessed: leave it out, and a "
            f"secret is drawn and kept in {kept}; SECRET_FILE=FILE names another file"
        )
    if kept.resolve().is_relative_to((root / "_build").resolve()):
        raise EditionError(f"{kept}: make clean would delete it; name a file outside _build")
    if not kept.exists():
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_hex(16), encoding="utf-8")
        print(f"A secret was drawn; keep it, and keep it to yourself:  {kept}")
    secret = kept.read_text(encoding="utf-8", errors="replace").strip()
    if not re.fullmatch(r"[0-9a-f]{32}", secret) or len(set(pairwise(secret))) < 20:
        raise EditionError(
            f"{kept}: holds no secret that was drawn here; name a file that is not there yet, and "
            "one is drawn into it"
        )
    if kept.stat().st_mode & 0o077 and os.name == "posix":
        raise EditionError(f"{kept}: others can read it; make it yours alone:  chmod 600 {kept}")
    return secret


def _exam(root: Path) -> None:
    """An exam with new numbers, and its key, as Markdown and as PDF."""
    from editions.pdf import print_markdown  # needs the browser of the tests

    name = os.environ.get("NAME", "")
    if not re.fullmatch(r"[\w-]+", name):
        raise EditionError("name the exam with letters, digits and hyphens:  make exam NAME=autumn")
    target = root / "_build" / "exam"
    files = write_exam(name, read_secret(root), target)
    exam, key = print_markdown(root, files)
    print(f"The exam:  {exam}\nIts key:   {key}")


def _competition(root: Path) -> None:
    """A competition: an open part to hand out, and a kept part to rank by."""
    target = Path(os.environ.get("OUT", "") or root / "_build" / "competition")
    own = os.environ.get("SET", "")
    try:
        budget = float(os.environ.get("BUDGET", "") or 3)
        secret = read_secret(root)
        answers = own_answers(own) if own else world(secret)
        write_competition(answers, secret, budget, target)
    except ValueError as error:
        raise EditionError(f"make competition: {error}") from None
    print(f"Hand out  {target}/hand-out  and keep  {target}/keep")


def _slides(root: Path) -> None:
    """A deck for every chapter that has a list of slides."""
    _check_built(root)
    target = root / "_build" / "slides"
    try:
        decks = write_decks(root, _executed(root), root / "_build" / "html", target)
    except ValueError as error:
        raise EditionError(f"make slides: {error}") from None
    print(f"{len(decks)} decks:  file://{target}/index.html")


def _quizzes(root: Path) -> None:
    """The questions for Moodle and other platforms."""
    target = root / "_build" / "quizzes"
    count = export(root, target)
    print(f"{count} questions as Moodle XML: {target}/quizzes.xml")


def _pdf(root: Path) -> None:
    """The whole book as one file."""
    _check_built(root)
    from editions.pdf import write_pdf  # needs the browser of the tests

    target = root / "_build" / "book.pdf"
    print(f"Printed  {write_pdf(root, target)} pages  file://{target}")


_EDITIONS: dict[str, Callable[[Path], None]] = {
    "live": _live,
    "lab": _lab,
    "student": _student,
    "instructor": _instructor,
    "homework": _homework,
    "exam": _exam,
    "competition": _competition,
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
