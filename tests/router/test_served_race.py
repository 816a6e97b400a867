"""The served race: what it starts, when it closes, what it cancels, and that the bill is right."""

import asyncio
import time
from dataclasses import replace
from math import inf

import httpx
import numpy as np
import pytest
from conftest import run_to_end
from test_server import ASK, serving, unread_stream, wait_until_closed
from token_server import RecordedModel, TokenServer
from virtual_time import in_virtual_time

from adalib import Router, load
from adalib.datasets.populations import beta_population
from adalib.llm.client import Client, EndpointError
from adalib.llm.local import local_model
from adalib.router.asking import Asking, SpentError
from adalib.router.purse import Prices, Purse
from adalib.router.question import OpenQuestion
from adalib.router.routed import CAP, LATE, SPENT, WORTH
from adalib.router.server import Service, make_app
from adalib.sequential.race import PricedRace
from adalib.sequential.race_rules import PlainRace

LONG = 100_000  # tokens of an answer that would never end in a test


@pytest.fixture(scope="module")
def fitted():
    answers = beta_population(40, 2, 1).sample(8)
    tokens = np.random.default_rng(0).exponential(100, (40, 8)) + 1
    return PricedRace(("votes",), most=4, repeats=2).fit(replace(answers, tokens=tokens))


def router_of(fitted, *members, budget=1e9):
    """A router whose library has these plain races alone."""
    policy = fitted.limited(fitted.most)
    policy.members = list(members)
    policy.costs = np.arange(1.0, len(members) + 1) * policy.unit
    policy.accuracies = np.linspace(0.5, 0.9, len(members))
    policy.waiting = np.ones(len(members))
    return Router(policy, None, max(budget, policy.costs[0]), "tokens")


@pytest.fixture
def first_of_three(fitted, tmp_path):
    """The folder of a race of three answers that closes at the first finish."""
    router_of(fitted, PlainRace(3, 1)).save(tmp_path / "race")
    return tmp_path / "race"


def racing(folder, upstream, **settings):
    """A server whose answers may be long, and take long on a loaded machine."""
    return serving(folder, upstream, max_tokens=LONG, patience=300, deadline=300, **settings)


def test_a_saved_race_decides_as_before(fitted, tmp_path):
    teach = replace(
        beta_population(40, 2, 1).sample(8),
        tokens=np.random.default_rng(1).exponential(100, (40, 8)) + 1,
    )
    fit = Router.fit(teach, budget=250, policy="race", cost="tokens", waiting_price=0.02)
    fit.save(tmp_path)
    again = Router.load(tmp_path)
    assert (again.name, again.unit) == ("race", "tokens")
    assert again.policy.waiting_price == 0.02
    assert again.controller.price == fit.controller.price
    for price in (0.0, fit.controller.price, 1.0):
        one = fit.plan("What is 3 + 4?", price)
        other = again.plan("What is 3 + 4?", price)
        assert (one.expected, one.stops) == (other.expected, other.stops)
        assert one.session.asks == other.session.asks


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": "samples"}, "counts tokens"),
        ({"cost": "tokens", "schedule": [1, 2]}, "no schedule"),
        ({"cost": "tokens", "policy": "priced", "waiting_price": 0.1}, "needs policy='race'"),
    ],
)
def test_options_that_contradict_a_race(options, message):
    answers = beta_population(20, 2, 1).sample(4)
    with pytest.raises(ValueError, match=message):
        Router.fit(answers, budget=100, **{"policy": "race"} | options)


def test_a_price_spends_the_budget_of_the_envelope(fitted):
    """The price of a budget buys the two races between which it lies, as far as they are worth
    it."""
    router = Router(fitted, None, float(fitted.costs[-1]) * 2, "tokens")
    dearest = router.plan("", router.least).expected
    for budget in np.linspace(fitted.costs[0], fitted.costs[-1], 7):
        price = router.price(float(budget))
        chosen = [router.plan("", price * factor).expected for factor in (1.0001, 0.9999)]
        assert chosen[0] <= budget * (1 + 1e-9)
        assert chosen[1] >= min(budget, dearest) * (1 - 1e-9)
    with pytest.raises(ValueError, match="cheapest race"):
        router.price(float(fitted.costs[0]) / 2)


def test_the_served_race_waits_as_the_fitted_one():
    """At the price of the budget it plays the races of the policy's own mix, at the lowest price
    of waiting that meets the limit; a price that the operator gives holds as it is."""
    answers = beta_population(60, 2, 1).sample(8)
    tokens = np.random.default_rng(2).exponential(100, (60, 8)) + 1
    teach = replace(answers, tokens=tokens)
    budget = 2.0 * float(tokens.mean())
    options = {"budget": budget, "policy": "race", "cost": "tokens", "signals": ("votes",)}
    alone = PricedRace(("votes",)).fit(teach)
    router = Router.fit(teach, **options)
    assert router.policy.waiting_price == alone.price_of_waiting(budget) < alone.waiting_price
    mix = alone.mix(budget)
    price = router.price(budget)
    expected = [router.plan("", price * factor).expected for factor in (1.0001, 0.9999)]
    assert expected == pytest.approx([alone.costs[mix.low], alone.costs[mix.high]])
    assert alone.waits(budget) <= alone.waiting_limit
    given = Router.fit(teach, waiting_price=0.05, **options)
    assert given.policy.waiting_price == 0.05


@pytest.mark.parametrize("per_event", [1, 3])
def test_the_first_finish_closes_the_lines_of_the_others(first_of_three, per_event):
    """The bill has what the cancelled ones had written, by their streams and the usage of the
    first."""
    answers = [("Answer: 7", 30), ("Answer: 8", LONG), ("Answer: 9", LONG)]
    with (
        TokenServer(answers, per_event=per_event) as upstream,
        racing(first_of_three, upstream, prices=Prices(1, 10)) as running,
    ):
        reply = running.post().json()
        routed = reply["adalib"]
        wait_for(lambda: len(upstream.cancelled) == 2)
        assert (routed["answer"], routed["samples"], routed["cancelled"]) == ("7", 1, 2)
        assert routed["reason"] == WORTH
        written = [upstream.written[number] for number in range(3)]
        assert 0 < routed["cancelled_tokens"] <= written[1] + written[2] + 2 * per_event
        assert max(written) < LONG
        assert routed["tokens"] == routed["cost"] == written[0] + routed["cancelled_tokens"]
        assert reply["usage"]["completion_tokens"] == routed["tokens"]
        assert routed["money"] == pytest.approx((3 * 20 + 10 * routed["tokens"]) / 1e6)
        assert running.service.router.purse.spent == pytest.approx(routed["money"])
        assert running.service.router.purse.reserved == pytest.approx(0, abs=1e-12)
        assert routed["waiting"] == written[0]
        metrics = running.http.get("/metrics").text
        assert f'adalib_tokens_total{{kind="cancelled"}} {routed["cancelled_tokens"]}.0' in metrics
        assert "adalib_cancelled_total 2.0" in metrics
        assert f"adalib_waiting_tokens_sum {written[0]}.0" in metrics


def test_an_upstream_without_usage_is_counted_by_its_stream(first_of_three):
    answers = [("Answer: 7", 30), ("Answer: 8", LONG), ("Answer: 9", LONG)]
    with (
        TokenServer(answers, usage=False) as upstream,
        racing(first_of_three, upstream) as running,
    ):
        routed = running.post().json()["adalib"]
        assert routed["tokens"] - routed["cancelled_tokens"] == upstream.written[0] == 31


def test_a_caller_who_hangs_up_ends_the_race(first_of_three):
    with (
        TokenServer([("Answer: 7", LONG)]) as upstream,
        racing(first_of_three, upstream, prices=Prices(1, 10)) as running,
    ):
        line = unread_stream(running, stream=False)
        wait_for(lambda: len(upstream.written) == 3)
        line.close()
        wait_until_closed(running.service)
        wait_for(lambda: len(upstream.cancelled) == 3)
        assert max(upstream.written.values()) < LONG
        assert running.service.router.purse.spent < 3 * LONG * 10 / 1e6
        assert running.service.router.purse.reserved == pytest.approx(0, abs=1e-12)


def wait_for(condition):
    """Wait until something has happened in another thread; fail after two minutes."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


# On a virtual clock: one token per second, so that every number is known.


def raced(router, answers, tokens, **settings):
    """Ask question 0 in virtual time; the outcome or the error, and the client."""
    client = RecordedModel([answers], [tokens])

    async def ask():
        messages = [{"role": "user", "content": "0"}]
        # At a price of its own, since the budget of a library of one race has no price to move.
        defaults = {"max_tokens": 1000, "kind": "number", "deadline": 1e6, "price": 0.0}
        asking = Asking(**defaults | settings)
        router.controller.reach = router.reach(asking)
        return await OpenQuestion(router, client, messages, asking).run("0")

    return in_virtual_time(ask()), client


def test_waiting_and_tokens_are_those_of_the_clock(fitted):
    """Three start; at the second finish (tick 40) the third has written 40 of its 100 tokens."""
    routed, client = raced(router_of(fitted, PlainRace(3, 2)), ["7", "8", "7"], [30, 100, 40])
    assert (routed.answer, routed.votes) == ("7", {"7": 2})
    assert (routed.waiting, routed.tokens, routed.cancelled_tokens) == (40, 110, 40)
    assert sum(client.written) == routed.tokens
    assert client.cancelled == routed.cancelled == 1


def test_a_second_wave_starts_where_the_first_disagree(fitted):
    """Two finish at 30 and 40 and disagree; two more start, and the race closes at the fourth
    finish."""
    race = PlainRace(2, 2, 2, 2, 2, 4)
    routed, client = raced(router_of(fitted, race), ["7", "8", "8", "9"], [30, 40, 10, 20])
    assert (routed.answer, routed.samples, routed.rounds) == ("8", 4, 2)
    assert (routed.waiting, routed.tokens, client.cancelled) == (60, 100, 0)


def test_answers_that_finish_together_are_all_counted(fitted):
    routed, client = raced(router_of(fitted, PlainRace(3, 1)), ["7", "7", "8"], [30, 30, 99])
    assert routed.votes == {"7": 2}
    assert (routed.tokens, client.cancelled) == (90, 1)


def test_cap_and_purse_start_fewer(fitted):
    """What cannot be paid is not started, and nothing at all is said to be so."""
    router = router_of(fitted, PlainRace(3, 1))
    routed, client = raced(router, ["7", "8", "9"], [30, 40, 50], cap=2000)
    assert (routed.samples, routed.cancelled, len(client.written)) == (1, 1, 2)
    prices = Prices(0, 1e6)  # a dollar per token
    router.purse = Purse(1500.0)
    routed, client = raced(router, ["7", "8", "9"], [30, 40, 50], prices=prices)
    assert (routed.samples, routed.cancelled, router.purse.spent) == (1, 0, 30.0)
    router.purse = Purse(500.0)
    with pytest.raises(SpentError, match=SPENT):
        raced(router, ["7"], [30], prices=prices)
    with pytest.raises(EndpointError, match=CAP):
        raced(router, ["7"], [30], cap=500)


def test_the_deadline_ends_a_race_with_what_there_is(fitted):
    """Two of three finish in time; the third is cancelled with what it had written."""
    router = router_of(fitted, PlainRace(3, 3))
    routed, client = raced(router, ["7", "8", "7"], [30, 900, 40], deadline=100)
    assert (routed.reason, routed.answer, routed.samples) == (LATE, "7", 2)
    assert (client.cancelled, routed.cancelled_tokens) == (1, 100)
    with pytest.raises(EndpointError, match=LATE):
        raced(router, ["7"], [500], deadline=100)


def test_a_fixed_vote_replies_before_the_last_answer(fitted):
    """Three of four agree at tick 30: the reply is there, and the fourth is booked when it
    comes."""
    router = router_of(fitted, PlainRace(1, 1), budget=4 * fitted.unit)
    router.votes_alone = True
    client = RecordedModel([["7", "7", "7", "8"]], [[10, 20, 30, 900]])

    async def served():
        service = Service(router, client, Asking(kind="number", max_tokens=1000, deadline=1e6))
        transport = httpx.ASGITransport(make_app(service))
        loop = asyncio.get_running_loop()
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            body = ASK | {"messages": [{"role": "user", "content": "0"}]}
            reply = await http.post("/v1/chat/completions", json=body, timeout=1e6)
            at_reply = (loop.time(), router.tally.samples)
            await asyncio.gather(*service.running)
        return reply.json()["adalib"], at_reply, (loop.time(), router.tally.samples)

    routed, at_reply, at_end = in_virtual_time(served())
    assert (routed["answer"], routed["samples"], routed["waiting"]) == ("7", 3, 30)
    assert at_reply == (30.0, 3)
    assert at_end == (900.0, 4)
    assert router.controller.spent == 960


def test_half_of_all_questions_wait_less_than_for_one_answer():
    """The bar, at the tokens of two answers: every question is served by a race that never saw it.

    On the recorded lengths, in virtual time, where one token is one tick.
    """
    teach, score = load("aime-qwen3-14b").split_samples(0)
    unit = float(np.mean(teach.tokens))
    halves = [range(0, teach.n, 2), range(1, teach.n, 2)]
    found = []
    for train, unseen in (halves, halves[::-1]):
        test = score.take(unseen)
        options = {"signals": ("votes",), "cost": "tokens"}
        router = Router.fit(teach.take(train), budget=2 * unit, policy="race", **options)
        client = RecordedModel(test.answers, test.tokens)
        found += in_virtual_time(served(router, client, test.n))
        assert sum(client.written) == router.tally.tokens
    assert np.mean([one.tokens for one in found]) <= 2.1 * unit
    assert np.median([one.waiting for one in found]) < np.median(score.tokens)


async def served(router, client, questions):
    """Ask every question four times, and return the outcomes."""
    asking = Asking(max_tokens=100_000, kind="number", deadline=inf)
    router.controller.reach = router.reach(asking)
    found = []
    for question in list(range(questions)) * 4:
        messages = [{"role": "user", "content": str(question)}]
        found.append(await OpenQuestion(router, client, messages, asking).run(""))
    return found


# A real model.


@pytest.fixture(scope="module")
def local():
    with local_model(parallel=3, context=1024) as running:
        yield running


def test_a_real_model_stops_writing_when_the_line_closes(local):
    """Three streams are closed after some tokens; the model's slots fall idle, far from their
    limit."""
    most = 900

    async def cancelled_stream(client):
        arrived = []
        enough = asyncio.Event()

        def arrive(tokens):
            arrived.append(tokens)
            if tokens >= 5:
                enough.set()

        messages = [{"role": "user", "content": "Tell me a very long story about the sea."}]
        asked = client.sample(
            messages,
            temperature=1.0,
            max_tokens=most,
            arriving=arrive,
            extra={"ignore_eos": True},
        )
        task = asyncio.create_task(asked)
        await enough.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        return arrived[-1]

    async def all_of_them():
        async with Client(local.base_url, local.model, timeout=300) as client:
            return await asyncio.gather(*(cancelled_stream(client) for _ in range(3)))

    arrived = run_to_end(all_of_them())
    slots = idle_slots(local.base_url.removesuffix("/v1"))
    for tokens in arrived:
        assert 5 <= tokens < most
    assert len(slots) == 3


def idle_slots(url):
    """The slots of llama.cpp's server, as soon as none of them writes."""
    deadline = time.monotonic() + 120
    while True:
        slots = httpx.get(f"{url}/slots", trust_env=False, timeout=60).json()
        if not any(slot["is_processing"] for slot in slots):
            return slots
        assert time.monotonic() < deadline, "the model still writes"
        time.sleep(0.05)
