"""Grade submissions: run each notebook where it reaches nothing of ours, and judge its answers.

``python -m adabook.grade AUTOGRADER.zip SUBMISSIONS POINTS.csv`` grades a class with what
``make homework`` wrote, and ``python -m adabook.grade --gradescope /autograder`` grades the one
submission that Gradescope has put there. A notebook runs in a confined process (`adabook.confined`)
from which only answers are taken, as plain data. They are judged elsewhere
(`adabook.submissions`), after it has ended.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from adabook import plain_data
from adabook.confined import can_confine, confined, end, reachable, student_environment
from adabook.submissions import NOT_ANSWERED, verdicts

#: The file in an autograder that names the exercises and, for homework, holds the keys.
SHEET = "sheet.json"
#: The tag of a cell that is not run.
SKIPPED_TAG = "not-graded"
_CELL_SECONDS = 120  # a cell that takes longer is interrupted, and the next one runs
_SECONDS = 900  # a notebook that takes longer is stopped, and gets no points
_TRUST = "--trust"
_FORMULA = ("=", "+", "-", "@")  # spreadsheets run a cell that begins so

# Practice checks would cost time, and an endless function would be waited for twice.
_QUIET = """
import adabook.exercises

adabook.exercises.Checker.__call__ = lambda *_: None
"""
_COLLECT = "import runpy; runpy.run_path({file!r})['collect']({names!r}, globals(), {target!r})"


class GradingError(Exception):
    """Nothing can be graded; the message is one sentence that says what to do."""


def grade_class(
    autograder: Path, submissions: Path, out: Path, workers: int = 0, trust: bool = False
) -> int:
    """Grade every notebook below a folder, and write one row for each as soon as it is graded.

    In the end the rows are written again in the order of the roster, with a row for each student
    who handed nothing in. A submission that cannot be read, run or judged has no points and a note
    that says why.

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
    trust : bool
        Whether to go on where the system cannot keep a notebook from our files.

    Returns
    -------
    int
        The number of submissions.

    Raises
    ------
    GradingError
        If a submission could read the keys or the other submissions.
    """
    _check_protection([autograder, submissions], trust)
    with zipfile.ZipFile(autograder) as pack:
        sheet = json.loads(pack.read(SHEET))
    files = [file for file in sorted(submissions.rglob("*.ipynb")) if not _is_copy(file)]
    names = [exercise["name"] for exercise in sheet["exercises"]]
    columns = ["file", "student_id", "points", "of", *names, "hints", "note"]
    rows = []
    with (
        out.open("w", newline="", encoding="utf-8") as table,
        ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool,
    ):
        writer = csv.DictWriter(table, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        hidden = [autograder, submissions]
        graded = {pool.submit(_row, file, sheet, hidden): file for file in files}
        for done in as_completed(graded):
            row = done.result()
            row["file"] = graded[done].relative_to(submissions).as_posix()
            rows.append(row)
            writer.writerow(_written(row))
            table.flush()
    part = out.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as table:
        writer = csv.DictWriter(table, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(map(_written, _in_order(rows, sheet["students"])))
    part.replace(out)
    return len(files)


def _check_protection(secret: list[Path], trust: bool) -> None:
    """Refuse to grade where a submission could read what it must not."""
    if trust:
        return
    if not can_confine():
        raise GradingError(
            "this system cannot keep a submission from your files: grade on Linux 5.13 or newer, "
            f"or as root with a Python that every user can read, or trust your class with {_TRUST}"
        )
    open_path = reachable(secret)
    if open_path:
        raise GradingError(
            f"{open_path}: every user of this machine can read it, and so could a submission; say  "
            f"chmod go= {open_path}"
        )


def _in_order(rows: list[dict[str, Any]], students: list[str]) -> Iterator[dict[str, Any]]:
    """The rows in the order of the roster, then those of nobody on it, with notes on repeats."""
    places = {student: place for place, student in enumerate(students)}
    seen: dict[str, str] = {}
    rows = sorted(rows, key=lambda row: row["file"])
    for row in rows:
        row["note"] += _repeated(row, seen)
    missing = [student for student in students if student not in {r["student_id"] for r in rows}]
    rows += [{"file": "", "student_id": one, "note": ["nothing handed in"]} for one in missing]
    yield from sorted(rows, key=lambda row: places.get(row["student_id"], len(places)))


def _written(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the table has it: lists as texts."""
    texts = {
        "file": row["file"],
        "student_id": row["student_id"],
        "hints": "; ".join(row.get("hints", [])),
        "note": "; ".join([*row.get("faults", []), *row["note"]]),
    }
    harmless = {
        name: f"'{text}" if text.startswith(_FORMULA) else text for name, text in texts.items()
    }
    return {**row, **harmless}


def grade_gradescope(place: Path) -> None:
    """Grade the submission that Gradescope has put below a folder, and write its results.

    Students see whether their answers arrived; points and hints show when the teacher publishes
    the grades.
    """
    source = place / "source"
    sheet = json.loads((source / SHEET).read_text(encoding="utf-8"))
    _check_protection([source / SHEET], trust=False)
    files = [file for file in sorted((place / "submission").rglob("*.ipynb")) if not _is_copy(file)]
    if len(files) == 1:
        row = _row(files[0], sheet, [source])
    else:
        reason = f"hand in one notebook; {len(files)} were found"
        row = {"student_id": "", "points": 0.0, "faults": [reason], "note": []}
    (place / "results").mkdir(exist_ok=True)
    results = json.dumps({"tests": _tests(row, sheet)}, ensure_ascii=False)
    (place / "results" / "results.json").write_text(results, encoding="utf-8")


def _tests(row: Mapping[str, Any], sheet: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What Gradescope shows: one test at once, one per exercise later, and notes to teachers."""
    names = [exercise["name"] for exercise in sheet["exercises"]]
    missing = [name for name in names if name not in row.get("arrived", [])]
    lines = [f"{len(names) - len(missing)} of {len(names)} answers were received."]
    lines += [f"Not answered: {', '.join(missing)}."] if missing else []
    lines += row["faults"]
    has_id = row["student_id"] in sheet["students"]
    if not has_id:
        lines.append(f"The student_id {row['student_id']!r} is not on the roster.")
    received = {
        "name": "Answers received; marks come later",
        "status": "passed" if has_id and len(missing) < len(names) else "failed",
        "output": "\n".join(lines),
        "visibility": "visible",
    }
    hints = dict(hint.split(": ", 1) for hint in row.get("hints", []))
    marks = [
        {
            "name": exercise["name"],
            "score": row.get(exercise["name"], 0),
            "max_score": exercise["points"],
            "output": hints.get(exercise["name"], ""),
            "visibility": "after_published",
        }
        for exercise in sheet["exercises"]
    ]
    notes = {"name": "Notes", "output": "\n".join(row["note"]), "visibility": "hidden"}
    return [received, *marks, notes]


def _is_copy(file: Path) -> bool:
    """Whether a file is one that Jupyter or macOS keeps for itself."""
    return ".ipynb_checkpoints" in file.parts or file.name.startswith("._")


def _row(file: Path, sheet: Mapping[str, Any], hidden: list[Path]) -> dict[str, Any]:
    """The row of one submission: what went wrong in it is in its faults and notes."""
    of = sum(one["points"] for one in sheet["exercises"])
    row = {"student_id": "", "points": 0.0, "of": of, "faults": [], "note": [], "hints": []}
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = _answers(file, sheet, Path(folder), hidden)
        row["faults"] += found["faults"]
        row["student_id"] = _student(found["answers"])
        return row | _graded(found["answers"], sheet, file, row)
    except Exception as error:  # the class must not wait for one submission
        row["faults"].append(f"not graded: {str(error).strip() or type(error).__name__}")
        return row


def _answers(
    file: Path, sheet: Mapping[str, Any], folder: Path, hidden: list[Path]
) -> dict[str, Any]:
    """Run a notebook in a confined process; return its answers by variable, and its faults."""
    if file.is_symlink():
        raise ValueError("this file is a link to another one; hand in the notebook itself")
    names = [exercise["variable"] for exercise in sheet["exercises"]]
    task = {"names": [*names, "student_id", "tables"], "has_checks": sheet["roster"] is None}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    shutil.copy(file, folder / "handed_in.ipynb")
    run = [sys.executable, "-P", "-m", "adabook.grade", "--run", str(folder)]
    process = subprocess.Popen(
        confined(run, folder, hidden),
        env=student_environment(folder),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        printed, errors = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the notebook did not end within {_SECONDS} seconds") from None
    finally:
        end(process)
    if process.returncode < 0:
        raise RuntimeError("the notebook ended the process that ran it")
    if process.returncode:
        raise RuntimeError(errors.strip().rpartition("\n")[2][:300])
    return json.loads(printed.splitlines()[-1])


def _run(folder: Path) -> None:
    """Run a notebook cell by cell, and print its answers and what went wrong."""
    import nbformat
    from nbclient import NotebookClient

    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    try:
        notebook = nbformat.read(folder / "handed_in.ipynb", as_version=4)
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
        skip_cells_with_tag=SKIPPED_TAG,
        resources={"metadata": {"path": str(work)}},
    )
    target = folder / "answers.json"
    own = {"file": plain_data.__file__, "names": task["names"], "target": str(target)}
    new_cell = nbformat.v4.new_code_cell
    first = new_cell(_QUIET if task["has_checks"] else "")
    notebook.cells = [first, *notebook.cells, new_cell(_COLLECT.format(**own))]
    client.execute()
    answers = json.loads(target.read_text(encoding="utf-8"))
    print(json.dumps({"answers": answers, "faults": list(_faults(notebook.cells[1:-1]))}))


def _faults(cells: list) -> Iterator[str]:
    """What went wrong in the cells of a notebook that ran."""
    for number, cell in enumerate(cells, 1):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                yield f"cell {number} raised {output['ename']}: {output['evalue'][:100]}"


def _student(answers: Mapping[str, Any]) -> str:
    """The id that a notebook has after it has run."""
    return unicodedata.normalize("NFC", str(answers.get("student_id") or "")).strip()


def _graded(
    answers: Mapping[str, Any], sheet: Mapping[str, Any], file: Path, row: Mapping[str, Any]
) -> dict[str, Any]:
    """The points of one submission, by exercise and in all, with hints; notes go to its row."""
    student = row["student_id"]
    roster = sheet["roster"]
    owner = None if roster is None else _owner(answers.get("tables"), roster)
    row["note"].extend(_suspicions(student, owner, file, sheet))
    arrived = [
        one["name"] for one in sheet["exercises"] if answers.get(one["variable"]) is not None
    ]
    if roster is not None and (student not in roster or owner not in (student, None)):
        return {"arrived": arrived}
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
        if found.hint == NOT_ANSWERED and exercise["name"] in arrived:
            arrived.remove(exercise["name"])  # a function that is still the one handed out
    return {"arrived": arrived, **points, "points": float(sum(points.values())), "hints": hints}


def _owner(tables: Any, roster: Mapping[str, Any]) -> str | None:
    """Whose tables these are, or None if they are nobody's."""
    text = tables.get("text") if isinstance(tables, dict) else None
    return next((name for name, one in roster.items() if one["tables"] == text), None)


def _suspicions(
    student: str, owner: str | None, file: Path, sheet: Mapping[str, Any]
) -> Iterator[str]:
    """What is odd about whose work this is: id, tables and file name should be one student's."""
    students = sheet["students"]
    if student not in students:
        whose = f"; its tables are those of {owner}" if owner else ""
        yield f"student_id {student!r} is not on the roster{whose}"
    elif sheet["roster"] is not None and owner != student:
        whose = f"those of {owner}" if owner else "no student's: they were changed"
        yield f"its tables are {whose}"
    named = [name for name in students if file_name(name) in file.stem]
    longest = max(named, key=len, default=student)  # "student-1" is also in "student-12"
    if student in students and longest != student:
        yield f"the file is named after {longest}"


def file_name(student: str) -> str:
    """A student's id as part of a file's name."""
    return re.sub(r"[^\w.@-]", "_", student)


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
    trust = _TRUST in words
    paths = [Path(word) for word in words if not word.startswith("--")]
    try:
        if words[:1] == ["--gradescope"] and len(paths) == 1:
            grade_gradescope(paths[0])
        elif len(paths) == 3:
            autograder, submissions, out = paths
            count = grade_class(autograder, submissions, out, trust=trust)
            print(f"{count} submissions graded:  {out}")
        else:
            raise GradingError("give three paths: AUTOGRADER.zip SUBMISSIONS POINTS.csv")
    except GradingError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
