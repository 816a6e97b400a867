"""The budget is held: whatever questions come, and by a law that can be added up."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib import load
from adalib.router.controller import BudgetController, Purse
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import corners

BUDGET = 4.0


@given(st.lists(st.floats(0, 40), min_size=1, max_size=300))
def test_the_average_is_off_by_what_the_price_moved(costs):
    controller = BudgetController(BUDGET, price=0.02)
    for cost in costs:
        controller.open(3.0)
        controller.close(3.0, cost)
    off = controller.average / BUDGET - 1
    moved = log(controller.price / controller.first_price) / (controller.step * len(costs))
    # Equal, unless credit was let go: then the price stands higher than the average alone would have it.
    assert moved >= off - 1e-9
    if len(costs) <= 100:
        assert moved == pytest.approx(off, abs=1e-9)


@pytest.fixture(scope="module")
def world():
    """A policy fitted on half of the questions, and the other half to be asked, with who is hard among them.

    Hard are those whose answers agree least. The hopeless ones would not do: priced stopping gives up on them early.
    """
    answers = load("word-fewshot")
    order = np.random.default_rng(0).permutation(answers.n)
    policy = PricedStopping(("votes",)).fit(answers.take(order[::2]))
    asked = answers.take(order[1::2])
    agreement = [np.bincount(row[row >= 0], minlength=1).max() for row in asked.classes]
    return policy, asked, np.argsort(agreement)[: asked.n // 3]


def play(world, questions, controller, at_a_time=1, seed=0):
    """Ask questions one after another (or so many at a time), answers played back in random order."""
    policy, asked, _ = world
    rng, open_now = np.random.default_rng(seed), []
    for question in questions:
        number = policy.at_price(controller.price)
        controller.open(policy.costs[number])
        session, n = policy.begin(number), 0
        for answer in rng.permutation(asked.classes[question]):
            n += 1
            if not session.add(None if answer < 0 else int(answer)):
                break
        open_now.append((policy.costs[number], n))
        if len(open_now) >= at_a_time:
            controller.close(*open_now.pop(0))
    for expected, n in open_now:
        controller.close(expected, n)
    return controller


def streams(world):
    """The three streams of 1,000 questions: the training mix, a shift half way, a hard beginning."""
    _, asked, hard = world
    rng = np.random.default_rng(1)
    mixed, harder = rng.integers(asked.n, size=1000), rng.choice(hard, 1000)
    half = np.arange(1000) < 500
    return {
        "training mix": mixed,
        "hard from the middle on": np.where(half, mixed, harder),
        "200 hard ones first": np.where(np.arange(1000) < 200, harder, mixed),
    }


@pytest.mark.parametrize("name", ["training mix", "hard from the middle on", "200 hard ones first"])
@pytest.mark.parametrize("at_a_time", [1, 32])
def test_within_two_percent_of_the_budget(world, name, at_a_time):
    controller = BudgetController(BUDGET, world[0].price(BUDGET))
    play(world, streams(world)[name], controller, at_a_time)
    assert controller.asked == 1000
    assert controller.average == pytest.approx(BUDGET, rel=0.02)
    assert len(controller.path) == 1000


def test_a_price_that_stands_still_does_not_hold_it(world):
    """What the controller is for: at a price that stands still, the shifted stream costs far more than the mix."""
    mixed, stream = (streams(world)[name] for name in ("training mix", "hard from the middle on"))
    for nearby in (0.9999, 1.0001):  # either of the two rules that the price stands between
        usual, shifted = (
            play(world, questions, BudgetController(BUDGET, world[0].price(BUDGET) * nearby, step=1e-9)).average
            for questions in (mixed, stream)
        )
        assert shifted > 1.1 * usual
    held = play(world, stream, BudgetController(BUDGET, world[0].price(BUDGET)))
    prices = np.array([moment.price for moment in held.path])
    assert np.median(prices[700:]) > 1.5 * np.median(prices[100:500])  # the price followed


def test_a_price_picks_from_the_envelope(world):
    policy = world[0]
    picked = [policy.at_price(price) for price in np.geomspace(1e-6, 10, 400)]
    assert picked == sorted(picked, reverse=True)  # dearer price, cheaper member
    # All members but those that only spend what is left over: no price above 0 buys what brings nothing.
    assert set(picked) == set(corners(policy.costs, policy.accuracies))
    assert policy.costs.size - len(set(picked)) <= 1
    for budget in (1.5, 3.0, 8.0):
        price, mix = policy.price(budget), policy.mix(budget)
        assert {policy.at_price(price * 1.0001), policy.at_price(price * 0.9999)} == {mix.low, mix.high}


def test_going_on_where_it_ended():
    whole, again = BudgetController(2, 0.1), BudgetController(2, 0.1)
    for cost in (1, 5, 2, 3):
        whole.open(2)
        whole.close(2, cost)
    again.resume(whole.asked, whole.spent)
    assert again.price == pytest.approx(whole.price)
    whole.open(7)
    whole.drop(7)
    assert again.price == pytest.approx(whole.price)
    with pytest.raises(ValueError, match="cost"):
        whole.close(2, float("nan"))
    with pytest.raises(ValueError, match="budget"):
        BudgetController(0, 0.1)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), max_size=200), st.floats(0.1, 20))
def test_the_purse_is_never_passed(steps, total):
    purse, open_now = Purse(total), []
    for most, share, settles in steps:
        if purse.reserve(most):
            open_now.append((most, most * share))
        if settles and open_now:
            purse.settle(*open_now.pop(0))
        assert purse.spent <= total * (1 + 1e-9)
    for most, cost in open_now:
        purse.settle(most, cost)
    assert purse.spent <= total * (1 + 1e-9)
