"""Join answers that came one by one, as logs hold them, to questions with equally many answers."""

from __future__ import annotations

import os
from typing import Any

from adalib.datasets.files import DataError
from adalib.datasets.loading import from_records
from adalib.datasets.responses import Responses
from adalib.vote.kinds import answer_reader, short_text

__all__ = ["answer_in", "join_samples"]

Question = dict[str, Any]  # its id, question and gold
Sample = dict[str, Any]  # one answer: what each list of a line holds of it, such as "answers"


def answer_in(written: str, finished: bool, kind: str | None) -> str:
    """Return the answer of a text, by kind; without one, a short text may be an answer itself."""
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
    most_kept = max(
        set(sizes), key=lambda size: size * sum(other >= size for other in sizes), default=0
    )
    if most_kept < 2:
        raise DataError(f"{path}: hardly a question was answered twice; {mend}")
    kept = {key: samples[key][:most_kept] for key in questions if len(samples[key]) >= most_kept}
    fields = [
        name
        for name in dict.fromkeys(name for row in kept.values() for one in row for name in one)
        if all(one.get(name) is not None for row in kept.values() for one in row)
    ]
    lines = []
    for number, (key, row) in enumerate(kept.items(), start=1):
        line = questions[key] | {name: [one[name] for one in row] for name in fields}
        lines.append((f"{path}, question {number}", number, line))
    return from_records(os.fspath(path), lines)
