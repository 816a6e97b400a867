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
    """Describe one setting for the explorer, ready for JSON: a table, or answers over all subsets, cost in samples.

    ``responses`` are those that a table was made from; ``name`` stands in the address (``#set=name``), ``kind`` says
    where it is listed; an oracle on ``estimated`` accuracies is called optimistic; ``lam`` is the price at the start.
    """
    if isinstance(source, Responses | Menu):
        table, responses = source.table(_offered(source)), source if isinstance(source, Responses) else None
    elif isinstance(source, UtilityTable):
        table = source
    else:
        raise ValueError(f"the explorer shows a UtilityTable, Responses or a Menu, not {type(source).__name__}")
    if responses is not None and responses.n != table.n:
        raise ValueError(f"the table has {table.n} rows, the responses {responses.n}; give those it was made from")
    if unit is None:
        samples = table.cost.ndim == 1 and [str(b) for b in table.budgets] == [f"{c:g}" for c in table.cost]
        unit = "samples" if samples else "cost"
    described: dict[str, Any] = {"name": name, "title": title, "kind": kind, "about": about, "unit": unit}
    described |= {"estimated": estimated, "lam": _start(table) if lam is None else float(lam)}
    described |= {"budgets": [str(budget) for budget in table.budgets], "ids": list(table.ids)}
    # To the last bit: rounded accuracies would tie where these do not.
    described |= {"cost": _short(table.cost), "acc": _short(table.acc)}
    if isinstance(source, Menu):
        described |= {"colours": arm_colours([model for model, _ in source.arms(_offered(source))]), **_texts(source)}
    if responses is not None:
        described |= _texts(responses)
        described["votes"] = _votes(responses)
        if unit == "samples":
            described["halves"] = [_half(responses, half) for half in (0, 1)]
    return described


def read_csv(path: str | os.PathLike[str]) -> UtilityTable:
    """Read accuracies as the page does: a header of costs, then one row per question; an id column may come first."""
    read = 0  # lines, for messages

    def lines() -> Iterator[str]:
        nonlocal read
        for number, line in open_lines(path):
            read = number
            yield line.decode("utf-8")

    header: list[str] = []
    rows: list[np.ndarray] = []
    ids, skip = [], 0
    try:
        for cells in csv.reader(lines()):
            where = f"{path}, line {read}"
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header, skip = cells, int(len(cells) > 1 and np.isnan(_number(cells[0])))
            if len(cells) != len(header):
                raise DataError(f"{where}: has {len(cells)} cells and the header {len(header)}; give as many")
            # Kept as numbers at once: the texts of a large file would take ten times its size.
            values = np.array([_number(cell) for cell in cells[skip:]])
            bad = np.flatnonzero(~(values >= 0) | ((values > 1) if rows else np.isinf(values)))
            if bad.size:
                cell, want = skip + int(bad[0]), "an accuracy from 0 to 1" if rows else "a cost, 0 or more"
                raise DataError(f"{where}, column {cell + 1}: {cells[cell][:40]!r} is not {want}; mend that cell")
            ids.append(cells[0] if skip else str(len(rows) - 1))
            rows.append(values)
    except (UnicodeDecodeError, csv.Error) as error:
        told = f"cannot be read as CSV ({error}); save it as comma-separated UTF-8 text"
        raise DataError(f"{path}, line {read}: {told}") from None
    if len(rows) < 2:
        raise DataError(f"{path}: holds no accuracies; write a header of costs, then one row per question")
    try:
        return UtilityTable(np.array(rows[1:]), rows[0], tuple(cell.strip() for cell in header[skip:]), tuple(ids[1:]))
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


def _texts(source: Responses | Menu) -> dict[str, list[str]]:
    """What is known of the questions themselves."""
    told = {"questions": [str(text) for text in source.questions], "golds": [str(gold) for gold in source.golds]}
    if source.levels is not None:
        told["levels"] = ["" if level is None else str(level) for level in source.levels]
    return told


def _offered(source: Responses | Menu) -> tuple[int, ...]:
    return tuple(b for b in _BUDGETS if b <= source.samples)


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
        shown = (np.flatnonzero(classes == c) for c in order[:_TOP])
        top = [[answers[at[0]].strip(), at.size, round(float(worth[at].mean()), 3)] for at in shown]
        rest = order[_TOP:]
        votes.append([top, len(rest), int(counts[rest].sum()), int((classes < 0).sum())])
    return votes


def _half(responses: Responses, half: int) -> list[list[int]]:
    """Every second vote of a question as counts, from which the page cross-fits: empty, then votes and right ones."""
    counted = []
    for classes, worth in zip(responses.classes[:, half::2], responses.values[:, half::2], strict=True):
        counted.append([int((classes < 0).sum())])
        for c in np.unique(classes[classes >= 0]):
            counted[-1] += [int((classes == c).sum()), int(worth[classes == c].sum())]
    return counted


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
