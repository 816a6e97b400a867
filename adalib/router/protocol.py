"""The shapes of the OpenAI interface: what a request may say, and what a reply, a stream and an error look like."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any
from uuid import uuid4

from adalib.llm.questions import Prompt
from adalib.router.ask import Asking, Routed

__all__ = ["Request", "RequestError", "completion", "error_body", "extras", "read_request", "stream_chunks"]

_OWN = "adalib"  # the field of a request with our settings, and of a reply with our figures
_READ = ("model", "messages", "stream", "stream_options", "n", "temperature", "seed", _OWN)
_LIMITS = ("max_completion_tokens", "max_tokens")
_REFUSED = ("tools", "functions", "logprobs", "top_logprobs", "audio", "modalities")
_MOST_CHOICES = 128
_FINISHES = ("stop", "length", "content_filter")


class RequestError(Exception):
    """What the caller is told, in the shape of an OpenAI error."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error", code: str | None = None):
        super().__init__(message)
        self.status, self.kind, self.code = status, kind, code


def error_body(error: RequestError) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": str(error), "type": error.kind, "param": None, "code": error.code}}


@dataclass(frozen=True)
class Request:
    """A request that was read: what to send, what the policy reads, and how to ask."""

    messages: list[dict[str, Any]]
    question: str
    how: Asking
    choices: int
    stream: bool
    include_usage: bool


def read_request(body: bytes, model: str, defaults: Asking, prompt: Prompt | None) -> Request:
    """Read the body of a chat completion.

    Temperature 0 would give the same answer again and again, and ``n > 1`` asks for choices and not for a vote: both
    get plain answers, as their caller expects. What we do not know is passed on; what we cannot answer is a
    `RequestError`.
    """
    try:
        asked = json.loads(body)
        json.dumps(asked, ensure_ascii=False).encode()  # JSON can carry half a character, which nothing else can
    except UnicodeEncodeError:
        raise RequestError(400, "the body holds half a character (a surrogate without its other half)") from None
    except ValueError:
        raise RequestError(400, "the body is not JSON") from None
    except RecursionError:
        raise RequestError(400, "the body is nested too deep") from None
    if not isinstance(asked, dict):
        raise RequestError(400, "the body must be a JSON object")
    if asked.get("model") != model:
        told = str(asked.get("model"))[:80]
        raise RequestError(404, f"the model {told!r} is not here; this server has {model!r}", code="model_not_found")
    for name in _REFUSED:
        if asked.get(name):
            raise RequestError(400, f"{name} cannot be voted on; ask the upstream itself", code="unsupported_parameter")
    messages, question = _conversation(asked.get("messages"))
    if prompt is not None and len(messages) == 1:
        messages = prompt.fill(question)
    choices, temperature = asked.get("n") or 1, asked.get("temperature")
    if not isinstance(choices, int) or not 1 <= choices <= _MOST_CHOICES:
        raise RequestError(400, f"n must be a whole number from 1 to {_MOST_CHOICES}")
    extra = {name: value for name, value in asked.items() if name not in (*_READ, *_LIMITS) and value is not None}
    options = asked.get("stream_options") or {}
    try:
        how = _asking(asked, defaults, temperature, choices, extra)
        usage = bool(options.get("include_usage"))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestError(400, f"a setting of the request is not sound: {error}") from None
    return Request(messages, question, how, choices, bool(asked.get("stream")), usage)


def _asking(asked: dict, defaults: Asking, temperature: Any, choices: int, extra: dict) -> Asking:
    own = asked.get(_OWN) or {}
    unknown = set(own) - {"price", "cap"}
    if unknown:
        raise ValueError(f"{_OWN} knows price and cap, not {sorted(unknown)[0]!r}")
    temperature = defaults.temperature if temperature is None else float(temperature)
    tokens = next((asked[name] for name in _LIMITS if asked.get(name) is not None), defaults.max_tokens)
    return replace(
        defaults,
        temperature=temperature,
        max_tokens=int(tokens),
        # A caller may be more careful than the server, never less.
        cap=min(defaults.cap, float(own.get("cap", inf))),
        price=None if own.get("price") is None else float(own["price"]),
        votes=temperature > 0 and choices == 1 and not extra.get("response_format"),
        seed=None if asked.get("seed") is None else int(asked["seed"]),
        extra=extra,
    )


def _conversation(messages: Any) -> tuple[list[dict], str]:
    """The turns, and the text of the user's last one."""
    if not isinstance(messages, list) or not messages or not all(isinstance(turn, dict) for turn in messages):
        raise RequestError(400, "messages must be a list of turns, each with role and content")
    for turn in reversed(messages):
        if turn.get("role") == "user":
            return messages, _text(turn.get("content"))
    raise RequestError(400, "messages must hold a turn of the user")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return "\n".join(str(part.get("text", "")) for part in content)
    raise RequestError(400, "the content of a turn must be text; this server reads no pictures or sound")


def extras(routed: Sequence[Routed]) -> dict[str, Any]:
    """Our figures: of one vote all of them, of several plain answers what they share."""
    told = {name: value for name, value in vars(routed[0]).items() if name not in ("text", "finish")}
    if len(routed) > 1:
        for name in ("samples", "cost", "money", "tokens", "prompt_tokens"):
            told[name] = sum(getattr(one, name) for one in routed)
    return told


def completion(routed: Sequence[Routed], model: str) -> dict[str, Any]:
    """The reply: the winning answer's own text, and ``usage`` over all samples."""
    choices = [
        {
            "index": number,
            "message": {"role": "assistant", "content": one.text, "refusal": None},
            "logprobs": None,
            "finish_reason": _finish(one),
        }
        for number, one in enumerate(routed)
    ]
    return _head("chat.completion", model) | {"choices": choices, "usage": _usage(routed), _OWN: extras(routed)}


def stream_chunks(routed: Sequence[Routed], model: str, include_usage: bool) -> list[dict[str, Any]]:
    """The same reply as a stream: the text of each choice, its end, and our figures with the last."""
    head = _head("chat.completion.chunk", model)
    chunks = []
    for number, one in enumerate(routed):
        for delta, finish in (({"role": "assistant", "content": one.text}, None), ({}, _finish(one))):
            choice = {"index": number, "delta": delta, "logprobs": None, "finish_reason": finish}
            chunks.append(head | {"choices": [choice]})
    chunks[-1] |= {_OWN: extras(routed)}
    return [*chunks, head | {"choices": [], "usage": _usage(routed)}] if include_usage else chunks


def _head(kind: str, model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _usage(routed: Sequence[Routed]) -> dict[str, int]:
    read, written = sum(one.prompt_tokens for one in routed), sum(one.tokens for one in routed)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _finish(one: Routed) -> str:
    return one.finish if one.finish in _FINISHES else "stop"
