"""The lines of the Batch API: a request for one answer, and what came back for it.

A request asks for one answer, since an endpoint reports the tokens of several in one sum. Its
``custom_id`` says which answer to which question it is, and for the how manyth time it was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from adalib.ask.reply import read_reply
from adalib.datasets.files import DataError
from adalib.vote.extract import Kind, extract_answer

#: What one file may hold.
MOST_LINES = 50_000
MOST_BYTES = 200_000_000
URL: Literal["/v1/chat/completions"] = "/v1/chat/completions"

_NAME = re.compile(r"q([0-9]{1,9})-a([0-9]{1,9})-t([0-9]{1,9})")
# Of the statuses from 400 to 499 those for which the same request may succeed later.
_LATER = (408, 409, 425, 429)


class Request(NamedTuple):
    """One line of a job: which answer to which question, and the how manyth try."""

    question: int  #: its place in the file of questions, from 0
    copy: int  #: which of its answers, from 0
    attempt: int  #: from 1

    def name(self, tag: str) -> str:
        """Return the line's ``custom_id``; the tag tells jobs apart.

        >>> Request(3, 0, 1).name("2f")
        '2f-q3-a0-t1'
        """
        return f"{tag}-q{self.question}-a{self.copy}-t{self.attempt}"

    @classmethod
    def of(cls, name: Any, tag: str) -> Request | None:
        """Return the request of a ``custom_id``; None if the job did not write it."""
        if not isinstance(name, str) or not name.startswith(f"{tag}-"):
            return None
        found = _NAME.fullmatch(name.removeprefix(f"{tag}-"))
        return None if found is None else cls(*map(int, found.groups()))


def request_line(name: str, body: Mapping[str, Any]) -> bytes:
    """Return one line to send."""
    line = {"custom_id": name, "method": "POST", "url": URL, "body": body}
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def in_parts(
    lines: Iterable[bytes], most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES
) -> Iterator[list[bytes]]:
    """Deal lines into files that an endpoint accepts.

    >>> [len(part) for part in in_parts([b"{}"] * 5, most_lines=2)]
    [2, 2, 1]
    """
    part: list[bytes] = []
    size = 0
    for line in lines:
        if len(line) > most_bytes:
            raise DataError(
                f"a request has {len(line):,} bytes, and a file may have {most_bytes:,}; shorten "
                "the prompt"
            )
        if part and (len(part) == most_lines or size + len(line) > most_bytes):
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield part


def is_result(record: Mapping[str, Any]) -> bool:
    """Whether a line says what came back, and is not the request itself, in a file gone astray."""
    return "response" in record or "error" in record


def read_result(record: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """Return what one line of an output or error file says, as a record of our own.

    It has an ``answer`` with its text and numbers; or a ``fault`` in words, and ``again``, whether
    the same request may succeed later. ``reply`` tells two replies to one request apart. An error
    may be an object or a text, beside a response or without one, and a response may have no body.
    """
    response = record.get("response")
    response = response if isinstance(response, dict) else {}
    body = response.get("body")
    status = response.get("status_code")
    error = record.get("error") or (body.get("error") if isinstance(body, dict) else None)
    if not error and (status is None or status == 200) and body is not None:
        try:
            answer = read_reply(body)
        except ValueError as fault:
            return {"fault": str(fault), "again": True}
        named = body.get("id") or record.get("id")
        return {
            "reply": str(named or sha256(json.dumps(body).encode()).hexdigest()[:16]),
            "answer": extract_answer(answer.text, answer.finish == "stop", kind),
            "text": answer.text,
            "finish": answer.finish,
            "tokens": answer.tokens,
            "prompt_tokens": answer.prompt_tokens,
            "logprob": answer.logprob,
            "entropy": answer.entropy,
        }
    refused = type(status) is int and 400 <= status < 500 and status not in _LATER
    return {"fault": _in_words(error, status), "again": not refused}


def _in_words(error: Any, status: Any) -> str:
    """Say in a few words what went wrong with one line."""
    inner = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(inner, dict):
        inner = inner.get("code") or inner.get("message") or inner.get("type")
    said = " ".join(str(inner).split())[:120] if inner else ""
    code = f"HTTP {status}" if type(status) is int and status != 200 else ""
    return " ".join(filter(None, (code, said and f"({said})" if code else said))) or "no answer"
