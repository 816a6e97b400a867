"""Backward induction: what going on is worth at every checkpoint, at many prices at once.

At the last checkpoint there is nothing to decide. One checkpoint earlier, going on brings what the
last one brought, less the price of its answers, and a regression predicts that from what is known.
Where the prediction is not positive one stops, and so on back to the first checkpoint. The work is
in the products of features, which all prices share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def backward_induction(
    features: Sequence[np.ndarray],
    value: np.ndarray,
    cost: np.ndarray,
    prices: np.ndarray,
    fold: np.ndarray,
    ridge: float = 0.01,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Regress the net gain of going on upon the features, from the last checkpoint to the first.

    This is Longstaff–Schwartz: carry back realised values; the regression only decides. So no
    maximum over noisy estimates accumulates on the way. At checkpoint s the regression estimates

    .. math:: E[R_{s+1} - \lambda (c_{s+1} - c_s) - v_s \mid \text{features}],

    where :math:`R_{s+1}` is what the later decisions really brought, and one stops where it is not
    positive.

    Parameters
    ----------
    features : sequence of ndarray, each of shape (d, M)
        Features of M streams at each checkpoint but the last.
    value, cost : ndarray, shape (M, S)
        Accuracy if the vote is closed at each checkpoint, and what has been paid by then.
    prices : ndarray, shape (L,)
        Prices in accuracy per unit of cost.
    fold : ndarray, shape (M,)
        Fold of each stream.
    ridge : float
        Penalty at the first checkpoint; it grows with the checkpoint.

    Returns
    -------
    coefficients : ndarray, shape (S - 1, d + 1, L)
        Of the rule fitted on all streams, the constant first.
    stops : ndarray, shape (M, L)
        Checkpoint at which each stream stops, by a rule fitted on the other folds.

    References
    ----------
    F. Longstaff and E. Schwartz, "Valuing American options by simulation: a simple least-squares
    approach", Review of Financial Studies 14 (2001).

    Examples
    --------
    >>> value = np.array([[0.0, 1.0]] * 4)  # the second answer is always right
    >>> cost = np.array([[1.0, 2.0]] * 4)
    >>> features = [np.zeros((1, 4))]
    >>> fold = np.array([0, 0, 1, 1])
    >>> _, stops = backward_induction(features, value, cost, np.array([0.5, 2.0]), fold)
    >>> stops[0].tolist()
    [1, 0]
    """
    last = value.shape[1] - 1
    reward = np.repeat(value[:, -1:], prices.size, axis=1)
    stop = np.full(reward.shape, last)
    coefficients = []
    for s in reversed(range(last)):
        reward -= np.multiply.outer(cost[:, s + 1] - cost[:, s], prices)
        now = value[:, s : s + 1]
        # Later checkpoints are reached by fewer streams and teach less, so the ridge grows.
        fitted, gain = cross_fitted(features[s], reward - now, fold, ridge * (s + 1))
        coefficients.append(fitted)
        np.copyto(stop, s, where=gain <= 0)
        np.copyto(reward, now, where=gain <= 0)
    return np.array(coefficients[::-1]), stop


def first_stops(coefficients: Sequence[np.ndarray], features: Sequence[np.ndarray]) -> np.ndarray:
    """Return the first checkpoint at which going on is not worth its price, shape (M, L)."""
    streams = features[0].shape[1]
    stop = np.full((streams, coefficients[0].shape[1]), len(features), dtype=np.int16)
    for s in reversed(range(len(features))):
        gain = coefficients[s][0] + features[s].T @ coefficients[s][1:]
        np.copyto(stop, s, where=gain <= 0)
    return stop


def cross_fitted(
    x: np.ndarray, y: np.ndarray, fold: np.ndarray, ridge: float
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a ridge regression on all rows, and predict each fold by a fit on the others.

    ``x`` is (d, M) and ``y`` (M, K). Returns coefficients (d + 1, K), the constant first, and
    predictions (M, K).
    """
    order, folds = by_fold(fold)
    fitted = CrossFit.of(x[:, order], y[order], folds, ridge)
    predicted = np.empty_like(y)
    for rows in folds:
        predicted[order[rows]] = fitted.left_out(rows)
    return fitted.coefficients, predicted


def by_fold(fold: np.ndarray) -> tuple[np.ndarray, list[slice]]:
    """Return an order of rows in which each fold is one slice, and these slices."""
    order = np.argsort(fold, kind="stable")
    ends = np.flatnonzero(np.diff(fold[order], append=fold.max() + 1)) + 1
    starts = np.append(0, ends[:-1])
    return order, [slice(start, end) for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Ridge regressions on all rows and, for each fold, on the rows of the others."""

    coefficients: np.ndarray  #: of the fit on all rows, (d + 1, K), the constant first
    _standardised: np.ndarray  # the features and a constant, (d + 1, M)
    _starts: np.ndarray  # the first row of every fold
    _on_others: np.ndarray  # coefficients for the folds

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray, folds: Sequence[slice], ridge: float) -> CrossFit:
        """Fit ``y`` (M, K) to ``x`` (d, M), where each fold is one slice of the rows.

        The normal equations of a fit without a fold are those of all rows less the fold's own, so
        the products are computed only once.
        """
        center = x.mean(axis=1)
        scale = x.std(axis=1) + 1e-6
        z = np.vstack([np.ones(x.shape[1]), (x - center[:, None]) / scale[:, None]])
        penalty = np.diag([0.0] + [ridge * x.shape[1]] * len(x))  # none on the constant
        squares = np.array([z[:, rows] @ z[:, rows].T for rows in folds])  # (folds, d + 1, d + 1)
        moments = np.array([z[:, rows] @ y[rows] for rows in folds])  # (folds, d + 1, K)
        square = squares.sum(axis=0)
        moment = moments.sum(axis=0)
        # One number that is not finite, of a feature or of a gain, is in one of these sums.
        if not np.isfinite(moment).all():
            raise ValueError("a feature or a gain is not finite, so nothing can be learned from it")
        on_all = np.linalg.solve(square + penalty, moment)
        on_others = on_all[None]
        if len(folds) > 1:
            on_others = np.linalg.solve(square - squares + penalty, moment - moments)
        # Back from standardised features to the features as they are.
        slopes = on_all[1:] / scale[:, None]
        constant = on_all[:1] - center @ slopes
        starts = np.array([rows.start for rows in folds])
        return cls(np.vstack([constant, slopes]), z, starts, on_others)

    def left_out(self, rows: slice) -> np.ndarray:
        """Return the predictions for rows of one fold by the fit on the others."""
        fold = np.searchsorted(self._starts, rows.start, side="right") - 1
        return self._standardised[:, rows].T @ self._on_others[fold]
