"""How long one waits for answers that are asked together, in average answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adalib.datasets.responses import Responses


def expected_waiting(responses: Responses, budgets: Sequence[int], unit: float) -> np.ndarray:
    r"""Return the expected time until the last of b answers finishes, shape (N, K).

    Answers run side by side, and each takes as long as it has tokens. With a question's lengths in
    order, :math:`\ell_1 \le \dots \le \ell_R`, the i-th is the longest of b drawn ones with chance
    :math:`\binom{i-1}{b-1} / \binom{R}{b}`. Times are divided by ``unit``, the tokens of an average
    answer. Where the file has no tokens, all answers take the same time, 1.
    """
    if responses.tokens is None:
        return np.ones((responses.n, len(budgets)))
    in_order = np.sort(np.asarray(responses.tokens, dtype=float), axis=1)
    samples = responses.samples
    waiting = np.empty((responses.n, len(budgets)))
    for column, budget in enumerate(budgets):
        chance = np.zeros(samples)
        chance[-1] = budget / samples
        for shorter in range(samples - 1, budget - 1, -1):  # so many others are shorter
            chance[shorter - 1] = chance[shorter] * (shorter - budget + 1) / shorter
        waiting[:, column] = in_order @ chance / unit
    return waiting
