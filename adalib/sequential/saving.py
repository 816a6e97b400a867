"""Priced stopping in a file: one line of JSON with numbers and names, and nothing that runs."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from adalib.datasets.jsonl import DataError, read_lines, write_lines
from adalib.sequential.members import Member
from adalib.sequential.priced import PricedStopping
from adalib.sequential.prior import Prior
from adalib.sequential.rules import Confidence, Fixed, Margin

__all__ = ["load_stopping", "save_stopping"]

_FORMAT = "adalib stopping, version 1"
_RULES = {rule.__name__: rule for rule in (Confidence, Fixed, Margin)}
_ARRAYS = ("prices", "costs", "accuracies", "coefficients")
_PRIOR = ("center", "scale", "points", "mean", "weights")


def save_stopping(policy: PricedStopping, path: str | os.PathLike) -> None:
    """Write a fitted policy that `load_stopping` reads; a price list of its own is not kept.

    Explained in chapter 10, "When to stop".
    """
    about: dict[str, Any] = {"format": _FORMAT, "signals": list(policy.signals), "sharpness": policy.sharpness}
    about |= {"cost": policy.cost if isinstance(policy.cost, str) else "samples", "schedule": policy.schedule.tolist()}
    about |= {name: getattr(policy, name).tolist() for name in _ARRAYS}
    about["members"] = [
        {"price": member.price}
        if member.rule is None
        else {"rule": type(member.rule).__name__, "weighted": member.weighted, **asdict(member.rule)}
        for member in policy.members
    ]
    if policy.prior is not None:
        # A column that never changed has an infinite scale, and JSON knows no infinity.
        scale = np.where(np.isfinite(policy.prior.scale), policy.prior.scale, 0.0)
        about["prior"] = {name: getattr(policy.prior, name).tolist() for name in _PRIOR if name != "scale"}
        about["prior"] |= {"scale": scale.tolist(), "width": policy.prior.width}
    write_lines(path, [about])


def load_stopping(path: str | os.PathLike) -> PricedStopping:
    """Read a policy that `save_stopping` wrote.

    Explained in chapter 10, "When to stop".

    Raises
    ------
    DataError
        One sentence that names the file, what is wrong and the mend.
    """
    lines = [record for _, record in read_lines(path)]
    if len(lines) != 1 or lines[0].get("format") != _FORMAT:
        raise DataError(f'{path}: is not a saved stopping policy (one line with "format": "{_FORMAT}"); save it again')
    try:
        return _policy(lines[0])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error!r}); save the policy again") from None


def _policy(about: dict[str, Any]) -> PricedStopping:
    policy = PricedStopping(about["signals"], cost=about["cost"], schedule=about["schedule"])
    policy.sharpness, policy.prior = float(about["sharpness"]), None
    for name in _ARRAYS:
        setattr(policy, name, np.array(about[name], dtype=float))
    policy.members = [_member(dict(kept)) for kept in about["members"]]
    if not len(policy.members) == policy.costs.size == policy.accuracies.size > 0:
        raise ValueError("members, costs and accuracies are not equally many")
    if any(member.rule is None and not 0 <= member.price < policy.prices.size for member in policy.members):
        raise ValueError("a member has a price that is not there")
    if about.get("prior") is not None:
        policy.prior = prior = Prior()
        for name in _PRIOR:
            setattr(prior, name, np.array(about["prior"][name], dtype=float))
        prior.scale[prior.scale == 0] = np.inf
        prior.width = float(about["prior"]["width"])
    return policy


def _member(kept: dict[str, Any]) -> Member:
    if "rule" not in kept:
        return Member(None, price=int(kept["price"]))
    rule, weighted = _RULES[kept.pop("rule")], bool(kept.pop("weighted"))
    return Member(rule(**kept), weighted)
