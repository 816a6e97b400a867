"""What the text says before anything is asked: a smooth guess from the questions most like it.

Kernel ridge regression, because everything it needs has a closed form: the guess for a question that it was trained on,
had that question been left out, costs no second training. A stopping rule that is fitted on such guesses knows how
little the text is worth; one fitted on the guesses of a model that saw the question would trust it far too much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Prior"]


_WIDTHS = (0.35, 0.7, 1.4)  # of the kernel, in standard deviations a feature
_RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Prior:
    """Guess some numbers of a question from its features.

    The kernel is Gaussian in the standardised features; its width and the ridge are those with the smallest squared
    error on questions left out. Explained in chapter 10, "When to stop".

    Attributes
    ----------
    left_out : ndarray, shape (N, k)
        The guess for every training question by the other folds.
    explained : float
        Share of the targets' variance that these guesses explain; at most about 0 where the features say nothing.

    Examples
    --------
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> prior = Prior().fit(x, x > 0.5, np.arange(40))
    >>> prior.predict([[0.1], [0.9]]).round(1).ravel().tolist()
    [0.0, 1.0]
    """

    def fit(self, features: ArrayLike, targets: ArrayLike, fold: ArrayLike) -> Prior:
        """Learn ``targets`` (N, k) from ``features`` (N, d); ``left_out`` has the guesses by the other folds.

        Parameters
        ----------
        features, targets : array_like
        fold : array_like of int, shape (N,)
            Questions of one fold are left out together.
        """
        x, y, fold = np.asarray(features, dtype=float), np.asarray(targets, dtype=float), np.asarray(fold)
        if x.ndim != 2 or not np.isfinite(x).all() or len(x) != len(y):
            raise ValueError(f"features have shape {x.shape}; give one row of finite numbers for each of {len(y)}")
        self.center, self.scale = x.mean(axis=0), x.std(axis=0)
        self.scale[self.scale < 1e-12] = np.inf  # a column that never changes says nothing
        self.points, self.mean = (x - self.center) / self.scale, y.mean(axis=0)
        parts = [np.flatnonzero(fold == f) for f in np.unique(fold)]
        best = np.inf
        for width in _WIDTHS:
            values, vectors = np.linalg.eigh(_kernel(self.points, self.points, width))
            turned = vectors.T @ (y - self.mean)
            for ridge in _RIDGES:
                spread = 1 / (values.clip(0) + ridge)
                weights = vectors @ (spread[:, None] * turned)
                missed = _missed(vectors, spread, weights, parts)
                error = (missed**2).mean()
                if error < best:
                    best, self.width, self.weights, self.left_out = error, width, weights, (y - missed).clip(0, 1)
        self.explained = 1 - float(((y - self.left_out) ** 2).sum() / max(((y - self.mean) ** 2).sum(), 1e-12))
        return self

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the guesses for new questions, in [0, 1]."""
        x = (np.asarray(features, dtype=float) - self.center) / self.scale
        return (self.mean + _kernel(x, self.points, self.width) @ self.weights).clip(0, 1)


def _kernel(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    distance = ((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T).clip(0)
    return np.exp(-distance / (2 * width**2 * a.shape[1]))


def _missed(vectors: np.ndarray, spread: np.ndarray, weights: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """What each fold's targets are off from the guess of all others: the weights, undone by the fold's own block."""
    missed = np.empty_like(weights)
    for part in parts:
        block = (vectors[part] * spread) @ vectors[part].T
        missed[part] = np.linalg.solve(block, weights[part])
    return missed
