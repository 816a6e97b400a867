"""Start a process that runs what a student wrote.

`bubblewrap <https://github.com/containers/bubblewrap>`_ confines it, where it is installed: the
process sees the system's programs, this Python and the two packages, all read-only, an empty
``/tmp`` and no network, and whatever it has started ends with it. Inside a container that root
keeps for one submission, as on Gradescope, it becomes another user instead. Elsewhere it has the
rights of whoever grades. In each case time, memory and files are limited.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import adalib
from adalib.datasets.loading import data_folder

#: What to say where nothing confines a submission.
MEND = (
    "bubblewrap 0.7 or newer does not run here (Debian, Ubuntu: apt install bubblewrap, and where "
    "user namespaces are forbidden: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0)"
)
_HERE = Path(__file__).resolve().parent
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/passwd")
_MEMORY = 6 << 30  # bytes that one process may ask for
_ROOM = 256 << 20  # bytes that one file may grow to, and /tmp as a whole
_PROCESSES = 4096  # more than a desktop runs, fewer than stop it; root has no such limit
_NOBODY = 65534


@functools.cache
def bubblewrap() -> str:
    """The path of a bubblewrap that works here, or "" if there is none."""
    found = shutil.which("bwrap") or ""
    try:
        works = (
            found
            and not subprocess.run(
                [found, *_walls(), "true"], capture_output=True, timeout=30
            ).returncode
        )
    except (OSError, subprocess.TimeoutExpired):
        works = False
    return found if works else ""


class Conversation:
    """A process that runs the text of a module: it is sent requests as lines, and replies in lines.

    It is stopped after so many ``seconds``, or after so many of the processor's own in ``work``,
    which a busy machine does not shorten. With ``judge`` it finds adabook, which holds keys and
    brute forces, and without ``data`` no recorded answers. ``as_nobody`` is for root in a container
    of one submission.
    """

    def __init__(
        self,
        module: ModuleType,
        seconds: float,
        judge: bool = False,
        data: bool = True,
        as_nobody: bool = False,
        work: int | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        folder = self._folder.name  # its own, where there is no bubblewrap
        home = "/tmp" if bubblewrap() else folder
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        words = [sys.executable, "-P", "-c", text]
        if bubblewrap():
            words = [bubblewrap(), *_walls(judge, data), *words]
        paths = [str(Path(adalib.__file__).resolve().parents[1]), *([str(_HERE.parent)] * judge)]
        environment = {"HOME": home, "TMPDIR": home, "USER": "student", "PATH": os.environ["PATH"]}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANG": "C.UTF-8"}
        other: dict[str, Any] = {}
        if as_nobody:
            os.chown(folder, _NOBODY, _NOBODY)
            other = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        self._process = subprocess.Popen(
            words,
            env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=functools.partial(_limit, work) if sys.platform != "win32" else None,
            **other,
        )
        self._is_late = threading.Event()
        self._timer = threading.Timer(seconds, self._stop)
        self._timer.start()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()  # with bubblewrap everything that it has started ends, too
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # what it was sent last is not wanted
                pipe.close()  # type: ignore[union-attr]
        self._folder.cleanup()

    def _stop(self) -> None:
        self._is_late.set()
        self._process.kill()

    def ask(self, request: Any, longest: int) -> Any:
        """Return the value of its reply; TimeoutError after its time, RuntimeError on a fault."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline(longest)
        except BrokenPipeError:
            line = b""
        if self._is_late.is_set() or (not line and self._worked_too_long()):
            raise TimeoutError
        if not line.endswith(b"\n"):
            self._process.kill()  # what is left of the line would be the next reply
            raise RuntimeError("its process has ended, or its reply is too long")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]

    def _worked_too_long(self) -> bool:
        """Whether the process, which has closed its end, was stopped for its processor time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        stopped = signal.SIGXCPU if sys.platform != "win32" else None
        # bubblewrap passes a signal on as a shell does.
        return stopped is not None and self._process.returncode in (-stopped, 128 + stopped)


def _walls(judge: bool = True, data: bool = True) -> Iterator[str]:
    """What bubblewrap is told: what can be read, and that nothing else is there."""
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--proc", "/proc")
    yield from ("--dev", "/dev", "--chdir", "/tmp")
    for place in ("/tmp", "/dev/shm"):
        yield from ("--size", str(_ROOM), "--tmpfs", place)
    for place in sorted({*_SYSTEM, *map(str, _python())}):
        yield from ("--ro-bind-try", place, place)
    if not judge:
        yield from ("--tmpfs", str(_HERE))
    for folder in () if data else {data_folder(), data_folder().resolve()}:
        yield from ("--tmpfs", str(folder))


def _python() -> Iterator[Path]:
    """The folders of this Python and of the two packages, a checkout's data among them."""
    package = Path(adalib.__file__).resolve().parent
    program = Path(sys.executable)
    prefixes = [Path(sys.prefix), Path(sys.base_prefix), program.resolve().parents[1]]
    for place in [*prefixes, package, data_folder(), _HERE]:
        if place != Path("/"):
            yield from (place, place.resolve())


def _limit(work: int | None) -> None:
    """Limit what this process may take; it runs in the child."""
    import resource  # not on Windows, where nothing is limited

    for kind, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _ROOM),
        (resource.RLIMIT_NPROC, _PROCESSES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    if work:  # the signal that says so comes a second before the end
        resource.setrlimit(resource.RLIMIT_CPU, (work, work + 1))
