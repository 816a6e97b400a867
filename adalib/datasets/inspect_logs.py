"""Read the logs of Inspect AI (``.eval``) as sampled answers.

A log is a zip archive with one ``samples/*.json`` per question and epoch. An epoch is one answer:
the first scorer says what it is and whether it is right.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from adalib.datasets.files import MAX_FILE, MAX_LINE, DataError, checked_size, kind_of
from adalib.datasets.loading import text
from adalib.datasets.logs import content_text, field_at, user_text
from adalib.datasets.responses import Responses
from adalib.datasets.sampled import answer_in, join_samples

__all__ = ["is_inspect_log", "read_inspect_log"]

_ZSTANDARD = 93  # the number of this compression in a zip archive
_RIGHT = {"C": 1, "I": 0, "N": 0, 1: 1, 0: 0}  # what a scorer's value says; N is no answer


def is_inspect_log(path: str | os.PathLike) -> bool:
    """Whether a file's name is that of a log of Inspect."""
    return Path(path).suffix == ".eval"


def read_inspect_log(path: str | os.PathLike, kind: str | None = None) -> tuple[Responses, str]:
    """Read the questions of a log, and as many epochs of each as keep the most answers.

    Parameters
    ----------
    path : path
        The log, ``.eval``.
    kind : str, optional
        What an answer is, as in `adalib.vote.kinds`, to read it from the output's text. By default
        it is the scorer's answer.

    Returns
    -------
    Responses, str
        The answers, and one sentence on what was left out.

    Raises
    ------
    DataError
        One sentence that names the file, the entry of the archive and the mend.
    """
    questions: dict[str, dict[str, Any]] = {}
    epochs: dict[str, dict[int, dict[str, Any]]] = {}
    scorer = ""
    count = 0
    unscored = 0
    for where, record in _records(Path(path)):
        count += 1
        scorer = scorer or _first_scorer(record)
        score = field_at(record.get("scores"), scorer)
        value = field_at(score, "value")
        if record.get("error") or value is None:
            unscored += 1
            continue
        name = text(record.get("id"), f'{where}: "id"')
        epoch = record.get("epoch")
        if not isinstance(epoch, int):
            raise DataError(f'{where}: "epoch" is {kind_of(epoch)}; copy the log again')
        target = record.get("target")
        gold = target[0] if isinstance(target, list) and target else target
        questions.setdefault(
            name,
            {"id": name, "question": user_text(record.get("input")), "gold": str(gold or "")},
        )
        epochs.setdefault(name, {})[epoch] = {
            "answers": _answer(record, field_at(score, "answer"), kind),
            "correct": _correct(value, f"{where}: scorer {scorer!r}"),
            "tokens": field_at(record, "output.usage.output_tokens"),
        }
    if not questions:
        raise DataError(f"{path}: no sample has a score; score it with inspect score {path}")
    samples = {name: [row[epoch] for epoch in sorted(row)] for name, row in epochs.items()}
    responses = join_samples(path, questions, samples, "run the task again with --epochs 16")
    summary = (
        f"{count:,} samples, {unscored:,} of them without a score, answer {len(questions):,} "
        f"questions; kept are {responses.n:,} with {responses.samples} answers each, "
        f"as the scorer {scorer!r} judged them"
    )
    return responses, summary


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place in words and the content of every sample in the archive."""
    checked_size(path, MAX_FILE)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [
                entry
                for entry in archive.infolist()
                if entry.filename.startswith("samples/") and entry.filename.endswith(".json")
            ]
            _check_entries(path, entries)
            for entry in entries:
                where = f"{path}, entry {entry.filename}"
                # A zip archive gives at most the bytes that an entry declares, which were checked.
                yield where, _record(archive.read(entry), where)
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise DataError(f"{path}: is not a sound zip archive; copy the log again") from None
    except (NotImplementedError, RuntimeError) as error:
        raise DataError(
            f"{path}: cannot be unpacked ({error}); write it again with inspect log convert"
        ) from None
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); check its name and its permissions"
        ) from None


def _check_entries(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive without samples, one that unpacks to too much, and unknown compression."""
    if not entries:
        raise DataError(f"{path}: holds no samples; run the task again without --no-log-samples")
    for entry in entries:
        if entry.file_size > MAX_LINE:
            raise DataError(
                f"{path}, entry {entry.filename}: unpacks to more than {MAX_LINE / 1e6:g} MB; "
                "log a task of single answers, without tools"
            )
    if sum(entry.file_size for entry in entries) > MAX_FILE:
        raise DataError(
            f"{path}: unpacks to more than {MAX_FILE / 1e9:g} GB; run fewer questions per log"
        )
    if sys.version_info < (3, 14) and any(one.compress_type == _ZSTANDARD for one in entries):
        try:
            import_module("zipfile_zstd")  # teaches the module zipfile this compression
        except ImportError:
            raise DataError(
                f"{path}: is compressed with Zstandard; run pip install zipfile-zstd, "
                "or use Python 3.14"
            ) from None


def _record(data: bytes, where: str) -> dict[str, Any]:
    """Read one sample. Inspect writes NaN for an answer that was not scored: it becomes None."""
    try:
        record = json.loads(data, parse_constant=lambda name: None)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: is not JSON ({error}); copy the log again") from None
    if not isinstance(record, dict):
        raise DataError(f"{where}: is no sample; copy the log again")
    return record


def _correct(value: Any, where: str) -> int:
    """Return 1 for a right answer and 0 for a wrong one; DataError for anything between."""
    if not isinstance(value, str | int | float) or value not in _RIGHT:
        raise DataError(
            f"{where} gives {str(value)[:40]!r}, which is neither right nor wrong; "
            "score the log with one that gives C or I"
        )
    return _RIGHT[value]


def _first_scorer(record: dict[str, Any]) -> str:
    """Return the name of the first scorer of a sample, "" where it has none."""
    scores = record.get("scores")
    return next(iter(scores), "") if isinstance(scores, dict) else ""


def _answer(record: dict[str, Any], given: Any, kind: str | None) -> str:
    """Return the scorer's answer, or the one in the output's text if the scorer repeats that."""
    choices = field_at(record, "output.choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    content = field_at(record, "output.completion") or field_at(choice, "message.content")
    written = content_text(content or "")
    if kind is None and isinstance(given, str) and given.strip() != written.strip():
        return given.strip()
    finished = field_at(choice, "stop_reason") in (None, "stop")
    return answer_in(written, finished, kind)
