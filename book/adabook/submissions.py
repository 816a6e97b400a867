"""Judge submitted answers away from their notebook.

Three processes take part. The notebook's own process may hold anything that the student has put
there, so it only hands over its answers (`adabook.plain_data`). A fresh process, which gets the
keys through a pipe once the notebook has ended, judges them. Where an answer holds functions, a
third process runs them: the judge sends it inputs and reads plain numbers back. That process is
confined (`adabook.confined`), and where Landlock is there it cannot read adabook, with its brute
forces.
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import adalib
from adabook import plain_data
from adabook.confined import confined, end, student_environment
from adabook.exercises import Checker, behaviour, checks
from adabook.exercises.cases import Late
from adabook.homework import exercise_of

# The folders that adabook and adalib are imported from: one in a wheel, two in a checkout.
_PACKAGES = (Path(__file__).resolve().parents[1], Path(adalib.__file__).resolve().parents[1])
#: The hint where a variable or a function is still as it was handed out.
NOT_ANSWERED = "not answered"
#: Seconds that the functions of one answer may work.
FUNCTION_SECONDS = 60.0
_PROOF_CASES = 200  # fewer than in practice, because every line of every case is a round trip
_SECONDS = 900.0  # for all answers of a submission


class Verdict(NamedTuple):
    """Whether an answer is right, and the hint if it is not."""

    right: bool
    hint: str


def verdicts(asked: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    """Judge plain answers in a fresh process.

    Each has a ``chapter``, a ``name``, a plain ``answer`` and a ``key``, None for an exercise of a
    chapter.
    """
    question = json.dumps({"seconds": FUNCTION_SECONDS, "asked": list(asked)}, default=repr)
    command = [sys.executable, "-P", "-m", "adabook.submissions"]
    places = os.pathsep.join(map(str, _PACKAGES))
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    try:
        done = subprocess.run(
            command,
            input=question,
            env={**kept, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [Verdict(False, f"not judged within {_SECONDS:g} seconds")] * len(asked)
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"the judge failed: {last[:300]}")
    return [Verdict(*one) for one in json.loads(done.stdout)]


def _judged(asked: Mapping[str, Any]) -> Verdict:
    """Judge one answer; its functions run in a process of their own."""
    name = asked["name"]
    check = checks(asked["chapter"])
    if asked["key"] is not None:
        check = Checker({name: exercise_of(name, asked["key"])})
    with _Functions() as functions:
        checked = check(name, plain_data.from_plain(asked["answer"], functions.function))
    if checked.right is None:
        return Verdict(False, NOT_ANSWERED)
    return Verdict(checked.right, "" if checked.right else checked.hint)


class _Functions:
    """The functions of an answer, run by a confined process that does not find adabook."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> _Functions:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process:
            end(self.process)
            shutil.rmtree(self.folder)

    def _start(self) -> subprocess.Popen:
        """Start the process in a folder that links every installed package but adabook."""
        self.folder = Path(tempfile.mkdtemp())
        installed = [*Path(sysconfig.get_path("purelib")).iterdir(), *_PACKAGES[1].glob("adalib")]
        for entry in installed:
            link = self.folder / entry.name
            is_hidden = entry.name.startswith(("adabook", "__editable__"))
            if not is_hidden and entry.suffix != ".pth" and not link.exists():
                link.symlink_to(entry)
        runner = shutil.copy(plain_data.__file__, self.folder / "run_functions.py")
        command = [sys.executable, "-P", "-S", str(runner), str(behaviour.SECONDS)]
        return subprocess.Popen(
            confined(command, self.folder, hidden=[Path(plain_data.__file__).parent]),
            env={**student_environment(self.folder), "PYTHONPATH": str(self.folder)},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def function(self, pickle: str, names: list[str]) -> Callable:
        """One of them, as a function with the same parameters."""

        def ask(values: tuple, parts: bool) -> Any:
            self.process = self.process or self._start()
            assert self.process.stdin
            assert self.process.stdout
            call = {"function": pickle, "values": plain_data.as_plain(list(values)), "parts": parts}
            try:
                self.process.stdin.write(json.dumps(call) + "\n")
                self.process.stdin.flush()
            except BrokenPipeError:
                raise RuntimeError("its process has ended") from None
            line = self.process.stdout.readline()
            if not line and self.process.wait() in (-signal.SIGXCPU, -signal.SIGKILL):
                raise Late
            reply = json.loads(line or '{"error": "its process ended"}')
            if "error" in reply:
                raise RuntimeError(reply["error"])
            return plain_data.from_plain(reply["value"])

        def call(*values: Any) -> Any:
            return ask(values, parts=False)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in names]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.parts = lambda *values: ask(values, parts=True)  # type: ignore[attr-defined]
        return call


def main() -> None:
    """Judge the answers that arrive as JSON on standard input."""
    question = json.load(sys.stdin)
    behaviour.PROOF_CASES = _PROOF_CASES
    behaviour.SECONDS = question["seconds"]
    print(json.dumps([_judged(asked) for asked in question["asked"]]))


if __name__ == "__main__":
    main()
