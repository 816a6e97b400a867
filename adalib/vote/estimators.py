"""Majority vote, and how often it is right: estimators of Acc(x, b).

How accurate is a vote over b of R sampled answers? Three estimates: from disjoint windows (the
paper's), from the average over all subsets (exact, by counting), or from a known distribution of
answers. Best-of-b, where a score chooses the answer, is here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import factorial, lgamma
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from adalib.vote.answers import answer_classes

__all__ = ["ESTIMATORS", "acc_iid", "acc_subsets", "acc_windows", "best_of", "majority", "pass_at"]

Ties = Literal["share", "first"]
_CELLS = 1 << 19  # numbers in a working array: 4 MB, so that a chunk stays near the processor
_SAME = 1e-13  # sums of the same votes differ by less than this from one platform to the next


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
    winners = np.flatnonzero(votes == votes.max(initial=0))[: 1 if ties == "first" else None]
    return {answers[int(np.argmax(classes == winner))]: 1 / len(winners) for winner in winners}


def acc_windows(
    classes: ArrayLike, values: ArrayLike, budgets: Sequence[int], ties: Ties = "share"
) -> np.ndarray:
    """Estimate Acc(x, b) as the paper does, from floor(R / b) disjoint windows of b samples.

    The estimate is the mean over the windows of the accuracy of a vote in each. The paper does not
    state its tie rule. Explained in the chapter "Estimation".

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
    classes, values, budgets = _checked(classes, values, budgets, ties)
    _, _, value, pair = _tally(classes, values)
    worth = np.append(value, 0.0)[pair]
    n, r = classes.shape
    acc = np.empty((n, len(budgets)))
    for k, b in enumerate(budgets):
        windows = r // b
        for rows in _chunks(n, windows * b * b):
            own, gain = (x[rows, : windows * b].reshape(-1, windows, b) for x in (pair, worth))
            votes = ((own[..., None] == own[..., None, :]) & (own[..., None] >= 0)).sum(-1)
            top = (votes == votes.max(-1, keepdims=True)) & (votes > 0)
            if ties == "first":
                top &= top.cumsum(-1) == 1
            # Tied classes have equally many samples on top, so the mean over samples is the mean
            # over classes.
            acc[rows, k] = ((gain * top).sum(-1) / np.maximum(top.sum(-1), 1)).mean(-1)
    return _settled(acc)


def acc_subsets(
    classes: ArrayLike, values: ArrayLike, budgets: Sequence[int], ties: Ties = "share"
) -> np.ndarray:
    r"""Average the majority vote over all subsets of b samples, exactly, by counting.

    .. math:: \binom{R}{b}^{-1} \sum_{|S| = b} \mathrm{vote}(S)

    A subset keeps the order of its samples. Explained in the chapter "Estimation".

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
    classes, values, budgets = _checked(classes, values, budgets, ties)
    n, r = classes.shape
    top = max(budgets)
    if lgamma(r + 1) - lgamma(top + 1) - lgamma(r - top + 1) > 700:
        raise ValueError(
            f"there are too many subsets of {top} out of {r} samples; "
            "lower the budget or use windows"
        )
    choose = _binomials(r, top)
    row, count, value, pair = _tally(classes, values)
    # Classes by size within their row. What a class contributes depends on the sizes alone (and,
    # for first-seen ties, on the places), so equal situations are computed once.
    order = np.lexsort((-count, row))
    slot = np.empty_like(order)
    slot[order] = np.arange(len(order)) - np.searchsorted(row, row)  # the rows are sorted already
    width = int(slot.max(initial=0)) + 1
    sizes = np.zeros((n, width), dtype=np.int32)
    sizes[row, slot] = count
    wins = np.zeros((n, len(budgets)))

    def series(x: np.ndarray, degree: int) -> np.ndarray:
        return choose[: degree + 1, x]

    if ties == "share":
        good = np.flatnonzero(value > 0)
        others = _without(sizes[row[good]], slot[good])
        situations, which = np.unique(
            np.column_stack([count[good], others]), axis=0, return_inverse=True
        )
        ways = np.empty((len(situations), len(budgets)))
        for chunk in _chunks(len(situations), (top + width) * (top // 2 + 1)):
            own = situations[chunk, 0]
            rest = situations[chunk, 1:].T
            ways[chunk] = _winning_ways(series, budgets, own, rest, r - own - rest.sum(0), rest).T
        np.add.at(wins, row[good], ways[which.ravel()] * value[good, None])
    else:
        slots = np.append(slot, -1)[pair]
        gains = np.append(value, 0.0)[pair]
        for rows in _chunks(n, r * (width + top)):
            after = sizes[rows, None, :] - (slots[rows, :, None] == np.arange(width)).cumsum(
                1, dtype=np.int32
            )
            i, p = np.nonzero(gains[rows] > 0)
            here = slots[rows][i, p]
            where = np.arange(n)[rows][i]
            own = after[i, p, here]
            late = _without(after[i, p], here)
            rest = _without(sizes[where], here)
            spare = r - sizes[where, here] - rest.sum(1)
            ways = _winning_ways(series, budgets, own, rest.T, spare, rest.T, late.T)
            np.add.at(wins, where, ways.T * gains[rows][i, p][:, None])
    return _settled(wins / choose[budgets, r])


#: How R samples of a question become estimates of Acc(x, b), by name.
ESTIMATORS = {"subsets": acc_subsets, "windows": acc_windows}


def acc_iid(
    probs: ArrayLike, correct: ArrayLike, budgets: Sequence[int], empty: ArrayLike | None = None
) -> np.ndarray:
    """Compute the true Acc(x, b) of a majority vote over b independent draws, ties shared.

    It is the limit of `acc_subsets` as R grows. Explained in the chapter "Estimation".

    Parameters
    ----------
    probs : array_like, shape (m,) or (N, m)
        Probability of each answer, each row summing to 1; pad with zeros.
    correct : int or array_like of int, shape (N,)
        Column of the correct answer; -1 where it is never given.
    budgets : sequence of K int
        Numbers of draws, from 1 to 170.
    empty : int or array_like of int, shape (N,), optional
        Column of the draws that give no answer and do not vote; -1 or None for none.

    Returns
    -------
    ndarray, shape (K,) or (N, K)
        Accuracy at each budget, of one question or of N.

    Raises
    ------
    ValueError
        If a row of ``probs`` does not sum to 1, or a column number is out of range.

    Examples
    --------
    >>> acc_iid([0.6, 0.4], 0, budgets=[1, 2, 3, 5]).round(4)
    array([0.6   , 0.6   , 0.648 , 0.6826])
    """
    budgets = _check_budgets(budgets, 170, "acc_iid works up to budget 170")
    probs = np.asarray(probs, dtype=float)
    p = np.atleast_2d(probs)
    if p.ndim > 2 or p.size == 0 or not (p >= 0).all() or np.abs(p.sum(1) - 1).max() > 1e-6:
        raise ValueError("probs must hold probabilities, every row summing to 1")
    n, m = p.shape
    right, blank = (np.broadcast_to(x, (n,)) for x in (correct, -1 if empty is None else empty))
    for name, column in [("correct", right), ("empty", blank)]:
        if column.dtype.kind not in "iu" or not ((column >= -1) & (column < m)).all():
            raise ValueError(f"{name} must hold column numbers from 0 to {m - 1}, or -1 for none")
    if ((right == blank) & (right >= 0)).any():
        raise ValueError("correct and empty name the same column; an empty answer is never correct")
    at = np.arange(n)
    rest = np.column_stack([p, np.zeros(n)])  # column -1 is an answer that is never given
    own = rest[at, right]
    spare = rest[at, blank]
    rest[at, right] = rest[at, blank] = 0
    acc = np.empty((n, len(budgets)))
    top = max(budgets)
    for rows in _chunks(n, (top + m) * (top // 2 + 1)):
        few = rest[rows].T
        most = np.where(few > 0, np.inf, 0)
        acc[rows] = _winning_ways(_exponentials, budgets, own[rows], few, spare[rows], most).T
    acc = _settled(acc * [float(factorial(b)) for b in budgets])
    return acc[0] if probs.ndim == 1 else acc


def best_of(correct: ArrayLike, scores: ArrayLike, budgets: Sequence[int]) -> np.ndarray:
    """Average best-of-b over all subsets: take the sample with the highest score, tied ones share.

    Explained in the chapter "Estimation".

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
    _, correct, budgets = _checked(np.zeros(scores.shape, dtype=int), correct, budgets, "share")
    upto = rankdata(scores, "max", axis=1)
    below = rankdata(scores, "min", axis=1) - 1
    acc = np.empty((len(scores), len(budgets)))
    for k, b in enumerate(budgets):
        # The best of b is in a group of tied samples if all b are in or below the group, and not
        # all of them below.
        within = np.ones_like(scores)
        under = np.ones_like(scores)
        for i in range(b):
            within *= np.maximum(upto - i, 0) / (scores.shape[1] - i)
            under *= np.maximum(below - i, 0) / (scores.shape[1] - i)
        acc[:, k] = (correct * (within - under) / (upto - below)).sum(1)
    return _settled(acc)


def pass_at(correct: ArrayLike, budgets: Sequence[int]) -> np.ndarray:
    r"""Compute pass@b, the probability that at least one of b samples is correct.

    With c correct samples out of R this is the unbiased estimate [1]_

    .. math:: 1 - \binom{R - c}{b} \Big/ \binom{R}{b},

    the accuracy of `best_of` with a perfect score. Explained in the chapter "Estimation".

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


def _tally(classes: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return row, size and mean value of every (row, class) pair, and the pair of every sample.

    The pair of an empty answer is -1.
    """
    voted = classes >= 0
    rows = np.nonzero(voted)[0]
    labels = np.unique(classes[voted], return_inverse=True)[1]
    key = rows * (labels.max(initial=0) + 1) + labels
    _, first, index, count = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    value = np.bincount(index, weights=values[voted], minlength=len(count)) / count
    pair = np.full(classes.shape, -1)
    pair[voted] = index
    return rows[first], count, value, pair


def _settled(acc: np.ndarray) -> np.ndarray:
    """Clip estimates to [0, 1], and give budgets that are equally good the same number.

    Two such budgets differ in the last bits, here in one direction and in a browser in the other. A
    plain argmax would settle the tie by accident. Rounding all numbers would not do: it would part
    the slopes of questions that are equally steep.
    """
    acc = np.clip(acc, 0.0, 1.0)
    for later in range(1, acc.shape[-1]):
        for earlier in range(later):
            same = np.abs(acc[..., later] - acc[..., earlier]) < _SAME
            acc[..., later] = np.where(same, acc[..., earlier], acc[..., later])
    return acc


def _without(sizes: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """Drop entry ``slot[t]`` from row t."""
    places = np.arange(sizes.shape[1] - 1)
    return np.take_along_axis(sizes, places + (places >= slot[:, None]), axis=1)


def _chunks(n: int, cells: int) -> list[slice]:
    """Cut n rows into chunks whose working arrays, ``cells`` numbers per row, fit the cache."""
    step = max(1, _CELLS // max(1, cells))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def _checked(
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
    return classes, values, _check_budgets(budgets, r, f"there are {r} samples per question")


def _check_budgets(budgets: Sequence[int], most: int, why: str) -> list[int]:
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
    if ties not in ("share", "first"):
        raise ValueError(f"ties must be 'share' or 'first', got {ties!r}")


def _winning_ways(
    series: Callable[[np.ndarray, int], np.ndarray],
    budgets: Sequence[int],
    own: np.ndarray,
    others: np.ndarray,
    spare: np.ndarray,
    most: np.ndarray,
    late: np.ndarray | None = None,
) -> np.ndarray:
    """Add up the ways in which a class wins a vote, for T situations at once, shape (K, T).

    ``series(x, d)[i]`` is the weight of i votes out of a class of size x. ``own`` (T), ``others``
    (m, T) and ``spare`` (T) are the sizes of the class, of the other classes and of the empty
    answers; ``most`` is the number of votes that the others could get. For first-seen ties,
    ``late`` counts the samples of each other class that come after the first vote of this class;
    that vote is then fixed, and ``own`` counts only what comes after it.
    """
    # A class c wins with k votes if every other class has fewer, or has k and loses the tie. In
    # generating functions: class j contributes sum_{i<k} C(n_j, i) z^i + t_j z^k, an empty answer
    # contributes 1 + z, and the coefficient of z^(b-k) counts the ways to choose the rest. Shared
    # ties pay 1 / (1 + number of tied others), the integral over y in [0, 1] of y^(number of tied
    # others): put t_j = y C(n_j, k), and Gauss-Legendre quadrature is exact. With first-seen ties,
    # fix the first chosen sample of c: the tie is won if all k votes of j come later. For
    # independent draws, C(n, i) becomes p^i / i!. All terms are positive, so nothing cancels.
    wins = np.zeros((len(budgets), len(own)))
    for k in range(1, max(budgets) + 1):
        mine = series(own, k)[k] if late is None else series(own, k - 1)[k - 1]
        live = np.flatnonzero(mine)
        if not live.size:
            continue
        degree = max(budgets) - k  # votes left for all the others
        y, weight = _tie_nodes(degree // k) if late is None else (np.ones(1), np.ones(1))
        # A class that cannot reach k is as harmless as empty answers; their series are multiplied.
        threat = (most[:, live] >= k) & (k <= degree)
        size = np.where(threat, others[:, live], 0)
        harmless = spare[live] + (others[:, live] - size).sum(0)
        poly = np.repeat(series(harmless, degree)[:, None, :], len(y), axis=1)
        for j in np.flatnonzero(threat.any(1)):
            fewer = series(size[j], k)
            tied = fewer[k] if late is None else series(np.where(threat[j], late[j, live], 0), k)[k]
            product = poly.copy()
            for i in range(1, k):
                product[i:] += fewer[i] * poly[:-i]
            product[k:] += y[:, None] * tied * poly[:-k]
            poly = product
        for at, b in enumerate(budgets):
            if b >= k:
                wins[at, live] += mine[live] * (weight @ poly[b - k])
    return wins


@lru_cache(maxsize=256)
def _tie_nodes(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1] that integrate polynomials of this degree exactly."""
    y, weight = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (y + 1) / 2, weight / 2


def _exponentials(x: np.ndarray, degree: int) -> np.ndarray:
    """Return x^i / i! for i = 0..degree along a new first axis, for independent draws."""
    ratios = x / np.arange(1, degree + 1).reshape(-1, *[1] * x.ndim)
    return np.concatenate([np.ones((1, *x.shape)), np.cumprod(ratios, axis=0)])


def _binomials(n: int, top: int) -> np.ndarray:
    """Return Pascal's triangle, ``table[i, m] = C(m, i)`` for i <= top and m <= n."""
    m = np.arange(n + 1.0)
    table = np.ones((top + 1, n + 1))
    for i in range(1, top + 1):
        table[i] = table[i - 1] * np.maximum(m - i + 1, 0) / i
    return table
