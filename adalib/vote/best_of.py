"""Best-of-b: of b sampled answers, a score chooses one in place of a vote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from adalib.vote.estimators import checked, settled


def best_of(correct: ArrayLike, scores: ArrayLike, budgets: Sequence[int]) -> np.ndarray:
    """Average best-of-b over all subsets: take the sample with the highest score, tied ones share.

    With a perfect judge as the score this is `pass_at`.

    Parameters
    ----------
    correct : array_like, shape (N, R)
        Value of each sample, in [0, 1].
    scores : array_like, shape (N, R)
        A verifier's or a reward model's score of each sample; higher is preferred.
    budgets : sequence of K int
        Numbers of samples, from 1 to R.

    Returns
    -------
    ndarray, shape (N, K)
        Mean value of the chosen sample, for question i at budget j.

    Raises
    ------
    ValueError
        If a score is NaN.

    Examples
    --------
    >>> best_of([[1, 0, 0]], [[0.9, 0.5, 0.7]], budgets=[1, 2, 3]).round(4)
    array([[0.3333, 0.6667, 1.    ]])
    """
    from scipy.stats import rankdata  # here, because votes need no scipy

    scores = np.asarray(scores, dtype=float)
    if np.isnan(scores).any():
        raise ValueError("scores hold NaN; give every sample a score")
    _, correct, budgets = checked(np.zeros(scores.shape, dtype=int), correct, budgets, "share")
    r = scores.shape[1]
    # Of each sample's group of tied scores: the samples in or below the group, and those below it.
    up_to_group = rankdata(scores, "max", axis=1)
    below_group = rankdata(scores, "min", axis=1) - 1
    acc = np.empty((len(scores), len(budgets)))
    for column, b in enumerate(budgets):
        # The best of b is in a group if all b are in or below the group, and not all below it.
        all_up_to = np.ones_like(scores)
        all_below = np.ones_like(scores)
        for drawn in range(b):
            all_up_to *= np.maximum(up_to_group - drawn, 0) / (r - drawn)
            all_below *= np.maximum(below_group - drawn, 0) / (r - drawn)
        group_wins = all_up_to - all_below
        group_size = up_to_group - below_group
        acc[:, column] = (correct * group_wins / group_size).sum(1)
    return settled(acc)


def pass_at(correct: ArrayLike, budgets: Sequence[int]) -> np.ndarray:
    r"""Compute pass@b, the probability that at least one of b samples is correct.

    With c correct samples out of R this is the unbiased estimate [1]_

    .. math:: 1 - \binom{R - c}{b} \Big/ \binom{R}{b},

    the accuracy of `best_of` with a perfect score. Explained in the chapter "One question, many
    answers".

    Parameters
    ----------
    correct : array_like, shape (N, R)
        Value of each sample, 0 or 1.
    budgets : sequence of K int
        Numbers of samples, from 1 to R.

    Returns
    -------
    ndarray, shape (N, K)
        Estimate of pass@b for question i at budget j.

    References
    ----------
    .. [1] M. Chen et al., "Evaluating large language models trained on code", arXiv:2107.03374
       (2021).

    Examples
    --------
    >>> pass_at([[1, 0, 0, 0]], budgets=[1, 2, 4])
    array([[0.25, 0.5 , 1.  ]])
    """
    return best_of(correct, correct, budgets)
