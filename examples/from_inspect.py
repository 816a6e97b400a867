"""Turn a log of Inspect into a file of answers that adalib reads.

    inspect eval task.py --epochs 16
    inspect log dump logs/TASK.eval > log.json
    python examples/from_inspect.py log.json > answers.jsonl
    adalib evaluate answers.jsonl

Every epoch gives one answer. The first scorer says what the answer is and whether it is right;
partial credit counts as wrong. A question is left out if one of its samples has no score.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adalib import extract_answer


def answers(log: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one line per question."""
    samples: dict[str, list[dict[str, Any]]] = {}
    for sample in sorted(log["samples"], key=lambda sample: sample["epoch"]):
        samples.setdefault(str(sample["id"]), []).append(sample)
    for name, epochs in samples.items():
        scored = [epoch for epoch in epochs if epoch.get("scores")]
        if len(scored) < log["eval"]["config"]["epochs"]:
            continue
        scores = [next(iter(epoch["scores"].values())) for epoch in epochs]
        texts = [epoch["output"]["completion"] for epoch in epochs]
        asked = epochs[0]["input"]
        target = epochs[0]["target"]
        yield {
            "id": name,
            "question": asked if isinstance(asked, str) else asked[-1]["content"],
            "gold": target if isinstance(target, str) else target[0],
            "answers": [
                score.get("answer") or extract_answer(text)
                for score, text in zip(scores, texts, strict=True)
            ],
            "correct": [int(score["value"] in ("C", 1)) for score in scores],
            # Leave this line out if your model does not report its usage.
            "tokens": [epoch["output"]["usage"]["output_tokens"] for epoch in epochs],
        }


if __name__ == "__main__":
    for line in answers(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))):
        print(json.dumps(line))
