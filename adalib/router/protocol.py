"""What a request says, what a reply looks like, and how a request is passed on that is not voted on.

Money is booked as the upstream reports it. Where it reports nothing, the most that a request can have cost is booked,
and for one that was refused or never sent, nothing.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import time
import traceback
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from adalib.llm.endpoint import UNSENT, Endpoint, EndpointError, ReplyError, bounded, usage_of
from adalib.llm.questions import Prompt
from adalib.router.ask import CAP, LATE, PURSE, Asking, NotShortError, Routed
from adalib.router.controller import Purse
from adalib.router.router import Router

try:
    from opentelemetry import propagate, trace
except ImportError:  # then nobody gets spans
    trace = None

__all__ = ["Passing", "Request", "RequestError", "as_fault", "as_sent", "chosen", "completion", "is_here"]
__all__ += ["model_object", "read_body", "read_request", "response_object", "stream_chunks", "traced", "turns_of"]
__all__ += ["vote_headers", "why_passed"]

OWN = "adalib"  # the field of a request with our settings, and of a reply with our figures
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_READ = ("model", "messages", "stream", "stream_options", "n", "temperature", "seed", OWN, *_LIMITS)
_NOT_VOTED = re.compile(  # what a vote on texts would lose
    "tools|functions|(top_)?logprobs|audio|modalities|response_format|prediction|web_search_options|text|include"
    "|previous_response_id|conversation|background"
)
_BILLED = ("chat/completions", "completions", "responses", "embeddings")  # where a reply tells what it cost
_RESPONSE = ("model", "input", "instructions", "temperature", "top_p", "max_output_tokens", "store", "user", OWN)
_PICTURE = 2_000  # tokens that a part which is no text may cost, beyond its bytes
_PART = re.compile(r'"type": "(?!text|input_text|output_text|message|function)')
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads
_EVENT = 4 << 20  # bytes of one event of a stream


class RequestError(Exception):
    """What the caller is told, in the shape of an OpenAI error."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error", code: str | None = None):
        super().__init__(message)
        self.status, self.headers = status, {"Retry-After": "1"} if status == 429 else {}
        self.body = {"error": {"message": message, "type": kind, "param": None, "code": code}}


def as_fault(error: Exception, url: str, purse: Purse) -> RequestError:
    """What the caller is told of an error. A key that the endpoint refuses is ours: no 401 sends them to their own.

    Of a fault of ours the operator gets one line, since its context may hold a key."""
    why = str(error).replace(url, "the upstream")
    if isinstance(error, RequestError):
        return error
    if isinstance(error, NotShortError):
        return RequestError(422, why, code="no_short_answer")
    if not isinstance(error, EndpointError):
        at = traceback.extract_tb(error.__traceback__)[-1]
        _LOG.error("%s in %s, line %d: please report it", type(error).__name__, Path(at.filename).name, at.lineno)
        return RequestError(500, f"the server failed on this request ({type(error).__name__})", "server_error")
    if why.startswith(PURSE) or error.code == "insufficient_quota":
        fault = RequestError(429, why, "insufficient_quota", "insufficient_quota")
        wait = purse.renews_in if why.startswith(PURSE) else None
        fault.headers = {} if wait is None else {"Retry-After": str(int(wait) + 1)}  # no waiting fills it before
        return fault
    if why.startswith(CAP):
        return RequestError(400, why, code="cap_too_low")
    if why.startswith(LATE):
        return RequestError(504, why, "timeout_error", "timeout")
    if error.status == 429:
        return RequestError(429, why, "rate_limit_error", "upstream_busy")
    if error.status in (400, 413, 415, 422):
        return RequestError(error.status, why, "invalid_request_error", "upstream_refused")
    return RequestError(502, why, "upstream_error", "upstream_error")


class Request(NamedTuple):
    """A request that was read: what to send, what the policy reads, and how to ask."""

    messages: list[dict[str, Any]]
    question: str
    how: Asking
    model: str  # by the caller's name for it
    stream: bool
    include_usage: bool


def read_body(body: bytes) -> dict[str, Any]:
    """The JSON object of a request, as every JSON reader understands it, or `RequestError`."""
    try:
        asked = json.loads(body)
        json.dumps(asked, ensure_ascii=False, allow_nan=False).encode()  # JSON can carry half a character
    except UnicodeEncodeError:
        raise RequestError(400, "the body holds half a character (a surrogate without its other half)") from None
    except RecursionError:
        raise RequestError(400, "the body is nested too deep") from None
    except ValueError as error:
        why = "holds a number that JSON has no word for" if "JSON compliant" in str(error) else "is not JSON"
        raise RequestError(400, f"the body {why}") from None
    if not isinstance(asked, dict):
        raise RequestError(400, "the body must be a JSON object")
    return asked


def why_passed(asked: dict, names: tuple[str, ...], defaults: Asking) -> str:
    """Why a request for one of these models cannot be voted on, "" where it can.

    Temperature 0 gives one answer again and again, and ``n > 1`` asks for choices, not a vote.
    """
    if asked.get("model") not in names:
        return "another model"
    for name in filter(_NOT_VOTED.fullmatch, asked):
        if asked[name] and not (name == "response_format" and defaults.kind.startswith("json:")):
            return name
    if asked.get("n") not in (None, 1):
        return "several choices"
    if asked.get("temperature", defaults.temperature) == 0:
        return "temperature 0"
    turns = asked.get("messages")
    turns = [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    return "" if all(_text_of(turn) is not None for turn in turns) else "not text alone"


def read_request(asked: dict[str, Any], defaults: Asking, prompt: Prompt | None) -> Request:
    """Read a chat completion that can be voted on. What we do not know is passed on."""
    messages = asked.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(turn, dict) for turn in messages):
        raise RequestError(400, "messages must be a list of turns, each with role and content")
    users = [turn for turn in messages if turn.get("role") == "user"]
    if not users:
        raise RequestError(400, "messages must hold a turn of the user")
    question = _text_of(users[-1]) or ""
    orders = [turn for turn in messages if turn.get("role") in ("system", "developer")]
    if prompt is not None and len(users) == 1 and messages == [*orders, *users]:
        messages = [*orders, *prompt.fill(question)]  # a caller's own instructions stay
    options = asked.get("stream_options") or {}
    try:
        how, usage = _asking(asked, defaults), bool(options.get("include_usage"))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestError(400, f"a setting of the request is not sound: {error}") from None
    return Request(messages, question, how, str(asked["model"]), bool(asked.get("stream")), usage)


def _asking(asked: dict, defaults: Asking) -> Asking:
    own = asked.get(OWN) or {}
    unknown = set(own) - {"price", "cap"}
    if unknown:
        raise ValueError(f"{OWN} knows price and cap, not {sorted(unknown)[0]!r}")
    limit = next((name for name in _LIMITS if asked.get(name) is not None), defaults.limit)
    return replace(
        defaults,
        temperature=defaults.temperature if asked.get("temperature") is None else float(asked["temperature"]),
        max_tokens=int(asked.get(limit) or defaults.max_tokens) if asked.get(limit) != 0 else 0,
        limit="max_tokens" if limit == "max_output_tokens" else limit,
        # A caller may be more careful than the server, never less.
        cap=min(defaults.cap, float(own.get("cap", inf))),
        price=None if own.get("price") is None else float(own["price"]),
        seed=None if asked.get("seed") is None else int(asked["seed"]),
        extra={name: value for name, value in asked.items() if name not in _READ and value is not None},
    )


def _text_of(turn: dict) -> str | None:
    """The text of a turn, None where it holds anything else."""
    if turn.get("tool_calls") or turn.get("function_call") or turn.get("role") in ("tool", "function"):
        return None
    content = turn.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) or content is None else content
    known = isinstance(parts, list) and all(isinstance(one, dict) and one.get("type") == "text" for one in parts)
    return "\n".join(str(one.get("text") or "") for one in parts) if known else None


def turns_of(asked: dict) -> list[dict[str, Any]] | None:
    """The turns of a chat that a response's request stands for, None where it is more than text that stands alone."""
    given, orders = asked.get("input"), asked.get("instructions")
    if any(value for name, value in asked.items() if name not in _RESPONSE) or asked.get("store"):
        return None
    turns = [{"role": "system", "content": orders}] if isinstance(orders, str) else []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for item in items if isinstance(items, list) else [None]:
        if not isinstance(item, dict) or item.get("type", "message") != "message" or "role" not in item:
            return None
        content = item.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts = parts if isinstance(parts, list) else [None]
        parts = [part | {"type": "text"} if _is_plain(part) else part for part in parts]
        text = _text_of({"content": parts})
        if text is None:
            return None
        turns.append({"role": item["role"], "content": text})
    return turns


def _is_plain(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("input_text", "output_text")


def as_sent(path: str, body: bytes, asked: dict, model: str, aliases: tuple[str, ...]) -> tuple[bytes, bool]:
    """The body as the upstream gets it: by the model's own name, without our field, and asked what it costs.

    Also whether that last was ours to ask: then the caller is not shown the answer.
    """
    changed = {name: value for name, value in asked.items() if name != OWN}
    changed |= {"model": model} if asked.get("model") in aliases else {}
    options = asked.get("stream_options") or {}
    hides = asked.get("stream") is True and path in _BILLED[:2] and isinstance(options, dict)
    hides = hides and not options.get("include_usage")
    changed |= {"stream_options": options | {"include_usage": True}} if hides else {}
    return (json.dumps(changed, ensure_ascii=False).encode() if changed != asked else body), hides


@dataclass(eq=False)
class Passing:
    """A request that is passed on, from the money put aside for it to what it cost."""

    endpoint: Endpoint
    router: Router
    how: Asking  # with the prices of the model that is asked
    path: str
    asked: dict[str, Any]
    size: int  # bytes that are sent
    usage: tuple[int, int] | None = None  # tokens read and written, as reported
    sent: bool = False
    refused: bool = False

    def __post_init__(self) -> None:
        self.money = self.most = 0.0
        if self.path in _BILLED:
            limits = [self.asked.get(name) for name in _LIMITS]
            limit = next((n for n in limits if isinstance(n, int) and n > 0), self.how.max_tokens)
            choices = self.asked.get("n")
            choices = choices if isinstance(choices, int) and 0 < choices < 10**6 else 1
            pictures = len(_PART.findall(json.dumps(self.asked)))
            written = 0 if self.path == "embeddings" else limit * choices
            self.most = self.how.dollars(self.size + _PICTURE * pictures, written)

    async def put_aside(self) -> None:
        """Put aside what the request can cost; `EndpointError` where there is not so much."""
        purse = self.router.purse
        if not purse.reserve(self.most):
            await purse.more(self.most)
            if not purse.reserve(self.most):
                self.most = 0.0
                raise EndpointError(f"{PURSE}: {purse}")

    async def fetch(
        self, stack: contextlib.AsyncExitStack, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[httpx.Response, bytes | None]:
        """The reply, and its body where it is no stream; ``stack`` holds the line for as long as it is needed."""
        self.sent = True
        try:
            reply = await stack.enter_async_context(self.endpoint.forward(method, path, headers, body))
            self.refused = reply.status_code >= 300
            if "event-stream" in reply.headers.get("content-type", "") and not self.refused:
                return reply, None
            whole = self.endpoint.without_key(await bounded(reply))
        except (ReplyError, httpx.HTTPError) as error:
            self.sent = not str(error).startswith(UNSENT)
            raise EndpointError(f"the upstream failed: {self.endpoint.clean(str(error))}") from None
        if reply.status_code in (401, 403) or 300 <= reply.status_code < 400:
            raise EndpointError(f"the upstream answered HTTP {reply.status_code} to this server", reply.status_code)
        with contextlib.suppress(ValueError, RecursionError):
            self.usage = usage_of(json.loads(whole)) if b'"usage"' in whole else None
        return reply, whole

    async def events(self, reply: httpx.Response, hides: bool) -> AsyncIterator[bytes]:
        """The events of a stream as they come, without the last if nobody asked for it; `ReplyError` if it is cut."""
        rest = b""
        try:
            async for chunk in reply.aiter_bytes():
                *events, rest = re.split(rb"(?<=\n\n)|(?<=\r\n\r\n)", rest + chunk)
                for event in events:
                    if not (self._tells_usage(event) and hides):
                        yield self.endpoint.without_key(event)
                if len(rest) > _EVENT:
                    raise ReplyError("an event of the stream has no end")
        except httpx.HTTPError as error:
            raise ReplyError(f"the stream was cut ({type(error).__name__})") from None
        if rest:
            self._tells_usage(rest)
            yield self.endpoint.without_key(rest)

    def _tells_usage(self, event: bytes) -> bool:
        """Note the usage that an event reports; whether it tells nothing else."""
        if b'"usage"' not in event:
            return False
        told: Any = None
        for line in event.splitlines():
            if line.startswith(b"data:"):
                with contextlib.suppress(ValueError, RecursionError):
                    told = json.loads(line[5:])
                self.usage = usage_of(told) or self.usage
        return isinstance(told, dict) and told.get("choices") == [] and usage_of(told) is not None

    def settle(self) -> None:
        """Book what the request cost, once."""
        free = self.refused or not self.sent
        read, written = (0, 0) if free or self.usage is None else self.usage
        self.money = 0.0 if free else self.most if self.usage is None else self.how.dollars(read, written)
        self.router.purse.settle(self.most, self.money)
        self.router.tally.money += self.money
        if not free and (self.usage or self.path in _BILLED):
            cost = self.router.cost_of(written)
            self.router.controller.aside(cost)
            tally = self.router.tally
            tally.samples, tally.cost = tally.samples + 1, tally.cost + cost
            tally.tokens, tally.prompt_tokens = tally.tokens + written, tally.prompt_tokens + read

    def figures(self) -> dict[str, str]:
        """What the request cost, as headers."""
        return cost_headers(self.money, sum(self.usage or (0, 0)))


def cost_headers(money: float, tokens: int) -> dict[str, str]:
    """What a request cost, under the names that LiteLLM books by; where no price is known it is left to LiteLLM's."""
    return ({"x-litellm-response-cost": f"{money:.12g}"} if money else {}) | {"x-litellm-total-tokens": str(tokens)}


def extras(one: Routed) -> dict[str, Any]:
    """Our figures."""
    return {name: value for name, value in vars(one).items() if name not in ("text", "finish", "fingerprint")}


def completion(one: Routed, model: str) -> dict[str, Any]:
    """The reply: the winning answer's own text, and ``usage`` over all samples."""
    said = {"role": "assistant", "content": one.text, "refusal": None}
    told = {"choices": [_choice(_finish(one), message=said)], "usage": _usage(one), OWN: extras(one)}
    return _head("chat.completion", model, one) | told


def stream_chunks(one: Routed, model: str, include_usage: bool) -> list[dict[str, Any]]:
    """The same reply as a stream: the text, its end, and our figures with the last."""
    head = _head("chat.completion.chunk", model, one)
    begins = head | {"choices": [_choice(None, delta={"role": "assistant", "content": one.text})]}
    chunks = [begins, head | {"choices": [_choice(_finish(one), delta={})], OWN: extras(one)}]
    return [*chunks, head | {"choices": [], "usage": _usage(one)}] if include_usage else chunks


def response_object(one: Routed, model: str) -> dict[str, Any]:
    """The same reply in the shape of a response."""
    cut = _finish(one) == "length"
    part = {"type": "output_text", "text": one.text, "annotations": [], "logprobs": []}
    status = "incomplete" if cut else "completed"
    said = {"type": "message", "id": f"msg_{uuid4().hex}", "role": "assistant", "status": status, "content": [part]}
    usage = {"input_tokens": one.prompt_tokens, "output_tokens": one.tokens}
    usage |= {"total_tokens": one.prompt_tokens + one.tokens}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    head = {"id": f"resp_{uuid4().hex}", "object": "response", "created_at": int(time.time()), "model": model}
    head |= {"status": status, "error": None, "incomplete_details": {"reason": "max_output_tokens"} if cut else None}
    head |= {"instructions": None, "metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return head | {"temperature": None, "top_p": None, "output": [said], "usage": usage | details, OWN: extras(one)}


def _choice(finish: str | None, **said: dict[str, Any]) -> dict[str, Any]:
    return {"index": 0, **said, "logprobs": None, "finish_reason": finish}


def _head(kind: str, model: str, one: Routed) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}
    return head | ({"system_fingerprint": one.fingerprint} if one.fingerprint else {})


def _usage(one: Routed) -> dict[str, int]:
    read, written = one.prompt_tokens, one.tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _finish(one: Routed) -> str:
    return one.finish if one.finish in ("stop", "length", "content_filter") else "stop"


def chosen(headers: Mapping[str, str], which: re.Pattern[str]) -> dict[str, str]:
    """The headers whose names are such."""
    return {name: value for name, value in headers.items() if which.fullmatch(name)}


def is_here(host: str) -> bool:
    """Whether a Host header names this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def model_object(name: str) -> dict[str, Any]:
    """A model as the interface lists it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "adalib"}


def vote_headers(one: Routed) -> dict[str, str]:
    """Our figures as headers, each one short line of ASCII."""
    told = extras(one)
    names = ("samples", "rounds", "cost", "price", "confidence")
    headers = {f"X-Adalib-{name.title()}": f"{told[name]:g}" for name in names}
    headers["X-Adalib-Reason"] = json.dumps(told["reason"])[:300]  # one line of ASCII, and a short one
    headers["X-Adalib-Votes"] = json.dumps(dict(list(told["votes"].items())[:16]))[:1000]
    return headers | cost_headers(one.money, one.tokens + one.prompt_tokens)


def traced(told: Mapping[str, Any], began: int, headers: Mapping[str, str]) -> None:
    """Give OpenTelemetry, where it is installed, one span for a request, within the caller's own: what is logged."""
    if trace is None:
        return
    figures, kind = {f"adalib.{name}": value for name, value in told.items()}, trace.SpanKind.SERVER
    span = trace.get_tracer("adalib").start_span(told["path"], propagate.extract(headers), kind, figures, None, began)
    if told["status"] >= 500:
        span.set_status(trace.StatusCode.ERROR)
    span.end()
