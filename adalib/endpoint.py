"""Ask an OpenAI-compatible endpoint for one answer, and read what it replies.

This is what `adalib.collect`, `adalib.router` and `adalib.server` have in common, and so it is a
file of its own: `collect` samples many such answers, and the router asks for as many as a question
is worth. The `openai` package sends the request. A reply becomes an `Answer`: its text, the answer
that the text gives, and the numbers that a vote may be weighted by.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adalib.sequential.race_session import Runner
from adalib.vote.extract import extract_answer

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

TOP_LOGPROBS = 20  # candidates per token, the most that one may ask for


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
        tokens=usage.completion_tokens if usage else None,
        prompt_tokens=usage.prompt_tokens if usage else None,
        logprob=_mean([token.logprob for token in logprobs or ()]),
        entropy=_mean([_entropy(token.top_logprobs) for token in logprobs or ()]),
    )


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
    client: AsyncOpenAI, messages: Sequence[dict[str, Any]], reads: Iterable[str], **fields: Any
) -> Ask:
    """Return a function that asks a model for one answer, for `Router.answer`.

    Answers come as streams: the tokens of an answer are counted while they arrive, and an answer
    that is cancelled closes its connection, upon which an endpoint stops writing.

    Parameters
    ----------
    client : openai.AsyncOpenAI
        The endpoint.
    messages : sequence of dict
        What the model is sent.
    reads : iterable of str
        What the policy reads off a reply, ``router.policy.reads``.
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
    if "logprob" in reads or "entropy" in reads:
        fields["logprobs"] = True
    if "entropy" in reads:
        fields["top_logprobs"] = TOP_LOGPROBS

    async def ask(runner: Runner) -> Answer:
        own = dict(fields)
        if own.get("seed") is not None:
            own["seed"] += runner.number  # or all answers would be the same
        texts: list[str] = []
        logprobs: list[Any] = []
        finish = usage = None
        runner.tokens = 0
        stream = await client.chat.completions.create(
            messages=messages,  # type: ignore[call-overload]
            stream=True,
            stream_options={"include_usage": True},
            **own,
        )
        async with stream:
            async for chunk in stream:
                usage = chunk.usage or usage
                for choice in chunk.choices[:1]:
                    text = choice.delta.content or ""
                    if text or choice.finish_reason is None:
                        runner.tokens += 1  # an event usually brings one token, the last one none
                    texts.append(text)
                    logprobs += (choice.logprobs and choice.logprobs.content) or []
                    finish = choice.finish_reason or finish
        answer = _answer("".join(texts), finish, logprobs, usage)
        return answer if answer.tokens is not None else replace(answer, tokens=runner.tokens)

    return ask
