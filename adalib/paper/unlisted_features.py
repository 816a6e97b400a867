"""Four features that the paper's importance figure names and its list does not; one of them needs the answer key."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
from numpy.typing import ArrayLike

from adalib.learn.features import check_texts, one_each, question_marks

__all__ = ["EXTRA_FEATURES", "LEAKS", "extra_features"]

#: Names in the paper's importance figure that its list lacks (``has_fractions`` there is taken for ``has_fraction``).
EXTRA_FEATURES = ("has_square_roots", "has_equation", "has_multi_subproblems", "single_pass_acc")

#: Features that cannot be computed without the answer key: a policy that uses one cannot be deployed.
LEAKS = ("single_pass_acc",)

_ROOT = re.compile(r"\\sqrt|√|square root", re.IGNORECASE)
_EQUATION = re.compile(r"(?<![<>!])=|\\begin\{(?:equation|align)|\bequations?\b", re.IGNORECASE)
_PARTS = (("(a)", "(b)"), ("(i)", "(ii)"), ("(1)", "(2)"))


def extra_features(questions: Sequence[str], single_pass_acc: ArrayLike | None = None) -> pd.DataFrame:
    """Compute the features that the paper's importance figure names and its list does not.

    ``single_pass_acc`` is Acc(x, 1), or one graded answer: either way it takes the answer key, which is why `LEAKS`
    names it. Explained in chapter 9, "Ablations".

    Parameters
    ----------
    questions : sequence of N str
    single_pass_acc : array_like, shape (N,), optional
        To show what the leak does; without it the column is absent.

    Returns
    -------
    DataFrame, shape (N, 3), or (N, 4) with ``single_pass_acc``
        Columns `EXTRA_FEATURES`.

    Examples
    --------
    >>> extra_features(["(a) Solve x + 2 = 5. (b) Find its square root."]).iloc[0].tolist()
    [1.0, 1.0, 1.0]
    """
    texts = check_texts(questions)
    columns = {
        "has_square_roots": [_ROOT.search(text) is not None for text in texts],
        "has_equation": [_EQUATION.search(text) is not None for text in texts],
        "has_multi_subproblems": [
            question_marks(text) > 1 or any(a in text and b in text for a, b in _PARTS) for text in texts
        ],
    }
    if single_pass_acc is not None:
        columns["single_pass_acc"] = one_each(single_pass_acc, len(texts), "single_pass_acc")
    return pd.DataFrame(columns, dtype=float)
