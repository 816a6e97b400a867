"""Grade submissions: run each notebook where it reaches no key, and judge its answers.

``python -m adabook.grade AUTOGRADER.zip SUBMISSIONS POINTS.csv`` grades a class with what
``make homework`` wrote, and ``python -m adabook.grade --gradescope /autograder`` the one submission
that Gradescope has put there. A notebook runs in a process of its own (`adabook.sandbox`), from
which only answers are taken, as plain data (`adabook.plain_data`). They are judged here after it
has ended (`adabook.judge`). A proof gets a comment, and a person marks it.

Whose a notebook is, its place says, or Gradescope: an id of the roster in the name of its folder or
of its file. What the notebook says of itself counts for nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from adabook import run_notebook, sandbox
from adabook.judge import MOST, judged

#: The file in an autograder that names the exercises and, for homework, holds the keys.
SHEET = "sheet.json"
_SECONDS = 900  # a notebook that takes longer is stopped, and gets no points
_TRUSTS = "without it a notebook has your rights and could read the keys: this trusts your class"
_FORMULA = ("=", "+", "-", "@")  # spreadsheets run a cell that begins so


def grade_class(autograder: Path, submissions: Path, out: Path, workers: int = 0) -> int:
    """Grade every notebook below a folder; the table grows with every one that is graded.

    In the end its rows stand in the order of the roster, with a row for each student who handed
    nothing in, and each student's slip is written next to it. A submission that cannot be read, run
    or judged has no points and a note that says why. Every file has one row, and every student one
    that counts: of several files of a student the best.

    Parameters
    ----------
    autograder : Path
        The ``autograder.zip`` of the assignment.
    submissions : Path
        A folder with the notebooks; folders inside it are searched, too. The name of a folder or of
        the file has the student's id in it.
    out : Path
        The CSV file to write: file, id, points, a column per exercise, hints and notes. Slips for
        the students go into the folder ``feedback`` beside it, and so do the points of the roster
        as Canvas and as Moodle import them, ``points-canvas.csv`` and ``points-moodle.csv``.
    workers : int
        How many notebooks run at a time; by default one per core.

    Returns
    -------
    int
        The number of submissions.
    """
    with zipfile.ZipFile(autograder) as pack:
        sheet = json.loads(pack.read(SHEET))
    files = _notebooks(submissions)
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(workers or os.cpu_count() or 1) as pool:
        graded = {
            pool.submit(_row, file, sheet, _at(file.relative_to(submissions), sheet)): file
            for file in files
        }
        for done in as_completed(graded):
            row = {**done.result(), "file": graded[done].relative_to(submissions).as_posix()}
            rows.append(row)
            _write_table(rows, sheet, out)
    rows = list(_in_order(rows, sheet["students"]))
    _write_table(rows, sheet, out)
    _write_slips(rows, sheet, out.with_name("feedback"))
    _write_gradebooks(rows, sheet, out)
    return len(files)


def _write_table(rows: Sequence[Mapping[str, Any]], sheet: Mapping[str, Any], out: Path) -> None:
    """Write all rows; the file is never half written."""
    names = [exercise["name"] for exercise in sheet["exercises"]]
    columns = ["file", "student_id", "points", "of", "to_mark", *names, "hints", "note"]
    part = out.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as table:
        writer = csv.DictWriter(table, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(map(_written, rows))
    part.replace(out)


def _notebooks(folder: Path) -> list[Path]:
    """The notebooks below a folder, without those that Jupyter or macOS keeps for itself."""
    return [
        file
        for file in sorted(folder.rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in file.parts and not file.name.startswith("._")
    ]


def _in_order(rows: list[dict[str, Any]], students: list[str]) -> Iterator[dict[str, Any]]:
    """The rows in the order of the roster, one per student, then those that count for nobody."""
    places = {student: place for place, student in enumerate(students)}
    counts: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: ("refused" in row, -row["points"], row["file"])):
        student = row["student_id"]
        if student in counts:
            row["note"].append(f"{counts[student]} counts for {student}, and not this file")
            row["student_id"] = ""
        elif student:
            counts[student] = row["file"]
    missing = [student for student in students if student not in counts]
    rows += [{"file": "", "student_id": one, "note": ["nothing handed in"]} for one in missing]
    rows.sort(key=lambda row: row["file"])
    yield from sorted(rows, key=lambda row: places.get(row["student_id"], len(places)))


def _at(place: Path, sheet: Mapping[str, Any]) -> list[str]:
    """Whose notebook lies at a place, by the names of its folders or else by its own; one at most.

    >>> sheet = {"students": ["ada", "ada-lee", "bo"]}
    >>> _at(Path("homework-ada-lee.ipynb"), sheet), _at(Path("BO_12/homework-ada.ipynb"), sheet)
    (['ada-lee'], ['bo'])
    >>> _at(Path("adams.ipynb"), sheet), _at(Path("ada and bo.ipynb"), sheet)
    ([], [])
    """
    for part in [*place.parts[:-1], place.stem]:
        if found := _named(part, sheet["students"]):
            return found if len(found) == 1 else []
    return []


def _named(text: str, students: Sequence[str]) -> list[str]:
    """The ids that stand in a name as whole words, and in no longer id that stands there."""
    text = file_name(unicodedata.normalize("NFC", text)).lower()
    spans = {}
    for student in students:
        word = re.escape(file_name(student).lower())
        for match in re.finditer(rf"(?<![^\W_]){word}(?![^\W_])", text):
            spans[match.span()] = student
    return sorted(
        {
            student
            for (begin, end), student in spans.items()
            if not any(
                other[0] <= begin and end <= other[1] and other != (begin, end) for other in spans
            )
        }
    )


def _written(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the table has it: lists as texts, and no text that a spreadsheet would run."""
    texts = {
        "file": row["file"],
        "student_id": row["student_id"],
        "hints": "; ".join(f"{name}: {hint}" for name, hint in row.get("hints", {}).items()),
        "note": "; ".join([*row.get("faults", []), *row["note"]]),
    }
    return {**row, **{name: harmless(text) for name, text in texts.items()}}


def harmless(text: str) -> str:
    """A text that no spreadsheet runs."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _write_slips(rows: Sequence[Mapping[str, Any]], sheet: Mapping[str, Any], to: Path) -> None:
    """Write what each student gets back: points, and a hint to each answer that is not right."""
    to.mkdir(exist_ok=True)
    for row in rows:
        if row["student_id"] not in sheet["students"] or "points" not in row:
            continue
        lines = [f"# {row['student_id']}", "", f"{row['points']:g} of {row['of']} points."]
        if row.get("to_mark"):
            lines[-1] += f" Marked by a person, and added: {row['to_mark']}."
        lines += ["", *(f"- **{name}**: {hint}" for name, hint in row["hints"].items())]
        lines += [f"- {fault}" for fault in row["faults"]]
        text = "\n".join(lines) + "\n"
        (to / f"{file_name(row['student_id'])}.md").write_text(text, encoding="utf-8")


def _write_gradebooks(
    rows: Sequence[Mapping[str, Any]], sheet: Mapping[str, Any], out: Path
) -> None:
    """Write the points of everyone on the roster as Canvas and as Moodle import them.

    Canvas knows a student by a login or, if it is a number, by a SIS id; Moodle asks what the
    column ``id`` is. Proofs, which a person marks, are not in the points.
    """
    most = sum(one["points"] for one in sheet["exercises"] if not one["by_hand"])
    students = {row["student_id"]: row.get("points", 0.0) for row in rows if row["student_id"]}
    canvas = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", sheet.get("name", "homework")],
        ["Points Possible", "", "", "", "", most],
    ]
    for student, points in students.items():
        known = [student, ""] if student.isdecimal() else ["", student]
        canvas.append([student, "", *known, "", points])
    moodle = [["id", sheet.get("name", "homework")], *map(list, students.items())]
    for name, lines in (("canvas", canvas), ("moodle", moodle)):
        file = out.with_name(f"{out.stem}-{name}.csv")
        with file.open("w", newline="", encoding="utf-8") as table:
            csv.writer(table).writerows(lines)


def grade_gradescope(place: Path) -> None:
    """Grade the submission that Gradescope has put below a folder, and write its results.

    Students see whether their answers arrived; points and hints show when the teacher publishes
    the grades. The submission runs in Gradescope's container, as another user than its keys.
    """
    sheet = json.loads((place / "source" / SHEET).read_text(encoding="utf-8"))
    files = _notebooks(place / "submission")
    told = json.loads((place / "submission_metadata.json").read_text(encoding="utf-8"))
    senders = _senders(told["users"], sheet["students"])
    if not senders:
        tests = [_unknown(told["users"], sheet["students"])]
    elif len(files) != 1:
        reason = f"hand in one notebook; {len(files)} were found"
        row = {"student_id": senders[0], "points": 0.0, "faults": [reason], "note": []}
        tests = _tests(row, sheet)
    else:
        tests = _tests(_row(files[0], sheet, senders, as_nobody=os.geteuid() == 0), sheet)
    (place / "results").mkdir(exist_ok=True)
    results = json.dumps({"tests": tests}, ensure_ascii=False)
    (place / "results" / "results.json").write_text(results, encoding="utf-8")


def _known_as(user: Mapping[str, Any]) -> list[str]:
    """By which ids Gradescope knows somebody: the e-mail, what stands before its @, and the SID."""
    email = str(user.get("email") or "").lower()
    known = [email, email.partition("@")[0], str(user.get("sid") or "").lower()]
    return [one.strip() for one in known if one.strip()]


def _senders(users: Sequence[Mapping[str, Any]], students: Sequence[str]) -> list[str]:
    """The ids on the roster of those who, as Gradescope knows, handed the submission in."""
    known = {one for user in users for one in _known_as(user)}
    return [student for student in students if student.lower() in known]


def _unknown(users: Sequence[Mapping[str, Any]], students: Sequence[str]) -> dict[str, Any]:
    """The test that fails where Gradescope and the roster share no id, so that nobody is graded."""
    names = " and ".join(repr(one) for user in users for one in _known_as(user)) or "nobody"
    return {
        "name": "NOT GRADED: the sender is not on the teacher's roster",
        "status": "failed",
        "score": 0,
        "max_score": 0,
        "output": (
            f"Gradescope knows the sender as {names}. The roster has {len(students)} ids, such as "
            f"{students[0]!r}. For the teacher: write the e-mail or the SID of every student into "
            "the roster, as Gradescope has them, run make homework with it and upload the new "
            "autograder.zip; then hand out the notebooks that belong to it."
        ),
        "visibility": "visible",
    }


def _tests(row: Mapping[str, Any], sheet: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What Gradescope shows: one test at once, one per exercise later, and notes to teachers."""
    names = [exercise["name"] for exercise in sheet["exercises"]]
    missing = [name for name in names if name not in row.get("arrived", [])]
    lines = [f"{len(names) - len(missing)} of {len(names)} answers were received."]
    lines += [f"Not answered: {', '.join(missing)}."] if missing else []
    lines += row["faults"]
    is_well = row.get("arrived") and not row.get("refused")
    received = {
        "name": "Answers received; marks come later",
        "status": "passed" if is_well else "failed",
        "output": "\n".join(lines),
        "visibility": "visible",
    }
    hints = row.get("hints", {})
    marks = [
        {
            "name": exercise["name"],
            "score": row.get(exercise["name"], 0),
            "max_score": exercise["points"],
            "output": hints.get(exercise["name"], ""),
            "visibility": "after_published",
        }
        for exercise in sheet["exercises"]
        if not exercise["by_hand"]
    ]
    by_hand = [
        f"To mark by hand: {exercise['name']}, {exercise['points']} points. "
        f"{hints.get(exercise['name'], '')}"
        for exercise in sheet["exercises"]
        if exercise["by_hand"]
    ]
    output = "\n".join([*by_hand, *row["note"]])
    return [received, *marks, {"name": "Notes", "output": output, "visibility": "hidden"}]


def _row(
    file: Path, sheet: Mapping[str, Any], students: Sequence[str], as_nobody: bool = False
) -> dict[str, Any]:
    """The row of a submission of one of these students; faults and notes say what is wrong."""
    of = sum(one["points"] for one in sheet["exercises"])
    student = students[0] if students else ""
    row = {"student_id": student, "points": 0.0, "of": of, "faults": [], "note": [], "hints": {}}
    try:
        found = _answers(file, sheet, as_nobody)
        row["faults"] += found["faults"]
        return row | _graded(found["answers"], sheet, students, row, as_nobody)
    except Exception as error:  # the class must not wait for one submission
        row["faults"].append(f"not graded: {str(error).strip() or type(error).__name__}")
        return row


def _answers(file: Path, sheet: Mapping[str, Any], as_nobody: bool) -> dict[str, Any]:
    """Run a notebook in a process of its own; return its answers by variable, and its faults."""
    if file.is_symlink():
        raise ValueError("this file is a link to another one; hand in the notebook itself")
    names = [exercise["variable"] for exercise in sheet["exercises"]]
    task = {
        "notebook": file.read_text(encoding="utf-8"),
        "names": [*names, "tables"],
        "has_checks": sheet["roster"] is None,
    }
    rights = {"judge": True, "as_nobody": as_nobody}
    with sandbox.Conversation(run_notebook, _SECONDS, **rights) as process:
        try:
            return process.ask(task, MOST)
        except TimeoutError:
            raise RuntimeError(f"the notebook did not end within {_SECONDS} seconds") from None


def _graded(
    answers: Mapping[str, Any],
    sheet: Mapping[str, Any],
    students: Sequence[str],
    row: Mapping[str, Any],
    as_nobody: bool = False,
) -> dict[str, Any]:
    """The points of one submission, by exercise and in all, with hints; notes go to its row."""
    roster = sheet["roster"]
    owner = None if roster is None else _owner(answers.get("tables"), roster)
    student = owner if owner in students else row["student_id"]
    arrived = [
        one["name"] for one in sheet["exercises"] if answers.get(one["variable"]) is not None
    ]
    refused = {"arrived": arrived, "refused": True}
    whose = f"its tables are those of {owner}" if owner else ""
    if not student:
        row["note"].append(
            "no id, or more than one, of the roster is in its place: put one into the name of the "
            f"file{f'; {whose}' if whose else ''}"
        )
        return refused
    if owner not in (student, None):
        row["faults"].append(f"the tables in this notebook are not those of {student}")
        row["note"].append(whose)
        return refused
    if roster is not None and owner is None:
        row["note"].append("its tables are no student's: they were changed")
    points: dict[str, Any] = {}
    hints = {}
    for exercise in sheet["exercises"]:
        name = exercise["name"]
        key = None if roster is None else roster[student]["keys"][name]
        found = judged(exercise, key, answers.get(exercise["variable"]), as_nobody)
        # A proof in which nothing is wrong is not marked here: no points are no zero.
        points[name] = "" if exercise["by_hand"] else exercise["points"] * (found.right is True)
        if found.hint:
            hints[name] = found.hint
        if found.right is None and name in arrived:
            arrived.remove(name)  # a function that is still the one handed out
    to_mark = [f"{one['name']} ({one['points']})" for one in sheet["exercises"] if one["by_hand"]]
    return {
        "student_id": student,
        "arrived": arrived,
        **points,
        "points": float(sum(one for one in points.values() if one != "")),
        "to_mark": ", ".join(to_mark),
        "hints": hints,
    }


def _owner(tables: Any, roster: Mapping[str, Any]) -> str | None:
    """Whose tables these are, or None if they are nobody's."""
    text = tables.get("text") if isinstance(tables, dict) else None
    return next((name for name, one in roster.items() if one["tables"] == text), None)


def file_name(student: str) -> str:
    """A student's id as part of a file's name."""
    return re.sub(r"[^\w.@-]", "_", student)


def main(words: list[str]) -> int:
    """Run the command line; return its exit code."""
    if words[:1] == ["--gradescope"] and len(words) == 2:
        grade_gradescope(Path(words[1]))
        return 0
    if len(words) != 3:
        print("give three paths: AUTOGRADER.zip SUBMISSIONS POINTS.csv", file=sys.stderr)
        return 2
    if not sandbox.bubblewrap():
        print(f"{sandbox.MEND}; {_TRUSTS}", file=sys.stderr)
    autograder, submissions, out = map(Path, words)
    print(f"{grade_class(autograder, submissions, out)} submissions graded:  {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
