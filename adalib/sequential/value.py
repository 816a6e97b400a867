"""What going on is worth: backward induction by least squares, at every price at once.

From the last checkpoint to the first: what did going on bring, on training questions, over stopping here? That gain,
less its price, is regressed on what is known at this checkpoint; where the guess is above zero one goes on. It is how
American options are priced (Longstaff and Schwartz 2001): the value carried back is the one that really came, and the
regression only decides, so that no maximum over noisy guesses piles up on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["backward_induction", "cross_fitted", "fold_slices", "follow"]


def backward_induction(
    features: Sequence[np.ndarray],
    value: np.ndarray,
    cost: np.ndarray,
    prices: np.ndarray,
    fold: np.ndarray,
    ridge: float = 0.01,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit the gain of going on at every checkpoint but the last, at every price.

    ``features`` has what is known of M streams at each of these, (d, M); ``value`` and ``cost``, (M, S), what the vote
    is worth at a checkpoint and what has been paid by then. Returns the coefficients, (S - 1, d + 1, L), the constant
    first, and where each stream stops, (M, L), decided by a fit on the other folds.
    """
    last = value.shape[1] - 1
    order, parts = fold_slices(fold)
    value, cost = value[order], cost[order]
    reward = np.repeat(value[:, -1:], prices.size, axis=1)
    stop = np.full(reward.shape, last)
    coefficients = []
    for s in reversed(range(last)):
        reward -= np.multiply.outer(cost[:, s + 1] - cost[:, s], prices)
        now = value[:, s : s + 1]
        # The later it is, the fewer streams are still open, and the less there is to learn from: the ridge grows.
        fitted, guess = cross_fitted(features[s][:, order], reward - now, parts, ridge * (s + 1))
        coefficients.append(fitted)
        quit_here = guess <= 0
        np.copyto(stop, s, where=quit_here)
        np.copyto(reward, now, where=quit_here)
    ordered = np.empty_like(stop)
    ordered[order] = stop
    return np.array(coefficients[::-1]), ordered


def follow(coefficients: np.ndarray, features: Sequence[np.ndarray]) -> np.ndarray:
    """The checkpoint at which each stream stops, shape (M, L): the first where going on is not worth its price."""
    stop = np.full((features[0].shape[1], coefficients.shape[2]), len(features), dtype=np.int16)
    for s in reversed(range(len(features))):
        np.copyto(stop, s, where=coefficients[s, 0] + features[s].T @ coefficients[s, 1:] <= 0)
    return stop


def fold_slices(fold: np.ndarray) -> tuple[np.ndarray, list[slice]]:
    """An order in which each fold is one piece, so that nothing is copied out of the middle, and the pieces."""
    order = np.argsort(fold, kind="stable")
    ends = (np.flatnonzero(np.diff(fold[order], append=fold.max() + 1)) + 1).tolist()
    return order, [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def cross_fitted(x: np.ndarray, y: np.ndarray, parts: list[slice], ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression on all rows, and guesses for each part by the others: sums of squares, one part taken away."""
    center, scale = x.mean(axis=1), x.std(axis=1) + 1e-6
    z = np.vstack([np.ones(x.shape[1]), (x - center[:, None]) / scale[:, None]])
    shrink = np.diag([0.0] + [ridge * x.shape[1]] * len(x))
    squares = np.array([z[:, part] @ z[:, part].T for part in parts])
    products = np.array([z[:, part] @ y[part] for part in parts])
    whole = np.linalg.solve(squares.sum(axis=0) + shrink, products.sum(axis=0))
    if len(parts) == 1:
        guess = z.T @ whole
    else:
        guess = np.empty_like(y)
        others = np.linalg.solve(squares.sum(axis=0) - squares + shrink, products.sum(axis=0) - products)
        for part, fitted in zip(parts, others, strict=True):
            np.matmul(z[:, part].T, fitted, out=guess[part])
    slopes = whole[1:] / scale[:, None]
    return np.vstack([whole[:1] - center @ slopes, slopes]), guess
