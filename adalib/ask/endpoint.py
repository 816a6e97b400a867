"""Ask an OpenAI-compatible endpoint for one answer, and read what it replies.

`adalib.ask.collect` samples many such answers, and the router (`adalib.serve.router`) asks for as
many as a question is worth. The `openai` package sends the request. A reply becomes an `Answer`:
its text, the answer that the text gives, and the numbers that a vote may be weighted by.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

from adalib.ask.runner import Runner
from adalib.vote.extract import extract_answer

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

TOP_LOGPROBS = 20  # candidates per token, the most that one may ask for
_PLAIN: WeakSet[AsyncOpenAI] = WeakSet()  # endpoints that refuse what a vote would like to know


@dataclass(frozen=True)
class Answer:
    """One answer of a model; None where the endpoint does not report a number.

    Attributes
    ----------
    text : str
        What the model wrote.
    answer : str
        The answer that was read out of the text, "" if there is none.
    finish : str
        "stop", or "length" where the text was cut at the limit on tokens.
    tokens, prompt_tokens : int or None
        Tokens written and read.
    logprob, entropy : float or None
        Mean log-probability and mean entropy of its tokens, in nats.
    """

    text: str
    answer: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    logprob: float | None = None
    entropy: float | None = None


def check_base_url(url: str, name: str) -> None:
    """Raise ValueError if a URL is none to which the paths of requests can be added."""
    try:
        address = urlsplit(url)
        sound = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:  # a port that is no number below 65536
        sound = False
    if not sound or not url.isprintable() or set(" ?#") & set(url):
        raise ValueError(f"{name} is {url!r}; give a base URL such as http://127.0.0.1:8080/v1")


def read_completion(completion: ChatCompletion) -> Answer:
    """Take one chat completion apart; ValueError if it holds no answer."""
    try:
        choice = completion.choices[0]
        text = choice.message.content or ""
    except (AttributeError, IndexError, TypeError):  # a page, an error, no choice at all
        raise ValueError("the reply is no chat completion") from None
    logprobs = choice.logprobs.content if choice.logprobs else None
    return _answer(text, choice.finish_reason, logprobs, completion.usage)


def _answer(text: str, finish: str | None, logprobs: Sequence[Any] | None, usage: Any) -> Answer:
    """Return the answer of a text, with its tokens' log-probabilities and the reported usage."""
    return Answer(
        text=text,
        answer=extract_answer(text, finished=finish == "stop"),
        finish=finish or "unknown",
        tokens=_reported(usage, "completion_tokens"),
        prompt_tokens=_reported(usage, "prompt_tokens"),
        logprob=_mean([token.logprob for token in logprobs or ()]),
        entropy=_mean([_entropy(token.top_logprobs) for token in logprobs or ()]),
    )


def _reported(usage: Any, name: str) -> int | None:
    """Return a number of tokens; None where it is not reported, or is no such number."""
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and count >= 0 else None


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean, rounded for a file; None without values, or if one is not finite."""
    if not values or not all(math.isfinite(value) for value in values):
        return None
    return round(math.fsum(values) / len(values), 6)


def _entropy(candidates: Sequence[Any]) -> float:
    """Return the sum of -p log p over the reported candidates, a lower bound on the entropy."""
    if not candidates:
        return math.nan
    return math.fsum(-math.exp(one.logprob) * one.logprob for one in candidates)


#: Asks a model for one answer. A race reads ``runner.tokens``, the tokens written so far.
Ask = Callable[[Runner], Awaitable[Answer]]


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

    wishes: dict[str, Any] = {"stream_options": {"include_usage": True}}
    if "logprob" in reads or "entropy" in reads:
        wishes["logprobs"] = True
    if "entropy" in reads:
        wishes["top_logprobs"] = TOP_LOGPROBS

    async def begin(fields: dict[str, Any]) -> AsyncStream[ChatCompletionChunk]:
        # As the body itself, because the client would copy every message of a long conversation.
        return await client.chat.completions.create(
            model=fields["model"],
            messages=[],
            stream=True,
            extra_headers=extra_headers,
            extra_body=fields,
        )

    async def begin_with_wishes(fields: dict[str, Any]) -> AsyncStream[ChatCompletionChunk]:
        if client in _PLAIN:
            return await begin(fields)
        try:
            return await begin(fields | wishes)
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            stream = await begin(fields)
            _PLAIN.add(client)  # without the wishes it is content
            return stream

    async def ask(runner: Runner) -> Answer:
        own = {"messages": messages, **fields}
        if own.get("seed") is not None:
            own["seed"] += runner.number  # or all answers would be the same
        runner.tokens = 0
        stream = await begin_with_wishes(own)
        async with stream:
            if "json" in stream.response.headers.get("content-type", ""):
                return await _whole_answer(stream.response)
            return await _streamed_answer(stream, runner)

    return ask


async def _whole_answer(response: httpx2.Response) -> Answer:
    """Return the answer of an endpoint that does not stream."""
    from openai.types.chat import ChatCompletion

    completion = ChatCompletion.construct(**json.loads(await response.aread()))
    answer = read_completion(completion)
    if completion.choices[0].message.refusal:
        raise ValueError("the reply is a refusal")
    return _checked(answer)


async def _streamed_answer(stream: AsyncStream[ChatCompletionChunk], runner: Runner) -> Answer:
    """Return the answer that a stream brings, and count its tokens while they come."""
    texts: list[str] = []
    logprobs: list[Any] = []
    finish = usage = None
    events = 0  # an event usually brings one token, the last one none
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices[:1]:
            if choice.delta.refusal:
                raise ValueError("the reply is a refusal")
            text = choice.delta.content or ""
            events += bool(text or choice.finish_reason is None)
            runner.tokens = events
            texts.append(text)
            logprobs += (choice.logprobs and choice.logprobs.content) or []
            finish = choice.finish_reason or finish
    answer = _checked(_answer("".join(texts), finish, logprobs, usage))
    return answer if answer.tokens is not None else replace(answer, tokens=events)


def _checked(answer: Answer) -> Answer:
    """Return an answer that is a text, whole or cut at the limit; ValueError for any other."""
    if answer.finish not in ("stop", "length") or not answer.text.strip():
        raise ValueError(f"the reply is no text (it ended with {answer.finish})")
    return answer
