"""What goes into a collection: the questions, the prompt, and the work that it will take."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, NamedTuple

from adalib.datasets.files import DataError, read_json, read_lines, read_whole
from adalib.datasets.loading import QuestionRules, data_folder

DEFAULT_PROMPT = (
    "{question}\n\nThink step by step. Then give the result on a last line of its own, "
    "in the form\nAnswer: ..."
)


class Prompt(NamedTuple):
    """A conversation with a gap, ``{question}``; each turn has ``role`` and ``content``."""

    messages: list[dict[str, str]]

    def fill(self, question: str) -> list[dict[str, str]]:
        """Return the conversation that asks this question; other braces are just text."""
        return [
            {**turn, "content": turn["content"].replace("{question}", question)}
            for turn in self.messages
        ]

    def tokens(self, question: str) -> float:
        """Return about how many tokens the filled prompt has, at four characters each."""
        return sum(len(turn["content"]) for turn in self.fill(question)) / 4


class Workload(NamedTuple):
    """What a collection takes: calls, tokens (the most that can come out), and dollars at most."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float


def workload(
    n_questions: int,
    samples: int,
    settings: int = 1,
    *,
    prompt_tokens: float = 0.0,
    max_tokens: int = 0,
    price_in: float = 0.0,
    price_out: float = 0.0,
) -> Workload:
    """Count before asking; prices are dollars per million tokens."""
    given = (n_questions, samples, settings, prompt_tokens, max_tokens, price_in, price_out)
    if not all(0 <= value < math.inf for value in given):
        raise ValueError("a workload needs counts and prices that are numbers, 0 or more")
    calls = n_questions * samples * settings
    tokens_in = round(calls * prompt_tokens)
    tokens_out = calls * max_tokens
    return Workload(
        calls, tokens_in, tokens_out, (tokens_in * price_in + tokens_out * price_out) / 1e6
    )


def load_prompt(name: str | os.PathLike | None = None) -> Prompt:
    """Read a prompt file, a bundled prompt by its name, or (for None) the default.

    A prompt file is JSON: ``{"messages": [{"role": "user", "content": "... {question} ..."}]}``."""
    if name is None:
        return Prompt([{"role": "user", "content": DEFAULT_PROMPT}])
    path = _find(name, "prompts", ".json")
    wanted = (
        'a prompt is {"messages": [...]} of turns with "role" and "content", the last by the user, '
        'and "{question}" stands in one of them'
    )
    try:
        messages = read_json(read_whole(path, limit=1_000_000), str(path)).get("messages")
    except DataError as error:
        raise DataError(f"{path}: {wanted} ({str(error).removeprefix(f'{path}: ')})") from None
    turns = [turn for turn in messages if _is_turn(turn)] if isinstance(messages, list) else []
    has_gap = any("{question}" in turn["content"] for turn in turns)
    if not has_gap or turns != messages or turns[-1]["role"] != "user":
        raise DataError(f"{path}: {wanted}")
    return Prompt([{"role": turn["role"], "content": turn["content"]} for turn in turns])


def _is_turn(turn: Any) -> bool:
    """Whether a value is a turn of a conversation: a role that we know, and a text."""
    has_role = isinstance(turn, dict) and turn.get("role") in ("system", "user", "assistant")
    return has_role and isinstance(turn.get("content"), str)


def load_questions(name: str | os.PathLike) -> list[dict]:
    """Read questions: JSON Lines with ``id``, ``question`` and ``gold``, or a bundled set."""
    path = _find(name, "questions", ".jsonl")
    rules = QuestionRules(("id", "question", "gold"))
    questions = []
    for number, record in read_lines(path):
        questions.append(record | rules.texts(record, f"{path}, line {number}", number))
    if not questions:
        raise DataError(
            f"{path}: holds no questions; write one JSON object with id, question, gold a line"
        )
    return questions


def _find(name: str | os.PathLike, shelf: str, ending: str) -> Path:
    """A file of the user's, else a bundled one."""
    path = Path(name)
    # A folder may have the name of a bundled file. A pipe is refused where it is opened, and so is
    # a folder with an ending.
    if path.exists() and (path.suffix or not path.is_dir()):
        return path
    bundled = data_folder() / shelf
    if (bundled / f"{name}{ending}").is_file():
        return bundled / f"{name}{ending}"
    names = sorted(file.name.removesuffix(ending) for file in bundled.glob(f"*{ending}"))
    listed = ", ".join(names) or "none"
    raise DataError(
        f"{name}: is neither a file nor one of the bundled {shelf} ({listed}); check the name"
    )
