"""Run a command that may read its Python and write one folder, and that reaches nothing else.

What a student hands in is a program. Two means of the system keep it from the keys, from the judge
and from other submissions: Landlock, which Linux has had since 5.13 and for which nobody needs
rights, and another user, which only root can become. Where both are there, both are used.

This file imports nothing of adabook. `confined` starts it as a program. Its child gives up its
rights and becomes the command; it waits, and then ends every process that the command has left.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# The system calls of Landlock have the same numbers on every processor.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NO_NEW_RIGHTS = 38  # the option of prctl without which Landlock refuses
_TAKES_ORPHANS = 36  # the option that makes us the parent of processes that lose theirs
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER, _TRUNCATE = (1 << n for n in (0, 1, 2, 3, 14))
_MAKE_DEVICE = 1 << 6 | 1 << 11
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many rights a version knows; later ones know 16
_SCOPES = 3  # from version 6: no signals to, and no abstract sockets of, other processes
# What programs need of the system. Of /proc they need next to nothing, and the rest tells too much.
_SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"]
_SYSTEM += [f"/etc/{name}" for name in ("ld.so.cache", "localtime", "passwd", "hosts", "fonts")]
_SYSTEM += ["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu"]
_DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/shm"]
_PATIENCE = 10  # seconds that a command which is told to end may take
_KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL")
_FIRST_USER, _USERS = 61184, 4336  # numbers that belong to no account
_PROCESSES = 256  # of such a user; a submission that starts more of them hurts itself alone


def can_confine() -> bool:
    """Whether this system can keep a command from the files of the user who starts it."""
    return _landlock_version() > 0 or _becomes_another_user()


def reachable(paths: Sequence[Path]) -> Path | None:
    """The first of some paths that a confined command could read although it must not."""
    if _landlock_version() > 0:
        return None
    return next((path for path in paths if _others_read(path)), None)


def student_environment(folder: Path) -> dict[str, str]:
    """The environment of a student's process: nothing of ours but where programs are."""
    own = {"HOME": str(folder), "TMPDIR": str(folder), "USER": "student", "OMP_NUM_THREADS": "1"}
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | own


def confined(command: Sequence[str], folder: Path, hidden: Sequence[Path] = ()) -> list[str]:
    """The command line that runs a command in a folder, where nothing ``hidden`` can be read.

    Where the system cannot confine anything it is the command as it was.
    """
    if not can_confine():
        return list(command)
    rules = {
        "folder": str(folder.resolve()),
        "read": sorted({str(path) for path in _readable([path.resolve() for path in hidden])}),
        "list": sorted({str(place) for place in _places()}),
        "another_user": _becomes_another_user(),
    }
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), json.dumps(rules), *command]


def end(process: subprocess.Popen) -> None:
    """End a confined command and whatever it has started."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _places() -> list[Path]:
    """The folders from which this Python imports, the packages of a checkout among them."""
    prefixes = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)}
    kept = [Path(entry).resolve() for entry in sys.path if entry]
    return [*prefixes, *(place for place in kept if place.is_dir() and place != Path.cwd())]


def _readable(hidden: Sequence[Path]) -> Iterator[Path]:
    """What a command may read: the system, Python, and the two packages with their data."""
    here = Path(__file__).resolve().parent
    checkout = here.parents[1]  # in a wheel this is the folder above site-packages
    packages = [here, here.parent / "adalib", checkout / "adalib", checkout / "data"]
    prefixes = {sys.prefix, sys.base_prefix, sysconfig.get_path("purelib")}
    for root in map(Path, [*prefixes, *map(str, packages), *_SYSTEM]):
        if root.exists():
            yield from _without(root.resolve(), hidden)


def _without(path: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """A path, or the parts of a folder that are not hidden."""
    if not any(one.is_relative_to(path) for one in hidden):
        yield path
    elif path not in hidden:
        for entry in path.iterdir():
            yield from _without(entry.resolve(), hidden)


def _landlock_version() -> int:
    """The version of Landlock, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, 1), 0)


def _becomes_another_user() -> bool:
    """Whether we are root, and another user could run this Python."""
    needed = (sys.executable, sys.prefix, sys.base_prefix, __file__)
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return is_root and all(_others_read(Path(path)) for path in needed)


def _others_read(path: Path) -> bool:
    """Whether every user of the system can read a path."""
    path = path.resolve()
    may_read = path.stat().st_mode & 0o004
    return bool(may_read and all(parent.stat().st_mode & 0o001 for parent in path.parents))


def _restrict(version: int, folder: str, read: Sequence[str], listed: Sequence[str]) -> None:
    """Give up every right to files but these."""
    system = ctypes.CDLL(None, use_errno=True)
    every = (1 << _RIGHTS.get(version, 16)) - 1
    scopes = _SCOPES if version >= 6 else 0
    words = [every, 0, scopes] if version >= 6 else [every]
    asked = (ctypes.c_uint64 * len(words))(*words)
    rules = system.syscall(_CREATE_RULESET, asked, ctypes.sizeof(asked), 0)
    look = _EXECUTE | _READ_FILE | _READ_FOLDER
    rights = dict.fromkeys(listed, _READ_FOLDER)
    rights |= dict.fromkeys(read, look)
    rights |= {path: every & ~_MAKE_DEVICE for path in (folder, *_DEVICES) if os.path.exists(path)}
    for path, allowed in rights.items():
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed &= every if os.path.isdir(path) else every & _OF_A_FILE
        rule = allowed.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
        if system.syscall(_ADD_RULE, rules, 1, rule, 0):
            raise OSError(ctypes.get_errno(), f"{path} cannot be opened to the command")
        os.close(place)
    if system.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0) or system.syscall(_RESTRICT_SELF, rules, 0):
        raise OSError(ctypes.get_errno(), "the command cannot be confined")


def _become(words: Sequence[str], rules: Mapping[str, Any]) -> None:
    """Give up our rights, and become the command."""
    if rules["another_user"]:
        import resource  # only root comes here, on a system that has it

        resource.setrlimit(resource.RLIMIT_NPROC, (_PROCESSES, _PROCESSES))
        user = _FIRST_USER + os.getpid() % _USERS
        os.chown(rules["folder"], user, user)
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    version = _landlock_version()
    if version:
        _restrict(version, rules["folder"], rules["read"], rules["list"])
    os.chdir(rules["folder"])
    os.execv(words[0], list(words))


def _end_children() -> None:
    """End our children, and theirs, which become ours as soon as they have no parent."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    while listed.exists() and (children := listed.read_text().split()):
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        os.waitpid(-1, 0)


def main(words: Sequence[str]) -> None:
    """Run the command in a child that is confined, and end as it does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_TAKES_ORPHANS, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        _become(words[1:], json.loads(words[0]))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _end_children()
    if code < 0:  # by a signal: who called us reads which one
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
