"""Write files and folders so that they appear under their name only when they are complete.

A folder of many files is filled as ``NAME.part``; a later run with the same input resumes it.
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

_STALE = re.compile(r"\.(.*)\.(\d+)-[0-9a-f]{8}\.part")  # a draft of one file, see `replacing`


@contextmanager
def filling(out: Path, plan: dict) -> Iterator[Path]:
    """Yield the draft folder of `claim`; an error leaves it to be resumed, unless it is empty."""
    draft = claim(out, plan)
    try:
        yield draft
    except BaseException:
        if not _begun(draft):
            shutil.rmtree(draft, ignore_errors=True)
        raise


def claim(out: Path, plan: dict) -> Path:
    """Return the folder in which ``out`` is made, a new one or that of an interrupted run.

    ``plan`` describes the input; a run with another plan is not resumed.
    """
    plan = json.loads(json.dumps(plan))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out}: already exists and is complete; use it, or choose another folder")
    draft = out.with_name(out.name + ".part")
    note = draft / "work" / "plan.json"
    previous_plan = None
    with suppress(FileNotFoundError, ValueError):  # no note, or a damaged one
        previous_plan = json.loads(note.read_text(encoding="utf-8"))
    if previous_plan != plan:
        if note.exists() and _begun(draft):
            raise ValueError(
                f"{draft}: is an unfinished run with other input; give another folder, or remove it"
            )
        note.parent.mkdir(parents=True, exist_ok=True)
        with replacing(note) as file:
            file.write_text(json.dumps(plan), encoding="utf-8")
    return draft


def _begun(draft: Path) -> bool:
    """Whether a draft holds more than its plan."""
    files = (
        file for file in draft.rglob("*") if file.is_file() and not _STALE.fullmatch(file.name)
    )
    return any(file != draft / "work" / "plan.json" for file in files)


def publish(draft: Path, out: Path, keep: set[str]) -> None:
    """Rename a complete draft, after removing the files that are not in ``keep``."""
    for file in draft.iterdir():
        if file.is_file() and file.name not in keep:
            file.unlink()
    shutil.rmtree(draft / "work")
    if out.exists():
        out.rmdir()  # it is empty, as `claim` has checked
    draft.rename(out)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path to write to, which replaces the target if the block ends without an error."""
    draft = target.with_name(f".{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield draft
        with draft.open("r+b") as file:  # Windows flushes only files that are open for writing
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
    """Whether a process is running, as far as the system tells."""
    if os.name == "nt":  # os.kill ends the process there, so assume that it runs
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it belongs to another user
        pass
    return True
