"""From files of sampled answers to a table in Parquet files: more questions than memory, compared on all cores.

A file is cut into parts of a few thousand lines. Each part is read, its answers are compared, its accuracies estimated
and written, by whichever core or machine is free; only the ids of all questions meet again, as 8 bytes each, to make
sure that no question is there twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from adalib.datasets.files import check_room
from adalib.datasets.jsonl import DataError, line_parts, read_lines
from adalib.datasets.loading import from_records
from adalib.datasets.parquet import ROOM, write_parquet
from adalib.drafts import filling, publish
from adalib.machines import Here, Machines, need
from adalib.table import UtilityTable

__all__ = ["tabulate"]

_LINES = 2_000  # questions in a part


@dataclass(frozen=True)
class _Job:
    source: str
    part: tuple[int, int, int]
    stem: str
    how: tuple[tuple[str, object], ...]


@dataclass(frozen=True, eq=False)
class _Written:
    """A file of the table: where its questions come from, how many samples they have, and 8 bytes for each id."""

    source: str
    path: str
    samples: int
    marks: np.ndarray


def tabulate(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    estimator: str = "subsets",
    ties: str = "share",
    cost: str = "samples",
    machines: Machines | None = None,
) -> int:
    """Estimate the accuracies of all questions in files of answers and write them as a table in Parquet files.

    The same numbers as ``adalib.load(file).table(...)``. Explained in chapter 3, "The market on many machines".

    Parameters
    ----------
    sources : sequence of path
        ``.jsonl`` or ``.jsonl.gz`` files, one question a line.
    out : path
        Folder for the table; it appears when it is complete. An interrupted run is gone on with.
    budgets, estimator, ties, cost
        As in `adalib.Responses.table`.
    machines : Machines, optional
        Default: a process on every core of this machine.

    Returns
    -------
    int
        Number of questions.

    Raises
    ------
    DataError
        One sentence that names the file, the line and the mend.
    """
    check_room(str(sources[0]), "writing Parquet", ROOM, "free some, or raise the limit")
    need("pyarrow")
    out, machines = Path(out).absolute(), machines or Here(processes=True)
    sources = [Path(source).absolute() for source in sources]
    how = {"budgets": tuple(budgets), "estimator": estimator, "ties": ties, "cost": cost}
    parts = [list(line_parts(source, _LINES)) for source in sources]
    about = [(str(source), source.stat().st_size, source.stat().st_mtime_ns) for source in sources]
    with filling(out, {"sources": about, "how": how}) as draft:
        jobs = [
            _Job(str(source), part, f"{draft}/part-{number:05d}", tuple(how.items()))
            for number, (source, own) in enumerate(zip(sources, parts, strict=True))
            for part in own
        ]
        written = [file for own in machines.map(_write, jobs, what="comparing answers") for file in own]
        if not written:
            raise DataError(f"{sources[0]}: holds no questions; write one JSON object a line")
        _check_together(written)
        publish(draft, out, keep={Path(file.path).name for file in written})
        return sum(file.marks.size for file in written)


def _write(job: _Job) -> list[_Written]:
    """Write the table of a part of a file, in files of a few thousand rows each."""
    records = (
        (f"{job.source}, line {number}", number, record) for number, record in read_lines(job.source, part=job.part)
    )
    return [_write_some(job, some) for some in _batches(records)]


def _batches(records: Iterator) -> Iterator[list]:
    while some := list(itertools.islice(records, _LINES)):
        yield some


def _write_some(job: _Job, records: list) -> _Written:
    pq = need("pyarrow.parquet")
    path = Path(f"{job.stem}-{records[0][1]:012d}.parquet")
    if path.exists():  # complete, for it has its name
        ids = pq.read_table(path, columns=["id"])["id"].to_pylist()
        return _Written(job.source, str(path), int(pq.read_metadata(path).metadata[b"adalib_samples"]), _marks(ids))
    responses = from_records(job.source, records)
    table = responses.table(**dict(job.how))
    write_parquet(path, _columns(table), {"adalib_samples": str(responses.samples)})
    return _Written(job.source, str(path), responses.samples, _marks(table.ids))


def _columns(table: UtilityTable) -> dict:
    columns = {"id": list(table.ids)}
    columns |= {f"acc_{budget}": table.acc[:, j] for j, budget in enumerate(table.budgets)}
    if table.cost.ndim == 2:
        columns |= {f"cost_{budget}": table.cost[:, j] for j, budget in enumerate(table.budgets)}
    return columns


def _marks(ids: Sequence[str]) -> np.ndarray:
    digests = b"".join(blake2b(name.encode("utf-8", "replace"), digest_size=8).digest() for name in ids)
    return np.frombuffer(digests, dtype=np.uint64)


def _check_together(written: list[_Written]) -> None:
    """What no part can see alone: as many samples everywhere in a file, and no id twice."""
    for source, files in itertools.groupby(written, key=lambda file: file.source):
        samples = {file.samples for file in files}
        if len(samples) > 1:
            raise DataError(
                f"{source}: has questions with {min(samples)} answers and with {max(samples)}; give every question "
                'equally many ("" where nothing was extracted)'
            )
    marks = np.concatenate([file.marks for file in written])
    values, counts = np.unique(marks, return_counts=True)
    for mark in values[counts > 1]:
        seen: dict[str, str] = {}
        for place in np.flatnonzero(marks == mark):  # two ids may share a mark by accident: look at them
            file, name = _id_at(written, int(place))
            if name in seen:
                raise DataError(f"{file.source}: id {name[:60]!r} is also in {seen[name]}; give every question its own")
            seen[name] = file.source


def _id_at(written: list[_Written], place: int) -> tuple[_Written, str]:
    for file in written:
        if place < file.marks.size:
            return file, need("pyarrow.parquet").read_table(file.path, columns=["id"])["id"][place].as_py()
        place -= file.marks.size
    raise AssertionError("there is no such place")
