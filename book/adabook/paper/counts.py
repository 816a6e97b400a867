"""Votes between two bounds, where a file counts right answers and does not tell wrong ones apart.

A vote is won most easily if all wrong answers differ, and least easily if all of them agree. Every
real vote of answers that could be read lies between the two, subset by subset. A difference of two
votes, such as a gain over a mix, need not: it is only shown at both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses


class Bounds(NamedTuple):
    """The same right answers, between wrong ones that all agree and wrong ones that all differ."""

    agree: Responses
    differ: Responses


def bounds(answers: Responses) -> Bounds:
    """Return answers of both kinds with the right ones of each question."""
    right = answers.values > 0
    wrong = np.arange(1, right.shape[1] + 1)
    return Bounds(
        agree=_of_classes(answers, np.where(right, 0, 1)),
        differ=_of_classes(answers, np.where(right, 0, wrong)),
    )


def _of_classes(answers: Responses, classes: np.ndarray) -> Responses:
    """Return the questions with other answers, which are their class numbers."""
    return replace(
        answers,
        answers=[[str(number) for number in row] for row in classes.tolist()],
        correct=answers.values,
        extras=answers.extras | {"classes": classes.tolist()},
    )


def bounded_votes(right: ArrayLike, samples: int, budgets: Sequence[int]) -> np.ndarray:
    r"""Compute both ends in closed form, from the number of right answers alone.

    Of b answers drawn from R of which c are right, K are right, and K is hypergeometric. If wrong
    answers agree, the vote is right when :math:`2K > b`, and half the time when :math:`2K = b`. If
    they differ, it is right when :math:`K \ge 2`, and once in b when :math:`K = 1`.

    Returns
    -------
    array, shape (2, N, K)
        Accuracy if all wrong answers agree, and if all differ.
    """
    from scipy.stats import hypergeom  # here, because a page that shows a record needs no scipy

    right = np.asarray(right)[:, None, None]
    columns = np.asarray(budgets)[:, None]
    drawn = np.arange(max(budgets) + 1)
    chance = hypergeom.pmf(drawn, samples, right, columns)
    agree = np.where(2 * drawn > columns, 1.0, np.where(2 * drawn == columns, 0.5, 0.0))
    differ = np.where(drawn >= 2, 1.0, np.where(drawn == 1, 1 / columns, 0.0))
    ends = np.stack([(chance * agree).sum(axis=-1), (chance * differ).sum(axis=-1)])
    return ends.clip(0, 1)  # sums of chances may pass 1 by rounding
