"""Read the logs of Inspect AI (``.eval``) as sampled answers.

A log is a zip archive with one sample per question and epoch. The sample is an entry
``samples/ID_epoch_N.json``, or a folder of that name with ``sample.json`` and its long texts in
separate entries. Each epoch gives one answer. The first scorer that tells right from wrong says
what the answer is and whether it is right.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from adalib.datasets.files import MAX_FILE, MAX_LINE, DataError, checked_size, kind_of
from adalib.datasets.loading import text
from adalib.datasets.logs import content_text, field_at, user_text
from adalib.datasets.responses import Responses
from adalib.datasets.sampled import answer_in, join_samples

_ZSTANDARD = 93  # the number of this compression in a zip archive
_RIGHT = {"C": 1, "I": 0, "N": 0, 1: 1, 0: 0}  # what a scorer's value says; N is no answer
_SAMPLE = re.compile(r"samples/.+_epoch_[^/]+(?:\.json|/sample\.json)")
_TEXTS = re.compile(r"(samples/.+_epoch_[^/]+)/attachments/(\d+)\.json")
_REFERENCE = re.compile(r"attachment://(\d+)\b")  # stands for a text that is kept apart


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
        scores = record.get("scores")
        scores = scores if isinstance(scores, dict) else {}
        scorer = scorer or _first_scorer(scores)
        score = scores.get(scorer)
        value = field_at(score, "value")
        if record.get("error") or record.get("invalidation") or value is None:
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
            {"id": name, "question": _question(record), "gold": str(gold or "")},
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
            samples = [entry for entry in archive.infolist() if _SAMPLE.fullmatch(entry.filename)]
            texts = _texts_by_sample(archive.infolist())
            _check_entries(path, [*samples, *chain(*texts.values())])
            for entry in samples:
                where = f"{path}, entry {entry.filename}"
                # A zip archive gives at most the bytes that an entry declares, which were checked.
                record = _parsed(archive.read(entry), where)
                if not isinstance(record, dict):
                    raise DataError(f"{where}: is no sample; copy the log again")
                own_texts = texts.get(entry.filename.removesuffix("/sample.json"), [])
                if own_texts:
                    lists = [_parsed(archive.read(text_entry), where) for text_entry in own_texts]
                    record["attachments"] = list(chain(*lists))
                yield where, record
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
    if sys.version_info < (3, 14) and any(entry.compress_type == _ZSTANDARD for entry in entries):
        try:
            import_module("zipfile_zstd")  # teaches the module zipfile this compression
        except ImportError:
            raise DataError(
                f"{path}: is compressed with Zstandard; run pip install zipfile-zstd, "
                "or use Python 3.14"
            ) from None


def _texts_by_sample(entries: list[zipfile.ZipInfo]) -> dict[str, list[zipfile.ZipInfo]]:
    """Return the entries with long texts, in order, by the folder of their sample."""
    numbered: dict[str, dict[int, zipfile.ZipInfo]] = {}
    for entry in entries:
        found = _TEXTS.fullmatch(entry.filename)
        if found:
            numbered.setdefault(found[1], {})[int(found[2])] = entry
    return {
        folder: [by_number[number] for number in sorted(by_number)]
        for folder, by_number in numbered.items()
    }


def _parsed(data: bytes, where: str) -> Any:
    """Read an entry. Inspect writes NaN for an answer that was not scored: it becomes None."""
    try:
        return json.loads(data, parse_constant=lambda name: None)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: is not JSON ({error}); copy the log again") from None


def _question(record: dict[str, Any]) -> str:
    """Return the user's last message, with the long texts that were kept apart."""
    kept = record.get("attachments")
    texts = kept if isinstance(kept, list) else []

    def text_of(reference: re.Match) -> str:
        number = int(reference[1])
        return str(texts[number]) if number < len(texts) else reference[0]

    return _REFERENCE.sub(text_of, user_text(record.get("input")))


def _correct(value: Any, where: str) -> int:
    """Return 1 for a right answer and 0 for a wrong one; DataError for anything between."""
    if not _is_verdict(value):
        raise DataError(
            f"{where} gives {str(value)[:40]!r}, which is neither right nor wrong; "
            "score the log with one that gives C or I"
        )
    return _RIGHT[value]


def _first_scorer(scores: dict[str, Any]) -> str:
    """Return the first scorer that tells right from wrong, else the first; "" if there is none."""
    values = {name: field_at(score, "value") for name, score in scores.items()}
    judging = (name for name, value in values.items() if _is_verdict(value))
    return next(judging, next(iter(scores), ""))


def _is_verdict(value: Any) -> bool:
    """Whether a scorer's value says right or wrong."""
    return isinstance(value, str | int | float) and value in _RIGHT


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
