"""The router decides as its policy does, holds its budget, and is saved as plain JSON."""

import asyncio
import json
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from random_tables import timed_answers
from virtual_time import in_virtual_time

from adalib import (
    DataError,
    PricedRace,
    PricedStopping,
    Protocol,
    Router,
    held_out,
    load,
)
from adalib.ask.collect import run_to_end
from adalib.ask.reply import Answer
from adalib.sequential.live_vote import ENDING, LONGEST, NOT_SHORT, WORTH


@pytest.fixture(scope="module")
def answers():
    return load("word-fewshot").take(range(0, 372, 4))


@pytest.fixture(scope="module")
def fitted(answers):
    return Router.fit(answers, 3, PricedStopping(("votes", "text"), repeats=1))


@pytest.fixture(scope="module")
def racing():
    sampled = timed_answers()
    policy = PricedRace(("votes",), most=6, repeats=2)
    return Router.fit(sampled, 2 * float(sampled.tokens.mean()), policy)


def replies(texts, tokens=9):
    """Return a model that gives these texts one after the other, over and over."""

    async def ask(runner):
        text = texts[runner.number % len(texts)]
        await asyncio.sleep(0)
        if text == "fail":
            raise ConnectionError("cut")
        if text == "hang":
            await asyncio.Event().wait()
        found = text.rpartition("Answer: ")[2] if "Answer: " in text else ""
        return Answer(text, found, "stop", tokens=tokens)

    return ask


def test_it_asks_as_often_as_its_policy_says(fitted, answers):
    """Playing recorded classes to a session of the same rule stops at the same answer."""
    row = next(
        i
        for i in range(answers.n)
        if len(set(answers.answers[i][:6])) > 1 and all(answers.answers[i])
    )
    texts = [f"Answer: {answer}" for answer in answers.answers[row]]
    question = answers.questions[row]
    plan = fitted.plan(question)
    n = 0
    while plan.session.goes_on:
        plan.session.add(int(answers.classes[row, n]))
        n += 1
    routed = run_to_end(fitted.answer(question, replies(texts)))
    assert len(routed.answers) == n == routed.cost
    assert routed.tokens == 9 * n
    assert routed.reason == (LONGEST if n == 40 else WORTH)
    assert routed.votes[routed.answer] == max(routed.votes.values())


def test_the_budget_is_held(answers):
    """The average of 400 questions whose answers disagree is the budget, up to the bound."""
    router = Router.fit(answers, 3, PricedStopping(("votes",), repeats=2))
    rng = np.random.default_rng(0)

    async def ask(runner):
        return Answer(text := f"Answer: {rng.integers(3)}", text[8:], "stop", tokens=9)

    async def ask_all():
        for _ in range(400):
            await router.answer("x", ask)

    run_to_end(ask_all())
    controller = router.controller
    assert controller.asked == 400
    assert controller.spent - 3 * 400 <= router.bound(1)
    assert controller.average == pytest.approx(3, abs=0.15)


@pytest.mark.parametrize(
    ("texts", "came", "reason", "asked"),
    [
        (["Answer: 7", "Answer: 8", "fail"], 2, "ConnectionError", 3),
        (["Answer: 7", "Answer: 8", "hang"], 2, "out of time", 3),
        (["fail"], 0, ConnectionError, 1),
        (["hang"], 0, TimeoutError, 1),
    ],
)
def test_a_failure_leaves_the_votes_so_far_and_what_was_asked_is_booked(
    fitted, texts, came, reason, asked
):
    router = Router(fitted.policy, fitted.embedding, 3, fitted.usual)
    vote = router.answer("x", replies(texts), seconds=0.2)
    if came:
        routed = run_to_end(vote)
        assert (len(routed.answers), routed.cancelled, routed.reason) == (came, 1, reason)
    else:
        with pytest.raises(reason):
            run_to_end(vote)
    sums = router.controller
    # No budget comes with a vote that is cut short.
    assert (sums.asked, sums.cuts, sums.opened, sums.spent, sums.debt) == (0, 1, 0, asked, asked)


@pytest.fixture(scope="module")
def in_fours(answers):
    """A router whose first checkpoint is at four answers."""
    return Router.fit(answers, 5, PricedStopping(("votes",), schedule=(4, 8), repeats=1))


@pytest.mark.parametrize("cut", [0, 3])
def test_a_first_answer_that_was_cut_takes_none_with_it(in_fours, cut):
    async def ask(runner):
        if runner.number == cut:
            return Answer("Let me think step by", "", "length", tokens=9)
        return Answer("Answer: 7", "7", "stop", tokens=9)

    before = in_fours.controller.spent
    routed = run_to_end(in_fours.answer("x", ask))
    assert (routed.answer, routed.votes["7"]) == ("7", len(routed.answers) - 1)
    assert len(routed.answers) == in_fours.controller.spent - before >= 4


def test_answers_that_came_before_the_time_was_up_decide(in_fours):
    texts = ["Answer: 7", "hang", "Answer: 7", "Answer: 8"]
    routed = run_to_end(in_fours.answer("x", replies(texts), seconds=0.2))
    assert (routed.votes, routed.cancelled, routed.cost) == ({"7": 2, "8": 1}, 1, 4)


def test_a_race_whose_first_finish_was_cut_goes_on(racing):
    async def ask(runner):
        runner.tokens = 5
        await asyncio.sleep(0.02 * runner.number)
        if runner.number == 0:
            return Answer("Let me think", "", "length", tokens=5)
        return Answer("Answer: 7", "7", "stop", tokens=5 + 10 * runner.number)

    spent = racing.controller.spent
    racing.controller.closed = -10 * racing.controller.budget  # a low price waits
    routed = run_to_end(racing.answer("x", ask))
    racing.controller.closed = 0.0
    assert routed.answer == "7"
    assert racing.controller.spent - spent == routed.cost == routed.tokens


@pytest.mark.parametrize("kind", ["fitted", "in_fours", "racing"])
def test_a_vote_that_is_to_end_closes_with_what_it_has(kind, request):
    router = request.getfixturevalue(kind)

    async def closed_after(first):
        """End a vote at once, whose first answer takes a moment and whose others never come."""
        ending = asyncio.Event()
        ending.set()

        async def ask(runner):
            runner.tokens = 3
            await asyncio.sleep(first if runner.number == 0 else 60)
            return Answer("Answer: 7", "7", "stop", tokens=9)

        return await router.answer("x", ask, ending=ending)

    spent = router.controller.spent
    routed = run_to_end(closed_after(0.1))
    assert (routed.answer, len(routed.answers)) == ("7", 1)
    assert routed.reason in (ENDING, WORTH)
    assert router.controller.spent - spent == routed.cost
    router.controller.closed = 0.0


def test_a_race_is_booked_with_its_cancelled_answers(racing):
    started, written = [], []

    async def ask(runner):
        length = 5 if runner.number == 0 else 500
        started.append(runner.number)
        runner.tokens = 0
        try:
            while runner.tokens < length:
                await asyncio.sleep(0.0005)
                runner.tokens += 1
        finally:
            written.append(runner.tokens)
        return Answer("Answer: 7", "7", "stop", tokens=length)

    racing.controller.closed = 30 * racing.controller.budget
    routed = run_to_end(racing.answer("x", ask))
    racing.controller.closed = 0.0
    assert routed.answer == "7"
    assert len(routed.answers) + routed.cancelled == len(started)
    assert routed.tokens == sum(written) == routed.cost


@pytest.mark.parametrize("debt", [-5, 0, 30])
def test_a_race_counts_right_in_every_order_of_finishes(racing, monkeypatch, debt):
    """Comparing answers takes as long as writing them; some finish meanwhile, or are cut."""
    texts = ["Answer: 11", "Answer: 22", "Answer: 11.0", "Answer: 33", "Answer: 22", "Answer: 1/2"]

    def raced(order, wait):
        """Return the outcome, and how many answers were started."""
        waits = iter(np.random.default_rng(order).choice([0.0, wait, 2 * wait], 100).tolist())
        started = []

        async def slowly(function, *arguments):
            await asyncio.sleep(next(waits))
            result = function(*arguments)
            await asyncio.sleep(next(waits))
            return result

        async def ask(runner):
            started.append(runner.number)
            place = order.index(runner.number) if runner.number in order else 4
            await asyncio.sleep(place // 2)  # two finish together
            text = texts[runner.number]
            return Answer(text, text[8:], "stop", tokens=10 + place)

        monkeypatch.setattr(asyncio, "to_thread", slowly)
        return in_virtual_time(racing.answer("x", ask)), len(started)

    orders = list(product(permutations(range(6), 4), (0.0, 0.4, 1.5)))
    for place in np.random.default_rng(7).choice(len(orders), 40, replace=False):
        order, wait = orders[place]
        racing.controller.closed = debt * racing.controller.budget
        routed, started = raced(order, wait)
        counted = Counter(Fraction(answer.answer) for answer in routed.answers)
        assert {Fraction(text): count for text, count in routed.votes.items()} == counted
        assert routed.votes[routed.answer] == max(counted.values())
        assert routed.winner.answer == routed.answer
        assert len(routed.answers) + routed.cancelled == started
    racing.controller.closed = 0.0


def test_fitting_leaves_the_given_policy_as_it_was(answers):
    policy = PricedStopping(("votes",), repeats=1)
    before = dict(vars(policy))
    router = Router.fit(answers, 3, policy)
    assert vars(policy) == before
    assert router.policy is not policy


def test_a_race_without_a_short_answer_is_closed_at_once(racing):
    essay = "There were 3 reasons in 1990. " * 20
    routed = run_to_end(racing.answer("x", replies([essay])))
    assert (routed.reason, routed.answer, routed.winner.text) == (NOT_SHORT, "", essay)


# Files


@pytest.mark.parametrize("kind", ["fitted", "racing"])
def test_a_saved_router_decides_as_before(kind, request, tmp_path):
    router = request.getfixturevalue(kind)
    router.save(tmp_path)
    again = Router.load(tmp_path)
    assert again.unit == router.unit
    assert again.usual == router.usual
    assert again.bound(8) == router.bound(8)
    for text in ("What is 3 + 4?", "", "Tim has 3 nuts. " * 50):
        for price in np.geomspace(1e-5, 1, 7):
            assert again.plan(text, price).expected == router.plan(text, price).expected
    texts = ["Answer: 1", "Answer: 2", "Answer: 1", "Answer: 3"]
    # The fixture's price has moved; this one starts as the saved one does.
    start = Router(router.policy, router.embedding, router.controller.budget, router.usual)
    found = [run_to_end(one.answer("x", replies(texts))) for one in (start, again)]
    assert found[0].votes == found[1].votes


def test_a_damaged_router_gets_one_sentence(fitted, tmp_path):
    fitted.save(tmp_path)
    file = tmp_path / "router.json"
    record = json.loads(file.read_text())
    changes = [
        {"version": 2},
        {"kind": "race"},
        {"budget": "three"},
        {"budget": -1},
        {"usual": [1]},
        {"embedding": None},
        {"policy": {"kind": "os.system", "version": 1}},
    ]
    for bad in ([], {}, *(record | change for change in changes)):
        file.write_text(json.dumps(bad))
        with pytest.raises(DataError, match=r"router\.json") as caught:
            Router.load(tmp_path)
        assert "\n" not in str(caught.value)
    file.write_text(json.dumps(record)[:-100])
    with pytest.raises(DataError, match=r"router\.json"):
        Router.load(tmp_path)
    with pytest.raises(DataError, match=r"router\.json"):
        Router.load(tmp_path / "elsewhere")


def test_what_a_router_cannot_hold(answers):
    policy = PricedStopping(("votes",), cost=lambda responses: np.ones_like(responses.values))
    with pytest.raises(ValueError, match="tokens"):
        Router.fit(answers, 3, policy)
    with pytest.raises(ValueError, match="budget"):
        Router.fit(answers, 0.5, PricedStopping(("votes",), repeats=2))


READ: list[tuple[tuple[str, ...], np.ndarray]] = []  # the questions that taught, and what was read


class NotesFeatures(PricedStopping):
    """Priced stopping that notes the features it learns from."""

    def fit(self, responses, features=None, groups=None):
        READ.append((tuple(responses.ids), np.asarray(features)))
        return super().fit(responses, features, groups)


def test_what_is_served_reads_what_was_evaluated():
    answers = load("word-fewshot").take(range(60))
    READ.clear()
    learners = {"noted": NotesFeatures(repeats=2)}
    held_out(answers, [2], (1, 4), learners=learners, noises=0, protocol=Protocol(folds=2))
    ids, evaluated = READ[0]
    Router.fit(answers.take([answers.ids.index(name) for name in ids]), 2, NotesFeatures(repeats=2))
    served_ids, served = READ[-1]
    order = [served_ids.index(name) for name in ids]
    np.testing.assert_array_equal(served[order], evaluated)
