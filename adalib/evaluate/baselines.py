"""Plans that a policy has to beat.

They look at nothing, at the length of the question, or at the correct answers.

Of the plans that cannot tell two questions apart, `best_mix` is the best at its cost: the upper
concave hull of the uniform budgets. A policy that does not beat it, at the cost that the policy
really has, might as well treat all questions alike. As a bar, it needs a table of every number of
answers (`Responses.table(range(1, 25))`): a policy must not win because the bar may not give three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.menu import Menu
from adalib.datasets.responses import QuestionWithFeatures, Responses
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable, check_table
from adalib.tolerances import SUM, TIE, meets, within

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Plan:
    """The probability of each budget for each question.

    Labels are probabilities of 0 and 1, and a random mix has the same row for every question.
    Expected accuracy and cost are exact.

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
                f"weights have shape {weights.shape}; "
                "give one row per question and one column per budget"
            )
        sums_to_one = np.abs(weights.sum(axis=1) - 1) < SUM
        bad = np.flatnonzero(~((weights >= 0).all(axis=1) & sums_to_one))
        if bad.size:
            raise ValueError(
                f"row {bad[0]} of weights is {weights[bad[0]]}; "
                "give chances of 0 or more that sum to 1"
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def expected(self, table: ArrayLike) -> np.ndarray:
        """Return the expected value of each question, from a table of shape (N, K) or (K,)."""
        return (self.weights * np.asarray(table, dtype=float)).sum(axis=1)

    def outcome(self, table: UtilityTable) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected cost and accuracy of each question, two arrays of shape (N,)."""
        return self.expected(table.cost), self.expected(table.acc)

    def waiting(self, answers: Responses | Menu, budgets: Sequence[int]) -> np.ndarray:
        """Return how long each question waits if its answers are asked together, shape (N,).

        The unit is an average answer. It is NaN for a menu, whose models have no common clock.
        """
        if not isinstance(answers, Responses):
            return np.full(len(self.weights), np.nan)
        return self.expected(waiting_times(answers, budgets))

    def draw(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Draw a column for each question, shape (N,)."""
        # A uniform number has passed as many cumulative probabilities as its column's number.
        cumulative = self.weights.cumsum(axis=1)[:, :-1]
        uniform = np.random.default_rng(rng).random((len(cumulative), 1))
        return (uniform >= cumulative).sum(axis=1)


def waiting_times(answers: Responses, budgets: Sequence[int]) -> np.ndarray:
    r"""Return the expected time until the last of b answers finishes, shape (N, K).

    Answers run side by side, and each takes as long as it has tokens. With a question's lengths in
    order, :math:`\ell_1 \le \dots \le \ell_R`, the i-th is the longest of b drawn ones with chance
    :math:`\binom{i-1}{b-1} / \binom{R}{b}`. Times are in average answers. Where the file has no
    tokens, all answers take the same time, 1.
    """
    if answers.tokens is None:
        return np.ones((answers.n, len(budgets)))
    in_order = np.sort(np.asarray(answers.tokens, dtype=float), axis=1)
    average = float(np.mean(answers.tokens))
    samples = answers.samples
    times = np.empty((answers.n, len(budgets)))
    for column, budget in enumerate(int(b) for b in budgets):
        chance = np.zeros(samples)
        chance[-1] = budget / samples
        for shorter in range(samples - 1, budget - 1, -1):  # so many others are shorter
            chance[shorter - 1] = chance[shorter] * (shorter - budget + 1) / shorter
        times[:, column] = in_order @ chance / average
    return times


def from_labels(labels: ArrayLike, k: int) -> Plan:
    """Return the plan that gives every question its label, of ``k`` columns."""
    labels = np.asarray(labels)
    integers = labels.ndim == 1 and labels.dtype.kind in "iu"
    if not integers or not ((labels >= 0) & (labels < k)).all():
        raise ValueError(f"labels must be column numbers from 0 to {k - 1}, one per question")
    return Plan(np.eye(k)[labels])


def fixed(cost: ArrayLike, budget: float, n: int) -> Plan:
    """Give every question the largest budget that the average allows: the paper's Fixed-b.

    What the average leaves over stays unspent.
    """
    costs, low = _largest_within(cost, budget)
    return from_labels(np.full(n, low), costs.size)


def random(cost: ArrayLike, budget: float, n: int) -> Plan:
    """Mix the two neighbouring budgets so that the average is met: how we read the paper's Random.

    >>> random([1, 2, 4, 8, 16], budget=3, n=1).weights.tolist()
    [[0.0, 0.5, 0.5, 0.0, 0.0]]
    """
    costs, low = _largest_within(cost, budget)
    high = min(low + 1, costs.size - 1)
    extra = costs[high] - costs[low]
    share = np.clip((budget - costs[low]) / (extra or 1.0), 0, 1)
    columns = np.eye(costs.size)
    mix = (1 - share) * columns[low] + share * columns[high]
    return Plan(np.tile(mix, (n, 1)))


def best_mix(acc: ArrayLike, cost: ArrayLike, budget: float, n: int | None = None) -> Plan:
    """Return the best plan that treats all questions alike: the bar that a policy has to beat.

    It mixes the two neighbouring corners of the upper concave hull of the uniform budgets. It
    spends less than the budget if no larger budget helps. Explained in the chapter "Four kinds of
    question".

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
    best = frontier(acc.mean(axis=0, keepdims=True), _average_costs(cost)).at(budget)
    shares = np.eye(acc.shape[1])[best.labels]
    if best.split is not None:
        shares[0, best.split.low] = 1 - best.split.share
        shares[0, best.split.high] = best.split.share
    return Plan(np.repeat(shares, len(acc) if n is None else n, axis=0))


def length(questions: Iterable[str | float], cost: ArrayLike, budget: float) -> Plan:
    """Give the longest questions the most expensive column and all others the cheapest.

    This is how we read the paper's Heuristic. We infer it from the printed costs: if the longest of
    200 questions get 16 answers, as few of them as reach the budgets 1.5, 2 and 3, the costs are
    1.525, 2.05 and 3.025. Questions are texts, or their lengths; of two equally long ones the
    earlier goes first.
    """
    lengths = np.array([_length(question) for question in questions])
    n = lengths.size
    k = np.shape(cost)[-1]
    _, cost = check_table(np.zeros((n, k)), cost)
    _largest_within(cost, budget)  # raises if the budget cannot be met
    longest_first = np.argsort(-lengths, kind="stable")
    extra = np.broadcast_to(cost[..., -1] - cost[..., 0], n)[longest_first]
    unspent = n * budget - np.broadcast_to(cost[..., 0], n).sum()
    upgraded = 0
    if unspent > 0:
        # The fewest that spend all of it; a hair less is rounding.
        upgraded = int(np.searchsorted(extra.cumsum(), unspent * (1 - TIE))) + 1
    labels = np.zeros(n, dtype=int)
    labels[longest_first[:upgraded]] = k - 1
    return from_labels(labels, k)


def _length(question: str | float) -> float:
    """Return the characters of a question, whose number may be known without its text."""
    if isinstance(question, QuestionWithFeatures):
        return float(question.features[0])
    return float(len(question) if isinstance(question, str) else question)


#: The plans that learn nothing, by the names of their rows in `held_out`, as functions of the
#: questions, the costs and the budget. A new baseline is a function in this module and a line here.
PLANS: Mapping[str, Callable[[Sequence[str], ArrayLike, float], Plan]] = {
    "fixed": lambda questions, cost, budget: fixed(cost, budget, len(questions)),
    "random": lambda questions, cost, budget: random(cost, budget, len(questions)),
    "length": length,
}


def noise_features(n: int, columns: int = 16, seed: int = 0) -> pd.DataFrame:
    """Draw features that carry no information, as the control next to every learned result.

    The columns are independent and Gaussian, rounded to a tenth, because counts made from a text
    repeat their values too, and because trees then grow faster. Explained in the chapter "The
    test".

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
    import pandas as pd  # here, because a mix needs no pandas, nor does a game in the page

    values = np.random.default_rng(seed).standard_normal((n, columns)).round(1)
    return pd.DataFrame(values, columns=[f"noise_{j}" for j in range(columns)])


def _average_costs(cost: ArrayLike) -> np.ndarray:
    """Return one cost per column: the mean over questions where they pay differently."""
    cost = np.asarray(cost, dtype=float)
    costs = cost.mean(axis=0) if cost.ndim == 2 else cost
    return check_table(np.zeros((1, costs.size)), costs)[1]


def _largest_within(cost: ArrayLike, budget: float) -> tuple[np.ndarray, int]:
    """Return the columns' costs and the most expensive column within the budget, to rounding."""
    costs = _average_costs(cost)
    if not np.isfinite(budget) or not meets(budget, costs[0]):
        raise ValueError(
            f"the budget is {budget}; give a finite number, at least the cheapest column's "
            f"{costs[0]:g}"
        )
    return costs, int(costs.searchsorted(within(budget), side="right")) - 1
