"""Grade a class: run every notebook of a folder, judge its answers, and write one row for each.

``python -m adabook.grade AUTOGRADER.zip SUBMISSIONS POINTS.csv`` grades with what ``make otter``
wrote. A notebook runs in a process of its own, from which only answers are taken, as plain data.
They are judged elsewhere (`adabook.judge`), so that a notebook cannot change its verdict.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from adabook import plain
from adabook.judge import verdicts

#: The file in an autograder that names the exercises and, for homework, holds the keys.
SHEET = "sheet.json"
_CELL_SECONDS = 120  # a cell that takes longer is interrupted, and the next one runs
_SECONDS = 900  # a notebook that takes longer is stopped, and gets no points

# Practice checks would cost time, and an endless function would be waited for twice.
_QUIET = """
import adabook.exercises

adabook.exercises.Checker.__call__ = lambda *_: None
"""
_COLLECT = "import runpy; runpy.run_path({file!r})['collect']({names!r}, globals(), {target!r})"


def grade_class(autograder: Path, submissions: Path, out: Path, workers: int = 0) -> int:
    """Grade every notebook below a folder, and write one row for each as soon as it is graded.

    A submission that cannot be read, run or judged has no points and a note that says why.

    Parameters
    ----------
    autograder : Path
        The ``autograder.zip`` of the assignment.
    submissions : Path
        A folder with the notebooks; folders inside it are searched, too.
    out : Path
        The CSV file to write: file, id, points, a column per exercise, hints and notes.
    workers : int
        How many notebooks run at a time; by default one per core.

    Returns
    -------
    int
        The number of submissions.
    """
    with zipfile.ZipFile(autograder) as pack:
        sheet = json.loads(pack.read(SHEET))
    files = [file for file in sorted(submissions.rglob("*.ipynb")) if not _is_copy(file)]
    names = [exercise["name"] for exercise in sheet["exercises"]]
    columns = ["file", "student_id", "points", "of", *names, "hints", "note"]
    seen: dict[str, str] = {}
    with (
        out.open("w", newline="", encoding="utf-8") as table,
        ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool,
    ):
        writer = csv.DictWriter(table, columns, restval="")
        writer.writeheader()
        graded = {pool.submit(_row, file, sheet): file for file in files}
        for done in as_completed(graded):
            row = done.result()
            row["file"] = graded[done].relative_to(submissions).as_posix()
            row["note"] = "; ".join([*row["note"], *_repeated(row, seen)])
            writer.writerow(row)
            table.flush()
    return len(files)


def _is_copy(file: Path) -> bool:
    """Whether a file is one that Jupyter or macOS keeps for itself."""
    return ".ipynb_checkpoints" in file.parts or file.name.startswith("._")


def _row(file: Path, sheet: Mapping[str, Any]) -> dict[str, Any]:
    """The row of one submission; whatever goes wrong is in its notes."""
    row = {"points": 0.0, "of": sum(one["points"] for one in sheet["exercises"]), "note": []}
    try:
        with tempfile.TemporaryDirectory() as folder:
            answers = _answers(file, sheet, Path(folder))
            row["note"] += answers.pop("faults")
        return row | _graded(answers, sheet, file, row["note"])
    except Exception as error:  # the class must not wait for one submission
        row["note"].append(f"not graded: {str(error).strip() or type(error).__name__}")
        return row


def _answers(file: Path, sheet: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Run a notebook in a process of its own; return its answers by variable, and its faults."""
    names = [exercise["variable"] for exercise in sheet["exercises"]]
    task = {
        "file": str(file.resolve()),
        "names": [*names, "student_id", "tables"],
        "has_checks": sheet["roster"] is None,
    }
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    command = [sys.executable, "-m", "adabook.grade", "--run", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the notebook did not end within {_SECONDS} seconds") from None
    if done.returncode < 0:
        raise RuntimeError("the notebook ended the process that ran it")
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:300])
    found = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return {**found, "faults": json.loads(done.stdout.splitlines()[-1])}


def _run(folder: Path) -> None:
    """Run a notebook cell by cell, let it write its answers, and print what went wrong."""
    import nbformat
    from nbclient import NotebookClient

    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    try:
        notebook = nbformat.read(task["file"], as_version=4)
    except Exception as error:  # a student may hand in any file
        sys.exit(f"this file is not a notebook: {' '.join(str(error).split())}")
    work = folder / "work"
    work.mkdir()
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=_CELL_SECONDS,
        interrupt_on_timeout=True,
        allow_errors=True,
        skip_cells_with_tag="otter_ignore",
        resources={"metadata": {"path": str(work)}},
    )
    own = {"file": plain.__file__, "names": task["names"], "target": str(folder / "answers.json")}
    new_cell = nbformat.v4.new_code_cell
    first = new_cell(_QUIET if task["has_checks"] else "")
    notebook.cells = [first, *notebook.cells, new_cell(_COLLECT.format(**own))]
    client.execute()
    print(json.dumps(list(_faults(notebook.cells[1:-1]))))


def _faults(cells: list) -> Iterator[str]:
    """What went wrong in the cells of a notebook that ran."""
    for number, cell in enumerate(cells, 1):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                yield f"cell {number} raised {output['ename']}: {output['evalue'][:100]}"


def _graded(
    answers: Mapping[str, Any], sheet: Mapping[str, Any], file: Path, notes: list[str]
) -> dict[str, Any]:
    """The points of one submission, by exercise and in all, with hints."""
    student = str(answers.get("student_id") or "").strip()
    roster = sheet["roster"]
    if roster is not None:
        owner = _owner(answers.get("tables"), roster)
        notes += _suspicions(student, owner, file, roster)
        if student not in roster or owner not in (student, None):
            return {"student_id": student}
    asked = []
    for exercise in sheet["exercises"]:
        key = None if roster is None else roster[student]["keys"][exercise["name"]]
        about = {"chapter": exercise["chapter"], "name": exercise["name"], "key": key}
        asked.append({**about, "answer": answers.get(exercise["variable"])})
    points = {}
    hints = []
    for exercise, found in zip(sheet["exercises"], verdicts(asked), strict=True):
        points[exercise["name"]] = exercise["points"] * found.right
        if found.hint:
            hints.append(f"{exercise['name']}: {found.hint}")
    total = {"student_id": student, "points": float(sum(points.values()))}
    return total | points | {"hints": "; ".join(hints)}


def _owner(tables: Any, roster: Mapping[str, Any]) -> str | None:
    """Whose tables these are, or None if they are nobody's."""
    text = tables.get("text") if isinstance(tables, dict) else None
    return next((name for name, one in roster.items() if one["tables"] == text), None)


def _suspicions(
    student: str, owner: str | None, file: Path, roster: Mapping[str, Any]
) -> Iterator[str]:
    """What is odd about whose work this is: id, tables and file name should be one student's."""
    if student not in roster:
        whose = f"; its tables are those of {owner}" if owner else ""
        yield f"student_id {student!r} is not on the roster{whose}"
    elif owner != student:
        whose = f"those of {owner}" if owner else "no student's: they were changed"
        yield f"its tables are {whose}"
    named = [name for name in roster if name in file.stem]
    longest = max(named, key=len, default=student)  # "student-1" is also in "student-12"
    if student in roster and longest != student:
        yield f"the file is named after {longest}"


def _repeated(row: Mapping[str, Any], seen: dict[str, str]) -> Iterator[str]:
    """A note on a second submission of one student; a copy that is marked already is none."""
    student = row.get("student_id", "")
    if not student or any("named after" in note or "tables" in note for note in row["note"]):
        return
    if student in seen:
        yield f"{seen[student]} has the same student_id"
    seen.setdefault(student, row["file"])


def main(words: list[str]) -> int:
    """Run the command line; return its exit code."""
    if words[:1] == ["--run"]:
        _run(Path(words[1]))
        return 0
    if len(words) != 3:
        print("give three paths: AUTOGRADER.zip SUBMISSIONS POINTS.csv", file=sys.stderr)
        return 2
    autograder, submissions, out = map(Path, words)
    print(f"{grade_class(autograder, submissions, out)} submissions graded:  {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
