"""The paper's main results beside ours, by its protocol and held out.

Nobody outside has the paper's answers or its code. What can be done without them is done here: run its protocol on
simulated answers that were calibrated to its tables, with features that know nothing about the questions, and see which
of the printed numbers come out all the same (`table`); ask the printed numbers themselves what they imply (`inferred`);
and follow accuracy along the average budget, on simulated settings and on real answers (`frontiers`).
"""

from adalib.paper.results.frontiers import GRID, held_out_along, in_sample_gains, mix_cost, pareto
from adalib.paper.results.inferred import claimed_gains, implied_held_out
from adalib.paper.results.replica import TARGETS, TOLERANCE, beside, main_table, oracle_gap

__all__ = [
    "GRID",
    "TARGETS",
    "TOLERANCE",
    "beside",
    "claimed_gains",
    "held_out_along",
    "implied_held_out",
    "in_sample_gains",
    "main_table",
    "mix_cost",
    "oracle_gap",
    "pareto",
]
