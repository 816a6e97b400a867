"""Nothing half-written is ever taken for a result: files and folders appear under their name when they are complete.

A folder of many files is filled as ``NAME.part``; a later run that wants the same finds it and goes on.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["claim", "clear_drafts", "filling", "publish", "replacing"]

_STALE = re.compile(r"\.(.*)\.(\d+)-[0-9a-f]{8}\.part")  # a draft of one file, see `replacing`


@contextmanager
def filling(out: Path, plan: dict) -> Iterator[Path]:
    """A draft folder to fill, as `claim` finds it; an error leaves it to be gone on with, unless it holds nothing."""
    draft = claim(out, plan)
    try:
        yield draft
    except BaseException:
        if not _begun(draft):
            shutil.rmtree(draft, ignore_errors=True)
        raise


def claim(out: Path, plan: dict) -> Path:
    """Return the draft folder in which ``out`` is made: a new one, or that of an interrupted run with the same plan."""
    plan = json.loads(json.dumps(plan))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(
            f"{out}: is there already, and complete, or it would be {out.name}.part; name another, or use it"
        )
    draft = out.with_name(out.name + ".part")
    note = draft / "work" / "plan.json"
    noted = None
    with suppress(FileNotFoundError, ValueError):  # there is no note, or one that is none
        noted = json.loads(note.read_text(encoding="utf-8"))
    if noted != plan:
        if note.exists() and _begun(draft):
            raise ValueError(f"{draft}: is an unfinished run with other input; give another folder, or remove it")
        note.parent.mkdir(parents=True, exist_ok=True)
        with replacing(note) as file:
            file.write_text(json.dumps(plan), encoding="utf-8")
    return draft


def _begun(draft: Path) -> bool:
    """Whether a draft holds more than its plan."""
    files = (file for file in draft.rglob("*") if file.is_file() and not _STALE.fullmatch(file.name))
    return any(file != draft / "work" / "plan.json" for file in files)


def publish(draft: Path, out: Path, keep: set[str]) -> None:
    """Give a complete draft its name; what is not to be kept is removed first."""
    for file in draft.iterdir():
        if file.is_file() and file.name not in keep:
            file.unlink()
    shutil.rmtree(draft / "work")
    if out.exists():
        out.rmdir()  # empty, or there would have been an error long before
    draft.rename(out)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path to write to; it takes the target's place when the block ends well, and is gone when it does not."""
    draft = target.with_name(f".{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield draft
        with draft.open("r+b") as file:  # Windows writes out only what may be written
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def clear_drafts(target: Path) -> None:
    """Remove the drafts of a file whose writers were killed."""
    for file in target.parent.iterdir() if target.parent.is_dir() else ():
        draft = _STALE.fullmatch(file.name)
        if draft and draft[1] == target.name[:100] and not _alive(int(draft[2])):
            file.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    if os.name == "nt":  # where asking so ends the process: drafts of the killed stay there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's
        pass
    return True
