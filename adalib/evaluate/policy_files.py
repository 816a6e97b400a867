"""Policies in Python files: the one door from a file to policies that can be scored.

Every class of a file that has ``predict`` or ``more`` is a policy of its own. Whatever a policy
keeps, on itself, on its class or in its module, must not carry answers from one fold or order to
another. So a file is never run in this process: `serve` runs in a clean one, and every fold is
tried in a copy of that, where the file is read anew. Each order of the answers is shown to a
further copy, which has learned and has met no question yet.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from adalib.evaluate.learners import Kind, Questions
    from adalib.sequential.replay import Tried

_LENGTH = Struct("!Q")  # before every request and reply
_START = "from adalib.evaluate.policy_files import serve; serve()"
_WRITE_ONE = (
    "has no policy; write a class with fit(features, table) and predict(features), or with "
    "fit(answers) and more(seen)"
)


def classes_in(source: str | bytes, path: str) -> dict[str, type]:
    """Run the text of a file, and return its classes that plan or watch, by name.

    A class that the file imports is none of them.
    """
    module = ModuleType("policy_file")
    module.__file__ = path
    sys.modules[module.__name__] = module  # where dataclasses and copies look their class up
    exec(compile(source, path, "exec"), vars(module))
    found = {
        name: one
        for name, one in vars(module).items()
        if isinstance(one, type)
        and one.__module__ == module.__name__
        and any(hasattr(one, method) for method in ("predict", "more"))
    }
    if not found:
        raise ValueError(f"{path}: {_WRITE_ONE}")
    return found


@contextmanager
def policies_in(paths: Sequence[str]) -> Iterator[dict[str, FilePolicy]]:
    """Read files, and return their policies by the names of their classes.

    Mistakes in a file, also those that show later, are a ValueError that names its line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = "class Once:\\n def fit(self, answers): pass\\n def more(self, seen): return False"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.py")
    ...     _ = path.write_text(text)
    ...     with policies_in([str(path)]) as found:
    ...         found["Once"].kind
    'watches'
    """
    processes = _Processes()
    try:
        policies: dict[str, FilePolicy] = {}
        for path in paths:
            source = Path(path).read_bytes()
            for name, kind in processes.ask("kinds", path, source):
                if name in policies:
                    raise ValueError(f"{path}: has a second policy {name}; rename one")
                policies[name] = FilePolicy(name, kind, source, path, processes)
        yield policies
    finally:
        processes.end()


@dataclass(frozen=True, eq=False)
class FilePolicy:
    """A policy of a file, as `adalib.held_out` scores it: each trial in a clean process."""

    name: str
    kind: Kind
    source: bytes = field(repr=False)
    path: str
    processes: _Processes = field(repr=False)

    @property
    def plans(self) -> bool:
        """Whether it decides before it asks."""
        return self.kind == "plans"

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Learn from ``train`` and return what it did on ``test``, for every target."""
        from adalib.sequential.alike import Alike
        from adalib.sequential.replay import Tried

        given = (self.path, self.source, self.name, train, test, list(targets))
        found = self.processes.ask("outcomes", *given)
        results = []
        for figures, alike in found:
            cost, accuracy, column, waiting = map(_array, figures)
            plans = Alike(*map(_array, alike)) if alike else None
            results.append(Tried(cost, accuracy, column, waiting, plans))
        return results


# This side of the pipe.


class _Processes:
    """Clean processes, as many as are asked at a time."""

    def __init__(self) -> None:
        self.all: list[subprocess.Popen] = []
        self.idle: list[subprocess.Popen] = []

    def ask(self, work: str, *given: Any) -> Any:
        """Have work done by a copy of a clean process; ValueError with what went wrong."""
        try:
            process = self.idle.pop()
        except IndexError:
            process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        request = pickle.dumps((work, given, sys.path))
        process.stdin.write(_LENGTH.pack(len(request)) + request)
        process.stdin.flush()
        (length,) = _LENGTH.unpack(process.stdout.read(_LENGTH.size))
        reply = json.loads(process.stdout.read(length))
        if _CAN_FORK:
            self.idle.append(process)  # its copy did the work, so it is as clean as before
        return _value(reply)

    def _started(self) -> subprocess.Popen:
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **one_thread, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self.all.append(process)
        return process

    def end(self) -> None:
        """End them, whatever they are at."""
        for process in self.all:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(BrokenPipeError):
                    pipe.close()  # type: ignore[union-attr]


def _array(values: list | None) -> Any:
    """Make an array of a list again."""
    import numpy as np

    return None if values is None else np.array(values, dtype=float)


def _value(reply: Mapping[str, Any]) -> Any:
    """Return what a process replied; ValueError with its complaint."""
    if "error" in reply:
        raise ValueError(reply["error"])
    return reply["value"]


# The other side, which runs what is in the file.

_CAN_FORK = hasattr(os, "fork")  # not on Windows: there each process does one piece of work


def serve() -> None:
    """Answer requests, each in a copy of this process that ends with it."""
    import adalib.evaluate.learners  # noqa: F401  # once, and not in every copy

    replies, requests = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # what a policy prints is not a reply
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word
    while header := requests.read(_LENGTH.size):
        work, (path, *given), sys.path[:] = pickle.loads(requests.read(*_LENGTH.unpack(header)))
        reply = _apart(path, lambda: _WORK[work](path, *given))  # noqa: B023
        replies.write(_LENGTH.pack(len(reply)) + reply)
        replies.flush()
        if not _CAN_FORK:
            return


def _apart(path: str, work: Callable[[], Any]) -> bytes:
    """Return what work returns, done by a copy of this process, or where the file went wrong."""
    if not _CAN_FORK:
        return _guarded(path, work)
    reading, writing = os.pipe()
    copy = os.fork()
    if not copy:
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(_guarded(path, work))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read()
    os.waitpid(copy, 0)
    return found or _written(error=f"{path}: its process has ended without an answer")


def _guarded(path: str, work: Callable[[], Any]) -> bytes:
    """Return the reply that holds what work returns, or where the file went wrong."""
    try:
        return _written(value=work())
    except (Exception, SystemExit) as error:
        return _written(error=_complaint(path, error))


def _written(**reply: Any) -> bytes:
    return json.dumps(reply).encode()


def _complaint(path: str, error: BaseException) -> str:
    """Say in one line where a file went wrong."""
    places = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    lines = [line for name, line in places if name == path]
    if isinstance(error, SystemExit):
        what = "ends the program; a policy returns from its methods, and never exits"
    elif not lines and isinstance(error, ValueError):
        return str(error)  # a sentence of ours
    else:
        what = f"{type(error).__name__}: {error}"
    return f"{path}, line {lines[-1]}: {what}" if lines else f"{path}: {what}"


def _lists(arrays: Iterable[np.ndarray | None]) -> list[list | None]:
    return [None if values is None else values.tolist() for values in arrays]


def _kinds(path: str, source: bytes) -> list[tuple[str, str]]:
    """Return the policies of a file, and how each decides."""
    from adalib.evaluate.learners import kind_of

    found = classes_in(source, path)
    return [(name, kind_of(name, one, target=1.0)) for name, one in found.items()]


def _outcomes(
    path: str,
    source: bytes,
    name: str,
    train: Questions,
    test: Questions,
    targets: Sequence[float],
) -> list[tuple[list, list]]:
    """Let a policy learn and decide; return the arrays of its trial as lists, then its plans'."""
    from adalib.evaluate.learners import planned, watched

    policy = classes_in(source, path)[name]

    def each(play: Callable[[int], np.ndarray], orders: Iterable[int]) -> Iterator[Any]:
        for order in orders:
            reply = _apart(path, lambda: play(order).tolist())  # noqa: B023
            yield _value(json.loads(reply))

    if hasattr(policy, "more"):
        results = watched(policy, train, test, targets, each)
    else:
        results = planned(policy, train, test, targets)
    return [
        (_lists(one[:4]), _lists([one.alike.cost, one.alike.accuracy] if one.alike else []))
        for one in results
    ]


_WORK: dict[str, Callable[..., Any]] = {"kinds": _kinds, "outcomes": _outcomes}
