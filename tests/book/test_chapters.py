"""What the chapters say of their data, measured again where no page has to show it."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adabook import games


@pytest.fixture(scope="module", params=["gsm8k-qwen15", "math-qwen15"])
def benchmark(request):
    return adalib.load(request.param)


def test_motivation_every_kind_occurs(benchmark):
    kinds = adalib.archetypes(benchmark.table())
    shares = {
        kind: np.mean(kinds == kind) for kind in ("easy", "responsive", "diminishing", "hard")
    }
    assert min(shares.values()) >= 0.05
    assert max(shares, key=shares.get) == "hard"


def test_motivation_the_oracle_is_ahead_of_the_best_mix(benchmark):
    """On answers not used to choose; and eight answers, well spent, do the work of sixteen."""
    found = adalib.cross_fitted_oracle(benchmark, targets=[2, 4, 8])
    table = benchmark.table()
    for target, accuracy in zip(found.targets, found.accuracy.T, strict=True):
        mix = adalib.best_mix(table.acc, table.cost, target).expected(table.acc)
        assert adalib.mean_interval(accuracy - mix).low > 0
    assert found.accuracy[:, -1].mean() == pytest.approx(table.acc[:, -1].mean(), abs=0.005)


def test_oracle_no_price_puts_the_mix_ahead(benchmark):
    """In the sentence whose price a reader drags, at any of its prices."""
    shown = games.sentence(benchmark, "a benchmark", start=0.04).data
    assert (np.subtract(shown["accuracy"], shown["mix"]) >= 0).all()
