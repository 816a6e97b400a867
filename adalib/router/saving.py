"""A router in a folder: three files of JSON, and checksums that are looked at before anything else is.

``router.json`` says what the folder holds: the format and its version, the budget, and the SHA-256 of the two others
and of itself. A checksum finds damage and careless editing; against someone who means harm only the folder's
permissions help, and what such a file could do is decide badly: nothing in it runs.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adalib.datasets.jsonl import DataError, read_lines, write_lines
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import load_policy
from adalib.router.reader import Reader
from adalib.sequential.priced import PricedStopping
from adalib.sequential.saving import load_stopping, save_stopping

if TYPE_CHECKING:
    from adalib.router.router import Router

__all__ = ["load", "save"]

_KIND, _VERSION = "adalib router", 1
_MEND = "fit and save the router again"


def save(router: Router, folder: str | os.PathLike) -> None:
    """Write the parts first and ``router.json`` last: a folder without it is no router."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "router.json").unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror}); choose another folder") from None
    curve = isinstance(router.policy, CurvePolicy)
    if curve:
        router.policy.save(folder / "policy.json")
    else:
        save_stopping(router.policy, folder / "policy.json")
    write_lines(folder / "reader.json", [{} if router.reader is None else router.reader.to_dict()])
    about = {
        "format": _KIND,
        "version": _VERSION,
        "policy": "curve" if curve else "priced",
        "budget": router.controller.budget,
        "cost": router.cost,
        "budgets": list(router.budgets),
        "files": {name: _digest((folder / name).read_bytes()) for name in ("policy.json", "reader.json")},
    }
    write_lines(folder / "router.json", [about | {"checksum": _checksum(about)}])


def load(folder: str | os.PathLike) -> tuple[PricedStopping | CurvePolicy, Reader | None, dict[str, Any]]:
    """Read the policy, the reader and what ``router.json`` says, or refuse in one line."""
    folder = Path(folder)
    about = _about(folder / "router.json")
    for name, digest in about["files"].items():
        path = folder / name
        try:
            found = _digest(path.read_bytes())
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror}); {_MEND}") from None
        if found != digest:
            raise DataError(f"{path}: is not the file that was saved (its checksum differs); {_MEND}")
    try:
        kept = next(record for _, record in read_lines(folder / "reader.json"))
        reader = Reader.from_dict(kept) if kept else None
        policy = (load_policy if about["policy"] == "curve" else load_stopping)(folder / "policy.json")
        return policy, reader, about
    except DataError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"{folder}: is not a sound router ({error!r}); {_MEND}") from None


def _about(path: Path) -> dict[str, Any]:
    lines = [record for _, record in read_lines(path)]
    about = lines[0] if len(lines) == 1 else {}
    if about.get("format") != _KIND or not isinstance(about.get("version"), int):
        raise DataError(f"{path}: is not a saved router; {_MEND}")
    if about["version"] > _VERSION:
        raise DataError(f"{path}: is of version {about['version']}, this adalib reads {_VERSION}; install a newer one")
    checksum = about.pop("checksum", None)
    if checksum != _checksum(about):
        raise DataError(f"{path}: is not the file that was saved (its checksum differs); {_MEND}")
    return about


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _checksum(about: dict[str, Any]) -> str:
    return _digest(json.dumps(about, sort_keys=True).encode())
