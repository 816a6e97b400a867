"""What a row or a claim measures, and the measurements that several share: with the calls and seeds of the chapters.

The same cases as in chapter 4, draws as in 5, trained models as in 6, 7 and 9: the pages must not disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from adalib.datasets.populations import flat_null
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.crossfit import OracleScore, rehearse_oracle
from adalib.evaluate.heldout import HeldOutRow
from adalib.evaluate.recorded import recorded_cells
from adalib.paper import ablations, results, settings, theorems
from adalib.paper.ablations import Comparison, near_misses, recorded_comparison
from adalib.paper.patterns import by_difficulty, curve_clusters, level_shares
from adalib.paper.results import recorded_frame, recorded_rows
from adalib.paper.settings import PAPER, PAPER_SETTINGS, PAPER_WAY, TARGETS
from adalib.solve.bisection import Bisection, bisect, mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels

_ROUNDING = 1e-9

#: In place of the paper's number, where it prints none: then there is nothing to compare ours with.
NOT_PRINTED = float("nan")


class Cell(NamedTuple):
    """One number of the paper, printed or what a claim amounts to (a theorem: 0 failures), beside ours.

    ``relation`` says whether it is a value ("=") or a bound ("<=", ">="), ``unit`` what is counted.
    """

    name: str
    paper: float
    ours: float
    tolerance: float = _ROUNDING
    relation: str = "="
    unit: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has a number here."""
        return not np.isnan(self.paper)

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.ours - self.paper

    @property
    def agrees(self) -> bool:
        """Whether the two agree, to the tolerance; what is not printed contradicts nothing."""
        room = self.tolerance + _ROUNDING
        if not self.printed:
            return True
        if self.relation == "<=":
            return self.difference <= room
        return self.difference >= -room if self.relation == ">=" else abs(self.difference) <= room


class Outcome(NamedTuple):
    """What a row measured: cells, a note on what else was, and whether what the note and the status add is so."""

    cells: tuple[Cell, ...]
    note: str = ""
    holds: bool = True
    digits: int = 3

    @property
    def outside(self) -> tuple[Cell, ...]:
        """The cells that do not agree."""
        return tuple(cell for cell in self.cells if not cell.agrees)

    def difference(self) -> str:
        """The largest difference in one line, by unit; of bounds only what breaks them counts."""
        worst: dict[str, float] = {}
        for cell in filter(lambda cell: cell.printed, self.cells):
            if (cell.relation == "=" or not cell.agrees) and abs(cell.difference) >= abs(worst.get(cell.unit, 0.0)):
                worst[cell.unit] = cell.difference
        if not worst:
            return "within" if any(cell.printed for cell in self.cells) else "–"
        return "; ".join(f"{unit} {_signed(value, self.digits)}".strip() for unit, value in worst.items())

    def frame(self) -> pd.DataFrame:
        """Every cell, a row each."""
        names = {"cell": [cell.name for cell in self.cells], "paper": [self._printed(cell) for cell in self.cells]}
        frame = pd.DataFrame(names).assign(
            ours=[_number(cell.ours, self.digits) for cell in self.cells],
            difference=[_signed(cell.difference, self.digits) if cell.printed else "–" for cell in self.cells],
            outside=["" if cell.agrees else "outside" for cell in self.cells],
        )
        return frame if self.outside else frame.drop(columns="outside")

    def paper(self) -> str:
        """The paper's numbers in one line."""
        cells = [cell for cell in self.cells if cell.printed]
        return self._line([cell.paper for cell in cells], list(map(self._printed, cells))) or "not printed"

    def ours(self) -> str:
        """Our numbers in one line."""
        values = [cell.ours for cell in self.cells]
        return self._line(values, [_number(value, self.digits) for value in values])

    def _printed(self, cell: Cell) -> str:
        if not cell.printed:
            return "–"
        return {"=": "", "<=": "≤ ", ">=": "≥ "}[cell.relation] + _number(cell.paper, self.digits)

    def _line(self, values: list[float], texts: list[str]) -> str:
        if len(values) <= 4:
            return " / ".join(texts)
        low, high = (_number(end, self.digits) for end in (min(values), max(values)))
        return f"{len(values)} numbers, {low} to {high}"


def outcome(*cells: Cell, note: str = "", holds: bool | np.bool = True, digits: int = 3) -> Outcome:
    """What a row measured, its cells one after the other."""
    return Outcome(cells, note, bool(holds), digits)


def between(name: str, low: float, ours: float, high: float, room: float = 0.0) -> tuple[Cell, Cell]:
    """A number that the paper puts into a range: a cell for each end."""
    return Cell(f"{name}, from below", low, ours, room, ">="), Cell(f"{name}, from above", high, ours, room, "<=")


def beside_print(rows: pd.DataFrame, name: str, rooms: Mapping[str, float]) -> Iterable[Cell]:
    """The cells of a table with columns X and ``printed_X``, where ``rooms`` has the tolerance of X."""
    for row in rows.to_dict("records"):
        for part, room in rooms.items():
            yield Cell(f"{name.format(**row)}: {part}", row[f"printed_{part}"], row[part], room, unit=part)


def _number(value: float, digits: int) -> str:
    if abs(value) < 1e-12:  # rounding
        return "0"
    if value < 0:
        return ("−" if round(value, digits) else "") + _number(-value, digits)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    text = _number(abs(value), digits)
    return "0" if not text.strip("0.") else ("+" if value > 0 else "−") + text


#: The simulated setting that the paper's figures show.
SHOWN = "deepseek-v3-math"


@cache
def searched(name: str, budget: float) -> Bisection:
    """The paper's search on a setting."""
    table = settings.utility(name)
    return bisect(table.acc, table.cost, budget)


def printed_misses() -> list[float]:
    """What the twelve printed searches spend beyond their budgets; the nine on MATH come first."""
    sweeps = [PAPER[name]["lambda_sweep"]["cost"] for name in PAPER_SETTINGS]
    return [cost - B for costs in sweeps for cost, B in zip(costs, TARGETS, strict=True)]


def printed_gains(method: str) -> np.ndarray:
    """Printed accuracy of a method minus that of Fixed, (settings, budgets)."""
    main = [PAPER[name]["main"] for name in PAPER_SETTINGS]
    return np.array([np.subtract(rows[method]["accuracy"], rows["Fixed"]["accuracy"]) for rows in main])


@cache
def mixed_misses() -> list[float]:
    """How far the random mixture of two plans is from the budget, wherever one is needed."""
    tables = [settings.utility(name) for name in PAPER_SETTINGS]
    plans = [(B, mix(table.acc, table.cost, B)) for table in tables for B in TARGETS]
    return [abs(plan.cost - B) for B, plan in plans if plan.share > 0]


def oracle_of(name: str, target: float) -> dict:
    """The cross-fitted oracle of a real setting, against the best mix at its cost: a row of chapter 9."""
    return recorded_cells()[f"{name} by question"]["oracle", target]


@cache
def rehearsed(samples: int, halves: bool = False) -> OracleScore:
    """The oracle rehearsed on the simulated DeepSeek-V3 on MATH, whose truth is known: the draws of chapter 5."""
    return rehearse_oracle(settings.paper_population(SHOWN), samples, TARGETS, halves=halves, **PAPER_WAY)


@cache
def null() -> OracleScore:
    """The oracle rehearsed at B = 3 where no budget helps anyone, as the paper estimates: 48 samples."""
    return rehearse_oracle(flat_null(200), 48, [3], **PAPER_WAY)


@cache
def estimates(estimator: Literal["subsets", "windows"]) -> np.ndarray:
    """Errors of Acc(x, 16) from 48 answers on the simulated DeepSeek-V3 on MATH: the draws of chapter 5, a row each."""
    population = settings.paper_population(SHOWN)
    drawn = [population.sample(48, seed).table([16], estimator=estimator).acc[:, 0] for seed in range(30)]
    return np.array(drawn) - population.acc([16])[:, 0]


@cache
def trials(best_of: bool = False) -> pd.DataFrame:
    """Appendix D's advice on the simulated stand-in: labels at B = 3 from 1, 8 or 16 trials a budget, 40 times.

    A trial is a vote of b answers, or succeeds if the best of them is right. Two runs ``agree`` on so many labels, of
    which the commonest one has the share ``common``. Over the runs the worth of the labels has the standard deviation
    ``spread``, and the mean accuracy of a fixed budget the standard ``error``.
    """
    truth, rng, rows = settings.paper_population(SHOWN).table(), np.random.default_rng(0), {}
    acc = 1 - (1 - truth.acc[:, :1]) ** np.array(truth.budgets) if best_of else truth.acc
    for number in (1, 8, 16):
        drawn = rng.binomial(number, acc, (40, *acc.shape)) / number
        labels = np.array([frontier(each, truth.cost).at(3).labels for each in drawn])
        shown, true = (np.take_along_axis(part, labels[..., None], axis=2) for part in (drawn, np.stack([acc] * 40)))
        got = (labels[..., None] == np.arange(truth.k)).sum(axis=0)  # in how many runs a question got each label
        rows[number] = {
            "claimed": shown.mean(),
            "worth": true.mean(),
            "agree": (got * (got - 1)).sum(axis=1).mean() / (40 * 39),
            "common": np.mean([np.bincount(run).max() / run.size for run in labels]),
            "spread": true.mean(axis=(1, 2)).std(),
            "error": (drawn.mean(axis=1) - acc.mean(axis=0)).std(),
        }
    return pd.DataFrame(rows).T


def hump(acc1: np.ndarray, labels: np.ndarray, budgets: tuple) -> float:
    """Mean budget of the middle fifth minus that of the two outer ones."""
    spent = by_difficulty(acc1, labels, budgets)["budget"].to_numpy()
    return float(spent[2] - (spent[0] + spent[4]) / 2)


@cache
def null_hump() -> float:
    """The same where no budget helps anyone: 1000 simulated questions, estimated by `PAPER_WAY`."""
    table = flat_null(1000).sample(48).table(**PAPER_WAY)
    return hump(table.acc[:, 0], frontier(table.acc, table.cost).at(3).labels, table.budgets)


@cache
def clusters() -> dict[str, float]:
    """The four clusters of the pooled simulated curves: the numbers that the paper states of them."""
    kinds = curve_clusters(np.concatenate([settings.utility(name).acc for name in PAPER_SETTINGS]))
    easy, responsive, _, hard = kinds.centres
    member = dict(zip(PAPER_SETTINGS, np.split(kinds.labels, len(PAPER_SETTINGS)), strict=True))
    labels, kind = searched(SHOWN, 2.0).labels, member[SHOWN]
    many = settings.utility(SHOWN).cost[labels] * (labels >= 2)
    told = {"easy_first": easy[0], "responsive_first": responsive[0], "responsive_last": responsive[-1]}
    told |= {"hard_highest": hard.max(), "gsm8k_easy": np.mean(member["deepseek-v3-gsm8k"] == 0)}
    told |= {f"{shape}_one": np.mean(labels[kind == k] == 0) for shape, k in (("easy", 0), ("hard", 3))}
    told["responsive_share"] = many[kind == 1].sum() / many.sum()
    return {name: float(value) for name, value in told.items()}


@cache
def _cases() -> tuple[theorems.Case, ...]:
    return tuple(theorems.random_cases(700, seed=1))


@cache
def failures(statement: str) -> pd.DataFrame:
    """How a statement fares on the 700 random cases of chapter 4: a row a claim, printed first."""
    surveyed = theorems.survey(theorems.STATEMENTS[statement], _cases())
    each = surveyed.assign(fails=~surveyed.holds, off=surveyed.gap.abs()).groupby(["version", "claim"], sort=False)
    return each.agg(cases=("fails", "size"), failures=("fails", "sum"), widest=("off", "max")).reset_index()


@cache
def lines_passed() -> tuple[int, int]:
    """In how many of the random cases accuracy lost passes the dotted line of the figure, and how often the dashed."""
    drawn = [theorems.STATEMENTS["Theorem 2, drawn"](case).printed for case in _cases()]
    return sum(not most.holds for most, _ in drawn), sum(most.left > mean.right + _ROUNDING for most, mean in drawn)


@cache
def perfect_copies() -> tuple[int, int]:
    """In how many of the random cases a perfect copy of the oracle breaks Theorem 3 (2), and how many there are."""
    copies = [replace(case, labels=oracle_labels(case.acc, case.cost, case.lam)) for case in _cases()]
    return sum(not theorems.STATEMENTS["Theorem 3"](copy).printed[1].holds for copy in copies), len(copies)


def honest(by_family: bool = False) -> dict[str, HeldOutRow]:
    """What every policy has at B = 3 on word-fewshot, held out by question or by family; a row a policy."""
    rows = recorded_rows(f"word-fewshot by {'family' if by_family else 'question'}")
    return {row.policy: row for row in rows if row.target == 3}


@cache
def compared(split: str) -> Comparison:
    """The classifiers on the simulated pool with noise features, split by "row" or by "question"."""
    return recorded_comparison(f"simulated pool by {split}", ablations.simulated_pool(), split)


def classifier_table(split: str) -> pd.DataFrame:
    """Means over the splits, a row a classifier."""
    return compared(split).summary().set_index("classifier")


def trees_over_linear(table: pd.DataFrame) -> float:
    """Mean accuracy of the two kinds of trees minus that of the two linear models."""
    trees, linear = (table.loc[list(names)].accuracy.mean() for names in (("forest", "gbm"), ("logistic", "svm")))
    return float(trees - linear)


def near() -> dict[str, float]:
    """Where the errors of the boosted trees go, split by rows."""
    return near_misses(compared("row").confusion("gbm"))


@cache
def frontier_of_shown() -> pd.DataFrame:
    """The paper's frontier figure on the simulated DeepSeek-V3 on MATH."""
    return results.pareto(SHOWN)


@cache
def copied() -> float:
    """Largest difference between the oracle's map at B = 3 and that of a policy of noise, by our reconstruction."""
    levels, labels, k = settings.levels_of(SHOWN), searched(SHOWN, 3.0).labels, settings.utility(SHOWN).k
    learned = results.mostly_seen(noise_features(labels.size), labels)
    return float((level_shares(learned, levels, k) - level_shares(labels, levels, k)).abs().to_numpy().max())


@cache
def curve_of_data() -> pd.DataFrame:
    """Accuracy on all, seen and unseen questions by share of training data: simulated, noise features, B = 3."""
    runs = ablations.recorded_curve(SHOWN, (3.0,))
    return runs.groupby(["part", "share"])[["accuracy", "fixed", "oracle", "imitation", "cost"]].mean()


def passes_fixed(curve: pd.DataFrame) -> float:
    """The smallest share of training data at which a learning curve over all questions lies above Fixed."""
    every = curve.loc["all"]
    return float(every.index[every.accuracy > every.fixed].min())


@cache
def menus(value: str) -> dict[str, float]:
    """Gain of every menu of budgets over the default one at B = 2: "in-sample" (mean of 20 draws), or "true"."""
    population = settings.paper_population(SHOWN)
    if value == "true":
        return ablations.granularity(population, [2.0]).set_index("menu").gain.to_dict()
    scores = {name: rehearse_oracle(population, 48, [2.0], menu, **PAPER_WAY) for name, menu in ablations.MENUS.items()}
    claimed = {name: float(score.claimed.mean()) for name, score in scores.items()}
    return {name: value - claimed["default"] for name, value in claimed.items()}


def noise_importances() -> tuple[float, float]:
    """The smallest and the largest importance of 16 noise columns for the labels at B = 2, the mean of ten draws."""
    weights = recorded_frame("importances of noise")
    return float(weights.noise_low[0]), float(weights.noise_high[0])
