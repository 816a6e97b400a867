"""A control for policies that watch the answers: where marks say nothing, nothing may gain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adalib.datasets.responses import Responses


def with_other_marks(answers: Responses, seed: int = 0) -> Responses:
    """Give every question the marks of another one's answers, in their order.

    An answer that could not be read counts as one that no other agrees with. It would be wrong for
    sure, and whoever asks again after it gains, marks or no marks.

    >>> import adalib
    >>> answers = adalib.flat_null(40).sample(8)
    >>> other = with_other_marks(answers)
    >>> bool(other.values.sum() == answers.values.sum()), other.questions == answers.questions
    (True, True)
    """
    marks = np.random.default_rng(seed).permutation(answers.values)
    of_its_own = answers.classes.max() + 1 + np.arange(answers.samples)
    classes = np.where(answers.classes < 0, of_its_own, answers.classes)
    texts = [list(map(str, row)) for row in classes.tolist()]
    extras = {**answers.extras, "classes": classes.tolist()}
    return replace(answers, answers=texts, correct=marks, extras=extras)
