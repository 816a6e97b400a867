"""Ask an OpenAI-compatible endpoint for one answer.

The router (`adalib.serve.router`) asks for as many such answers as a question is worth. How a
request is sent is left to a function, so that the server sends it as it sends everything else, and
`model_asker` by the `openai` package. What comes back is read in `adalib.ask.reply`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic as now
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from adalib.ask.reply import Answer, Streamed, check_is_text, events, parsed, read_reply
from adalib.ask.runner import Runner

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

TOP_LOGPROBS = 20  # candidates per token, the most that one may ask for
LOG = logging.getLogger("adalib.ask")

_WITHOUT = 600.0  # seconds for which an endpoint that refused a wish is asked without it
_REFUSALS = (400, 422)  # what an endpoint replies to a field that it does not know

#: Asks a model for one answer. A race reads ``runner.tokens``, the tokens written so far.
Ask = Callable[[Runner], Awaitable[Answer]]
#: Sends the fields of a chat completion, and returns the reply before its body is read.
Send = Callable[[dict[str, Any]], Awaitable["httpx2.Response"]]


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

    The reply is kept as it came, with its status, headers and body.
    """

    def __init__(self, why: str, response: httpx2.Response) -> None:
        super().__init__(why)
        self.status = response.status_code
        self.headers = response.headers.raw
        self.body = response.content


@dataclass
class Wishes:
    """What is asked for in addition to the fields of a request, while the endpoint accepts it.

    Attributes
    ----------
    fields : dict
        The fields to add.
    """

    fields: dict[str, Any]
    _refused_until: float = field(default=0.0, repr=False)

    @classmethod
    def of(cls, reads: Iterable[str], *, streams: bool) -> Wishes:
        """Return what a policy needs that reads these fields of a reply, streamed or whole."""
        fields: dict[str, Any] = {}
        if streams:
            fields |= {"stream": True, "stream_options": {"include_usage": True}}
        if "logprob" in reads or "entropy" in reads:
            fields["logprobs"] = True
        if "entropy" in reads:
            fields["top_logprobs"] = TOP_LOGPROBS
        return cls(fields)

    async def begin(self, send: Send, fields: dict[str, Any]) -> httpx2.Response:
        """Send a request with the wishes, and without them where the endpoint refuses it."""
        if now() < self._refused_until:
            return await send(fields)
        response = await send(fields | self.fields)
        if response.status_code not in _REFUSALS or not self.fields:
            return response
        await response.aclose()
        response = await send(fields)
        if response.is_success:  # so it was a wish that it refused
            self._refused_until = now() + _WITHOUT
            why = f"it refuses {', '.join(self.fields)}, and is asked without for {_WITHOUT:g} s"
            LOG.warning(json.dumps({"model": fields.get("model"), "why": why}))
        return response


def asker(send: Send, fields: Mapping[str, Any], wishes: Wishes) -> Ask:
    """Return a function that asks for one answer by sending these fields and wishes.

    It raises `NoAnswerError` for a reply that is no answer, and closes every reply.
    """

    async def ask(runner: Runner) -> Answer:
        own = dict(fields)
        if own.get("seed") is not None:
            own["seed"] += runner.number  # or all answers would be the same
        runner.tokens = 0
        response = await wishes.begin(send, own)
        try:
            kind = response.headers.get("content-type", "")
            may_stream = response.is_success and "stream" in wishes.fields
            is_stream = may_stream and kind.startswith("text/event-stream")
            read = _read_stream(response, runner) if is_stream else _read_whole(response)
            answer = await read
        finally:
            await response.aclose()
        choice = answer.reply["choices"][0]
        if "logprobs" in wishes.fields and "logprobs" in choice:
            choice["logprobs"] = None  # we asked for them, the caller did not
        return replace(answer, headers=response.headers.raw)

    return ask


async def _read_whole(response: httpx2.Response) -> Answer:
    """Return the answer of a reply that comes in one piece."""
    body = await response.aread()
    if not response.is_success:
        raise NoAnswerError(f"HTTP {response.status_code}", response)
    try:
        return check_is_text(read_reply(parsed(body)))
    except ValueError as error:
        raise NoAnswerError(str(error), response) from None


async def _read_stream(response: httpx2.Response, runner: Runner) -> Answer:
    """Return the answer that a stream brings, and count its tokens while they come."""
    streamed = Streamed()
    async for event in events(response.aiter_lines()):
        streamed.add(event)
        runner.tokens = streamed.events
    return check_is_text(read_reply(streamed.reply()))


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

    async def send(body: dict[str, Any]) -> httpx2.Response:
        stream: openai.AsyncStream[Any]
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
