"""The paper's main table and its oracle-gap table, by our reconstruction, with features that know nothing."""

from __future__ import annotations

from functools import cache

import pandas as pd

from adalib.evaluate.baselines import noise_features
from adalib.learn.threads import side_by_side
from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.protocol import PaperRow, reconstructed
from adalib.paper.settings import TARGETS
from adalib.paper.stand_ins import paper_setting

__all__ = ["TARGETS", "TOLERANCE", "beside", "main_table", "oracle_gap"]

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
