"""Votes that an answer opens which a policy has looked at before it decided.

Features that were read off a first answer are not free. If that answer counts as the first vote,
it costs nothing more, and it must be among the votes that are scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adalib.datasets.responses import SAMPLED, Responses
from adalib.table import UtilityTable


def first_vote_table(
    first: Responses, rest: Responses, budgets: Sequence[int] = (1, 2, 4, 8, 16)
) -> UtilityTable:
    r"""Estimate the accuracy of a vote of b answers that is opened by one given answer.

    A policy that looked at an answer must be scored on votes that hold it, because answers that
    were looked at and found doubtful are wrong more often. Of the subsets of b among all R + 1
    answers, those without the first are the subsets of the R others, so the average over all
    choices of b - 1 among these is what is left over,

    .. math:: \mathrm{Acc}_{\mathrm{first}}(b) = \mathrm{Acc}_{R+1}(b)
              + \frac{R - b + 1}{b} \bigl(\mathrm{Acc}_{R+1}(b) - \mathrm{Acc}_R(b)\bigr) .

    Ties are shared. Explained in the chapter "Learning".

    Parameters
    ----------
    first : Responses
        One answer per question, as `Responses.set_aside` returns it.
    rest : Responses
        The other answers to the same questions.
    budgets : sequence of int
        Numbers of answers in the vote, the first one included.

    Returns
    -------
    UtilityTable
        The accuracies; the cost of a vote is its number of answers.

    Examples
    --------
    >>> answers = Responses(["a"], ["?"], ["7"], [["8", "7", "7", "9"]])
    >>> first_vote_table(*answers.set_aside(0), budgets=[1, 2, 3]).acc.round(3).tolist()
    [[0.0, 0.333, 0.556]]
    """
    without = rest.table(budgets)
    together = joined(first, rest).table(budgets)
    b = np.asarray(without.budgets, dtype=float)
    acc = together.acc + (rest.samples - b + 1) / b * (together.acc - without.acc)
    # The difference of two averages may miss 0 and 1 by rounding.
    return replace(without, acc=acc.clip(0, 1))


def joined(first: Responses, rest: Responses) -> Responses:
    """Put one answer in front of the others of the same questions.

    Fields that do not hold one number per answer are dropped.
    """
    if list(first.ids) != list(rest.ids) or first.samples != 1:
        raise ValueError(
            "the first answers must be one per question, for the same questions: "
            "take them with Responses.set_aside"
        )
    answers = [[*one, *more] for one, more in zip(first.answers, rest.answers, strict=True)]
    pairs = {name: [getattr(first, name), getattr(rest, name)] for name in SAMPLED}
    pairs["correct"] = [first.values, rest.values]
    sampled: dict[str, Any] = {
        name: None if any(values is None for values in pair) else np.hstack(pair)
        for name, pair in pairs.items()
    }
    return replace(rest, answers=answers, extras={}, **sampled)
