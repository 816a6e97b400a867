"""The rules for one question of a file: the same for whoever asks it, loads it or looks at it.

A fault is a `DataError` whose text names the file, the line, what is wrong and the mend. The explorer's page checks a
dropped file by the same rules in its own language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adalib.datasets.jsonl import DataError, kind_of

__all__ = ["QuestionRules"]

_FIELDS = ("id", "question", "gold")


class QuestionRules:
    """Checks the questions of one file, line by line, and remembers their ids.

    Parameters
    ----------
    required : tuple of str
        The fields that every line must have.

    Examples
    --------
    >>> rules = QuestionRules(("id", "question", "gold"))
    >>> rules.texts({"id": 7, "question": "2 + 2?", "gold": 4.0}, "mine.jsonl, line 1", 1)
    {'id': '7', 'question': '2 + 2?', 'gold': '4', 'level': None}
    >>> rules.texts({"id": "7", "question": "2 + 3?", "gold": "5"}, "mine.jsonl, line 2", 2)
    Traceback (most recent call last):
    adalib.datasets.files.DataError: mine.jsonl, line 2: id '7' is already on line 1; give it another
    """

    def __init__(self, required: tuple[str, ...]):
        self.required = required
        self._lines: dict[str, int] = {}

    def texts(self, record: dict[str, Any], where: str, number: int, blank: tuple[str, ...] = ()) -> dict[str, Any]:
        """The id, the question and the gold as texts, and the level as it stands.

        Parameters
        ----------
        record : dict
            One line of the file.
        where : str
            The file and the line, for messages.
        number : int
            The line's number.
        blank : tuple of str
            The fields among question and gold that may be empty.
        """
        for name in self.required:
            if name not in record:
                raise DataError(f'{where}: has no "{name}"; every line needs {", ".join(self.required)}')
        row = {name: text(record[name], f'{where}: "{name}"') for name in _FIELDS}
        if row["id"] in self._lines:
            raise DataError(
                f"{where}: id {row['id'][:60]!r} is already on line {self._lines[row['id']]}; give it another"
            )
        self._lines[row["id"]] = number
        for name, mend in (
            ("question", "write it out"),
            ("gold", 'give the right answer, or "correct" for every sample'),
        ):
            if name not in blank and not row[name].strip():
                raise DataError(f'{where}: "{name}" is empty; {mend}')
        row["level"] = record.get("level")
        if row["level"] is not None and not isinstance(row["level"], str):
            text(row["level"], f'{where}: "level"')
        return row


def listed(value: Any, what: str, check: Callable[[Any, str], Any]) -> list:
    """A list with one entry a sample, each of them checked."""
    if not isinstance(value, list) or not value:
        raise DataError(f"{what} is {'empty' if value == [] else kind_of(value)}; give a list with one entry a sample")
    return [check(entry, f"{what}[{i}]") for i, entry in enumerate(value)]


def text(value: Any, what: str) -> str:
    """A text, or a number written as one: 7 and 7.0 are both ``"7"``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f'{what} is {kind_of(value)}; write it as a text in quotes ("" for no answer)')
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e16
    return str(int(value) if whole else value)


def count(value: Any, what: str) -> float:
    """A number of tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e15:
        raise DataError(
            f"{what} is {value if isinstance(value, int | float) else kind_of(value)}; give a number, 0 or more"
        )
    return value


def price(value: Any, what: str) -> float:
    """The price of a token or of an answer."""
    if count(value, what) <= 0:
        raise DataError(f"{what} is {value}; give a number above 0")
    return float(value)


def flag(value: Any, what: str) -> int:
    """0 or 1."""
    if not isinstance(value, int | float) or value not in (0, 1):
        raise DataError(f"{what} is {value if isinstance(value, int | float) else kind_of(value)}; give 0 or 1")
    return int(value)


def logprob(value: Any, what: str) -> float:
    """A mean log-probability."""
    # A model that is certain may come out a rounding above 0.
    if isinstance(value, bool) or not isinstance(value, int | float) or not value <= 1e-6:
        shown = value if isinstance(value, int | float) else kind_of(value)
        raise DataError(f"{what} is {shown}; give a mean log-probability, 0 or less")
    return value
