"""The router for checked answers: passes, prices, budgets, and checks that misbehave."""

import asyncio

import numpy as np
import pytest

from adalib import CheckedStopping, Passes
from adalib.ask.collect import run_to_end
from adalib.ask.reply import Answer
from adalib.serve.checking import PASSED, WORTH, CheckedRouter


@pytest.fixture(scope="module")
def policy():
    rng = np.random.default_rng(0)
    return CheckedStopping().fit(Passes(rng.binomial(30, rng.beta(0.5, 1, size=300)), 30))


async def ask(runner):
    return Answer(str(runner.number), "", "stop")


def passes_at(number):
    async def check(answer):
        return answer.text == str(number)

    return check


def test_it_stops_at_the_first_pass(policy):
    found = run_to_end(CheckedRouter(policy, 4.0, passes_at(1)).answer(ask))
    assert (found.answer.text, found.cost, found.reason) == ("1", 2.0, PASSED)


def test_it_gives_up_where_the_policy_does(policy):
    router = CheckedRouter(policy, 4.0, passes_at(-1))
    cap = policy.begin(policy.at_price(router.controller.price)).cap
    found = run_to_end(router.answer(ask))
    assert (found.passed, found.cost, found.reason) == (False, cap, WORTH)
    assert router.controller.spent == cap


def test_the_budget_is_held_on_harder_questions_than_those_of_training(policy):
    """The bound of the controller: costs pass their budgets by little, however hard it gets."""
    router = CheckedRouter(policy, 2.0, passes_at(-1))

    async def many():
        for _ in range(400):
            await router.answer(ask)

    run_to_end(many())
    spent = router.controller.spent
    assert router.controller.asked == 400  # those that get no answer count, and lower the price
    assert spent > 0.8 * 2.0 * 400
    most = router.controller.bound(
        1, high=float(policy.prices.max()), cheapest=0.0, most=float(policy.most_answers)
    )
    assert spent <= 2.0 * max(router.controller.asked, 1) + most


@pytest.mark.parametrize("kind", ["hangs", "raises", "is odd"])
def test_a_check_that_misbehaves_never_passes(policy, kind):
    async def check(answer):
        if kind == "hangs":
            await asyncio.Event().wait()
        if kind == "raises":
            raise ZeroDivisionError("own words of the check")
        return "yes"

    found = run_to_end(CheckedRouter(policy, 2.0, check, seconds=0.01).answer(ask))
    assert not found.passed
    words = {"hangs": WORTH, "raises": "ZeroDivisionError", "is odd": "str"}[kind]
    assert words in found.reason
    assert "own words" not in found.reason
    assert (found.cost == 1) == (kind != "hangs")


def test_a_check_that_says_yes_to_everything_is_paid_once(policy):
    async def check(answer):
        return True

    router = CheckedRouter(policy, 3.0, check)
    assert run_to_end(router.answer(ask)).cost == 1


def test_an_error_in_asking_ends_the_question_or_is_raised(policy):
    async def cut(runner):
        if runner.number == 1:
            raise ConnectionError("cut")
        return await ask(runner)

    found = run_to_end(CheckedRouter(policy, 4.0, passes_at(-1)).answer(cut))
    assert (found.passed, found.cost, len(found.answers)) == (False, 2, 1)
    assert "ConnectionError" in found.reason

    async def down(runner):
        raise ConnectionError("down")

    async def refused(runner):
        runner.paid = False
        raise ConnectionError("refused")

    for fails, cost in ((down, 1), (refused, 0)):
        router = CheckedRouter(policy, 4.0, passes_at(0))
        with pytest.raises(ConnectionError):
            run_to_end(router.answer(fails))
        assert router.controller.spent == router.controller.debt == cost


@pytest.mark.parametrize("where", ["asking", "checking"])
def test_who_hangs_up_pays_for_what_was_asked(policy, where):
    """What was asked before is booked, and no budget comes with a question that is cut short."""

    async def hangs(given):
        text = given.text if where == "checking" else str(given.number)
        if text == "2":
            await asyncio.Event().wait()
        return False if where == "checking" else await ask(given)

    async def hung_up():
        work = router.answer(hangs if where == "asking" else ask)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await work

    router = CheckedRouter(policy, 4.0, hangs if where == "checking" else passes_at(-1))
    assert policy.begin(policy.at_price(router.controller.price)).cap > 3
    run_to_end(hung_up())
    assert router.controller.spent == router.controller.debt == 3
    assert router.controller.asked == 0


def test_a_check_may_answer_in_numpy_and_a_policy_may_not_count_tokens(policy):
    async def check(answer):
        return np.True_

    assert run_to_end(CheckedRouter(policy, 3.0, check).answer(ask)).reason == PASSED
    tokens = CheckedStopping().fit(Passes([1, 2], attempts=4, paid=[[30, 20], [30, 20]]))
    with pytest.raises(ValueError, match="counts answers"):
        CheckedRouter(tokens, 60.0, check)
