"""What a request for a chat completion says, and what the reply to a vote looks like.

A request that is voted on is read field by field into plain values of the right type, and the
upstream's requests are built from those alone, so that nothing a client writes can make an answer
cost more than was put aside for it.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from adalib.llm.client import EndpointError, is_loopback
from adalib.llm.questions import Prompt
from adalib.router.asking import Asking, CapError, LateError, NotShortError, SpentError
from adalib.router.routed import Routed

OWN = "adalib"  # the field of a request with our settings, and of a reply with our figures
LIMITS = ("max_completion_tokens", "max_tokens")
_NUMBERS = (
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_k",
    "min_p",
    "repetition_penalty",
)
_TEXTS = ("user", "safety_identifier", "prompt_cache_key", "reasoning_effort", "verbosity")
_READ = ("model", "messages", "stream", "stream_options", "n", "temperature", "seed", "stop", OWN)
_VOTED = {*_READ, *LIMITS, *_NUMBERS, *_TEXTS, "logit_bias", "metadata", "store"}
LARGEST_NUMBER = 2.0**63  # of any setting in a request; whatever is larger is a mistake
_ROLES = ("system", "developer", "user", "assistant")
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads


class RequestError(Exception):
    """An error as the caller gets it, in the shape of an OpenAI error."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "invalid_request_error",
        code: str | None = None,
        retry_after: float | None = None,
    ):
        super().__init__(message)
        self.status = status
        self.headers = {} if retry_after is None else {"Retry-After": f"{retry_after:.0f}"}
        self.body = {"error": {"message": message, "type": kind, "param": None, "code": code}}


class VoteRequest(NamedTuple):
    """A request that was read: what to send, what the policy reads, and how to ask."""

    messages: list[dict[str, Any]]
    question: str
    asking: Asking
    model: str  # by the caller's name for it
    stream: bool
    include_usage: bool


def error_for(error: Exception, url: str) -> RequestError:
    """Return the reply to an error; it never names the upstream's address or key."""
    why = str(error).replace(url, "the upstream")
    if isinstance(error, RequestError):
        return error
    if isinstance(error, NotShortError):
        return RequestError(422, why, code="no_short_answer")
    if isinstance(error, SpentError):
        return RequestError(402, f"{why}; raise --total to go on", "insufficient_quota", "spent")
    if isinstance(error, CapError):
        return RequestError(400, why, code="cap_too_low")
    if isinstance(error, LateError):
        return RequestError(504, why, "timeout_error", "timeout")
    if not isinstance(error, EndpointError):
        # One line for the operator: the context of the error may hold a key.
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(at.filename).name}, line {at.lineno}"
        _LOG.error("%s: please report it", where)
        why = f"the server failed on this request ({type(error).__name__})"
        return RequestError(500, why, "server_error")
    if error.code == "insufficient_quota":
        return RequestError(402, why, "insufficient_quota", "insufficient_quota")
    if error.status == 429:
        wait = 1.0 if error.retry_after is None else error.retry_after
        return RequestError(429, why, "rate_limit_error", "upstream_busy", wait)
    if error.status in (400, 413, 415, 422):
        return RequestError(error.status, why, "invalid_request_error", "upstream_refused")
    # A key that the upstream refuses is ours: no 401 sends callers to check their own.
    status = 503 if error.status == 503 else 502
    return RequestError(status, why, "upstream_error", "upstream_error", error.retry_after)


def read_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a request, or raise `RequestError`."""
    try:
        fields = json.loads(body, parse_constant=_no_constant)
        json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        half = "half a character (a surrogate without its other half)"
        raise RequestError(400, f"the body holds {half}") from None
    except RecursionError:
        raise RequestError(400, "the body is nested too deep") from None
    except ValueError as error:
        not_a_number = "JSON compliant" in str(error) or "constant" in str(error)
        why = "holds a number that JSON has no word for" if not_a_number else "is not JSON"
        raise RequestError(400, f"the body {why}") from None
    if not isinstance(fields, dict):
        raise RequestError(400, "the body must be a JSON object")
    return fields


def _no_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(f"the constant {name}")


def why_not_voted(fields: dict[str, Any], names: tuple[str, ...], defaults: Asking) -> str:
    """Return why a request is passed on instead of voted on, "" where it is voted on.

    Temperature 0 gives one answer again and again, and ``n > 1`` asks for choices, not a vote.
    """
    if fields.get("model") not in names:
        return "another model"
    for name, value in fields.items():
        json_kind = name == "response_format" and defaults.kind.startswith("json:")
        if name not in _VOTED and value and not json_kind and name.casefold() not in _VOTED:
            return name[:80]
    if isinstance(fields.get("n"), str):
        raise RequestError(400, "n must be a whole number, not a text")
    if fields.get("n") not in (None, 1):
        return "several choices"
    if fields.get("temperature", defaults.temperature) == 0:
        return "temperature 0"
    messages = fields.get("messages")
    turns = messages if isinstance(messages, list) else []
    texts = [_text_of(turn) for turn in turns if isinstance(turn, dict)]
    return "not text alone" if None in texts else ""


def read_request(fields: dict[str, Any], defaults: Asking, prompt: Prompt | None) -> VoteRequest:
    """Read a chat completion that is voted on, or raise `RequestError`."""
    for name in fields:
        if name not in _VOTED and name.casefold() in _VOTED:
            raise RequestError(400, f"write {name.casefold()} in small letters, not {name[:40]}")
    try:
        messages = _messages(fields.get("messages"))
        users = [turn for turn in messages if turn["role"] == "user"]
        if not users:
            raise ValueError("messages must hold a turn of the user")
        question = _text_of(users[-1]) or ""
        orders = [turn for turn in messages if turn["role"] in ("system", "developer")]
        if prompt is not None and len(users) == 1 and messages == [*orders, *users]:
            messages = [*orders, *prompt.fill(question)]  # a caller's own instructions stay
        options = _of_type(fields, "stream_options", dict) or {}
        return VoteRequest(
            messages,
            question,
            _asking(fields, defaults),
            str(fields["model"]),
            bool(_of_type(fields, "stream", bool)),
            bool(_of_type(options, "include_usage", bool)),
        )
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestError(400, str(error)) from None


def _messages(messages: Any) -> list[dict[str, Any]]:
    """The turns, each rebuilt from its role, its text and perhaps a name."""
    wanted = "messages must be a list of turns, each with role and content"
    if not isinstance(messages, list) or not messages:
        raise ValueError(wanted)
    turns = []
    for turn in messages:
        if not isinstance(turn, dict) or turn.get("role") not in _ROLES:
            raise ValueError(wanted)
        content = turn.get("content")
        if isinstance(content, list):
            content = [{"type": "text", "text": str(part["text"])} for part in content]
        rebuilt = {"role": turn["role"], "content": content or ""}
        name = _of_type(turn, "name", str)
        turns.append(rebuilt | ({"name": name} if name else {}))
    return turns


def _text_of(turn: dict[str, Any]) -> str | None:
    """The text of a turn, None where it holds anything else."""
    unknown = [
        name for name, value in turn.items() if value and name not in ("role", "content", "name")
    ]
    if unknown or turn.get("role") in ("tool", "function"):
        return None
    content = turn.get("content")
    if isinstance(content, str) or content is None:
        return content or ""
    if not isinstance(content, list):
        return None
    for part in content:
        is_text = (
            isinstance(part, dict) and set(part) == {"type", "text"} and part["type"] == "text"
        )
        if not is_text or not isinstance(part["text"], str):
            return None
    return "\n".join(part["text"] for part in content)


def _asking(fields: dict[str, Any], defaults: Asking) -> Asking:
    """Return the settings of a request: its own fields, else the server's defaults."""
    own = _of_type(fields, OWN, dict) or {}
    unknown = set(own) - {"price", "cap"}
    if unknown:
        raise ValueError(f"{OWN} knows price and cap, not {sorted(unknown)[0]!r}")
    read = {name: _integer(fields, name) for name in LIMITS}
    given = {name: limit for name, limit in read.items() if limit is not None}
    if len(set(given.values())) > 1:
        raise ValueError("max_tokens and max_completion_tokens differ; give one of them")
    limit_name = next(iter(given), defaults.limit_name)
    temperature = _number(fields, "temperature")
    cap = _number(own, "cap")
    return replace(
        defaults,
        temperature=defaults.temperature if temperature is None else temperature,
        max_tokens=given.get(limit_name, defaults.max_tokens),
        limit_name=limit_name,
        # A caller may be more careful than the server, never less.
        cap=min(defaults.cap, inf if cap is None else cap),
        price=_number(own, "price"),
        seed=_integer(fields, "seed"),
        extra=_extra(fields),
    )


def _extra(fields: dict[str, Any]) -> dict[str, Any]:
    """The other fields that are sent on with a vote, each of its type."""
    extra: dict[str, Any] = {name: _number(fields, name) for name in _NUMBERS}
    extra |= {name: _of_type(fields, name, str) for name in _TEXTS}
    extra["store"] = _of_type(fields, "store", bool)
    extra["response_format"] = _of_type(fields, "response_format", dict)
    for name in ("logit_bias", "metadata"):
        extra[name] = _of_type(fields, name, dict)
    stop = fields.get("stop")
    texts = [stop] if isinstance(stop, str) else stop
    if stop is not None and not (
        isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    ):
        raise ValueError("stop must be a text or a list of texts")
    extra["stop"] = stop
    return {name: value for name, value in extra.items() if value is not None}


def _of_type(fields: dict[str, Any], name: str, kind: type) -> Any:
    """Return a field of a request; None if absent, ValueError if it is of another type."""
    value = fields.get(name)
    if value is not None and not isinstance(value, kind):
        raise ValueError(f"{name} must be of the type {kind.__name__}")
    return value


def _number(fields: dict[str, Any], name: str) -> float | None:
    """Return a number of a request; None if absent, ValueError if it is not one."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")
    if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:  # nan compares false
        raise ValueError(f"{name} must be a number of at most {LARGEST_NUMBER:g}")
    return value


def _integer(fields: dict[str, Any], name: str) -> int | None:
    """Return a whole number of a request; None if absent, ValueError if it is not one."""
    value = _number(fields, name)
    if value is None:
        return None
    if value != int(value):
        raise ValueError(f"{name} must be a whole number")
    return int(value)


def _figures(routed: Routed) -> dict[str, Any]:
    """What the reply tells about the vote."""
    left_out = ("text", "finish", "fingerprint", "details")
    return {name: value for name, value in vars(routed).items() if name not in left_out}


def completion(routed: Routed, model: str) -> dict[str, Any]:
    """The reply: the winning answer's own text, and ``usage`` over all samples."""
    message = {"role": "assistant", "content": routed.text, "refusal": None}
    choice = _choice(_finish(routed), message=message)
    reply = {"choices": [choice], "usage": _usage(routed), OWN: _figures(routed)}
    return _head("chat.completion", model, routed) | reply


def stream_chunks(routed: Routed, model: str, include_usage: bool) -> list[dict[str, Any]]:
    """The same reply as a stream: the text, its end, and our figures with the last."""
    head = _head("chat.completion.chunk", model, routed)
    text = {"role": "assistant", "content": routed.text}
    first = head | {"choices": [_choice(None, delta=text)]}
    last = head | {"choices": [_choice(_finish(routed), delta={})], OWN: _figures(routed)}
    usage = [head | {"choices": [], "usage": _usage(routed)}] if include_usage else []
    return [first, last, *usage]


def _choice(finish: str | None, **content: dict[str, Any]) -> dict[str, Any]:
    """The one choice of a reply, with a message or a delta."""
    return {"index": 0, **content, "logprobs": None, "finish_reason": finish}


def _head(kind: str, model: str, routed: Routed) -> dict[str, Any]:
    """The fields with which every reply begins."""
    head = {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }
    return head | ({"system_fingerprint": routed.fingerprint} if routed.fingerprint else {})


def _usage(routed: Routed) -> dict[str, Any]:
    """The tokens of all samples, as a client counts them."""
    return {
        "prompt_tokens": routed.prompt_tokens,
        "completion_tokens": routed.tokens,
        "total_tokens": routed.prompt_tokens + routed.tokens,
        **routed.details,
    }


def _finish(routed: Routed) -> str:
    """How the answer ended, in a word that clients know."""
    return routed.finish if routed.finish in ("stop", "length", "content_filter") else "stop"


def vote_headers(routed: Routed) -> dict[str, str]:
    """Our figures as headers, each one short line of ASCII."""
    names = ("samples", "rounds", "cost", "price", "confidence")
    headers = {f"X-Adalib-{name.title()}": f"{getattr(routed, name):g}" for name in names}
    headers["X-Adalib-Reason"] = json.dumps(routed.reason)[:300]
    headers["X-Adalib-Votes"] = json.dumps(dict(list(routed.votes.items())[:16]))[:1000]
    if routed.money:  # by this name LiteLLM books it; without prices that is left to LiteLLM
        headers["x-litellm-response-cost"] = f"{routed.money:.12g}"
    return headers


def is_this_machine(host: str) -> bool:
    """Whether a Host header names this machine."""
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def model_object(name: str) -> dict[str, Any]:
    """A model as the interface lists it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "adalib"}
