"""Judge an answer that a notebook has handed over as plain data.

A function that is an answer runs in a process that does not find adabook (`adabook.sandbox`): the
judge sends it inputs and reads plain numbers back.
"""

from __future__ import annotations

import inspect
import json
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adabook import plain_data, sandbox
from adabook.exercises import Checked, Checker, behaviour, checks
from adabook.exercises.cases import Late
from adabook.homework import exercise_of

#: How many characters the answers of a notebook, or one reply of a function, may have.
MOST = 2_000_000
_FUNCTION_SECONDS = 60  # that the functions of one answer may take
_JUDGE_SECONDS = 120  # of the judge's own work on one answer
_PROOF_CASES = 200  # fewer than in practice, because every line of every case is a round trip


def judged(
    exercise: Mapping[str, Any], key: Mapping[str, Any] | None, answer: Any, as_nobody: bool = False
) -> Checked:
    """Judge a plain answer to an exercise of a chapter, or to homework by its key."""
    name = exercise["name"]
    check = checks(exercise["chapter"])
    if key is not None:
        check = Checker({name: exercise_of(name, key)})
    behaviour.PROOF_CASES = _PROOF_CASES
    behaviour.SECONDS = _FUNCTION_SECONDS
    with _Functions(as_nobody) as functions, _patience(_JUDGE_SECONDS):
        try:
            checked = check(name, plain_data.from_plain(answer, functions.function))
        except Late:
            return Checked(name, False, "it could not be judged in two minutes")
    if checked.right is None:
        return Checked(name, None, "not answered")
    return checked


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Raise `Late` once the judge itself has worked for so many seconds."""

    def late(*_: object) -> None:
        raise Late

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


class _Functions:
    """The functions of an answer, run by a process that does not find adabook."""

    def __init__(self, as_nobody: bool) -> None:
        self.as_nobody = as_nobody
        self.process: subprocess.Popen | None = None
        self.is_late = False

    def __enter__(self) -> _Functions:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process:
            self.timer.cancel()
            sandbox.end(self.process)
            self.folder.cleanup()

    def _start(self) -> subprocess.Popen:
        """Start the process, which ends when its time is up."""
        self.folder = tempfile.TemporaryDirectory()
        text = Path(plain_data.__file__).read_text(encoding="utf-8")
        pipes = (subprocess.PIPE, subprocess.PIPE)
        process = sandbox.start(
            ["-c", text], Path(self.folder.name), *pipes, judge=False, as_nobody=self.as_nobody
        )
        self.timer = threading.Timer(_FUNCTION_SECONDS, self._stop, [process])
        self.timer.start()
        return process

    def _stop(self, process: subprocess.Popen) -> None:
        self.is_late = True
        process.kill()

    def function(self, pickle: str, names: list[str]) -> Callable:
        """One of them, as a function with the same parameters."""

        def call(*values: Any) -> Any:
            process = self.process = self.process or self._start()
            assert process.stdin
            assert process.stdout
            asked = {"function": pickle, "values": plain_data.as_plain(list(values))}
            try:
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                process.stdin.flush()
                line = process.stdout.readline(MOST)
            except BrokenPipeError:
                line = b""
            if self.is_late:
                raise Late
            if not line.endswith(b"\n"):
                process.kill()  # what is left of the line would be the next reply
                raise RuntimeError("its process has ended, or its result is too long")
            reply = json.loads(line)
            if "error" in reply:
                raise RuntimeError(reply["error"])
            return plain_data.from_plain(reply["value"])

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in names]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return call
