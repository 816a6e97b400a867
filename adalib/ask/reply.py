"""What an OpenAI-compatible endpoint replies, whole or as a stream, and the answer in it.

Two interfaces ask for the same: `CHAT` is the chat completion, `RESPONSES` the newer one.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from adalib.vote.extract import extract_answer

# Of these fields a stream repeats the value; any other text of a reply comes in pieces.
_SAID_ONCE = ("role", "finish_reason", "type", "id", "name")


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
        Tokens written, those of its thoughts included, and read.
    logprob, entropy : float or None
        Mean log-probability and mean entropy of its tokens, in nats.
    reply : dict
        The reply that it was read from, with everything that the endpoint said.
    headers : sequence of (bytes, bytes)
        The headers of that reply.
    """

    text: str
    answer: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    logprob: float | None = None
    entropy: float | None = None
    reply: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False, compare=False)


def parsed(body: bytes | str) -> Any:
    """Return the JSON of a reply; ValueError for anything else, NaN and deep nesting included."""
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("the reply is no chat completion") from None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def read_reply(reply: Any) -> Answer:
    """Take one chat completion apart; ValueError if it holds no answer."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        finish = choice.get("finish_reason") or "unknown"
        logprobs = (choice.get("logprobs") or {}).get("content") or ()
        return _answer(reply, message.get("content") or "", finish, logprobs, CHAT)
    except (AttributeError, IndexError, KeyError, TypeError):  # a page, an error, no choice at all
        raise ValueError("the reply is no chat completion") from None


def read_response(reply: Any) -> Answer:
    """Take one reply of the Responses interface apart; ValueError if it holds no answer."""
    try:
        items = [item for item in reply["output"] if item["type"] != "reasoning"]
        parts = [part for item in items for part in item.get("content") or ()]
        finish = reply.get("status") or "unknown"
        if any(item["type"] != "message" for item in items):
            finish = "tool_calls"
        elif any(part["type"] == "refusal" for part in parts):
            finish = "refusal"
        elif finish == "completed":
            finish = "stop"
        elif finish == "incomplete":
            why = (reply.get("incomplete_details") or {}).get("reason")
            finish = "length" if why == "max_output_tokens" else str(why)
        texts = [part for part in parts if part["type"] == "output_text"]
        logprobs = [token for part in texts for token in part.get("logprobs") or ()]
        text = "".join(part["text"] for part in texts)
        return _answer(reply, text, finish, logprobs, RESPONSES)
    except (AttributeError, KeyError, TypeError):
        raise ValueError("the reply is no response") from None


def _answer(
    reply: dict[str, Any], text: str, finish: str, logprobs: Sequence[Any], interface: Interface
) -> Answer:
    """Return the answer of a text, with what its reply reports."""
    usage = reply.get("usage") or {}
    prompt_tokens = _reported(usage, interface.read_tokens)
    return Answer(
        text=text,
        answer=extract_answer(text, finished=finish == "stop"),
        finish=finish,
        tokens=_written(usage, interface.written_tokens, prompt_tokens),
        prompt_tokens=prompt_tokens,
        logprob=_mean([token["logprob"] for token in logprobs]),
        entropy=_mean([_entropy(token.get("top_logprobs")) for token in logprobs]),
        reply=reply,
    )


def check_is_text(answer: Answer) -> Answer:
    """Return an answer that is a text, whole or cut at the limit; ValueError for any other."""
    choices = answer.reply.get("choices")
    if answer.finish == "refusal" or (choices and choices[0]["message"].get("refusal")):
        raise ValueError("the reply is a refusal")
    if answer.finish not in ("stop", "length") or not answer.text.strip():
        raise ValueError(f"the reply is no text (it ended with {answer.finish})")
    return answer


class Streamed:
    """A reply that comes in pieces, put together to what it would have been in one.

    Fields that we do not know of are put together too: texts and lists are joined, and of anything
    else the last value counts. (The `openai` package's own way, `ChatCompletionStreamState`, joins
    a role that is repeated to "assistantassistant", and fails at annotations without an index.)
    """

    def __init__(self) -> None:
        self.events = 0  # an event usually brings one token, the last one none
        self._choice: dict[str, Any] = {"index": 0}
        self._message: dict[str, Any] = {"role": "assistant", "content": ""}
        self._reply: dict[str, Any] = {}

    def add(self, piece: Any) -> None:
        """Add one event; ValueError if it is none of a chat completion."""
        try:
            if piece.get("error"):
                raise ValueError("the stream reports an error")
            for choice in piece.pop("choices")[:1]:
                delta = choice.pop("delta")
                self.events += bool(delta.get("content") or choice.get("finish_reason") is None)
                _join(self._message, delta)
                _join(self._choice, choice)
            self._reply |= {name: value for name, value in piece.items() if value is not None}
        except (AttributeError, KeyError, TypeError):
            raise ValueError("the stream is no chat completion") from None

    def reply(self) -> dict[str, Any]:
        """Return the whole chat completion; its tokens are counted where none were reported."""
        counted = {"prompt_tokens": 0, "completion_tokens": self.events}
        whole = {"usage": counted | {"total_tokens": self.events}, **self._reply}
        choice = {**self._choice, "message": self._message}
        return whole | {"object": "chat.completion", "choices": [choice]}


def _join(whole: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add the fields of a piece to those that came before."""
    for name, value in piece.items():
        before: Any = whole.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            _join(before, value)
        elif name not in _SAID_ONCE and type(before) is type(value) and type(value) in (str, list):
            whole[name] = before + value
        elif value is not None or name not in whole:
            whole[name] = value


class StreamedResponse:
    """A reply of the Responses interface that comes as events; the last one has it whole."""

    def __init__(self) -> None:
        self.events = 0
        self._reply: dict[str, Any] = {}

    def add(self, piece: Any) -> None:
        """Add one event; ValueError if it is none of a response."""
        try:
            kind = piece["type"]
            if kind in ("error", "response.failed"):
                raise ValueError("the stream reports an error")
            self.events += kind.endswith(".delta")
            if kind in ("response.completed", "response.incomplete"):
                self._reply = piece["response"]
        except (AttributeError, KeyError, TypeError):
            raise ValueError("the stream is no response") from None

    def reply(self) -> dict[str, Any]:
        """Return the whole reply, {} if the stream broke off."""
        return self._reply


class Stream(Protocol):
    """What puts the events of a stream together."""

    events: int

    def add(self, piece: Any) -> None:
        """Add one event; ValueError if it is none."""

    def reply(self) -> dict[str, Any]:
        """Return the whole reply."""


@dataclass(frozen=True, eq=False)
class Interface:
    """One of the two ways to ask, and how its replies are read."""

    path: str  #: under the base URL
    read: Callable[[Any], Answer]
    stream: Callable[[], Stream]
    read_tokens: str  #: what its usage calls the tokens of the prompt
    written_tokens: str  #: and those of the answer
    as_stream: dict[str, Any]  #: fields that ask for a stream
    with_logprobs: dict[str, Any]  #: fields that ask for log-probabilities

    def hide_logprobs(self, reply: dict[str, Any]) -> None:
        """Leave out the log-probabilities of a reply, which its caller did not ask for."""
        for choice in reply.get("choices") or ():
            if "logprobs" in choice:
                choice["logprobs"] = None
        for item in reply.get("output") or ():
            for part in item.get("content") or ():
                if "logprobs" in part:
                    part["logprobs"] = []


CHAT = Interface(
    "/chat/completions",
    read_reply,
    Streamed,
    "prompt_tokens",
    "completion_tokens",
    {"stream": True, "stream_options": {"include_usage": True}},
    {"logprobs": True},
)
RESPONSES = Interface(
    "/responses",
    read_response,
    StreamedResponse,
    "input_tokens",
    "output_tokens",
    {"stream": True},
    {"include": ["message.output_text.logprobs"]},
)


async def events(lines: AsyncIterator[str]) -> AsyncIterator[Any]:
    """Yield the objects of an event stream until it says that it is done."""
    async for line in lines:
        if line.startswith("data:"):
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                return
            yield parsed(data)


def _reported(usage: Any, name: str) -> int | None:
    """Return a number of tokens; None where it is not reported, or is no such number."""
    count = usage.get(name)
    return count if isinstance(count, int) and count >= 0 else None


def _written(usage: Any, name: str, prompt_tokens: int | None) -> int | None:
    """Return the tokens that were written, thoughts too, which some endpoints count beside them."""
    written, total = _reported(usage, name), _reported(usage, "total_tokens")
    if written is None or total is None or prompt_tokens is None:
        return written
    return max(written, total - prompt_tokens)


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean, rounded for a file; None without values, or if one is not finite."""
    if not values or not all(math.isfinite(value) for value in values):
        return None
    return round(math.fsum(values) / len(values), 6)


def _entropy(candidates: Sequence[Any] | None) -> float:
    """Return the sum of -p log p over the reported candidates, a lower bound on the entropy."""
    if not candidates:
        return math.nan
    return math.fsum(-math.exp(one["logprob"]) * one["logprob"] for one in candidates)
