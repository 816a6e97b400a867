"""Join answers that were logged one by one into questions with equally many answers."""

from __future__ import annotations

import os
from typing import Any

from adalib.datasets.files import DataError
from adalib.datasets.loading import from_records
from adalib.datasets.responses import Responses
from adalib.vote.kinds import answer_reader, short_text

Question = dict[str, Any]  # its id, question and gold
Sample = dict[str, Any]  # one answer and its fields: one entry of each list of a line


def answer_in(written: str, finished: bool, kind: str | None) -> str:
    """Return the answer of a text, by kind; without a kind, a short text may be the answer."""
    if kind:
        return answer_reader(kind)(written, finished)
    return answer_reader("auto")(written, finished) or short_text(written)


def join_samples(
    path: str | os.PathLike,
    questions: dict[str, Question],
    samples: dict[str, list[Sample]],
    mend: str,
) -> Responses:
    """Keep the questions with at least R answers, and the first R answers of each.

    R is the number that keeps the most answers in all. A field is kept if every kept answer has it.

    Parameters
    ----------
    path : path
        The file, for messages.
    questions, samples : dict
        The questions, and the answers to each, by the same keys.
    mend : str
        What to do if hardly a question was answered twice.
    """
    sizes = [len(samples[key]) for key in questions]

    def answers_kept(size: int) -> int:
        return size * sum(other >= size for other in sizes)

    per_question = max(set(sizes), key=answers_kept, default=0)
    if per_question < 2:
        raise DataError(f"{path}: hardly a question was answered twice; {mend}")
    kept = {
        key: samples[key][:per_question] for key in questions if len(samples[key]) >= per_question
    }
    fields = _common_fields([sample for row in kept.values() for sample in row])
    lines = []
    for number, (key, row) in enumerate(kept.items(), start=1):
        line = questions[key] | {name: [sample[name] for sample in row] for name in fields}
        lines.append((f"{path}, question {number}", number, line))
    return from_records(os.fspath(path), lines)


def _common_fields(samples: list[Sample]) -> list[str]:
    """Return the fields that every sample has, in the order in which they appear."""
    names = dict.fromkeys(name for sample in samples for name in sample)
    return [name for name in names if all(sample.get(name) is not None for sample in samples)]
