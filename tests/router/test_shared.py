"""One budget over several servers: summed exactly, held on average, and nothing lost with a server
that dies."""

# ruff: noqa: F811 - folder is a fixture of another file
import asyncio
import itertools
import logging
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from math import inf

import httpx
import pytest
from conftest import on_a_loop
from fault_server import FaultServer
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis
from redis_server import redis_proxy, redis_server
from test_server import ASK, folder  # noqa: F401

from adalib import Router
from adalib.router import shared
from adalib.router.controller import BudgetController
from adalib.router.purse import Purse
from adalib.router.shared import Share, ShareError


@pytest.fixture(scope="module")
def redis():
    with redis_server() as server:
        yield server


@pytest.fixture
def proxy(redis):
    """A way to Redis that loses, delays or replaces replies."""
    with redis_proxy(redis) as between:
        yield between


names = itertools.count()


def paying(folder, total):
    router = Router.load(folder)
    router.purse = Purse(total)
    return router


@asynccontextmanager
async def shares(folder, redis, count, total=inf):
    """Some servers' shares of one budget that no other test has."""
    model = f"model {next(names)}"
    made = [Share(paying(folder, total), redis.url, model) for _ in range(count)]
    for share in made:
        share.model = model
    yield made
    for share in made:
        await share.close()


# What a store with other numbers in it might reply to a step.
NOT_SUMS = (b"1", b"nan", b"0", b"0", b"0", b"0")


def ask(share, expected, cost):
    share.controller.open(expected)
    share.controller.close(expected, cost)


async def until(step, condition):
    """Take steps until a condition holds, for at most a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition does not hold after a minute"
        await step()


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 40)), min_size=1, max_size=40),
    st.randoms(),
    st.booleans(),
)
@on_a_loop
async def test_together_they_are_one_controller(folder, redis, costs, rng, dear):
    costs = costs if dear else [(number, min(cost, 4.0)) for number, cost in costs[:19]]
    async with shares(folder, redis, 3) as three:
        first = three[0].controller
        alone = BudgetController(first.budget, first.first_price, reach=first.reach)
        for number, cost in costs:
            alone.open(3.0)
            alone.close(3.0, cost)
            ask(three[number], 3.0, cost)
            # Where floor and ceiling are out of reach, it may be told later, with what comes after.
            if dear or rng.random() < 0.5:
                await three[number].synchronise()
        for share in three + three:  # twice: the first must hear of the last
            await share.synchronise()
    for share in three:
        assert share.controller.asked == len(costs)
        assert share.controller.spent == pytest.approx(alone.spent, abs=1e-6)
        assert share.controller.price == pytest.approx(alone.price, rel=1e-6)
        assert share.controller.let_go == pytest.approx(alone.let_go, abs=1e-6)


@on_a_loop
async def test_what_others_have_open_counts_in_the_ceiling(folder, redis):
    async with shares(folder, redis, 2) as (one, two):
        for share, count in ((one, 3), (two, 5)):
            for _ in range(count):
                share.controller.open(3.0)
        for share in (one, two, one):
            await share.synchronise()
    assert one.controller.at_once == two.controller.at_once == 8


@on_a_loop
async def test_an_unequal_load_is_held_on_average(folder, redis):
    """One server gets the hard questions, the others the easy ones: a question costs more where the
    price is low."""
    rng = random.Random(0)
    async with shares(folder, redis, 3) as three:
        for _ in range(1000):
            share = rng.choices(three, weights=(8, 1, 1))[0]
            hard = share is three[0]
            # The dearer compute is, the fewer answers are bought: what a policy does.
            cost = max(1.0, round((16 if hard else 4) * (0.01 / share.controller.price) ** 0.5))
            ask(share, 3.0, cost)
            await share.flush() if share.reached else await share.synchronise()
        for share in three:
            await share.synchronise()
    for share in three:
        assert share.controller.asked == 1000
        assert share.controller.average == pytest.approx(three[0].controller.budget, rel=0.02)


@on_a_loop
async def test_what_a_dead_server_had_open_lapses(folder, redis, monkeypatch):
    monkeypatch.setattr(shared, "_LIFE", 300)
    async with shares(folder, redis, 2) as (dying, other):
        ask(dying, 3.0, 7.0)
        for _ in range(20):
            dying.controller.open(9.0)
            dying.controller.hold(2.0)
        await dying.synchronise()
        await other.synchronise()
        with_open = other.controller.debt
        assert with_open == pytest.approx(4.0 + 20 * 6.0)
        await until(other.synchronise, lambda: other.controller.debt != with_open)
    # What it closed stays, and what its open questions had cost is owed.
    assert other.controller.debt == pytest.approx(4.0 + 40.0)
    assert other.controller.spent == 47.0
    assert other.controller.at_once == 20


@on_a_loop
async def test_a_step_that_was_sent_twice_counts_once(folder, proxy):
    async with shares(folder, proxy, 2) as (one, other):
        await one.synchronise()
        ask(one, 3.0, 5.0)
        proxy.fault = "lose"
        await one.synchronise()  # Redis counts the step, and its reply is lost
        assert not one.reached
        assert one.controller.spent == 5.0  # it goes on by itself
        ask(one, 3.0, 2.0)
        await one.synchronise()
        await one.synchronise()
        await other.synchronise()
    for share in (one, other):
        assert (share.controller.asked, share.controller.spent) == (2, 7.0)


@on_a_loop
async def test_without_redis_each_holds_its_own(folder):
    with redis_server() as server:
        async with shares(folder, server, 2) as (one, two):
            ask(one, 3.0, 6.0)
            await one.synchronise()
            server.stop()
            first = one.controller.price
            ask(one, 3.0, 9.0)
            await one.flush()  # does not hang
            await one.synchronise()
            assert not one.reached
            assert one.controller.price > first  # still holding
            server.start()  # empty: what it knew is gone, what was not confirmed is not
            await one.synchronise()
            await two.synchronise()
            assert two.controller.spent == 9.0


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.floats(0.001, 0.2), st.floats(0, 1)),
        min_size=1,
        max_size=40,
    )
)
@on_a_loop
async def test_together_they_never_pass_a_total(folder, redis, answers):
    """Three servers put aside, pay and tell in any order; what all know is what all paid."""
    async with shares(folder, redis, 3, total=0.5) as three:
        paid, open_now = 0.0, []
        for number, most, share in answers:
            purse = three[number].purse
            if not purse.reserve(most):
                await purse.more(most)
                if not purse.reserve(most):
                    continue
            open_now.append((purse, most))
            assert paid + sum(most for _, most in open_now) <= 0.5 + 1e-9
            if share < 0.7:
                purse, most = open_now.pop(0)
                purse.settle(most, most * share)
                paid += most * share
            if share > 0.5:
                await three[number].synchronise()
        for purse, most in open_now:
            purse.settle(most, 0.0)
        for one in three + three:
            await one.synchronise()
        assert [one.purse.spent for one in three] == pytest.approx([paid] * 3, abs=1e-9)
        again = Share(paying(folder, 0.5), redis.url, three[0].model)  # all were restarted
        three.append(again)  # to be closed with the others
        await again.synchronise()
        assert again.purse.spent == pytest.approx(paid, abs=1e-9)


@on_a_loop
async def test_the_loan_of_a_dead_server_comes_back(folder, redis, monkeypatch):
    """But not what it had put aside, which counts as spent."""
    monkeypatch.setattr(shared, "_LEASE", 300)
    async with shares(folder, redis, 2, total=1.0) as (dying, other):
        await dying.purse.more(0.9)
        assert dying.purse.reserve(0.3)
        await dying.synchronise()
        await until(lambda: other.purse.more(0.69), lambda: other.purse.reserve(0.69))
        await other.synchronise()
        assert other.purse.spent == pytest.approx(0.3)
        assert not dying.purse.reserve(0.01)  # nor may it go on with a loan that has expired


@pytest.mark.parametrize("value", ["nan", "-1", "inf", "1e999", "x", ""])
@on_a_loop
async def test_a_spoiled_store_is_healed(folder, redis, value):
    store = Redis.from_url(redis.url)
    async with shares(folder, redis, 2, total=1.0) as (one, two):
        ask(one, 3.0, 5.0)
        one.purse.settle(0.0, 0.25)
        await one.synchronise()
        for key in (one.sums_key, f"{one.sums_key}:servers", one.purse_key):
            for field in store.hkeys(key):
                store.hset(key, field, value)
        await one.synchronise()
        await two.synchronise()
        assert (one.reached, two.reached) == (True, True)
        assert (two.controller.asked, two.controller.spent, two.purse.spent) == (1, 5.0, 0.25)
        assert (
            two.controller.debt == one.controller.debt == 2.0 or value == "-1"
        )  # a debt may be below 0
        store.set(one.sums_key, "no hash")
        await one.synchronise()
        assert one.reached


@on_a_loop
async def test_a_store_that_talks_nonsense_counts_as_silent(folder, proxy, caplog, monkeypatch):
    # The log of a server that ran before may be silenced.
    monkeypatch.setattr(shared, "_LOG", logging.getLogger("test.shared"))
    words = b"*6\r\n" + b"$1\r\nx\r\n" * 6
    not_a_number = b"*6\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(n), n) for n in NOT_SUMS)
    async with shares(folder, proxy, 1) as (share,):
        await share.synchronise()
        for nonsense in (b"*0\r\n", words, not_a_number, b"$-1\r\n", b":7\r\n"):
            proxy.fault = nonsense
            await share.synchronise()
            assert not share.reached
        proxy.fault = None
        await share.synchronise()
        assert share.reached
    assert [line.split(" (")[0] for line in caplog.messages] == [
        "Redis does not answer",
        "Redis answers again",
    ]


def test_no_redis_at_the_start_is_one_line(folder, refused, monkeypatch):
    with pytest.raises(ShareError, match="does not answer"):
        Share(Router.load(folder), "redis://127.0.0.1:1/0", "m")
    command = ["serve", str(folder), "--upstream", "http://127.0.0.1:9/v1", "--model", "m"]
    for url, message in (
        ("redis://127.0.0.1:1/0", "does not answer"),
        ("http://127.0.0.1:1", "redis://"),
        ("redis://:s3cret@127.0.0.1:1/0", "ADALIB_REDIS"),
    ):
        assert "s3cret" not in refused([*command, "--redis", url], message)
    monkeypatch.setenv("ADALIB_REDIS", "redis://:s3cret@127.0.0.1:1/0")
    assert "s3cret" not in refused(command, "does not answer")


def test_one_of_three_servers_is_killed_under_load(folder, redis):
    """Three processes; what clients were told is in the sum that the two others hold."""
    with FaultServer(latency=0.01) as upstream:
        command = [
            sys.executable,
            "-m",
            "adalib",
            "serve",
            str(folder),
            "--upstream",
            upstream.url,
            "--model",
            "m",
        ]
        command += ["--port", "0", "--redis", redis.url]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        try:
            urls = [
                process.stdout.readline().split(" listens at ")[1].split(",")[0]
                for process in running
            ]
            costs, lost = _load(urls, running[0])
            sums = [_live(url, at_least=sum(costs)) for url in urls[1:]]
        finally:
            for process in running:
                process.kill()
                process.communicate()
    assert lost  # it was in the middle of something
    assert all(live["shared"] for live in sums)
    asked, spent = len(costs), sum(costs)
    for live in sums:
        # Everything that a client was told is counted; of what was lost on the way, at most that.
        assert asked <= live["asked"] <= asked + len(lost)
        assert live["average"] * live["asked"] >= spent - 1e-6


def _live(url, at_least):
    """A server's figures, as soon as it has heard of so much spent: it looks at least once a
    second."""
    deadline = time.monotonic() + 60
    while True:
        live = httpx.get(f"{url.removesuffix('/v1')}/live.json", trust_env=False).json()
        if (live["average"] or 0.0) * live[
            "asked"
        ] >= at_least - 1e-6 or time.monotonic() > deadline:
            return live
        time.sleep(0.1)


def _load(urls, victim):
    """Ask all servers from twelve threads, kill one in the middle; costs that clients were told,
    and errors."""
    costs, lost, turn = [], [], itertools.count()

    def worker():
        for _ in range(10):
            number = next(turn)
            if number == 40:
                os.kill(victim.pid, signal.SIGKILL)
            try:
                reply = client.post(f"{urls[number % 3]}/chat/completions", json=ASK)
                one = reply.json()["adalib"]
                if one["counted"]:
                    costs.append(one["cost"])
            except httpx.TransportError as error:
                lost.append(error)

    with httpx.Client(timeout=60, trust_env=False) as client, ThreadPoolExecutor(12) as threads:
        for _ in range(12):
            threads.submit(worker)
    return costs, lost


@on_a_loop
async def test_a_slow_redis_lends_to_all_at_once(folder, proxy):
    """Sixty-four votes that want money while Redis takes its time wait for two loans, not for
    64."""
    async with shares(folder, proxy, 1, total=100.0) as (share,):
        await share.synchronise()
        proxy.scripts, proxy.delay = 0, 0.05
        await asyncio.gather(*(share.purse.more(1.0) for _ in range(64)))
        assert 1 <= proxy.scripts <= 2
        assert share.purse.reserve(64.0)


@on_a_loop
async def test_a_slow_redis_takes_all_votes_along(folder, proxy):
    """Sixty-four votes that end while Redis takes its time wait for two steps, not for 64."""
    async with shares(folder, proxy, 1) as (share,):
        await share.synchronise()
        proxy.scripts, proxy.delay = 0, 0.05

        async def vote():
            ask(share, 3.0, 4.0)
            await share.flush()

        await asyncio.gather(*(vote() for _ in range(64)))
        assert 1 <= proxy.scripts <= 2
        assert share.controller.stored.asked == 64


@on_a_loop
async def test_a_redis_that_hangs_holds_no_vote(folder, proxy, monkeypatch):
    """The first vote waits until the step is given up, and the others do not wait at all."""
    monkeypatch.setattr(shared, "_PATIENCE", 0.1)
    async with shares(folder, proxy, 1) as (share,):
        await share.synchronise()
        proxy.fault = "hang"
        ask(share, 3.0, 4.0)
        await share.flush()
        tried = proxy.scripts
        for _ in range(9):
            ask(share, 3.0, 4.0)
            await share.flush()
        assert proxy.scripts == tried
        assert not share.reached
        assert share.controller.asked == 10
