"""Claims about the problem and the price of compute."""

from __future__ import annotations

import numpy as np

from adalib.evaluate.baselines import best_mix
from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.replication.measures import cross_fitted, mixed_misses, printed_misses
from adalib.paper.replication.register import claims_about, row_of
from adalib.paper.settings import answers, path, utility
from adalib.solve.frontier import frontier
from adalib.solve.oracle import bisect, oracle_labels
from adalib.table import archetypes

claim = claims_about("problem and price")


@claim("formulation", "stands", "abstract, §1, §2 (Eq. 1–3)", "ch01-program")
def _worth():
    """Choosing how much to compute for each question is a constrained program, and solving it is worth something.

    The program is the right one, and on a real model an oracle gains from it on answers it has not seen.
    """
    score, table = cross_fitted("word-fewshot"), utility("word-fewshot")
    cost = float(score.cost[:, 1].mean())
    gain = float(score.accuracy[:, 1].mean() - best_mix(table.acc, table.cost, cost).expected(table.acc).mean())
    return gain, f"{gain:+.3f} over the best random mix at cost {cost:.2f} (real, cross-fitted)", gain > 0.01


@claim("kinds", "stands", "§1, Fig. 1", "ch01-kinds")
def _kinds():
    """Questions differ: easy, responsive, diminishing, hard.

    All four kinds occur in numbers on a real model too.
    """
    found = archetypes(utility("word-fewshot"))
    least = min(float(np.mean(found == kind)) for kind in ("easy", "responsive", "diminishing", "hard"))
    return least, f"the rarest of the four kinds has {least:.0%} of the questions (real)", least > 0.05


@claim("decoupling", "stands", "§3.1 (Eq. 4, 5, Def. 1), App. C.2", "ch02-symbols")
def _decoupled():
    """At a fixed price every question decides alone.

    The Lagrangian is a sum of terms that hold one question each.
    """
    worst = max(cell.ours for cell in row_of("Eq4, Def1, Eq5").found.cells)
    return worst, f"largest difference from trying all plans: {worst:g}", worst < 1e-9


@claim("one price", "stands", "§3.1, §6", "ch02-one-price")
def _single_knob():
    """One price trades accuracy against cost: a single knob.

    Every price gives a plan that no plan of the same cost beats (Everett, 1963).
    """
    prices = sum(len(path(name).lam) for name in PAPER_SETTINGS)
    lost = int(row_of("Related-work claims").found.cells[0].ours)
    return lost, f"{lost} of {prices} prices give a plan that another of equal cost beats", lost == 0


@claim("free compute", "falls", "§3.1, App. G.1", "ch02-free-compute")
def _free():
    """At the price 0 every question gets the largest budget.

    It gets the cheapest budget that is best for it, and more votes do not always help.
    """
    printed = PAPER["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return printed, f"the paper's own table prints a cost of {printed:.3f} at the price 0, not 16", printed < 2


@claim("who leaves first", "stands corrected", "§3.1", "ch02-one-price")
def _leaving():
    """As the price rises the easiest questions are the first to take less.

    Those with the least to gain per answer leave first, and hopeless questions are among them.
    """
    table = utility("word-fewshot")
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return hard, f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)", hard > 0.3


@claim("budget targeting", "stands corrected", "abstract, §1, §3.2", "ch03-no-price")
def _targeting():
    """Binary search over the price meets any budget exactly.

    It finds the right step of a staircase; the budget may lie in the jump or beyond the end.
    """
    printed = printed_misses()
    over = sum(miss > 0 for miss in printed)
    return (
        over,
        f"{over} of 12 printed plans overspend; the largest miss on MATH is {max(map(abs, printed[:9])):.3f}",
        over > 0,
    )


@claim("nine of nine", "falls", "App. G.2", "ch03-sweep")
def _nine():
    """On MATH all nine searches end within 0.05 of the budget.

    The table beside the sentence says otherwise.
    """
    misses = [abs(miss) for miss in printed_misses()[:9]]
    within = sum(miss < 0.05 - 1e-9 for miss in misses)
    return within, f"{within} of 9 printed misses are below 0.05; the largest is {max(misses):.3f}", within < 9


@claim("mixing", "stands", "App. E.3, G.2", "ch03-mixing")
def _mixing():
    """Mixing two plans at random meets the budget in expectation.

    It does, with the best expected accuracy; tossing a coin for one question is enough.
    """
    off = mixed_misses()
    return max(off), f"largest miss in {len(off)} cases: {max(off):g} (expected cost)", max(off) < 1e-9


@claim("logarithmic search", "stands corrected", "§3.2, §4.3", "ch03-complexity")
def _logarithm():
    """The search converges in O(log 1/ε) steps of cost O(NK).

    True of the price, not of the cost; sorting slopes once gives every budget.
    """
    jump, cost = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2), np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, 8.5).error
    return error, f"two equal questions, B = 8.5: off by {error:g} after 50 steps, as after any number", error > 1


@claim("plateaus", "stands corrected", "App. G.1, G.2", "ch03-ties")
def _lattice():
    """Wide steps, and the missed budget for Qwen2.5-7B, come from the model.

    They come with the estimator: windows of 48 answers allow few values, so many questions tie.
    """
    widest = []
    for way in ({"estimator": "windows", "ties": "first"}, {}):
        table = answers("qwen2.5-7b-math").table(**way)
        widest.append(float(np.diff(frontier(table.acc, table.cost).cost).max()))
    says = f"widest step {widest[0]:.2f} with windows, {widest[1]:.2f} with all subsets of the same answers (simulated)"
    return widest[1] / widest[0], says, widest[1] < 0.7 * widest[0]
