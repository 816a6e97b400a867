"""Read what ``lm_eval --log_samples`` writes (``samples_*.jsonl``) as sampled answers.

A line is one document under one filter, with all responses to it. Repeats are the responses of one
line, or further lines with the same ``doc_id``, from files of several runs that were joined.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from adalib.datasets.files import DataError, read_lines
from adalib.datasets.loading import text
from adalib.datasets.logs import field_at
from adalib.datasets.responses import Responses
from adalib.datasets.sampled import answer_in, join_samples
from adalib.vote.extract import extract_answer

_NO_MATCH = "[invalid]"  # what a filter of lm-eval gives where it finds no answer


def is_lm_eval_samples(path: str | os.PathLike) -> bool:
    """Whether a file begins with a logged document of lm-eval."""
    first = next(read_lines(path, nan_as_none=True), None) if Path(path).is_file() else None
    return first is not None and {"doc_id", "resps"} <= first[1].keys()


def read_lm_eval_samples(path: str | os.PathLike, kind: str | None = None) -> tuple[Responses, str]:
    """Read the documents of a file, and as many answers to each as keep the most answers.

    Parameters
    ----------
    path : path
        The samples, JSON Lines.
    kind : str, optional
        What an answer is, as in `adalib.vote.kinds`, to read it from the responses. By default it
        is what the filter found.

    Returns
    -------
    Responses, str
        The answers, and one sentence on what was left out.

    Raises
    ------
    DataError
        One sentence that names the file, the line and the mend.
    """
    questions: dict[str, dict[str, Any]] = {}
    targets: dict[str, Any] = {}
    by_filter: dict[str, dict[str, list[dict[str, Any]]]] = {}  # samples by filter and document
    for number, record in read_lines(path, nan_as_none=True):
        where = f"{path}, line {number}"
        samples = _samples(record, kind, where)
        name = text(record.get("doc_id"), f'{where}: "doc_id"')
        target = record.get("target", "")
        if targets.setdefault(name, target) != target:
            raise DataError(
                f"{where}: doc_id {name} has another target than before; give the lines of one task"
            )
        questions.setdefault(
            name,
            {"id": name, "question": _question(record), "gold": _gold(target, where)},
        )
        filter_name = str(record.get("filter", "none"))
        by_filter.setdefault(filter_name, {}).setdefault(name, []).extend(samples)

    def answers_under(filter_name: str) -> int:
        return sum(map(len, by_filter[filter_name].values()))

    chosen = max(by_filter, key=answers_under, default="")
    samples_of = by_filter.get(chosen, {})
    answered = {name: questions[name] for name in samples_of}
    mend = 'set "repeats: 16" in the task, or join the files of several runs'
    joined = join_samples(path, answered, samples_of, mend)
    filters = f"the filter {chosen!r}"
    if len(by_filter) > 1:
        filters += f" of {', '.join(by_filter)}"
    summary = (
        f"{len(questions):,} documents, by {filters}; "
        f"kept are {joined.n:,} with {joined.samples} answers each"
    )
    return joined, summary


def _samples(record: dict[str, Any], kind: str | None, where: str) -> list[dict[str, Any]]:
    """Return every response of a line as an answer, with whether it is right if the line says."""
    responses = _responses(record, where)
    answers = None if kind else _filtered(record, responses)
    if answers is None:
        answers = [answer_in(response, True, kind) for response in responses]
    correct = _correct(record, len(responses))
    samples = []
    for place, answer in enumerate(answers):
        samples.append({"answers": answer, "correct": correct[place] if correct else None})
    return samples


def _responses(record: dict[str, Any], where: str) -> list[str]:
    """Return the texts that the model wrote; DataError if the task compared likelihoods."""
    requests = record.get("resps")
    if not isinstance(requests, list) or not requests or not isinstance(requests[0], list):
        raise DataError(f'{where}: has no "resps"; run lm_eval with --log_samples')
    if len(requests) > 1 or not all(isinstance(response, str) for response in requests[0]):
        raise DataError(
            f"{where}: holds log-likelihoods, not texts; run a task that generates answers"
        )
    return requests[0]


def _filtered(record: dict[str, Any], responses: list[str]) -> list[str] | None:
    """Return the answer that the filter found in each response; None if it did not keep them."""
    kept = record.get("filtered_resps")
    first = kept[0] if isinstance(kept, list) and kept else None
    answers = [first] if isinstance(first, str) else first
    if not isinstance(answers, list) or len(answers) != len(responses) or answers == responses:
        return None
    if not all(isinstance(answer, str) for answer in answers):
        return None
    return ["" if answer == _NO_MATCH else answer.strip() for answer in answers]


def _correct(record: dict[str, Any], count: int) -> list[int] | None:
    """Return 0 or 1 for each of the responses by the first metric that has them; None if none."""
    names = record.get("metrics")
    for name in names if isinstance(names, list) else ["exact_match"]:
        value = record.get(str(name))
        values: list[Any] = value if isinstance(value, list) else [value]
        if len(values) == count and all(value in (0, 1) for value in values):
            return [int(value) for value in values]
    return None


def _question(record: dict[str, Any]) -> str:
    """Return the document's question, or the prompt that was sent."""
    question = field_at(record, "doc.question")
    requests = record.get("arguments")
    prompt = field_at(requests, "gen_args_0.arg_0")
    if isinstance(requests, list) and requests and isinstance(requests[0], list):
        prompt = next(iter(requests[0]), "")  # older versions do not name the arguments
    return question if isinstance(question, str) else str(prompt or "")


def _gold(target: Any, where: str) -> str:
    """Return the right answer: the target, or the marked answer of a whole solution."""
    first = target[0] if isinstance(target, list) and target else target
    written = text(first, f'{where}: "target"').strip()
    return extract_answer(written, finished=False) or written
