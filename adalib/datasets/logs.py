"""Read logs as sampled answers: what `serve --keep`, LiteLLM, Helicone or OpenRouter write.

A line is one request and its reply, and requests with the same messages are samples of one
question. A log does not contain the correct answers: a field of its lines gives them, or a file
with ``gold`` and with ``question`` or ``id`` (`adalib.datasets.golds`).
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from adalib.datasets.files import DataError, read_lines
from adalib.datasets.golds import read_golds
from adalib.datasets.loading import text_hash
from adalib.datasets.responses import Responses
from adalib.datasets.sampled import join_samples
from adalib.vote.kinds import Reader, answer_reader


class _Reply(NamedTuple):
    """One logged answer."""

    text: str
    finish: str
    tokens: float | None  # generated, where the log has it for each answer
    logprob: float | None  # mean per token, likewise


def is_log(path: str | os.PathLike) -> bool:
    """Whether a file begins with a logged request."""
    first = next(read_lines(path, nan_as_none=True), None) if Path(path).is_file() else None
    return first is not None and "answers" not in first[1] and bool(_request(first[1]))


def read_log(path: str | os.PathLike, gold: str, kind: str = "auto") -> tuple[Responses, str]:
    """Read the questions of a log that have at least R answers, and keep the first R of each.

    R is the number that keeps the most answers in all.

    Parameters
    ----------
    path : path
        The log, JSON Lines.
    gold : str
        A file of correct answers, or a field such as ``metadata.gold``.
    kind : str
        What an answer is, as in `adalib.vote.kinds`.

    Returns
    -------
    Responses, str
        The answers, and one sentence on what was left out.
    """
    golds = read_golds(gold) if Path(gold).is_file() else None
    questions: dict[str, dict[str, Any]] = {}
    replies: dict[str, list[_Reply]] = {}
    models: set[str] = set()
    count = 0
    extract = answer_reader(kind)
    for _, record in read_lines(path):
        count += 1
        request = _request(record)
        given = _replies(record)
        cached = str(record.get("cache_hit")).lower() == "true"  # a copy is no new sample
        if not request or not given or cached:
            continue
        models.add(str(_find(record, "model") or _find(record, "request_model")))
        key = text_hash(json.dumps(request, sort_keys=True))
        question = user_text(request)
        correct = golds.of(question, record.get("id")) if golds else field_at(record, gold)
        questions.setdefault(key, {"id": key, "question": question, "gold": correct})
        replies.setdefault(key, []).extend(given)
    if len(models) > 1:
        raise DataError(
            f"{path}: holds replies of {', '.join(sorted(models))[:200]}; "
            "give the lines of one model"
        )
    with_gold = {
        key: question for key, question in questions.items() if question["gold"] is not None
    }
    if questions and not with_gold:
        raise DataError(
            f"{path}: {gold} has no correct answer to its questions; name another field, or a file"
        )
    samples = {key: [_sample(reply, extract) for reply in replies[key]] for key in with_gold}
    mend = "sample the questions again with adalib collect"
    responses = join_samples(path, with_gold, samples, mend)
    summary = (
        f"{count:,} lines hold {len(questions):,} prompts; "
        f"kept are {responses.n:,} with {responses.samples} answers each"
    )
    if responses.n < len(with_gold):
        summary += (
            ", and a router asks hard questions more often: these may be harder than your traffic"
        )
    return responses, summary


def _sample(reply: _Reply, extract: Reader) -> dict[str, Any]:
    """Return a logged answer with its fields, as `join_samples` takes it."""
    return {
        "answers": extract(reply.text, reply.finish == "stop"),
        "texts": reply.text,
        "finish": reply.finish,
        "tokens": reply.tokens,
        "logprob": reply.logprob,
    }


def _request(record: dict[str, Any]) -> Any:
    """Return the messages or the prompt of a logged request."""
    return _find(record, "messages") or _find(record, "prompt")


def _replies(record: dict[str, Any]) -> list[_Reply]:
    """Return the answers of a logged reply; none if it failed."""
    choices = _find(record, "choices")
    choices = choices if isinstance(choices, list) else [{"text": _find(record, "completion")}]
    replies = []
    for choice in choices:
        text = field_at(choice, "message.content") or field_at(choice, "text")
        if isinstance(text, str):
            finish = str(field_at(choice, "finish_reason") or "stop")
            tokens = field_at(choice, "tokens")
            logprob = field_at(choice, "logprob")
            replies.append(_Reply(text, finish, tokens, logprob))
    return replies


def user_text(request: Any) -> str:
    """Return the user's last message of a prompt or a list of messages, as one text."""
    turns = request if isinstance(request, list) else [{"role": "user", "content": request}]
    by_user = (
        field_at(turn, "content") for turn in reversed(turns) if field_at(turn, "role") == "user"
    )
    return content_text(next(by_user, ""))


def content_text(content: Any) -> str:
    """Return a message's content as one text; if it has several pieces, their texts."""
    if isinstance(content, list):
        return "\n".join(str(field_at(piece, "text") or "") for piece in content)
    return str(content)


def _find(value: Any, name: str, deep: int = 4) -> Any:
    """Return the first field of this name that is not empty, at any depth up to ``deep``."""
    value = _opened(value)
    if not isinstance(value, dict) or not deep:
        return None
    inside_fields = (_find(field, name, deep - 1) for field in value.values())
    return _opened(value.get(name)) or next(filter(None, inside_fields), None)


def field_at(value: Any, path: str) -> Any:
    """Return a field within fields, such as ``metadata.gold``; None if there is none."""
    for name in path.split("."):
        value = _opened(value)
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _opened(value: Any) -> Any:
    """Return the value of JSON that was logged as a text; other values unchanged."""
    with suppress(ValueError, RecursionError):
        return json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    return value
