"""Accuracy against the average budget, claimed and true, simulated and real."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, fixed, noise_features, random
from adalib.evaluate.crossfit import score_oracle
from adalib.evaluate.heldout import HeldOutRow, held_out
from adalib.learn.label_policy import CurvePolicy, LabelPolicy
from adalib.learn.policy import side_by_side
from adalib.paper.protocol import PaperRow, reconstructed
from adalib.paper.settings import PAPER, PAPER_SETTINGS, PAPER_WAY, TARGETS, paper_population, paper_setting
from adalib.solve.frontier import frontier
from adalib.table import check_table

__all__ = [
    "GRID",
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


# The paper's main table and its oracle-gap table, by our reconstruction, with features that know nothing.


#: How far from the print a cell of the main table may lie.
TOLERANCE = {"accuracy": 0.02, "cost": 0.3}


def main_table(seed: int | None = None, noise: int = 0) -> pd.DataFrame:
    """The paper's main table by our reconstruction of its protocol, with noise features, beside the printed values.

    Five methods, four simulated settings and three budgets; 48 samples, three splits of the questions, scored in-sample
    on all of them. Explained in chapter 7, "Results".

    Parameters
    ----------
    seed : int, optional
        Of the simulated answers. Default: the draw that was picked for lying near the paper's tables.
    noise : int
        Of the features.

    Returns
    -------
    DataFrame
        A row a setting, method and target. ``printed_accuracy``, ``accuracy`` (mean over the splits),
        ``accuracy_std``, ``accuracy_diff`` = ours - printed, the same four for cost, ``imitation`` (of Ours), and
        ``within``: whether both differences keep `TOLERANCE`.
    """
    return _main(seed, noise).copy()


def oracle_gap(seed: int | None = None, noise: int = 0) -> pd.DataFrame:
    """The paper's oracle-gap table beside ours, by our reconstruction and with noise features.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    seed, noise
        As for `main_table`.

    Returns
    -------
    DataFrame
        A row a setting and target: accuracy, imitation, gap (oracle minus learned) and cost, printed and ours.
    """
    found = _main(seed, noise).set_index(["setting", "target", "method"])
    rows = []
    for name in PAPER_SETTINGS:
        printed = PAPER[name]["oracle_gap"]
        for t, target in enumerate(TARGETS):
            ours, oracle = found.loc[(name, target, "Ours")], found.loc[(name, target, "Oracle")]
            rows.append(
                {
                    "setting": name,
                    "target": target,
                    "printed_accuracy": ours.printed_accuracy,
                    "accuracy": ours.accuracy,
                    "printed_imitation": printed["imitation"][t],
                    "imitation": ours.imitation,
                    "printed_gap": printed["gap"][t],
                    "gap": oracle.accuracy - ours.accuracy,
                    "printed_cost": ours.printed_cost,
                    "cost": ours.cost,
                }
            )
    return pd.DataFrame(rows)


@cache
def _main(seed: int | None, noise: int) -> pd.DataFrame:
    def score(name: str) -> list[PaperRow]:
        responses = paper_setting(name, seed=seed)
        return reconstructed(responses, TARGETS, features=noise_features(responses.n, seed=noise))

    found = list(side_by_side(score, PAPER_SETTINGS))
    rows = []
    for name, scored in zip(PAPER_SETTINGS, found, strict=True):
        printed = PAPER[name]["main"]
        for row in scored:
            cells = {"setting": name, "method": row.method, "target": row.target}
            for part in ("accuracy", "cost"):
                print_, ours = printed[row.method][part][TARGETS.index(row.target)], getattr(row, part)
                cells |= {f"printed_{part}": print_, part: ours, f"{part}_std": getattr(row, f"{part}_std")}
                cells[f"{part}_diff"] = ours - print_
            cells["imitation"] = row.imitation
            cells["within"] = all(abs(cells[f"{part}_diff"]) <= room for part, room in TOLERANCE.items())
            rows.append(cells)
    return pd.DataFrame(rows)


def beside(frame: pd.DataFrame, part: str, digits: int = 3) -> pd.DataFrame:
    """Lay `main_table` out as the paper does, each cell the printed value, an arrow, and ours with its deviation.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    frame : DataFrame
        What `main_table` returned.
    part : {"accuracy", "cost"}
    digits : int
    """
    rows = []
    for (name, method), cells in frame.groupby(["setting", "method"], sort=False):
        row = {"simulated": PAPER[name]["title"], "method": method}
        for cell in cells.to_dict("records"):
            # Spaces that do not break keep a cell on one line.
            print_, ours, spread = (f"{cell[key]:.{digits}f}" for key in (f"printed_{part}", part, f"{part}_std"))
            text = f"{print_} → {ours}" + (f" ±{spread}" if float(spread) else "")
            row[f"B = {cell['target']:g}"] = text.replace(" ", "\N{NO-BREAK SPACE}")
        rows.append(row)
    return pd.DataFrame(rows)


# What the paper's printed tables imply, by arithmetic alone: inferred, without its code and answers.


_TRAINED = 0.8  # share of the questions that the paper trains on


def implied_held_out() -> pd.DataFrame:
    """What the printed tables imply for questions outside the training set, if all questions were scored: inferred.

    Suppose that the learned policy repeats the oracle on the 80% of the questions it was trained on. Then every printed
    average is 0.8 times the oracle's value plus 0.2 times the value on the others, and the latter can be solved for.
    Rounding in print leaves about 0.005 in accuracy and imitation and 0.04 in cost. Explained in chapter 7, "Results".

    Returns
    -------
    DataFrame
        A row a setting and target. Printed ``imitation`` and ``accuracy``, and what they would be (``imitation_if``,
        ``accuracy_if``) if the other questions all got one answer; then the implied ``held_out_imitation`` beside the
        ``majority`` rate, ``held_out_accuracy`` beside ``one_answer`` each, ``held_out_cost``, the random ``mix`` of
        budgets 1 and 4 at that cost, and the ``gain`` over it.
    """
    rows = []
    for name in PAPER_SETTINGS:
        paper = PAPER[name]
        main, one, four = paper["main"], paper["main"]["Fixed"]["accuracy"][0], paper["implied_acc4"]
        for t, target in enumerate(TARGETS):
            # The sweep prints the oracle's cost to a digit more than the main table.
            oracle, oracle_cost = main["Oracle"]["accuracy"][t], paper["lambda_sweep"]["cost"][t]
            ours, cost = main["Ours"]["accuracy"][t], main["Ours"]["cost"][t]
            imitation, majority = paper["oracle_gap"]["imitation"][t], paper["label_shares"][t][0]
            paid = _rest(cost, oracle_cost)
            mix = one + (four - one) * (paid - 1) / 3
            rows.append(
                {
                    "setting": name,
                    "target": target,
                    "imitation": imitation,
                    "imitation_if": _TRAINED + (1 - _TRAINED) * majority,
                    "accuracy": ours,
                    "accuracy_if": _TRAINED * oracle + (1 - _TRAINED) * one,
                    "held_out_imitation": _rest(imitation, 1.0),
                    "majority": majority,
                    "held_out_accuracy": _rest(ours, oracle),
                    "one_answer": one,
                    "held_out_cost": paid,
                    "mix": mix,
                    "gain": _rest(ours, oracle) - mix,
                }
            )
    return pd.DataFrame(rows)


def claimed_gains() -> pd.DataFrame:
    """Gains stated in the paper's text, beside its own table at B = 3, and at equal cost: from printed numbers alone.

    Explained in chapter 7, "Results".

    Returns
    -------
    DataFrame
        A row a setting: the gain ``claimed`` over Fixed, the ``difference`` in the table, what Fixed and Ours cost
        there, the random ``mix`` of budgets 1 and 4 at Ours' cost, and Ours' gain ``over_mix``.
    """
    rows = []
    for name in PAPER_SETTINGS:
        paper = PAPER[name]
        ours, plain = ({key: values[-1] for key, values in paper["main"][m].items()} for m in ("Ours", "Fixed"))
        one = paper["main"]["Fixed"]["accuracy"][0]
        mix = one + (paper["implied_acc4"] - one) * (ours["cost"] - 1) / 3
        rows.append(
            {
                "setting": name,
                "claimed": paper["claimed_gain"],
                "difference": ours["accuracy"] - plain["accuracy"],
                "fixed_cost": plain["cost"],
                "cost": ours["cost"],
                "mix": mix,
                "over_mix": ours["accuracy"] - mix,
            }
        )
    return pd.DataFrame(rows)


def _rest(whole: float, trained: float) -> float:
    """The mean on the other questions, if ``whole`` averages all and the trained ones have ``trained``."""
    return (whole - _TRAINED * trained) / (1 - _TRAINED)


#: Average budgets along which frontiers are drawn.
GRID = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 14, 16)


def pareto(name: str, grid: Sequence[float] = GRID, seed: int | None = None) -> pd.DataFrame:
    """Accuracy against the average budget on a simulated setting, claimed and true.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    name : one of `PAPER_SETTINGS`
    grid : sequence of float
        Average budgets.
    seed : int, optional
        Of the simulated answers; default as in `main_table`.

    Returns
    -------
    DataFrame
        A row a budget. ``claimed``: the in-sample oracle on 48 samples, disjoint windows, first-seen ties. ``worth``:
        the true accuracy of its labels. ``learned`` and ``learned_cost``: a classifier of noise features, in-sample,
        scored by our reconstruction (one split). True and exact: the best possible (``oracle``), the best random
        ``mix``, ``fixed`` and ``random``.
    """
    responses, truth = paper_setting(name, seed=seed), paper_population(name).table()
    estimate = responses.table(**PAPER_WAY)
    found, best = score_oracle(estimate, truth, grid), score_oracle(truth, truth, grid)
    # Beyond the cost of the most accurate allocation nothing changes: one classifier stands for all those budgets.
    most = float(frontier(estimate.acc, estimate.cost).cost[-1])
    capped = np.minimum(grid, max(most, min(grid)))
    learned = reconstructed(responses, capped, seeds=1, features=noise_features(responses.n))
    at = {row.target: row for row in learned if row.method == "Ours"}
    ours = [at[budget] for budget in capped.tolist()]
    plans = {
        "mix": [best_mix(truth.acc, truth.cost, budget) for budget in grid],
        "fixed": [fixed(truth.cost, budget, truth.n) for budget in grid],
        "random": [random(truth.cost, budget, truth.n) for budget in grid],
    }
    return pd.DataFrame(
        {
            "budget": np.asarray(grid, dtype=float),
            "claimed": found.claimed.mean(axis=0),
            "worth": found.accuracy.mean(axis=0),
            "learned": [row.accuracy for row in ours],
            "learned_cost": [row.cost for row in ours],
            "oracle": best.accuracy.mean(axis=0),
            **{plan: [p.expected(truth.acc).mean() for p in made] for plan, made in plans.items()},
        }
    )


def in_sample_gains(
    responses: Responses, features: ArrayLike | None = None, targets: Sequence[float] = TARGETS
) -> pd.DataFrame:
    """Our reconstruction of the learned policy's scores, held against the best random mix at the cost that it had.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    responses : Responses
        All samples are used.
    features : DataFrame or array_like, shape (N, d), optional
        Default: `adalib.text_features` of the questions.
    targets : sequence of float
        Average budgets.

    Returns
    -------
    DataFrame
        A row a target: ``accuracy``, ``accuracy_std``, ``cost``, ``imitation``, the accuracy of Fixed, the ``mix`` at
        that cost on the same table, and the ``gain`` over it. In-sample, and therefore too good.
    """
    table = responses.table(**PAPER_WAY)
    rows = reconstructed(responses, targets, features=features)
    fixed_at = {row.target: row.accuracy for row in rows if row.method == "Fixed"}
    found = []
    for row in rows:
        if row.method != "Ours":
            continue
        mix = best_mix(table.acc, table.cost, row.cost).expected(table.acc).mean()
        cells = {name: getattr(row, name) for name in ("target", "accuracy", "accuracy_std", "cost", "imitation")}
        found.append({**cells, "fixed": fixed_at[row.target], "mix": mix, "gain": row.accuracy - mix})
    return pd.DataFrame(found)


def held_out_along(responses: Responses, grid: Sequence[float] = GRID) -> list[HeldOutRow]:
    """Held out: the curve policy and the baselines along a grid, label imitation and its noise control at `TARGETS`.

    The rows are those of `adalib.held_out`, which would train a classifier a budget, and two for noise; the curve
    policy is one model for all budgets. Explained in chapter 7, "Results".

    Parameters
    ----------
    responses : Responses
        As for `adalib.held_out`.
    grid : sequence of float
        Average budgets; `TARGETS` are added where they are missing.

    Returns
    -------
    list of HeldOutRow
    """
    along = sorted({float(budget) for budget in (*grid, *TARGETS)})
    rows = held_out(responses, along, learners={"curve": CurvePolicy()}, noises=0)
    labels = held_out(responses, TARGETS, learners={"label": LabelPolicy()}, noises=1)
    return rows + [row for row in labels if row.policy in ("label", "noise")]


def mix_cost(acc: ArrayLike, cost: ArrayLike, accuracy: float) -> float:
    """What the best random mix would have to spend for an accuracy; NaN where no mix reaches it.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    acc, cost
        As for `adalib.best_mix`.
    accuracy : float

    Examples
    --------
    >>> round(mix_cost([[0.5, 0.5, 0.8]], cost=[1, 2, 4], accuracy=0.6), 6)
    2.0
    """
    acc, cost = check_table(acc, cost)
    hull = frontier(acc.mean(axis=0, keepdims=True), cost if cost.ndim == 1 else cost.mean(axis=0))
    if accuracy > hull.accuracy[-1] + 1e-12:
        return float("nan")
    return float(np.interp(accuracy, hull.accuracy, hull.cost))
