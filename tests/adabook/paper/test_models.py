"""What the text is worth to each model: the record and its reader."""

import numpy as np
import pytest

from adabook.headline import over_deals
from adabook.paper import models
from adabook.protocol import BOUNDED, VOTED
from adabook.recorded import recorded
from adalib.evaluate.intervals import Interval


@pytest.fixture(scope="module")
def frame():
    return models.frame()


def test_a_row_averages_the_deals_of_the_record(frame):
    row = frame.iloc[0]
    found = [
        cell
        for part, cells in recorded("policies").items()
        if part.startswith(f"{row.set}, {row.paid}, plans, ")
        for cell in cells
        if (cell["policy"], cell["target"]) == (row.policy, row.target)
    ]
    assert len(found) == row.deals
    assert row.cost == pytest.approx(np.mean([cell["cost"] for cell in found]))
    ends = [Interval(cell["gain"], cell["gain_low"], cell["gain_high"]) for cell in found]
    whole = over_deals(ends)
    assert (row.gain, row.low, row.high) == pytest.approx((whole.mean, whole.low, whole.high))


def test_no_policy_is_there_twice(frame):
    assert not frame.duplicated(["set", "policy", "target", "paid", "taught"]).any()
    assert set(frame.set) <= {*VOTED, *BOUNDED}
    assert (frame.deals == 5).all()
