"""Write the labels of one piece of a large table, and report exact sums over it.

A file of labels is complete when it has its name, and carries a mark of the piece and of the cuts
that it was made for. So a later run recognises the labels that are already there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.files import DataError
from adalib.drafts import replacing
from adalib.scale.machines import need
from adalib.scale.parquet import Batch, Form, Piece
from adalib.solve.envelope import Cut, cheapest_columns, labels_after
from adalib.solve.exact import exact_sum
from adalib.solve.oracle import chosen


class BatchSums(NamedTuple):
    """What the labels of one batch come to at one budget; sums are exact, in units."""

    cost: int
    accuracy: int
    counts: list[int]  # how many questions have each label
    next_row: int  # row that the next step would change, counted over the whole table
    next_id: str  # id of that row, or its number where the table has no ids


class LabelJob(NamedTuple):
    """One piece whose labels are to be written."""

    form: Form
    piece: Piece
    batch_rows: int  # rows in memory at a time
    batches: tuple[tuple[int, tuple[Cut, ...]], ...]  # rows of every batch; its cut per budget
    names: tuple[str, ...]  # column of labels for each budget
    folder: str

    @property
    def path(self) -> str:
        """File of the labels."""
        return f"{self.folder}/part-{self.piece.first:014d}.parquet"

    @property
    def mark(self) -> str:
        """Digest by which a later run recognises these labels."""
        return hashlib.sha256(repr((self.piece, self.batches, self.names)).encode()).hexdigest()


def write_labels(job: LabelJob) -> list[list[BatchSums]]:
    """Write the labels of a piece, unless they are there; return the sums by batch and budget."""
    pq = need("pyarrow.parquet")
    path = Path(job.path)
    if path.exists():
        metadata = pq.read_metadata(path).metadata
        if metadata.get(b"adalib_mark") == job.mark.encode():
            sums = json.loads(metadata[b"adalib_sums"])
            return [[BatchSums(*values) for values in batch] for batch in sums]
    sums_by_batch = []
    with replacing(path) as draft, ExitStack() as stack:
        writer: Any = None
        batches = job.form.batches(job.piece, job.batch_rows)
        for batch, planned in zip_longest(batches, job.batches):
            if batch is None or planned is None or len(batch.acc) != planned[0]:
                raise DataError(
                    f"{job.piece.path}: has changed since its steps were sorted; start again"
                )
            table, sums = _label_batch(job, batch, planned[1])
            sums_by_batch.append(sums)
            if writer is None:
                writer = stack.enter_context(
                    pq.ParquetWriter(draft, table.schema, compression="zstd")
                )
            writer.write_table(table)
        writer.add_key_value_metadata(
            {"adalib_mark": job.mark, "adalib_sums": json.dumps(sums_by_batch)}
        )
    return sums_by_batch


def _label_batch(job: LabelJob, batch: Batch, cuts: Sequence[Cut]) -> tuple[Any, list[BatchSums]]:
    """Return the labels of some rows as an Arrow table, and their sums for each budget."""
    start, _ = cheapest_columns(batch.acc, batch.cost)
    labels_by_budget, next_rows = labels_after(batch.acc, batch.cost, start.astype(np.int16), cuts)
    sums = []
    for labels, row in zip(labels_by_budget, next_rows, strict=True):
        next_row = batch.first + row
        next_id = next_row if batch.ids is None else batch.ids[max(row, 0)]
        sums.append(
            BatchSums(
                exact_sum(chosen(batch.cost, labels)),
                exact_sum(chosen(batch.acc, labels)),
                np.bincount(labels, minlength=len(job.form.budgets)).tolist(),
                next_row,
                str(next_id),
            )
        )
    columns: dict[str, Any] = {}
    if batch.ids is None:
        columns["row"] = np.arange(batch.first, batch.first + len(batch.acc))
    else:
        columns["id"] = batch.ids
    budget_of_column = np.array(as_values(job.form.budgets))
    for name, labels in zip(job.names, labels_by_budget, strict=True):
        columns[name] = budget_of_column[labels]
    return need("pyarrow").table(columns), sums


def as_values(budgets: Sequence[str]) -> list:
    """Return names of budgets as integers if all of them are, else unchanged."""
    try:
        return [int(budget) for budget in budgets]
    except ValueError:
        return list(budgets)
