"""Logs of a gateway as sampled answers: what LiteLLM, Helicone or OpenRouter keep, one request and its reply per line.

Requests with the same messages are samples of one question. A log does not know which answers are right: a field of its
lines says it, or a file with ``question`` and ``gold``.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from adalib.datasets.files import DataError, read_lines
from adalib.datasets.loading import from_records, text_hash
from adalib.datasets.responses import Responses
from adalib.vote.answers import answer_reader

__all__ = ["is_log", "read_log"]


def is_log(path: str | os.PathLike) -> bool:
    """Whether a file begins with a request that somebody logged."""
    first = next(read_lines(path), None) if Path(path).is_file() else None
    return first is not None and "answers" not in first[1] and bool(_asked(first[1]))


def read_log(path: str | os.PathLike, gold: str, kind: str = "auto") -> tuple[Responses, str]:
    """The questions of a log with R answers or more, the first R of each, for the R that keeps the most answers.

    And one line on what was left out. ``gold`` names a file, or a field such as ``metadata.gold``."""
    lines = read_lines(gold) if Path(gold).is_file() else ()
    golds = {str(line.get("question")).strip(): line.get("gold") for _, line in lines}
    questions: dict[str, dict[str, Any]] = {}
    replies: dict[str, list[tuple[str, str]]] = {}
    models, count, read = set(), 0, answer_reader(kind)
    for _, record in read_lines(path):
        count, asked, said = count + 1, _asked(record), _replies(record)
        if not asked or not said or str(record.get("cache_hit")).lower() == "true":  # a copy is no new sample
            continue
        models.add(str(_find(record, "model") or _find(record, "request_model")))
        key, question = text_hash(json.dumps(asked, sort_keys=True)), _question(asked)
        right = golds.get(question.strip()) if golds else _at(record, gold)
        questions.setdefault(key, {"id": key, "question": question, "gold": right})
        replies.setdefault(key, []).extend(said)
    if len(models) > 1:
        raise DataError(f"{path}: holds replies of {', '.join(sorted(models))[:200]}; give the lines of one model")
    known = [key for key, one in questions.items() if one["gold"] is not None]
    if questions and not known:
        raise DataError(f"{path}: {gold} tells no right answer to its questions; name another field, or a file")
    sizes = [len(replies[key]) for key in known]
    most = max(set(sizes), key=lambda size: size * sum(other >= size for other in sizes), default=0)
    if most < 2:
        raise DataError(f"{path}: hardly a prompt comes twice; sample its questions again with adalib collect")
    rows: list[tuple[str, int, dict[str, Any]]] = []
    for key in (key for key in known if len(replies[key]) >= most):
        texts, finish = map(list, zip(*replies[key][:most], strict=True))
        answers = [read(said, end == "stop") for said, end in zip(texts, finish, strict=True)]
        row = questions[key] | {"answers": answers, "texts": texts, "finish": finish}
        rows.append((f"{path}, question {len(rows) + 1}", len(rows) + 1, row))
    told = f"{count:,} lines hold {len(questions):,} prompts; kept are {len(rows):,} with {most} answers each"
    return from_records(os.fspath(path), rows), told


def _asked(record: dict[str, Any]) -> Any:
    return _find(record, "messages") or _find(record, "prompt")


def _replies(record: dict[str, Any]) -> list[tuple[str, str]]:
    """The texts of a reply, each with how it ended; none where it failed."""
    choices = _find(record, "choices")
    choices = choices if isinstance(choices, list) else [{"text": _find(record, "completion")}]
    told = [(_at(one, "message.content") or _at(one, "text"), _at(one, "finish_reason")) for one in choices]
    return [(said, str(finish or "stop")) for said, finish in told if isinstance(said, str)]


def _question(asked: Any) -> str:
    """What the user said last; of parts, the texts."""
    turns = asked if isinstance(asked, list) else [{"role": "user", "content": asked}]
    said = next((_at(turn, "content") for turn in reversed(turns) if _at(turn, "role") == "user"), "")
    return "\n".join(str(_at(part, "text") or "") for part in said) if isinstance(said, list) else str(said)


def _find(value: Any, name: str, deep: int = 4) -> Any:
    """The first field of this name that is not empty, wherever it stands."""
    value = _opened(value)
    if not isinstance(value, dict) or not deep:
        return None
    inner = (_find(one, name, deep - 1) for one in value.values())
    return _opened(value.get(name)) or next(filter(None, inner), None)


def _at(value: Any, path: str) -> Any:
    """A field within fields, None where there is none."""
    for name in path.split("."):
        value = _opened(value)
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _opened(value: Any) -> Any:
    """JSON that is kept as a text, as what it says."""
    with suppress(ValueError, RecursionError):
        return json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    return value
