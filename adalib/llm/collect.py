"""Many answers to many questions: concurrent, resumable, never one twice.

A collection is a rectangle of questions times samples. What is missing from it is asked for, a round over all
questions before the next sample of any, so that a run that is stopped half-way is a smaller rectangle and not a
shorter list.

Its folder survives whatever ends the program. ``answers.jsonl`` only ever grows, one whole line an answer, each handed
to the operating system in one write: a process that is killed takes nothing back, so no write waits for the disk. A
last line that is torn all the same is cut off at the next start, and its answer is sampled again. ``run.json`` says
with which settings the folder was begun, and ``.lock`` keeps a second collector out.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from adalib.datasets.files import MAX_FILE, MAX_LINE, DataError, open_lines, read_json, read_whole, write_lines
from adalib.llm.endpoint import MAX_COUNT, Endpoint, EndpointError, wait_for
from adalib.llm.questions import Prompt, load_prompt, load_questions
from adalib.vote.answers import Reader, answer_reader, extract_answer

__all__ = ["Store", "collect", "export", "fingerprint", "read_answers", "read_settings", "scan", "settings_of"]

MAX_CONCURRENCY = 1_000  # requests in flight at a time; each holds a connection and a reply
MAX_SAMPLES = 1_000_000  # answers per question
MAX_STORE = 1 << 40  # bytes of answers: a store is read line by line, and only what it holds is remembered
FIELDS = ("tokens", "finish", "logprob", "entropy")  # what an answer carries to responses.jsonl beside its text


def collect(
    questions: str | os.PathLike,
    out: str | os.PathLike,
    *,
    base_url: str,
    model: str,
    samples: int = 48,
    prompt: str | os.PathLike | None = None,
    temperature: float = 0.7,
    max_tokens: int = 256,
    concurrency: int = 16,
    seed: int | None = None,
    logprobs: bool = False,
    price_in: float = 0.0,
    price_out: float = 0.0,
    key_env: str = "OPENAI_API_KEY",
    timeout: float = 120.0,
    tries: int = 8,
    kind: str | None = None,
    progress: bool = True,
) -> Path:
    """Sample what is missing from a collection, then write it as a bring-your-own file.

    Works in a notebook too. Interrupt it (once: the answers in flight are kept; twice: they are dropped) and call it
    again to go on. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    questions : path-like or str
        JSON Lines with ``id``, ``question``, ``gold`` and whatever else the exported file should carry.
    out : path-like
        Folder for ``answers.jsonl`` (append-only), ``run.json`` and ``responses.jsonl``.
    base_url, model : str
        An OpenAI-compatible endpoint and the model's name there.
    samples : int
        Answers a question, those already in the folder included.
    prompt : path-like or str, optional
        A prompt file or the name of a bundled one, see `load_prompt`.
    temperature, max_tokens, concurrency : float, int, int
        How to sample, where to cut, and how many requests are in flight at a time.
    seed, logprobs : int, optional, and bool
        Give every answer a seed of its own; ask for ``logprob`` and ``entropy`` (of the 20 likeliest tokens) of each.
    price_in, price_out, progress : float, float, bool
        Dollars per million tokens read and written, for the progress bar; whether there is one.
    key_env, timeout, tries : str, float, int
        The variable that holds the key; seconds for one request; requests for one answer before giving up.
    kind : str, optional
        What an answer is, as in `adalib.vote.answers`; by default what `extract_answer` reads.

    Returns
    -------
    Path
        The exported ``responses.jsonl``, for `adalib.load`.

    Raises
    ------
    DataError
        If a file is bad, the folder was begun with other settings or is in use, or the disk is full.
    EndpointError
        If the endpoint refuses, or fails ``tries`` times in a row. What was collected is kept.
    """
    _check_settings(samples, concurrency, max_tokens, temperature, price_in, price_out)
    answer_reader(kind or "auto")
    asked, filled = load_questions(questions), load_prompt(prompt)
    endpoint = Endpoint(base_url, model, key_env=key_env, timeout=timeout, tries=tries)
    settings = settings_of(endpoint, asked, filled, temperature, max_tokens) | {"logprobs": logprobs, "seed": seed}
    with Store(out, settings, {"messages": filled.messages}) as store:
        # Not a list: two hundred thousand questions of 48 answers would fill the memory before the first request.
        todo = ((q, s) for s in range(samples) for q in asked if (q["id"], s) not in store.held)
        missing = len(asked) * samples - store.held.within((q["id"] for q in asked), samples)
        total = store.held.count + missing
        quiet = None if progress else True  # no bar in a log
        bar = tqdm(total=total, initial=store.held.count, unit="answer", disable=quiet, smoothing=0.05)
        with bar, store.telling(total):
            stop, prices = asyncio.Event(), (price_in, price_out)
            wait_for(_fill(endpoint, filled, store, todo, bar, settings, prices, concurrency, stop), stop)
        if progress and bar.disable:
            print(f"{store.held.count}/{total} answers, {_spent(store.held, prices)}", file=sys.stderr)
        return export(asked, out, kind)


def settings_of(
    endpoint: Endpoint, asked: list[dict], prompt: Prompt, temperature: float | None, max_tokens: int
) -> dict[str, Any]:
    """What every answer in a folder depends on, for ``run.json``."""
    return {
        "model": endpoint.model,
        "endpoint": endpoint.place,
        "questions": fingerprint([[q["id"], q["question"]] for q in asked]),
        "prompt": fingerprint(prompt.messages),
        "temperature": temperature,
        "max_tokens": max_tokens,
    }


def export(questions: str | os.PathLike | list[dict], out: str | os.PathLike, kind: str | None = None) -> Path:
    """Write what a folder holds as ``responses.jsonl``, a bring-your-own file for `adalib.load`.

    Answers are read out of the texts here, so a better reader needs no new samples. Every question gets as many."""
    asked = questions if isinstance(questions, list) else load_questions(questions)
    folder = Path(out)
    settings = read_settings(folder)
    if settings.get("questions") != fingerprint([[q["id"], q["question"]] for q in asked]):
        raise DataError(f"{folder} holds answers to other questions: name the file that they were collected for")
    rounds = scan(folder / "answers.jsonl").rounds(q["id"] for q in asked)
    if rounds == 0:
        raise DataError(f"{folder}: not every question has an answer yet; collect on before exporting")
    rows: dict[str, list[dict]] = {q["id"]: [{}] * rounds for q in asked}
    for record, _ in read_answers(folder / "answers.jsonl"):
        if record["sample"] < rounds and record["id"] in rows:
            rows[record["id"]][record["sample"]] = record
    fields = [name for name in FIELDS if all(name in answer for row in rows.values() for answer in row)]
    # What is written here is read by `load`, whose lines and files have a limit.
    sizes = [sum(len(json.dumps(a["text"], ensure_ascii=False).encode()) for a in row) for row in rows.values()]
    with_texts = max(sizes) < 0.9 * MAX_LINE and sum(sizes) < 0.8 * MAX_FILE
    if not with_texts:
        warnings.warn("the texts are too long for one file and stay in answers.jsonl alone", stacklevel=2)
    model = {"model": settings["model"]} if isinstance(settings.get("model"), str) else {}
    path = folder / "responses.jsonl"
    read = answer_reader(kind) if kind else extract_answer
    write_lines(path, (_row(q, rows[q["id"]], fields, with_texts, read) | model for q in asked))
    return path


def _row(question: dict, answers: list[dict], fields: list[str], with_texts: bool, read: Reader) -> dict:
    row = {name: value for name, value in question.items() if name not in ("answers", "texts", "correct", *FIELDS)}
    row["answers"] = [read(a["text"], a["finish"] == "stop") for a in answers]
    row |= {"texts": [a["text"] for a in answers]} if with_texts else {}
    return row | {name: [a[name] for a in answers] for name in fields}


async def _fill(
    endpoint: Endpoint,
    prompt: Prompt,
    store: Store,
    todo: Iterator[tuple[dict, int]],
    bar: tqdm,
    settings: dict[str, Any],
    prices: tuple[float, float],
    concurrency: int,
    stop: asyncio.Event,
) -> None:
    """Collect all, or until the first error or interrupt has been dealt with; once ``stop`` is set nobody asks anew."""
    how = {name: settings[name] for name in ("temperature", "max_tokens", "logprobs")}

    def show(trouble: str = "") -> None:
        bar.set_postfix_str(", ".join(filter(None, [_spent(store.held, prices), trouble])), refresh=bool(trouble))

    async def pause(seconds: float, why: str) -> None:
        show(f"{why}; again in {seconds:.0f} s")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
            raise _StoppedError

    async def answer(name: str, question: str, sample: int) -> None:
        seed = _answer_seed(settings["seed"], name, sample)
        try:
            told = asdict(await endpoint.sample(prompt.fill(question), seed=seed, pause=pause, **how))
        except EndpointError as error:
            raise EndpointError(f"question {name!r}: {error}") from None
        told = {field: value for field, value in told.items() if value is not None}
        store.append({"id": name, "sample": sample, **told})
        show()
        bar.update()

    async def work() -> None:
        try:
            for question, sample in todo:
                if stop.is_set():
                    return
                await answer(question["id"], question["question"], sample)
        except _StoppedError:
            return
        except Exception:
            stop.set()  # what is in flight is paid for and may come in
            raise

    show()
    async with endpoint:
        ended = await asyncio.gather(*(work() for _ in range(concurrency)), return_exceptions=True)
    for error in filter(None, ended):
        raise error


def _spent(held: Held, prices: tuple[float, float]) -> str:
    money = (held.prompt_tokens * prices[0] + held.tokens * prices[1]) / 1e6
    return f"{held.tokens:,} tokens" + (f", ${money:.2f}" if any(prices) else "")


class _StoppedError(Exception):
    """The run was stopped while this answer was waiting for its next try."""


def _check_settings(samples: int, concurrency: int, max_tokens: int, temperature: float, *prices: float) -> None:
    if not (1 <= samples <= MAX_SAMPLES and 1 <= concurrency <= MAX_CONCURRENCY and 1 <= max_tokens <= 10**9):
        need = f"samples from 1 to {MAX_SAMPLES:,}, concurrency from 1 to {MAX_CONCURRENCY:,} and max_tokens >= 1"
        raise ValueError(f"need {need}, got {samples=}, {concurrency=}, {max_tokens=}")
    if not 0 <= temperature < 100:
        raise ValueError(f"need temperature >= 0, got temperature={temperature}")
    if not all(0 <= price < math.inf for price in prices):
        raise ValueError(f"need prices that are numbers, 0 or more, got {' and '.join(map(str, prices))}")


def _answer_seed(seed: int | None, name: str, sample: int) -> int | None:
    """A seed for every answer, the same in every run and different for every answer."""
    digest = hashlib.sha256(f"{seed}/{name}/{sample}".encode()).digest()
    return None if seed is None else int.from_bytes(digest[:4], "big") >> 1


def fingerprint(value: list) -> str:
    """A short name for plain values: the same for the same ones, in every run."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:16]


@dataclass
class Held:
    """What a folder holds: which samples of which question, the tokens of all of them, and the bytes of whole lines."""

    bits: dict[str, int] = field(default_factory=dict)  # samples, or ten million answers would fill the memory
    count: int = 0
    tokens: int = 0
    prompt_tokens: int = 0
    size: int = 0

    def __contains__(self, pair: tuple[str, int]) -> bool:
        return bool(self.bits.get(pair[0], 0) >> pair[1] & 1)

    def within(self, ids: Iterable[str], samples: int) -> int:
        """How many of the first ``samples`` answers of these questions there are."""
        first = (1 << min(samples, MAX_SAMPLES)) - 1
        return sum((self.bits.get(name, 0) & first).bit_count() for name in ids)

    def rounds(self, ids: Iterable[str]) -> int:
        """How many answers all these questions have, counted from the first without a gap."""
        return min((~bits & (bits + 1)).bit_length() - 1 for bits in (self.bits.get(name, 0) for name in ids))

    def add(self, record: dict, size: int) -> None:
        """Count one more answer, a line of ``size`` bytes."""
        self.bits[record["id"]] = self.bits.get(record["id"], 0) | 1 << record["sample"]
        self.count += 1
        self.tokens += record.get("tokens") or 0
        self.prompt_tokens += record.get("prompt_tokens") or 0
        self.size += size


def _lock(file: int) -> None:
    """Hold an open file for this process alone; BlockingIOError where another holds it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ModuleNotFoundError, AttributeError):
        warnings.warn("this system has no such locks: start one collector per folder", stacklevel=3)


class Store:
    """The append-only store of one collection, held by one process: ``with Store(folder, settings) as store``.

    A folder that was begun with other ``settings`` is refused; ``note`` is what else ``run.json`` tells its reader."""

    def __init__(self, folder: str | os.PathLike, settings: dict, note: dict | None = None):
        self.folder = Path(folder)
        self.answers = self.folder / "answers.jsonl"
        self._settings, self._note = settings, note or {}

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
                    self.answers, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644
                )
                undo.callback(os.close, self._file)
                os.ftruncate(self._file, self.held.size)  # a torn last line goes
                self._undo = undo.pop_all()
        except BlockingIOError:
            mend = "wait for it, or choose another folder"
            raise DataError(f"{self.folder}: another collector is writing here; {mend}") from None
        except OSError as error:
            raise DataError(f"{self.folder}: cannot be written ({error.strerror}); choose another folder") from None
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
            written, why = os.write(self._file, line), "the disk is full"
        except OSError as error:
            written, why = 0, error.strerror or str(error)
        if written < len(line):
            with contextlib.suppress(OSError):  # if even this fails, the next start cuts the line off
                os.ftruncate(self._file, self.held.size)
            kept = f"the {self.held.count} answers so far are safe"
            raise DataError(f"{self.answers}: {why}; {kept}, make room and run the same command again")
        self.held.add(record, len(line))

    @contextlib.contextmanager
    def telling(self, total: int) -> Iterator[None]:
        """Whatever ends the work in the block early says how much is kept and how to go on."""
        try:
            yield
        except (EndpointError, KeyboardInterrupt) as error:
            said = str(error) if isinstance(error, EndpointError) else "stopped"
            kept = f"{self.held.count} of {total} answers are kept in {self.folder}"
            raise type(error)(f"{said}; {kept}, run the same command again to go on") from None

    def _check_settings(self) -> None:
        path = self.folder / "run.json"
        if not path.exists():
            if self.held.count:
                raise DataError(f"{path} is missing, so nobody knows how these answers were made: use another folder")
            begun = datetime.now(UTC).isoformat(timespec="seconds")
            write_lines(path, [{"begun": begun, "settings": self._settings, **self._note}])
            return
        before = read_settings(self.folder)
        for name, now in self._settings.items():
            if before.get(name) != now:
                differ = f"{name} {before.get(name)!r}, now it is {now!r}"
                raise DataError(f"{self.folder} was begun with {differ}: use the first one, or another folder")


def read_settings(folder: Path) -> dict:
    """The settings that a folder was begun with."""
    path = folder / "run.json"
    if not path.exists():
        raise DataError(f"{path} is missing: nothing was collected here")
    try:
        settings = read_json(read_whole(path), str(path)).get("settings")
        if not isinstance(settings, dict):
            raise DataError("it tells no settings")
    except DataError as error:
        raise DataError(f"{path} is damaged ({error}): put it back, or use another folder") from None
    return settings


def read_answers(path: Path) -> Iterator[tuple[dict, int]]:
    """Every whole line of a store and its length in bytes; a line with no end, which is torn, is left out."""
    if not path.exists():
        return
    for place, (number, line) in enumerate(open_lines(path, limit=MAX_STORE), start=1):
        where = f"{path}, line {place}"
        # Every byte counts, for a torn end is cut off by its place: no blank lines, no mark at the beginning.
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
    with path.open("rb") as file:
        return file.read(3) == line[:3]


def _fault(record: dict) -> str | None:
    """What is wrong with a line of a store, if anything."""
    for name in ("id", "text", "finish"):
        if not isinstance(record.get(name), str):
            return f'"{name}" is no text'
    for name, most in (("sample", MAX_SAMPLES - 1), ("tokens", MAX_COUNT), ("prompt_tokens", MAX_COUNT)):
        value = record.get(name)
        missing = value is None and name != "sample"
        if not missing and (type(value) is not int or not 0 <= value <= most):  # true is an int, too
            return f'"{name}" is no whole number from 0 to {most:.0e}'
    for name in ("logprob", "entropy"):
        if type(record.get(name)) not in (int, float, type(None)):
            return f'"{name}" is no number'
    return None


def scan(path: Path) -> Held:
    """Read a store through once, and refuse one that holds the same sample twice."""
    held = Held()
    for number, (record, size) in enumerate(read_answers(path), start=1):
        if (record["id"], record["sample"]) in held:
            twice = f"sample {record['sample']} of {record['id']!r} is there a second time"
            raise DataError(f"{path}, line {number}: {twice}; delete the line")
        held.add(record, size)
    return held
