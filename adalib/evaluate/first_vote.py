"""An answer that is there already: what a vote is worth when one known answer opens it.

Some features need the model to answer once: the entropy of its tokens, say. That answer has been paid for. It can be
thrown away, and then it is a cost on top of the budget; or it can be the first vote, and then b answers still cost b.
But a policy that looked at the answer must be scored with votes that hold it: an answer given with doubt is more often
wrong than another one to the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adalib.datasets.responses import Responses
from adalib.table import UtilityTable

__all__ = ["first_vote_table", "joined"]


def joined(first: Responses, rest: Responses) -> Responses:
    """Put one answer in front of the others of the same questions; fields that are not one number each are dropped."""
    if list(first.ids) != list(rest.ids) or first.samples != 1:
        raise ValueError("the first answers must be one a question, to the same questions; see Responses.set_aside")
    answers = [[*one, *more] for one, more in zip(first.answers, rest.answers, strict=True)]
    sampled = {"correct": np.hstack([first.values, rest.values])}
    for name in ("tokens", "logprob"):
        both = [getattr(part, name) for part in (first, rest)]
        sampled[name] = None if any(values is None for values in both) else np.hstack(both)
    return replace(rest, answers=answers, extras={}, **sampled)


def first_vote_table(first: Responses, rest: Responses, budgets: Sequence[int] = (1, 2, 4, 8, 16)) -> UtilityTable:
    r"""Estimate the accuracy of a vote of b answers that is opened by one given answer; ties are shared.

    The average over all choices of b - 1 among the R others. It needs no counting of its own: of the subsets of b among
    all R + 1 answers, those without the first are the subsets of the others, so the rest of the average is left over,

    .. math:: \mathrm{Acc}_{\mathrm{first}}(b) = \mathrm{Acc}_{R+1}(b)
              + \frac{R - b + 1}{b} \bigl(\mathrm{Acc}_{R+1}(b) - \mathrm{Acc}_R(b)\bigr) .

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    first : Responses
        One answer a question, as `Responses.set_aside` gives it.
    rest : Responses
        Other answers to the same questions, at least as many as the largest budget.
    budgets : sequence of int
        Numbers of answers that vote, the first one included; increasing.

    Returns
    -------
    UtilityTable
        At b = 1 the accuracy is 0 or 1: whether the first answer is right.

    Examples
    --------
    >>> answers = Responses(["a"], ["?"], ["7"], [["8", "7", "7", "9"]])
    >>> first_vote_table(*answers.set_aside(0), budgets=[1, 2, 3]).acc.round(3).tolist()
    [[0.0, 0.333, 0.556]]
    """
    without, together = rest.table(budgets), joined(first, rest).table(budgets)
    b = np.asarray(without.budgets, dtype=float)
    acc = together.acc + (rest.samples - b + 1) / b * (together.acc - without.acc)
    return replace(without, acc=acc.clip(0, 1))  # the difference of two averages may miss 0 and 1 by rounding
