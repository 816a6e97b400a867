"""Claims about the problem and the price of compute."""

from __future__ import annotations

import numpy as np

from adalib.evaluate.baselines import best_mix
from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.replication.cells import Link
from adalib.paper.replication.measures import (
    TARGETS,
    answers,
    cross_fitted,
    path,
    utility,
)
from adalib.paper.replication.rows import row
from adalib.paper.replication.verdict import Claim, Evidence
from adalib.solve.frontier import frontier
from adalib.solve.oracle import bisect, mix, oracle_labels
from adalib.table import archetypes

__all__ = ["CLAIMS"]

_PRICE = "problem and price"
_BUDGETS = "03_budgets"


def _worth() -> Evidence:
    score, table = cross_fitted("word-fewshot"), utility("word-fewshot")
    cost = float(score.cost[:, 1].mean())
    gain = float(score.accuracy[:, 1].mean() - best_mix(table.acc, table.cost, cost).expected(table.acc).mean())
    return Evidence(gain, f"{gain:+.3f} over the best random mix at cost {cost:.2f} (real, cross-fitted)", gain > 0.01)


def _kinds() -> Evidence:
    found = archetypes(utility("word-fewshot"))
    least = min(float(np.mean(found == kind)) for kind in ("easy", "responsive", "diminishing", "hard"))
    return Evidence(least, f"the rarest of the four kinds has {least:.0%} of the questions (real)", least > 0.05)


def _decoupled() -> Evidence:
    worst = max(cell.ours for cell in row("Eq4, Def1, Eq5").found.cells)
    return Evidence(worst, f"largest difference from trying all plans: {worst:g}", worst < 1e-9)


def _single_knob() -> Evidence:
    prices = sum(len(path(name).lam) for name in PAPER_SETTINGS)
    lost = int(row("Related-work claims").found.cells[0].ours)
    return Evidence(lost, f"{lost} of {prices} prices give a plan that another of equal cost beats", lost == 0)


def _free() -> Evidence:
    printed = PAPER["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return Evidence(
        printed, f"the paper's own table prints a cost of {printed:.3f} at the price 0, not 16", printed < 2
    )


def _leaving() -> Evidence:
    table = utility("word-fewshot")
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return Evidence(
        hard, f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)", hard > 0.3
    )


def _targeting() -> Evidence:
    printed = [c - B for n in PAPER_SETTINGS for c, B in zip(PAPER[n]["lambda_sweep"]["cost"], TARGETS, strict=True)]
    over = sum(miss > 0 for miss in printed)
    return Evidence(
        over,
        f"{over} of 12 printed plans overspend; the largest miss on MATH is {max(map(abs, printed[:9])):.3f}",
        over > 0,
    )


def _nine() -> Evidence:
    misses = [
        abs(c - B) for n in PAPER_SETTINGS[:3] for c, B in zip(PAPER[n]["lambda_sweep"]["cost"], TARGETS, strict=True)
    ]
    within = sum(miss < 0.05 - 1e-9 for miss in misses)
    return Evidence(
        within, f"{within} of 9 printed misses are below 0.05; the largest is {max(misses):.3f}", within < 9
    )


def _mixing() -> Evidence:
    off = []
    for name in PAPER_SETTINGS:
        table = utility(name)
        found = [(B, mix(table.acc, table.cost, B)) for B in TARGETS]
        off += [abs(plan.cost - B) for B, plan in found if plan.share > 0]
    return Evidence(max(off), f"largest miss in {len(off)} cases: {max(off):g} (expected cost)", max(off) < 1e-9)


def _logarithm() -> Evidence:
    jump, cost = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2), np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, 8.5).error
    return Evidence(
        error, f"two equal questions, B = 8.5: off by {error:g} after 50 steps, as after any number", error > 1
    )


def _lattice() -> Evidence:
    widest = []
    for way in ({"estimator": "windows", "ties": "first"}, {}):
        table = answers("qwen2.5-7b-math").table(**way)
        widest.append(float(np.diff(frontier(table.acc, table.cost).cost).max()))
    says = f"widest step {widest[0]:.2f} with windows, {widest[1]:.2f} with all subsets of the same answers (simulated)"
    return Evidence(widest[1] / widest[0], says, widest[1] < 0.7 * widest[0])


CLAIMS = (
    Claim(
        "formulation",
        _PRICE,
        "Choosing how much to compute for each question is a constrained program, and solving it is worth something.",
        "abstract, §1, §2 (Eq. 1–3)",
        "stands",
        "The program is the right one, and on a real model an oracle gains from it on answers it has not seen.",
        Link("01_motivation", "The program"),
        _worth,
    ),
    Claim(
        "kinds",
        _PRICE,
        "Questions differ: easy, responsive, diminishing, hard.",
        "§1, Fig. 1",
        "stands",
        "All four kinds occur in numbers on a real model too.",
        Link("01_motivation", "How many of each?"),
        _kinds,
    ),
    Claim(
        "decoupling",
        _PRICE,
        "At a fixed price every question decides alone.",
        "§3.1 (Eq. 4, 5, Def. 1), App. C.2",
        "stands",
        "The Lagrangian is a sum of terms that hold one question each.",
        Link("02_oracle", "The price, in symbols"),
        _decoupled,
    ),
    Claim(
        "one price",
        _PRICE,
        "One price trades accuracy against cost: a single knob.",
        "§3.1, §6",
        "stands",
        "Every price gives a plan that no plan of the same cost beats (Everett, 1963).",
        Link("02_oracle", "One price for everybody"),
        _single_knob,
    ),
    Claim(
        "free compute",
        _PRICE,
        "At the price 0 every question gets the largest budget.",
        "§3.1, App. G.1",
        "falls",
        "It gets the cheapest budget that is best for it, and more votes do not always help.",
        Link("02_oracle", "What free compute really buys"),
        _free,
    ),
    Claim(
        "who leaves first",
        _PRICE,
        "As the price rises the easiest questions are the first to take less.",
        "§3.1",
        "stands corrected",
        "Those with the least to gain per answer leave first, and hopeless questions are among them.",
        Link("02_oracle", "One price for everybody"),
        _leaving,
    ),
    Claim(
        "budget targeting",
        _PRICE,
        "Binary search over the price meets any budget exactly.",
        "abstract, §1, §3.2",
        "stands corrected",
        "It finds the right step of a staircase; the budget may lie in the jump or beyond the end.",
        Link(_BUDGETS, "When no price meets a budget"),
        _targeting,
    ),
    Claim(
        "nine of nine",
        _PRICE,
        "On MATH all nine searches end within 0.05 of the budget.",
        "App. G.2",
        "falls",
        "The table beside the sentence says otherwise.",
        Link(_BUDGETS, "The table, and ours beside it"),
        _nine,
    ),
    Claim(
        "mixing",
        _PRICE,
        "Mixing two plans at random meets the budget in expectation.",
        "App. E.3, G.2",
        "stands",
        "It does, with the best expected accuracy; tossing a coin for one question is enough.",
        Link(_BUDGETS, "One budget, four numbers"),
        _mixing,
    ),
    Claim(
        "logarithmic search",
        _PRICE,
        "The search converges in O(log 1/ε) steps of cost O(NK).",
        "§3.2, §4.3",
        "stands corrected",
        "True of the price, not of the cost; sorting slopes once gives every budget.",
        Link(_BUDGETS, "What it costs to compute"),
        _logarithm,
    ),
    Claim(
        "plateaus",
        _PRICE,
        "Wide steps, and the missed budget for Qwen2.5-7B, come from the model.",
        "App. G.1, G.2",
        "stands corrected",
        "They come with the estimator: windows of 48 answers allow few values, so many questions tie.",
        Link(_BUDGETS, "Why so many ties?"),
        _lattice,
    ),
)
