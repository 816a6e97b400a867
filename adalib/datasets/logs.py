"""Logs of a gateway as sampled answers: what LiteLLM, Helicone or OpenRouter keep, one request and its reply per line.

Requests with the same messages are samples of one question. A log does not know which answers are right: a field of its
lines says it, or a file with ``question`` and ``gold``. Without either, `agreement` tells what can be told.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from adalib.datasets.files import DataError, read_lines
from adalib.datasets.loading import from_records, text, text_hash
from adalib.datasets.responses import Responses
from adalib.vote.answers import answer_classes, answer_reader

__all__ = ["agreement", "is_log", "read_log"]

# Where a request and its reply stand: in LiteLLM's payload and its table of spend, in Helicone's export, in
# OpenRouter's content of a generation, and in a plain pair.
_ASKED = ("messages", "proxy_server_request.messages", "request_body.messages", "request.messages")
_ASKED += ("data.input.messages", "data.input.prompt", "input.messages", "input.prompt")
_REPLIED = ("response", "response_body", "data.output", "output")
_MODEL = ("model", "request_model", "request_body.model", "request.model", "data.model")


def is_log(path: str | os.PathLike) -> bool:
    """Whether a file begins with a request that somebody logged."""
    first = next(read_lines(path), None) if Path(path).is_file() else None
    return first is not None and "answers" not in first[1] and bool(_first(first[1], _ASKED))


def read_log(path: str | os.PathLike, gold: str | None = None, kind: str = "auto") -> tuple[Responses, str]:
    """The questions of a log with equally many answers each, and one line on what was left out.

    ``gold`` names a file, or a field such as ``metadata.gold``; without it the vote of all answers stands for it. Kept
    are the questions with R answers or more, the first R of each, for the R that keeps the most answers.
    """
    golds, read, models, lines = _golds(gold), answer_reader(kind), Counter[str](), 0
    questions: dict[str, dict[str, Any]] = {}
    for _, record in read_lines(path):
        lines, asked, replies = lines + 1, _first(record, _ASKED), _replies(record)
        if not asked or not replies or str(record.get("cache_hit")).lower() == "true":  # a copy is no new sample
            continue
        models[str(_first(record, _MODEL) or "unnamed")] += 1
        said, key = _question(asked), text_hash(json.dumps(asked, sort_keys=True))
        new = {"id": key, "question": said, "gold": golds.get(said.strip()) if golds else _at(record, gold or "")}
        one = questions.setdefault(key, new | {name: [] for name in ("answers", "texts", "finish")})
        for reply, finish in replies:
            for name, value in (("answers", read(reply, finish == "stop")), ("texts", reply), ("finish", finish)):
                one[name].append(value)
    if len(models) > 1:
        told = ", ".join(f"{name[:60]}: {count:,}" for name, count in models.most_common(5))
        raise DataError(f"{path}: holds replies of several models ({told}); give the lines of one")
    for one in questions.values():
        one["gold"] = one["gold"] if gold else _vote(one["answers"]) or None
    sizes = Counter(len(one["answers"]) for one in questions.values() if one["gold"] is not None)
    if not sizes:
        mend = f"{gold!r} names none: name another field, or a file" if gold else "say what an answer is with --kind"
        raise DataError(f"{path}: no question has {'a right answer' if gold else 'an answer that can be read'}; {mend}")
    most = max(sizes, key=lambda size: size * sum(n for other, n in sizes.items() if other >= size))
    if most < 2:
        raise DataError(f"{path}: hardly a prompt comes twice; sample its questions again with adalib collect")
    kept = [one for one in questions.values() if one["gold"] is not None and len(one["answers"]) >= most]
    for one in kept:
        one |= {name: one[name][:most] for name in ("answers", "texts", "finish")}
    told = f"{lines:,} lines hold {len(questions):,} prompts; kept are {len(kept):,} with {most} answers each"
    return from_records(os.fspath(path), [(f"{path}, question {n}", n, one) for n, one in enumerate(kept, 1)]), told


def agreement(responses: Responses, budgets: Sequence[int], seed: int) -> dict[int, float]:
    """How often a vote of b answers gives what a vote of the other half of the answers gives, on average."""
    one, other = responses.split_samples(seed)
    table = replace(other, golds=[_vote(row) for row in one.answers]).table(budgets)
    return dict(zip(budgets, table.acc.mean(0).tolist(), strict=True))


def _vote(answers: Sequence[str]) -> str:
    """The first answer of the largest class, "" where none could be read."""
    classes = answer_classes(answers).tolist()
    counts = Counter(number for number in classes if number >= 0)
    return answers[classes.index(counts.most_common(1)[0][0])] if counts else ""


def _golds(gold: str | None) -> dict[str, str]:
    """The right answers of a file, by question; none where the name is not a file's."""
    lines = read_lines(gold) if gold and Path(gold).is_file() else ()
    names = ("question", "gold")
    told = [[text(record.get(name), f'{gold}, line {n}: "{name}"') for name in names] for n, record in lines]
    return {question.strip(): right for question, right in told}


def _replies(record: dict[str, Any]) -> list[tuple[str, str]]:
    """The texts of a reply, each with how it ended; none where it failed."""
    reply = _first(record, _REPLIED)
    if isinstance(reply, dict) and isinstance(reply.get("completion"), str):
        return [(reply["completion"], str(_at(record, "data.finish_reason") or "stop"))]
    choices = reply.get("choices") if isinstance(reply, dict) else None
    choices = choices if isinstance(choices, list) else []
    told = [(_at(one, "message.content") or _at(one, "text"), _at(one, "finish_reason")) for one in choices]
    return [(said, str(finish or "stop")) for said, finish in told if isinstance(said, str)]


def _question(asked: Any) -> str:
    """What the user said last; of parts, the texts."""
    turns = asked if isinstance(asked, list) else [{"role": "user", "content": asked}]
    said = next((_at(turn, "content") for turn in reversed(turns) if _at(turn, "role") == "user"), "")
    parts = said if isinstance(said, list) else [{"text": said}]
    return "\n".join(str(_at(part, "text")) for part in parts if _at(part, "text"))


def _first(record: dict[str, Any], paths: Sequence[str]) -> Any:
    return next((value for value in (_opened(_at(record, path)) for path in paths) if value), None)


def _at(record: Any, path: str) -> Any:
    """A field within fields, None where there is none."""
    for name in path.split("."):
        record = _opened(record)
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _opened(value: Any) -> Any:
    """JSON that is kept as a text, as what it says."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value
