"""A chat completion that comes as a stream of events, put together, and counted as it arrives.

One event usually brings one token. Where an event reports the usage so far, or the
log-probabilities of its tokens, these are counted instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from adalib.llm.reply import MAX_COUNT, ReplyError

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")  # of a delta; each costs tokens
_DATA = "data:"


class ReplyStream:
    """The events of one reply.

    Parameters
    ----------
    arrive : callable
        Called with the number of tokens so far, whenever it grows.

    Attributes
    ----------
    tokens : int
        Tokens that have arrived.
    is_done : bool
        Whether the last event has come.

    Examples
    --------
    >>> stream = ReplyStream(print)
    >>> stream.add('data: {"choices": [{"delta": {"content": "Answer: "}}]}')
    1
    >>> stream.add('data: {"choices": [{"delta": {"content": "7"}, "finish_reason": "stop"}]}')
    2
    >>> stream.add("data: [DONE]")
    >>> stream.reply()["choices"][0]["message"]
    {'content': 'Answer: 7'}
    """

    def __init__(self, arrive: Callable[[int], None]) -> None:
        self.arrive = arrive
        self.tokens = 0
        self.is_done = False
        self._text: list[str] = []
        self._logprobs: list[Any] = []
        self._usage: dict[str, Any] = {}
        self._finish: Any = None
        self._fingerprint: Any = None

    def add(self, line: str) -> None:
        """Take in one line of the stream, or raise `ReplyError`."""
        if not line.startswith(_DATA):
            return  # an empty line between two events, or a comment
        data = line.removeprefix(_DATA).strip()
        if data == "[DONE]":
            self.is_done = True
            return
        try:
            event = json.loads(data)
            self._take(event)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
            raise ReplyError("the stream holds an event that is no chat completion") from None

    def reply(self) -> dict[str, Any]:
        """Return the whole like a reply that came at once; raise `ReplyError` if it was cut."""
        if not self.is_done and self._finish is None:
            raise ReplyError("the stream ended before the answer did")
        choice = {
            "message": {"content": "".join(self._text)},
            "finish_reason": self._finish,
            "logprobs": {"content": self._logprobs} if self._logprobs else None,
        }
        usage = self._usage | {"completion_tokens": self.tokens}
        return {"choices": [choice], "usage": usage, "system_fingerprint": self._fingerprint}

    def _take(self, event: dict[str, Any]) -> None:
        """Take one event of the stream."""
        if event.get("error"):
            raise ReplyError(f"the stream holds an error ({json.dumps(event['error'])})")
        self._fingerprint = event.get("system_fingerprint") or self._fingerprint
        before = self.tokens
        for choice in event.get("choices") or ():
            self._take_choice(choice)
        if isinstance(event.get("usage"), dict):
            self._usage = event["usage"]
            written = self._usage.get("completion_tokens")
            if isinstance(written, int) and 0 <= written <= MAX_COUNT:
                self.tokens = written
        if self.tokens > before:
            self.arrive(self.tokens)

    def _take_choice(self, choice: dict[str, Any]) -> None:
        """Take the text and the log-probabilities of one choice, and count its tokens."""
        delta = choice.get("delta") or {}
        content = delta.get("content")
        if content is not None:
            if not isinstance(content, str):
                raise TypeError("the text of an event is not a text")
            self._text.append(content)
        logprobs = (choice.get("logprobs") or {}).get("content") or []
        self._logprobs += logprobs
        if logprobs:
            self.tokens += len(logprobs)
        elif any(delta.get(name) for name in _TEXTS):
            self.tokens += 1
        self._finish = choice.get("finish_reason") or self._finish
