"""What reading the text gains: the record's laws, and one part of it computed again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from adabook.headline import over_deals
from adabook.paper.results import reconstructed
from adabook.paper.settings import TARGETS, benchmark
from adabook.paper.text_results import held_out_text
from adabook.recorded import recorded
from adalib.evaluate.intervals import Interval


def test_deals_without_spread_over_questions_give_students_interval():
    means = np.array([0.1, 0.3, 0.2, 0.4, 0.25])
    found = over_deals([Interval(mean, mean, mean) for mean in means])
    half = t.ppf(0.975, 4) * means.std(ddof=1) / np.sqrt(5)
    assert found.high - found.mean == pytest.approx(half)


def test_noise_shows_no_gain_and_the_oracle_does():
    found = held_out_text().set_index(["policy", "benchmark", "target"])
    for name in ("noise", "ranked, noise"):
        assert (found.loc[name].low <= 0).all()
    assert (found.loc["oracle"].low > 0).all()


def test_a_part_of_the_record_comes_out_again():
    answers = benchmark("gsm8k")
    recorded_rows = {
        (row["policy"], row["target"]): row
        for row in recorded("text")["gsm8k, all questions, text"]
    }
    for row in reconstructed(answers, TARGETS[-1:]):
        kept = recorded_rows[row.method, row.target]
        assert (row.cost, row.accuracy) == pytest.approx((kept["cost"], kept["accuracy"]), abs=1e-9)
