"""One answer from an OpenAI-compatible endpoint, asked for with the `openai` package.

`openai` sends, waits, retries and cancels. What is added here: the key is read from the environment
and shown in no message, not even when a server repeats it; no redirect takes it elsewhere; a reply
without end is cut off; a parameter that a model refuses is left out from then on; and whatever goes
wrong is one `EndpointError` with one line, which says whether another try may help and whether the
request may be on the bill.

`openai` is imported when the first request is made: pages in a browser replay answers without it.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from adalib.llm.reply import Answer, ReplyError, read_fields, read_reply
from adalib.llm.stream import ReplyStream

if TYPE_CHECKING:
    import httpx2
    import openai

MAX_REPLY = 32_000_000  # bytes of one reply
MAX_PACKED = MAX_REPLY // 100  # of a compressed one, which may unpack to a thousand times as much
DEFAULT_KEY_ENV = "OPENAI_API_KEY"
# Characters from which a key is blotted out of answers; a shorter one, such as EMPTY, may be data.
SECRET = 16

# Parameters that a model may refuse and an answer can do without.
_OPTIONAL = (
    "temperature",
    "top_p",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "stream_options",
)
# The limit on an answer's length has two names, of which a model may know one.
OTHER_LIMIT = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
_UNSUPPORTED = re.compile(
    "unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted", re.IGNORECASE
)
_MENDS = {
    300: "it redirects to another address, where the key may not go: give that one if you trust it",
    400: "check the model's name, the prompt's length and the settings",
    401: "check {key}",
    403: "check {key} and whether its key may use this model",
    404: "check the base URL (it often ends in /v1) and the model's name",
}


class EndpointError(RuntimeError):
    """The endpoint refused or failed. The message is one line without secrets.

    Attributes
    ----------
    status : int or None
        The HTTP status, if there was a reply.
    code : str or None
        The endpoint's own code, such as ``insufficient_quota``; ``odd_reply`` where it sent
        something that is no answer.
    billed : bool
        Whether the request may be on the bill: it was sent, and no refusal came back.
    passes : bool
        Whether the same request may succeed later.
    retry_after : float or None
        Seconds that the endpoint asks to wait.
    param : str
        A parameter that this model does not take.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        code: str | None = None,
        *,
        billed: bool = False,
        passes: bool = False,
        retry_after: float | None = None,
        param: str = "",
    ):
        super().__init__(message)
        self.status = status
        self.code = code
        self.billed = billed
        self.passes = passes
        self.retry_after = retry_after
        self.param = param


class Client:
    """A model behind an OpenAI-compatible address.

    Parameters
    ----------
    base_url, model : str
        The address, often ending in ``/v1``, and the model's name there.
    key_env : str
        The environment variable that holds the key; an endpoint on this machine needs none.
    timeout : float
        Seconds for one request, from its first byte to the last of the reply.
    max_retries : int
        Further requests that `openai` makes by itself after a failure that may pass. Votes set it
        to 0: there, another request needs money put aside first.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key_env: str = DEFAULT_KEY_ENV,
        timeout: float = 120.0,
        max_retries: int = 0,
    ):
        self.url, self.loopback = _checked_url(base_url)
        if not timeout > 0 or max_retries < 0:
            given = f"timeout={timeout}, tries={max_retries + 1}"
            raise ValueError(f"need timeout > 0 and tries >= 1, got {given}")
        self.model = model
        self.timeout = timeout
        self.max_retries = max_retries
        self.key_name = _key_name(key_env)
        self.key = os.environ.get(key_env, "").strip()
        if not (self.key or self.loopback):
            raise EndpointError(f"{self.url} needs a key: put it into {self.key_name}")
        if not (self.key.isascii() and self.key.isprintable()):
            character = "a character that no header can carry"
            raise EndpointError(f"the key in {self.key_name} holds {character}: set it again")
        if self.key and not self.loopback and self.url.startswith("http:"):
            warnings.warn(f"the key travels to {self.url} unencrypted; use https", stacklevel=2)
        self.left_out: set[str] = set()  # parameters that this model does not take

    @property
    def place(self) -> str:
        """The address as files name it: all ports of this machine are the same endpoint."""
        return "this machine" if self.loopback else self.url

    def http_client(self) -> httpx2.AsyncClient:
        """Return a new HTTP client: no redirects, and no proxy between us and this machine."""
        import openai

        try:
            return openai.DefaultAsyncHttpxClient(
                follow_redirects=False, trust_env=not self.loopback, timeout=self.timeout
            )
        except (ImportError, ValueError):
            scheme = urlsplit(self.url).scheme
            mend = "(only http and https proxies can); unset it, or list the host in NO_PROXY"
            raise EndpointError(
                f"the proxy that the environment names for {scheme} cannot be used {mend}"
            ) from None

    @cached_property
    def _openai(self) -> openai.AsyncOpenAI:
        """The official client, with our limits on the size of replies."""
        import openai

        http = self.http_client()
        http.event_hooks = {"response": [_limit_size]}
        return openai.AsyncOpenAI(
            base_url=self.url,
            api_key=self.key or "none",
            max_retries=self.max_retries,
            timeout=self.timeout,
            http_client=http,
            default_headers={"Accept-Encoding": "identity"},
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        if "_openai" in self.__dict__:
            await self._openai.close()
            del self._openai

    async def sample(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        temperature: float | None = 0.7,
        max_tokens: int = 256,
        limit_name: str = "max_tokens",
        seed: int | None = None,
        logprobs: bool = False,
        extra: dict[str, Any] | None = None,
        arriving: Callable[[int], None] | None = None,
    ) -> Answer:
        """Return one answer, or raise `EndpointError`.

        A sampling parameter that the model does not take is left out from then on, and the limit on
        tokens is called by its other name. With ``arriving`` the answer comes as a stream, and that
        function is called with the number of its tokens whenever some arrive; a task that is
        cancelled meanwhile closes the connection, upon which the endpoint can stop writing.
        """
        fields: dict[str, Any] = {limit_name: max_tokens}
        if temperature is not None:
            fields["temperature"] = temperature
        if seed is not None:
            fields["seed"] = seed
        if logprobs:
            fields |= {"logprobs": True, "top_logprobs": 20}  # the most that one may ask for
        if arriving is not None:
            fields |= {"stream": True, "stream_options": {"include_usage": True}}
        fields |= extra or {}
        while True:
            for name in self.left_out & set(fields):
                value = fields.pop(name)
                if name in OTHER_LIMIT:
                    fields[OTHER_LIMIT[name]] = value
            try:
                return await self._sample_once(list(messages), fields, arriving)
            except EndpointError as error:
                if error.param not in fields or OTHER_LIMIT.get(error.param) in self.left_out:
                    raise
                self.left_out.add(error.param)
                left_out = f"{error.param}, which is left out from now on"
                warnings.warn(f"{self.model} does not take {left_out}", stacklevel=2)

    async def _sample_once(
        self,
        messages: list[dict[str, Any]],
        fields: dict[str, Any],
        arriving: Callable[[int], None] | None,
    ) -> Answer:
        """Send one request with these fields, and return the answer without secrets."""
        try:
            if arriving is None:
                answer = read_reply(await self._bounded(self._create(messages, fields)))
            else:
                answer = await self._bounded(self._stream(messages, fields, arriving))
        except ReplyError as error:
            failure = self._failure(str(error), billed=True)
            failure.code = "odd_reply"
            raise failure from None
        # A key that is long enough to be one is never stored, unless the question itself holds it.
        if len(self.key) >= SECRET and self.key not in str(messages):
            answer = replace(answer, text=answer.text.replace(self.key, "[key]"))
        fingerprint = None if answer.fingerprint is None else self.clean(answer.fingerprint)[:80]
        return replace(answer, finish=self.clean(answer.finish)[:40], fingerprint=fingerprint)

    async def _create(self, messages: list[dict[str, Any]], fields: dict[str, Any]) -> bytes:
        """Ask for a reply at once, and return its body as it came."""
        raw = await self._openai.chat.completions.with_raw_response.create(
            model=self.model,
            messages=messages,  # type: ignore[arg-type]
            extra_body=fields,
        )
        return raw.content

    async def _stream(
        self,
        messages: list[dict[str, Any]],
        fields: dict[str, Any],
        arriving: Callable[[int], None],
    ) -> Answer:
        """Ask for a stream and read it to its end; leaving early closes the connection."""
        stream = ReplyStream(arriving)
        async with self._openai.chat.completions.with_streaming_response.create(
            model=self.model,
            messages=messages,  # type: ignore[arg-type]
            extra_body=fields,
        ) as response:
            if "event-stream" not in response.headers.get("content-type", ""):
                return read_reply(await response.read())  # an endpoint that does not stream
            async for line in response.iter_lines():
                stream.add(line)
                if stream.is_done:
                    break
        return read_fields(stream.reply())

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, or raise `EndpointError`."""
        rows = await self._bounded(
            self._openai.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float"
            )
        )
        try:
            return [row.embedding for row in sorted(rows.data, key=lambda row: row.index)]
        except (AttributeError, TypeError):
            raise self._failure("the reply holds no embeddings", billed=True) from None

    async def _bounded(self, work: Any) -> Any:
        """Wait for a request of `openai`, and turn whatever it raises into an `EndpointError`.

        A `ReplyError` is left to the caller.
        """
        import httpx2
        import openai

        # The timeout of openai is on silences; this one is on the whole exchange.
        seconds = self.timeout * (self.max_retries + 1) + 10.0 * self.max_retries
        try:
            async with asyncio.timeout(seconds):
                return await work
        except ReplyError:
            raise
        except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException) as error:
            if _was_never_sent(error):
                raise self._failure("no connection", billed=False) from None
            raise self._failure(f"no answer within {self.timeout:g} s", billed=True) from None
        except openai.APIStatusError as error:
            raise self._refusal(error.response.status_code, error.body, error.response) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            reason = str(cause) or type(cause).__name__
            is_unsent = _was_never_sent(error)
            what = "no connection" if is_unsent else "the connection was cut"
            raise self._failure(f"{what} ({reason})", billed=not is_unsent) from None
        except httpx2.HTTPError as error:  # in the middle of a stream
            why = f"the connection was cut ({str(error) or type(error).__name__})"
            raise self._failure(why, billed=True) from None
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            why = f"the client could not read the reply ({type(error).__name__})"
            raise self._failure(why, billed=True) from None

    def _failure(self, why: str, *, billed: bool) -> EndpointError:
        """The error for a request without a usable reply: another try may help."""
        tries = self.max_retries + 1
        times = "once" if tries == 1 else f"{tries} times in a row"
        message = f"{self.url} failed {times}, the last time with: {self.clean(why)}"
        return EndpointError(message, billed=billed, passes=True)

    def _refusal(self, status: int, body: Any, reply: httpx2.Response) -> EndpointError:
        """The error that a status stands for."""
        error = body if isinstance(body, dict) else {}
        message = error.get("message")
        code = error.get("code")
        what = f"HTTP {status}"
        if isinstance(message, str):
            what += f" ({self.clean(message)})"
        if code == "insufficient_quota":  # a 429 too, but waiting does not fill an account
            why = f"{self.url} answered {what}; the account has no credit left"
            return EndpointError(why, status, "insufficient_quota")
        if status in (408, 409, 429) or status >= 500:
            failure = self._failure(what, billed=False)
            failure.status = status
            failure.retry_after = retry_after(reply.headers.get("retry-after"))
            return failure
        mend = _MENDS.get(status, _MENDS[300] if status < 400 else _MENDS[400])
        why = f"{self.url} answered {what}; {mend.format(key=self.key_name)}"
        return EndpointError(why, status, param=_unsupported(status, error))

    def clean(self, text: str) -> str:
        """Make text from outside fit to show: one short printable line without the key."""
        if len(self.key) >= 6:  # "none" or "EMPTY" is no secret, and an ordinary word
            text = text.replace(self.key, "[key]")
        text = re.sub(r"\bsk-[\w*-]{6,}", "[key]", text)  # half-masked, as some endpoints repeat it
        printable = "".join(c if c.isprintable() else " " for c in text[:100_000])
        line = " ".join(printable.split())
        return line if len(line) <= 200 else line[:200] + "..."


def _was_never_sent(error: BaseException) -> bool:
    """Whether a request failed before a connection existed, and so cannot be on the bill."""
    import httpx2

    before_sending = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return isinstance(error.__cause__, before_sending)


def _unsupported(status: int, error: dict[str, Any]) -> str:
    """The name of a parameter that a refusal calls unsupported, "" if it names none."""
    message = error.get("message")
    if status not in (400, 422) or not isinstance(message, str):
        return ""
    if not _UNSUPPORTED.search(f"{message} {error.get('code')}"):
        return ""
    names = (*_OPTIONAL, *OTHER_LIMIT)
    if error.get("param") in names:
        return error["param"]
    named = [name for name in names if re.search(rf"\b{name}\b", message)]
    return min(named, key=message.find, default="")


async def _limit_size(response: httpx2.Response) -> None:
    """Cut off a reply that is too long, before it fills the memory."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    limit = MAX_REPLY if encoding in ("", "identity") else MAX_PACKED
    response.stream = _limited_stream(response.stream, limit)


def _limited_stream(stream: Any, limit: int) -> Any:
    """Wrap a reply's stream so that a body above the limit raises."""
    import httpx2

    class LimitedStream(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                size += len(chunk)
                if size > limit:
                    raise httpx2.RemoteProtocolError(f"the reply is longer than {limit:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return LimitedStream()


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for; None if it says nothing.

    The header holds seconds, or an HTTP date.
    """
    try:
        seconds = float(value or "")
    except ValueError:
        try:
            date = parsedate_to_datetime(value or "")
            aware = date.replace(tzinfo=date.tzinfo or UTC)
            seconds = (aware - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _key_name(key_env: str) -> str:
    """Return how messages name the key's variable: by name, unless that may be the key."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key_env):
        raise ValueError(
            "key_env takes the name of an environment variable that holds the key, not the key"
        )
    if key_env == DEFAULT_KEY_ENV or key_env in os.environ:
        return f"the environment variable {key_env}"
    return (
        "an environment variable, and give its name (not the key) as key_env; "
        "the name given is not set"
    )


def _checked_url(base_url: str) -> tuple[str, bool]:
    """Return the address, fit to be shown and stored, and whether it is on this machine."""
    if not (base_url.isascii() and base_url.isprintable()) or " " in base_url:
        raise ValueError(
            "the base URL holds a space, a line break or another character that no address has"
        )
    try:
        parts = urlsplit(base_url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ValueError("the base URL must look like http://127.0.0.1:8080/v1 or https://host/v1")
    if "@" in parts.netloc or "?" in base_url or "#" in base_url:
        why = "(they would be stored and shown); put the key into an environment variable"
        raise ValueError(f"the base URL must hold no user, password, query or fragment {why}")
    url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
    return url, is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
