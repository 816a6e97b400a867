"""Save and load races: a sealed JSON file of numbers and names, with nothing that runs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from adalib.datasets.sealed import DataError, number, numbers, read_sealed, whole, write_sealed
from adalib.sequential.evidence import Evidence
from adalib.sequential.files import restore_signals
from adalib.sequential.race import PricedRace
from adalib.sequential.race_rules import PlainRace
from adalib.sequential.race_state import PricedMember, decision_points, feature_count
from adalib.sequential.rules import NEVER

FORMAT = "adalib race, version 1"
_MEND = "save the race again"
_MOST = 4096  # answers that a file may ask for
_UNSOUND = (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError)


def save_race(policy: PricedRace, path: str | os.PathLike) -> None:
    """Write a fitted race to a file that `load_race` reads.

    Parameters
    ----------
    policy : PricedRace
        A fitted policy.
    path : str or path
        The file to write.

    Returns
    -------
    None

    Examples
    --------
    See `load_race`.
    """
    record: dict[str, Any] = {
        "asked": policy.signals and list(policy.signals),
        "decides": policy.deciding_count.name,
        "unit": policy.unit,
        "waiting_price": policy.waiting_price,
        "waiting_limit": policy.waiting_limit,
        "most": policy.most,
        "signals": {name: signal.to_dict() for name, signal in policy.signals_in_use.items()},
        "costs": policy.costs.tolist(),
        "accuracies": policy.accuracies.tolist(),
        "waiting": policy.waiting.tolist(),
        "members": [_member_to_file(member) for member in policy.members],
    }
    write_sealed(path, FORMAT, [record])


def load_race(path: str | os.PathLike) -> PricedRace:
    """Read a race that `save_race` wrote: the checksum first, then every size and number.

    Parameters
    ----------
    path : str or path
        The file to read.

    Returns
    -------
    PricedRace
        A policy that decides as the saved one did.

    Raises
    ------
    DataError
        If the file is damaged or not a race; one sentence says what is wrong and what to do.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from tempfile import TemporaryDirectory
    >>> from adalib import beta_population
    >>> answers = beta_population(40, 2, 1).sample(8)
    >>> answers = replace(answers, tokens=np.random.default_rng(0).exponential(100, (40, 8)))
    >>> race = PricedRace(most=4, repeats=2).fit(answers)
    >>> with TemporaryDirectory() as folder:
    ...     save_race(race, f"{folder}/race.json")
    ...     load_race(f"{folder}/race.json").mix(200.0) == race.mix(200.0)
    True
    """
    (record,) = read_sealed(path, FORMAT, 1, _MEND)
    try:
        return _race_from(record)
    except _UNSOUND as error:
        raise DataError(f"{path}: is not a sound race file ({error!r}); {_MEND}") from None


def _race_from(record: dict[str, Any]) -> PricedRace:
    """Return the race of a record; raise ValueError or KeyError for an unsound one."""
    waiting_price = number(record["waiting_price"], "waiting_price", 0, 1e12)
    waiting_limit = number(record["waiting_limit"], "waiting_limit", 0, 1e12)
    most = whole(record["most"], "most", 1, _MOST)
    policy = PricedRace(
        record["asked"], waiting_price=waiting_price, waiting_limit=waiting_limit, most=most
    )
    policy.unit = number(record["unit"], "unit", 1e-9, 1e12)
    restore_signals(policy, record["signals"], record["decides"])
    policy.members = [_member_from(dict(saved), policy) for saved in record["members"]]
    count = (len(policy.members),)
    policy.costs = numbers(record["costs"], "costs", count, 0)
    policy.accuracies = numbers(record["accuracies"], "accuracies", count, 0, 1)
    policy.waiting = numbers(record["waiting"], "waiting", count, 0)
    if not policy.members or (np.diff(policy.costs) < 0).any():
        raise ValueError("its members are missing, or not in the order of their costs")
    return policy


def _member_to_file(member: PricedMember | PlainRace) -> dict[str, Any]:
    """Return a member of the library as plain values."""
    if isinstance(member, PlainRace):
        return {"plain": vars(member)}
    rules = [[*finish, rule.tolist()] for finish, rule in member.rules.items()]
    prices = {"token_price": member.token_price, "waiting_price": member.waiting_price}
    return {"start": member.start, **prices, "rules": rules}


def _member_from(saved: dict[str, Any], policy: PricedRace) -> PricedMember | PlainRace:
    """Return a member of the library from its saved fields, checked against the policy."""
    if "plain" in saved:
        return _plain_from(dict(saved["plain"]), policy.most)
    start = whole(saved["start"], "start", 1, policy.most)
    points = decision_points(start, policy.most)
    live = {name: one.live(np.zeros(policy.takes)) for name, one in policy.signals_in_use.items()}
    for state in live.values():
        state.add(None, {})
    states = {name: state.state() for name, state in live.items()}
    evidence = Evidence(policy.signals_in_use, states, policy.deciding_count)
    rules = {}
    for look, more, finished, rule in saved["rules"]:
        finish = (look, more, finished)
        shape = (points.pop(finish), feature_count(evidence, second=more > 0) + 1)
        rules[finish] = numbers(rule, "rules", shape)
    if points:
        raise ValueError("a race has no rule for some of its finishes")
    token_price = number(saved["token_price"], "token_price", 0)
    waiting_price = number(saved["waiting_price"], "waiting_price", 0)
    return PricedMember(start, policy.most, token_price, waiting_price, rules)


def _plain_from(saved: dict[str, Any], most: int) -> PlainRace:
    """Return a plain race from its saved fields; raise ValueError if it never closes."""
    lead = number(saved.pop("lead"), "lead", 0, NEVER)
    sizes = {name: whole(value, name, 0, most) for name, value in saved.items()}
    race = PlainRace(lead=lead, **sizes)
    sound = race.start >= 1 and 1 <= race.close <= race.start and race.answers <= most
    if race.more:
        sound = sound and 1 <= race.look <= race.start and race.look < race.then <= race.answers
    if not sound:
        raise ValueError("a plain race closes at a finish that never comes")
    return race
