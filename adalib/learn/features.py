r"""Cheap features of a question's text: the 16 of the paper.

Fifteen are computed from the text. The sixteenth, ``entropy_estimate``, needs one answer of a
model, so it is included only if that number is given. The paper names its features and says little
more. Our reading of the names is as follows. A word is a run of letters and digits (an apostrophe,
a point or a comma may be inside it), compared in lower case. A sentence ends at ``.``, ``!`` or
``?`` that no letter or digit follows, or at such a mark of another script. A number is unsigned,
with thousands commas and decimals. A logarithm that does not exist (no number, or only zeros) is 0.
Keyword features look for whole words of the lists below. Every value is finite, whatever the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import QuestionWithFeatures

if TYPE_CHECKING:
    import pandas as pd


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TIME = _words(
    """
    second seconds minute minutes hour hours day days week weeks weekend month months year years
    decade decades century centuries time o'clock am pm morning noon afternoon evening night
    midnight today tomorrow yesterday daily weekly monthly yearly annual annually monday tuesday
    wednesday thursday friday saturday sunday
    """
)
_MONEY = _words(
    """
    dollar dollars cent cents euro euros pound pounds penny pennies dime dimes nickel nickels
    coin coins money price prices priced cost costs pay pays paid paying spend spends spent buy
    buys bought sell sells sold earn earns earned salary wage wages profit loss tax tip discount
    interest bill fee fare rent budget save saves saved
    """
)
_RATE = _words(
    """
    rate rates speed speeds velocity pace per mph kph kmh kmph fast faster slow slower average
    accelerates
    """
)
_STEPS = _words(
    """
    first then next after afterwards before later finally again another remaining remains
    remainder rest left total altogether combined twice additional
    """
)

# Every pattern takes time linear in the text: no repetition is followed by something that could
# match its last characters, so nothing is tried twice.
_WORD = re.compile(r"\w+(?:['’.,]\w+)*")
_SENTENCE_END = re.compile(r"[.!?。！？।؟](?!(?<=[.!?])\w)")
_NUMBER = re.compile(r"\.\d+|\d+(?:,\d{3}(?!\d))*(?:\.\d+)?")
_FRACTION = re.compile(r"\d ?[/⁄] ?\d|\\[dtc]?frac|[¼-¾⅐-⅞]")
# A bare $ opens a formula as often as a price. It counts as a price before a number that is not
# followed by a letter, an operator or a second $.
_CURRENCY = re.compile(r"[€£¥₹]|\\\$|\$\d[\d,.]*+(?![\w${}\\^])(?! ?[-+*/=<>])")
# A number too large for a float counts as this, so that the sum of a text's numbers stays finite.
_LARGEST_NUMBER = 1e300


def text_features(questions: Sequence[str], entropy: ArrayLike | None = None) -> pd.DataFrame:
    r"""Compute the paper's features of every question, safely on any text.

    Explained in the chapter "The paper".

    Parameters
    ----------
    questions : sequence of N str
        Any text: empty, huge, in any script, with LaTeX.
    entropy : array_like, shape (N,), optional
        Mean entropy per token of one real answer to each question: the paper's "normalised
        entropy", taken here as normalised by the answer's length. That answer costs one sample on
        top of the budget, unless its vote is reused as the first one. When policies are scored,
        take it from samples that do not score them.

    Returns
    -------
    DataFrame
        One row per question and 15 columns, or 16 with ``entropy``, named after
        `adalib.learn.features.TEXT_FEATURES`; all values finite.

    Raises
    ------
    ValueError
        If a question is not a text, or an entropy is not a finite number.

    Examples
    --------
    >>> row = text_features(["Tom pays $1,500 for 3 chairs. How much is 20% of it?"]).iloc[0]
    >>> row[["prompt_length_words", "sentence_count", "numbers_count", "has_percentage"]].tolist()
    [12.0, 2.0, 3.0, 1.0]
    """
    import pandas as pd  # here, because a server reads `text_values` and has no pandas

    values = text_values(questions)
    if entropy is not None:
        values = np.column_stack([values, one_each(entropy, len(values), "entropy")])
    return pd.DataFrame(values, columns=TEXT_FEATURES[: values.shape[1]])


def text_values(questions: Sequence[str]) -> np.ndarray:
    """Return the values of `text_features` as an array of shape (N, 15), which is faster."""
    width = len(TEXT_FEATURES) - 1
    rows = [
        text.features[:width]
        if isinstance(text, QuestionWithFeatures)
        else list(_read(text).values())
        for text in check_texts(questions)
    ]
    return np.array(rows, dtype=float).reshape(len(rows), width)


def _read(text: str) -> dict[str, float]:
    """Return the features of one text by name."""
    lower = text.lower()
    words = _WORD.findall(lower)
    count = len(words)
    unique = set(words)
    numbers = [
        min(float(digits.replace(",", "")), _LARGEST_NUMBER) for digits in _NUMBER.findall(text)
    ]
    mean = sum(numbers) / max(len(numbers), 1)
    largest = max(numbers, default=0.0)
    return {
        "prompt_length_chars": len(text),
        "prompt_length_words": count,
        "sentence_count": sum(
            _WORD.search(piece) is not None for piece in _SENTENCE_END.split(text)
        ),
        "question_marks": question_marks(text),
        "numbers_count": len(numbers),
        "number_magnitude_avg": math.log(mean) if mean > 0 else 0.0,
        "number_magnitude_max": math.log(largest) if largest > 0 else 0.0,
        "has_percentage": "%" in text or "％" in text or "percent" in lower,
        "has_fraction": _FRACTION.search(text) is not None,
        "has_time_word": not _TIME.isdisjoint(unique),
        "has_money_word": not _MONEY.isdisjoint(unique) or _CURRENCY.search(text) is not None,
        "has_rate_word": not _RATE.isdisjoint(unique),
        "has_multi_step_word": not _STEPS.isdisjoint(unique),
        "avg_word_length": sum(map(len, words)) / max(count, 1),
        "unique_word_ratio": len(unique) / max(count, 1),
    }


def question_marks(text: str) -> int:
    """Count the question marks of a text, in three scripts."""
    return text.count("?") + text.count("？") + text.count("؟")


#: The paper's list (Appendix E.1) in its order and spelling; the last needs a model's answer.
TEXT_FEATURES = (*_read(""), "entropy_estimate")


def check_texts(questions: Sequence[str]) -> list[str]:
    """Return the questions as a list; ValueError names one that is not a text."""
    if isinstance(questions, str):
        raise ValueError("questions is one text; give a list of texts, one per question")
    texts = list(questions)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"questions[{row}] is {type(text).__name__}, not a text; "
                "give a str, empty if need be"
            )
    return texts


def one_each(values: ArrayLike, n: int, name: str) -> np.ndarray:
    """Return a column of ``n`` finite numbers; ValueError names one that is not."""
    column = np.asarray(values, dtype=float)
    if column.shape != (n,):
        raise ValueError(f"{name} has shape {column.shape}; give {n} numbers, one per question")
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise ValueError(
            f"{name}[{bad[0]}] is {column[bad[0]]}; give a finite number, or leave {name} out"
        )
    return column
