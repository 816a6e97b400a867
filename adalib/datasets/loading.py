"""Load questions and sampled answers: a bundled setting, or a file of your own.

A file has one question per line, ``{"id", "question", "gold", "answers": [...]}``. Optional fields
with one entry per sample are ``"correct"`` (0 or 1, used instead of comparing with the gold
answer), ``"classes"`` (class numbers, used instead of comparing answers), ``"tokens"``,
``"logprob"`` and ``"entropy"``. ``"level"`` and any other field are kept.

With several models there is one line per question and model, with ``"model"`` on each and
optionally ``"price"`` (of a token, or of an answer if there are no tokens). With several reasoning
efforts of a model, ``"effort"`` comes next to ``"model"``, and every question pays for its own
tokens.

Where questions have different numbers of answers, the first ones of each are used, as many as every
question has. More would be chosen by whatever made the file ask on.

The same may come as a table: a CSV or Parquet file, a DataFrame or a list of records (`rows`).

Every error names the file, the line and what to do.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.datasets.files import DataError, kind_of, read_lines
from adalib.datasets.menu import Menu
from adalib.datasets.responses import (
    BUCKETS,
    FEATURES,
    REQUIRED,
    SAMPLED,
    QuestionWithFeatures,
    Responses,
)
from adalib.datasets.rows import is_table, records_of, table_records

#: One line of a file: its place in words, its number and its record.
Line = tuple[str, int, dict[str, Any]]

_SHORT_NAMES = {"gsm8k": "gsm8k-qwen15", "math": "math-qwen15"}


class QuestionRules:
    """Check the questions of one file, line by line.

    The explorer's page has the same rules and messages in JavaScript; change both together.
    """

    def __init__(self, required: tuple[str, ...]):
        self.required = required
        self._lines: dict[str, int] = {}

    def texts(
        self, record: dict[str, Any], where: str, number: int, blank: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return id, question and gold of a line as texts, and its level.

        Only the fields in ``blank`` may be empty.
        """
        for name in self.required:
            if name not in record:
                raise DataError(
                    f'{where}: has no "{name}"; every line needs {", ".join(self.required)}'
                )
        row: dict[str, Any] = {
            name: text(record[name], f'{where}: "{name}"') for name in ("id", "question", "gold")
        }
        line = self._lines.setdefault(row["id"], number)
        if line != number:
            raise DataError(
                f"{where}: id {row['id'][:60]!r} is already on line {line}; give it another"
            )
        mends = {
            "question": "write it out",
            "gold": 'give the right answer, or "correct" for every sample',
        }
        for name, mend in mends.items():
            if name not in blank and not row[name].strip():
                raise DataError(f'{where}: "{name}" is empty; {mend}')
        row["level"] = record.get("level")
        if row["level"] is not None:
            text(row["level"], f'{where}: "level"')
        return row


def _listed(value: Any, what: str, check: Callable[[Any, str], Any]) -> list:
    """Return a list with one entry per sample, each of them checked."""
    if not isinstance(value, list) or not value:
        found = "empty" if value == [] else kind_of(value)
        raise DataError(f"{what} is {found}; give a list with one entry per sample")
    return [check(entry, f"{what}[{i}]") for i, entry in enumerate(value)]


def text(value: Any, what: str) -> str:
    """Return a text, or a number written as one: 7 and 7.0 are both ``"7"``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(
            f'{what} is {kind_of(value)}; write it as a text in quotes ("" for no answer)'
        )
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e16
    return str(int(value) if whole else value)


class _Rule(NamedTuple):
    """What a number must be, in words and as a check."""

    words: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_COUNT = _Rule("a number, 0 or more", lambda x: _is_number(x) and 0 <= x <= 1e15)
_PRICE = _Rule("a number above 0", lambda x: _is_number(x) and 0 < x <= 1e15)
_ANY_NUMBER = _Rule("a number", lambda x: _is_number(x) and abs(x) <= 1e15)
_NGRAM_COUNT = _Rule("a count", lambda x: type(x) is int and 0 <= x <= 100_000)
# The fields that hold one number per answer.
_SAMPLE_RULES = {
    "correct": _Rule("0 or 1", lambda x: x in (0, 1)),
    "tokens": _COUNT,
    # The log-probability of a certain model may be slightly above 0, by rounding.
    "logprob": _Rule("a mean log-probability, 0 or less", lambda x: _is_number(x) and x <= 1e-6),
    "entropy": _COUNT,
    "classes": _Rule(
        "a class number, -1 for no answer", lambda x: type(x) is int and -1 <= x < 2**31
    ),
}


def _number(value: Any, what: str, rule: _Rule) -> float:
    """Return a number that obeys the rule; DataError otherwise."""
    if not rule.fits(value):
        found = value if isinstance(value, int | float) else kind_of(value)
        raise DataError(f"{what} is {found}; give {rule.words}")
    return value


def _numbers(value: Any, what: str, rule: _Rule) -> list:
    """Return a list of numbers that obey the rule; DataError names the first that does not."""
    if isinstance(value, list) and value and all(map(rule.fits, value)):
        return value
    return _listed(value, what, partial(_number, rule=rule))


def data_folder() -> Path:
    """Return the folder of the bundled data: in an installed package, or next to a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "data"
    return inside if inside.is_dir() else package.parent / "data"


def bundled() -> list[str]:
    """Return the names of the bundled settings of real sampled answers."""
    return sorted(
        path.name.removesuffix(".jsonl.gz")
        for path in (data_folder() / "answers").glob("*.jsonl.gz")
    )


def load(name_or_path: Any, texts: str | os.PathLike | None = None) -> Responses | Menu:
    """Load a bundled setting by its name, or answers of your own from a file or a table.

    Explained in the chapter "One question, many answers".

    Parameters
    ----------
    name_or_path : str, path, DataFrame or list of dict
        The name of a bundled setting (``gsm8k`` and ``math`` are short for ``gsm8k-qwen15`` and
        ``math-qwen15``), or a ``.jsonl`` or ``.jsonl.gz`` file with one question per line. Or a
        table: a ``.csv`` or ``.parquet`` file, a DataFrame or a list of records, with a row per
        question and its ``answers`` in a list, or a row per ``answer``.
    texts : path, optional
        Your copy of a benchmark's file, which restores the texts of its questions. They are not
        bundled: there a question is its id, and policies learn from numbers that were computed from
        its text. The file is JSON Lines with ``id`` and ``question``, or the official test file,
        whose line N (from 0) is the question ``...-test-N``.

    Returns
    -------
    Responses or Menu
        A menu if several models, or several efforts of a model, answered the same question.

    Raises
    ------
    DataError
        One sentence that names the file, the line, what is wrong and the mend.

    Examples
    --------
    >>> answers = load("gsm8k")
    >>> answers.n, answers.samples
    (300, 96)
    >>> question = {"id": "q1", "question": "2 + 2?", "gold": "4", "answers": ["4", "5"]}
    >>> len(load([question]))
    1
    """
    if not isinstance(name_or_path, str | os.PathLike):
        source = "the DataFrame" if hasattr(name_or_path, "to_dict") else "the list"
        return _from_lines(source, list(records_of(name_or_path, source)), texts)
    name = os.fspath(name_or_path)
    name = _SHORT_NAMES.get(name, name)
    names = bundled()
    path = data_folder() / "answers" / f"{name}.jsonl.gz" if name in names else Path(name)
    if path.name == name and not path.suffix and not path.exists():
        raise DataError(
            f"{name}: is neither a bundled setting ({', '.join(names) or 'none here'}) nor a file; "
            "give one of these names, or the path of a .jsonl, .csv or .parquet file"
        )
    if is_table(path.name):
        return _from_lines(name, table_records(path), texts)
    lines = [(f"{path}, line {number}", number, record) for number, record in read_lines(path)]
    return _from_lines(name, lines, texts)


def _from_lines(
    name: str, records: list[Line], texts: str | os.PathLike | None
) -> Responses | Menu:
    """Check records, and put them together."""
    if not records:
        raise DataError(
            f"{name}: holds no questions; write one JSON object with {', '.join(REQUIRED)} a line"
        )
    if texts is not None:
        _add_texts(records, texts)
    return _menu(name, records) if _is_menu(records) else from_records(name, records)


def _is_menu(records: list[Line]) -> bool:
    """Whether a question comes again with another model or effort; one alone is no menu."""
    ids = set()
    answered = set()
    for _, _, record in records:
        name = str(record.get("id"))
        ids.add(name)
        answered.add((name, str(record.get("model")), str(record.get("effort"))))
    return len(answered) > len(ids)


def text_hash(question: str) -> str:
    """Return a short hash by which a text is recognised."""
    return hashlib.sha256(question.strip().encode()).hexdigest()[:16]


def _add_texts(records: list[Line], texts: str | os.PathLike) -> None:
    """Add the texts of a benchmark's file to the records, by id or, without ids, by line."""
    question_of: dict[str, str] = {}
    for place, (number, line) in enumerate(read_lines(texts)):
        where = f"{texts}, line {number}"
        key = text(line["id"], f'{where}: "id"') if "id" in line else f"test-{place}"
        question = line.get("question", line.get("problem"))
        question_of[key] = text(question, f'{where}: "question"')
    for where, _, record in records:
        name = str(record.get("id"))
        by_line = question_of.get("test-" + name.rpartition("-test-")[2])
        question = question_of.get(name, by_line)
        if question is None:
            raise DataError(
                f"{texts}: has no question {name[:60]!r}; give a file that has all of them"
            )
        if _has_numbers(record) and record["read"].get("text") != text_hash(question):
            raise DataError(
                f"{where}: {name[:60]!r} has another text in {texts}; "
                "give the benchmark's own test file"
            )
        record["question"] = question


def _has_numbers(record: dict[str, Any]) -> bool:
    """Whether a record carries numbers that were computed from the question's text."""
    return isinstance(record.get("read"), dict) and {"features", "ngrams"} <= record["read"].keys()


def _read_text(question: str, read: dict[str, Any], where: str) -> QuestionWithFeatures:
    """Return a question with the numbers that were computed from its text."""
    for name, rule in (("features", _ANY_NUMBER), ("ngrams", _NGRAM_COUNT)):
        _numbers(read[name], f'{where}: "{name}"', rule)
    if len(read["features"]) < FEATURES or len(read["ngrams"]) != BUCKETS:
        raise DataError(
            f'{where}: "read" has {len(read["features"])} features and {len(read["ngrams"])} '
            f"ngrams; give at least {FEATURES}, and {BUCKETS}"
        )
    return QuestionWithFeatures(question, read["features"], read["ngrams"])


def _menu(source: str, records: list[Line]) -> Menu:
    """Check the lines of several models, and put them together in one order of questions."""
    by_model: dict[str, list[Line]] = {}
    prices: dict[str, float] = {}
    efforts = any(record.get("effort") is not None for _, _, record in records)
    for where, number, record in records:
        if record.get("model") is None:
            raise DataError(f'{where}: has no "model", and other lines have; give it on every line')
        model = text(record["model"], f'{where}: "model"')
        if record.get("effort") is not None:
            effort = text(record["effort"], f'{where}: "effort"')
            model = f"{model} {effort}"
        price = _number(record.get("price", 1), f'{where}: "price"', _PRICE)
        if prices.setdefault(model, price) != price:
            raise DataError(
                f'{where}: "price" is {price:g}, and was {prices[model]:g} for {model!r}; '
                "give a model one"
            )
        by_model.setdefault(model, []).append((where, number, record))
    models = {model: from_records(source, lines) for model, lines in by_model.items()}
    first, *_ = models
    order = {name: i for i, name in enumerate(models[first].ids)}
    for model, responses in models.items():
        missing = set(responses.ids) ^ set(order)
        if missing:
            raise DataError(
                f"{source}: question {min(missing)[:60]!r} is not answered by both "
                f"{first!r} and {model!r}; give every model all questions"
            )
        models[model] = responses.take(np.argsort([order[name] for name in responses.ids]))
    return Menu(models, prices, per_question=efforts)


def from_records(source: str, records: list[Line]) -> Responses:
    """Check the lines of a file, each with its place in words and its number, and join them."""
    checked_fields = (*REQUIRED, "level", *_SAMPLE_RULES)
    rules = QuestionRules(REQUIRED)
    rows = _cut_alike([_checked_row(line, records[0], rules) for line in records], records)
    columns: dict[str, list] = {name: [row.get(name) for row in rows] for name in checked_fields}
    fields_in_file = dict.fromkeys(name for _, _, record in records for name in record)
    for name in fields_in_file:
        if name not in columns:
            columns[name] = [record.get(name) for _, _, record in records]
    given = {
        name: column
        for name, column in columns.items()
        if any(value is not None for value in column)
    }
    ids, questions, golds, answers = (given.pop(name) for name in REQUIRED)
    levels = given.pop("level", None)
    sampled = {name: np.array(given.pop(name), dtype=float) for name in SAMPLED if name in given}
    return Responses(
        ids, questions, golds, answers, levels=levels, **sampled, extras=given, source=source
    )


def _cut_alike(rows: list[dict[str, Any]], records: list[Line]) -> list[dict[str, Any]]:
    """Return the rows with as many answers each as the shortest has, and say so."""
    counts = [len(row["answers"]) for row in rows]
    fewest = min(counts)
    if fewest == max(counts):
        return rows
    where, _, _ = records[counts.index(fewest)]
    warnings.warn(
        f"{where}: has {fewest} of up to {max(counts)} answers; "
        f"the first {fewest} of every question are used",
        stacklevel=2,
    )
    per_sample = ("answers", *_SAMPLE_RULES)
    return [
        {name: value[:fewest] if name in per_sample else value for name, value in row.items()}
        for row in rows
    ]


def _checked_row(line: Line, first_line: Line, rules: QuestionRules) -> dict[str, Any]:
    """Return the checked fields of one line; raise DataError where it differs from the first."""
    where, number, record = line
    may_be_blank = ("question",) if record.get("correct") is None else ("question", "gold")
    row = rules.texts(record, where, number, blank=may_be_blank)
    if _has_numbers(record):
        row["question"] = _read_text(row["question"], record["read"], where)
    row["answers"] = _listed(record["answers"], f'{where}: "answers"', text)
    samples = len(row["answers"])
    for name, rule in _SAMPLE_RULES.items():
        _check_presence(name, line, first_line)
        if record.get(name) is None:
            continue
        row[name] = _numbers(record[name], f'{where}: "{name}"', rule)
        if len(row[name]) != samples:
            entries = f"has {len(row[name])} entries for {samples} answers"
            raise DataError(f'{where}: "{name}" {entries}; give one each')
    classes = row.get("classes", ())
    pairs = zip(classes, row["answers"], strict=False)
    if any((class_number < 0) != (answer == "") for class_number, answer in pairs):
        raise DataError(
            f'{where}: "classes" must be -1 where the answer is empty, and only there; mend that'
        )
    return row


def _check_presence(name: str, line: Line, first_line: Line) -> None:
    """Raise DataError for a field that only one of the two lines has."""
    where, _, record = line
    _, line1, first = first_line
    if (record.get(name) is None) == (first.get(name) is None):
        return
    has, other = ("has no", "has") if record.get(name) is None else ("has", "has none")
    raise DataError(
        f'{where}: {has} "{name}", line {line1} {other}; give it on every line, or on none'
    )
