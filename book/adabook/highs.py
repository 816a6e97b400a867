"""Reference solvers: the same allocation problem given to HiGHS, a linear and integer solver.

They use neither prices nor envelopes, so the tests and the replication table compare our own
solvers with them. They are orders of magnitude slower than `adalib.frontier`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from adalib.solve.oracle import average
from adalib.table import takes_table

# HiGHS accepts violations of 1e-7 by default; we compare to 1e-9.
_TOLERANCE = 1e-10


class LPSolution(NamedTuple):
    """A vertex of the relaxed problem, in which a question may be split over budgets."""

    value: float  # average accuracy
    shares: np.ndarray  # share of question i that gets budget j; every row sums to 1
    lam: float  # price of compute: what one more unit of average budget would be worth


class MILPSolution(NamedTuple):
    """The best allocation that splits no question."""

    value: float  # average accuracy, summed again from the labels
    labels: np.ndarray  # column given to each question
    cost: float


@takes_table
def lp_solution(acc: np.ndarray, cost: np.ndarray, budget: float) -> LPSolution:
    """Solve the relaxed allocation problem; ValueError if no allocation is within ``budget``."""
    n = len(acc)
    cost_of_each = np.broadcast_to(cost, acc.shape)
    result = linprog(
        -acc.ravel(),
        A_ub=csr_array(cost_of_each.reshape(1, -1)),
        b_ub=[n * budget],
        A_eq=_one_each(*acc.shape),
        b_eq=np.ones(n),
        bounds=(0, None),
        method="highs",
        options={
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if not result.success:
        raise ValueError(f"HiGHS found no allocation within budget {budget} ({result.message})")
    price = -float(result.ineqlin.marginals[0])
    return LPSolution(-result.fun / n, result.x.reshape(acc.shape), price)


@takes_table
def lp_value(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
    """Return the average accuracy of `lp_solution`."""
    return lp_solution(acc, cost, budget).value


@takes_table
def milp_solution(acc: np.ndarray, cost: np.ndarray, budget: float) -> MILPSolution:
    """Solve the allocation problem, one budget per question; ValueError as in `lp_solution`."""
    n, k = acc.shape
    cost_of_each = np.broadcast_to(cost, acc.shape)
    result = milp(
        -acc.ravel(),
        integrality=np.ones(acc.size),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(csr_array(cost_of_each.reshape(1, -1)), ub=n * budget),
            LinearConstraint(_one_each(n, k), 1, 1),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if result.x is None:
        raise ValueError(f"HiGHS found no allocation within budget {budget} ({result.message})")
    labels = result.x.reshape(n, k).argmax(axis=1)
    return MILPSolution(average(acc, labels), labels, average(cost, labels))


def _one_each(n: int, k: int) -> csr_array:
    """The N x NK matrix that sums the shares of each question."""
    columns = np.arange(n * k)
    row_starts = np.arange(0, n * k + 1, k)
    return csr_array((np.ones(n * k), columns, row_starts), shape=(n, n * k))
