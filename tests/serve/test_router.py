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
    extract_answer,
    held_out,
    load,
)
from adalib.ask.collect import run_to_end
from adalib.ask.reply import Answer
from adalib.serve.router import LONGEST, NOT_SHORT, WORTH, short_answer


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


def test_equal_answers_are_one_class(fitted):
    routed = run_to_end(fitted.answer("x", replies(["Answer: 0.5", "Answer: 1/2"])))
    assert len(routed.votes) == 1


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


def test_a_failure_leaves_the_votes_so_far(fitted):
    texts = ["Answer: 7", "Answer: 8", "fail"]
    before = fitted.controller.asked
    routed = run_to_end(fitted.answer("x", replies(texts)))
    assert (len(routed.answers), routed.reason) == (2, "ConnectionError")
    with pytest.raises(ConnectionError):
        run_to_end(fitted.answer("x", replies(["fail"])))
    late = run_to_end(fitted.answer("x", replies(["Answer: 7", "Answer: 8", "hang"]), seconds=0.1))
    assert (len(late.answers), late.reason) == (2, "out of time")
    with pytest.raises(TimeoutError):
        run_to_end(fitted.answer("x", replies(["hang"]), seconds=0.05))
    assert fitted.controller.asked == before  # none of them lowers the price
    assert fitted.controller.opened == 0


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

    for order, wait in product(permutations(range(6), 4), (0.0, 0.4, 1.5)):
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


@pytest.mark.parametrize(
    ("text", "found", "ballot"),
    [
        ("Answer: 7", "7", "7"),
        ("It is 7.", "7", "7"),
        ("Paris", "", "Paris"),
        ("word " * 100 + "Answer: 7", "7", "7"),
        ("In 1990 there were 3 reasons. " * 20, "3", ""),
        ("I would rather tell you a story about it, if you like.", "", ""),
    ],
)
def test_which_replies_are_short_answers(text, found, ballot):
    assert short_answer(Answer(text, found, "stop")) == ballot
    assert short_answer(Answer(text, found, "length")) == ""  # a text that was cut


@pytest.mark.parametrize("text", ["Answer:", "The answer is", "####", r"\boxed{}", "**Answer:** "])
def test_a_mark_with_nothing_after_it_is_no_answer(text):
    assert short_answer(Answer(text, extract_answer(text), "stop")) == ""


def test_cut_texts_do_not_vote(fitted):
    async def ask(runner):
        if runner.number % 2:
            return Answer("Let me think step by", "", "length", tokens=9)
        return Answer("Answer: 7", "7", "stop", tokens=9)

    routed = run_to_end(fitted.answer("x", ask))
    assert set(routed.votes) == {"7"}
    assert routed.winner.finish == "stop"


def test_a_first_answer_that_was_cut_ends_the_vote(fitted):
    async def ask(runner):
        return Answer("Let me think step by", "", "length", tokens=9)

    routed = run_to_end(fitted.answer("x", ask))
    assert (len(routed.answers), routed.reason) == (1, NOT_SHORT)


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
