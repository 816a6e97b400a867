"""One answer from an OpenAI-compatible endpoint, asked for with patience.

Endpoints fail in two ways. Some failures pass (a busy server, a cut connection, a page where JSON should be): wait
and ask again, longer each time, and as long as the server asks for when it says so. Others do not (a wrong key, a
wrong model): stop at once and say so in one line. The key is in no line of ours, not even when a server repeats it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import re
import warnings
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from ipaddress import ip_address
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2 as httpx
import openai

__all__ = [
    "Answer",
    "BoundedTransport",
    "Endpoint",
    "EndpointError",
    "ReplyError",
    "backoff",
    "mean_entropy",
    "mean_logprob",
    "read_reply",
    "retry_after",
]


# What an endpoint sends back, read in one place and believed in nothing.
#
# A reply may be endless, compressed a thousandfold, nested a thousand deep, or hold a count of 10^400. The body is read
# up to a stated size, decompressed here up to the same size, and taken apart by hand: what has not the shape of a chat
# completion is a `ReplyError`, worth another try, and what is stored can be read back.


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


DEFAULT_KEY_ENV = "OPENAI_API_KEY"
FIRST_WAIT = 1.0  # seconds before the second try; doubled for each try after that
LONGEST_WAIT = 60.0  # no wait is longer, whatever a server asks for
SECRET = 16  # characters from which a key is taken for a secret; shorter ones (EMPTY, 111111) may be data
TOP_LOGPROBS = 20  # the most that the OpenAI interface lets one ask for

MENDS = {
    300: "it sends us to another address, where the key may not go: give that one as the base URL if you trust it",
    400: "the endpoint does not accept this request: check the model's name, the prompt's length and the settings",
    401: "check {key}",
    403: "check {key} and whether its key may use this model",
    404: "check the base URL (it often ends in /v1) and the model's name",
}

Pause = Callable[[float, str], Awaitable[None]]


class EndpointError(RuntimeError):
    """The endpoint refused, or failed too often in a row. The message is one line without secrets.

    ``status`` is that of the last reply, None where none came; ``code`` is "insufficient_quota" for an empty account.
    """

    def __init__(self, message: str, status: int | None = None, code: str | None = None):
        super().__init__(message)
        self.status, self.code = status, code


class _PassingError(Exception):
    """A reply that is no answer, or a failure that may pass: worth another try, no sooner than ``hint`` seconds."""

    def __init__(self, why: str, hint: float | None = None, status: int | None = None):
        super().__init__(why)
        self.hint, self.status = hint, status


class Endpoint:
    """A model behind an OpenAI-compatible address. Use it as ``async with Endpoint(...) as endpoint``.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    base_url : str
        The address up to ``/v1``, for example ``http://127.0.0.1:8080/v1``.
    model : str
        The model's name as the endpoint knows it.
    key_env : str
        The environment variable that holds the key; an endpoint on this machine (loopback) needs none.
    timeout : float
        Seconds for one request, from the first byte to the last; a hang or a slow drip ends here.
    tries : int
        Requests for one answer before giving up.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key_env: str = DEFAULT_KEY_ENV,
        timeout: float = 120.0,
        tries: int = 8,
    ):
        self.url, self.loopback = _checked_url(base_url)
        if not timeout > 0 or tries < 1:
            raise ValueError(f"need timeout > 0 and tries >= 1, got timeout={timeout}, tries={tries}")
        self.model, self.timeout, self.tries = model, timeout, tries
        self.key_env, self._key = _checked_name(key_env), os.environ.get(key_env, "").strip()
        if not (self._key or self.loopback):
            raise EndpointError(f"{self.url} needs a key: put it into {self.key_env}")
        if not (self._key.isascii() and self._key.isprintable()):
            raise EndpointError(f"the key in {self.key_env} holds a character that no header can carry: set it again")
        if self._key and not self.loopback and self.url.startswith("http:"):
            warnings.warn(f"the key travels to {self.url} unencrypted; use https", stacklevel=2)
        # Retries are ours (the client's own neither see a page instead of JSON nor tell the progress bar), and so is
        # the time limit (the client's counts silence only). A redirect would take the key and the question elsewhere.
        http = openai.DefaultAsyncHttpxClient(
            transport=BoundedTransport(_lines(self.url, self.loopback)), trust_env=False, follow_redirects=False
        )
        self._client = openai.AsyncOpenAI(
            base_url=self.url, api_key=self._key or "none", max_retries=0, timeout=None, http_client=http
        )

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def sample(
        self,
        messages: Sequence[dict[str, str]],
        *,
        temperature: float = 0.7,
        max_tokens: int = 256,
        seed: int | None = None,
        logprobs: bool = False,
        extra: dict | None = None,
        pause: Pause | None = None,
    ) -> Answer:
        """Ask until there is an answer, a refusal, or no patience left.

        Parameters
        ----------
        messages : sequence of dict
            The conversation, each with ``role`` and ``content``.
        temperature, max_tokens, seed : float, int, int or None
            Passed on; without a seed none is sent.
        logprobs : bool
            Ask for the tokens' log-probabilities too.
        extra : dict, optional
            Whatever else the request's body is to hold.
        pause : coroutine function, optional
            Called as ``pause(seconds, why)`` between tries; sleeps by default.

        Raises
        ------
        EndpointError
            On a refusal (400, 401, 403, 404 and their like), or after ``tries`` failures in a row.
        """
        request: dict = {"model": self.model, "messages": list(messages)}
        request |= {"temperature": temperature, "max_tokens": max_tokens}
        if seed is not None:
            request["seed"] = seed
        if logprobs:
            request |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        request |= extra or {}
        for attempt in range(1, self.tries + 1):
            try:
                return await self._ask(request)
            except _PassingError as error:
                why, hint, status = str(error), error.hint, error.status
            if attempt < self.tries:
                wait = backoff(attempt, hint)
                await (pause(wait, why) if pause else asyncio.sleep(wait))
        times = "once" if self.tries == 1 else f"{self.tries} times in a row"
        raise EndpointError(f"{self.url} failed {times}, the last time with: {why}", status)

    async def _ask(self, request: dict) -> Answer:
        try:
            async with asyncio.timeout(self.timeout):
                # The client's own way in for plain bodies: taking request and reply apart as it does for its users
                # would be half of what the router adds to a question, and the reply is read in one place of ours.
                raw = await self._client.post("/chat/completions", body=request, cast_to=httpx.Response)
            answer = read_reply(raw.content)
        except TimeoutError:
            raise _PassingError(f"no answer within {self.timeout:g} s") from None
        except ReplyError as error:
            raise _PassingError(self.clean(str(error))) from None
        except openai.APIStatusError as error:
            raise self._status(error) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            said = self.clean(str(cause) or type(cause).__name__)
            raise _PassingError(said if isinstance(cause, ReplyError) else f"no connection ({said})") from None
        except Exception as error:  # whatever the client makes of a reply: its context may hold the key
            raise _PassingError(f"the client could not read the reply ({type(error).__name__})") from None
        # A key that is long enough to be one is never stored, unless the question itself holds it.
        if len(self._key) >= SECRET and self._key not in str(request["messages"]):
            answer = replace(answer, text=answer.text.replace(self._key, "[key]"))
        return replace(answer, finish=self.clean(answer.finish))

    def _status(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        said = error.body.get("message") if isinstance(error.body, dict) else None
        line = f"HTTP {status}" + (f" ({self.clean(said)})" if isinstance(said, str) else "")
        # An empty account is a 429 too, but no waiting fills it.
        if status in (408, 409, 429) or status >= 500:
            if getattr(error, "code", None) != "insufficient_quota":
                return _PassingError(line, retry_after(error.response.headers.get("retry-after")), status)
            return EndpointError(
                f"{self.url} answered {line}; the account has no credit left", status, "insufficient_quota"
            )
        mend = MENDS.get(status, MENDS[300] if status < 400 else MENDS[400]).format(key=self.key_env)
        return EndpointError(f"{self.url} answered {line}; {mend}", status)

    def clean(self, text: str) -> str:
        """Make text from outside fit to show: one short printable line without the key."""
        text = self._without_key(text)
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= 200 else text[:200] + "..."

    def _without_key(self, text: str) -> str:
        if len(self._key) >= 6:  # "none" or "EMPTY" is no secret, and an ordinary word
            text = text.replace(self._key, "[key]")
        return re.sub(r"\bsk-[\w*-]{6,}", "[key]", text)  # half-masked keys, as some endpoints repeat them


def backoff(attempt: int, hint: float | None = None, jitter: float | None = None) -> float:
    """Seconds to wait after failure number ``attempt`` (from 1): doubled each time, spread, capped.

    Between half and all of ``FIRST_WAIT * 2 ** (attempt - 1)``; with a server's ``hint`` of a second or more, what it
    asks for. A hint of nothing (0, or a date that is past) is no hint: a server in distress must not be hammered.
    Never more than ``LONGEST_WAIT``: a server that asks for a day is asked again, and given up on, sooner. The
    spread keeps sixteen refused requests from coming back at one moment. ``jitter`` in [0, 1] replaces the random
    draw.
    """
    jitter = random.random() if jitter is None else jitter
    # The exponent is bounded, or the wait after failure 2000 would be no float.
    wait = min(FIRST_WAIT * 2 ** min(attempt - 1, 16), LONGEST_WAIT) * (1 + jitter) / 2
    return wait if hint is None or hint < FIRST_WAIT else min(hint + FIRST_WAIT * jitter / 4, LONGEST_WAIT)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for, given as seconds or as an HTTP date; None if it says nothing."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            seconds = (date - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _lines(url: str, loopback: bool) -> Callable[[], httpx.AsyncHTTPTransport]:
    """What opens a line to one host: straight, or through the proxy that the environment names for it."""
    parts, known = urlsplit(url), getproxies()
    # A proxy must not stand between us and this machine.
    straight = loopback or proxy_bypass(parts.hostname)
    proxy = None if straight else known.get(parts.scheme) or known.get("all")
    one, trusted = httpx.Limits(max_connections=1), httpx.create_ssl_context()
    try:
        httpx.AsyncHTTPTransport(proxy=proxy, limits=one, verify=trusted)
    except Exception:  # SOCKS needs a package that we do not have; other schemes are unknown
        raise EndpointError(
            f"the proxy that the environment names for {parts.scheme} cannot be used (only http and https proxies "
            "can); unset it, or list the host in NO_PROXY"
        ) from None
    return partial(httpx.AsyncHTTPTransport, proxy=proxy, limits=one, verify=trusted)


def _checked_name(key_env: str) -> str:
    """How to speak of the variable with the key: by its name, if it is surely one and not the key itself."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key_env):
        raise ValueError("key_env takes the name of an environment variable that holds the key, not the key")
    if key_env == DEFAULT_KEY_ENV or key_env in os.environ:
        return f"the environment variable {key_env}"
    return "an environment variable, and give its name (not the key) as key_env; the name given is not set"


def _checked_url(base_url: str) -> tuple[str, bool]:
    """The address (fit to be shown and stored), and whether it is this machine's."""
    if not (base_url.isascii() and base_url.isprintable()) or " " in base_url:
        raise ValueError("the base URL holds a space, a line break or another character that no address has")
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ValueError("the base URL must look like http://127.0.0.1:8080/v1 or https://host/v1")
    if "@" in parts.netloc or "?" in base_url or "#" in base_url:
        raise ValueError(
            "the base URL must hold no user, password, query or fragment (they would be stored and shown); "
            "put the key into an environment variable"
        )
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    where = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{where}{f':{port}' if port else ''}{parts.path.rstrip('/')}", loopback
