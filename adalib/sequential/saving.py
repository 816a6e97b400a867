"""Priced stopping in a file: one line of JSON with numbers and names, and nothing that runs.

A checksum is looked at first, then every size and number: what was loaded decides, however the file was made.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from adalib.datasets.sealed import DataError, number, numbers, read_sealed, whole, write_sealed
from adalib.sequential.priced import Member, PricedStopping
from adalib.sequential.rules import Confidence, Fixed, Margin
from adalib.sequential.signals import Prior
from adalib.sequential.streams import Cost, Money, Votes
from adalib.sequential.value import state_features

__all__ = ["load_stopping", "save_stopping"]

_FORMAT = "adalib stopping, version 2"
_MEND = "save the policy again"
_RULES = {rule.__name__: rule for rule in (Confidence, Fixed, Margin)}
_ARRAYS = ("prices", "costs", "accuracies", "coefficients")
_MOST = 10**9  # answers: more are never asked for
_VOTED = 255  # answers for one class: `leader_holds` knows no more
_VOTES = Votes(1, 1.0, 0.0, 1, 0, 1, 0.0, np.nan)  # of one answer
_PRIOR = ("center", "scale", "points", "mean", "weights")


def save_stopping(policy: PricedStopping, path: str | os.PathLike) -> None:
    """Write a fitted policy that `load_stopping` reads, its `Money` price list included.

    Explained in chapter 10, "When to stop".

    Raises
    ------
    ValueError
        If its costs come from a function of one's own, which a file of numbers cannot hold.
    """
    if callable(policy.cost) and not isinstance(policy.cost, Money):
        raise ValueError(
            "the policy's costs come from a function, which cannot be saved; fit it with a Money price list"
        )
    about: dict[str, Any] = {"signals": list(policy.signals), "sharpness": policy.sharpness}
    about["unit"] = policy.unit
    about["cost"] = asdict(policy.cost) if isinstance(policy.cost, Money) else policy.cost
    about["schedule"] = policy.schedule.tolist()
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
    write_sealed(path, _FORMAT, [about])


def load_stopping(path: str | os.PathLike) -> PricedStopping:
    """Read a policy that `save_stopping` wrote.

    Explained in chapter 10, "When to stop".

    Raises
    ------
    DataError
        One sentence that names the file, what is wrong and the mend.
    """
    (about,) = read_sealed(path, _FORMAT, 1, _MEND)
    try:
        return _policy(about)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error!r}); {_MEND}") from None


def _policy(about: dict[str, Any]) -> PricedStopping:
    schedule = [whole(stop, "a stop of the schedule", 1, _MOST) for stop in about["schedule"]]
    policy = PricedStopping(about["signals"], cost=_cost(about["cost"]), schedule=schedule)
    policy.unit = number(about["unit"], "unit", 0, 1e12)
    policy.sharpness = number(about["sharpness"], "sharpness", 0, 1e3)
    policy.prior = None if about.get("prior") is None else _prior(about["prior"])
    policy.prices = numbers(about["prices"], "prices", (None,), 0)
    known = state_features(_VOTES, _VOTES if policy.sharpness else None, policy.prior and np.zeros(2)).size
    checkpoints, priced = policy.schedule.size - 1, policy.prices.size
    shape = (checkpoints, known + 1, priced) if checkpoints else (0,)
    policy.coefficients = numbers(about["coefficients"], "coefficients", shape)
    policy.members = [_member(dict(kept), policy) for kept in about["members"]]
    policy.costs = numbers(about["costs"], "costs", (len(policy.members),), 0)
    policy.accuracies = numbers(about["accuracies"], "accuracies", (len(policy.members),), 0, 1)
    if not policy.members or (np.diff(policy.costs) <= 0).any():
        raise ValueError("its members are not there, or not the cheapest first")
    return policy


def _prior(kept: dict[str, Any]) -> Prior:
    prior = Prior()
    prior.points = numbers(kept["points"], "points", (None, None))
    rows, columns = prior.points.shape
    for name, shape in {"center": (columns,), "scale": (columns,), "mean": (2,), "weights": (rows, 2)}.items():
        setattr(prior, name, numbers(kept[name], name, shape))
    prior.scale[prior.scale == 0] = np.inf
    prior.width = number(kept["width"], "width", 1e-6)
    return prior


def _cost(told: Any) -> Cost:
    """What an answer costs: a word, or a price list."""
    if isinstance(told, dict) and set(told) == {"per_token", "per_answer"}:
        return Money(**{name: number(price, name, 0, 1e12) for name, price in told.items()})
    if told not in ("samples", "tokens"):
        raise ValueError("its cost is neither samples nor tokens nor a price list")
    return told


def _member(kept: dict[str, Any], policy: PricedStopping) -> Member:
    if "rule" not in kept:
        return Member(None, price=whole(kept["price"], "a member's price", 0, policy.prices.size - 1))
    rule, weighted = _RULES[kept.pop("rule")], kept.pop("weighted")
    if weighted not in (False, bool(policy.sharpness)) or not isinstance(weighted, bool):
        raise ValueError("a member weighs votes, and the policy does not")
    if rule is Confidence and (weighted or policy.schedule[-1] > _VOTED):
        raise ValueError("a threshold of confidence is for plain votes, and not for so many")
    for name, value in kept.items():
        number(value, name, 0)
    return Member(rule(**kept), weighted)
