"""Ask an OpenAI-compatible endpoint for one answer.

The router (`adalib.serve.router`) asks for as many such answers as a question is worth. How a
request is sent is left to a function, so that the server sends it as it sends everything else, and
`model_asker` by the `openai` package. What comes back is read in `adalib.ask.reply`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic as now
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from adalib.ask.reply import CHAT, Answer, Interface, check_is_text, events, parsed
from adalib.ask.runner import Runner

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

TOP_LOGPROBS = 20  # candidates per token, the most that one may ask for
LARGEST_REPLY = 10_000_000  # bytes; one of 4,000 tokens with all its candidates has about 8 million
LOG = logging.getLogger("adalib.ask")

_WITHOUT = 600.0  # seconds for which an endpoint that refused a wish is asked without it
_REFUSALS = (400, 422)  # what an endpoint replies to a field that it does not know

#: Asks a model for one answer. A race reads ``runner.tokens``, the tokens written so far.
Ask = Callable[[Runner], Awaitable[Answer]]
#: Sends the fields of a request, notes in the runner that they are on their way (``runner.paid``),
#: and returns the reply before its body is read.
Send = Callable[[dict[str, Any], Runner], Awaitable["httpx2.Response"]]


def check_base_url(url: str, name: str) -> None:
    """Raise ValueError if a URL is none to which the paths of requests can be added."""
    try:
        address = urlsplit(url)
        sound = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:  # a port that is no number below 65536
        sound = False
    if not sound or not url.isprintable() or set(" ?#") & set(url):
        raise ValueError(f"{name} is {url!r}; give a base URL such as http://127.0.0.1:8080/v1")


class NoAnswerError(ValueError):
    """The endpoint replied, and its reply is no answer: an error, a refusal, a page.

    The reply is kept with its status, headers and body: as it came, or put together from a stream.
    """

    def __init__(
        self, why: str, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> None:
        super().__init__(why)
        self.status = status
        self.headers = headers
        self.body = body


@dataclass
class Wishes:
    """What is asked for in addition to the fields of a request, while the endpoint accepts it.

    Attributes
    ----------
    fields : dict
        The fields to add.
    """

    fields: dict[str, Any]
    interface: Interface = CHAT
    _refused_until: float = field(default=0.0, repr=False)
    _streams: bool = field(default=True, repr=False)  # as far as is known

    @classmethod
    def of(cls, reads: Iterable[str], *, streams: bool, interface: Interface = CHAT) -> Wishes:
        """Return what a policy needs that reads these fields of a reply, streamed or whole."""
        fields: dict[str, Any] = {}
        if streams:
            fields |= interface.as_stream
        if "logprob" in reads or "entropy" in reads:
            fields |= interface.with_logprobs
        if "entropy" in reads:
            fields["top_logprobs"] = TOP_LOGPROBS
        return cls(fields, interface)

    async def begin(self, send: Send, fields: dict[str, Any], runner: Runner) -> httpx2.Response:
        """Send a request with the wishes, and without them where the endpoint refuses it."""
        is_without = not self.fields or now() < self._refused_until
        # Of an answer that comes whole nobody knows how far it is.
        runner.tokens = 0 if self._may_stream() and not is_without else None
        if is_without:
            return await send(fields, runner)
        wished = fields | self.fields
        if fields.get("include") and "include" in self.fields:
            wished["include"] = [*fields["include"], *self.fields["include"]]
        response = await send(wished, runner)
        if response.status_code not in _REFUSALS:
            return response
        await response.aclose()
        runner.paid, runner.tokens = False, None
        response = await send(fields, runner)
        if response.is_success:  # so it was a wish that it refused
            self._refused_until = now() + _WITHOUT
            why = f"it refuses {', '.join(self.fields)}, and is asked without for {_WITHOUT:g} s"
            LOG.warning(json.dumps({"model": fields.get("model"), "why": why}))
        return response

    def _may_stream(self) -> bool:
        return self._streams and "stream" in self.fields

    async def read(self, response: httpx2.Response, runner: Runner) -> Answer:
        """Return the answer of a reply, whole or as a stream; NoAnswerError if there is none."""
        headers = response.headers.raw
        if not response.is_success:
            runner.paid, runner.tokens = False, 0
            body = b"".join([piece async for piece in _limited(response)])
            raise NoAnswerError(f"HTTP {response.status_code}", response.status_code, headers, body)
        kind = response.headers.get("content-type", "")
        self._streams = "stream" in self.fields and kind.startswith("text/event-stream")
        if not self._streams:
            runner.tokens = None
        answer, body = None, b""
        try:
            if self._streams:
                streamed = self.interface.stream()
                async for event in events(_lines(response)):
                    streamed.add(event)
                    runner.tokens = streamed.events
                reply = streamed.reply()
            else:
                body = b"".join([piece async for piece in _limited(response)])
                reply = parsed(body)
            answer = self.interface.read(reply)
            check_is_text(answer)
        except NoAnswerError:
            raise
        except ValueError as error:
            if answer is not None and answer.tokens is not None:
                runner.tokens = answer.tokens
            if self._streams:
                if answer is None or answer.finish == "unknown":
                    raise _failed(str(error)) from None
                body = json.dumps(answer.reply).encode()
                headers = [pair for pair in headers if pair[0].lower() != b"content-type"]
                headers.append((b"content-type", b"application/json"))
            raise NoAnswerError(str(error), response.status_code, headers, body) from None
        if self.interface.with_logprobs.keys() & self.fields.keys():
            self.interface.hide_logprobs(answer.reply)
        return replace(answer, headers=headers)


def asker(send: Send, fields: Mapping[str, Any], wishes: Wishes) -> Ask:
    """Return a function that asks for one answer by sending these fields and wishes.

    It raises `NoAnswerError` for a reply that is no answer, and closes every reply.
    """

    async def ask(runner: Runner) -> Answer:
        own = dict(fields)
        if own.get("seed") is not None:
            own["seed"] += runner.number  # or all answers would be the same
        runner.paid = False  # until it is sent
        response = await wishes.begin(send, own, runner)
        try:
            return await wishes.read(response, runner)
        finally:
            await response.aclose()

    return ask


async def _limited(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the pieces of a reply's body; NoAnswerError for one that is too long."""
    size = 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > LARGEST_REPLY:
            raise _failed(f"the reply has more than {LARGEST_REPLY:,} bytes")
        yield piece


async def _lines(response: httpx2.Response) -> AsyncIterator[str]:
    """Yield the lines of a reply while they come."""
    rest = b""
    async for piece in _limited(response):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    yield rest.decode(errors="replace")


def _failed(why: str) -> NoAnswerError:
    """Return the error of a reply that cannot be passed on: it broke off, or never ends."""
    error = {"message": f"the upstream failed: {why}", "type": "server_error", "code": 502}
    headers = [(b"content-type", b"application/json")]
    return NoAnswerError(why, 502, headers, json.dumps({"error": error}).encode())


# What each endpoint was found to refuse, by client and model.
_WISHES: WeakKeyDictionary[AsyncOpenAI, dict[tuple[str, ...], Wishes]] = WeakKeyDictionary()


def model_asker(
    client: AsyncOpenAI,
    messages: Sequence[dict[str, Any]],
    reads: Iterable[str],
    *,
    extra_headers: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Ask:
    """Return a function that asks a model for one answer, for `Router.answer`.

    Answers come as streams: the tokens of an answer are counted while they arrive, and an answer
    that is cancelled closes its connection, upon which an endpoint stops writing. An endpoint that
    does not stream is understood too; one that refuses log-probabilities or the report of its
    usage is asked without them. A reply that is no text (a refusal, a call of a tool, a page, a
    stream that breaks off) raises ValueError.

    Parameters
    ----------
    client : openai.AsyncOpenAI
        The endpoint.
    messages : sequence of dict
        What the model is sent.
    reads : iterable of str
        What the policy reads off a reply, ``router.policy.reads``.
    extra_headers : mapping, optional
        Headers to send besides those of the client.
    **fields
        Further fields of the request, such as ``model``, ``temperature`` or ``max_tokens``.

    Returns
    -------
    callable

    Examples
    --------
    >>> from openai import AsyncOpenAI
    >>> client = AsyncOpenAI(base_url="http://127.0.0.1:8080/v1", api_key="none")
    >>> turn = {"role": "user", "content": "What is three plus four?"}
    >>> ask = model_asker(client, [turn], (), model="m", temperature=0.7)
    """
    import openai

    options: Any = {"headers": dict(extra_headers or {})}

    async def send(body: dict[str, Any], runner: Runner) -> httpx2.Response:
        stream: openai.AsyncStream[Any]
        runner.paid = True
        try:
            # As a stream, whatever comes: what is read is left to `asker`.
            stream = await client.post(
                "/chat/completions",
                cast_to=object,
                body=body,
                options=options,
                stream=True,
                stream_cls=openai.AsyncStream[Any],
            )
        except openai.APIStatusError as error:
            return error.response
        return stream.response

    reads = tuple(sorted(reads))
    known = _WISHES.setdefault(client, {})
    wishes = known.setdefault((str(fields.get("model")), *reads), Wishes.of(reads, streams=True))
    return asker(send, {"messages": messages, **fields}, wishes)
