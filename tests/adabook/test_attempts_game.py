"""The game of tries: what the two plans solve, against playing them out."""

import json
import re

import numpy as np
import pytest

from adabook.games import attempts


@pytest.mark.parametrize("seed", range(5))
def test_both_plans_are_played_out(seed):
    rng = np.random.default_rng(seed)
    tries = rng.random((10, 100)) < rng.beta(0.3, 3, size=(10, 1))
    chance = 0.5 / (2 + np.arange(101))
    html = attempts([f"puzzle {row}" for row in range(10)], tries, chance).html
    data = json.loads(re.search(r"<script[^>]*>(.*?)</script>", html)[1])
    failures, open_ones = [0] * 10, set(range(10))
    for _ in range(100):
        if not open_ones:
            break
        row = max(sorted(open_ones), key=lambda one: chance[failures[one]])
        if tries[row, failures[row]]:
            open_ones.discard(row)
        failures[row] += 1
    assert data["cap"] == 10 - len(open_ones)
    knows, left = 0, 100
    for row in np.argsort(-tries.mean(axis=1), kind="stable"):
        made = next((at + 1 for at in range(left) if at < 100 and tries[row, at]), None)
        if made is not None:
            knows, left = knows + 1, left - made
    assert data["knows"] == knows
