"""Run a chapter as a reader who follows its section "Change this and run again".

``python tests/helpers/changed_chapter.py NOTEBOOK`` runs the cells once. Where a cell is to be
changed, a copy of the process goes on with the change, to the end of the chapter.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

import nbformat

ITEM = re.compile(
    r"^- In \[[^\]]+\]\((?P<label>[\w-]+)\), change `(?P<old>[^`]+)` to `(?P<new>[^`]+)`", re.M
)
UNSEEN = {"skip-execution"}  # they need JupyterLab


class Change(NamedTuple):
    """One item: the label of the section that it names, and the code before and after."""

    label: str
    old: str
    new: str


class Cell(NamedTuple):
    """Code that runs, the label above it, and whether it is of a solution."""

    source: str
    label: str
    solved: bool


def read_chapter(path: Path) -> tuple[list[Change], list[Cell]]:
    """The changes that a chapter proposes, and its cells."""
    changes, cells = [], []
    label, solved = "", False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            label = [label, *re.findall(r"^\(([\w-]+)\)=$", cell.source, re.M)][-1]
            for mark in re.findall(r"\{solution-(start|end)\}", cell.source):
                solved = mark == "start"
            section = cell.source.partition("## Change this and run again")[2]
            changes += [Change(**item.groupdict()) for item in ITEM.finditer(section)]
        elif not UNSEEN & set(cell.metadata.get("tags", [])):
            cells.append(Cell(cell.source, label, solved))
    return changes, cells


def place_of(change: Change, cells: list[Cell]) -> int:
    """The one cell below the label, outside solutions, that holds the code to be changed."""
    found = [at for at, cell in enumerate(cells) if change.old in cell.source]
    if len(found) != 1 or cells[found[0]].source.count(change.old) != 1 or cells[found[0]].solved:
        raise ValueError(f"{change.old!r} must stand exactly once in the cells, outside solutions")
    if cells[found[0]].label != change.label:
        raise ValueError(f"{change.old!r} stands below {cells[found[0]].label}, not {change.label}")
    return found[0]


def run(path: Path) -> bool:
    """Whether all cells run, with every change; what fails is printed."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.user_ns["display"] = lambda *values: None
    changes, cells = read_chapter(path)
    placed = [(place_of(change, cells), change) for change in changes]
    children = []
    for at in range(max((at for at, _ in placed), default=-1) + 1):
        for change in (change for place, change in placed if place == at):
            if not (child := os.fork()):
                run_cells(shell, [cells[at].source.replace(change.old, change.new)], change)
                run_cells(shell, [cell.source for cell in cells[at + 1 :]], change)
                os._exit(0)
            children.append(child)
        run_cells(shell, [cells[at].source], None)
    return not any(os.waitpid(child, 0)[1] for child in children)


def run_cells(shell, sources: list[str], change: Change | None) -> None:
    """Run cells; end the process where one fails."""
    for source in sources:
        try:
            shell.run_cell(source, store_history=False).raise_error()
        except Exception:
            traceback.print_exc()
            print(f"{change} fails in the cell\n{source}", file=sys.stderr, flush=True)
            os._exit(1)


if __name__ == "__main__":
    notebook = Path(sys.argv[1]).resolve()
    os.chdir(notebook.parent)
    sys.exit(not run(notebook))
