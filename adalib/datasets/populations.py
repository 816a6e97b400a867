"""Populations of simulated questions, whose true accuracy is known.

A simulated question is its distribution over answers, from which Acc(x, b) follows exactly. Answers
can be drawn from it, and estimates made from them can be compared with the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.table import UtilityTable
from adalib.tolerances import SUM
from adalib.vote.iid import acc_iid

_BUDGETS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, eq=False, init=False)
class Population:
    """Questions given by their answer distributions.

    Explained in the chapter "Is a gain real?".

    Parameters
    ----------
    probs : array_like, shape (N, m)
        Row i is the distribution of one sampled answer to question i; questions with fewer answers
        are padded with 0.
    correct : array_like of int, shape (N,)
        Which column is the correct answer of each question.
    empty : int, optional
        The column that stands for "no answer could be read" and therefore never votes.
    levels : sequence of N labels, optional
        Difficulty levels, for tables by level.
    label : str
        Start of every id, so that questions of different populations have different ids.

    Attributes
    ----------
    probs, correct, empty, levels, label
        As given; the arrays are read-only.
    n : int
        Number of questions.
    ids : tuple of str
        One id per question.

    Raises
    ------
    ValueError
        If a row of ``probs`` is not a distribution, or a column number is out of range.

    Examples
    --------
    >>> two_answer(0.6).acc([1, 3]).round(3).tolist()
    [[0.6, 0.648]]
    """

    probs: np.ndarray
    correct: np.ndarray
    empty: int | None
    levels: tuple | None
    label: str

    def __init__(
        self,
        probs: ArrayLike,
        correct: ArrayLike,
        empty: int | None = None,
        levels: Sequence | None = None,
        label: str = "sim",
    ) -> None:
        probs = np.array(probs, dtype=float)
        if probs.ndim != 2 or probs.size == 0:
            raise ValueError(
                f"probs must be a table of N questions by m answers, got shape {probs.shape}"
            )
        n, m = probs.shape
        bad = np.flatnonzero(~((probs >= 0).all(axis=1) & (np.abs(probs.sum(axis=1) - 1) < SUM)))
        if bad.size:
            raise ValueError(
                f"row {bad[0]} of probs is not a distribution: it needs entries >= 0 that sum to 1"
            )
        correct = np.array(correct)
        if (
            correct.shape != (n,)
            or correct.dtype.kind not in "iu"
            or not np.isin(correct, range(m)).all()
        ):
            raise ValueError(
                f"correct needs one column number from 0 to {m - 1} for each of the {n} questions"
            )
        if empty is not None and (empty not in range(m) or (correct == empty).any()):
            raise ValueError(
                f"empty={empty} must be a column of probs that is no question's correct answer"
            )
        if levels is not None and len(levels) != n:
            raise ValueError(
                f"levels has {len(levels)} entries for {n} questions; give one per question"
            )
        probs.flags.writeable = correct.flags.writeable = False
        levels = None if levels is None else tuple(levels)
        vars(self).update(probs=probs, correct=correct, empty=empty, levels=levels, label=label)

    @classmethod
    def from_responses(cls, responses: Responses) -> Population:
        """Return the population whose probabilities are the frequencies among real answers.

        Column 0 is the correct answer, column 1 the empty one, and every other answer has its own.
        These questions are a little more varied than the real ones. Explained in the chapter
        "Is a gain real?".

        Examples
        --------
        >>> sampled = Responses(["q"], ["2 + 2?"], ["4"], answers=[["4", "5", "4", ""]])
        >>> Population.from_responses(sampled).probs
        array([[0.5 , 0.25, 0.25]])
        """
        column = responses.classes + 2
        column[responses.classes < 0] = 1
        column[responses.values > 0] = 0
        counts = np.zeros((responses.n, max(column.max() + 1, 2)))
        np.add.at(counts, (np.arange(responses.n)[:, None], column), 1)
        used = counts.any(axis=0) | (np.arange(counts.shape[1]) < 2)
        return cls(counts[:, used] / responses.samples, np.zeros(responses.n, dtype=int), empty=1)

    @property
    def n(self) -> int:
        """Number of questions."""
        return self.probs.shape[0]

    @property
    def ids(self) -> tuple[str, ...]:
        """One id per question; populations with the same label share them."""
        return tuple(f"{self.label}-{i:03d}" for i in range(self.n))

    def acc(self, budgets: Sequence[int] = _BUDGETS) -> np.ndarray:
        """Return the true Acc(x, b), shape (N, len(budgets)): no samples, no noise, ties shared."""
        return acc_iid(self.probs, self.correct, budgets, empty=self.empty)

    def table(self, budgets: Sequence[int] = _BUDGETS) -> UtilityTable:
        """Return the true Acc(x, b) as a table whose cost is the number of samples."""
        return UtilityTable(
            self.acc(budgets), np.asarray(budgets, dtype=float), tuple(budgets), self.ids
        )

    def sample(self, R: int = 48, seed: int = 0) -> Responses:
        """Draw R answers per question: column numbers as texts, "" for an unreadable answer.

        Each row's cumulative distribution is inverted on one block of uniforms, so that populations
        sampled with the same seed differ only through their distributions.
        """
        uniforms = np.random.default_rng(seed).random((self.n, R))
        texts = np.array(
            ["" if j == self.empty else str(j) for j in range(self.probs.shape[1])], dtype=object
        )
        levels = self.levels or [None] * self.n
        suffixes = ["" if level is None else f" (level {level})" for level in levels]
        return Responses(
            ids=self.ids,
            questions=[f"Simulated question {i}{suffix}" for i, suffix in enumerate(suffixes)],
            golds=[str(c) for c in self.correct],
            answers=texts[draw(self.probs, uniforms)].tolist(),
            levels=self.levels,
        )


def draw(probs: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Turn uniforms of shape (..., N, R) into columns distributed as the N rows of ``probs``."""
    chosen = np.zeros(uniforms.shape, dtype=np.int64)
    for column in probs.cumsum(axis=1)[:, :-1].T:
        chosen += uniforms > column[:, None]
    return chosen


def two_answer(p: ArrayLike) -> Population:
    r"""Make questions with one correct answer, of probability ``p``, and a single wrong one.

    Their accuracy has a closed form, the binomial tail, in which budgets 2m - 1 and 2m are equal:

    .. math:: Acc(2m) = Acc(2m - 1) = \sum_{i \ge m} \binom{2m - 1}{i} p^i (1 - p)^{2m - 1 - i}

    Parameters
    ----------
    p : float or array_like, shape (N,)
        Probability of the correct answer.

    Returns
    -------
    Population
        One question per probability.

    Examples
    --------
    >>> two_answer([0.6, 0.3]).acc([1, 2, 3]).round(3).tolist()
    [[0.6, 0.6, 0.648], [0.3, 0.3, 0.216]]
    """
    p = np.atleast_1d(np.asarray(p, dtype=float))
    return Population(np.column_stack([p, 1 - p]), np.zeros(p.size, dtype=int))


def flat_null(n: int, seed: int = 0) -> Population:
    """Make a population on which no budget helps, so that any gain a method reports is noise.

    Two questions in five are a fair coin between two answers, with a true curve that is flat at
    1/2. Of the others, half are always right and half always wrong. Explained in the chapter "Is a
    gain real?".

    Parameters
    ----------
    n : int
        Number of questions.
    seed : int
        Seed of their order.

    Returns
    -------
    Population
        Questions whose true accuracy is the same at every budget.

    Examples
    --------
    >>> sorted(flat_null(5).acc([1, 16]).round(9).tolist())
    [[0.0, 0.0], [0.5, 0.5], [0.5, 0.5], [1.0, 1.0], [1.0, 1.0]]
    """
    coins = round(0.4 * n)
    right = (n - coins + 1) // 2
    p = np.repeat([0.5, 1.0, 0.0], [coins, right, n - coins - right])
    return two_answer(np.random.default_rng(seed).permutation(p))


def beta_population(n: int, a: float, b: float, *, wrong: int = 4, seed: int = 0) -> Population:
    """Make questions whose probability of a correct answer is drawn from Beta(a, b).

    How the wrong answers share the rest is drawn too, each way equally probable.

    Parameters
    ----------
    n : int
        Number of questions.
    a, b : float
        Parameters of the Beta distribution; both below 1 make many very easy and very hard ones.
    wrong : int
        Number of different wrong answers.
    seed : int
        Seed of the draws.

    Returns
    -------
    Population
        Column 0 is the correct answer of every question.

    Examples
    --------
    >>> population = beta_population(1000, a=0.5, b=0.5)
    >>> population.n, population.probs.shape[1], round(float(population.acc([1]).mean()), 1)
    (1000, 5, 0.5)
    """
    rng = np.random.default_rng(seed)
    p = rng.beta(a, b, size=(n, 1))
    shares = rng.dirichlet(np.ones(wrong), size=n)
    return Population(np.hstack([p, (1 - p) * shares]), np.zeros(n, dtype=int))
