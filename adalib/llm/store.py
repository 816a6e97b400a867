"""The folder of a collection: answers that survive whatever ends the program.

``answers.jsonl`` only ever grows, one whole line per answer, each handed to the operating system in
one write: a process that is killed takes nothing back, so no write waits for the disk. A last line
that is torn all the same is cut off at the next start, and its answer is sampled again.
``run.json`` says with which settings the folder was begun, and ``.lock`` keeps a second collector
out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from adalib.datasets.files import DataError, open_lines, read_json, read_whole, write_lines
from adalib.llm.client import EndpointError
from adalib.llm.reply import MAX_COUNT

MAX_SAMPLES = 1_000_000  # answers per question
# Bytes of answers: a store is read line by line, and only counts are remembered.
MAX_STORE = 1 << 40


class Store:
    """The append-only store of one collection, held by one process.

    Used as ``with Store(folder, settings) as store``. A folder that was begun with other
    ``settings`` is refused; ``note`` holds what else goes into ``run.json``.
    """

    def __init__(self, folder: str | os.PathLike, settings: dict, note: dict | None = None):
        self.folder = Path(folder)
        self.answers = self.folder / "answers.jsonl"
        self._settings = settings
        self._note = note or {}

    def __enter__(self) -> Store:
        try:
            with contextlib.ExitStack() as undo:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
                undo.callback(os.close, lock)  # which also unlocks, as does the end of the process
                _lock(lock)
                self.held = scan(self.answers)
                self._check_settings()
                self._file = os.open(
                    self.answers,
                    os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0),
                    0o644,
                )
                undo.callback(os.close, self._file)
                os.ftruncate(self._file, self.held.size)  # a torn last line goes
                self._undo = undo.pop_all()
        except BlockingIOError:
            mend = "wait for it, or choose another folder"
            raise DataError(f"{self.folder}: another collector is writing here; {mend}") from None
        except OSError as error:
            raise DataError(
                f"{self.folder}: cannot be written ({error.strerror}); choose another folder"
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        with self._undo, contextlib.suppress(OSError):
            os.fsync(self._file)

    def append(self, record: dict) -> None:
        """Add one answer, wholly or not at all; its ``id`` and ``sample`` must be new."""
        pair = record["id"], record["sample"]
        if pair in self.held:
            raise ValueError(f"sample {pair[1]} of {pair[0]!r} is already in {self.answers}")
        line = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            written = os.write(self._file, line)
            why = "the disk is full"
        except OSError as error:
            written = 0
            why = error.strerror or str(error)
        if written < len(line):
            # If even this fails, the next start cuts the line off.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self.held.size)
            kept = f"the {self.held.count} answers so far are safe"
            raise DataError(
                f"{self.answers}: {why}; {kept}, make room and run the same command again"
            )
        self.held.add(record, len(line))

    @contextlib.contextmanager
    def reporting(self, total: int) -> Iterator[None]:
        """Add to an error or interrupt of the block how much is kept and how to go on."""
        try:
            yield
        except (EndpointError, KeyboardInterrupt) as error:
            why = str(error) if isinstance(error, EndpointError) else "stopped"
            kept = f"{self.held.count} of {total} answers are kept in {self.folder}"
            raise type(error)(f"{why}; {kept}, run the same command again to go on") from None

    def _check_settings(self) -> None:
        """Write run.json, or raise DataError if the folder was begun with other settings."""
        path = self.folder / "run.json"
        if not path.exists():
            if self.held.count:
                raise DataError(
                    f"{path} is missing, so the settings of these answers are lost: "
                    "use another folder"
                )
            begun = datetime.now(UTC).isoformat(timespec="seconds")
            write_lines(path, [{"begun": begun, "settings": self._settings, **self._note}])
            return
        before = read_settings(self.folder)
        for name, now in self._settings.items():
            if before.get(name) != now:
                differ = f"{name} {before.get(name)!r}, now it is {now!r}"
                raise DataError(
                    f"{self.folder} was begun with {differ}: use the first one, or another folder"
                )


@dataclass
class Held:
    """What a folder holds: samples by question, their tokens, and the bytes of whole lines."""

    # One bit per sample: sets of ten million answers would fill the memory.
    bits: dict[str, int] = field(default_factory=dict)
    count: int = 0
    tokens: int = 0
    prompt_tokens: int = 0
    size: int = 0

    def __contains__(self, pair: tuple[str, int]) -> bool:
        return bool(self.bits.get(pair[0], 0) >> pair[1] & 1)

    def within(self, ids: Iterable[str], samples: int) -> int:
        """How many of the first ``samples`` answers of these questions there are."""
        first = (1 << min(samples, MAX_SAMPLES)) - 1  # that many ones
        return sum((self.bits.get(name, 0) & first).bit_count() for name in ids)

    def rounds(self, ids: Iterable[str]) -> int:
        """How many answers all these questions have, counted from the first without a gap."""
        return min(_ones_at_the_end(self.bits.get(name, 0)) for name in ids)

    def add(self, record: dict, size: int) -> None:
        """Count one more answer, a line of ``size`` bytes."""
        self.bits[record["id"]] = self.bits.get(record["id"], 0) | 1 << record["sample"]
        self.count += 1
        self.tokens += record.get("tokens") or 0
        self.prompt_tokens += record.get("prompt_tokens") or 0
        self.size += size


def _ones_at_the_end(bits: int) -> int:
    """Count the ones after the last zero of a binary number.

    >>> _ones_at_the_end(0b1011)
    2
    """
    lowest_zero = ~bits & (bits + 1)  # adding 1 turns the ones to 0 and that zero to 1
    return lowest_zero.bit_length() - 1


def scan(path: Path) -> Held:
    """Read a store through once, and refuse one that holds the same sample twice."""
    held = Held()
    for number, (record, size) in enumerate(read_answers(path), start=1):
        if (record["id"], record["sample"]) in held:
            twice = f"sample {record['sample']} of {record['id']!r} is there a second time"
            raise DataError(f"{path}, line {number}: {twice}; delete the line")
        held.add(record, size)
    return held


def read_answers(path: Path) -> Iterator[tuple[dict, int]]:
    """Yield every whole line of a store and its length in bytes; a torn one is left out."""
    if not path.exists():
        return
    for place, (number, line) in enumerate(open_lines(path, limit=MAX_STORE), start=1):
        where = f"{path}, line {place}"
        # Every byte counts, for a torn end is cut off by its place: no blank lines, no mark at the
        # beginning.
        if number != place or (place == 1 and not _begins_with(path, line)):
            raise DataError(f"{where}: is no answer of ours; delete the line")
        if not line.endswith(b"\n"):
            return
        record = read_json(line, where)
        fault = _fault(record)
        if fault:
            raise DataError(f"{where}: is no answer of ours ({fault}); delete the line")
        yield record, len(line)


def _begins_with(path: Path, line: bytes) -> bool:
    """Whether nothing, such as a byte order mark, comes before a file's first line."""
    with path.open("rb") as file:
        return file.read(3) == line[:3]


def _fault(record: dict) -> str | None:
    """What is wrong with a line of a store, if anything."""
    for name in ("id", "text", "finish"):
        if not isinstance(record.get(name), str):
            return f'"{name}" is no text'
    for name, most in (
        ("sample", MAX_SAMPLES - 1),
        ("tokens", MAX_COUNT),
        ("prompt_tokens", MAX_COUNT),
    ):
        value = record.get(name)
        if value is None and name != "sample":
            continue
        if type(value) is not int or not 0 <= value <= most:  # isinstance would let True pass
            return f'"{name}" is no whole number from 0 to {most:.0e}'
    for name in ("logprob", "entropy"):
        if type(record.get(name)) not in (int, float, type(None)):
            return f'"{name}" is no number'
    return None


def read_settings(folder: Path) -> dict:
    """The settings that a folder was begun with."""
    path = folder / "run.json"
    if not path.exists():
        raise DataError(f"{path} is missing: nothing was collected here")
    try:
        settings = read_json(read_whole(path), str(path)).get("settings")
        if not isinstance(settings, dict):
            raise DataError("it holds no settings")
    except DataError as error:
        raise DataError(
            f"{path} is damaged ({error}): put it back, or use another folder"
        ) from None
    return settings


def fingerprint(value: list) -> str:
    """A short name for plain values: the same for the same ones, in every run."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:16]


def _lock(file: int) -> None:
    """Hold an open file for this process alone; BlockingIOError where another holds it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ModuleNotFoundError, AttributeError):
        warnings.warn("this system has no such locks: start one collector per folder", stacklevel=3)
