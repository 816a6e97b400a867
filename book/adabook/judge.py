"""Judge a submitted answer away from its notebook, for the hidden tests of Otter.

Three processes take part. The notebook's own process may hold anything that the student has put
there, so it only writes the answer down. A fresh process reads it and judges it with an untouched
copy of this package. Where the answer holds functions, a third process runs them: the judge sends
it inputs and reads plain numbers back, so a submitted function can neither change the judge nor
keep it waiting for longer than the seconds that its hint names.

What this cannot prevent is said in the page "Homework and exams".
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import adalib
from adabook.exercises import Checker, checks, judged
from adabook.homework import exercises
from adalib.datasets.populations import Population
from adalib.table import UtilityTable

_ANSWER = "answer.json"
_FUNCTIONS = "functions.dill"
# The folders that adabook and adalib are imported from: one in a wheel, two in a checkout.
_PACKAGES = (Path(__file__).resolve().parents[1], Path(adalib.__file__).resolve().parents[1])
_FUNCTION_SECONDS = (
    60.0  # more than in practice: on a busy grader a round trip has to wait its turn
)
_PROOF_CASES = 200  # fewer than in practice, because every line of every case is a round trip
_SECONDS = 300.0  # for the judge and its brute force; a submitted function has its own limit


class Verdict(NamedTuple):
    """Whether an answer is right, and the hint if it is not."""

    right: bool
    hint: str


def verdict(chapter: str, name: str, answer: Any, student: str = "") -> Verdict:
    """Judge an answer to an exercise of a chapter in a fresh process.

    With a ``student`` the chapter is the name of a homework sheet.
    """
    functions: list[Callable] = []
    question = {
        "chapter": chapter,
        "name": name,
        "student": str(student),
        "answer": as_plain(answer, functions),
        "function_seconds": _FUNCTION_SECONDS,
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _ANSWER).write_text(json.dumps(question), encoding="utf-8")
        if functions:
            import dill  # comes with Otter

            Path(folder, _FUNCTIONS).write_bytes(dill.dumps(functions, recurse=True))
        try:
            done = subprocess.run(
                _command(folder),
                env=_environment(),
                capture_output=True,
                text=True,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Verdict(False, f"not judged within {_SECONDS:g} seconds")
    if done.returncode:
        raise RuntimeError(f"the judge failed: {done.stderr.strip()}")
    return Verdict(**json.loads(done.stdout))


def _command(*words: str) -> list[str]:
    """The command that runs this module in a process without the notebook's folder."""
    return [sys.executable, "-P", "-m", "adabook.judge", *words]


def _environment() -> dict[str, str]:
    """The variables of a clean process: nothing that the notebook may have set."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, _PACKAGES)), "OMP_NUM_THREADS": "1"}


# Answers as plain data


def as_plain(value: Any, functions: list[Callable]) -> Any:
    """An answer as data that JSON can hold, which `from_plain` turns back.

    A function joins the list, and its place there and its parameters' names are written instead.
    """
    if isinstance(value, UtilityTable):
        parts = [value.acc, value.cost, list(value.budgets)]
        return {"table": [as_plain(part, functions) for part in parts]}
    if isinstance(value, Population):
        parts = [value.probs, value.correct, value.empty]
        return {"population": [as_plain(part, functions) for part in parts]}
    if isinstance(value, np.ndarray):
        return {"array": [as_plain(entry, functions) for entry in value.tolist()]}
    if isinstance(value, (np.generic, Fraction)):
        return value.item() if isinstance(value, np.generic) else float(value)
    if isinstance(value, (list, tuple)):
        return [as_plain(entry, functions) for entry in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if callable(value):
        functions.append(value)
        return {"function": len(functions) - 1, "names": list(inspect.signature(value).parameters)}
    return {"text": repr(value)}


def from_plain(value: Any, functions: Callable[[int, list[str]], Callable] | None = None) -> Any:
    """The answer that `as_plain` wrote; ``functions`` finds one by its place and parameters."""
    if isinstance(value, list):
        return [from_plain(entry, functions) for entry in value]
    if not isinstance(value, Mapping):
        return value
    if "table" in value:
        acc, cost, budgets = (from_plain(part) for part in value["table"])
        return UtilityTable(acc, cost, budgets)
    if "population" in value:
        return Population(*(from_plain(part) for part in value["population"]))
    if "array" in value:
        return np.array(from_plain(value["array"]))
    if "function" in value and functions:
        return functions(value["function"], value["names"])
    return value.get("text", "")


# The judge


class _Remote:
    """The functions of an answer, run by a process that the judge does not share."""

    def __init__(self, file: Path) -> None:
        self.process = subprocess.Popen(
            _command("--run", str(file)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def function(self, number: int, names: list[str]) -> Callable:
        """One of them, as a function with the same parameters."""

        def call(*values: Any) -> Any:
            assert self.process.stdin
            assert self.process.stdout
            line = json.dumps({"function": number, "values": as_plain(list(values), [])})
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            reply = json.loads(self.process.stdout.readline() or '{"error": "its process ended"}')
            if "error" in reply:
                raise RuntimeError(reply["error"])
            return from_plain(reply["value"])

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in names]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return call


def _judge(folder: Path) -> Verdict:
    """Judge the answer in a folder; its functions run in a process of their own."""
    question = json.loads((folder / _ANSWER).read_text(encoding="utf-8"))
    if question["student"]:
        check = Checker(exercises(question["student"], question["chapter"]))
    else:
        check = checks(question["chapter"])[0]
    judged.PROOF_CASES = _PROOF_CASES
    judged.SECONDS = question["function_seconds"]
    functions = folder / _FUNCTIONS
    remote = _Remote(functions) if functions.exists() else None
    try:
        answer = from_plain(question["answer"], remote.function if remote else None)
        checked = check(question["name"], answer)
    finally:
        if remote:
            remote.process.kill()
    return Verdict(bool(checked.right), checked.hint)


def _run(file: Path) -> None:
    """Run the functions of an answer on the inputs that arrive, one per line."""
    import dill

    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the functions print is not a reply
    functions = dill.loads(file.read_bytes())
    for line in sys.stdin:
        call = json.loads(line)
        try:
            value = functions[call["function"]](*from_plain(call["values"]))
            reply = json.dumps({"value": as_plain(value, [])})
        except Exception as error:
            reply = json.dumps({"error": f"{type(error).__name__}: {error}"})
        replies.write(reply + "\n")
        replies.flush()


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        _run(Path(sys.argv[2]))
    else:
        print(json.dumps(_judge(Path(sys.argv[1]))._asdict()))
