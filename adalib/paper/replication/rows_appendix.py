"""Rows of the tables and figures of the paper's appendices F and G; most figures print no number of their own."""

from __future__ import annotations

import numpy as np

from adalib.paper import results
from adalib.paper.patterns import by_level, label_shares
from adalib.paper.printed import PAPER, PAPER_CLAIMS, PAPER_SETTINGS
from adalib.paper.replication.cells import Cell, Found, beside_print, found
from adalib.paper.replication.measures import SHOWN, clusters, hump, null_hump, printed_misses, searched
from adalib.paper.replication.register import row
from adalib.paper.settings import TARGETS, answers, path, utility
from adalib.solve.oracle import average_cost, oracle_labels

# Tolerances of shares, prices and levels: what a draw of 200 questions moves them by (chapter 0 shows the spread).
_SHARE, _PRICE, _LEVEL, _GAP, _IMITATION = 0.05, 0.02, 0.03, 0.01, 0.03
_FITTED = "Simulated settings, which were fitted to this table among others."


@row("Table per_level", "reproduced", "ch08-levels")
def _levels() -> Found:
    """Accuracy at b = 1 and 16 by level, and the gain.

    30 cells, simulated (tolerance 0.03).
    """
    cells = []
    for name in PAPER_SETTINGS:
        printed = PAPER[name]
        ours = by_level(utility(name), [str(level) for level in answers(name).levels]).set_index("level")
        for (level, at), gain in zip(printed["per_level"].items(), printed["level_gain"], strict=True):
            columns = {"accuracy at b = 1": "first", "accuracy at b = 16": "last", "gain": "gain"}
            for (part, column), paper in zip(columns.items(), (at["acc1"], at["acc16"], gain), strict=True):
                cells.append(Cell(f"{name}, level {level}: {part}", paper, float(ours.loc[level, column]), _LEVEL))
    return found(*cells, note=_FITTED)


@row("Table oracle_dist", "reproduced", "ch08-shares")
def _shares() -> Found:
    """Share of the questions at each budget.

    60 cells, simulated (tolerance 0.05).
    """
    cells = []
    for name in PAPER_SETTINGS:
        table = utility(name)
        for B, printed in zip(TARGETS, PAPER[name]["label_shares"], strict=True):
            ours = label_shares(searched(name, B).labels, table.k)
            for b, paper, share in zip(table.budgets, printed, ours, strict=True):
                cells.append(Cell(f"{name}, B = {B:g}: share of b = {b}", paper, float(share), _SHARE))
    return found(*cells, note=_FITTED)


@row("Table oracle_gap", "reproduced", "ch07-printed")
def _gap() -> Found:
    """Learned policy beside the oracle.

    48 cells, simulated, noise features (0.02, 0.03, 0.01, 0.3).
    """
    accuracy, cost = (results.TOLERANCE[part] for part in ("accuracy", "cost"))
    rooms = {"accuracy": accuracy, "imitation": _IMITATION, "gap": _GAP, "cost": cost}
    return found(
        *beside_print(results.oracle_gap(), "{setting}, B = {target:g}", rooms),
        note="Simulated settings, our reconstruction of the protocol, noise features: no signal is needed.",
    )


@row("Fig oracle_scatter", "corrected", "ch08-hump")
def _scatter() -> Found:
    """Inverted U: the middle gets the budget.

    No number printed: mean budget of the middle fifth against the outer ones, and on a null.
    """
    ours = hump(utility(SHOWN).acc[:, 0], searched(SHOWN, 3.0).labels, utility(SHOWN).budgets)
    return found(
        Cell("answers more for the middle fifth than for the outer ones", 0.0, ours, 0.0, ">="),
        Cell("the same where nobody benefits (if the U shows benefit: 0)", 0.0, null_hump(), 0.1),
        note="Simulated, B = 3. The picture comes out, and it comes out of noise too.",
        digits=2,
    )


@row("Fig archetypes", "reproduced", "ch08-archetypes")
def _archetypes() -> Found:
    """K-means on the curves finds four kinds.

    The numbers stated of the clusters, simulated.
    """
    said, ours = PAPER_CLAIMS, clusters()
    (first, last), one = said["archetype_responsive"], said["routed_to_one"]
    return found(
        Cell("easy: accuracy at b = 1", said["archetype_easy_from"], ours["easy_first"], 0.0, ">="),
        Cell("responsive: accuracy at b = 1", first, ours["responsive_first"], 0.15),
        Cell("responsive: accuracy at b = 16", last, ours["responsive_last"], 0.15),
        Cell("hard: highest accuracy", said["archetype_hard_below"], ours["hard_highest"], 0.0, "<="),
        Cell("GSM8K: share of easy", said["archetype_easy_gsm8k"], ours["gsm8k_easy"], 0.0, ">="),
        Cell("easy: share that gets b = 1 at B = 2", one, ours["easy_one"], 0.02, ">="),
        Cell("hard: share that gets b = 1 at B = 2", one, ours["hard_one"], 0.02, ">="),
        note=f"Simulated. Of the answers in budgets of 4 and more at B = 2, {ours['responsive_share']:.0%} go to the "
        "responsive cluster; both come from the same curves.",
        digits=2,
    )


@row("Table lambda_sweep", "reproduced", "ch03-sweep")
def _sweep() -> Found:
    """Price and cost that the search finds.

    24 cells, simulated (tolerances 0.02 and 0.3).
    """
    cells, misses = [], printed_misses()
    for name in PAPER_SETTINGS:
        printed = PAPER[name]["lambda_sweep"]
        for B, lam, cost in zip(TARGETS, printed["lam"], printed["cost"], strict=True):
            cells.append(Cell(f"{name}, B = {B:g}: price", lam, searched(name, B).lam, _PRICE, unit="price"))
            cells.append(Cell(f"{name}, B = {B:g}: cost", cost, searched(name, B).cost, 0.3, unit="cost"))
    over, within = sum(miss > 0 for miss in misses), sum(abs(miss) < 0.05 - 1e-9 for miss in misses[:9])
    return found(*cells, note=f"{over} of the 12 printed costs exceed B; {within} of 9 on MATH are nearer than 0.05.")


def _settled(search) -> int:
    """After how many steps the cost at neither end of the bracket changes any more."""
    ends = search.path[["cost_lo", "cost_hi"]]
    moved = np.flatnonzero(ends != ends[-1])
    return 1 + int(moved[-1]) if moved.size else 0


@row("Fig bsearch (a–d)", "corrected", "ch03-search")
def _diagnostics() -> Found:
    """The search settles in ten steps, within 0.05.

    Steps and distances, simulated DeepSeek-V3 on MATH.
    """
    limit, room = (PAPER_CLAIMS[key] for key in ("search_settled", "search_tolerance"))
    made = {B: searched(SHOWN, B) for B in TARGETS}
    return found(
        *(Cell(f"B = {B:g}: steps until the cost settles", limit, _settled(s), 0.0, "<=") for B, s in made.items()),
        *(Cell(f"B = {B:g}: distance to the budget", room, search.error, 0.0, "<=") for B, search in made.items()),
        note=f"Simulated. At B = 2 the paper's own table prints {abs(printed_misses()[1]):.3f}, which is not below "
        f"{room}.",
    )


@row("Fig lagrangian (a–c)", "reproduced", "ch02-one-price")
def _waterfall() -> Found:
    """Budgets drain as the price rises.

    Share of the fall between the prices 0.01 and 0.10.
    """
    table, (low, high) = utility(SHOWN), PAPER_CLAIMS["transition"]
    at = average_cost(table.acc, table.cost, [0.0, low, high])
    share = float((at[1] - at[2]) / (at[0] - 1))
    labels = np.array([oracle_labels(table.acc, table.cost, lam) for lam in path(SHOWN).lam[::-1]])
    rises = int((np.diff(labels, axis=0) > 0).any(axis=0).sum())
    return found(
        Cell(f"share of the fall between the prices {low:g} and {high:g}", 0.5, share, 0.0, ">="),
        Cell("questions whose budget ever rises with the price", 0, rises),
        note='Simulated. "Concentrated" is taken as more than half.',
        digits=2,
    )
