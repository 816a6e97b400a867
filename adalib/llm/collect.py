"""Many answers to many questions: concurrent, resumable, and no answer twice.

A collection is a rectangle of questions times samples. What is missing from it is asked for, a
round over all questions before the next sample of any, so that a run that is stopped half-way is a
smaller rectangle and not a shorter list. `adalib.llm.store` keeps what came in.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import sys
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from adalib.datasets.files import MAX_FILE, MAX_LINE, DataError, write_lines
from adalib.llm.client import Client, EndpointError
from adalib.llm.loop import wait_for
from adalib.llm.questions import Prompt, load_prompt, load_questions
from adalib.llm.reply import Answer
from adalib.llm.store import (
    MAX_SAMPLES,
    Store,
    fingerprint,
    read_answers,
    read_settings,
    scan,
)
from adalib.vote.extract import extract_answer
from adalib.vote.kinds import Reader, answer_reader

MAX_CONCURRENCY = 1_000  # requests in flight at a time; each holds a connection and a reply
EXPORTED = ("tokens", "finish", "logprob", "entropy")  # of each answer, next to its text
STORED = ("text", *EXPORTED, "prompt_tokens", "fingerprint")


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
    reasoning_effort: str | None = None,
    price_in: float = 0.0,
    price_out: float = 0.0,
    key_env: str = "OPENAI_API_KEY",
    timeout: float = 120.0,
    tries: int = 8,
    kind: str | None = None,
    progress: bool = True,
) -> Path:
    """Sample what is missing from a collection, then write it as a bring-your-own file.

    Works in a notebook too. Interrupt it (once: the answers in flight are kept; twice: they are
    dropped) and call it again to go on. Explained in the chapter "One question, many answers".

    Parameters
    ----------
    questions : path-like or str
        JSON Lines with ``id``, ``question``, ``gold`` and whatever else the exported file should
        carry.
    out : path-like
        Folder for ``answers.jsonl`` (append-only), ``run.json`` and ``responses.jsonl``.
    base_url, model : str
        An OpenAI-compatible endpoint and the model's name there.
    samples : int
        Answers per question, those already in the folder included.
    prompt : path-like or str, optional
        A prompt file or the name of a bundled one, see `load_prompt`.
    temperature, max_tokens, concurrency : float, int, int
        How to sample, where to cut, and how many requests are in flight at a time.
    seed, logprobs : int, optional, and bool
        Give every answer a seed of its own; ask for ``logprob`` and ``entropy`` (of the 20
        likeliest tokens) of each.
    reasoning_effort : str, optional
        How long a reasoning model may think, in the endpoint's words, such as ``low`` or ``high``.
        The exported lines carry it as ``effort``, so that the files of several efforts, one after
        the other, are a menu.
    price_in, price_out : float
        Dollars per million tokens read and written, for the progress bar.
    key_env, timeout, tries : str, float, int
        The variable that holds the key; seconds for one request; requests for one answer before
        giving up.
    kind : str, optional
        What an answer is, as in `adalib.vote.kinds`; by default what `extract_answer` reads.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Path
        The exported ``responses.jsonl``, for `adalib.load`.

    Raises
    ------
    DataError
        If a file is bad, the folder was begun with other settings or is in use, or the disk is
        full.
    EndpointError
        If the endpoint refuses, or fails ``tries`` times in a row. What was collected is kept.

    Examples
    --------
    An endpoint on this machine that always gives the same answer, asked three times:

    >>> import json
    >>> from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from threading import Thread
    >>> from adalib import collect, load
    >>> class Endpoint(BaseHTTPRequestHandler):
    ...     def do_POST(self):
    ...         self.rfile.read(int(self.headers["Content-Length"]))
    ...         message = {"role": "assistant", "content": "Answer: 7"}
    ...         choice = {"index": 0, "message": message, "finish_reason": "stop"}
    ...         body = json.dumps({"id": "1", "choices": [choice]}).encode()
    ...         self.send_response(200)
    ...         self.send_header("Content-Type", "application/json")
    ...         self.send_header("Content-Length", str(len(body)))
    ...         self.end_headers()
    ...         self.wfile.write(body)
    ...     def log_message(self, *line):
    ...         pass
    >>> server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    >>> Thread(target=server.serve_forever, daemon=True).start()
    >>> question = {"id": "sum", "question": "What is three plus four?", "gold": "7"}
    >>> with TemporaryDirectory() as folder:
    ...     asked = Path(folder, "questions.jsonl")
    ...     size = asked.write_text(json.dumps(question))
    ...     url = f"http://127.0.0.1:{server.server_port}/v1"
    ...     file = collect(
    ...         asked, Path(folder, "run"), base_url=url, model="m", samples=3, progress=False
    ...     )
    ...     load(file).answers
    [['7', '7', '7']]
    >>> server.shutdown()
    >>> server.server_close()
    """
    _check_settings(samples, concurrency, max_tokens, temperature, price_in, price_out)
    if tries < 1:
        raise ValueError(f"need tries >= 1, got tries={tries}")
    answer_reader(kind or "auto")  # refuses an unknown kind before any answer is paid for
    asked = load_questions(questions)
    filled = load_prompt(prompt)
    client = Client(base_url, model, key_env=key_env, timeout=timeout, max_retries=tries - 1)
    settings = settings_of(client, asked, filled, temperature, max_tokens)
    settings |= {"logprobs": logprobs, "seed": seed, "reasoning_effort": reasoning_effort}
    with Store(out, settings, {"messages": filled.messages}) as store:
        missing = len(asked) * samples - store.held.within((q["id"] for q in asked), samples)
        total = store.held.count + missing
        bar = tqdm(
            total=total,
            initial=store.held.count,
            unit="answer",
            disable=None if progress else True,  # None: no bar where no terminal shows it
            smoothing=0.05,
        )
        run = _Run(client, filled, store, settings, tries, (price_in, price_out), bar)
        with bar, store.reporting(total):
            wait_for(run.fill(_missing(asked, samples, store), concurrency), run.stop)
        if progress and bar.disable:
            print(f"{store.held.count}/{total} answers, {run.spent()}", file=sys.stderr)
        return export(asked, out, kind)


def _missing(asked: list[dict], samples: int, store: Store) -> Iterator[tuple[dict, int]]:
    """Yield each question and sample that the store lacks, a round over all questions at a time.

    Not a list: two hundred thousand questions of 48 answers would fill the memory.
    """
    for sample in range(samples):
        for question in asked:
            if (question["id"], sample) not in store.held:
                yield question, sample


def settings_of(
    client: Client,
    asked: list[dict],
    prompt: Prompt,
    temperature: float | None,
    max_tokens: int,
) -> dict[str, Any]:
    """What every answer in a folder depends on, for ``run.json``."""
    return {
        "model": client.model,
        "endpoint": client.place,
        "questions": _fingerprint_of(asked),
        "prompt": fingerprint(prompt.messages),
        "temperature": temperature,
        "max_tokens": max_tokens,
    }


def export(
    questions: str | os.PathLike | list[dict], out: str | os.PathLike, kind: str | None = None
) -> Path:
    """Write what a folder holds as ``responses.jsonl``, a bring-your-own file for `adalib.load`.

    Answers are read out of the texts here, so a better reader needs no new samples. Every question
    gets as many.
    """
    asked = questions if isinstance(questions, list) else load_questions(questions)
    folder = Path(out)
    settings = read_settings(folder)
    if settings.get("questions") != _fingerprint_of(asked):
        raise DataError(
            f"{folder} holds answers to other questions: name the file that they were collected for"
        )
    answers = _full_rounds(folder, [question["id"] for question in asked])
    fields = [
        name for name in EXPORTED if all(name in one for row in answers.values() for one in row)
    ]
    with_texts = _texts_fit(answers.values())
    if not with_texts:
        warnings.warn(
            "the texts are too long for one file and stay in answers.jsonl alone", stacklevel=2
        )
    written_by = {"model": settings.get("model"), "effort": settings.get("reasoning_effort")}
    model = {name: value for name, value in written_by.items() if isinstance(value, str)}
    read = answer_reader(kind) if kind else extract_answer
    path = folder / "responses.jsonl"
    rows = (_row(q, answers[q["id"]], fields, with_texts, read) | model for q in asked)
    write_lines(path, rows)
    return path


def _fingerprint_of(asked: list[dict]) -> str:
    """A short name for the questions, by which a folder knows its own."""
    return fingerprint([[q["id"], q["question"]] for q in asked])


def _full_rounds(folder: Path, ids: list[str]) -> dict[str, list[dict]]:
    """The answers by question, as many of each as all questions have."""
    file = folder / "answers.jsonl"
    rounds = scan(file).rounds(ids)
    if rounds == 0:
        raise DataError(
            f"{folder}: not every question has an answer yet; collect on before exporting"
        )
    answers: dict[str, list[dict]] = {name: [{}] * rounds for name in ids}
    for record, _ in read_answers(file):
        if record["sample"] < rounds and record["id"] in answers:
            answers[record["id"]][record["sample"]] = record
    return answers


def _texts_fit(answers: Collection[list[dict]]) -> bool:
    """Whether `adalib.load`, whose lines and files have a limit, could read the texts."""
    line_bytes = [sum(_json_bytes(answer["text"]) for answer in row) for row in answers]
    return max(line_bytes) < 0.9 * MAX_LINE and sum(line_bytes) < 0.8 * MAX_FILE


def _json_bytes(text: str) -> int:
    """The length of a text as JSON writes it."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def _row(
    question: dict, answers: list[dict], fields: list[str], with_texts: bool, read: Reader
) -> dict:
    """Return one line of the exported file."""
    ours = ("answers", "texts", "correct", *EXPORTED)
    row = {name: value for name, value in question.items() if name not in ours}
    row["answers"] = [read(answer["text"], answer["finish"] == "stop") for answer in answers]
    if with_texts:
        row["texts"] = [answer["text"] for answer in answers]
    for name in fields:
        row[name] = [answer[name] for answer in answers]
    return row


@dataclass
class _Run:
    """One run of the collector: what it asks with, where answers go, and whether to stop."""

    client: Client
    prompt: Prompt
    store: Store
    settings: dict[str, Any]
    tries: int
    prices: tuple[float, float]  # dollars per million tokens read and written
    bar: tqdm

    def __post_init__(self) -> None:
        self.stop = asyncio.Event()

    async def fill(self, todo: Iterator[tuple[dict, int]], concurrency: int) -> None:
        """Collect all, or until the first error; once ``stop`` is set, ask no further."""
        self._show()
        async with self.client:
            workers = [self._work(todo) for _ in range(concurrency)]
            outcomes = await asyncio.gather(*workers, return_exceptions=True)
        errors = [outcome for outcome in outcomes if outcome is not None]
        if errors:
            raise errors[0]

    async def _work(self, todo: Iterator[tuple[dict, int]]) -> None:
        """Answer what no other worker has taken, one sample after the other."""
        try:
            for question, sample in todo:
                if self.stop.is_set():
                    return
                await self._answer(question["id"], question["question"], sample)
        except Exception:
            self.stop.set()  # what is in flight is paid for and may come in
            raise

    async def _answer(self, name: str, question: str, sample: int) -> None:
        """Get one answer and append it to the store."""
        answer = await self._sample(name, question, sample)
        if self.settings["logprobs"] and "logprobs" in self.client.left_out:
            raise EndpointError(
                f"{self.client.model} gives no log-probabilities; run it without --logprobs"
            )
        fields = {field: getattr(answer, field) for field in STORED}
        fields = {field: value for field, value in fields.items() if value is not None}
        self.store.append({"id": name, "sample": sample, **fields})
        self._show()
        self.bar.update()

    async def _sample(self, name: str, question: str, sample: int) -> Answer:
        """Ask until the reply is an answer; an EndpointError names the question."""
        effort = self.settings["reasoning_effort"]
        for attempt in range(1, self.tries + 1):
            try:
                return await self.client.sample(
                    self.prompt.fill(question),
                    seed=_answer_seed(self.settings["seed"], name, sample),
                    temperature=self.settings["temperature"],
                    max_tokens=self.settings["max_tokens"],
                    logprobs=self.settings["logprobs"],
                    extra=None if effort is None else {"reasoning_effort": effort},
                )
            except EndpointError as error:
                # The openai package has retried what got no reply; a reply that holds no answer is
                # retried here.
                is_last = attempt == self.tries or self.stop.is_set()
                if error.code != "odd_reply" or is_last:
                    raise EndpointError(f"question {name!r}: {error}") from None
        raise AssertionError("unreachable")

    def spent(self) -> str:
        """Tokens, and dollars where there are prices."""
        held = self.store.held
        price_in, price_out = self.prices
        dollars = (held.prompt_tokens * price_in + held.tokens * price_out) / 1e6
        return f"{held.tokens:,} tokens" + (f", ${dollars:.2f}" if any(self.prices) else "")

    def _show(self) -> None:
        """Write what was spent behind the progress bar."""
        self.bar.set_postfix_str(self.spent(), refresh=False)


def _check_settings(
    samples: int, concurrency: int, max_tokens: int, temperature: float, *prices: float
) -> None:
    """Raise ValueError for settings out of range."""
    if not (
        1 <= samples <= MAX_SAMPLES
        and 1 <= concurrency <= MAX_CONCURRENCY
        and 1 <= max_tokens <= 10**9
    ):
        limits = f"samples from 1 to {MAX_SAMPLES:,}, concurrency from 1 to {MAX_CONCURRENCY:,}"
        need = f"{limits} and max_tokens >= 1"
        raise ValueError(f"need {need}, got {samples=}, {concurrency=}, {max_tokens=}")
    if not 0 <= temperature < 100:
        raise ValueError(f"need temperature >= 0, got temperature={temperature}")
    if not all(0 <= price < math.inf for price in prices):
        raise ValueError(
            f"need prices that are numbers, 0 or more, got {' and '.join(map(str, prices))}"
        )


def _answer_seed(seed: int | None, name: str, sample: int) -> int | None:
    """A seed for every answer, the same in every run and different for every answer."""
    if seed is None:
        return None
    digest = hashlib.sha256(f"{seed}/{name}/{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1  # 31 bits, which every endpoint takes
