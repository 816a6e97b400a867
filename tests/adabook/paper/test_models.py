"""What the text is worth to each model: the record, its reader, and parts computed again."""

import numpy as np
import pytest
import record_models

from adabook.headline import over_deals
from adabook.paper import models
from adabook.recorded import recorded
from adalib.evaluate.intervals import Interval


@pytest.fixture(scope="module")
def frame():
    return models.frame()


def test_a_row_averages_the_deals_of_the_record(frame):
    row = frame.iloc[0]
    found = [
        cell
        for part, cells in recorded("models").items()
        if part.startswith(f"{row.set}, ") and ", deal " in part
        for cell in cells
        if (cell["policy"], cell["target"]) == (row.policy, row.target)
        and ("tokens" in part, "taught" in part) == (row.paid == "tokens", False)
    ]
    assert len(found) == row.deals
    assert row.cost == pytest.approx(np.mean([cell["cost"] for cell in found]))
    ends = [Interval(cell["gain"], cell["gain_low"], cell["gain_high"]) for cell in found]
    whole = over_deals(ends) if len(ends) > 1 else ends[0]
    assert (row.gain, row.low, row.high) == pytest.approx((whole.mean, whole.low, whole.high))


def test_no_policy_is_there_twice(frame):
    assert not frame.duplicated(["set", "policy", "target", "paid", "taught"]).any()
    assert set(frame.set) <= set(record_models.SETS)
    assert (frame.deals <= 5).all()


def test_noise_explains_nothing_and_truth_all():
    rng = np.random.default_rng(0)
    truth = rng.normal(0.5, 0.2, 4000)
    first, second = (truth + rng.normal(0, 0.3, 4000) for _ in range(2))
    all_of_it = record_models._share(first, second, truth)
    assert all_of_it["explained"] == pytest.approx(1, abs=0.05)
    assert all_of_it["deviation"] == pytest.approx(0.2, abs=0.02)
    half = record_models._share(first, second, 0.5 + (truth - 0.5) / 2)
    assert half["low"] < 0.75 < half["high"]  # 1 less a quarter of the variance
    nothing = record_models._share(first, second, np.full(4000, (first + second).mean() / 2))
    assert nothing["explained"] == pytest.approx(0, abs=1e-9)


def test_levels_and_concentration_come_out_again():
    kept = recorded("models")
    for row, written in zip(record_models.levels(), kept["levels"], strict=True):
        assert written == {"part": "levels", **row}
    name = "gsm8k-gpt4omini"
    for row, written in zip(
        record_models.concentrated(name), kept[f"{name}, concentrated"], strict=True
    ):
        assert written == {"part": f"{name}, concentrated", **row}


def test_the_real_votes_of_eight_lie_between_the_ends():
    levels = models.levels()
    of_eight = levels[(levels.model == "Qwen2.5-Math-7B, 8") & (levels.budget == 8)]
    for _, rows in of_eight.groupby("level"):
        accuracy = rows.set_index("votes").accuracy
        assert accuracy["agree"] < accuracy["real vote"] < accuracy["differ"]
