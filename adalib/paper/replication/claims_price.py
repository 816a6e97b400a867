"""Claims about the problem and the price of compute."""

from __future__ import annotations

import numpy as np

from adalib.evaluate.intervals import in_points
from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.replication.measures import cross_fitted, cross_fitted_gain, mixed_misses, printed_misses
from adalib.paper.replication.register import claims_about, row_of
from adalib.paper.settings import PAPER_WAY, answers, path, utility
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import archetypes

claim = claims_about("problem and price")


@claim("formulation", "stands", "abstract, §1, §2 (Eq. 1–3)", "ch01-program")
def _worth(setting="word-fewshot"):
    """maximize expected accuracy subject to an average compute budget

    The program is the right one, and on a real model an oracle gains from it on answers it has not seen.
    """
    gain, cost = cross_fitted_gain(setting, 1), float(cross_fitted(setting).cost[:, 1].mean())
    says = f"{in_points(gain)} points over the best random mix at cost {cost:.2f} (real, cross-fitted)"
    return gain, says, gain > 0.02


@claim("kinds", "stands", "Fig. 1", "ch01-kinds")
def _kinds(setting="word-fewshot"):
    """Different questions exhibit dramatically different scaling behaviour

    All four kinds that the figure shows occur in numbers on a real model too.
    """
    found = archetypes(utility(setting))
    least = min(float(np.mean(found == kind)) for kind in ("easy", "responsive", "diminishing", "hard"))
    return least, f"the rarest of the four kinds has {least:.0%} of the questions (real)", least > 0.05


@claim("decoupling", "stands", "§3.1 (Eq. 4, 5, Def. 1), App. C.2", "ch02-symbols")
def _decoupled(row=row_of):
    """the additive structure … decouples across inputs

    The Lagrangian is a sum of terms that hold one question each.
    """
    worst = max(cell.ours for cell in row("Eq4, Def1, Eq5").found.cells)
    return worst, f"largest difference from trying all plans: {worst:g}", worst < 1e-9


@claim("one price", "stands", "§6", "ch02-one-price")
def _single_knob(row=row_of):
    """the dual variable λ is the single knob that controls the accuracy–cost tradeoff

    Every price gives a plan that no plan of the same cost beats (Everett, 1963).
    """
    prices = sum(len(path(name).lam) for name in PAPER_SETTINGS)
    lost = int(row("Related-work claims").found.cells[0].ours)
    return lost, f"{lost} of {prices} prices give a plan that another of equal cost beats", lost == 0


@claim("free compute", "falls", "§3.1; App. G.1 (“every question receives b = 16”)", "ch02-free-compute")
def _free(printed=PAPER):
    """When λ = 0, compute is free and the oracle assigns the maximum budget to every input.

    It gets the cheapest budget that is best for it; App. G.1 says so itself of GSM8K. More votes do not always help.
    """
    cost = printed["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return cost, f"the paper's own table prints a cost of {cost:.3f} at the price 0, not 16", cost < 15.9


@claim("who leaves first", "stands corrected", "§3.1", "ch02-one-price")
def _leaving(setting="word-fewshot"):
    """starting with the easiest inputs where additional compute yields the smallest accuracy gain

    Those with the least to gain per answer leave first; hopeless questions are among them, as App. G.3 says.
    """
    table = utility(setting)
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return hard, f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)", hard > 0.3


@claim("budget targeting", "stands corrected", "abstract, §3.2", "ch03-no-price")
def _targeting(misses=printed_misses):
    """enabling exact budget targeting via binary search

    It finds the right step of a staircase; the budget may lie in the jump, as §3.2's “≈ B” allows, or beyond the end.
    """
    found = misses()
    over, most = sum(miss > 0 for miss in found), max(abs(miss) for miss in found[:9])
    return over, f"{over} of 12 printed plans overspend; the largest miss on MATH is {most:.3f}", over > 0


@claim("nine of nine", "falls", "App. G.2", "ch03-sweep")
def _nine(misses=printed_misses):
    """|C̄ − B| < 0.05 for all nine MATH settings

    The table beside the sentence says otherwise, and so does the paragraph's own third point.
    """
    math = [abs(miss) for miss in misses()[:9]]
    within = sum(miss < 0.05 - 1e-9 for miss in math)
    return within, f"{within} of 9 printed misses are below 0.05; the largest is {max(math):.3f}", within < 9


@claim("mixing", "stands", "App. E.3, G.2", "ch03-mixing")
def _mixing(misses=mixed_misses):
    """randomly mix the corresponding label sets so that the expected cost equals B

    It does, with the best expected accuracy; tossing a coin for one question is enough. The tables do not use it.
    """
    off = misses()
    return max(off), f"largest miss in {len(off)} cases: {max(off):g} (expected cost)", max(off) < 1e-9


@claim("logarithmic search", "stands corrected", "§3.2, §4.3", "ch03-complexity")
def _logarithm(budget=8.5):
    """each iteration costs O(NK) and the search converges in O(log(1/ε)) iterations

    True of the price, not of the cost; sorting slopes once gives every budget.
    """
    jump, cost = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2), np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, budget).error
    says = f"two equal questions, B = {budget:g}: off by {error:g} after 50 steps, as after any number"
    return error, says, error > 1


@claim("plateaus", "stands corrected", "App. G.1, G.2", "ch03-ties")
def _lattice(finer=None):
    """this model's accuracy function has wider plateaus in the marginal gain landscape

    Wide steps can come with the estimator: windows of 48 answers allow few values, so many questions tie.
    """
    widest = []
    for way in (PAPER_WAY, finer or {}):
        table = answers("qwen2.5-7b-math").table(**way)
        widest.append(float(np.diff(frontier(table.acc, table.cost).cost).max()))
    says = f"widest step {widest[0]:.2f} with windows, {widest[1]:.2f} with all subsets of the same answers (simulated)"
    return widest[1] / widest[0], says, widest[1] < 0.7 * widest[0]
