"""Which requests are voted on, and the question in them.

A request is voted on if each of its fields can go with every answer of a vote: plain text turns,
and settings of sampling, of thinking and of accounts. What a vote cannot keep (tools, images, a
stream, several choices, what is stored) and what is not known here is named as the reason.
"""

from __future__ import annotations

from typing import Any

# Fields that go with every answer of a vote, whatever they hold.
_ALONG = {
    *("model", "user", "safety_identifier", "metadata", "service_tier", "prompt_cache_key"),
    *("prompt_cache_retention", "temperature", "top_p", "top_k", "min_p", "presence_penalty"),
    *("frequency_penalty", "repetition_penalty", "logit_bias", "seed", "stop", "reasoning_effort"),
    *("chat_template_kwargs", "enable_thinking", "thinking", "thinking_budget", "reasoning"),
    *("thinking_token_budget", "thinking_budget_tokens", "reasoning_budget", "include_reasoning"),
}
_CHAT = _ALONG | {"messages", "max_tokens", "max_completion_tokens", "verbosity"}
_RESPONSES = _ALONG | {"input", "instructions", "max_output_tokens", "truncation"}
# Fields that say nothing if they hold one of these.
_EMPTY: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "stream": (False,),
    "store": (False,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
    "parallel_tool_calls": (False, True),
    "background": (False,),
    "modalities": (["text"],),
    "response_format": ({"type": "text"},),
    "include": ([], ["reasoning.encrypted_content"]),
}
_GREEDY = {"temperature": 0, "top_p": 0, "top_k": 1}  # at which all answers are the same
_TEXTS = ("text", "input_text", "output_text")  # kinds of parts
_OF_A_TURN = {"role", "content", "name", "type", "id", "status", "reasoning_content", "reasoning"}


def why_passed_on(fields: dict[str, Any], model: str) -> str:
    """Return why a chat completion is passed on instead of voted on; "" if it is voted on.

    Examples
    --------
    >>> turn = {"role": "user", "content": "What is 3 + 4?"}
    >>> why_passed_on({"model": "m", "messages": [turn], "temperature": 0.7}, "m")
    ''
    >>> why_passed_on({"model": "m", "messages": [turn], "tools": [{}]}, "m")
    'it has tools'
    """
    return _why_not(fields, model, _CHAT) or _why_no_text(fields.get("messages"))


def why_refused(fields: dict[str, Any], model: str) -> str:
    """Return why a request of the Responses interface is not voted on; "" if it is.

    Examples
    --------
    >>> why_refused({"model": "m", "input": "What is 3 + 4?", "store": False}, "m")
    ''
    >>> why_refused({"model": "m", "input": "And 5 + 6?", "previous_response_id": "r"}, "m")
    'it has previous_response_id'
    """
    text = fields.get("text") or {}
    is_plain = isinstance(text, dict) and text.get("format") in (None, {"type": "text"})
    if not is_plain or set(text) - {"format", "verbosity"}:
        return "it has a text format"
    rest = {name: value for name, value in fields.items() if name != "text"}
    asked = rest.get("input")
    turns = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    return _why_not(rest, model, _RESPONSES) or _why_no_text(turns)


def question_of(fields: dict[str, Any]) -> str:
    """Return the text of the last turn of a request that is voted on."""
    turns = fields.get("messages") or fields["input"]
    return turns if isinstance(turns, str) else str(_text(turns[-1]["content"]))


def _why_not(fields: dict[str, Any], model: str, known: set[str]) -> str:
    """Return which field of a request stands against a vote."""
    if fields.get("model") != model:
        return "another model"
    for name, value in fields.items():
        if name not in known and value is not None and value not in _EMPTY.get(name, ()):
            return f"it has {name[:40]}"
    greedy = [name for name, value in _GREEDY.items() if fields.get(name) == value]
    return f"{greedy[0]} {_GREEDY[greedy[0]]}, at which all answers are the same" if greedy else ""


def _why_no_text(turns: Any) -> str:
    """Return why turns are not plain text; "" if they are."""
    turns = turns if isinstance(turns, list) else []
    if not turns or not all(isinstance(turn, dict) for turn in turns):
        return "not plain text"
    for turn in turns:
        others = [name for name, value in turn.items() if value and name not in _OF_A_TURN]
        is_item = turn.get("type") not in (None, "message")  # a call of a tool, and its result
        if others or is_item or turn.get("role") in ("tool", "function"):
            return "a turn with tools, or more than a text"
        if _text(turn.get("content")) is None:
            return "not plain text"
    return ""


def _text(content: Any) -> str | None:
    """Return the text of a turn, which may come in parts; None if there is more in it."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    are_texts = all(isinstance(part, dict) and part.get("type") in _TEXTS for part in parts)
    texts = [part.get("text") for part in parts] if are_texts else []
    return "\n".join(texts) if texts and all(isinstance(text, str) for text in texts) else None
