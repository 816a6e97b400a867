"""One answer from an OpenAI-compatible endpoint, asked for with patience.

Some failures pass (a busy server, a cut connection, a page where JSON should be): wait and ask again, longer each time,
and as long as the server asks for. Others do not (a wrong key, a wrong model): stop at once and say so in one line. The
key is in no line of ours, not even when a server repeats it. And a reply is believed in nothing: it may be endless,
compressed a thousandfold, nested a thousand deep, or hold a count of 10^400; what is stored can be read back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import random
import re
import ssl
import sys
import threading
import warnings
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from ipaddress import ip_address
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import lazy_loader
from tqdm.auto import tqdm

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazy_loader.load("httpx")  # a page in a browser, which has none, replays answers and asks nobody

__all__ = ["Answer", "Endpoint", "EndpointError", "ReplyError", "bounded", "read_reply", "usage_of", "wait_for"]

MAX_REPLY = 32_000_000  # bytes of one reply, decompressed
MAX_TEXT = 1_000_000  # characters of one answer
MAX_COUNT = 10**15  # tokens; no more than a file of answers may hold
MAX_LINES = 900  # connections at a time; a process may have 1,024 files open
IDLE = 5.0  # seconds after which a connection that nobody used is closed
DEFAULT_KEY_ENV = "OPENAI_API_KEY"
FIRST_WAIT = 1.0  # seconds before the second try; doubled for each try after that
LONGEST_WAIT = 60.0  # no wait is longer, whatever a server asks for
EARLY = 3  # tries to connect to an address where nobody has ever listened
UNSENT = ("HTTP", "no connection")  # how a fault is told that cannot be on the bill: a refusal, or nothing was sent
SECRET = 16  # characters from which a key is taken for a secret; shorter ones (EMPTY, 111111) may be data

# What a model may refuse and an answer can do without; a limit on its length goes by either of two names.
_HINTS = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_UNKNOWN = re.compile("unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted", re.IGNORECASE)

MENDS = {
    300: "it sends us to another address, where the key may not go: give that one as the base URL if you trust it",
    400: "the endpoint does not accept this request: check the model's name, the prompt's length and the settings",
    401: "check {key}",
    403: "check {key} and whether its key may use this model",
    404: "check the base URL (it often ends in /v1) and the model's name",
}

_JSON = {"Content-Type": "application/json"}
Pause = Callable[[float, str], Awaitable[None]]
Result = TypeVar("Result")


class ReplyError(Exception):
    """A reply that is no answer, or none at all: worth another try, no sooner than ``hint`` seconds."""

    def __init__(self, why: str, hint: float | None = None, status: int | None = None):
        super().__init__(why)
        self.hint, self.status = hint, status


class EndpointError(RuntimeError):
    """The endpoint refused, or failed too often in a row. The message is one line without secrets.

    ``billed``: the last request may be on the bill; ``param``: what the request holds that this model does not know."""

    def __init__(self, message: str, status: int | None = None, code: str | None = None, billed: bool = False):
        super().__init__(message)
        self.status, self.code, self.billed, self.param = status, code, billed, ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request; None where the endpoint does not tell, or was not asked to."""

    text: str  # half a character (a cut emoji) reads U+FFFD
    finish: str  # "stop", or "length" when it was cut at the token limit
    tokens: int | None = None  # written
    prompt_tokens: int | None = None  # read
    logprob: float | None = None  # mean log-probability of its tokens
    entropy: float | None = None  # their mean entropy, in nats
    fingerprint: str | None = None  # of the system that wrote it


class Endpoint:
    """A model behind an OpenAI-compatible address. Use it as ``async with Endpoint(...) as endpoint``.

    ``timeout`` is in seconds, from the first byte of a request to the last; loopback needs no key."""

    def __init__(
        self, base_url: str, model: str, *, key_env: str = DEFAULT_KEY_ENV, timeout: float = 120.0, tries: int = 8
    ):
        self.url, host, self.loopback = _checked_url(base_url)
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
        # A proxy must not stand between us and this machine.
        proxies = {} if self.loopback or proxy_bypass(host) else getproxies()
        proxy = proxies.get(urlsplit(self.url).scheme) or proxies.get("all")
        self._lines = Lines(partial(_client, self.url, self._key or "none", proxy))
        self.reached = False  # whether anybody ever answered
        self.refused: set[str] = set()  # parameters that this model does not know

    @property
    def place(self) -> str:
        """The address as it is written into files: another port of this machine tomorrow is the same endpoint."""
        return "this machine" if self.loopback else self.url

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lines.aclose()

    async def sample(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        temperature: float | None = 0.7,
        max_tokens: int = 256,
        limit: str = "max_tokens",
        seed: int | None = None,
        logprobs: bool = False,
        extra: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        pause: Pause | None = None,
    ) -> Answer:
        """Ask until there is an answer, or raise `EndpointError` on a refusal or after ``tries`` failures in a row.

        A sampling parameter that the model does not know is left out from then on, a limit called by its other name."""
        request: dict[str, Any] = {"model": self.model, "messages": list(messages), limit: max_tokens}
        request |= {} if temperature is None else {"temperature": temperature}
        request |= {} if seed is None else {"seed": seed}
        request |= {"logprobs": True, "top_logprobs": 20} if logprobs else {}  # the most that one may ask for
        request |= extra or {}
        while True:
            for name in self.refused & set(request):
                value = request.pop(name)
                request |= {_LIMITS[name]: value} if name in _LIMITS else {}
            try:
                return await self._try(request, headers, pause)
            except EndpointError as error:
                if error.param not in request or _LIMITS.get(error.param) in self.refused:
                    raise
                self.refused.add(error.param)
                warnings.warn(f"{self.model} does not take {error.param}, which is left out from now on", stacklevel=2)

    async def _try(self, request: dict[str, Any], headers: dict[str, str] | None, pause: Pause | None) -> Answer:
        try:
            body = json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise EndpointError("the request holds a number that JSON has no word for (NaN, Infinity)", 400) from None
        for attempt in range(1, self.tries + 1):
            try:
                return await self._ask(request, body, headers)
            except ReplyError as error:
                why, hint, status = str(error), error.hint, error.status
            if attempt == EARLY and not self.reached and why.startswith("no connection"):
                raise EndpointError(f"nobody answers at {self.url} ({why}); start the endpoint, or check the address")
            if attempt < self.tries:
                wait = backoff(attempt, hint)
                await (pause(wait, why) if pause else asyncio.sleep(wait))
        times = "once" if self.tries == 1 else f"{self.tries} times in a row"
        told = f"{self.url} failed {times}, the last time with: {why}"
        raise EndpointError(told, status, billed=not why.startswith(UNSENT))

    @contextlib.asynccontextmanager
    async def forward(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> AsyncIterator[httpx.Response]:
        """Pass a request on as it came; the body of the reply is still to be read. `ReplyError` where none comes."""
        try:
            quiet = httpx.Timeout(self.timeout)  # on silences: a stream may last
            async with (
                self._lines.one() as line,
                line.stream(method, path, content=body, headers=headers, timeout=quiet) as reply,
            ):
                self.reached = True
                yield reply
        except httpx.TransportError as error:
            raise self._no_reply(error) from None

    async def embed(self, texts: Sequence[str]) -> tuple[list[list[float]], int]:
        """The embeddings of some texts, and the tokens that were read; asked once, `EndpointError` where none come."""
        body = json.dumps({"model": self.model, "input": list(texts)}).encode()
        try:
            async with asyncio.timeout(self.timeout), self.forward("POST", "embeddings", _JSON, body) as reply:
                if reply.status_code >= 300:
                    raise ReplyError(f"HTTP {reply.status_code}")
                told = json.loads(await bounded(reply))
            rows = sorted(told["data"], key=lambda row: row["index"])
            return [row["embedding"] for row in rows], (usage_of(told) or (len(body),))[0]
        except (TimeoutError, ReplyError, ValueError, LookupError, TypeError, RecursionError) as error:
            why = self.clean(str(error) or type(error).__name__)
            raise EndpointError(f"{self.url} gives no embeddings ({why})", billed=not why.startswith(UNSENT)) from None

    def _no_reply(self, error: httpx.TransportError) -> ReplyError:
        told = self.clean(str(error) or type(error).__name__)
        if isinstance(error, httpx.ReadTimeout):
            return ReplyError(f"no answer within {self.timeout:g} s")
        sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        return ReplyError(f"{'the connection was cut' if sent else 'no connection'} ({told})")

    async def _ask(self, request: dict[str, Any], content: bytes, headers: dict[str, str] | None) -> Answer:
        try:
            # The limit is on the whole exchange; httpx's own limits are on silences.
            async with (
                asyncio.timeout(self.timeout),
                self._lines.one() as line,
                line.stream("POST", "chat/completions", content=content, headers=_JSON | (headers or {})) as reply,
            ):
                self.reached = True
                body = await bounded(reply)
            answer = read_reply(body) if reply.status_code < 300 else None
        except TimeoutError:
            raise ReplyError(f"no answer within {self.timeout:g} s") from None
        except ReplyError as error:
            raise ReplyError(self.clean(str(error))) from None
        except httpx.TransportError as error:
            raise self._no_reply(error) from None
        except Exception as error:  # whatever the client makes of a reply: its context may hold the key
            raise ReplyError(f"the client could not read the reply ({type(error).__name__})") from None
        if answer is None:
            raise self._refusal(reply, body)
        # A key that is long enough to be one is never stored, unless the question itself holds it.
        if self._key not in str(request["messages"]):
            answer = replace(answer, text=self.without_key(answer.text.encode()).decode())
        mark = None if answer.fingerprint is None else self.clean(answer.fingerprint)[:80]
        return replace(answer, finish=self.clean(answer.finish)[:40], fingerprint=mark)

    def without_key(self, text: bytes) -> bytes:
        """What an endpoint wrote, with nothing changed but a key that is long enough to be one."""
        return text.replace(self._key.encode(), b"[key]") if len(self._key) >= SECRET else text

    def _refusal(self, reply: httpx.Response, body: bytes) -> Exception:
        """The error that a status stands for: one that may pass, or one that lasts."""
        said: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            said = json.loads(body)
        said = said.get("error", said) if isinstance(said, dict) else {}
        said = said if isinstance(said, dict) else {}
        told, code, param = (said.get(name) for name in ("message", "code", "param"))
        status = reply.status_code
        line = f"HTTP {status}" + (f" ({self.clean(told)})" if isinstance(told, str) else "")
        mend = MENDS.get(status, MENDS[300] if status < 400 else MENDS[400]).format(key=self.key_env)
        passes = status in (408, 409, 429) or status >= 500
        if passes and code == "insufficient_quota":  # an empty account is a 429 too, but no waiting fills it
            mend = "the account has no credit left"
            return EndpointError(f"{self.url} answered {line}; {mend}", status, "insufficient_quota")
        if passes:
            return ReplyError(line, retry_after(reply.headers.get("retry-after")), status)
        error = EndpointError(f"{self.url} answered {line}; {mend}", status)
        if status in (400, 422) and isinstance(told, str) and _UNKNOWN.search(f"{told} {code}"):
            named = [name for name in (*_HINTS, *_LIMITS) if param == name or re.search(rf"\b{name}\b", told)]
            error.param = param if param in named else min(named, key=told.find, default="")
        return error

    def clean(self, text: str) -> str:
        """Make text from outside fit to show: one short printable line without the key."""
        if len(self._key) >= 6:  # "none" or "EMPTY" is no secret, and an ordinary word
            text = text.replace(self._key, "[key]")
        text = re.sub(r"\bsk-[\w*-]{6,}", "[key]", text)  # half-masked keys, as some endpoints repeat them
        text = " ".join("".join(c if c.isprintable() else " " for c in text[:100_000]).split())
        return text if len(text) <= 200 else text[:200] + "..."


def wait_for(work: Coroutine[Any, Any, Result], stop: asyncio.Event | None = None) -> Result:
    """Run a coroutine on a loop in the background and wait for what it returns.

    The first interrupt sets ``stop``, where there is one, the second cancels; it goes on to the caller at the end."""
    if sys.platform == "emscripten":  # no threads and no sockets: answers that are played back need neither
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            return _Alone().run_until_complete(work)
        finally:
            asyncio._set_running_loop(before)
    ended = threading.Event()

    async def watched() -> Result:
        try:
            return await work
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(watched(), _background())
    try:
        return future.result()
    except KeyboardInterrupt:
        if stop is not None:
            _background().call_soon_threadsafe(stop.set)
            tqdm.write("stopping: the answers in flight may come in (interrupt again to drop them)", sys.stderr)
            with contextlib.suppress(KeyboardInterrupt, Exception):
                future.result()
        future.cancel()
        ended.wait(timeout=10)  # work that was cancelled before it began never ends
        raise


class _Alone(asyncio.BaseEventLoop):
    """A loop that knows tasks and clocks alone, for a browser."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self

    def select(self, timeout: float | None) -> list:
        sleep(timeout or 0)
        return []

    def run_in_executor(self, executor: Any, func: Callable, *args: Any) -> Any:  # type: ignore[override]
        return self.create_task(_called(func, args))  # here and now, for want of another thread

    def _process_events(self, events: list) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


async def _called(func: Callable, args: tuple) -> Any:
    return func(*args)


@cache
def _background() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="adalib", daemon=True).start()
    return loop


class Lines:
    """Clients of one connection each, lent to one request at a time, the one that was last put down first.

    A pool looks at every connection it holds for every request: at 64 at a time thrice the work of all the rest."""

    def __init__(self, new_line: Callable[[], httpx.AsyncClient]):
        self._new_line = new_line
        self._idle: deque[tuple[float, httpx.AsyncClient]] = deque([(monotonic(), new_line())])  # the oldest first
        self._room = asyncio.Semaphore(MAX_LINES)

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[httpx.AsyncClient]:
        """A line to oneself."""
        async with self._room:
            while self._idle and self._idle[0][0] < monotonic() - IDLE:
                await self._idle.popleft()[1].aclose()
            line = self._idle.pop()[1] if self._idle else self._new_line()
            try:
                yield line
            finally:
                self._idle.append((monotonic(), line))

    async def aclose(self) -> None:
        """Close the connections."""
        while self._idle:
            await self._idle.pop()[1].aclose()


def _client(url: str, key: str, proxy: str | None) -> httpx.AsyncClient:
    """A client of one host; it follows no redirect, which would take the key and the question elsewhere."""
    try:
        return httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"},
            proxy=proxy,
            trust_env=False,
            timeout=None,
            verify=_trusted(),
        )
    except (ImportError, ValueError):  # SOCKS needs a package that we do not have; other schemes are unknown
        named = f"the proxy that the environment names for {urlsplit(url).scheme}"
        mend = "(only http and https proxies can); unset it, or list the host in NO_PROXY"
        raise EndpointError(f"{named} cannot be used {mend}") from None


@cache
def _trusted() -> ssl.SSLContext:
    """The usual certificates and this system's own; read once, for that takes longer than asking."""
    context = httpx.create_ssl_context()
    context.load_default_certs()
    return context


async def bounded(reply: httpx.Response) -> bytes:
    """The whole body of a reply, if it is not too long and nothing is wrong with it."""
    encoding = reply.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "deflate"):
        raise ReplyError(f"the reply is compressed in a way that was not asked for ({encoding[:20]!r})")
    body = bytearray()
    try:
        async for chunk in reply.aiter_bytes():  # what comes at a time is small, and becomes a thousandfold at most
            body += chunk
            if len(body) > MAX_REPLY:
                raise ReplyError(f"the reply is longer than {MAX_REPLY / 1e6:g} MB")
    except httpx.DecodingError:
        raise ReplyError("the reply is damaged where it was compressed") from None
    return bytes(body)


def read_reply(body: bytes) -> Answer:
    """Take a chat completion apart, or raise `ReplyError`."""
    try:
        reply = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise ReplyError("the reply is not UTF-8") from None
    except (ValueError, RecursionError):
        what = "a page, not JSON" if body.lstrip().startswith(b"<") else "not JSON"
        raise ReplyError(f"the reply is {what}") from None
    if not isinstance(reply, dict):
        raise ReplyError("the reply is a page or a bare value, not a chat completion")
    if not reply.get("choices"):
        said = f" ({json.dumps(reply['error'])})" if reply.get("error") else ""  # cut where it is cleaned, not before
        raise ReplyError(f"the reply holds no choices{said}")
    try:
        choice = reply["choices"][0]
        text, finish, told = choice["message"].get("content"), choice.get("finish_reason"), choice.get("logprobs")
    except (AttributeError, LookupError, TypeError):
        text = 0
    if text is not None and not isinstance(text, str):
        raise ReplyError("the reply is JSON but no chat completion")
    if text and len(text) > MAX_TEXT:
        raise ReplyError(f"the answer has {len(text):,} characters, and at most {MAX_TEXT:,} are kept")
    finish = _whole_characters(finish) if isinstance(finish, str) and finish else "unknown"
    written, read = (_count(reply.get("usage"), f"{which}_tokens") for which in ("completion", "prompt"))
    logprob = entropy = None
    with contextlib.suppress(LookupError, TypeError):  # it may tell the one, or both, or none
        logprob = mean_logprob([token["logprob"] for token in told["content"]])
    with contextlib.suppress(LookupError, TypeError):
        entropy = mean_entropy([[one["logprob"] for one in token["top_logprobs"]] for token in told["content"]])
    mark = reply.get("system_fingerprint")
    mark = _whole_characters(mark) if isinstance(mark, str) else None
    return Answer(_whole_characters(text or ""), finish, written, read, logprob, entropy, mark)


def mean_logprob(tokens: Sequence[float]) -> float | None:
    """Mean log-probability of an answer's tokens, in nats; None without tokens or with one that is none."""
    if not tokens or not all(_is_logprob(token) for token in tokens):
        return None
    return round(min(math.fsum(tokens) / len(tokens), 0.0), 6)


def mean_entropy(tokens: Sequence[Sequence[float]]) -> float | None:
    """Mean entropy of an answer's tokens, in nats, from the log-probabilities of the likeliest candidates of each.

    The sum of ``-p log p`` stops at those that are told, 20 at most: a lower bound, close where they hold most."""
    if not tokens or not all(tokens) or not all(_is_logprob(value, zero=True) for top in tokens for value in top):
        return None
    total = math.fsum(-math.exp(logprob) * logprob for top in tokens for logprob in top if logprob > -math.inf)
    return round(max(total, 0.0) / len(tokens), 6)


def _is_logprob(value: Any, zero: bool = False) -> bool:
    """A number, 0 or less (a rounding more is forgiven); minus infinity, where a probability may be ``zero``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1e9 <= value <= 1e-4 or (zero and value == -math.inf)


def usage_of(reply: Any) -> tuple[int, int] | None:
    """Tokens read and written that any reply of this kind of interface reports, None where it reports none."""
    inner = reply.get("response") if isinstance(reply, dict) else None  # an event of a stream of responses
    usage = next((one["usage"] for one in (reply, inner) if isinstance(one, dict) and one.get("usage")), None)
    read, written = (
        next((n for n in (_count(usage, f"{name}_tokens") for name in names) if n is not None), None)
        for names in (("prompt", "input"), ("completion", "output"))
    )
    return None if read is None and written is None else (read or 0, written or 0)


def _count(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_COUNT else None


def _whole_characters(text: str) -> str:
    """JSON can carry half of a surrogate pair, which no UTF-8 file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def backoff(attempt: int, hint: float | None = None, jitter: float | None = None) -> float:
    """Seconds to wait after failure number ``attempt`` (from 1): doubled each time, spread by ``jitter``, capped.

    A server's ``hint`` of a second or more is kept to; one of less is none, or a server in distress is hammered."""
    jitter = random.random() if jitter is None else jitter
    # The exponent is bounded, or the wait after failure 2000 would be no float.
    wait = min(FIRST_WAIT * 2 ** min(attempt - 1, 16), LONGEST_WAIT) * (1 + jitter) / 2
    return wait if hint is None or hint < FIRST_WAIT else min(hint + FIRST_WAIT * jitter / 4, LONGEST_WAIT)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for, given as seconds or as an HTTP date; None if it says nothing."""
    try:
        seconds = float(value or "")
    except ValueError:
        try:
            date = parsedate_to_datetime(value or "")
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _checked_name(key_env: str) -> str:
    """How to speak of the variable with the key: by its name, if it is surely one and not the key itself."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key_env):
        raise ValueError("key_env takes the name of an environment variable that holds the key, not the key")
    if key_env == DEFAULT_KEY_ENV or key_env in os.environ:
        return f"the environment variable {key_env}"
    return "an environment variable, and give its name (not the key) as key_env; the name given is not set"


def _checked_url(base_url: str) -> tuple[str, str, bool]:
    """The address (fit to be shown and stored), its host, and whether that is this machine."""
    if not (base_url.isascii() and base_url.isprintable()) or " " in base_url:
        raise ValueError("the base URL holds a space, a line break or another character that no address has")
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ValueError("the base URL must look like http://127.0.0.1:8080/v1 or https://host/v1")
    if "@" in parts.netloc or "?" in base_url or "#" in base_url:
        why = "(they would be stored and shown); put the key into an environment variable"
        raise ValueError(f"the base URL must hold no user, password, query or fragment {why}")
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}", host, loopback
