"""The schedule of rounds: the best of all that are tried, and the discount from which it pays."""

from itertools import combinations

import numpy as np
import pytest

from adalib import PricedStopping, Responses, beta_population
from adalib.sequential.rounds import best_rounds


@pytest.fixture(scope="module")
def answers():
    return beta_population(80, 1.5, 1.5, seed=2).sample(8, seed=3)


def on_the_line(policy, x, y, at):
    """The value of a line through a policy's points, by hand."""
    points = sorted(zip(x, y, strict=True))
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        if x0 <= at <= x1:
            return y0 + (y1 - y0) * (at - x0) / (x1 - x0)
    return points[-1][1]


def test_no_other_schedule_is_as_right_for_less(answers):
    found = best_rounds(answers, 3.0, 3)
    assert found.as_right < np.inf
    sizes = [1, 2, 3, 4, 5, 6, 8]
    for schedule in (*combinations(sizes, 2), *combinations(sizes, 3)):
        if any(b < 2 * a for a, b in zip(schedule, schedule[1:], strict=False)):
            continue
        policy = PricedStopping(("votes",), schedule=schedule, repeats=8).fit(answers)
        if policy.costs[0] <= 3:
            right = on_the_line(policy, policy.costs, policy.accuracies, found.as_right)
            assert right <= found.one_by_one + 1e-9
            if schedule == found.schedule:
                assert right == pytest.approx(found.one_by_one)
                at_three = on_the_line(policy, policy.costs, policy.accuracies, 3.0)
                assert at_three == pytest.approx(found.accuracy)


def test_at_its_discount_rounds_cost_what_one_by_one_does(answers):
    found = best_rounds(answers, 3.0, 3)
    assert (1 - found.pays_from) * found.as_right == pytest.approx(3.0)


def test_where_one_answer_is_enough_rounds_pay_without_a_discount():
    sure = Responses([f"q{i}" for i in range(40)], ["?"] * 40, ["1"] * 40, [["1"] * 8] * 40)
    found = best_rounds(sure, 2.5, 2)
    assert (found.accuracy, found.one_by_one, found.as_right, found.pays_from) == (1, 1, 1, 0)
    assert found.schedule[0] == 1


def test_a_single_round_watches_nobody(answers):
    with pytest.raises(ValueError, match="2 or more"):
        best_rounds(answers, 3.0, 1)
    with pytest.raises(ValueError, match="less than one round"):
        best_rounds(answers, 0.5, 2)
    few = Responses(["q"] * 1, ["?"], ["1"], [["1"]])
    with pytest.raises(ValueError, match="too few"):
        best_rounds(few, 1.0, 2)
    assert np.isfinite(best_rounds(answers, 8.0, 2).accuracy)
