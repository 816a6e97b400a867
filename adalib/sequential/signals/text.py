"""What the text of a question says before anything is asked.

A kernel regression on the features of the text predicts the accuracy of one answer and of a long
vote. Where it explains next to nothing of what training questions did, the signal is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import number, numbers
from adalib.sequential.signals.base import Lesson, Signal
from adalib.sequential.streams import Streams

_LONG = 16  # the text predicts the accuracy of one answer and of a vote of this many
#: Ignore the text if its held-out R² is below this: it would only move the budget about.
_LEAST_EXPLAINED = 0.03
_WIDTHS = (0.35, 0.7, 1.4)  # of the kernel, in standard deviations per feature
_RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Prediction(NamedTuple):
    """Accuracies predicted from the text, the same at every checkpoint."""

    start: Any  #: of one answer
    end: Any  #: of a long vote

    def at(self, columns: ArrayLike) -> Prediction:
        """Return itself: no answer changes it."""
        return self


class LivePrediction:
    """The prediction for one question."""

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction

    def add(self, answer: Hashable, fields: Mapping[str, float | None]) -> None:
        """Do nothing: no answer changes what the text says."""

    def state(self) -> Prediction:
        return self._prediction


class Text(Signal):
    """Accuracies predicted from the text by Gaussian kernel ridge regression.

    The features are standardised.

    Attributes
    ----------
    left_out : ndarray, shape (N, 2)
        Predictions for the training questions, each by the other folds. The stopping rule learns
        from these; from predictions that saw the question it would learn to trust them too much.
    explained : float
        Share of the variance that ``left_out`` explains.
    """

    name = "text"
    usual = True

    def fit(self, lesson: Lesson) -> bool:
        if lesson.features is None or not lesson.fold.any():
            return False
        answers = lesson.answers
        x = np.asarray(lesson.features, dtype=float)
        y = answers.table((1, min(_LONG, answers.samples))).acc
        if x.ndim != 2 or not np.isfinite(x).all() or len(x) != len(y):
            raise ValueError(
                f"features have shape {x.shape}; give one row of finite numbers "
                f"for each of {len(y)}"
            )
        self.takes = x.shape[1]
        self.center = x.mean(axis=0)
        self.scale = x.std(axis=0)
        self.scale[self.scale < 1e-12] = 0.0
        self.mean = y.mean(axis=0)
        self.points = self._standardised(x)
        self._choose_kernel(y, [np.flatnonzero(lesson.fold == f) for f in np.unique(lesson.fold)])
        missed = ((y - self.left_out) ** 2).sum()
        self.explained = 1 - float(missed / max(((y - self.mean) ** 2).sum(), 1e-12))
        return self.explained > _LEAST_EXPLAINED

    def _choose_kernel(self, y: np.ndarray, folds: list[np.ndarray]) -> None:
        """Keep the width and ridge with the least error on folds left out."""
        least = np.inf
        for width in _WIDTHS:
            values, vectors = _eigen(self.points.tobytes(), self.takes, width)
            rotated = vectors.T @ (y - self.mean)
            for ridge in _RIDGES:
                inverse = 1 / (values.clip(0) + ridge)
                weights = vectors @ (inverse[:, None] * rotated)
                # The residual of a fold left out, from the fit on all: its weights over its own
                # block.
                residual = np.empty_like(weights)
                for rows in folds:
                    block = (vectors[rows] * inverse) @ vectors[rows].T
                    residual[rows] = np.linalg.solve(block, weights[rows])
                error = (residual**2).mean()
                if error < least:
                    least = error
                    self.width = width
                    self.weights = weights
                    self.left_out = (y - residual).clip(0, 1)

    def predicted(self, features: ArrayLike | None, trained_on: bool = False) -> np.ndarray:
        """Return the predictions for questions, shape (N, 2), in [0, 1]."""
        if trained_on:
            return self.left_out
        if features is None:
            raise ValueError(
                "this policy was fitted with features of the text; give those of the question"
            )
        x = self._standardised(np.asarray(features, dtype=float))
        return (self.mean + _kernel(x, self.points, self.width) @ self.weights).clip(0, 1)

    def _standardised(self, x: np.ndarray) -> np.ndarray:
        """Standardise; a column that never changed (scale 0) becomes 0."""
        return np.divide(x - self.center, self.scale, out=np.zeros(x.shape), where=self.scale != 0)

    def replayed(
        self,
        streams: Streams,
        columns: np.ndarray,
        features: ArrayLike | None,
        trained_on: bool,
    ) -> Prediction:
        return Prediction(*self.predicted(features, trained_on)[streams.question].T)

    def live(self, features: ArrayLike | None) -> LivePrediction:
        row = None if features is None else np.asarray(features, dtype=float)[None]
        return LivePrediction(Prediction(*self.predicted(row)[0]))

    def features(self, state: Prediction, lead: list) -> list:
        start, end = state
        alone = [start, end, start * end, start * start, end * end]
        return [*alone, *(clear * accuracy for clear in lead for accuracy in state)]

    def to_dict(self) -> dict[str, Any]:
        names = ("center", "points", "mean", "weights", "scale", "width")
        return {name: np.asarray(getattr(self, name)).tolist() for name in names}

    def restore(self, saved: dict[str, Any]) -> None:
        self.points = numbers(saved["points"], "points", (None, None))
        rows, self.takes = self.points.shape
        self.center = numbers(saved["center"], "center", (self.takes,))
        self.scale = numbers(saved["scale"], "scale", (self.takes,))
        self.mean = numbers(saved["mean"], "mean", (2,))
        self.weights = numbers(saved["weights"], "weights", (rows, 2))
        self.width = number(saved["width"], "width", 1e-6)


@lru_cache(maxsize=2 * len(_WIDTHS))  # stopping and race learn from the same questions in turn
def _eigen(points: bytes, columns: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors of the kernel of some points, given as bytes."""
    rows = np.frombuffer(points).reshape(-1, columns)
    values, vectors = np.linalg.eigh(_kernel(rows, rows, width))
    values.flags.writeable = vectors.flags.writeable = False
    return values, vectors


def _kernel(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    """Return the Gaussian kernel of every row of ``a`` with every row of ``b``."""
    distance = ((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T).clip(0)
    return np.exp(-distance / (2 * width**2 * a.shape[1]))
