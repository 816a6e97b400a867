"""A router in a folder: three files of JSON, and checksums that are looked at before anything else is.

``router.json`` says what the folder holds: the format and its version, the budget, and the SHA-256 of the two others
and of itself. A checksum finds damage and careless editing; against someone who means harm only the folder's
permissions help, and what such a file could do is decide badly: nothing in it runs.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adalib.datasets.jsonl import read_lines, write_lines
from adalib.datasets.sealed import DataError, digest, number, open_seal, seal, whole
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
_PARTS = ("policy.json", "reader.json")


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
        "cost": router.cost if isinstance(router.cost, str) else asdict(router.cost),
        "budgets": list(router.budgets),
        "files": {name: digest(folder / name) for name in _PARTS},
    }
    write_lines(folder / "router.json", seal([about]))


def load(folder: str | os.PathLike) -> tuple[PricedStopping | CurvePolicy, Reader | None, dict[str, Any]]:
    """Read the policy, the reader and what ``router.json`` says, or refuse in one line."""
    folder = Path(folder)
    about = _about(folder / "router.json")
    for name in _PARTS:
        if digest(folder / name) != about["files"][name]:
            raise DataError(f"{folder / name}: is not the file that was saved (its checksum differs); {_MEND}")
    try:
        kept = next((record for _, record in read_lines(folder / "reader.json")), None)
        reader = Reader.from_dict(kept) if kept else None
        policy = (load_policy if about["policy"] == "curve" else load_stopping)(folder / "policy.json")
        _check_fit(policy, reader, about)
        return policy, reader, about
    except DataError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{folder}: is not a sound router ({error!r}); {_MEND}") from None


def _about(path: Path) -> dict[str, Any]:
    lines = [record for _, record in read_lines(path)]
    about = lines[0] if len(lines) == 1 else {}
    if about.get("format") != _KIND or not isinstance(about.get("version"), int):
        raise DataError(f"{path}: is not a saved router; {_MEND}")
    if about["version"] > _VERSION:
        raise DataError(f"{path}: is of version {about['version']}, this adalib reads {_VERSION}; install a newer one")
    open_seal(lines, path, _MEND)
    files = about.get("files")
    if not isinstance(files, dict) or set(files) != set(_PARTS) or about.get("policy") not in ("curve", "priced"):
        raise DataError(f"{path}: is not a sound router (its parts are not named); {_MEND}")
    return about


def _check_fit(policy: PricedStopping | CurvePolicy, reader: Reader | None, about: dict[str, Any]) -> None:
    """Refuse parts that are sound each for itself, and do not belong together."""
    number(about["budget"], "budget", 1e-300)
    cost = about["cost"]
    if isinstance(cost, dict) and set(cost) == {"per_token", "per_answer"} and isinstance(policy, PricedStopping):
        number(cost["per_token"], "price of a token", 1e-300)
        number(cost["per_answer"], "price of an answer", 0.0)
    elif cost not in ("samples", "tokens"):
        raise ValueError("its cost is neither samples nor tokens nor a price list")
    asked = [whole(budget, "a budget", 1, 10**9) for budget in about["budgets"]]
    if isinstance(policy, CurvePolicy):
        if len(asked) != policy.cost_.size or sorted(set(asked)) != asked:
            raise ValueError(f"it has {len(asked)} budgets and a policy of {policy.cost_.size}")
        needs = policy.n_features_in_
    elif isinstance(policy, PricedStopping):
        needs = 0 if policy.prior is None else policy.prior.points.shape[1]
    else:
        raise ValueError("its policy cannot be held to a budget")
    reads = 0 if reader is None else reader.read([""]).shape[1]
    if needs and needs != reads:
        raise ValueError(f"its policy takes {needs} features and its reader gives {reads}")
