"""Run a chapter as a reader who follows its section "Change this and run again".

``python tests/helpers/changed_chapter.py NOTEBOOK`` makes each change by itself and runs the cells
that it can affect. Of the others only those run, as they stand, that these cells need.
"""

from __future__ import annotations

import ast
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


def names_of(sources: list[str]) -> list[tuple[set[str], set[str]]]:
    """The names that each cell makes, and those that it takes from others, as a page sees them."""
    spec = importlib.util.spec_from_file_location("live", ROOT / "book" / "_static" / "live.py")
    live = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(live)
    return [live.names(source) for source in sources]


def imported(source: str) -> set[str]:
    """The names that a cell imports."""
    nodes = ast.walk(ast.parse(source))
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [(name.asname or name.name).partition(".")[0] for one in imports for name in one.names]
    return set(names)


def affected(at: int, sources: list[str]) -> list[int]:
    """The cell `at`, and those below it that use what it makes, other than by importing it."""
    made_and_taken = names_of(sources)
    touched = made_and_taken[at][0] - imported(sources[at])
    found = [at]
    for place, (made, taken) in enumerate(made_and_taken):
        if place != at and taken & touched:
            touched |= made  # above, too: a function there may read a name that the cell makes
            if place > at:
                found.append(place)
        elif place > at:
            touched -= made  # made anew, by a cell that the change leaves alone
    return found


def needed(cells: list[int], sources: list[str]) -> list[int]:
    """The other cells that make what these take, and what those take in turn."""
    made_and_taken = names_of(sources)
    found: set[int] = set()
    waiting = list(cells)
    while waiting:
        reader = waiting.pop()
        for name in made_and_taken[reader][1]:
            makers = [place for place in range(reader) if name in made_and_taken[place][0]]
            if makers and makers[-1] not in found | set(cells):
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
    runs = []  # of each change: its place, and the cells as they stand that run before and after it
    for change in changes_of(path):
        at = place_of(change, cells)
        changed = [*sources[:at], sources[at].replace(change.old, change.new), *sources[at + 1 :]]
        again = affected(at, changed)
        others = needed(again, changed)
        again = sorted([*again, *(place for place in others if place > at)])
        runs.append((at, change, changed, again, {place for place in others if place < at}))
    unchanged = set().union(*(above for *_, above in runs))
    failed = []
    for at, source in enumerate(sources):
        for _, change, changed, again, _ in (run for run in runs if run[0] == at):
            kept = dict(shell.user_ns)
            for cell in again:
                result = shell.run_cell(changed[cell], store_history=False)
                if not result.success:
                    error = result.error_in_exec or result.error_before_exec
                    failed.append(f"{change}: {error!r} in the cell\n{changed[cell]}")
                    break
            shell.user_ns.clear()
            shell.user_ns.update(kept)
        if at in unchanged:
            shell.run_cell(source, store_history=False).raise_error()
    return failed


if __name__ == "__main__":
    notebook = Path(sys.argv[1]).resolve()
    os.chdir(notebook.parent)
    found = failures(notebook)
    sys.exit("\n\n".join(found) if found else 0)
