"""The paper's main results beside ours, by our reconstruction of its protocol and held out.

The paper prints an address for its code; we have not been able to read it, and nothing here uses it. What can be done
without code and answers is done here: run our reconstruction on simulated answers that were calibrated to its tables,
with features that know nothing about the questions, and see which of the printed numbers come out all the same
(`replica`); ask the printed numbers themselves what they imply (`inferred`); and follow accuracy along the average
budget, on simulated settings and on real answers (`frontiers`).
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
