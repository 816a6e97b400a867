"""What the explorer is told about a setting: a compact, JSON-ready dictionary."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from adalib.colours import arm_colours
from adalib.datasets.files import DataError, open_lines
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable

__all__ = ["read_csv", "setting"]

_BUDGETS = (1, 2, 4, 8, 16)
_TOP = 6  # answers shown by name; the others are counted


def setting(
    source: UtilityTable | Responses | Menu,
    *,
    responses: Responses | None = None,
    name: str = "table",
    title: str = "Your table",
    kind: Literal["real", "simulated", "yours"] = "yours",
    about: str = "",
    unit: str | None = None,
    estimated: bool = True,
    lam: float | None = None,
) -> dict[str, Any]:
    """Describe one setting for the explorer.

    Explained in chapter 2, "The oracle".

    Parameters
    ----------
    source : UtilityTable, Responses or Menu
        Accuracies and costs, or sampled answers (their table is made over all subsets, ties shared, cost in samples).
        Of a menu every arm is a budget, and the colours tell the models apart.
    responses : Responses, optional
        Where the questions, gold answers and votes come from when `source` is a table made from them.
    name, title : str
        The name in the address (``#set=name``) and the title in the list of settings.
    kind : {"real", "simulated", "yours"}
        Where it is listed; a simulated setting says so on the page.
    about : str
        A sentence shown under the title.
    unit : str, optional
        What a cost counts, in the plural. Default: "samples" when the budgets are the costs, else "cost".
    estimated : bool
        Whether the accuracies are estimates, so that an oracle chosen and scored on them is optimistic.
    lam : float, optional
        The price at the start. Default: the median breakpoint.

    Returns
    -------
    dict
        Plain lists, numbers and strings, ready for JSON.
    """
    table, responses = _opened(source, responses)
    if unit is None:
        samples = table.cost.ndim == 1 and [str(b) for b in table.budgets] == [f"{c:g}" for c in table.cost]
        unit = "samples" if samples else "cost"
    described: dict[str, Any] = {
        "name": name,
        "title": title,
        "kind": kind,
        "about": about,
        "unit": unit,
        "estimated": estimated,
        "lam": _start(table) if lam is None else float(lam),
        "budgets": [str(budget) for budget in table.budgets],
        "cost": _short(table.cost),
        "acc": _short(table.acc),  # to the last bit: rounded ones would tie where these do not
        "ids": list(table.ids),
    }
    if isinstance(source, Menu):
        described["colours"] = arm_colours([model for model, _ in source.arms(_offered(source))])
        described |= _texts(source)
    if responses is not None:
        described |= _texts(responses)
        described["votes"] = _votes(responses)
        if unit == "samples":
            described["halves"] = [_half(responses, half) for half in (0, 1)]
    return described


def read_csv(path: str | os.PathLike[str]) -> UtilityTable:
    """Read accuracies from a CSV file: a header of costs, then one row a question; an id column may come first.

    Explained in chapter 2, "The oracle". The page reads a dropped file by the same rules.

    Raises
    ------
    DataError
        One sentence that names the file, the line, the column and the mend.
    """
    at, rows = _Place(path), []
    try:
        # Kept as numbers at once: the texts of a large file would take ten times its size.
        for row in csv.reader(at.texts()):
            if any(cell.strip() for cell in row):
                rows.append(_row(at, row, rows))
    except UnicodeDecodeError as error:
        raise DataError(f"{at}: cannot be read as CSV ({error}); save it as comma-separated UTF-8 text") from None
    except csv.Error as error:
        raise DataError(f"{at}: cannot be read as CSV ({error}); save it as comma-separated UTF-8 text") from None
    if len(rows) < 2:
        raise DataError(f"{path}: holds no accuracies; write a header of costs, then one row a question")
    (budgets, _, cost), *others = rows
    try:
        return UtilityTable(
            np.array([acc for _, _, acc in others]), cost, budgets=budgets, ids=[name for _, name, _ in others]
        )
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


class _Place:
    """The lines of a file as texts, and where the reading has got to, for messages."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path, self.number = path, 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}"

    def texts(self) -> Iterator[str]:
        for number, line in open_lines(self.path):
            self.number = number
            yield line.decode("utf-8")


def _row(at: _Place, row: list[str], before: list[tuple]) -> tuple[list[str], str, np.ndarray]:
    """One row of a table: the budgets (in the header), the id, and the costs or accuracies."""
    if before:
        columns = len(before[0][0])
        skip = len(before[0][1])
        if len(row) != columns + skip:
            raise DataError(f"{at}: has {len(row)} cells and the header {columns + skip}; give as many")
    else:
        skip = int(len(row) > 1 and np.isnan(_number(row[0])))
    values = np.array([_number(cell) for cell in row[skip:]])
    bad = np.flatnonzero(~(values >= 0) | ((values > 1) if before else np.isinf(values)))
    if bad.size:
        cell, want = skip + int(bad[0]), "an accuracy from 0 to 1" if before else "a cost, 0 or more"
        raise DataError(f"{at}, column {cell + 1}: {row[cell][:40]!r} is not {want}; mend that cell")
    if not before:
        return [cell.strip() for cell in row[skip:]], "x" * skip, values
    return [], row[0] if skip else str(len(before) - 1), values


def _texts(source: Responses | Menu) -> dict[str, list[str]]:
    """What is known of the questions themselves."""
    told = {"questions": [str(text) for text in source.questions], "golds": [str(gold) for gold in source.golds]}
    if source.levels is not None:
        told["levels"] = ["" if level is None else str(level) for level in source.levels]
    return told


def _offered(source: Responses | Menu) -> tuple[int, ...]:
    return tuple(b for b in _BUDGETS if b <= source.samples)


def _opened(
    source: UtilityTable | Responses | Menu, responses: Responses | None
) -> tuple[UtilityTable, Responses | None]:
    if isinstance(source, UtilityTable):
        if responses is not None and responses.n != source.n:
            raise ValueError(f"the table has {source.n} rows, the responses {responses.n}; give those it was made from")
        return source, responses
    if not isinstance(source, Responses | Menu):
        raise ValueError(f"the explorer shows a UtilityTable, Responses or a Menu, not {type(source).__name__}")
    return source.table(_offered(source)), source if isinstance(source, Responses) else None


def _short(numbers: np.ndarray) -> list[float]:
    """Numbers as they are, whole ones written without a point: a page of token counts is half as long."""
    return [int(x) if x == int(x) else x for x in numbers.ravel().tolist()]


def _start(table: UtilityTable) -> float:
    """Begin in the middle of the path, where something is at stake."""
    prices = frontier(table.acc, table.cost).lam
    prices = prices[(prices > 0) & np.isfinite(prices)]
    return float(f"{np.median(prices):.3g}") if prices.size else 0.01


def _votes(responses: Responses) -> list[list]:
    """Votes as the page draws them: top answers as [answer, count, share right], then the others and the empty ones."""
    votes = []
    for answers, classes, worth in zip(responses.answers, responses.classes, responses.values, strict=True):
        counts = np.bincount(classes[classes >= 0])
        order = np.argsort(-counts, kind="stable")
        top = []
        for c in order[:_TOP]:
            members = np.flatnonzero(classes == c)
            share = round(float(worth[members].mean()), 3)
            top.append([answers[members[0]].strip(), int(counts[c]), share])
        rest = order[_TOP:]
        votes.append([top, len(rest), int(counts[rest].sum()), int((classes < 0).sum())])
    return votes


def _half(responses: Responses, half: int) -> list[list[int]]:
    """Every second vote of each question as counts, from which the page cross-fits: empty, then votes and right ones.

    Samples are alike, so the even and the odd ones are as good a split as any, and anyone can make it again.
    """
    counted = []
    for classes, worth in zip(responses.classes[:, half::2], responses.values[:, half::2], strict=True):
        row = [int((classes < 0).sum())]
        for c in np.unique(classes[classes >= 0]):
            row += [int((classes == c).sum()), int(worth[classes == c].sum())]
        counted.append(row)
    return counted


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
