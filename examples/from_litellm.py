"""Turn a log of LiteLLM into a file of answers that adalib reads.

LiteLLM hands every call to a logger of yours; this one writes a line per call:

    class ToFile(litellm.integrations.custom_logger.CustomLogger):
        def log_success_event(self, kwargs, response_obj, start_time, end_time):
            with open("log.jsonl", "a") as log:
                log.write(json.dumps(kwargs["standard_logging_object"], default=str) + "\\n")

    litellm.callbacks = [ToFile()]

A log has no correct answers. They come from a file with "id", "question" and "gold" on each line:

    python examples/from_litellm.py log.jsonl questions.jsonl 16 > answers.jsonl
    adalib evaluate answers.jsonl

Kept are the first 16 answers to every question that was asked at least so often.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from adalib import extract_answer


def answers(calls: Iterable[str], questions: Iterable[str], most: int) -> Iterator[dict[str, Any]]:
    """Yield one line per question."""
    replies: dict[str, list[tuple[str, int]]] = {}
    for call in map(json.loads, calls):
        if call["cache_hit"]:
            continue  # a copy is no new sample
        choice = call["response"]["choices"][0]
        answer = extract_answer(choice["message"]["content"], choice["finish_reason"] == "stop")
        asked = call["messages"][-1]["content"]
        replies.setdefault(asked, []).append((answer, call["completion_tokens"]))
    for question in map(json.loads, questions):
        kept = replies.get(question["question"], [])[:most]
        if len(kept) == most:
            found, tokens = zip(*kept, strict=True)
            yield question | {"answers": found, "tokens": tokens}


if __name__ == "__main__":
    calls, questions = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])
    for line in answers(calls.splitlines(), questions.splitlines(), int(sys.argv[3])):
        print(json.dumps(line))
