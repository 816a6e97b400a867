"""Majority vote, and how often it is right: estimators of Acc(x, b).

How accurate is a vote over b of R sampled answers? Two estimates: from disjoint windows (the
paper's), and from the average over all subsets (exact, by counting).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.tolerances import SAME_VOTES
from adalib.vote.answers import answer_classes
from adalib.vote.winning import (
    Series,
    Situations,
    binomial_series,
    binomials,
    winning_ways,
)

Ties = Literal["share", "first"]
_CELLS = 1 << 19  # numbers in a working array: 4 MB, so that a chunk stays near the processor


def majority(answers: Sequence[str], ties: Ties = "share") -> dict[str, float]:
    """Vote over the answers to one question.

    Explained in the chapter "One question, many answers".

    Parameters
    ----------
    answers : sequence of str
        Sampled answers in the order they came; empty ones do not vote.
    ties : {"share", "first"}
        Tied classes share the win, or the one seen first takes it.

    Returns
    -------
    dict of str to float
        The winning answers, as first written, and their shares; empty if no answer voted.

    Examples
    --------
    >>> majority(["7", "1/2", "0.5", ""]), majority(["7", "8"]), majority(["7", "8"], ties="first")
    ({'1/2': 1.0}, {'7': 0.5, '8': 0.5}, {'7': 1.0})
    """
    _check_ties(ties)
    classes = answer_classes(answers)
    votes = np.bincount(classes[classes >= 0])
    winners = np.flatnonzero(votes == votes.max(initial=0))
    if ties == "first":
        winners = winners[:1]  # classes are numbered in the order of their first answers
    first_answers = [int(np.argmax(classes == winner)) for winner in winners]
    return {answers[place]: 1 / len(winners) for place in first_answers}


def acc_windows(
    classes: ArrayLike, values: ArrayLike, budgets: Sequence[int], ties: Ties = "share"
) -> np.ndarray:
    """Estimate Acc(x, b) as the paper does, from floor(R / b) disjoint windows of b samples.

    The estimate is the mean over the windows of the accuracy of a vote in each. The paper does not
    state its tie rule. Explained in the chapter "Is a gain real?".

    Parameters
    ----------
    classes : array_like of int, shape (N, R)
        The answer class of every sample; negative for an empty answer.
    values : array_like, shape (N, R)
        Value of each sample's answer, in [0, 1]; a class has the mean value of its members.
    budgets : sequence of K int
        Numbers of samples, from 1 to R.
    ties : {"share", "first"}
        Tied classes share the win, or the one seen first takes it.

    Returns
    -------
    ndarray, shape (N, K)
        Estimated accuracy of question i at budget j.

    Examples
    --------
    >>> acc_windows([[0, 0, 1, 0]], [[1, 1, 0, 1]], budgets=[1, 2, 4])
    array([[0.75, 0.75, 1.  ]])
    """
    classes, values, budgets = checked(classes, values, budgets, ties)
    tally = _tally(classes, values)
    class_values = np.append(tally.value, 0.0)[tally.place]
    n, r = classes.shape
    acc = np.empty((n, len(budgets)))
    for column, b in enumerate(budgets):
        windows = r // b
        for rows in chunks(n, windows * b * b):
            voters = tally.place[rows, : windows * b].reshape(-1, windows, b)
            their_values = class_values[rows, : windows * b].reshape(-1, windows, b)
            acc[rows, column] = _vote_values(voters, their_values, ties).mean(-1)
    return settled(acc)


def acc_subsets(
    classes: ArrayLike, values: ArrayLike, budgets: Sequence[int], ties: Ties = "share"
) -> np.ndarray:
    r"""Average the majority vote over all subsets of b samples, exactly, by counting.

    .. math:: \binom{R}{b}^{-1} \sum_{|S| = b} \mathrm{vote}(S)

    A subset keeps the order of its samples.

    Parameters
    ----------
    classes : array_like of int, shape (N, R)
        The answer class of every sample; negative for an empty answer.
    values : array_like, shape (N, R)
        Value of each sample's answer, in [0, 1]; a class has the mean value of its members.
    budgets : sequence of K int
        Numbers of samples, from 1 to R.
    ties : {"share", "first"}
        Tied classes share the win, or the one seen first takes it.

    Returns
    -------
    ndarray, shape (N, K)
        Estimated accuracy of question i at budget j.

    Raises
    ------
    ValueError
        If the number of subsets is too large for a double.

    Examples
    --------
    >>> acc_subsets([[0, 0, 0, 1, 1]], [[1, 1, 1, 0, 0]], budgets=[1, 2, 3, 5])
    array([[0.6, 0.6, 0.7, 1. ]])
    """
    classes, values, budgets = checked(classes, values, budgets, ties)
    r = classes.shape[1]
    largest = max(budgets)
    log_subsets = lgamma(r + 1) - lgamma(largest + 1) - lgamma(r - largest + 1)
    if log_subsets > 700:
        raise ValueError(
            f"there are too many subsets of {largest} out of {r} samples; "
            "lower the budget or use windows"
        )
    choose = binomials(r, largest)
    wins_by_rule = _shared_wins if ties == "share" else _first_seen_wins
    wins = wins_by_rule(_tally(classes, values), binomial_series(choose), budgets)
    return settled(wins / choose[budgets, r])


#: How R samples of a question become estimates of Acc(x, b), by name.
ESTIMATORS = {"subsets": acc_subsets, "windows": acc_windows}


class _Tally(NamedTuple):
    """The classes of all rows in one list, sorted by row, and where each sample belongs."""

    row: np.ndarray  # row of each class
    size: np.ndarray  # its samples
    value: np.ndarray  # its mean value
    place: np.ndarray  # place of each sample's class in the list, (N, R); -1 for an empty answer


def _tally(classes: np.ndarray, values: np.ndarray) -> _Tally:
    """Count the samples of every class of every row."""
    voted = classes >= 0
    rows = np.nonzero(voted)[0]
    labels = np.unique(classes[voted], return_inverse=True)[1]
    key = rows * (labels.max(initial=0) + 1) + labels  # no two rows share a key
    _, first, index, size = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    value = np.bincount(index, weights=values[voted], minlength=len(size)) / size
    place = np.full(classes.shape, -1)
    place[voted] = index
    return _Tally(rows[first], size, value, place)


def _vote_values(voters: np.ndarray, values: np.ndarray, ties: Ties) -> np.ndarray:
    """Return what votes along the last axis are worth, from each voter's class and its value."""
    same_class = voters[..., None] == voters[..., None, :]
    votes = (same_class & (voters[..., None] >= 0)).sum(-1)
    leads = (votes == votes.max(-1, keepdims=True)) & (votes > 0)
    if ties == "first":
        leads &= leads.cumsum(-1) == 1
    # Tied classes have equally many voters, so the mean over voters is the mean over classes.
    return (values * leads).sum(-1) / np.maximum(leads.sum(-1), 1)


def _shared_wins(tally: _Tally, series: Series, budgets: list[int]) -> np.ndarray:
    """Return the value of all subsets of each budget together, tied classes sharing, (N, K)."""
    n, r = tally.place.shape
    sizes, rank = _ranked_sizes(tally)
    valued = np.flatnonzero(tally.value > 0)
    rows = tally.row[valued]
    others = _without(sizes[rows], rank[valued])
    # What a class wins depends on the sizes alone, so equal situations are counted once.
    situations, which = np.unique(
        np.column_stack([tally.size[valued], others]), axis=0, return_inverse=True
    )
    ways = np.empty((len(situations), len(budgets)))
    largest = max(budgets)
    for chunk in chunks(len(situations), (largest + sizes.shape[1]) * (largest // 2 + 1)):
        own = situations[chunk, 0]
        rivals = situations[chunk, 1:].T
        empty = r - own - rivals.sum(0)
        ways[chunk] = winning_ways(
            series, budgets, Situations(own, rivals, empty, most_votes=rivals)
        ).T
    wins = np.zeros((n, len(budgets)))
    np.add.at(wins, rows, ways[which.ravel()] * tally.value[valued, None])
    return wins


def _first_seen_wins(tally: _Tally, series: Series, budgets: list[int]) -> np.ndarray:
    """Return the value of all subsets of each budget together, first-seen ties, (N, K).

    A class wins a subset by its first sample there, so the wins are counted sample by sample.
    """
    n, r = tally.place.shape
    sizes, rank = _ranked_sizes(tally)
    width = sizes.shape[1]
    sample_rank = np.append(rank, -1)[tally.place]
    sample_value = np.append(tally.value, 0.0)[tally.place]
    wins = np.zeros((n, len(budgets)))
    for chunk in chunks(n, r * (width + max(budgets))):
        is_of_class = sample_rank[chunk, :, None] == np.arange(width)
        # Samples of each class that come after each sample, (rows, R, width).
        later = sizes[chunk, None, :] - is_of_class.cumsum(1, dtype=np.int32)
        row, sample = np.nonzero(sample_value[chunk] > 0)
        table_row = np.arange(n)[chunk][row]
        own_rank = sample_rank[table_row, sample]
        rivals = _without(sizes[table_row], own_rank)
        situations = Situations(
            own=later[row, sample, own_rank],
            others=rivals.T,
            empty=r - sizes[table_row, own_rank] - rivals.sum(1),
            most_votes=rivals.T,
            others_later=_without(later[row, sample], own_rank).T,
        )
        ways = winning_ways(series, budgets, situations)
        np.add.at(wins, table_row, ways.T * sample_value[table_row, sample][:, None])
    return wins


def _ranked_sizes(tally: _Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of each row's classes, largest first, and the rank of every class.

    The sizes have shape (N, most classes of a row); a row with fewer classes is padded with 0.
    """
    order = np.lexsort((-tally.size, tally.row))
    rank = np.empty_like(order)
    first_of_row = np.searchsorted(tally.row, tally.row)  # the list is sorted by row
    rank[order] = np.arange(len(order)) - first_of_row
    sizes = np.zeros((len(tally.place), int(rank.max(initial=0)) + 1), dtype=np.int32)
    sizes[tally.row, rank] = tally.size
    return sizes, rank


def _without(sizes: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """Drop entry ``dropped[t]`` from row t."""
    places = np.arange(sizes.shape[1] - 1)
    return np.take_along_axis(sizes, places + (places >= dropped[:, None]), axis=1)


def settled(acc: np.ndarray) -> np.ndarray:
    """Clip estimates to [0, 1], and give budgets that are equally good the same number.

    Two such budgets differ in the last bits, here in one direction and in a browser in the other. A
    plain argmax would settle the tie by accident. Rounding all numbers would not do: it would part
    the slopes of questions that are equally steep.
    """
    acc = np.clip(acc, 0.0, 1.0)
    for later in range(1, acc.shape[-1]):
        for earlier in range(later):
            same = np.abs(acc[..., later] - acc[..., earlier]) < SAME_VOTES
            acc[..., later] = np.where(same, acc[..., earlier], acc[..., later])
    return acc


def chunks(n: int, cells: int) -> list[slice]:
    """Cut n rows into chunks whose working arrays, ``cells`` numbers per row, fit the cache."""
    step = max(1, _CELLS // max(1, cells))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def checked(
    classes: ArrayLike, values: ArrayLike, budgets: Sequence[int], ties: str
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return the arguments as arrays and a list; ValueError names what is wrong."""
    _check_ties(ties)
    classes = np.asarray(classes)
    values = np.asarray(values, dtype=float)
    if classes.ndim != 2 or 0 in classes.shape or classes.shape != values.shape:
        raise ValueError(
            "need one row per question and one column per sample, "
            f"got {classes.shape} and {values.shape}"
        )
    if classes.dtype.kind not in "iu":
        raise ValueError(f"classes must be whole numbers, not {classes.dtype}; see answer_classes")
    bad = np.argwhere(~((values >= 0) & (values <= 1)))
    if bad.size:
        i, j = bad[0]
        raise ValueError(
            f"the value of sample {j} in row {i} is {values[i, j]}; give a number from 0 to 1"
        )
    r = classes.shape[1]
    return classes, values, check_budgets(budgets, r, f"there are {r} samples per question")


def check_budgets(budgets: Sequence[int], most: int, why: str) -> list[int]:
    """Return the budgets as whole numbers; raise ValueError for one out of range."""
    array = np.asarray(budgets)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 1:
        raise ValueError(
            f"budgets must be whole numbers from 1 on, such as (1, 2, 4), got {budgets!r}"
        )
    if array.max() > most:
        raise ValueError(
            f"budget {array.max()} is too large: {why}; lower the budgets or collect more samples"
        )
    return array.tolist()


def _check_ties(ties: str) -> None:
    """Raise ValueError for an unknown tie rule."""
    if ties not in ("share", "first"):
        raise ValueError(f"ties must be 'share' or 'first', got {ties!r}")
