"""Rows of the paper's figures and of what its text reads off them; most print no number of their own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from adalib.datasets.populations import flat_null
from adalib.evaluate.baselines import noise_features
from adalib.paper import protocol, results
from adalib.paper.patterns import by_difficulty, curve_clusters, label_shares, level_shares
from adalib.paper.printed import PAPER, PAPER_CLAIMS, PAPER_SETTINGS
from adalib.paper.replication.cells import Cell, Found, Link, Row
from adalib.paper.replication.measures import (
    PAPER_WAY,
    SHOWN,
    TARGETS,
    answers,
    path,
    searched,
    trials,
    utility,
)
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, oracle_labels

__all__ = ["APPENDIX", "HEATMAP", "PARETO", "SEARCH", "SHAPES", "clusters", "copied", "frontier_of_shown", "null_hump"]


@cache
def frontier_of_shown() -> pd.DataFrame:
    """The paper's frontier figure on the simulated DeepSeek-V3 on MATH."""
    return results.pareto(SHOWN)


def _pareto() -> Found:
    found = frontier_of_shown().set_index("budget")
    lead = found["learned"] - found["fixed"]
    low, high = PAPER_CLAIMS["largest_gains"]
    plateau = PAPER_CLAIMS["plateau"]
    best = float(lead.idxmax())
    return Found(
        (
            Cell("budget with the largest gain over Fixed, from below", low, best, 0.0, ">="),
            Cell("the same, from above", high, best, 0.0, "<="),
            Cell(f"rise of Fixed from B = {plateau} to 16", 0.0, found["fixed"][16] - found["fixed"][plateau], 0.005),
        ),
        f"Simulated. Fixed at 16 reaches {found['fixed'][16]:.3f}; the learned policy is scored in-sample "
        f"({found['learned'][plateau]:.3f} at B = {plateau}).",
    )


@cache
def copied() -> float:
    """Largest difference between the oracle's map at B = 3 and that of a policy of noise, scored as in the paper."""
    levels, labels, k = answers(SHOWN).levels, searched(SHOWN, 3.0).labels, utility(SHOWN).k
    learned = protocol.mostly_seen(noise_features(labels.size), labels)
    return float((level_shares(learned, levels, k) - level_shares(labels, levels, k)).abs().to_numpy().max())


def _heatmap() -> Found:
    claims, table, levels = PAPER_CLAIMS, utility(SHOWN), answers(SHOWN).levels
    low, high = claims["heatmap_two"]
    cells = []
    for B in (1.5, 3.0):
        two = float(label_shares(searched(SHOWN, B).labels, table.k)[1])
        cells += [Cell(f"B = {B:g}: share of b = 2, from below", low, two, 0.005, ">=")]
        cells += [Cell(f"B = {B:g}: share of b = 2, from above", high, two, 0.005, "<=")]
    shares = level_shares(searched(SHOWN, 1.5).labels, levels, table.k)
    low, high = claims["heatmap_middle"]
    for level in shares.index[1:]:
        ours = float(shares.loc[level, [2, 3]].sum())
        cells += [Cell(f"B = 1.5, level {level}: share of b = 4 and 8, from below", low, ours, 0.02, ">=")]
        cells += [Cell(f"B = 1.5, level {level}: share of b = 4 and 8, from above", high, ours, 0.02, "<=")]
    return Found(
        tuple(cells),
        f"Simulated. A policy that learned from noise repeats the oracle's map at B = 3 within {copied():.2f} a cell, "
        "scored as in the paper.",
    )


def _advice() -> Found:
    found = trials()
    claims = PAPER_CLAIMS["trials"]
    cells = [Cell("one trial: what the labels claim, minus their worth", 0.0, found.claimed[1] - found.worth[1], 0.01)]
    cells += [
        Cell(f"{n} trials: what the labels claim, minus their worth", 0.0, found.claimed[n] - found.worth[n], 0.01)
        for n in claims
    ]
    return Found(
        tuple(cells), f"Simulated, B = 3. One trial claims {found.claimed[1]:.3f} and is worth {found.worth[1]:.3f}."
    )


def _calls() -> Found:
    one, four = PAPER_CLAIMS["calls"]
    counts = [sum(map(len, answers(name).answers)) for name in PAPER_SETTINGS]
    return Found((Cell("answers in a setting", one, counts[0]), Cell("answers in all four", four, sum(counts))))


def _hump(acc1: np.ndarray, labels: np.ndarray, budgets: tuple) -> float:
    """Mean budget of the middle fifth minus that of the two outer ones."""
    spent = by_difficulty(acc1, labels, budgets)["budget"].to_numpy()
    return float(spent[2] - (spent[0] + spent[4]) / 2)


@cache
def null_hump() -> float:
    """The same where no budget helps anyone: 1000 simulated questions, estimated as in the paper."""
    table = flat_null(1000).sample(48).table(**PAPER_WAY)
    return _hump(table.acc[:, 0], frontier(table.acc, table.cost).at(3).labels, table.budgets)


def _scatter() -> Found:
    table = utility(SHOWN)
    ours = _hump(table.acc[:, 0], searched(SHOWN, 3.0).labels, table.budgets)
    return Found(
        (
            Cell("answers more for the middle fifth than for the outer ones", 0.0, ours, 0.0, ">="),
            Cell("the same where nobody benefits (if the U shows benefit: 0)", 0.0, null_hump(), 0.1),
        ),
        "Simulated, B = 3. The picture comes out, and it comes out of noise too.",
        digits=2,
    )


@cache
def clusters() -> dict[str, float]:
    """The four clusters of the pooled simulated curves: the numbers that the paper states of them."""
    acc = np.concatenate([utility(name).acc for name in PAPER_SETTINGS])
    found = curve_clusters(acc)
    easy, responsive, _, hard = found.centres
    member = dict(zip(PAPER_SETTINGS, np.split(found.labels, len(PAPER_SETTINGS)), strict=True))
    labels, kind = searched(SHOWN, 2.0).labels, member[SHOWN]
    many = utility(SHOWN).cost[labels] * (labels >= 2)
    return {
        "easy_first": float(easy[0]),
        "responsive_first": float(responsive[0]),
        "responsive_last": float(responsive[-1]),
        "hard_highest": float(hard.max()),
        "gsm8k_easy": float(np.mean(member["deepseek-v3-gsm8k"] == 0)),
        "easy_one": float(np.mean(labels[kind == 0] == 0)),
        "hard_one": float(np.mean(labels[kind == 3] == 0)),
        "responsive_share": float(many[kind == 1].sum() / many.sum()),
    }


def _archetypes() -> Found:
    said, ours = PAPER_CLAIMS, clusters()
    (first, last), one = said["archetype_responsive"], said["routed_to_one"]
    return Found(
        (
            Cell("easy: accuracy at b = 1", said["archetype_easy_from"], ours["easy_first"], 0.0, ">="),
            Cell("responsive: accuracy at b = 1", first, ours["responsive_first"], 0.15),
            Cell("responsive: accuracy at b = 16", last, ours["responsive_last"], 0.15),
            Cell("hard: highest accuracy", said["archetype_hard_below"], ours["hard_highest"], 0.0, "<="),
            Cell("GSM8K: share of easy", said["archetype_easy_gsm8k"], ours["gsm8k_easy"], 0.0, ">="),
            Cell("easy: share that gets b = 1 at B = 2", one, ours["easy_one"], 0.02, ">="),
            Cell("hard: share that gets b = 1 at B = 2", one, ours["hard_one"], 0.02, ">="),
        ),
        f"Simulated. Of the answers in budgets of 4 and more at B = 2, {ours['responsive_share']:.0%} go to the "
        "responsive cluster; both come from the same curves.",
        digits=2,
    )


def _settled(found) -> int:
    ends = found.path[["cost_lo", "cost_hi"]]
    moved = np.flatnonzero(ends != ends[-1])
    return 1 + int(moved[-1]) if moved.size else 0


def _diagnostics() -> Found:
    limit, room = (PAPER_CLAIMS[key] for key in ("search_settled", "search_tolerance"))
    cells = [
        Cell(f"B = {B:g}: steps until the cost settles", limit, _settled(searched(SHOWN, B)), 0.0, "<=")
        for B in TARGETS
    ]
    cells += [Cell(f"B = {B:g}: distance to the budget", room, searched(SHOWN, B).error, 0.0, "<=") for B in TARGETS]
    own = abs(PAPER[SHOWN]["lambda_sweep"]["cost"][1] - 2.0)
    return Found(
        tuple(cells), f"Simulated. At B = 2 the paper's own table prints {own:.3f}, which is not below {room}."
    )


def _waterfall() -> Found:
    table, (low, high) = utility(SHOWN), PAPER_CLAIMS["transition"]
    at = average_cost(table.acc, table.cost, [0.0, low, high])
    share = float((at[1] - at[2]) / (at[0] - 1))
    labels = np.array([oracle_labels(table.acc, table.cost, lam) for lam in path(SHOWN).lam[::-1]])
    return Found(
        (
            Cell(f"share of the fall between the prices {low:g} and {high:g}", 0.5, share, 0.0, ">="),
            Cell(
                "questions whose budget ever rises with the price",
                0,
                int((np.diff(labels, axis=0) > 0).any(axis=0).sum()),
            ),
        ),
        'Simulated. "Concentrated" is taken as more than half.',
        digits=2,
    )


PARETO = Row(
    "Fig4 pareto",
    "frontiers for B from 1 to 16",
    "no number printed: where the gain is largest, and whether all methods level off at 3",
    "corrected",
    Link("07_results", "Frontiers, simulated"),
    _pareto,
)
HEATMAP = Row(
    "Fig heatmap",
    "budgets by level, oracle and learned",
    "the shares that the text states, simulated DeepSeek-V3 on MATH",
    "reproduced",
    Link("08_patterns", "Oracle against learned, by level"),
    _heatmap,
)
APPENDIX = (
    Row(
        "App D",
        "8 to 16 trials are enough, one will do",
        "what labels from so few trials claim beyond their worth; the advice amounts to 0",
        "refuted",
        Link("05_estimation", "Is one trial enough?"),
        _advice,
    ),
    Row(
        "App E.4",
        "calls made",
        "answers in the simulated settings, counted",
        "by definition",
        Link("00_data", "Your own answers"),
        _calls,
    ),
)
SHAPES = (
    Row(
        "Fig oracle_scatter",
        "inverted U: the middle gets the budget",
        "no number printed: mean budget of the middle fifth against the outer ones, and on a null",
        "corrected",
        Link("08_patterns", "The hump and its null"),
        _scatter,
    ),
    Row(
        "Fig archetypes",
        "K-means on the curves finds four kinds",
        "the numbers stated of the clusters, simulated",
        "reproduced",
        Link("08_patterns", "Archetypes, found by an algorithm"),
        _archetypes,
    ),
)
SEARCH = (
    Row(
        "Fig bsearch (a–d)",
        "the search settles in ten steps, within 0.05",
        "steps and distances, simulated DeepSeek-V3 on MATH",
        "corrected",
        Link("03_budgets", "The search, step by step"),
        _diagnostics,
    ),
    Row(
        "Fig lagrangian (a–c)",
        "budgets drain as the price rises",
        "share of the fall between the prices 0.01 and 0.10",
        "reproduced",
        Link("02_oracle", "One price for everybody"),
        _waterfall,
    ),
)
