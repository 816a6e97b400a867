"""Rows of the paper's main results, and of what its text says about them."""

from __future__ import annotations

import pandas as pd

from adalib.evaluate.intervals import in_points
from adalib.paper import results
from adalib.paper.patterns import label_shares, level_shares
from adalib.paper.printed import PAPER, PAPER_ABLATIONS, PAPER_CLAIMS, PAPER_SETTINGS
from adalib.paper.replication.cells import Cell, Found, beside_print, between, found
from adalib.paper.replication.measures import SHOWN, printed_gains, searched, trials
from adalib.paper.replication.measures_learned import (
    classifier_table,
    copied,
    frontier_of_shown,
    trees_over_linear,
)
from adalib.paper.replication.register import row
from adalib.paper.settings import TARGETS, answers, utility


@row("Table1 main", "reproduced", "ch07-main-table")
def _main() -> Found:
    """Accuracy and cost of five methods, four settings, three budgets, and the spread of Ours over the splits.

    132 cells, simulated settings, noise features (tolerances 0.02, 0.3, and 0.003 for the spread).
    """
    table = results.main_table()
    cells = list(beside_print(table, "{setting}, {method}, B = {target:g}", results.TOLERANCE))
    spread = table[table.method == "Ours"].set_index(["setting", "target"]).accuracy_std
    cells += [
        Cell(f"{name}, B = {B:g}: spread of Ours", std, float(spread[name, B]), 0.003, unit="spread")
        for name in PAPER_SETTINGS
        for B, std in zip(TARGETS, PAPER[name]["main"]["Ours"]["std"], strict=True)
    ]
    ours = [cell.agrees for cell in cells if ", Ours," in cell.name]
    note = f"Simulated, our reconstruction, noise features; of the {len(ours)} cells of Ours {sum(ours)} agree."
    return found(*cells, note=note)


@row("Claims 5.2", "corrected", "ch07-gains")
def _text() -> Found:
    """What the text says of the gains.

    The text's numbers against the paper's own table.
    """
    gains, heuristic = results.claimed_gains().set_index("setting"), printed_gains("Heuristic")
    low, high = PAPER_CLAIMS["heuristic_range"]
    qwen = gains.loc["qwen2.5-7b-math"]
    relative = qwen.difference / (qwen.over_mix + qwen["mix"] - qwen.difference)
    return found(
        *(
            Cell(f"{name}: gain over Fixed at B = 3, in its own table", gain.claimed, gain.difference, 0.0005)
            for name, gain in gains.iterrows()
        ),
        Cell("smallest gain of Heuristic over Fixed, in its own table", low, float(heuristic.min()), 0.0005),
        Cell("largest gain of Heuristic over Fixed, in its own table", high, float(heuristic.max()), 0.0005),
        Cell("best relative gain", PAPER_CLAIMS["relative_gain"], relative, 0.0005),
        note=f"Matched? Qwen2.5-7B: Fixed spends {qwen.fixed_cost:.2f}, Ours {qwen.cost:.2f}. Against a random mix of "
        f"b = 1 and 4 at that cost the gain is {qwen.over_mix:.3f} (inferred), of which training questions are four "
        "fifths.",
    )


@row("Fig4 pareto", "corrected", "ch07-frontiers")
def _pareto() -> Found:
    """Frontiers for B from 1 to 16.

    No number printed: where the gain is largest, and whether all methods level off at 3.
    """
    front, plateau = frontier_of_shown().set_index("budget"), PAPER_CLAIMS["plateau"]
    (low, high), best = PAPER_CLAIMS["largest_gains"], float((front.learned - front.fixed).idxmax())
    return found(
        Cell("budget with the largest gain over Fixed, from below", low, best, 0.0, ">="),
        Cell("the same, from above", high, best, 0.0, "<="),
        Cell(f"rise of Fixed from B = {plateau} to 16", 0.0, front.fixed[16] - front.fixed[plateau], 0.005),
        note=f"Simulated. Fixed at 16 reaches {front.fixed[16]:.3f}; the learned policy is scored in-sample "
        f"({front.learned[plateau]:.3f} at B = {plateau}).",
    )


@row("Table ablation_main = Table ablation", "reproduced", "ch09-copies")
def _classifiers() -> Found:
    """Five classifiers on pooled rows.

    40 cells, simulated, noise features, split by rows: accuracy, gap, imitation (0.03) and cost (0.3) of each, and
    their standard deviations over the splits (0.02 and 0.1).
    """
    printed = pd.DataFrame(PAPER_ABLATIONS["classifiers"]).T
    ours = classifier_table("row").loc[printed.index].join(printed.add_prefix("printed_")).reset_index(names="name")
    rooms = dict.fromkeys(("accuracy", "gap", "imitation"), 0.03) | {"cost": 0.3, "cost_std": 0.1}
    rooms |= dict.fromkeys(("accuracy_std", "gap_std", "imitation_std"), 0.02)
    tables = classifier_table("row"), classifier_table("question"), printed
    rows, questions, told = (in_points(trees_over_linear(table)) for table in tables)
    return found(
        *beside_print(ours, "{name}", rooms),
        note=f"Simulated, noise features. Trees minus linear models: {rows} points split by rows, "
        f"{questions} split by questions; printed {told}.",
    )


@row("Fig heatmap", "reproduced", "ch08-copy")
def _heatmap() -> Found:
    """Budgets by level, oracle and learned.

    The shares that the text states, simulated DeepSeek-V3 on MATH.
    """
    claims, k = PAPER_CLAIMS, utility(SHOWN).k
    (low, high), cells = claims["heatmap_two"], []
    for B in (1.5, 3.0):
        two = float(label_shares(searched(SHOWN, B).labels, k)[1])
        cells += between(f"B = {B:g}: share of b = 2", low, two, high, 0.005)
    shares = level_shares(searched(SHOWN, 1.5).labels, answers(SHOWN).levels, k)
    low, high = claims["heatmap_middle"]
    for level in shares.index[1:]:
        ours = float(shares.loc[level, [2, 3]].sum())
        cells += between(f"B = 1.5, level {level}: share of b = 4 and 8", low, ours, high, 0.02)
    note = f"A policy that learned from noise repeats the oracle's map at B = 3 within {copied():.2f} a cell"
    return found(*cells, note=f"Simulated. {note}, by our reconstruction.")


@row("App D", "refuted", "ch05-one-trial")
def _advice() -> Found:
    """8 to 16 trials are enough, one will do.

    What labels from so few trials claim beyond their worth; the advice amounts to 0.
    """
    tried = trials()
    names = {1: "one trial"} | {number: f"{number} trials" for number in PAPER_CLAIMS["trials"]}
    return found(
        *(
            Cell(f"{name}: what the labels claim, minus their worth", 0.0, tried.claimed[n] - tried.worth[n], 0.01)
            for n, name in names.items()
        ),
        note=f"Simulated, B = 3. One trial claims {tried.claimed[1]:.3f} and is worth {tried.worth[1]:.3f}.",
    )


@row("App E.4", "by definition", "ch00-your-own")
def _calls() -> Found:
    """Calls made.

    Answers in the simulated settings, counted.
    """
    one, four = PAPER_CLAIMS["calls"]
    counts = [sum(map(len, answers(name).answers)) for name in PAPER_SETTINGS]
    return found(Cell("answers in a setting", one, counts[0]), Cell("answers in all four", four, sum(counts)))
