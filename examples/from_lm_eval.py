"""Turn the samples that lm-eval logs into a file of answers that adalib reads.

    lm_eval --tasks TASK --log_samples --output_path runs ...
    python examples/from_lm_eval.py runs/MODEL/samples_TASK_*.jsonl > answers.jsonl
    adalib evaluate answers.jsonl

The task generates text and sets "repeats: 16" in its YAML file, or you give the samples of several
runs. If a task has several filters, the first one that logged a question is used. If a filter has
taken a vote of its own, the answers are read from the texts.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from adalib import extract_answer


def answers(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield one line per question."""
    filter_of: dict[int, str] = {}
    questions: dict[int, dict[str, Any]] = {}
    for sample in map(json.loads, lines):
        number = sample["doc_id"]
        if filter_of.setdefault(number, sample["filter"]) != sample["filter"]:
            continue
        question = {
            "id": str(number),
            "question": sample["doc"].get("question") or sample["arguments"]["gen_args_0"]["arg_0"],
            "gold": extract_answer(str(sample["target"]), kind="text") or str(sample["target"]),
            "answers": [],
        }
        texts = sample["resps"][0]
        found = sample["filtered_resps"][0]
        if not isinstance(found, list) or len(found) != len(texts):
            found = [extract_answer(text) for text in texts]
        answers = questions.setdefault(number, question)["answers"]
        answers += ["" if answer == "[invalid]" else answer for answer in found]
    yield from questions.values()


if __name__ == "__main__":
    paths = [Path(name) for name in sys.argv[1:]]
    for line in answers(line for path in paths for line in path.open(encoding="utf-8")):
        print(json.dumps(line))
