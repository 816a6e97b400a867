"""The data of a setting for the explorer: a compact dictionary that is ready for JSON.

A page computes the oracle itself, so it needs the table unrounded, and the votes of each half of
the answers where it is to score the oracle honestly. Tables of one's own come as CSV (`read_csv`).
"""

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
    """Describe one setting for the explorer, ready for JSON.

    The source is a table, or answers, whose accuracies are then taken over all subsets at a cost in
    answers. ``responses`` are those that a table was made from. ``name`` appears in the address
    (``#set=name``) and ``kind`` decides where the setting is listed. An oracle on ``estimated``
    accuracies is labelled optimistic. ``lam`` is the price at the start.
    """
    table, responses = _table_and_responses(source, responses)
    if unit is None:
        unit = "answers" if _costs_are_budgets(table) else "cost"
    described: dict[str, Any] = {
        "name": name,
        "title": title,
        "kind": kind,
        "about": about,
        "unit": unit,
        "estimated": estimated,
        "lam": _start_price(table) if lam is None else float(lam),
        "budgets": [str(budget) for budget in table.budgets],
        "ids": list(table.ids),
        # Unrounded, because rounded accuracies would tie where these do not.
        "cost": _plain_numbers(table.cost),
        "acc": _plain_numbers(table.acc),
    }
    if isinstance(source, Menu):
        models = [model for model, _ in source.arms(_offered_budgets(source))]
        described |= {"models": models, "colours": arm_colours(models)}
        described |= _texts(source)
    if responses is not None:
        described |= _texts(responses)
        described["votes"] = _votes(responses)
        if unit == "answers":
            described["halves"] = [_half(responses, half) for half in (0, 1)]
    return described


def _table_and_responses(
    source: UtilityTable | Responses | Menu, responses: Responses | None
) -> tuple[UtilityTable, Responses | None]:
    """Return the table to show, and the responses it was made from where there are some."""
    if isinstance(source, Responses | Menu):
        table = source.table(_offered_budgets(source))
        responses = source if isinstance(source, Responses) else None
    elif isinstance(source, UtilityTable):
        table = source
    else:
        raise ValueError(
            f"the explorer shows a UtilityTable, Responses or a Menu, not {type(source).__name__}"
        )
    if responses is not None and responses.n != table.n:
        raise ValueError(
            f"the table has {table.n} rows and the responses {responses.n}; "
            "give the responses that the table was made from"
        )
    return table, responses


def read_csv(path: str | os.PathLike[str]) -> UtilityTable:
    """Read accuracies as the page does: a header of costs, then one row per question.

    A column of ids may come first. DataError names the file, the line and the cell.
    """
    lines = _csv_lines(path)
    where, header = next(lines, ("", []))
    ids_come_first = len(header) > 1 and np.isnan(_number(header[0]))
    skip = int(ids_come_first)
    costs = _row_values(header, skip, where, costs=True)
    rows: list[np.ndarray] = []
    ids: list[str] = []
    for where, cells in lines:
        if len(cells) != len(header):
            raise DataError(
                f"{where}: has {len(cells)} cells and the header {len(header)}; give as many"
            )
        # Kept as numbers at once, because the texts of a large file take ten times its size.
        rows.append(_row_values(cells, skip, where, costs=False))
        ids.append(cells[0] if ids_come_first else str(len(ids)))
    if not rows:
        raise DataError(
            f"{path}: holds no accuracies; write a header of costs, then one row per question"
        )
    try:
        return UtilityTable(np.array(rows), costs, [cell.strip() for cell in header[skip:]], ids)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


def _csv_lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the place of every row that is not empty, in words, and its cells."""
    number = 0  # of the line read last, because a cell in quotes may go over several

    def texts() -> Iterator[str]:
        nonlocal number
        for line_number, line in open_lines(path):
            number = line_number
            yield line.decode("utf-8")

    try:
        for cells in csv.reader(texts()):
            if any(cell.strip() for cell in cells):
                yield f"{path}, line {number}", cells
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}, line {number}: cannot be read as CSV ({error}); "
            "save it as comma-separated UTF-8 text"
        ) from None


def _row_values(cells: list[str], skip: int, where: str, *, costs: bool) -> np.ndarray:
    """Turn the cells of a line into costs or accuracies; DataError names the first bad cell."""
    values = np.array([_number(cell) for cell in cells[skip:]])
    too_large = np.isinf(values) if costs else values > 1
    bad = np.flatnonzero(~(values >= 0) | too_large)
    if bad.size:
        column = skip + int(bad[0])
        expected = "a cost, 0 or more" if costs else "an accuracy from 0 to 1"
        raise DataError(
            f"{where}, column {column + 1}: {cells[column][:40]!r} is not {expected}; "
            "mend that cell"
        )
    return values


def _texts(source: Responses | Menu) -> dict[str, list[str]]:
    """Return the questions, the gold answers and, if there are any, the levels."""
    texts = {
        "questions": [str(text) for text in source.questions],
        "golds": [str(gold) for gold in source.golds],
    }
    if source.levels is not None:
        texts["levels"] = ["" if level is None else str(level) for level in source.levels]
    return texts


def _costs_are_budgets(table: UtilityTable) -> bool:
    """Whether every budget is named after its cost, as numbers of answers are."""
    if table.cost.ndim == 2:
        return False
    return [str(budget) for budget in table.budgets] == [f"{cost:g}" for cost in table.cost]


def _offered_budgets(source: Responses | Menu) -> tuple[int, ...]:
    """Return the default budgets for which there are enough answers."""
    return tuple(b for b in _BUDGETS if b <= source.samples)


def _plain_numbers(numbers: np.ndarray) -> list[float]:
    """Return numbers unrounded, whole ones as int, which halves a page of token counts."""
    return [int(x) if x == int(x) else x for x in numbers.ravel().tolist()]


def _start_price(table: UtilityTable) -> float:
    """Return the median breakpoint, a price at which allocations change."""
    prices = frontier(table).lam
    prices = prices[(prices > 0) & np.isfinite(prices)]
    return float(f"{np.median(prices):.3g}") if prices.size else 0.01


def _votes(responses: Responses) -> list[list]:
    """Return the votes on each question as the page draws them.

    A row is the top answers as [answer, count, share correct], then the number of other answers,
    the number of their votes, and the number of empty answers.
    """
    votes = []
    for answers, classes, values in zip(
        responses.answers, responses.classes, responses.values, strict=True
    ):
        counts = np.bincount(classes[classes >= 0])
        order = np.argsort(-counts, kind="stable")
        top = []
        for shown in order[:_TOP]:
            places = np.flatnonzero(classes == shown)
            share_correct = round(float(values[places].mean()), 3)
            top.append([answers[places[0]].strip(), places.size, share_correct])
        rest = order[_TOP:]
        votes.append([top, len(rest), int(counts[rest].sum()), int((classes < 0).sum())])
    return votes


def _half(responses: Responses, half: int) -> list[list[int]]:
    """Count every second vote of each question, from which the page cross-fits.

    A row is the number of empty answers, then votes and correct votes of each class in turn.
    """
    counts = []
    for classes, values in zip(
        responses.classes[:, half::2], responses.values[:, half::2], strict=True
    ):
        row = [int((classes < 0).sum())]
        for number in np.unique(classes[classes >= 0]):
            votes = classes == number
            row += [int(votes.sum()), int(values[votes].sum())]
        counts.append(row)
    return counts


def _number(cell: str) -> float:
    """Return the number in a cell, NaN if there is none."""
    try:
        return float(cell)
    except ValueError:
        return np.nan
