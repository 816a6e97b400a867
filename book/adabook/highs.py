"""A reference solver: the same allocation problem given to HiGHS, a linear solver.

It uses neither prices nor envelopes, so the tests and the replication table compare our own
solvers with it. It is orders of magnitude slower than `adalib.frontier`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron

from adalib.table import takes_table

# HiGHS accepts violations of 1e-7 by default; we compare to 1e-9.
_TOLERANCE = 1e-10


class LPSolution(NamedTuple):
    """A vertex of the relaxed problem, in which a question may be split over budgets."""

    value: float  # average accuracy
    shares: np.ndarray  # share of question i that gets budget j; every row sums to 1
    lam: float  # price of compute: what one more unit of average budget would be worth


@takes_table
def lp_solution(acc: np.ndarray, cost: np.ndarray, budget: float) -> LPSolution:
    """Solve the relaxed allocation problem; ValueError if no allocation is within ``budget``."""
    n, k = acc.shape
    cost_of_each = np.broadcast_to(cost, acc.shape)
    result = linprog(
        -acc.ravel(),
        A_ub=csr_array(cost_of_each.reshape(1, -1)),
        b_ub=[n * budget],
        A_eq=kron(eye_array(n), np.ones((1, k)), format="csr"),  # sums the shares of each question
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
