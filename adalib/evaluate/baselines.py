"""Plans that a policy has to beat.

They look at nothing, at the length of the question, or at the correct answers.

Of the plans that cannot tell two questions apart, `best_mix` is the best at its cost: the upper
concave hull of the uniform budgets. A policy that does not beat it, at the cost the policy really
has, has learned nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.responses import ReadText
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable, check_table

__all__ = [
    "PLANS",
    "Plan",
    "best_mix",
    "fixed",
    "from_labels",
    "length",
    "noise_features",
    "random",
]


@dataclass(frozen=True, eq=False)
class Plan:
    """The probability of each budget for each question.

    Labels are probabilities of 0 and 1, and a random mix has the same row for every question.
    Expected accuracy and cost are exact. Explained in the chapter "Results and ablations".

    Parameters
    ----------
    weights : array_like, shape (N, K)
        One row per question and one column per budget; every row sums to 1.

    Examples
    --------
    >>> plan = Plan([[0.5, 0.5], [1.0, 0.0]])
    >>> plan.expected([1, 4]).tolist(), plan.expected([[0.2, 0.6], [0.9, 1.0]]).tolist()
    ([2.5, 1.0], [0.4, 0.9])
    """

    weights: np.ndarray

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=float)
        if weights.ndim != 2 or 0 in weights.shape:
            raise ValueError(
                f"weights have shape {weights.shape}; give one row per question and one column a "
                "budget"
            )
        bad = np.flatnonzero(
            ~((weights >= 0).all(axis=1) & (np.abs(weights.sum(axis=1) - 1) < 1e-9))
        )
        if bad.size:
            raise ValueError(
                f"row {bad[0]} of weights is {weights[bad[0]]}; give chances of 0 or more that "
                "sum to 1"
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def expected(self, table: ArrayLike) -> np.ndarray:
        """Expected value of each question, of accuracies (N, K) or of costs (K,) or (N, K)."""
        return (self.weights * np.asarray(table, dtype=float)).sum(axis=1)

    def outcome(self, table: UtilityTable) -> tuple[np.ndarray, np.ndarray]:
        """Expected cost and accuracy of each question, two arrays of shape (N,)."""
        return self.expected(table.cost), self.expected(table.acc)

    def draw(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Draw a column for each question, shape (N,)."""
        reached = self.weights.cumsum(axis=1)[:, :-1]
        return (np.random.default_rng(rng).random((len(reached), 1)) >= reached).sum(axis=1)


def from_labels(labels: ArrayLike, k: int) -> Plan:
    """Return the plan that gives every question its label, of ``k`` columns."""
    labels = np.asarray(labels)
    if (
        labels.ndim != 1
        or labels.dtype.kind not in "iu"
        or not ((labels >= 0) & (labels < k)).all()
    ):
        raise ValueError(f"labels must be column numbers from 0 to {k - 1}, one a question")
    return Plan(np.eye(k)[labels])


def fixed(cost: ArrayLike, budget: float, n: int) -> Plan:
    """Give every question the largest budget that the average allows: the paper's Fixed-b.

    What the average leaves over stays unspent.
    """
    row, low = _below(cost, budget)
    return from_labels(np.full(n, low), row.size)


def random(cost: ArrayLike, budget: float, n: int) -> Plan:
    """Mix the two neighbouring budgets so that the average is met: how we read the paper's Random.

    >>> random([1, 2, 4, 8, 16], budget=3, n=1).weights.tolist()
    [[0.0, 0.5, 0.5, 0.0, 0.0]]
    """
    row, low = _below(cost, budget)
    high = min(low + 1, row.size - 1)
    share = np.clip((budget - row[low]) / (row[high] - row[low] or 1.0), 0, 1)
    columns = np.eye(row.size)
    return Plan(np.tile((1 - share) * columns[low] + share * columns[high], (n, 1)))


def best_mix(acc: ArrayLike, cost: ArrayLike, budget: float, n: int | None = None) -> Plan:
    """Return the best plan that treats all questions alike: the bar that a policy has to beat.

    It mixes the two neighbouring corners of the upper concave hull of the uniform budgets. It
    spends less than the budget if no larger budget helps. Explained in the chapter "Results and
    ablations".

    Parameters
    ----------
    acc : array_like, shape (M, K)
        Accuracies that the mix is chosen on. If these are the accuracies that also score it, the
        mix is as strong as it can be.
    cost : array_like, shape (K,) or (M, K)
        Cost of each budget.
    budget : float
        Average cost per question.
    n : int, optional
        Number of questions of the plan (default M).

    Returns
    -------
    Plan
        The same row for every question.

    Examples
    --------
    >>> best_mix([[0.5, 0.5, 0.8]], cost=[1, 2, 4], budget=2).weights.round(3).tolist()
    [[0.667, 0.0, 0.333]]
    """
    acc, cost = check_table(acc, cost)
    # A plan that treats all questions alike faces one question, the average, which may be split.
    best = frontier(acc.mean(axis=0, keepdims=True), _row(cost)).at(budget)
    shares = np.eye(acc.shape[1])[best.labels]
    if best.split is not None:
        shares[0, [best.split.low, best.split.high]] = 1 - best.split.share, best.split.share
    return Plan(np.repeat(shares, len(acc) if n is None else n, axis=0))


def length(questions: Iterable[str | float], cost: ArrayLike, budget: float) -> Plan:
    """Give the longest questions the most expensive column and all others the cheapest.

    This is how we read the paper's Heuristic.

    Inferred from the printed costs: 16 answers for the fewest longest of 200 questions that reach
    the budgets 1.5, 2 and 3 cost 1.525, 2.05 and 3.025. Questions are texts, or their lengths; of
    equals the earlier is the longer."""
    texts = (q.features[0] if isinstance(q, ReadText) else q for q in questions)
    lengths = np.array([float(len(q) if isinstance(q, str) else q) for q in texts])
    n = lengths.size
    _, cost = check_table(np.zeros((n, np.shape(cost)[-1])), cost)
    _below(cost, budget)
    order = np.argsort(-lengths, kind="stable")
    rise = np.broadcast_to(cost[..., -1] - cost[..., 0], n)[order]
    missing = n * budget - np.broadcast_to(cost[..., 0], n).sum()
    # How many it takes to spend what is missing; a hair less than all of it is rounding.
    dear = int(np.searchsorted(rise.cumsum(), missing * (1 - 1e-12))) + 1 if missing > 0 else 0
    labels = np.zeros(n, dtype=int)
    labels[order[:dear]] = cost.shape[-1] - 1
    return from_labels(labels, cost.shape[-1])


#: The plans that learn nothing, by the names of their rows in `held_out`, as functions of the
#: questions, the costs and the budget. A new baseline is a function of this module and its line
#: here.
PLANS: Mapping[str, Callable[[Sequence[str], ArrayLike, float], Plan]] = {
    "fixed": lambda questions, cost, budget: fixed(cost, budget, len(questions)),
    "random": lambda questions, cost, budget: random(cost, budget, len(questions)),
    "length": length,
}


def noise_features(n: int, columns: int = 16, seed: int = 0) -> pd.DataFrame:
    """Draw features that carry no information, as the control next to every learned result.

    The columns are independent and Gaussian, rounded to a tenth, because counts made from a text
    repeat their values too, and because trees then grow faster. Explained in the chapter
    "Learning".

    Parameters
    ----------
    n : int
        Number of questions.
    columns : int
        Number of features; the paper has 16.
    seed : int
        Seed of the draw.

    Returns
    -------
    DataFrame, shape (n, columns)
        Columns ``noise_0``, ``noise_1`` and so on.

    Examples
    --------
    >>> noise_features(3, columns=2).columns.tolist()
    ['noise_0', 'noise_1']
    """
    values = np.random.default_rng(seed).standard_normal((n, columns)).round(1)
    return pd.DataFrame(values, columns=[f"noise_{j}" for j in range(columns)])


def _row(cost: ArrayLike) -> np.ndarray:
    """One cost a column: the mean over questions where they pay differently."""
    cost = np.asarray(cost, dtype=float)
    row = cost.mean(axis=0) if cost.ndim == 2 else cost
    return check_table(np.zeros((1, row.size)), row)[1]


def _below(cost: ArrayLike, budget: float) -> tuple[np.ndarray, int]:
    """Return the columns' costs and the most expensive column within the budget, to rounding."""
    row = _row(cost)
    if not np.isfinite(budget) or budget < row[0] * (1 - 1e-12):
        raise ValueError(
            f"the budget is {budget}; give a finite number, at least the cheapest column's "
            f"{row[0]:g}"
        )
    return row, int(row.searchsorted(budget * (1 + 1e-12), side="right")) - 1
