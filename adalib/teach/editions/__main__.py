"""``python -m adalib.teach.editions NAME``, from the root of the book: what the Makefile calls.

``lab`` writes the notebooks for `make lab`, ``source`` the student's sources, and ``student`` and ``instructor``, once
their books are built, an edition to hand out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nbformat

from adalib.teach.editions.writing import live_notebooks, read_values, refresh, student_sources


def main(name: str, root: Path) -> int:
    """Write an edition and say where it is."""
    source = root / "_build" / "student" / "source"
    built = (source if name == "student" else root) / "_build"
    if name == "source":
        student_sources(root, source, read_values(root / "_build" / "jupyter_execute" / "notebooks"))
    elif name == "lab":
        for kept in refresh(root / "lab", live_notebooks(root, built / "jupyter_execute" / "notebooks")):
            print(f"lab/{kept} is kept as you changed it; remove it to get the book's again")
    elif name in ("student", "instructor"):
        hand_out(name, root, built)
    else:
        print(f"no edition is called {name!r}: say lab, source, student or instructor", file=sys.stderr)
        return 2
    return 0


def hand_out(name: str, root: Path, built: Path) -> None:
    """Put the built book, the notebooks and the wheel into one folder."""
    target = root / "_build" / name
    for part in ("html", "notebooks"):
        shutil.rmtree(target / part, ignore_errors=True)
    shutil.copytree(built / "html", target / "html")
    (target / "notebooks").mkdir()
    executed = built / "jupyter_execute" / "notebooks"
    for file, notebook in live_notebooks(root, executed, students=name == "student").items():
        nbformat.write(notebook, target / "notebooks" / file)
    for wheel in (root / "dist").glob("*.whl"):
        shutil.copy(wheel, target)
    print(f"The book:       file://{target}/html/index.html\nThe notebooks:  {target}/notebooks")


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]), Path.cwd()))
