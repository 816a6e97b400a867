"""What an endpoint sends back, read in one place and believed in nothing.

A reply may be endless, compressed a thousandfold, nested a thousand deep, or hold a count of 10^400. The body is read
up to a stated size, decompressed here up to the same size, and taken apart by hand: what has not the shape of a chat
completion is a `ReplyError`, worth another try, and what is stored can be read back.
"""

from __future__ import annotations

import asyncio
import json
import math
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httpx2 as httpx  # the one that openai stands on

__all__ = ["Answer", "BoundedTransport", "ReplyError", "mean_entropy", "mean_logprob", "read_reply"]

MAX_REPLY = 32_000_000  # bytes of one reply, decompressed
MAX_TEXT = 1_000_000  # characters of one answer
MAX_LINES = 900  # connections at a time; a process may have 1,024 files open
IDLE = 5.0  # seconds after which a connection that nobody used is closed
_OF_THE_LINE = (b"content-encoding", b"content-length", b"transfer-encoding")  # how it came, not what it says
MAX_COUNT = 10**15  # tokens; no more than a file of answers may hold


class ReplyError(Exception):
    """A reply that is no answer; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request.

    Attributes
    ----------
    text : str
        The model's words; half a character (a cut emoji) reads U+FFFD.
    finish : str
        Why it ended: ``"stop"``, or ``"length"`` when it was cut at the token limit.
    tokens, prompt_tokens : int or None
        Tokens written and read, where the endpoint counts them.
    logprob, entropy : float or None
        Mean log-probability of the tokens and their mean entropy, in nats, where they were asked for.
    """

    text: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    logprob: float | None = None
    entropy: float | None = None


class BoundedTransport(httpx.AsyncBaseTransport):
    """A transport that reads every body up to `MAX_REPLY` bytes, also of what a compressed body becomes.

    Each request has a line to itself while it lasts, the one that was last put down if there is one: a pool looks at
    every line it holds for every request, which at 64 at a time takes longer than the rest of the router.

    Parameters
    ----------
    new_line : callable
        Makes a transport that holds one connection.
    """

    def __init__(self, new_line: Callable[[], httpx.AsyncBaseTransport]):
        self._new_line = new_line
        self._idle: deque[tuple[float, httpx.AsyncBaseTransport]] = deque()  # since when, the oldest first
        self._room = asyncio.Semaphore(MAX_LINES)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the whole reply, or refuse it."""
        request.headers["Accept-Encoding"] = "identity"
        async with self._room:
            while self._idle and self._idle[0][0] < monotonic() - IDLE:
                await self._idle.popleft()[1].aclose()
            line = self._idle.pop()[1] if self._idle else self._new_line()
            try:
                return await self._exchange(line, request)
            finally:
                self._idle.append((monotonic(), line))

    async def _exchange(self, line: httpx.AsyncBaseTransport, request: httpx.Request) -> httpx.Response:
        response = await line.handle_async_request(request)
        try:
            encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
            body = await _bounded(response.stream, encoding)
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_THE_LINE]
        return httpx.Response(response.status_code, headers=headers, content=body, extensions=response.extensions)

    async def aclose(self) -> None:
        """Close the connections."""
        while self._idle:
            await self._idle.pop()[1].aclose()


async def _bounded(stream: Any, encoding: str) -> bytes:
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ReplyError(f"the reply is compressed in a way that was not asked for ({encoding[:20]!r})")
    unzip = zlib.decompressobj(47 if "gzip" in encoding else 15) if encoding not in ("", "identity") else None
    body = bytearray()
    async for chunk in stream:
        try:
            body += unzip.decompress(chunk, MAX_REPLY + 1 - len(body)) if unzip else chunk
        except zlib.error:
            raise ReplyError("the reply is damaged where it was compressed") from None
        if len(body) > MAX_REPLY:
            raise ReplyError(f"the reply is longer than {MAX_REPLY / 1e6:g} MB")
    return bytes(body)


def read_reply(body: bytes) -> Answer:
    """Take a chat completion apart.

    Explained in chapter 0, "One question, many answers".

    Raises
    ------
    ReplyError
        If it is no chat completion with an answer in it.

    Examples
    --------
    >>> body = b'{"choices": [{"message": {"content": "Answer: 7"}, "finish_reason": "stop"}], "usage": {}}'
    >>> read_reply(body).text
    'Answer: 7'
    """
    try:
        reply = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise ReplyError("the reply is not UTF-8") from None
    except (ValueError, RecursionError):
        what = "a page, not JSON" if body.lstrip().startswith(b"<") else "not JSON"
        raise ReplyError(f"the reply is {what}") from None
    if not isinstance(reply, dict):
        raise ReplyError("the reply is a page or a bare value, not a chat completion")
    choices, usage = reply.get("choices"), reply.get("usage")
    if not isinstance(choices, list) or not choices:
        said = f" ({json.dumps(reply['error'])[:300]})" if reply.get("error") else ""
        raise ReplyError(f"the reply holds no choices{said}")
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    text = message.get("content") if isinstance(message, dict) else 0
    if text is not None and not isinstance(text, str):
        raise ReplyError("the reply is JSON but no chat completion")
    if text and len(text) > MAX_TEXT:
        raise ReplyError(f"the answer has {len(text):,} characters, and at most {MAX_TEXT:,} are kept")
    finish = choices[0].get("finish_reason")
    logprob, entropy = _certainty(choices[0].get("logprobs"))
    return Answer(
        _whole_characters(text or ""),
        _whole_characters(finish[:40]) if isinstance(finish, str) and finish else "unknown",
        _count(usage, "completion_tokens"),
        _count(usage, "prompt_tokens"),
        logprob,
        entropy,
    )


def mean_logprob(tokens: Sequence[float]) -> float | None:
    """Mean log-probability of an answer's tokens, in nats; None without tokens or with one that is none."""
    if not tokens or not all(_is_logprob(token) for token in tokens):
        return None
    return round(min(math.fsum(tokens) / len(tokens), 0.0), 6)


def mean_entropy(tokens: Sequence[Sequence[float]]) -> float | None:
    """Mean entropy of an answer's tokens, in nats, from the log-probabilities of the likeliest candidates of each.

    An endpoint returns the 20 likeliest candidates at most, and the sum of ``-p log p`` stops there, without scaling
    them up to one: every term left out is positive, so the value is a lower bound on the entropy, close when the 20
    hold nearly all of the probability.
    """
    if not tokens or not all(tokens) or not all(_is_logprob(value, zero=True) for top in tokens for value in top):
        return None
    total = math.fsum(-math.exp(logprob) * logprob for top in tokens for logprob in top if logprob > -math.inf)
    return round(max(total, 0.0) / len(tokens), 6)


def _whole_characters(text: str) -> str:
    """JSON can carry half of a surrogate pair, which no UTF-8 file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _certainty(told: Any) -> tuple[float | None, float | None]:
    content = told.get("content") if isinstance(told, dict) else None
    if not isinstance(content, list) or not all(isinstance(token, dict) for token in content):
        return None, None
    tops = [token.get("top_logprobs") for token in content]
    shaped = all(isinstance(top, list) and all(isinstance(one, dict) for one in top) for top in tops)
    entropy = mean_entropy([[one.get("logprob") for one in top] for top in tops]) if shaped else None
    return mean_logprob([token.get("logprob") for token in content]), entropy


def _is_logprob(value: Any, zero: bool = False) -> bool:
    """A number, 0 or less (a rounding more is forgiven); minus infinity, where a probability may be ``zero``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1e9 <= value <= 1e-4 or (zero and value == -math.inf)


def _count(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_COUNT else None
