"""Save and load stopping policies as sealed JSON files of numbers and names."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from adalib.datasets.sealed import DataError, number, numbers, read_sealed, whole, write_sealed
from adalib.sequential.policy import PricedStopping
from adalib.sequential.rules import NEVER, Confidence, Fixed
from adalib.sequential.session import Member, Session
from adalib.sequential.signals import SIGNALS
from adalib.sequential.streams import Cost, Money

_MEND = "save the policy again"
#: What reading a damaged or edited file may raise.
_UNSOUND = (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError)


def save_stopping(policy: PricedStopping, path: str | os.PathLike) -> None:
    """Write a fitted policy to a file that `load_stopping` reads.

    Explained in the chapter "When to stop".

    Parameters
    ----------
    policy : PricedStopping
        A fitted policy; a `Money` price list is saved with it.
    path : str or path
        The file to write.

    Raises
    ------
    ValueError
        If costs come from a function, which no file can hold.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from adalib import beta_population
    >>> policy = PricedStopping(("votes",), repeats=2).fit(beta_population(60, 1.5, 1.5).sample(12))
    >>> with TemporaryDirectory() as folder:
    ...     save_stopping(policy, f"{folder}/policy.json")
    """
    record: dict[str, Any] = {
        "asked": policy.signals and list(policy.signals),
        "decides": policy.deciding_count.name,
        "unit": policy.unit,
        "certify": policy.certify,
        "exact": policy.exact,
        "round_price": policy.round_price,
        "signals": {name: signal.to_dict() for name, signal in policy.signals_in_use.items()},
        "cost": cost_to_file(policy.cost),
        "schedule": policy.schedule.tolist(),
        "prices": policy.prices.tolist(),
        "costs": policy.costs.tolist(),
        "accuracies": policy.accuracies.tolist(),
        "coefficients": [fitted.tolist() for fitted in policy.coefficients],
        "members": [_member_to_file(member) for member in policy.members],
    }
    write_sealed(path, policy.FORMAT, [record])


def load_stopping(
    path: str | os.PathLike, kind: type[PricedStopping] = PricedStopping
) -> PricedStopping:
    """Read a policy that `save_stopping` wrote.

    The checksum is verified first, then every size and number. Explained in the chapter "When to
    stop".

    Parameters
    ----------
    path : str or path
        The file to read.
    kind : type
        The class of the policy.

    Returns
    -------
    PricedStopping
        A policy that decides as the saved one did.

    Raises
    ------
    DataError
        If the file is damaged or not a policy; one sentence says what is wrong and what to do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from adalib import beta_population
    >>> policy = PricedStopping(("votes",), repeats=2).fit(beta_population(60, 1.5, 1.5).sample(12))
    >>> with TemporaryDirectory() as folder:
    ...     save_stopping(policy, f"{folder}/policy.json")
    ...     load_stopping(f"{folder}/policy.json").mix(2.0) == policy.mix(2.0)
    True
    """
    (record,) = read_sealed(path, kind.FORMAT, 1, _MEND)
    try:
        return _policy_from(record, kind)
    except _UNSOUND as error:
        raise DataError(f"{path}: is not a sound policy file ({error!r}); {_MEND}") from None


def cost_to_file(cost: Cost) -> Any:
    """Return a cost as plain values; raise ValueError for a function of one's own."""
    if isinstance(cost, Money):
        return asdict(cost)
    if callable(cost):
        raise ValueError(
            "the policy's costs come from a function, which cannot be saved; "
            "fit it with a Money price list"
        )
    return cost


def cost_from_file(saved: Any) -> Cost:
    """Return the cost that `cost_to_file` wrote; raise ValueError for anything else."""
    if isinstance(saved, dict) and set(saved) == {"per_token", "per_answer"}:
        return Money(**{name: number(price, name, 0, 1e12) for name, price in saved.items()})
    if saved not in ("samples", "tokens"):
        raise ValueError("its cost is neither samples nor tokens nor a price list")
    return saved


def restore_signals(policy: Any, saved: dict[str, Any], deciding: str) -> None:
    """Give a policy its fitted signals back, and the count that closes the vote."""
    policy.signals_in_use = {name: kind() for name, kind in SIGNALS.items() if name in saved}
    for name, learned in saved.items():
        policy.signals_in_use[name].restore(learned)
    policy.deciding_count = {count.name: count for count in policy.counts()}[deciding]


def _policy_from(record: dict[str, Any], kind: type[PricedStopping]) -> PricedStopping:
    """Return the policy of a record; raise ValueError or KeyError for an unsound one."""
    schedule = [whole(stop, "a stop of the schedule", 1, NEVER) for stop in record["schedule"]]
    certify = record.get("certify")
    settings = {
        "cost": cost_from_file(record["cost"]),
        "certify": None if certify is None else number(certify, "certify", 0, 1),
        "exact": record.get("exact") is True,
    }
    round_price = record.get("round_price", 0.0)
    policy = kind.from_settings(round_price, record["asked"], schedule, settings)
    policy.unit = number(record["unit"], "unit", 0, 1e12)
    restore_signals(policy, record["signals"], record["decides"])
    policy.prices = numbers(record["prices"], "prices", (None,), 0)
    policy.coefficients = _coefficients_from(record["coefficients"], policy)
    policy.members = [_member_from(dict(saved), policy) for saved in record["members"]]
    policy.costs = numbers(record["costs"], "costs", (len(policy.members),), 0)
    least = -policy.round_price * schedule[-1]  # accuracies are less what the rounds cost
    policy.accuracies = numbers(record["accuracies"], "accuracies", policy.costs.shape, least, 1)
    if not policy.members or (np.diff(policy.costs) <= 0).any():
        raise ValueError("its members are missing, or not in the order of their costs")
    return policy


def _coefficients_from(saved: list, policy: PricedStopping) -> list[np.ndarray]:
    """Check the coefficients against the number of features that a session has."""
    session = Session(policy, Member(Fixed(1)), np.zeros(policy.takes))
    session.add(None, **dict.fromkeys(policy.reads, 1.0))
    shapes = policy.coefficient_shapes(session.features().size)
    return [
        numbers(fitted, "coefficients", (*shape, policy.prices.size))
        for fitted, shape in zip(saved, shapes, strict=True)
    ]


def _member_to_file(member: Member) -> dict[str, Any]:
    """Return a member of the library as plain values."""
    if member.rule is None:
        return {"price": member.price}
    return {"rule": type(member.rule).__name__, "by": member.by, **vars(member.rule)}


def _member_from(saved: dict[str, Any], policy: PricedStopping) -> Member:
    """Return a member of the library from its saved fields, checked against the policy."""
    if "rule" not in saved:
        last = policy.prices.size - 1
        return Member(None, price=whole(saved["price"], "a member's price", 0, last))
    rule = policy.RULES[saved.pop("rule")]
    count = saved.pop("by")
    if count not in [one.name for one in policy.counts()]:
        raise ValueError("a member uses a count that the policy does not have")
    longest = int(policy.schedule[-1])
    if rule is Confidence and (count != "votes" or longest > 255):  # the table of `leader_holds`
        raise ValueError("a threshold of confidence is for plain votes, up to 255 answers")
    for name, value in saved.items():
        number(value, name, 0)
    if rule is Fixed:
        whole(saved["answers"], "a fixed number of answers", 1, longest)
    return Member(rule(**saved), count)
