"""Sample many answers to many questions from any OpenAI-compatible endpoint.

The `openai` package sends the requests and retries those that fail. What is added here: a limit on
the requests in flight, a progress bar, and a file to which each answer is appended as it arrives,
so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Coroutine, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from io import RawIOBase
from math import inf
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple, TypeVar

from tqdm.auto import tqdm

from adalib.ask.ceiling import (
    Bill,
    CeilingError,
    PricePair,
    Purse,
    at_most,
    billed,
    checked_prices,
    spread,
    table,
    total,
    usual_read,
)
from adalib.ask.endpoint import TOP_LOGPROBS, check_base_url
from adalib.ask.reply import parsed, read_reply
from adalib.datasets.files import (
    DataError,
    make_folder,
    read_json,
    read_lines,
    read_whole,
    write_lines,
)
from adalib.datasets.loading import QuestionRules, data_folder
from adalib.datasets.responses import Prices
from adalib.vote.extract import Kind, extract_answer

Result = TypeVar("Result")

DEFAULT_PROMPT = (
    "{question}\n\nThink step by step. Then give the result on a last line of its own, "
    "in the form\nAnswer: ..."
)
_RUN = "run.json"  # the settings of a folder
_ANSWERS = "answers.jsonl"
_SENT = "sent.jsonl"  # every request of a run with a ceiling, with the most that it can cost
_RETRY_HEADER = "x-stainless-retry-count"  # of a request, by the `openai` package
_RETRIES = 6  # of one request, by the `openai` package
_NOTED = ("text", "finish", "tokens", "prompt_tokens", "logprob", "entropy")  # of each answer
_MEASURED = ("tokens", "logprob", "entropy")  # numbers of an answer that `adalib.load` reads


class EndpointError(RuntimeError):
    """The endpoint refused or kept failing; the message is one line to show."""


def load_prompt(name: str | os.PathLike | None = None) -> list[dict[str, str]]:
    """Read the messages of a prompt: a file, a bundled prompt by its name, or the default.

    A prompt file is JSON, ``{"messages": [{"role": "user", "content": "... {question} ..."}]}``.
    """
    if name is None:
        return [{"role": "user", "content": DEFAULT_PROMPT}]
    path = _find(name, "prompts", ".json")
    messages = read_json(read_whole(path), str(path)).get("messages")
    try:
        turns = [{"role": turn["role"], "content": turn["content"]} for turn in messages or ()]
        are_texts = all(isinstance(text, str) for turn in turns for text in turn.values())
        has_gap = are_texts and any("{question}" in turn["content"] for turn in turns)
    except (KeyError, TypeError):
        has_gap = False
    if not has_gap:
        raise DataError(
            f'{path}: is no prompt; write {{"messages": [{{"role": "user", "content": '
            '"... {question} ..."}]}'
        )
    return turns


def fill_prompt(messages: Sequence[dict[str, str]], question: str) -> list[dict[str, str]]:
    """Return the messages that ask this question; other braces are just text."""
    return [
        {**turn, "content": turn["content"].replace("{question}", question)} for turn in messages
    ]


def load_questions(
    name: str | os.PathLike, needs: tuple[str, ...] = ("id", "question", "gold")
) -> list[dict[str, Any]]:
    """Read questions: JSON Lines with the fields in ``needs``, or a bundled set.

    Where no ``gold`` is needed, it may be missing or empty.
    """
    path = _find(name, "questions", ".jsonl")
    rules = QuestionRules(needs)
    blank = () if "gold" in needs else ("gold",)
    questions = [
        record
        | rules.texts(dict.fromkeys(blank, "") | record, f"{path}, line {number}", number, blank)
        for number, record in read_lines(path)
    ]
    if not questions:
        raise DataError(
            f"{path}: holds no questions; write one JSON object with {', '.join(needs)} a line"
        )
    return questions


def request_fields(
    model: str, temperature: float | None, max_tokens: int, reasoning_effort: str | None
) -> dict[str, Any]:
    """Return the fields that all requests of a run have in common."""
    # A reasoning model counts its thoughts too, and calls the limit by another name.
    limit = "max_tokens" if reasoning_effort is None else "max_completion_tokens"
    fields: dict[str, Any] = {"model": model, "temperature": temperature, limit: max_tokens}
    fields["reasoning_effort"] = reasoning_effort
    return {name: value for name, value in fields.items() if value is not None}


def _find(name: str | os.PathLike, shelf: str, ending: str) -> Path:
    """Return the bundled file of that name, else the path as it was given."""
    bundled = data_folder() / shelf / f"{name}{ending}"
    return bundled if not Path(name).suffix and bundled.is_file() else Path(name)


def collect(
    questions: str | os.PathLike,
    out: str | os.PathLike,
    *,
    base_url: str,
    model: str,
    samples: int = 48,
    prompt: str | os.PathLike | None = None,
    temperature: float | None = 0.7,
    max_tokens: int = 256,
    logprobs: bool = False,
    reasoning_effort: str | None = None,
    thinking: str | None = None,
    kind: Kind = "number",
    concurrency: int = 16,
    key_env: str = "OPENAI_API_KEY",
    timeout: float = 120.0,
    prices: PricePair | None = None,
    most_dollars: float | None = None,
    dry_run: bool = False,
) -> Path | None:
    """Sample the answers that are missing, then write all of them as a file for `adalib.load`.

    Works in a notebook too. Interrupt it and call it again to go on: answers that arrived are kept.
    Explained on the page "Run it on your own answers".

    Parameters
    ----------
    questions : path-like or str
        JSON Lines with ``id``, ``question``, ``gold`` and whatever else the file of answers should
        carry, or the name of a bundled set.
    out : path-like
        Folder for ``answers.jsonl`` (one line per answer, in the order of arrival), ``run.json``
        (the settings) and ``responses.jsonl`` (one line per question).
    base_url : str
        An OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1.
    model : str
        The model's name there.
    samples : int
        Answers per question, including those that are in the folder already.
    prompt : path-like or str, optional
        A prompt file or the name of a bundled one, see `load_prompt`.
    temperature : float or None
        Sampling temperature; None leaves the choice to the endpoint.
    max_tokens : int
        Tokens at which an answer is cut.
    logprobs : bool
        Whether to keep the mean log-probability and entropy of every answer's tokens.
    reasoning_effort : str, optional
        How long a reasoning model may think, such as ``low`` or ``high``. The lines carry it as
        ``effort``, so that the files of several efforts, one after the other, are a menu.
    thinking : str, optional
        A cap on the tokens of thoughts, by the endpoint's own field: ``thinking_token_budget=512``
        (vLLM), ``reasoning.max_tokens=512`` (OpenRouter). It is an effort of the menu too.
    kind : {"number", "choice", "text"}
        What is read out of a text that marks no answer, see `extract_answer`.
    concurrency : int
        Requests in flight at a time.
    key_env : str
        The environment variable that holds the key.
    timeout : float
        Seconds for one request.
    prices : (float, float), optional
        Dollars for a million tokens of the prompt and of the answer.
    most_dollars : float, optional
        What the folder may cost at most. No request is sent that could pass it.
    dry_run : bool
        Say what the missing answers should cost and what they can cost, and ask nothing.

    Returns
    -------
    Path or None
        The file ``responses.jsonl``, for `adalib.load`; None after a dry run.

    Raises
    ------
    DataError
        If a file is bad, or the folder was begun with other settings.
    EndpointError
        If the endpoint refuses, or keeps failing, or the ceiling is reached. What was collected is
        kept.

    Examples
    --------
    An endpoint on this machine that always gives the same answer, asked three times:

    >>> import json
    >>> from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from threading import Thread
    >>> from adalib import load
    >>> from adalib.ask.collect import collect
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
    ...     file = collect(asked, Path(folder, "run"), base_url=url, model="m", samples=3)
    ...     load(file).answers
    [['7', '7', '7']]
    >>> server.shutdown()
    >>> server.server_close()
    """
    import openai  # noqa: F401  a missing one is said before anything is written

    if samples < 1 or concurrency < 1 or max_tokens < 1 or not timeout > 0:
        raise ValueError(
            f"samples is {samples}, concurrency {concurrency}, max_tokens {max_tokens} and timeout "
            f"{timeout}; give more than 0 of each"
        )
    paid = checked_prices(prices, most_dollars)
    asked = load_questions(questions)
    messages = load_prompt(prompt)
    check_base_url(base_url, "base_url")
    fields = request_fields(model, temperature, max_tokens, reasoning_effort)
    if logprobs:
        fields |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    fields |= _thinking_fields(thinking)
    folder = Path(out)
    prompts = [(question, fill_prompt(messages, question["question"])) for question in asked]
    settings = fields | {"messages": messages}
    before = _questions_before(folder, settings)
    there = {(record["id"], record["sample"]) for record in _kept(folder)}
    hashes = {one["id"]: hash_of([one["question"], one["gold"]]) for one in asked}
    _check_questions(questions, hashes, before, {name for name, _ in there}, folder)
    # A round over all questions before the next sample of any of them.
    missing = [
        _Missing(question["id"], sample, filled, at_most(filled, max_tokens))
        for sample in range(samples)
        for question, filled in prompts
        if (question["id"], sample) not in there
    ]
    booked = _booked(
        folder, {question["id"]: at_most(filled, max_tokens) for question, filled in prompts}
    )
    if dry_run:
        print(_estimate(folder, missing, booked, paid))
        return None
    make_folder(folder)
    if before | hashes != before or not (folder / _RUN).exists():
        write_lines(folder / _RUN, [settings | {"questions": before | hashes}])
    left = inf if most_dollars is None or paid is None else most_dollars - booked.dollars(paid)
    key = os.environ.get(key_env) or "none"  # an endpoint on this machine needs no key
    endpoint = {"base_url": base_url, "api_key": key, "timeout": timeout}
    try:
        run_to_end(_ask_all(missing, endpoint, fields, folder, concurrency, Purse(left, paid)))
    except EndpointError as error:
        raise EndpointError(
            f"{base_url}: {error}; the answers so far are kept in {folder}, "
            "run the same command again to go on"
        ) from None
    efforts = [effort for effort in (reasoning_effort, thinking) if effort is not None]
    written_by = {"model": model, "effort": " ".join(efforts) or None}
    return _export(asked, samples, folder, kind, written_by)


def _thinking_fields(thinking: str | None) -> dict[str, Any]:
    """Return the fields of a request that cap its thoughts."""
    if thinking is None:
        return {}
    name, _, cap = thinking.partition("=")
    if not (all(name.split(".")) and cap.isdecimal()):
        raise ValueError(
            f"thinking is {thinking!r}; give the endpoint's field and a number of tokens, such as "
            "thinking_token_budget=512"
        )
    fields: Any = int(cap)
    for part in reversed(name.split(".")):
        fields = {part: fields}
    return dict(fields)


class _Missing(NamedTuple):
    """An answer to be asked for."""

    id: str
    sample: int
    messages: list[dict[str, str]]
    most: Bill  #: that one request for it can take


async def _ask_all(
    missing: Sequence[_Missing],
    endpoint: dict[str, Any],
    fields: dict[str, Any],
    folder: Path,
    concurrency: int,
    purse: Purse,
) -> None:
    """Ask for every missing answer, and append each to the folder's file as it arrives."""
    import httpx2
    import openai

    gate = asyncio.Semaphore(concurrency)

    async def ask(one: _Missing) -> None:
        # A request that is sent again may be billed again.
        most = (1 + _RETRIES) * one.most
        async with gate, purse.reserved(most) as settle:
            name = {"id": one.id, "sample": one.sample}
            if sent is not None:
                booked = {"read": most.read, "written": most.written}
                _append(sent, name | booked, folder / _SENT)
            try:
                response = await client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body={"messages": one.messages, **fields},
                )
                answer = read_reply(parsed(response.content))
            except (openai.OpenAIError, ValueError) as error:
                raise EndpointError(f"question {one.id!r}: {reason(error)}") from None
            # Answers are read out of the texts once all are there.
            record = name | {name: getattr(answer, name) for name in _NOTED}
            record["retries"] = int(response.request.headers.get(_RETRY_HEADER, 0))
            _append(file, record, folder / _ANSWERS)
            settle(_billed(record, one.most))
        bar.update()

    async with openai.AsyncOpenAI(**endpoint, max_retries=_RETRIES) as client:
        # No bar where no terminal shows it.
        bar = tqdm(total=len(missing), disable=None)
        noted: Any = _appended(folder / _SENT) if purse.is_limited else nullcontext()
        with _appended(folder / _ANSWERS) as file, noted as sent, bar:
            try:
                async with asyncio.TaskGroup() as group:
                    for one in missing:
                        group.create_task(ask(one))
            except ExceptionGroup as failures:
                (error, *_) = failures.exceptions
                if isinstance(error, CeilingError):
                    raise EndpointError(str(error)) from None
                raise error from None


def _billed(record: dict[str, Any], most: Bill) -> Bill:
    """Return what an answer can have taken, with the requests before it that failed."""
    return billed(record, most) + record.get("retries", 0) * most


def _booked(folder: Path, bounds: dict[str, Bill]) -> Bill:
    """Return what the answers of a folder took, and what others can have taken that were lost."""
    answers = {(record["id"], record["sample"]): record for record in _kept(folder)}
    bills = [_billed(record, bounds.get(name, Bill())) for (name, _), record in answers.items()]
    for _, line in _whole_lines(folder / _SENT):
        # The first request for an answer that is there is settled by it.
        if answers.pop((line["id"], line["sample"]), None) is None:
            bills.append(Bill(1, line["read"], line["written"]))
    return total(bills)


def _estimate(
    folder: Path, missing: Sequence[_Missing], booked: Bill, prices: Prices | None
) -> str:
    """Say what the missing answers should cost, by those that are there, and can cost at most."""
    rows = {"so far": booked} if booked.answers else {}
    written = [record["tokens"] for record in _kept(folder) if record["tokens"] is not None]
    if len(written) > 1 and missing:
        count = len(missing)
        read = sum(usual_read(one.messages) for one in missing)
        mean, half = fmean(written) * count, spread(stdev(written), count, len(written))
        for name, tokens in (("expected", mean), ("from", mean - half), ("to", mean + half)):
            rows[name] = Bill(count, read, max(tokens, 0.0))
    rows["at most"] = (1 + _RETRIES) * total(one.most for one in missing)
    words = "at most if every answer is cut at its limit, and failed and billed six times before"
    if "expected" not in rows:
        words += "; what is expected is said once a few answers are there (--samples 2)"
    return f"{table(rows, prices)}\n{words}"


def reason(error: Exception) -> str:
    """Say in a few words why the endpoint gave no answer, and what to check."""
    import openai

    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        # Some endpoints repeat the key in their message, so it is not shown.
        return f"it refused the key (HTTP {error.status_code}); check the variable that holds it"
    if isinstance(error, openai.NotFoundError):
        return "HTTP 404; check the base URL, which often ends in /v1, and the model's name"
    if isinstance(error, openai.APIStatusError):
        return f"HTTP {error.status_code} ({' '.join(str(error.message).split())[:200]})"
    return " ".join(str(error).split())[:200]


def _questions_before(folder: Path, settings: dict[str, Any]) -> dict[str, str]:
    """Return what the folder's questions were; DataError if it was begun with other settings.

    Of each question that was ever asked, the folder has a hash by its id, if it is not an old one.
    """
    path = folder / _RUN
    if not path.exists():
        return {}
    before = read_json(read_whole(path), str(path))
    asked = before.pop("questions", {})
    check_settings(folder, before, settings)
    return asked if isinstance(asked, dict) else {}


def check_settings(folder: Path, before: dict[str, Any], settings: dict[str, Any]) -> None:
    """Raise DataError if a folder was begun with other settings."""
    for name in settings | before:
        if before.get(name) != settings.get(name):
            raise DataError(
                f"{folder}: was begun with {name} {before.get(name)!r}, now it is "
                f"{settings.get(name)!r}; use the first one, or another folder"
            )


def _check_questions(
    questions: str | os.PathLike,
    hashes: dict[str, str],
    before: dict[str, str],
    answered: Set[str],
    folder: Path,
) -> None:
    """Raise DataError if a question has changed since it was answered."""
    for name, hashed in hashes.items():
        if name in answered and before.get(name, hashed) != hashed:
            path = _find(questions, "questions", ".jsonl")
            line = next(number for number, record in read_lines(path) if str(record["id"]) == name)
            raise DataError(
                f"{path}, line {line}: the text or the gold of {name!r} has changed since it was "
                f"answered in {folder}; give it another id or use another folder, or, to keep its "
                f"answers, remove it from the questions in {folder / _RUN}"
            )


def hash_of(value: Any) -> str:
    """Return a short name of a value, such as what was asked and what is right."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def _kept(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the answers of a folder.

    A line that is JSON, but no answer, was written by somebody else.
    """
    path = folder / _ANSWERS
    for number, record in _whole_lines(path):
        if not _is_answer(record):
            raise DataError(
                f"{path}, line {number}: is no answer that was collected; remove the line, and "
                "the answer is sampled again"
            )
        yield record


def _whole_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield number and content of every line, but those that were cut when a program ended."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                continue


def _is_answer(record: Any) -> bool:
    """Whether a line of the folder is what `collect` writes."""
    if not isinstance(record, dict) or not {"id", "sample", *_MEASURED} <= set(record):
        return False
    texts = (record["id"], record.get("text"), record.get("finish"))
    return (
        all(isinstance(text, str) for text in texts)
        and type(record["sample"]) is int
        and all(type(record[name]) in (int, float, type(None)) for name in _MEASURED)
    )


def _appended(path: Path) -> RawIOBase:
    """Open a file of the folder to append to, on a line of its own."""
    is_torn = path.exists() and not path.read_bytes().endswith(b"\n")
    try:
        file = path.open("ab", buffering=0)  # what is written stays if the program is killed
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); check who owns it"
        ) from None
    if is_torn:
        file.write(b"\n")
    return file


def _append(file: RawIOBase, record: dict[str, Any], path: Path) -> None:
    """Write one answer; DataError where there is no room for it."""
    line = json.dumps(record).encode() + b"\n"
    try:
        if file.write(line) == len(line):
            return
        fault = "no space left"
    except OSError as error:
        fault = str(error.strerror)
    raise DataError(
        f"{path}: cannot be written ({fault}); make room and run the same command again, which "
        "goes on from the answers that are there"
    )


def _export(
    asked: Sequence[dict[str, Any]],
    samples: int,
    folder: Path,
    kind: Kind,
    written_by: dict[str, str | None],
) -> Path:
    """Write the folder's answers as one line per question, in the order of their requests.

    Not in the order of arrival, in which short answers come first. Answers are read out of the
    texts here, so that another ``kind`` needs no new samples.
    """
    records = {(record["id"], record["sample"]): record for record in _kept(folder)}
    rows = [[records[question["id"], sample] for sample in range(samples)] for question in asked]
    is_reported = {
        name: all(record[name] is not None for row in rows for record in row) for name in _MEASURED
    }
    lines = []
    for question, row in zip(asked, rows, strict=True):
        line = question | {name: value for name, value in written_by.items() if value is not None}
        line["answers"] = [
            extract_answer(record["text"], record["finish"] == "stop", kind) for record in row
        ]
        for name in _MEASURED:
            if is_reported[name]:
                line[name] = [record[name] for record in row]
        lines.append(line)
    path = folder / "responses.jsonl"
    write_lines(path, lines)
    return path


def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, in a script or in a notebook; an interrupt cancels it."""
    # In a thread of its own, because a notebook's thread runs a loop already.
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    try:
        with ThreadPoolExecutor(1) as thread:
            future = thread.submit(loop.run_until_complete, task)
            try:
                return future.result()
            except KeyboardInterrupt:
                loop.call_soon_threadsafe(task.cancel)
                raise
    finally:
        loop.close()
