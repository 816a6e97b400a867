"""What a chat completion says: its text, how it ended, what it cost, how sure the model was.

Nothing in a reply is trusted. It may be nested a thousand deep, hold a count of 10^400 or half a
character; what is returned from here can be stored and read back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT = 1_000_000  # characters of one answer
MAX_COUNT = 10**15  # tokens; no more than a file of answers may hold
DETAILS = ("prompt_tokens_details", "completion_tokens_details")


class ReplyError(Exception):
    """The reply is not a chat completion. The message is not cleaned: it may repeat secrets."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a model; None where the endpoint does not tell, or was not asked to.

    Attributes
    ----------
    text : str
        What the model wrote; half a character (a cut emoji) reads U+FFFD.
    finish : str
        "stop", or "length" when the answer was cut at the token limit.
    tokens, prompt_tokens : int or None
        Tokens written and read.
    logprob, entropy : float or None
        Mean log-probability and mean entropy of its tokens, in nats.
    fingerprint : str or None
        The system that wrote it.
    details : mapping
        ``prompt_tokens_details`` and ``completion_tokens_details`` as reported, counts alone.
    cost : float or None
        Dollars, where the endpoint reports them as ``usage.cost``.
    """

    text: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    logprob: float | None = None
    entropy: float | None = None
    fingerprint: str | None = None
    details: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    cost: float | None = None

    @property
    def cached_tokens(self) -> int:
        """Tokens of the prompt that were read from the endpoint's cache."""
        cached = self.details.get("prompt_tokens_details", {}).get("cached_tokens", 0)
        return min(cached, self.prompt_tokens or 0)


def read_reply(body: bytes) -> Answer:
    """Take a chat completion apart, or raise `ReplyError`."""
    return read_fields(_parsed(body))


def read_fields(reply: dict[str, Any]) -> Answer:
    """Take the fields of a chat completion apart, or raise `ReplyError`."""
    if not reply.get("choices"):
        error = f" ({json.dumps(reply['error'])})" if reply.get("error") else ""
        raise ReplyError(f"the reply holds no choices{error}")
    try:
        choice = reply["choices"][0]
        text = choice["message"].get("content")
        finish = choice.get("finish_reason")
        logprobs = choice.get("logprobs")
    except (AttributeError, LookupError, TypeError):
        raise ReplyError("the reply is JSON but no chat completion") from None
    if text is not None and not isinstance(text, str):
        raise ReplyError("the reply is JSON but no chat completion")
    if text and len(text) > MAX_TEXT:
        size = f"{len(text):,} characters"
        raise ReplyError(f"the answer has {size}, and at most {MAX_TEXT:,} are kept")
    reported = reply.get("usage")
    usage: dict[str, Any] = reported if isinstance(reported, dict) else {}
    fingerprint = reply.get("system_fingerprint")
    return Answer(
        text=_whole_characters(text or ""),
        finish=_whole_characters(finish) if isinstance(finish, str) and finish else "unknown",
        tokens=_count(usage.get("completion_tokens")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        logprob=mean_logprob(_token_field(logprobs, "logprob")),
        entropy=mean_entropy(_candidates(logprobs)),
        fingerprint=_whole_characters(fingerprint) if isinstance(fingerprint, str) else None,
        details={name: _counts(usage.get(name)) for name in DETAILS if usage.get(name)},
        cost=_dollars(usage.get("cost")),
    )


def _parsed(body: bytes) -> dict[str, Any]:
    """The JSON object of a reply, or a `ReplyError` that says what came instead."""
    try:
        reply = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise ReplyError("the reply is not UTF-8") from None
    except (ValueError, RecursionError):
        what = "a page, not JSON" if body.lstrip().startswith(b"<") else "not JSON"
        raise ReplyError(f"the reply is {what}") from None
    if not isinstance(reply, dict):
        raise ReplyError("the reply is a page or a bare value, not a chat completion")
    return reply


def _token_field(logprobs: Any, name: str) -> list[Any]:
    """A field of every token of an answer; empty where one token lacks it."""
    try:
        return [token[name] for token in logprobs["content"]]
    except (LookupError, TypeError):
        return []


def _candidates(logprobs: Any) -> list[list[Any]]:
    """The log-probabilities of the likeliest candidates, one list per token."""
    try:
        return [
            [candidate["logprob"] for candidate in token]
            for token in _token_field(logprobs, "top_logprobs")
        ]
    except (LookupError, TypeError):
        return []


def mean_logprob(tokens: Sequence[float]) -> float | None:
    """Return the mean log-probability of tokens in nats; None without valid tokens."""
    if not tokens or not all(_is_logprob(token) for token in tokens):
        return None
    return round(min(math.fsum(tokens) / len(tokens), 0.0), 6)


def mean_entropy(tokens: Sequence[Sequence[float]]) -> float | None:
    """Mean entropy of an answer's tokens in nats, from the candidates that are reported for each.

    The sum of ``-p log p`` stops at those candidates, 20 at most: a lower bound, close where they
    hold most of the probability.
    """
    if not tokens or not all(tokens):
        return None
    logprobs = [logprob for candidates in tokens for logprob in candidates]
    if not all(_is_logprob(logprob, zero=True) for logprob in logprobs):
        return None
    total = math.fsum(-math.exp(value) * value for value in logprobs if value > -math.inf)
    return round(max(total, 0.0) / len(tokens), 6)


def _is_logprob(value: Any, zero: bool = False) -> bool:
    """Whether a value is a log-probability; minus infinity is one with ``zero``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1e9 <= value <= 1e-4 or (zero and value == -math.inf)


def _count(value: Any) -> int | None:
    """A number of tokens; None if the value is none."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if is_count else None


def _counts(details: Any) -> dict[str, int]:
    """The counts among some details, by name."""
    if not isinstance(details, dict):
        return {}
    counts = {str(name): _count(value) for name, value in details.items()}
    return {name: count for name, count in counts.items() if count is not None}


def _dollars(value: Any) -> float | None:
    """An amount of dollars; None if the value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        return None
    return float(value)


def _whole_characters(text: str) -> str:
    """Replace half of a surrogate pair, which JSON can carry and no UTF-8 file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
