"""How many repeats does a benchmark need? Spend a number of answers over its questions.

A benchmark's accuracy is the mean over its questions. Asking a question again only removes the luck
of its answers, so most answers should go to questions that are right about half the time (Neyman's
allocation). Which questions these are, a pilot says. What repeats cannot remove is the luck of the
questions: for other questions of the same kind, only more questions help.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError

_WEIGHTS = (0.1, 100.0)  # answers that the prior may weigh, at least and at most
_STEPS = 200  # halvings of the price's interval, enough for any two floats


@dataclass(frozen=True)
class RepeatPlan:
    """How often to ask each question, and the standard errors to expect.

    Attributes
    ----------
    answers : ndarray of int, shape (N,)
        New answers to each question, at least one.
    variances : ndarray, shape (N,)
        Estimated variance of a single answer's correctness, for each question.
    error : float
        Standard error of the mean accuracy on these questions, with this plan.
    equal_error : float
        The same if all questions get equally many answers.
    combined_error : float
        The same if the pilot's mean and the new mean are weighed by their numbers of answers.
    question_error : float
        Standard error that comes from the choice of the questions, which repeats cannot reduce.
    """

    answers: np.ndarray
    variances: np.ndarray
    error: float
    equal_error: float
    combined_error: float
    question_error: float

    @property
    def new_error(self) -> float:
        """Standard error of the new mean for other questions of the same kind: both causes."""
        return float(np.hypot(self.error, self.question_error))

    @property
    def more_if_equal(self) -> float:
        """How many more answers, as a share of the plan's, equal numbers need for its error."""
        return (self.equal_error / self.error) ** 2 - 1


def plan_repeats(correct: ArrayLike, total: int) -> RepeatPlan:
    r"""Plan how often to ask each question, so that the mean accuracy has the least error.

    With :math:`n_i` new answers to question i, whose answers have the variance :math:`v_i`,

    .. math:: \min_n \frac1N \sqrt{\sum_i \frac{v_i}{n_i}}
              \quad\text{with}\quad \sum_i n_i = M,\; n_i \ge 1 .

    Without rounding, :math:`n_i` is proportional to :math:`\sqrt{v_i}` [1]_. Explained in the
    appendix "One price, other markets".

    Parameters
    ----------
    correct : array_like, shape (N, R)
        The pilot: 0 or 1 for each of at least two answers to each question.
    total : int
        New answers to spend, at least one per question.

    Returns
    -------
    RepeatPlan
        The plan and its errors. Take the mean of the new answers to each question, and then the
        mean over the questions. The pilot's answers have chosen the numbers, so a mean over old and
        new answers to a question would be biased. Weigh the pilot's mean and the new mean by their
        numbers of answers instead.

    References
    ----------
    .. [1] Neyman (1934), "On the two different aspects of the representative method", Journal of
       the Royal Statistical Society 97(4), 558-625.

    Examples
    --------
    >>> pilot = [[1, 1, 1, 1], [1, 1, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]]
    >>> plan_repeats(pilot, total=21).answers.tolist()
    [4, 4, 9, 4]
    """
    right = np.asarray(correct, dtype=float)
    if right.ndim != 2 or right.shape[0] < 2 or right.shape[1] < 2:
        raise DataError(
            "a pilot needs two questions with two answers each, or more; collect more answers"
        )
    if not np.isin(right, (0, 1)).all():
        raise DataError("correct holds a value that is neither 0 nor 1; give one per answer")
    questions = len(right)
    variances = answer_variances(right)
    answers = allocate_answers(variances, total)
    each, rest = divmod(total, questions)
    # Equal numbers leave a rest, which goes to the questions that gain most by it.
    equal = np.full(questions, each)
    equal[np.argsort(-variances, kind="stable")[:rest]] += 1
    _, between = _components(right)
    error = _error(variances, answers)
    pilot_error = _error(variances, np.full(questions, right.shape[1]))
    share_of_new = total / (total + right.size)
    return RepeatPlan(
        answers,
        variances,
        error,
        equal_error=_error(variances, equal),
        combined_error=float(np.hypot(share_of_new * error, (1 - share_of_new) * pilot_error)),
        question_error=float(np.sqrt(between / questions)),
    )


def answer_variances(right: np.ndarray) -> np.ndarray:
    r"""Estimate the variance p(1 - p) of an answer's correctness for each question of a pilot.

    A question with four right answers of four has not shown that it is always right. So each
    accuracy p has a Beta prior with the pilot's mean, whose weight in answers is the variance
    within questions divided by that between questions (from 0.1 to 100). With the posterior
    Beta(a, b), the estimate is :math:`\mathrm{E}[p(1-p)] = ab / ((a+b)(a+b+1))`, which is never 0.
    """
    within, between = _components(right)
    fewest, most = _WEIGHTS
    weight = float(np.clip(within / between, fewest, most)) if between > 0 else most
    mean = (right.sum() + 0.5) / (right.size + 1)
    count = right.sum(axis=1)
    a = weight * mean + count
    b = weight * (1 - mean) + right.shape[1] - count
    return a * b / ((a + b) * (a + b + 1))


def allocate_answers(variances: ArrayLike, total: int) -> np.ndarray:
    """Return the whole numbers n, at least 1, with a sum of ``total`` and the least sum of v / n.

    The n-th answer to a question removes v / (n (n - 1)). As these steps fall, the best plan buys
    every step above one price.
    """
    v = np.asarray(variances, dtype=float)
    if total < v.size:
        raise DataError(
            f"{total:,} answers are fewer than the {v.size:,} questions; give at least as many"
        )
    if not v.max() > 0:
        return np.array([total // v.size + (i < total % v.size) for i in range(v.size)])
    low = v.max() / (2.0 * total * (total + 1))  # the most uncertain question alone would buy all
    high = v.max()  # only the first answer to each question is bought
    for _ in range(_STEPS):
        price = np.sqrt(low * high)
        if _bought(v, price).sum() > total:
            low = price
        else:
            high = price
    answers = _bought(v, high)
    # Steps of the same worth may be left: they go out one by one.
    steps = [(-v[i] / (answers[i] * (answers[i] + 1)), i) for i in range(v.size)]
    heapq.heapify(steps)
    for _ in range(total - int(answers.sum())):
        _, i = steps[0]
        answers[i] += 1
        heapq.heapreplace(steps, (-v[i] / (answers[i] * (answers[i] + 1)), i))
    return answers


def _bought(v: np.ndarray, price: float) -> np.ndarray:
    """Return the largest n of each question whose last step v / (n (n - 1)) is worth the price."""
    return ((1 + np.sqrt(1 + 4 * v / price)) / 2).astype(int)


def _components(right: np.ndarray) -> tuple[float, float]:
    """Return the mean variance within a question, and the variance between their accuracies."""
    repeats = right.shape[1]
    within = float(right.var(axis=1, ddof=1).mean())
    between = float(right.mean(axis=1).var(ddof=1)) - within / repeats
    return within, max(between, 0.0)


def _error(variances: np.ndarray, answers: np.ndarray) -> float:
    """Return the standard error of the mean accuracy with these numbers of answers."""
    return float(np.sqrt((variances / answers).sum()) / len(answers))
