"""Make a table in Parquet files from files of sampled answers.

The files are cut into chunks of a few thousand lines, which any core or machine turns into
accuracies. Only the ids are compared across chunks, as 8 bytes each, so that no question occurs
twice. `adalib.scale.parquet` describes the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.files import DataError, line_parts, read_lines
from adalib.datasets.loading import from_records
from adalib.drafts import filling, publish
from adalib.scale.machines import Here, Machines, need
from adalib.scale.parquet import load_arrow, write_parquet

_LINES = 2_000  # questions in a chunk


class _Chunk(NamedTuple):
    """Some lines of a file of answers, and how their accuracies are estimated."""

    source: str
    lines: tuple[int, int, int]  # first byte, lines before it, lines in the chunk
    stem: str  # how the names of its tables begin
    options: dict[str, Any]  # arguments of `Responses.table`


class _Written(NamedTuple):
    """A file of the table."""

    source: str  # where its questions come from
    path: str
    samples: int  # answers per question
    id_hashes: np.ndarray  # 8 bytes per question


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
    """Estimate the accuracies of all questions in files of answers, and write a Parquet table.

    The numbers are those of ``adalib.load(file).table(...)``. Explained in `adalib.scale`.

    Parameters
    ----------
    sources : sequence of path
        ``.jsonl`` or ``.jsonl.gz`` files, one question per line.
    out : path
        Folder for the table. It appears when it is complete; the next run with the same sources
        resumes an interrupted one.
    budgets : sequence of int
        Numbers of samples, increasing.
    estimator : {"subsets", "windows"}
        Average over all subsets of b samples, or over disjoint windows as in the paper.
    ties : {"share", "first"}
        Tied answers share the win, or the one seen first takes it.
    cost : {"samples", "tokens"}
        A budget costs its samples, or its samples times the question's mean tokens.
    machines : Machines, optional
        Where to work. Default: one process per core of this machine.

    Returns
    -------
    int
        Number of questions in the table.

    Raises
    ------
    DataError
        If a file is faulty, an id occurs twice, or questions of a file differ in their number of
        answers; the message names the file.

    See Also
    --------
    solve_files : Solves the table.

    Examples
    --------
    >>> import json, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> line = {"id": "q", "question": "2 + 2?", "gold": "4", "answers": ["4", "5"]}
    >>> _ = (folder / "day.jsonl").write_text(json.dumps(line))
    >>> tabulate([folder / "day.jsonl"], folder / "table", budgets=[1, 2])
    1
    """
    load_arrow(str(sources[0]), "writing Parquet")
    out = Path(out).absolute()
    machines = machines or Here(processes=True)
    files = [Path(source).absolute() for source in sources]
    options = {"budgets": tuple(budgets), "estimator": estimator, "ties": ties, "cost": cost}
    parts_by_file = [list(line_parts(file, _LINES)) for file in files]
    about = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    with filling(out, {"sources": about, "how": options}) as draft:
        chunks = [
            _Chunk(str(file), lines, f"{draft}/part-{number:05d}", options)
            for number, (file, parts) in enumerate(zip(files, parts_by_file, strict=True))
            for lines in parts
        ]
        written_by_chunk = machines.map(_write_chunk, chunks, what="comparing answers")
        written = list(itertools.chain(*written_by_chunk))
        if not written:
            raise DataError(f"{files[0]}: holds no questions; write one JSON object per line")
        _check_samples(written)
        _check_ids(written)
        publish(draft, out, keep={Path(file.path).name for file in written})
        return sum(file.id_hashes.size for file in written)


def _write_chunk(chunk: _Chunk) -> list[_Written]:
    """Write the table of a chunk, a few thousand rows per file: a compressed file is one chunk."""
    lines = read_lines(chunk.source, part=chunk.lines)
    records = ((f"{chunk.source}, line {number}", number, record) for number, record in lines)
    written = []
    while group := list(itertools.islice(records, _LINES)):
        written.append(_write_group(chunk, group))
    return written


def _write_group(chunk: _Chunk, records: list) -> _Written:
    """Write the table of some questions, unless an earlier run has."""
    _, first_line, _ = records[0]
    path = Path(f"{chunk.stem}-{first_line:012d}.parquet")
    if path.exists():  # and complete, because it has its name
        pq = need("pyarrow.parquet")
        ids = pq.read_table(path, columns=["id"])["id"].to_pylist()
        samples = int(pq.read_metadata(path).metadata[b"adalib_samples"])
        return _Written(chunk.source, str(path), samples, _hashed(ids))
    responses = from_records(chunk.source, records)
    table = responses.table(**chunk.options)
    columns: dict[str, Any] = {"id": list(table.ids)}
    for budget, values in zip(table.budgets, table.acc.T, strict=True):
        columns[f"acc_{budget}"] = values
    if table.cost.ndim == 2:
        for budget, values in zip(table.budgets, table.cost.T, strict=True):
            columns[f"cost_{budget}"] = values
    write_parquet(path, columns, {"adalib_samples": str(responses.samples)})
    return _Written(chunk.source, str(path), responses.samples, _hashed(table.ids))


def _hashed(ids: Sequence[str]) -> np.ndarray:
    """Eight bytes per id."""
    digests = b"".join(
        blake2b(name.encode("utf-8", "replace"), digest_size=8).digest() for name in ids
    )
    return np.frombuffer(digests, dtype=np.uint64)


def _check_samples(written: list[_Written]) -> None:
    """Check that all questions of a file have equally many answers, which no chunk sees alone."""
    for source, files in itertools.groupby(written, key=lambda file: file.source):
        samples = {file.samples for file in files}
        if len(samples) > 1:
            raise DataError(
                f"{source}: has questions with {min(samples)} answers and with {max(samples)}; "
                'give every question equally many ("" where nothing was extracted)'
            )


def _check_ids(written: list[_Written]) -> None:
    """Check that no id occurs twice in the whole table."""
    hashes, counts = np.unique(
        np.concatenate([file.id_hashes for file in written]), return_counts=True
    )
    for repeated in hashes[counts > 1]:
        source_of: dict[str, str] = {}
        for file in written:
            for place in np.flatnonzero(file.id_hashes == repeated).tolist():
                # Two different ids may have the same hash: compare the ids themselves.
                name = _read_id(file.path, place)
                if name in source_of:
                    raise DataError(
                        f"{file.source}: id {name[:60]!r} is also in {source_of[name]}; "
                        "give every question its own"
                    )
                source_of[name] = file.source


def _read_id(path: str, place: int) -> str:
    """Read one id from a file of the table."""
    return need("pyarrow.parquet").read_table(path, columns=["id"])["id"][place].as_py()
