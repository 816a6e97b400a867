"""Features that the paper's importance figure names and its list lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.responses import QuestionWithFeatures
from adalib.learn.features import check_texts, one_each, question_marks

#: Names in the paper's importance figure that its list lacks (``has_fractions`` there is taken for
#: ``has_fraction``).
EXTRA_FEATURES = ("has_square_roots", "has_equation", "has_multi_subproblems", "single_pass_acc")

#: Features that cannot be computed without the answer key: a policy that uses one cannot be
#: deployed.
LEAKS = ("single_pass_acc",)

_ROOT = re.compile(r"\\sqrt|√|square root", re.IGNORECASE)
_EQUATION = re.compile(r"(?<![<>!])=|\\begin\{(?:equation|align)|\bequations?\b", re.IGNORECASE)
_SUBPROBLEMS = (("(a)", "(b)"), ("(i)", "(ii)"), ("(1)", "(2)"))  # marks of the first two


def extra_features(
    questions: Sequence[str], single_pass_acc: ArrayLike | None = None
) -> pd.DataFrame:
    """Return the features that the paper's figure names and its list does not.

    ``single_pass_acc`` needs the correct answers.
    """
    texts = check_texts(questions)
    # A text that was read in a file keeps its features; these are the last three.
    values = [
        text.features[-3:] if isinstance(text, QuestionWithFeatures) else _from_text(text)
        for text in texts
    ]
    columns: dict[str, Any] = dict(zip(EXTRA_FEATURES, np.reshape(values, (-1, 3)).T, strict=False))
    if single_pass_acc is not None:
        columns["single_pass_acc"] = one_each(single_pass_acc, len(texts), "single_pass_acc")
    return pd.DataFrame(columns, dtype=float)


def _from_text(text: str) -> tuple[bool, bool, bool]:
    """Whether a question has a square root, an equation, and several subproblems."""
    has_root = _ROOT.search(text) is not None
    has_equation = _EQUATION.search(text) is not None
    has_marks = any(first in text and second in text for first, second in _SUBPROBLEMS)
    return has_root, has_equation, has_marks or question_marks(text) > 1
