"""Logs of evaluation tools as files of answers, for `adalib convert`.

A reader per tool yields one `Sample` per answer. `questions_of` puts the samples of each question
together and checks that they are about one question. `TOOLS` is the registry of readers.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from adalib.datasets.files import (
    UNSOUND,
    DataError,
    open_lines,
    read_json,
    read_lines,
    read_whole,
    write_lines,
)
from adalib.vote.extract import extract_answer

_LONG = 200  # characters; an answer is shorter, and a longer one is read like a model's text
_LM_EVAL_FILE = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT.*")


class Sample(NamedTuple):
    """One answer in a log, with the question that it answers."""

    where: str  #: the place in the log, in words
    model: str
    task: str
    key: str  #: what tells the questions of a task apart
    name: str  #: what the log calls the question
    question: str
    gold: str
    answer: str
    correct: int | None = None
    tokens: float | None = None


Reader = Callable[[Sequence[str], "Options"], Iterator[Sample]]


class Options(NamedTuple):
    """What a log alone does not say."""

    questions: str | None = None  #: a file with the questions and their right answers
    score: str | None = None  #: the scorer or filter to take, where a log has several
    samples: int | None = None  #: answers per question to keep


def convert(tool: str, files: Sequence[str], out: str, options: Options) -> list[dict[str, Any]]:
    """Write the answers that the logs of a tool hold, one question per line, and return them."""
    if Path(out).exists():
        raise DataError(f"{out}: exists already; remove it, or name another file")
    samples = list(TOOLS[tool](files, options))
    if not samples:
        raise DataError(f"{files[0]}: holds no answer that can be used; log the samples of a run")
    records = questions_of(samples, options.samples)
    write_lines(out, records)
    return records


def questions_of(samples: Sequence[Sample], most: int | None = None) -> list[dict[str, Any]]:
    """Return one record per question and model, with the first ``most`` answers of each.

    By default that is the commonest number of answers. Questions with fewer are left out.
    """
    groups: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        group = groups.setdefault((sample.model, sample.task, sample.key), [])
        group.append(sample)
        for field in ("question", "gold"):
            if getattr(sample, field) != getattr(group[0], field):
                raise DataError(
                    f"{sample.where}: question {sample.name[:60]!r} has another {field} than at "
                    f"{group[0].where}; its data set has changed, so convert these logs apart"
                )
    counts = Counter(map(len, groups.values()))
    kept_answers = most or max(counts, key=lambda count: (counts[count], count))
    kept = [group[:kept_answers] for group in groups.values() if len(group) >= kept_answers]
    if len(kept) < len(groups):
        lost = {group[0].task for group in groups.values()} - {group[0].task for group in kept}
        tasks = " and ".join(f"the task {task!r}" for task in sorted(lost) if task)
        warnings.warn(
            f"left out {len(groups) - len(kept)} of {len(groups)} questions, which have fewer than "
            f"{kept_answers} answers{f', and with them all of {tasks}' if tasks else ''}; "
            f"--samples {min(counts)} keeps every question",
            stacklevel=2,
        )
    if not kept:
        raise DataError(
            f"no questions have {kept_answers} answers, and the most is {max(counts)}; "
            "lower --samples"
        )
    fields = [
        name for name in ("correct", "tokens") if _is_in_all(name, [s for g in kept for s in g])
    ]
    names = _distinct_names(kept)
    return [
        {
            "id": name,
            "question": group[0].question,
            "gold": group[0].gold,
            "model": group[0].model,
            "answers": [sample.answer for sample in group],
            **{field: [getattr(sample, field) for sample in group] for field in fields},
        }
        for name, group in zip(names, kept, strict=True)
    ]


def _is_in_all(field: str, samples: Sequence[Sample]) -> bool:
    """Whether every answer has a field; a warning says where only some do."""
    missing = sum(getattr(sample, field) is None for sample in samples)
    if 0 < missing < len(samples):
        warnings.warn(
            f'"{field}" is left out, because {missing} of {len(samples)} answers have none',
            stacklevel=3,
        )
    return not missing


def _distinct_names(groups: Sequence[Sequence[Sample]]) -> list[str]:
    """Return an id per question: its task and its name, and its key where two share these."""
    keys_of: dict[str, list[str]] = {}
    names = []
    for first, *_ in groups:
        name = f"{first.task}-{first.name}" if first.task else first.name
        keys = keys_of.setdefault(name, [first.key])
        if first.key not in keys:
            keys.append(first.key)
        names.append(name if keys[0] == first.key else f"{name}-{first.key[:12]}")
    return names


def _lm_eval(paths: Sequence[str], options: Options) -> Iterator[Sample]:
    """Read ``samples_TASK_TIME.jsonl`` of lm-eval, whose folder is named after the model."""
    filter_of: dict[tuple[str, str], str] = {}
    others: set[str] = set()
    for path in paths:
        stem = Path(path).name.split(".jsonl")[0]
        named = _LM_EVAL_FILE.fullmatch(stem)
        task = named[1] if named else stem
        for where, record in _records(path):
            with _sound(where, "lm-eval"):
                key = str(record.get("doc_hash") or json.dumps(record["doc"], sort_keys=True))
                chosen = options.score or filter_of.setdefault((task, key), record["filter"])
                if chosen != record["filter"]:
                    others.add(record["filter"])
                    continue
                model = Path(path).absolute().parent.name
                name = str(record["doc_id"])
                question, gold = _lm_eval_question(record)
                for answer in _lm_eval_answers(record, where):
                    yield Sample(where, model, task, key, name, question, gold, answer)
    if others:
        warnings.warn(
            f"one filter per question is read; left out: {', '.join(sorted(map(str, others)))} "
            "(--score NAME takes another)",
            stacklevel=2,
        )


def _lm_eval_question(record: dict[str, Any]) -> tuple[str, str]:
    """Return the text of a question and its right answer."""
    asked = record["doc"].get("question") or record["doc"].get("problem")
    if not isinstance(asked, str):
        arguments = record["arguments"]
        asked = arguments["gen_args_0"]["arg_0"] if isinstance(arguments, dict) else arguments[0][0]
    target = record["target"]
    gold = str(target[0] if isinstance(target, list) else target)
    return str(asked), extract_answer(gold, kind="text") or gold


def _lm_eval_answers(record: dict[str, Any], where: str) -> list[str]:
    """Return what a filter found in each text; read the texts if it has voted or found none."""
    texts = record["resps"][0]
    if len(record["resps"]) > 1 or not all(isinstance(text, str) for text in texts):
        raise DataError(
            f"{where}: is scored by log-likelihoods, so nothing was sampled; "
            "run a task of the kind generate_until, with repeats"
        )
    found = record["filtered_resps"][0]
    if isinstance(found, str) and len(texts) == 1:
        found = [found]
    if not isinstance(found, list) or len(found) != len(texts):
        found = [""] * len(texts)
    pairs = zip(found, texts, strict=True)
    return ["" if one == "[invalid]" else _short(one, text) for one, text in pairs]


def _inspect(paths: Sequence[str], options: Options) -> Iterator[Sample]:
    """Read what ``inspect log dump`` writes; every epoch gives an answer to each question."""
    unscored = 0
    for path in paths:
        if path.endswith(".eval"):
            raise DataError(
                f"{path}: is packed; run  inspect log dump {path} > log.json  and convert log.json"
            )
        log = read_json(read_whole(path), path, strict=False)
        with _sound(path, "Inspect"):
            model = str(log["eval"]["model"])
            task = str(log["eval"]["task"])
            samples = sorted(log["samples"], key=lambda sample: sample["epoch"])
        for sample in samples:
            where = f"{path}, sample {sample.get('id')!r}, epoch {sample['epoch']}"
            with _sound(where, "Inspect"):
                score = _inspect_score(sample.get("scores") or {}, options.score, where)
                if score is None:
                    unscored += 1
                    continue
                output = sample["output"]
                usage = output.get("usage") or {}
                asked = sample["input"]
                target = sample["target"]
                name = str(sample["id"])
                yield Sample(
                    where,
                    model,
                    task,
                    name,
                    name,
                    question=asked if isinstance(asked, str) else _asked(asked),
                    gold=str(target[0] if isinstance(target, list) else target),
                    answer=_short(score.get("answer"), output.get("completion") or ""),
                    correct=int(score["value"] in ("C", 1)),  # partial credit is wrong
                    tokens=usage.get("output_tokens"),
                )
    if unscored:
        warnings.warn(f"left out {unscored} samples that have no score", stacklevel=2)


def _inspect_score(scores: dict[str, Any], name: str | None, where: str) -> dict[str, Any] | None:
    """Return the score of one scorer, by default the first; None if a sample has none."""
    if not scores:
        return None
    if name is not None and name not in scores:
        raise DataError(f"{where}: has no score {name!r}; choose one of {', '.join(scores)}")
    score = scores[name] if name else next(iter(scores.values()))
    if not isinstance(score["value"], str | int | float):
        raise DataError(f"{where}: has a score of several values; choose another with --score")
    return score


def _litellm(paths: Sequence[str], options: Options) -> Iterator[Sample]:
    """Read the calls that LiteLLM hands to a logger, or the rows of its table SpendLogs."""
    if options.questions is None:
        raise DataError(
            f"{paths[0]}: a log of calls has no right answers; give --questions, a file with "
            "id, question and gold on each line"
        )
    asked_for: dict[str, tuple[str, str, str]] = {}
    for number, line in read_lines(options.questions):
        with _sound(f"{options.questions}, line {number}", "a file of questions"):
            record = (str(line["id"]), str(line["question"]), str(line["gold"]))
            asked_for[record[1].strip()] = record
    strangers: list[str] = []
    seen: set[str] = set()
    for path in paths:
        for where, call in _records(path):
            with _sound(where, "LiteLLM"):
                key = str(call.get("id") or call.get("request_id") or where)
                # A reply from the cache is no new sample, and two logs may hold one call.
                if str(call.get("cache_hit")) == "True" or key in seen:
                    continue
                seen.add(key)
                response = _parsed(call.get("response"))
                choices = response.get("choices") if isinstance(response, dict) else None
                if call.get("status") == "failure" or not choices:
                    continue
                asked = _asked(_messages(call, where)).strip()
                if asked not in asked_for:
                    strangers.append(asked)
                    continue
                name, question, gold = asked_for[asked]
                tokens = call.get("completion_tokens")
                for choice in choices:
                    text = _text(choice["message"].get("content"))
                    yield Sample(
                        where,
                        str(call["model"]),
                        "",
                        name,
                        name,
                        question,
                        gold,
                        extract_answer(text, choice.get("finish_reason") == "stop"),
                        tokens=tokens and tokens / len(choices),  # of all choices together
                    )
    if strangers:
        warnings.warn(
            f"left out {len(strangers)} calls that ask none of the questions in "
            f"{options.questions}, such as {strangers[0][:60]!r}",
            stacklevel=2,
        )


def _messages(call: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Return the messages of a call, which the table keeps with the request."""
    request = _parsed(call.get("proxy_server_request")) or {}
    messages = _parsed(call.get("messages")) or request.get("messages")
    if not messages:
        raise DataError(
            f"{where}: holds no messages; set store_prompts_in_spend_logs: true in LiteLLM's "
            "general_settings, and log again"
        )
    return messages if isinstance(messages, list) else [{"content": messages}]


#: The reader of each tool's logs.
TOOLS: dict[str, Reader] = {"lm-eval": _lm_eval, "inspect": _inspect, "litellm": _litellm}


def _records(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and object of every line, or of every entry of one JSON array."""
    for number, line in open_lines(path):
        if number == 1 and line.lstrip().startswith(b"["):
            rows = read_json(b'{"rows":' + read_whole(path) + b"}", path, strict=False)["rows"]
            for place, row in enumerate(rows, start=1):
                yield f"{path}, entry {place}", row
            return
        where = f"{path}, line {number}"
        yield where, read_json(line, where, strict=False)


@contextmanager
def _sound(where: str, tool: str) -> Iterator[None]:
    """Turn what a record of another shape raises into one sentence."""
    try:
        yield
    except DataError:
        raise
    except UNSOUND as error:
        raise DataError(
            f"{where}: is not what {tool} writes ({error!r}); convert a log of its current version"
        ) from None


def _parsed(value: Any) -> Any:
    """Return a value that may have been written as JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return json.loads(value)
    return value


def _asked(messages: Sequence[dict[str, Any]]) -> str:
    """Return the text of the last message of a user."""
    of_user = [message for message in messages if message.get("role", "user") == "user"]
    return _text((of_user or messages)[-1]["content"])


def _text(content: Any) -> str:
    """Return the text of a message, whose content may be a text, a list of parts, or missing."""
    if isinstance(content, list):
        parts = (part if isinstance(part, str) else part.get("text") or "" for part in content)
        return "".join(parts)
    return "" if content is None else str(content)


def _short(answer: Any, text: str) -> str:
    """Return an answer that a tool found; read the model's text where that is none or whole."""
    found = "" if answer is None else str(answer).strip()
    return found if 0 < len(found) <= _LONG and "\n" not in found else extract_answer(text)
