"""How often questions were attempted and how often they passed a check.

Where an answer can be checked, two numbers say all about a question: its attempts and its passes. A
file has them as they are, ``{"id", "passes": 3, "attempts": 100}``, or as ``"correct": [0, 1,
...]``, or it is a file of sampled answers as `adalib.load` reads it. ``"question"`` is the text, if
there is one, and ``"tokens"``, a number per attempt, what each one took. ``"checked": true`` on a
line says that the file is meant so.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError, kind_of, read_lines
from adalib.datasets.loading import bundled, data_folder, load, text
from adalib.datasets.menu import Menu
from adalib.datasets.responses import QuestionWithFeatures, Responses

_MOST = 10**6  # attempts at one question


@dataclass(frozen=True, eq=False)
class Passes:
    """N questions, each attempted some times, of which some attempts passed.

    Of attempts that come in a random order, what the first b of them bring is known exactly from
    the two counts: no order is drawn.

    Parameters
    ----------
    passed : array_like of int, shape (N,)
        How many attempts at each question passed.
    attempts : array_like of int, shape (N,) or a number
        How many there were.
    questions : sequence of N str, optional
        Texts of the questions.
    ids : sequence of N str, optional
        Their names.
    paid : array_like, shape (N, 2), optional
        What a failed and a passed attempt at each question cost on average. Default: 1 each.
    source : str
        What messages call them.

    Examples
    --------
    >>> passes = Passes([1, 0], attempts=4)
    >>> passes.solved([1, 2, 4]).tolist()
    [[0.25, 0.5, 1.0], [0.0, 0.0, 0.0]]
    >>> passes.cost([1, 2, 4]).tolist()  # stopping at the first pass
    [[1.0, 1.75, 2.5], [1.0, 2.0, 4.0]]
    """

    passed: np.ndarray
    attempts: np.ndarray
    questions: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    paid: np.ndarray | None = None
    source: str = "passes"

    def __init__(
        self,
        passed: ArrayLike,
        attempts: ArrayLike,
        questions: Any = None,
        ids: Any = None,
        paid: ArrayLike | None = None,
        source: str = "passes",
    ) -> None:
        passed = np.asarray(passed)
        attempts = np.broadcast_to(np.asarray(attempts), passed.shape)
        if passed.ndim != 1 or not passed.size:
            raise DataError(f"{source}: holds no questions; give at least one count of passes")
        wrong = np.flatnonzero((passed < 0) | (passed > attempts) | (attempts < 1))
        if wrong.size:
            row = int(wrong[0])
            raise DataError(
                f"{source}: question {row + 1} has {passed[row]} passes in {attempts[row]} "
                "attempts; give at least one attempt, and no more passes than attempts"
            )
        object.__setattr__(self, "passed", passed.astype(int))
        object.__setattr__(self, "attempts", attempts.astype(int))
        object.__setattr__(self, "questions", None if questions is None else tuple(questions))
        names = [str(row) for row in range(passed.size)] if ids is None else ids
        object.__setattr__(self, "ids", tuple(names))
        object.__setattr__(self, "paid", None if paid is None else np.asarray(paid, dtype=float))
        object.__setattr__(self, "source", source)

    @classmethod
    def of(cls, answers: Responses, cost: str = "samples") -> Passes:
        """Count the right answers of every question, as if each could be checked."""
        right = answers.values
        paid = None
        if cost != "samples":
            each = answers.answer_costs(cost)
            mean = each.mean(axis=1)
            with np.errstate(invalid="ignore"):
                paid = np.column_stack(
                    [
                        np.where(side.any(1), (each * side).sum(1) / side.sum(1), mean)
                        for side in (right == 0, right == 1)
                    ]
                )
        # A text that stands for a question whose text is not here is no text.
        known = [
            isinstance(text, QuestionWithFeatures) or text != name
            for text, name in zip(answers.questions, answers.ids, strict=True)
        ]
        questions = answers.questions if all(known) and any(answers.questions) else None
        return cls(
            right.sum(axis=1).round(), answers.samples, questions, answers.ids, paid, answers.source
        )

    @property
    def n(self) -> int:
        """How many questions there are."""
        return self.passed.size

    @property
    def samples(self) -> int:
        """How many attempts every question has at least."""
        return int(self.attempts.min())

    @property
    def rates(self) -> np.ndarray:
        """The share of attempts that passed, (N,)."""
        return self.passed / self.attempts

    def take(self, rows: ArrayLike) -> Passes:
        """Return some questions, by number or mask."""
        kept = np.arange(self.n)[np.asarray(rows)]
        return Passes(
            self.passed[kept],
            self.attempts[kept],
            None if self.questions is None else [self.questions[row] for row in kept],
            [self.ids[row] for row in kept] if self.ids else None,
            None if self.paid is None else self.paid[kept],
            self.source,
        )

    def halves(self, rng: np.random.Generator) -> tuple[Passes, Passes]:
        """Deal the attempts of every question at random into two halves."""
        first = self.attempts // 2
        here = rng.hypergeometric(self.passed, self.attempts - self.passed, first)
        return (
            Passes(here, first, self.questions, self.ids, self.paid, self.source),
            Passes(
                self.passed - here,
                self.attempts - first,
                self.questions,
                self.ids,
                self.paid,
                self.source,
            ),
        )

    @cached_property
    def failing(self) -> np.ndarray:
        r"""The chance that the first k attempts all fail, for k up to `samples`, (N, samples + 1).

        Without replacement, :math:`\prod_{j<k} (R - c - j) / (R - j)`.
        """
        j = np.arange(self.samples)
        left = np.maximum(self.attempts[:, None] - self.passed[:, None] - j, 0)
        steps = left / (self.attempts[:, None] - j)
        return np.column_stack([np.ones(self.n), np.cumprod(steps, axis=1)])

    def solved(self, caps: ArrayLike) -> np.ndarray:
        """Return the chance of a pass among the first b attempts, (N, K)."""
        return 1 - self.failing[:, self._checked(caps)]

    def cost(self, caps: ArrayLike) -> np.ndarray:
        """Return what up to b attempts cost if the first pass ends them, (N, K)."""
        return self._spent[:, self._checked(caps)]

    @cached_property
    def _spent(self) -> np.ndarray:
        """What is spent by every cap, (N, samples + 1)."""
        j = np.arange(self.samples)
        chance = self.failing[:, :-1]  # that attempt j + 1 is made
        if self.paid is None:
            each = np.ones_like(chance)
        else:  # of the attempts that are left after j failures, some pass
            share = np.minimum(self.passed[:, None] / (self.attempts[:, None] - j), 1)
            each = (1 - share) * self.paid[:, :1] + share * self.paid[:, 1:]
        return np.column_stack([np.zeros(self.n), np.cumsum(chance * each, axis=1)])

    def at_once(self, caps: ArrayLike) -> np.ndarray:
        """Return what b attempts cost if all are made, (N, K)."""
        if self.paid is None:
            mean = np.ones(self.n)
        else:
            mean = self.paid[:, 0] + self.rates * (self.paid[:, 1] - self.paid[:, 0])
        return mean[:, None] * self._checked(caps)

    def _checked(self, caps: ArrayLike) -> np.ndarray:
        """Return caps as an array; ValueError for more than every question has attempts."""
        caps = np.asarray(caps, dtype=int)
        if caps.size and (caps.min() < 0 or caps.max() > self.samples):
            raise ValueError(
                f"{self.source}: has {self.samples} attempts at every question; "
                f"give caps from 0 to {self.samples}"
            )
        return caps


def load_passes(name_or_path: str | os.PathLike, cost: str = "samples") -> Passes:
    """Load counts of passes: a file of counts or of ``correct``, or sampled answers.

    A line of counts is ``{"id", "passes": 3, "attempts": 100}``, with ``"question"`` if there is a
    text.

    Parameters
    ----------
    name_or_path : str or path
        A ``.jsonl`` or ``.jsonl.gz`` file, or the name of a bundled setting, of which
        ``game24-cot``, ``game24-standard`` and ``codecontests`` are checked.
    cost : {"samples", "tokens"}
        What an attempt costs: 1, or its tokens.

    Returns
    -------
    Passes
        How often each question was attempted and how often it passed.

    Raises
    ------
    DataError
        One sentence that names the file, the line, what is wrong and the mend.

    Examples
    --------
    >>> passes = load_passes("game24-cot")
    >>> passes.n, passes.samples
    (100, 100)
    """
    name = os.fspath(name_or_path)
    for suffix in (".jsonl", ".jsonl.gz"):
        path = data_folder() / "checked" / (name + suffix)
        if path.is_file():
            return _read(str(path), name, cost)
    return _read(name, name, cost)


def _read(path: str, name: str, cost: str) -> Passes:
    """Load a file of any of the three forms; messages call it by ``name``."""
    if path in bundled() or not os.path.exists(path) or not _is_counted(path):
        answers = load(path)
        if isinstance(answers, Menu):
            raise DataError(f"{name}: holds several models; give the answers of one model")
        return Passes.of(answers, cost)
    lines = [(f"{name}, line {number}", record) for number, record in read_lines(path)]
    rows = [_counts(where, record, cost) for where, record in lines]
    ids: dict[str, str] = {}
    for (where, _), row in zip(lines, rows, strict=True):
        if row["id"] in ids:
            raise DataError(f"{where}: id {row['id'][:60]!r} is already there; give it another")
        ids[row["id"]] = where
    return Passes(
        [row["passes"] for row in rows],
        [row["attempts"] for row in rows],
        [row["question"] for row in rows] if all(row["question"] for row in rows) else None,
        list(ids),
        None if cost == "samples" else [row["paid"] for row in rows],
        name,
    )


def says_checked(path: str) -> bool:
    """Whether the first line of a file says that its answers are checked."""
    if path in bundled() or not os.path.isfile(path) or path.lower().endswith(".csv"):
        return False
    first = next(iter(read_lines(path)), None)
    return first is not None and (first[1].get("checked") is True or "passes" in first[1])


def _is_counted(path: str) -> bool:
    """Whether the lines of a file have counts, or right and wrong alone."""
    first = next(iter(read_lines(path)), None)
    return first is not None and ("passes" in first[1] or "answers" not in first[1])


def _counts(where: str, record: dict[str, Any], cost: str) -> dict[str, Any]:
    """Return the checked fields of one line."""
    if "id" not in record:
        raise DataError(f'{where}: has no "id"; give every question one')
    row: dict[str, Any] = {"id": text(record["id"], f'{where}: "id"')}
    row["question"] = text(record.get("question", ""), f'{where}: "question"')
    right = record.get("correct")
    if "passes" in record:
        for name in ("passes", "attempts"):
            value = record.get(name)
            if type(value) is not int or not 0 <= value <= _MOST:
                found = value if isinstance(value, int | float) else kind_of(value)
                raise DataError(f'{where}: "{name}" is {found}; give a whole number, 0 or more')
            row[name] = value
    elif isinstance(right, list) and right and all(one in (0, 1) for one in right):
        row |= {"passes": sum(map(int, right)), "attempts": len(right)}
    else:
        raise DataError(
            f'{where}: has no passes; give "passes" and "attempts", or "correct" with 0 or 1 for '
            "every attempt"
        )
    if row["attempts"] < 1 or row["passes"] > row["attempts"]:
        raise DataError(
            f"{where}: has {row['passes']} passes in {row['attempts']} attempts; give at least one "
            "attempt, and no more passes than attempts"
        )
    if cost != "samples":
        row["paid"] = _paid(where, record, right)
    return row


def _paid(where: str, record: dict[str, Any], right: Any) -> list[float]:
    """Return the mean tokens of failed and of passed attempts of one line."""
    tokens = record.get("tokens")
    if (
        not isinstance(tokens, list)
        or not isinstance(right, list)
        or len(tokens) != len(right)
        or any(type(one) not in (int, float) or one < 0 for one in tokens)
    ):
        raise DataError(
            f'{where}: needs "correct" and "tokens", 0 or more for every attempt; '
            "or count attempts, without --cost"
        )
    sides = [
        [float(spent) for spent, passed in zip(tokens, right, strict=True) if passed == side]
        for side in (0, 1)
    ]
    usual = float(np.mean(tokens))
    return [float(np.mean(side)) if side else usual for side in sides]
