"""Compare all policies that a file of answers allows, at average costs that one can read.

Which policies there are depends on the file: several models can only be planned for, one model's
answers can also be stopped, and where tokens are paid they can race. All of them take the same
trial (`adalib.held_out`), and whatever is paid, costs are given in average answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from adalib.datasets.menu import Menu
from adalib.datasets.responses import Cost, Responses
from adalib.evaluate.heldout import TAUGHT, Protocol, held_out
from adalib.evaluate.learners import Policy, planning_policies
from adalib.evaluate.scores import HeldOutRow
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.published_rules import PEERS, TunedRules
from adalib.sequential.race import PricedRace
from adalib.table import NUMBERS

#: The row of `adalib.PricedRace`, where tokens are paid.
RACE = "race"


def compare(
    responses: Responses | Menu,
    targets: Sequence[float] | None = None,
    budgets: Sequence[int] = NUMBERS,
    *,
    cost: Cost = "samples",
    groups: str | Sequence | None = None,
    policies: Mapping[str, Policy] | None = None,
) -> list[HeldOutRow]:
    """Hold out every policy that these answers allow, next to the baselines and the noise control.

    Label and curve policies decide before asking. Of one model's answers, priced stopping and its
    peers decide while answers arrive, and where tokens are paid, the race starts several at once.

    Parameters
    ----------
    responses : Responses or Menu
        Recorded answers.
    targets : sequence of float, optional
        Average costs per question, in average answers of one model, or in the unit of a menu.
        Default: 2, 3 and 4 times the cheapest budget, where they lie below the largest.
    budgets : sequence of int
        Numbers of answers on offer to policies that plan. Those that half of the answers cannot
        hold are left out, with a warning. The bar may give everyone any number.
    cost : {"samples", "tokens"} or Prices
        What is paid: answers, or their tokens or dollars, which are counted in average answers.
    groups : str or sequence, optional
        The field that names a question's group, or one label per question, such as those of
        `seen_groups`; questions of one group stay in one fold.
    policies : mapping of str to policy, optional
        Policies of your own by the names of their rows, as in `held_out`. They are held out next to
        the others, on the same questions and answers.

    Returns
    -------
    list of HeldOutRow
        The rows of `held_out`.

    Raises
    ------
    ValueError
        If the answers are too few, a field or the tokens are missing, or a target cannot be met.

    See Also
    --------
    held_out : The protocol, for policies of your own.
    verdict : Says in words whether adaptive allocation pays.

    Examples
    --------
    >>> from adalib import flat_null
    >>> rows = compare(flat_null(40).sample(8), [2], budgets=(1, 4))
    >>> [row.policy for row in rows][-3:]
    ['adaptive_consistency', 'esc', 'noise']
    """
    offered = _possible_budgets(budgets, responses)
    unit = answer_cost(responses, cost)
    cheapest, largest = _cost_range(responses, offered, cost)
    if targets is None:
        usual = [multiple * cheapest for multiple in (2, 3, 4) if multiple * cheapest < largest]
        targets = usual or [(cheapest + largest) / 2]
    protocol = Protocol(
        groups=column(responses, groups) if isinstance(groups, str) else groups, cost=cost
    )
    rows = held_out(
        responses,
        [target * unit for target in targets],
        offered,
        learners=_with_own(_policies(responses, cost), policies or {}),
        protocol=protocol,
    )
    # After the work, so that input which cannot be evaluated gives an error and no warning.
    _warn(responses, budgets[len(offered) :], targets, largest)
    return [in_answers(row, unit) for row in rows]


def _possible_budgets(budgets: Sequence[int], responses: Responses | Menu) -> Sequence[int]:
    """Return the budgets that half of the answers can hold: one half teaches, the other scores."""
    half = responses.samples // 2
    possible = [budget for budget in budgets if budget <= half]
    if len(possible) < 2:
        raise ValueError(
            f"{responses.source}: has {responses.samples} answers per question, and a half of "
            f"{half} leaves no two of the budgets {', '.join(map(str, budgets))}; sample more "
            "answers, or offer smaller budgets"
        )
    return possible


def answer_cost(responses: Responses | Menu, cost: Cost) -> float:
    """Return what an average answer costs; 1 for a menu, which has prices of its own."""
    if isinstance(responses, Responses):
        return float(np.mean(responses.answer_costs(cost)))
    if cost != "samples":
        raise ValueError(
            f"{responses.source}: holds several models, each at its own price; count the cost in "
            "samples, or give the answers of one model"
        )
    return 1.0


def _cost_range(
    responses: Responses | Menu, budgets: Sequence[int], cost: Cost
) -> tuple[float, float]:
    """Return the average cost of the cheapest and of the most expensive choice on offer."""
    if isinstance(responses, Responses):  # in average answers
        bill = np.atleast_2d(responses.bill(budgets, cost)) / answer_cost(responses, cost)
    else:
        bill = np.atleast_2d(responses.table(budgets).cost)
    means = bill.mean(axis=0).round(9)
    return float(means.min()), float(means.max())


def _policies(responses: Responses | Menu, cost: Cost) -> dict[str, Policy]:
    """Return the policies that these answers allow, by the names of their rows."""
    policies = planning_policies()
    if isinstance(responses, Menu):  # a stopping rule asks one model
        return policies
    policies |= stopping_policies(cost)
    if cost == "tokens":  # a race saves parts of answers, and by the answer each is paid whole
        policies[RACE] = PricedRace()
    return policies


def _with_own(policies: dict[str, Policy], own: Mapping[str, Policy]) -> dict[str, Policy]:
    """Return the policies with those of the user; ValueError if a name is taken."""
    if taken := sorted(set(policies) & set(own)):
        raise ValueError(f"{taken[0]!r} is a policy of the package; choose another name")
    return policies | dict(own)


def stopping_policies(cost: Cost = "samples") -> dict[str, Policy]:
    """Return the learners that decide while answers arrive: all signals, votes alone, peers."""
    return {
        "priced": PricedStopping(cost=cost),
        "priced_votes": PricedStopping(("votes",), cost=cost),
        **{name: TunedRules(rules, cost=cost) for name, rules in PEERS.items()},
    }


def column(responses: Responses | Menu, name: str) -> Sequence:
    """Return the value of a field for every question; ValueError if the file has no such field."""
    columns: dict[str, Sequence] = {"question": responses.questions, **responses.extras}
    if responses.levels is not None:
        columns["level"] = responses.levels
    if name not in columns:
        raise ValueError(
            f"{responses.source}: has no field {name!r} to group by; "
            f"choose one of {', '.join(columns)}"
        )
    return columns[name]


def _warn(
    responses: Responses | Menu, dropped: Sequence[int], targets: Sequence[float], largest: float
) -> None:
    """Say what was not done as asked, in a warning each."""
    notes = []
    if dropped:
        notes.append(
            f"{responses.samples} answers leave halves of {responses.samples // 2}, so budgets "
            f"{', '.join(map(str, dropped))} are not on offer"
        )
    if beyond := [f"{target:g}" for target in targets if target > largest]:
        notes.append(
            f"target {', '.join(beyond)} is more than the largest budget, {largest:g}, can spend"
        )
    if responses.n * 4 / 5 > TAUGHT:
        notes.append(
            f"each fold learned from {TAUGHT:,} questions, drawn at random, and all "
            f"{responses.n:,} were scored"
        )
    for note in notes:
        warnings.warn(note, stacklevel=3)


def in_answers(row: HeldOutRow, unit: float) -> HeldOutRow:
    """Return the row with costs in average answers, of ``unit`` tokens each."""
    mix_cost = None if row.mix_cost is None else row.mix_cost / unit
    return replace(row, target=row.target / unit, cost=row.cost / unit, mix_cost=mix_cost)
