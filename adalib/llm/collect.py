"""Many answers to many questions: concurrent, resumable, never one twice.

A collection is a rectangle of questions times samples. What is missing from it is asked for, a round over all
questions before the next sample of any, so that a run that is stopped half-way is a smaller rectangle and not a
shorter list. Stopping is always safe: the same command goes on where the folder ends, and ``samples=96`` after
``samples=48`` asks for the other 48 only.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from adalib.datasets.files import MAX_FILE, MAX_LINE, DataError, write_lines
from adalib.llm.endpoint import Endpoint, EndpointError, wait_for
from adalib.llm.questions import Prompt, load_prompt, load_questions
from adalib.llm.store import MAX_SAMPLES, Store, read_answers, read_settings, scan
from adalib.vote.answers import extract_answer

__all__ = ["collect", "export", "fingerprint", "settings_of"]

MAX_CONCURRENCY = 1_000  # requests in flight at a time; each holds a connection and a reply
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
    seed : int, optional
        Gives every answer a seed of its own, for endpoints that honour seeds.
    logprobs : bool
        Ask for log-probabilities: adds ``logprob`` and ``entropy`` (from the 20 likeliest tokens, see `mean_entropy`).
    price_in, price_out : float
        Dollars per million tokens read and written, for the progress bar.
    key_env : str
        The environment variable that holds the key.
    timeout, tries : float, int
        Seconds for one request; requests for one answer before giving up.
    progress : bool

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
    asked, filled = load_questions(questions), load_prompt(prompt)
    endpoint = Endpoint(base_url, model, key_env=key_env, timeout=timeout, tries=tries)
    settings = settings_of(endpoint, asked, filled, temperature, max_tokens) | {"logprobs": logprobs, "seed": seed}
    with Store(out, settings, {"messages": filled.messages}) as store:
        # Not a list: two hundred thousand questions of 48 answers would fill the memory before the first request.
        todo = ((q, s) for s in range(samples) for q in asked if (q["id"], s) not in store.held)
        missing = len(asked) * samples - store.held.within((q["id"] for q in asked), samples)
        total = store.held.count + missing
        bar = tqdm(total=total, initial=store.held.count, unit="answer", disable=not progress, smoothing=0.05)
        with bar, store.telling(total):
            run = _Run(endpoint, filled, store, todo, bar, settings, (price_in, price_out))
            wait_for(run.until_done(concurrency), run.stop)
        return export(asked, out)


def settings_of(
    endpoint: Endpoint, asked: list[dict], prompt: Prompt, temperature: float, max_tokens: int
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


def export(questions: str | os.PathLike | list[dict], out: str | os.PathLike) -> Path:
    """Write what a folder holds as ``responses.jsonl``, a bring-your-own file for `adalib.load`.

    Answers are read out of the texts here, not while collecting, so a better reader needs no new samples. Every
    question gets the same number of answers: the samples that all questions have. Each line names the model:
    the files of several models, one after the other, are a menu.
    """
    asked = questions if isinstance(questions, list) else load_questions(questions)
    folder = Path(out)
    settings = read_settings(folder)
    if settings.get("questions") != fingerprint([[q["id"], q["question"]] for q in asked]):
        raise DataError(f"{folder} holds answers to other questions: name the file that they were collected for")
    held = scan(folder / "answers.jsonl")
    rounds = held.rounds(q["id"] for q in asked)
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
    path = folder / "responses.jsonl"
    model = {"model": settings["model"]} if isinstance(settings.get("model"), str) else {}
    write_lines(path, (_row(q, rows[q["id"]], fields, with_texts) | model for q in asked))
    return path


def _row(question: dict, answers: list[dict], fields: list[str], with_texts: bool) -> dict:
    row = {name: value for name, value in question.items() if name not in ("answers", "texts", "correct", *FIELDS)}
    row["answers"] = [extract_answer(a["text"], finished=a["finish"] == "stop") for a in answers]
    if with_texts:
        row["texts"] = [a["text"] for a in answers]
    return row | {name: [a[name] for a in answers] for name in fields}


@dataclass
class _Run:
    """The workers of one collection; once ``stop`` is set nobody asks anew."""

    endpoint: Endpoint
    prompt: Prompt
    store: Store
    todo: Iterator[tuple[dict, int]]
    bar: tqdm
    settings: dict[str, Any]
    prices: tuple[float, float]
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def until_done(self, concurrency: int) -> None:
        """Collect all, or until the first error or interrupt has been dealt with."""
        self._show()
        async with self.endpoint:
            ended = await asyncio.gather(*(self._work() for _ in range(concurrency)), return_exceptions=True)
        for error in filter(None, ended):
            raise error

    async def _work(self) -> None:
        try:
            for question, sample in self.todo:
                if self.stop.is_set():
                    return
                await self._answer(question, sample)
        except _StoppedError:
            return
        except Exception:
            self.stop.set()  # nobody asks anew, but what is in flight is paid for and may come in
            raise

    async def _answer(self, question: dict, sample: int) -> None:
        how = {name: self.settings[name] for name in ("temperature", "max_tokens", "logprobs")}
        how |= {"seed": _answer_seed(self.settings["seed"], question["id"], sample), "pause": self._pause}
        try:
            answer = await self.endpoint.sample(self.prompt.fill(question["question"]), **how)
        except EndpointError as error:
            raise EndpointError(f"question {question['id']!r}: {error}") from None
        told = {name: value for name, value in asdict(answer).items() if value is not None}
        self.store.append({"id": question["id"], "sample": sample, **told})
        self._show()
        self.bar.update()

    async def _pause(self, seconds: float, why: str) -> None:
        self._show(f"{why}; again in {seconds:.0f} s")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)
            raise _StoppedError

    def _show(self, trouble: str = "") -> None:
        held, (price_in, price_out) = self.store.held, self.prices
        money = (held.prompt_tokens * price_in + held.tokens * price_out) / 1e6
        parts = [f"{held.tokens:,} tokens", f"${money:.2f}" if price_in or price_out else "", trouble]
        self.bar.set_postfix_str(", ".join(filter(None, parts)), refresh=bool(trouble))


class _StoppedError(Exception):
    """The run was stopped while this answer was waiting for its next try."""


def _check_settings(samples: int, concurrency: int, max_tokens: int, temperature: float, *prices: float) -> None:
    if not (1 <= samples <= MAX_SAMPLES and 1 <= concurrency <= MAX_CONCURRENCY and 1 <= max_tokens <= 10**9):
        raise ValueError(
            f"need samples from 1 to {MAX_SAMPLES:,}, concurrency from 1 to {MAX_CONCURRENCY:,} and max_tokens >= 1, "
            f"got samples={samples}, concurrency={concurrency}, max_tokens={max_tokens}"
        )
    if not 0 <= temperature < 100:
        raise ValueError(f"need temperature >= 0, got temperature={temperature}")
    if not all(0 <= price < math.inf for price in prices):
        raise ValueError(f"need prices that are numbers, 0 or more, got {' and '.join(map(str, prices))}")


def _answer_seed(seed: int | None, name: str, sample: int) -> int | None:
    """A seed for every answer, the same in every run and different for every answer."""
    if seed is None:
        return None
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}/{sample}".encode()).digest()[:4], "big") >> 1


def fingerprint(value: list) -> str:
    """A short name for plain values: the same for the same ones, in every run."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:16]
