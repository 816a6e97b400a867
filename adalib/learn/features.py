r"""Cheap features of a question's text: the 16 of the paper.

Fifteen are read off the text. The sixteenth, ``entropy_estimate``, needs a model to answer once, so it is there only
when that number is handed in. The paper names its features and says little more. Our reading: a word is a run of
letters and digits (an apostrophe, a point or a comma may stand inside it), compared in lower case; a sentence ends at
``.``, ``!`` or ``?`` that no letter or digit follows, or at such a mark of another script; a number is unsigned, with
thousands commas and decimals; a logarithm that would not exist (no number, or only zeros) is 0; keyword features look
for whole words of the lists below. Whatever the text, every value is a finite number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.responses import ReadText

__all__ = ["TEXT_FEATURES", "check_texts", "one_each", "question_marks", "text_features", "text_values"]

_TIME, _MONEY, _RATE, _STEPS = (
    frozenset(words.split())
    for words in (
        """second seconds minute minutes hour hours day days week weeks weekend month months year years decade decades
        century centuries time o'clock am pm morning noon afternoon evening night midnight today tomorrow yesterday
        daily weekly monthly yearly annual annually monday tuesday wednesday thursday friday saturday sunday""",
        """dollar dollars cent cents euro euros pound pounds penny pennies dime dimes nickel nickels coin coins money
        price prices priced cost costs pay pays paid paying spend spends spent buy buys bought sell sells sold earn
        earns earned salary wage wages profit loss tax tip discount interest bill fee fare rent budget save saves
        saved""",
        "rate rates speed speeds velocity pace per mph kph kmh kmph fast faster slow slower average accelerates",
        """first then next after afterwards before later finally again another remaining remains remainder rest left
        total altogether combined twice additional""",
    )
)

# Every pattern is linear in the text: nothing that repeats is followed by something it could give back.
_WORD = re.compile(r"\w+(?:['’.,]\w+)*")
_SENTENCE_END = re.compile(r"[.!?。！？।؟](?!(?<=[.!?])\w)")
_NUMBER = re.compile(r"\.?\d+(?:,\d{3}(?!\d))*(?:\.\d+)?")
_FRACTION = re.compile(r"\d ?[/⁄] ?\d|\\[dtc]?frac|[¼-¾⅐-⅞]")
# A bare $ opens a formula as often as a price: it counts before a number that no letter, sign or second $ follows.
_CURRENCY = re.compile(r"[€£¥₹]|\\\$|\$\d[\d,.]*+(?![\w${}\\^])(?! ?[-+*/=<>])")
_LARGEST = 1e300  # what a number too long for a float counts as; the sum of any text's numbers then stays finite


def text_features(questions: Sequence[str], entropy: ArrayLike | None = None) -> pd.DataFrame:
    r"""Compute the paper's features of every question, safely on any text.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    questions : sequence of N str
        Any text: empty, huge, in any script, with LaTeX.
    entropy : array_like, shape (N,), optional
        Mean entropy a token of one real answer to each question: the paper's "normalised entropy", taken here as
        normalised by the answer's length. That answer costs one sample on top of the budget, unless its vote is
        reused as the first one. When policies are scored, take it from samples that do not score them.

    Returns
    -------
    DataFrame, shape (N, 15), or (N, 16) with ``entropy``
        Columns `TEXT_FEATURES`; all values finite.

    Examples
    --------
    >>> row = text_features(["Tom pays $1,500 for 3 chairs. How much is 20% of it?"]).iloc[0]
    >>> row[["prompt_length_words", "sentence_count", "numbers_count", "has_money_word", "has_percentage"]].tolist()
    [12.0, 2.0, 3.0, 1.0, 1.0]
    """
    values = text_values(questions)
    if entropy is not None:
        values = np.column_stack([values, one_each(entropy, len(values), "entropy")])
    return pd.DataFrame(values, columns=TEXT_FEATURES[: values.shape[1]])


def text_values(questions: Sequence[str]) -> np.ndarray:
    """The values of `text_features`, shape (N, 15), without a table around them: what a server has time for."""
    width = len(TEXT_FEATURES) - 1
    rows = [
        text.features[:width] if isinstance(text, ReadText) else list(_read(text).values())
        for text in check_texts(questions)
    ]
    return np.array(rows, dtype=float).reshape(len(rows), width)


def _read(text: str) -> dict[str, float]:
    lower = text.lower()
    words = _WORD.findall(lower)
    count, unique = len(words), set(words)
    numbers = [min(float(digits.replace(",", "")), _LARGEST) for digits in _NUMBER.findall(text)]
    mean, largest = sum(numbers) / max(len(numbers), 1), max(numbers, default=0.0)
    return {
        "prompt_length_chars": len(text),
        "prompt_length_words": count,
        "sentence_count": sum(_WORD.search(piece) is not None for piece in _SENTENCE_END.split(text)),
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


#: The paper's list (its Appendix E.1), in its order and spelling; the last one needs a model's answer.
TEXT_FEATURES = (*_read(""), "entropy_estimate")


def check_texts(questions: Sequence[str]) -> list[str]:
    """Return the questions as a list, or say which of them is not a text."""
    if isinstance(questions, str):
        raise ValueError("questions is one text; give a list of texts, one a question")
    texts = list(questions)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"questions[{row}] is {type(text).__name__}, not a text; give a str, empty if need be")
    return texts


def one_each(values: ArrayLike, n: int, name: str) -> np.ndarray:
    """Return a column of ``n`` finite numbers, or say which of them is not."""
    column = np.asarray(values, dtype=float)
    if column.shape != (n,):
        raise ValueError(f"{name} has shape {column.shape}; give {n} numbers, one a question")
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] is {column[bad[0]]}; give a finite number, or leave {name} out")
    return column
