"""Run a chapter as a reader who follows its section "Change this and run again".

``python tests/helpers/changed_chapter.py NOTEBOOK`` makes each change by itself and runs the cells
that it can affect. The cells above have run as they stand, so a change costs only what is below it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat

ROOT = Path(__file__).resolve().parents[2]
HEADING = "## Change this and run again"
ITEM = re.compile(
    r"^- In \[[^\]]+\]\((?P<label>[\w-]+)\), "
    r"change `(?P<old>[^`]+)` to `(?P<new>[^`]+)`\.",
    re.M,
)
UNSEEN = {"skip-execution"}  # they need JupyterLab


class Change(NamedTuple):
    """One item: the label of the section that it names, and the code before and after."""

    label: str
    old: str
    new: str


def changes_of(path: Path) -> list[Change]:
    """The changes that a chapter proposes, in their order."""
    for cell in nbformat.read(path, as_version=4).cells:
        before, heading, section = cell.source.partition(HEADING)
        if cell.cell_type == "markdown" and heading:
            listed = section.partition("\n## ")[0]
            found = [Change(*item.group("label", "old", "new")) for item in ITEM.finditer(listed)]
            if len(found) != len(re.findall(r"^- ", listed, re.M)):
                form = "- In [title](label), change `this` to `that`."
                raise ValueError(f"{path.name}: write every item as {form}")
            return found
    return []


def code_cells(path: Path) -> list[tuple[str, list[str], bool]]:
    """Source of every cell that runs, the labels above it, and whether it is of a solution."""
    cells = []
    labels: list[str] = []
    within_solution = False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            labels += re.findall(r"^\(([\w-]+)\)=$", cell.source, re.M)
            for mark in re.findall(r"\{solution-(start|end)\}", cell.source):
                within_solution = mark == "start"
        elif not UNSEEN & set(cell.metadata.get("tags", [])):
            cells.append((cell.source, labels[-1:], within_solution))
    return cells


def place_of(change: Change, cells: list[tuple[str, list[str], bool]]) -> int:
    """The one cell, outside solutions, that holds the code to be changed."""
    places = [at for at, (source, _, solved) in enumerate(cells) if change.old in source]
    if len(places) != 1 or cells[places[0]][0].count(change.old) != 1 or cells[places[0]][2]:
        raise ValueError(f"{change.old!r} must stand exactly once in the cells, outside solutions")
    if cells[places[0]][1] != [change.label]:
        raise ValueError(f"{change.old!r} stands below {cells[places[0]][1]}, not {change.label}")
    return places[0]


def affected(at: int, sources: list[str]) -> list[int]:
    """The cell `at`, those below it that use what it makes, and those that these need."""
    spec = importlib.util.spec_from_file_location("live", ROOT / "book" / "_static" / "live.py")
    live = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(live)
    made_and_taken = [live.names(source) for source in sources]
    touched = set(made_and_taken[at][0])
    found = {at}
    for place, (made, taken) in enumerate(made_and_taken):
        if place != at and taken & touched:
            touched |= made  # above, too: a function there may read a name that the cell makes
            if place > at:
                found.add(place)
    waiting = list(found)
    while waiting:  # cells below that the change leaves alone, but that make what others need
        reader = waiting.pop()
        for name in made_and_taken[reader][1]:
            makers = [place for place in range(reader) if name in made_and_taken[place][0]]
            if makers and makers[-1] > at and makers[-1] not in found:
                found.add(makers[-1])
                waiting.append(makers[-1])
    return sorted(found)


def failures(path: Path) -> list[str]:
    """What went wrong, one entry per change that a reader could not make."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.user_ns["display"] = lambda *values: None
    cells = code_cells(path)
    sources = [source for source, _, _ in cells]
    placed = [(place_of(change, cells), change) for change in changes_of(path)]
    failed = []
    for at, source in enumerate(sources):
        for change in (change for place, change in placed if place == at):
            kept = dict(shell.user_ns)
            changed = sources[:at] + [source.replace(change.old, change.new)] + sources[at + 1 :]
            for cell in affected(at, changed):
                result = shell.run_cell(changed[cell], store_history=False)
                if not result.success:
                    error = result.error_in_exec or result.error_before_exec
                    failed.append(f"{change}: {error!r} in the cell\n{changed[cell]}")
                    break
            shell.user_ns.clear()
            shell.user_ns.update(kept)
        if at >= max((place for place, _ in placed), default=-1):
            break
        shell.run_cell(source, store_history=False).raise_error()
    return failed


if __name__ == "__main__":
    notebook = Path(sys.argv[1]).resolve()
    os.chdir(notebook.parent)
    found = failures(notebook)
    sys.exit("\n\n".join(found) if found else 0)
