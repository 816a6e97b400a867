"""The headline gain by its causes: the parts add up, and the record is that of chapter 9's
table."""

import numpy as np
import pytest
from record_headline import LEADS, headline_cells
from scipy.stats import t

import adalib
from adabook.headline import headline, over_deals
from adalib.evaluate.intervals import Interval


@pytest.fixture(scope="module")
def answers():
    return adalib.load("word-hot").take(range(0, 372, 15))


def test_weighting_and_stopping_add_up_to_the_gain(answers):
    cells = {(cell["policy"], cell["target"]): cell for cell in headline_cells(answers, [3])}
    assert {policy for policy, _ in cells} == {"mix", *LEADS}
    gain = cells["all three", 3]["over"]
    weighting = cells["mix_weighted", 3]["over"]["mix"][0]
    assert gain["mix"][0] == pytest.approx(gain["mix_weighted"][0] + weighting, abs=2e-5)
    assert gain["mix"][0] == pytest.approx(cells["all three", 3]["gain"], abs=2e-5)


def test_the_path_and_the_first_page_round_the_record():
    """They say "five points, from two causes" of the small model."""
    for benchmark in ("gsm8k", "math"):
        causes = headline(benchmark, 3)
        assert 4.5 <= 100 * causes.together.mean < 5.5
        assert 0.4 < causes.weighting.mean / causes.together.mean < 0.6
        assert causes.text.low < 0 < causes.text.high  # "too little to tell from zero"


def test_deals_without_spread_over_questions_give_students_interval():
    means = np.array([0.1, 0.3, 0.2, 0.4, 0.25])
    found = over_deals([Interval(mean, mean, mean) for mean in means])
    half = t.ppf(0.975, 4) * means.std(ddof=1) / np.sqrt(5)
    assert found.high - found.mean == pytest.approx(half)
