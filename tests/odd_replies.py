"""Replies of a chat-completions endpoint that are none: for `FaultServer`, a status, header lines
and a body each."""

from __future__ import annotations

import gzip
import json

from adalib.llm.client import MAX_REPLY
from adalib.llm.reply import MAX_TEXT

GOOD = {
    "choices": [{"message": {"content": "Answer: 7"}, "finish_reason": "stop"}],
    "usage": {"completion_tokens": 9, "prompt_tokens": 20},
}


def changed(**parts) -> bytes:
    """A good reply with some of its parts replaced."""
    return json.dumps(GOOD | parts).encode()


def choice(**parts) -> bytes:
    """A good reply with some parts of its one choice replaced."""
    return changed(choices=[GOOD["choices"][0] | parts])


#: Bodies in which there is no answer.
ODD = {
    "choices-object": changed(choices={"0": 1}),
    "choices-text": changed(choices="text"),
    "choices-numbers": changed(choices=[1, 2]),
    "message-list": choice(message=[1]),
    "content-list": choice(message={"content": [{"type": "text"}]}),
    "content-number": choice(message={"content": 7}),
    "deep": b"[" * 100_000,
    "deep-object": b'{"a":' * 100_000,
    "deep-inside": b'{"choices": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "digits": b'{"choices": ' + b"9" * 5000 + b"}",
    "null": b"null",
    "nothing": b"",
    "spaces": b" " * 1000,
    "latin": '{"é": 1}'.encode("latin-1"),
    "too-long": choice(message={"content": "x" * (MAX_TEXT + 1)}),
}

#: Bodies with an answer, beside numbers that nobody can use.
STRANGE = {
    "tokens-huge": changed(usage={"completion_tokens": 10**400, "prompt_tokens": 10**400}),
    "tokens-negative": changed(usage={"completion_tokens": -1, "prompt_tokens": "20"}),
    "usage-list": changed(usage=[1]),
    "sure-positive": choice(
        logprobs={"content": [{"logprob": 0.5, "top_logprobs": [{"logprob": 0.5}]}]}
    ),
    "sure-infinite": choice(logprobs={"content": [{"logprob": float("-inf"), "top_logprobs": []}]}),
    "sure-mixed": choice(logprobs={"content": [{"logprob": -1}, {"logprob": "-2"}, 3]}),
}


def bomb(encoding: str = "gzip") -> tuple[int, str, bytes]:
    """A small reply that becomes a large one."""
    body = (
        gzip.compress(b" " * (MAX_REPLY + 10), 9)
        if encoding == "gzip"
        else b"\x78\x9c" + b"\x00" * 100
    )
    return 200, f"Content-Encoding: {encoding}\r\n", body


def as_replies(bodies: dict[str, bytes]) -> dict[str, tuple[int, str, bytes]]:
    """The bodies as replies of a server that calls them good."""
    return {name: (200, "", body) for name, body in bodies.items()}
