"""The upper concave envelope of every question's accuracy curve, as steps from corner to corner.

A question starts at its cheapest column and moves, each time, along the steepest line to a more
expensive one. The columns that it visits are the only ones that win at some price, and the slope of
the line is that price. `adalib.frontier` sorts the steps of all questions.

Many questions walk together, in blocks that fit into the processor's cache, and a block takes one
of three ways that find the same steps:

- where every curve of the block is clearly concave, each column follows the one before it;
- otherwise the questions walk: from each corner they look at all columns beyond it;
- with very many columns they are scanned instead, since a scan looks at each column once.

A step is stored as one number, its key: minus its slope, with the two columns that it joins in the
last bits (see `adalib.solve.step_keys`). So the smaller of two keys belongs to the steeper step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from adalib.solve.hull import concave_hulls
from adalib.solve.oracle import TIE
from adalib.solve.step_keys import StepKeys
from adalib.threads import MAX_THREADS, WORTH_A_THREAD, call_all, cores

_BLOCK_ROWS = 30_000  # few enough for a block's columns to stay in the processor's cache
_SCAN_COLUMNS = 64  # beyond so many columns one scan is quicker than looking from each corner

# Key of the flattest step that counts. A slope of 0 with a code in its last bits is a tiny number.
_FLATTEST_KEY = -1e-300

Cut = tuple[float, int]  # a key, and how many of the steps with that key are taken


class Steps(NamedTuple):
    """The steps of some questions; the costs are None where all questions pay the same."""

    keys: np.ndarray
    cost_before: np.ndarray | None
    cost_after: np.ndarray | None


class _BlockSteps(NamedTuple):
    """At most one step per row: the block's first row, the rows within the block, their keys."""

    first: int
    rows: np.ndarray
    keys: np.ndarray


def cheapest_columns(acc: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the most accurate of each row's cheapest columns, and its accuracy."""
    columns = np.zeros(len(acc), dtype=int)
    accuracy = acc[:, 0]
    for column in range(1, acc.shape[1]):
        costs_the_same = cost[..., column] == cost[..., 0]
        if not np.any(costs_the_same):
            break  # costs never fall along a row
        better = costs_the_same & (acc[:, column] > accuracy)
        columns[better] = column
        accuracy = np.where(better, acc[:, column], accuracy)
    return columns, accuracy


def envelope_steps(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, step_keys: StepKeys
) -> Steps:
    """Return all steps of the envelopes of a checked table, block by block and column by column."""
    n = len(acc)
    threads = min(cores(), MAX_THREADS) if n >= WORTH_A_THREAD else 1
    bounds = [n * thread // threads for thread in range(threads + 1)]
    calls = [
        partial(_steps_of_rows, acc, cost, start, step_keys, first, last)
        for first, last in pairwise(bounds)
    ]
    found = list(chain(*call_all(calls, size=n)))
    keys = np.concatenate([steps.keys for steps in found] or [np.empty(0)])
    if cost.ndim == 1:
        return Steps(keys, None, None)
    before = np.concatenate([steps.cost_before for steps in found] or [np.empty(0)])
    after = np.concatenate([steps.cost_after for steps in found] or [np.empty(0)])
    return Steps(keys, before, after)


def _steps_of_rows(
    acc: np.ndarray,
    cost: np.ndarray,
    start: np.ndarray,
    step_keys: StepKeys,
    first: int,
    last: int,
) -> list[Steps]:
    """Steps of the rows from ``first`` to ``last``; where rows pay differently, with the costs."""
    rows = slice(first, last)
    if cost.ndim == 1:
        blocks = _walk(acc[rows], cost, start[rows], step_keys)
        return [Steps(block.keys, None, None) for block in blocks]
    found = []
    all_costs = cost.ravel()
    for block in _walk(acc[rows], cost[rows], start[rows], step_keys):
        row_begins = (first + block.first + block.rows) * cost.shape[1]
        before = all_costs.take(row_begins + step_keys.low_columns(block.keys))
        after = all_costs.take(row_begins + step_keys.high_columns(block.keys))
        found.append(Steps(block.keys, before, after))
    return found


def labels_after(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, cuts: Sequence[Cut]
) -> tuple[np.ndarray, list[int]]:
    """Return the labels once the steps before each cut are taken, by walking the envelopes again.

    A cut (key, count) takes all steps with a smaller key and the first ``count``, in the order of
    the rows, of those with this key.

    Returns
    -------
    labels : ndarray of int, shape (cuts, N)
    next_rows : list of int
        For each cut, the row whose step with that key would come next; -1 if there is none.
    """
    labels = np.tile(start, (len(cuts), 1))
    remaining = [count for _, count in cuts]
    next_rows = [-1] * len(cuts)
    step_keys = StepKeys(acc.shape[1])
    for first, rows, keys in _walk(acc, cost, start, step_keys):
        high = step_keys.high_columns(keys)
        for number, (key, _) in enumerate(cuts):
            taken = keys < key
            tied = np.flatnonzero(keys == key)
            taken[tied[: remaining[number]]] = True
            if tied.size > remaining[number] and next_rows[number] < 0:
                next_rows[number] = first + int(rows[tied[remaining[number]]])
            remaining[number] = max(remaining[number] - tied.size, 0)
            labels[number, first + rows[taken]] = high[taken]
    return labels, next_rows


def _walk(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, step_keys: StepKeys
) -> Iterator[_BlockSteps]:
    """Yield all steps: block after block, and within a block in the order of each row's walk."""
    n, k = acc.shape
    shared_cost = cost.ndim == 1
    costs_rise = shared_cost and k > 1 and (np.diff(cost) > 0).all()
    search = _scan_block if k > _SCAN_COLUMNS else _walk_block
    for first in range(0, n, _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        value = np.ascontiguousarray(acc[block].T)
        by_column = _concave_block(value, cost, step_keys) if costs_rise else None
        if by_column is not None:
            all_rows = np.arange(value.shape[1])
            for keys in by_column:
                yield _BlockSteps(first, all_rows, keys)
            continue
        price = cost[:, None] if shared_cost else np.ascontiguousarray(cost[block].T)
        for rows, keys in search(value, price, start[block], step_keys):
            yield _BlockSteps(first, rows, keys)


def _concave_block(
    value: np.ndarray, cost: np.ndarray, step_keys: StepKeys
) -> list[np.ndarray] | None:
    """Keys of the steps from each column to the next, if every row gains clearly less each time.

    "Clearly" means by more than rounding could hide, so that the walk would find the same steps.
    Returns None if some row is not concave.
    """
    per_cost = 1 / np.diff(cost)
    thresholds = _threshold(1 / (cost[-1] - cost[:-1]))
    # The walk compares a step with the longer one that skips a column. The slopes of these two
    # differ by only this share of the difference between neighbouring slopes.
    share = (cost[2:] - cost[1:-1]) / (cost[2:] - cost[:-2])
    margins = 8 * step_keys.precision / share
    by_column: list[np.ndarray] = []
    for low in range(cost.size - 1):
        keys = value[low] - value[low + 1]
        keys *= per_cost[low]
        step_keys.write_codes(keys, step_keys.code(low, low + 1))
        if not keys.max() < thresholds[low]:
            return None
        if by_column and not (keys > by_column[-1] * (1 - margins[low - 1])).all():
            return None
        by_column.append(keys)
    return by_column


def _threshold(per_cost: np.ndarray) -> np.ndarray:
    """Return the key that a step must lie below.

    Such a step would gain more than `TIE` if it kept its slope up to the last column, whose extra
    cost is ``1 / per_cost``.
    """
    return np.minimum(-TIE * per_cost, _FLATTEST_KEY)


def _walk_block(
    value: np.ndarray, price: np.ndarray, start: np.ndarray, step_keys: StepKeys
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows and keys of the steps from each column, the cheapest column first.

    ``value`` has shape (K, M), one column per question; ``price`` has it too, or shape (K, 1).
    """
    k, m = value.shape
    current = start.astype(np.int16)  # the column that each question has reached
    previous = None  # key of each question's last step
    for low in range(k - 1):
        here = current == low
        rows = np.flatnonzero(here)
        # If most questions are here, computing for all of them is quicker than picking these.
        use_all = 2 * rows.size > m
        ahead = value[low:] if use_all else value[low:].take(rows, axis=1)
        share_price = price.shape[1] == 1
        paid = price[low:] if use_all or share_price else price[low:].take(rows, axis=1)
        keys, threshold = _steepest(ahead, paid, low, step_keys)
        steps_on = keys < threshold
        if use_all:
            steps_on &= here
        moving = np.flatnonzero(steps_on)
        if moving.size == 0:
            continue
        if moving.size < keys.size:
            keys = keys.take(moving)
        rows = moving if use_all else rows.take(moving)
        stepping = slice(None) if rows.size == m else rows
        if previous is None:
            previous = np.full(m, -np.inf)
        else:
            # Rounding must not make a step steeper than the one before it.
            step_keys.cap(keys, previous[stepping])
        previous[stepping] = keys
        current[stepping] = step_keys.high_columns(keys)
        yield rows, keys


def _steepest(
    value: np.ndarray, price: np.ndarray, low: int, step_keys: StepKeys
) -> tuple[np.ndarray, np.ndarray]:
    """Key of the steepest step from the first of these columns, and the key it must lie below.

    ``value`` and ``price`` start at column ``low`` of the table.
    """
    rise = price[1:] - price[0]
    # Among columns of equal cost the best one was taken already, so the others gain nothing.
    np.copyto(rise, np.inf, where=rise <= 0)
    per_cost = 1 / rise
    threshold = _threshold(per_cost[-1])
    steepest = np.full(value.shape[1], threshold)
    keys = np.empty(value.shape[1])
    for ahead in range(1, len(value)):
        np.subtract(value[0], value[ahead], out=keys)
        keys *= per_cost[ahead - 1]
        step_keys.write_codes(keys, step_keys.code(low, low + ahead))
        np.minimum(steepest, keys, out=steepest)
    return steepest, threshold


def _scan_block(
    value: np.ndarray, price: np.ndarray, start: np.ndarray, step_keys: StepKeys
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows and keys as `_walk_block` does, in another order.

    Every row's first step comes first, then every row's second, and so on.
    """
    price = np.broadcast_to(price, value.shape)
    corners, count = concave_hulls(value, price, start)
    previous = np.full(start.size, -np.inf)
    for step in range(int(count.max()) - 1):
        rows = np.flatnonzero(count > step + 1)
        low = corners[step, rows]
        high = corners[step + 1, rows]
        keys = (value[low, rows] - value[high, rows]) / (price[high, rows] - price[low, rows])
        step_keys.write_codes(keys, step_keys.code(low, high))
        flat = keys >= np.minimum(-TIE / (price[-1, rows] - price[low, rows]), _FLATTEST_KEY)
        count[rows[flat]] = 0  # what follows on such a row is flatter still
        rows = rows[~flat]
        keys = keys[~flat]
        step_keys.cap(keys, previous[rows])
        previous[rows] = keys
        if rows.size:
            yield rows, keys
