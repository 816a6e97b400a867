"""Questions with their sampled answers, and the utility table that they give.

Equal answers form classes. Answers are compared once, and every estimate of Acc(x, b) is made from
the classes.

A policy may have looked at one answer before it decides. Features that were read off that answer
are not free: if it counts as the first vote, it costs nothing more, but it must be among the votes
that are scored, as in `first_vote_table`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError, write_lines
from adalib.table import UtilityTable
from adalib.vote.answers import judged, same_answer
from adalib.vote.estimators import ESTIMATORS, Ties

REQUIRED = ("id", "question", "gold", "answers")  # the fields that every line of a file has
_COLUMNS = ("ids", "questions", "golds", "answers")
SAMPLED = ("correct", "tokens", "logprob", "entropy")  # fields with one number per sample
FEATURES = 15  # features of the text, at least, that a `QuestionWithFeatures` carries
BUCKETS = 512  # counts of hashed n-grams that it carries


@dataclass(frozen=True)
class Prices:
    """Dollars for a million tokens, of prompts and of answers, as an API bills them.

    A bill counts the prompt once for answers that are asked together, and every time for answers
    that are asked one by one.

    Parameters
    ----------
    input, output : float
        Dollars for a million tokens of the prompt, and of an answer.

    Examples
    --------
    >>> Prices(input=0.15, output=0.60)
    Prices(input=0.15, output=0.6)
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        if not (0 <= self.input < np.inf and 0 < self.output < np.inf):
            raise ValueError(
                f"the prices are {self.input} and {self.output}; give dollars for a million tokens "
                "of the prompt, 0 or more, and of an answer, above 0"
            )


#: What is paid for an answer: 1, its tokens, or dollars for these and the prompt's.
Cost = Literal["samples", "tokens"] | Prices

#: What numbers of answers cost, of one's own: one number per budget, one per question and budget,
#: or a function of the budgets that returns either.
OwnCost = ArrayLike | Callable[[np.ndarray], ArrayLike]


class QuestionWithFeatures(str):
    """A question that carries numbers computed from its text, so that policies need no text.

    The first features are those of `text_features`, and more may follow; n-grams are those of
    `ngram_counts`.
    """

    features: tuple[float, ...]
    ngrams: tuple[int, ...]

    def __new__(
        cls, text: str, features: Sequence[float] = (), ngrams: Sequence[int] = ()
    ) -> QuestionWithFeatures:
        read = super().__new__(cls, text)
        read.features = tuple(features)
        read.ngrams = tuple(ngrams)
        return read


@dataclass(frozen=True, eq=False, repr=False)
class Responses:
    """N questions with R sampled answers each.

    `adalib.load` reads them from a file, and `table` counts what each budget would get right.

    Parameters
    ----------
    ids : sequence of N str
        Distinct names of the questions.
    questions : sequence of N str
        Texts of the questions.
    golds : sequence of N str
        Correct answers.
    answers : sequence of N sequences of R str
        Extracted answers in the order they were sampled; "" where nothing was extracted.
    levels : sequence of N int or str, optional
        Difficulty level of each question.
    tokens : array_like, shape (N, R), optional
        Tokens generated for each sample.
    correct : array_like, shape (N, R), optional
        0 or 1 for each sample, used instead of comparing with the gold answer.
    logprob : array_like, shape (N, R), optional
        Mean log-probability of each sample's tokens, how certain the model was.
    entropy : array_like, shape (N, R), optional
        Mean entropy of the model's choice at each token, in nats.
    extras : dict of str to list
        Every other field, one value per question (None where a line had none). ``classes`` given
        here are not compared again, and `Prices` need ``prompt_tokens``.
    source : str
        Name of the file or setting, for messages.

    Attributes
    ----------
    n, samples : int
        Number of questions N, and of answers per question R.
    classes : ndarray of int, shape (N, R)
        Answer class of every sample; -1 for an empty answer.
    values : ndarray, shape (N, R)
        Value of every sample, 1 where it is correct.

    Raises
    ------
    ValueError
        If lengths or shapes do not agree, or two ids are equal.

    See Also
    --------
    load : Reads them from a file.

    Examples
    --------
    >>> sampled = Responses(["q"], ["2 + 2?"], ["4"], answers=[["4", "5", "4.0", ""]])
    >>> sampled.classes.tolist(), sampled.values.tolist()
    ([[0, 1, 0, -1]], [[1.0, 0.0, 1.0, 0.0]])
    >>> sampled.table([1, 2]).acc.round(3).tolist()
    [[0.5, 0.667]]
    """

    ids: Sequence[str]
    questions: Sequence[str]
    golds: Sequence[str]
    answers: Sequence[Sequence[str]]
    levels: Sequence | None = None
    tokens: np.ndarray | None = None
    correct: np.ndarray | None = None
    logprob: np.ndarray | None = None
    entropy: np.ndarray | None = None
    extras: dict[str, list] = field(default_factory=dict)
    source: str = "responses"

    def __post_init__(self) -> None:
        levels = {} if self.levels is None else {"levels": self.levels}
        columns = {name: getattr(self, name) for name in _COLUMNS} | self.extras | levels
        for name, column in columns.items():
            if len(column) != self.n:
                raise ValueError(
                    f"{self.source}: {name} has {len(column)} entries for {self.n} ids; "
                    "give one each"
                )
        if self.n == 0 or self.samples == 0:
            raise ValueError(f"{self.source}: there must be at least one question with one answer")
        if len(set(self.ids)) != self.n:
            raise ValueError(
                f"{self.source}: two questions have the same id; give every question its own"
            )
        for name, row in zip(self.ids, self.answers, strict=True):
            if len(row) != self.samples:
                raise ValueError(
                    f"{self.source}: question {name!r} has {len(row)} answers "
                    f"and the first {self.samples}; give equally many"
                )
        for name, array in self._sampled(lambda values: np.asarray(values, dtype=float)).items():
            if array.shape != (self.n, self.samples):
                raise ValueError(
                    f"{self.source}: {name} has shape {array.shape}; give {(self.n, self.samples)}"
                )
            if not np.isfinite(array).all():
                raise ValueError(
                    f"{self.source}: {name} holds a value that is no number; give one per sample"
                )
            vars(self)[name] = array

    def __repr__(self) -> str:
        fields = [name for name in ("levels", *SAMPLED) if getattr(self, name) is not None]
        more = "".join(f", {name}" for name in [*fields, *self.extras])
        return f"<Responses {self.source}: {self.n:,} questions, {self.samples} answers each{more}>"

    def __len__(self) -> int:
        """Number of questions."""
        return self.n

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.ids)

    @property
    def samples(self) -> int:
        """Number of sampled answers per question, R."""
        return len(self.answers[0]) if len(self.answers) else 0

    @cached_property
    def classes(self) -> np.ndarray:
        """The answer class of every sample, (N, R); -1 for an empty answer."""
        if "classes" in self.extras:
            return _renumbered(np.array(self.extras["classes"], dtype=np.int32))
        # Comparing formulas takes milliseconds per pair, so a terminal shows a progress bar. It is
        # loaded here, because files that come with their classes do without it.
        from tqdm import tqdm

        if sys.platform == "emscripten":
            tqdm.monitor_interval = 0  # a browser has no thread that could refresh the bar
        rows = tqdm(
            self.answers,
            desc="comparing answers",
            unit=" questions",
            delay=3,
            disable=None,
            leave=False,
            ncols=80,  # some terminals do not say their size
            nrows=24,
        )
        judged_rows = [judged(row) for row in rows]
        not_compared = {text: limit for _, limits in judged_rows for text, limit in limits.items()}
        if not_compared:
            text, limit = next(iter(not_compared.items()))
            warnings.warn(
                f"{self.source}: {len(not_compared):,} formulas were not compared and count as "
                f"answers of their own, such as {text[:60]!r} ({limit})",
                stacklevel=2,
            )
        return np.stack([row for row, _ in judged_rows], dtype=np.int32, casting="same_kind")

    @cached_property
    def values(self) -> np.ndarray:
        """Value of every sample, (N, R): ``correct`` if given, else 1 if it equals the gold."""
        if self.correct is not None:
            return self.correct
        values = np.zeros(self.classes.shape)
        for i, (gold, row) in enumerate(zip(self.golds, self.answers, strict=True)):
            classes = self.classes[i].tolist()
            # The first answer of a class is compared for all of them.
            first_answer: dict[int, str] = {}
            for number, answer in zip(classes, row, strict=True):
                first_answer.setdefault(number, answer)
            correct = {
                number
                for number, answer in first_answer.items()
                if number >= 0 and same_answer(answer, gold)
            }
            values[i] = [number in correct for number in classes]
        return values

    def table(
        self,
        budgets: Sequence[int] = (1, 2, 4, 8, 16),
        estimator: Literal["subsets", "windows"] = "subsets",
        ties: Ties = "share",
        cost: Cost | OwnCost = "samples",
    ) -> UtilityTable:
        """Estimate the accuracy of a majority vote over b samples, for every question and budget.

        Explained in the chapter "Is a gain real?".

        Parameters
        ----------
        budgets : sequence of int
            Numbers of samples, increasing, from 1 to R.
        estimator : {"subsets", "windows"}
            Average over all subsets of b samples, or over disjoint windows as in the paper.
        ties : {"share", "first"}
            Tied answers share the win, or the one seen first takes it. The paper says only
            "majority vote"; its printed numbers exclude shared ties, and "first" is our choice
            among the other rules.
        cost : {"samples", "tokens"}, Prices, array_like or callable
            A budget costs its samples, its samples times the question's mean tokens, or what an API
            bills for them. Or give numbers of your own, of shape (K,) or (N, K), or a function
            that returns them for an array of the K budgets.

        Returns
        -------
        UtilityTable
            One row per question and one column per budget.
        """
        if estimator not in ESTIMATORS:
            raise ValueError(f"estimator must be 'subsets' or 'windows', got {estimator!r}")
        budgets = tuple(budgets)
        if (np.diff(budgets) <= 0).any():
            raise ValueError(f"budgets must increase, got {budgets}")
        if budgets and budgets[-1] > self.samples:
            raise DataError(
                f"{self.source}: has {self.samples} answers per question, "
                f"and budget {budgets[-1]} needs as many; "
                "lower the largest budget, or sample more answers"
            )
        acc = ESTIMATORS[estimator](self.classes, self.values, budgets, ties)
        return UtilityTable(acc, self.bill(budgets, cost), budgets=budgets, ids=self.ids)

    def bill(self, budgets: Sequence[int], cost: Cost | OwnCost = "samples") -> np.ndarray:
        """Return what numbers of answers cost if they are asked together, shape (K,) or (N, K)."""
        b = np.asarray(budgets, dtype=float)
        if isinstance(cost, str) and cost == "samples":
            return b
        if isinstance(cost, str | Prices):
            mean = self.answer_costs(cost).mean(axis=1, keepdims=True)
            return mean * b - self._prompts(cost) * (b - 1)
        return np.asarray(cost(b) if callable(cost) else cost, dtype=float)

    def answer_costs(self, cost: Cost | str) -> np.ndarray:
        """Return what every answer costs if it is asked alone, shape (N, R)."""
        if cost == "samples":
            return np.ones((self.n, self.samples))
        if cost != "tokens" and not isinstance(cost, Prices):
            raise ValueError(f"cost must be 'samples', 'tokens' or Prices, got {cost!r}")
        if self.tokens is None:
            raise DataError(
                f'{self.source}: has no tokens; add "tokens" to every line, '
                'or let cost be "samples"'
            )
        if isinstance(cost, Prices):
            return self._prompts(cost) + cost.output * self.tokens / 1e6
        return self.tokens

    def _prompts(self, cost: Cost | str) -> np.ndarray | float:
        """Return what the prompt of every question costs, (N, 1); 0 where it is not paid."""
        if not isinstance(cost, Prices) or not cost.input:
            return 0.0
        tokens = self.extras.get("prompt_tokens", [None])
        if None in tokens:
            raise DataError(
                f'{self.source}: has no prompt_tokens; add "prompt_tokens" to every line, '
                "or let the price of the input be 0"
            )
        return cost.input * np.array(tokens, dtype=float)[:, None] / 1e6

    def take(self, rows: ArrayLike) -> Responses:
        """Return some questions, given by row number or by a mask, in the order given."""
        kept = np.arange(self.n)[np.asarray(rows)].tolist()
        columns: dict[str, Any] = {
            name: [getattr(self, name)[i] for i in kept] for name in _COLUMNS
        }
        columns["extras"] = {
            name: [column[i] for i in kept] for name, column in self.extras.items()
        }
        if self.levels is not None:
            columns["levels"] = [self.levels[i] for i in kept]
        some = replace(self, **columns, **self._sampled(lambda values: values[kept]))
        # What has been compared is not compared again.
        vars(some).update(
            {name: vars(self)[name][kept] for name in ("classes", "values") if name in vars(self)}
        )
        return some

    def split_samples(self, seed: int) -> tuple[Responses, Responses]:
        """Deal the samples of every question at random into two halves, R // 2 and the rest.

        The samples of a half keep their order. Choose on one half and score on the other, and the
        score is honest. Extra fields with R values per question are dealt in the same way.
        Explained in the chapter "Four kinds of question".
        """
        if self.samples < 2:
            raise DataError(
                f"{self.source}: has one answer per question; sample at least two to split them"
            )
        places = np.random.default_rng(seed).permuted(
            np.tile(np.arange(self.samples), (self.n, 1)), axis=1
        )
        one, other = np.split(places, [self.samples // 2], axis=1)
        return self._samples(np.sort(one, 1)), self._samples(np.sort(other, 1))

    def set_aside(self, sample: int) -> tuple[Responses, Responses]:
        """Return one sample of every question, given by its place from 0, and the others.

        Extra fields with R values per question are dealt in the same way.
        """
        if not 0 <= sample < self.samples or self.samples < 2:
            mend = "sample at least two answers per question, and give a place from 0"
            raise DataError(
                f"{self.source}: cannot set sample {sample} of {self.samples} aside; {mend}"
            )
        places = np.tile(np.arange(self.samples), (self.n, 1))
        return self._samples(places[:, [sample]]), self._samples(np.delete(places, sample, axis=1))

    def _samples(self, places: np.ndarray) -> Responses:
        """Return the samples at these places of every question, (N, number of samples)."""

        def deal(column: Sequence) -> list:
            rows = zip(column, places.tolist(), strict=True)
            return [row if row is None else [row[place] for place in kept] for row, kept in rows]

        def per_sample(row: Any) -> bool:
            return row is None or (isinstance(row, list) and len(row) == self.samples)

        extras = {
            name: deal(column) if all(map(per_sample, column)) else column
            for name, column in self.extras.items()
        }
        sampled = self._sampled(lambda values: np.take_along_axis(values, places, 1))
        some = replace(self, answers=deal(self.answers), extras=extras, **sampled)
        if "classes" in vars(self):  # what has been compared is not compared again
            vars(some)["classes"] = _renumbered(np.take_along_axis(self.classes, places, 1))
        return some

    def _sampled(self, change: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
        """Return the fields with one number per sample that are given, each changed."""
        return {
            name: change(getattr(self, name)) for name in SAMPLED if getattr(self, name) is not None
        }

    def save(self, path: str | os.PathLike) -> None:
        """Write the file that `load` reads, completely or not at all; gzip if named ``.gz``."""
        write_lines(path, (self._record(i) for i in range(self.n)))

    def _record(self, i: int) -> dict[str, Any]:
        """Return one question as a line of the file, without fields that are None."""
        row = (self.ids[i], self.questions[i], self.golds[i], self.answers[i])
        record: dict[str, Any] = dict(zip(REQUIRED, row, strict=True))
        if self.levels is not None:
            record["level"] = self.levels[i]
        for name, values in self._sampled(lambda values: values[i]).items():
            record[name] = [int(x) if x.is_integer() else x for x in values.tolist()]
        record |= {name: column[i] for name, column in self.extras.items()}
        return {name: value for name, value in record.items() if value is not None}


def _renumbered(classes: np.ndarray) -> np.ndarray:
    """Number the classes of every row in order of first appearance; -1 stays."""
    read = classes >= 0
    numbers = np.zeros(classes.shape, dtype=classes.dtype)
    # Shifted so that no two rows have a class in common, and all rows can be numbered together.
    apart = classes + (classes.max() + 1) * np.arange(len(classes))[:, None]
    _, first_place, which = np.unique(apart[read], return_index=True, return_inverse=True)
    rank_of_class = first_place.argsort().argsort()  # by first appearance, over all rows
    numbers[read] = rank_of_class[which]
    first_of_row = numbers.min(axis=1, keepdims=True, where=read, initial=classes.size)
    return np.where(read, numbers - first_of_row, -1).astype(classes.dtype)


def first_vote_table(
    first: Responses, rest: Responses, budgets: Sequence[int] = (1, 2, 4, 8, 16)
) -> UtilityTable:
    r"""Estimate the accuracy of a vote of b answers that is opened by one given answer.

    A policy that looked at an answer must be scored on votes that hold it, because answers that
    were looked at and found doubtful are wrong more often. Of the subsets of b among all R + 1
    answers, those without the first are the subsets of the R others, so the average over all
    choices of b - 1 among these is what is left over,

    .. math:: \mathrm{Acc}_{\mathrm{first}}(b) = \mathrm{Acc}_{R+1}(b)
              + \frac{R - b + 1}{b} \bigl(\mathrm{Acc}_{R+1}(b) - \mathrm{Acc}_R(b)\bigr) .

    Ties are shared.

    Parameters
    ----------
    first : Responses
        One answer per question, as `Responses.set_aside` returns it.
    rest : Responses
        The other answers to the same questions.
    budgets : sequence of int
        Numbers of answers in the vote, the first one included.

    Returns
    -------
    UtilityTable
        The accuracies; the cost of a vote is its number of answers.

    Examples
    --------
    >>> answers = Responses(["a"], ["?"], ["7"], [["8", "7", "7", "9"]])
    >>> first_vote_table(*answers.set_aside(0), budgets=[1, 2, 3]).acc.round(3).tolist()
    [[0.0, 0.333, 0.556]]
    """
    without = rest.table(budgets)
    together = joined(first, rest).table(budgets)
    b = np.asarray(without.budgets, dtype=float)
    acc = together.acc + (rest.samples - b + 1) / b * (together.acc - without.acc)
    # The difference of two averages may miss 0 and 1 by rounding.
    return replace(without, acc=acc.clip(0, 1))


def joined(first: Responses, rest: Responses) -> Responses:
    """Put one answer in front of the others of the same questions.

    Of the extra fields ``prompt_tokens`` is kept, and ``classes`` if both have them.
    """
    if list(first.ids) != list(rest.ids) or first.samples != 1:
        raise ValueError(
            "the first answers must be one per question, for the same questions: "
            "take them with Responses.set_aside"
        )
    answers = [[*one, *more] for one, more in zip(first.answers, rest.answers, strict=True)]
    pairs = {name: [getattr(first, name), getattr(rest, name)] for name in SAMPLED}
    pairs["correct"] = [first.values, rest.values]
    sampled: dict[str, Any] = {
        name: None if any(values is None for values in pair) else np.hstack(pair)
        for name, pair in pairs.items()
    }
    extras = {name: rest.extras[name] for name in rest.extras if name == "prompt_tokens"}
    if "classes" in first.extras and "classes" in rest.extras:
        pairs_of_classes = zip(first.extras["classes"], rest.extras["classes"], strict=True)
        extras["classes"] = [[*one, *more] for one, more in pairs_of_classes]
    return replace(rest, answers=answers, extras=extras, **sampled)
