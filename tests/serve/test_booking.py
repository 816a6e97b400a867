"""What a foreign upstream was asked is what is booked, however requests end: 2,000 of them."""

import asyncio
import json
from collections import Counter
from contextlib import asynccontextmanager, suppress

import httpx
import psutil
import pytest
from conftest import run_to_end
from random_tables import timed_answers
from test_server import commanded
from upstream import listening

from adalib import PricedRace, PricedStopping, Router, load
from adalib.serve.server import AT_ONCE, Server

TEXT = "Answer: 7"
# How a request ends, said by the question in it: what each of its answers is in turn.
ENDINGS = {
    "well": [TEXT, "Answer: 8"],
    "a cut first": ["cut", TEXT, "Answer: 8"],
    "an essay": ["In 1990 there were 3 reasons. " * 20],
    "a refusal": ["refusal"],
    "a later refusal": [TEXT, "refusal"],
    "a later filter": ["Answer: 8", "filter", TEXT],
    "a later call": [TEXT, "call"],
    "a page": [TEXT, "page"],
    "a break": ["Answer: 8", TEXT, "break"],
    "too long": [TEXT, "long", TEXT, TEXT, TEXT, TEXT, TEXT],
    "busy": ["error"],
    "busy later": ["Answer: 8", TEXT, "error", TEXT],
    "hung up": ["never"],
    "hung up later": [TEXT, "Answer: 8", "never"],
    "out of time": [TEXT, "never"],
    "late": ["never"],
}


class Foreign:
    """An endpoint on a plain socket, which counts what it was asked and did not refuse."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds
        self.asked = Counter()  # by ending
        self.turns = Counter()
        self.tokens = Counter()

    @asynccontextmanager
    async def open(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        finally:
            server.close()

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await self.reply(json.loads(await reader.readexactly(length)), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def reply(self, fields, writer):
        """Answer as the question says; a race's answers say how many tokens they have."""
        ending, _, number = fields["messages"][-1]["content"].partition("#")
        turns = ENDINGS[ending]
        kind = turns[self.turns[ending, number] % len(turns)]
        self.turns[ending, number] += 1
        if kind == "error":
            return send(writer, {"error": {"message": "busy"}}, status=b"429 Busy")
        self.asked[ending, number] += 1
        if fields.get("stream"):
            return await self.stream(kind, ending, writer)
        await asyncio.sleep(600 if kind == "never" else self.seconds)
        if kind == "break":
            return writer.close()
        if kind == "page":
            return send(writer, b"<html>", kind=b"text/html")
        text = "x" * 90_000 if kind == "long" else "So 3 and" if kind == "cut" else kind
        finish = {"cut": "length", "filter": "content_filter", "call": "tool_calls"}
        choice = {"message": {"content": text}, "finish_reason": finish.get(kind, "stop")}
        if kind == "refusal":
            choice["message"] = {"content": None, "refusal": "No."}
        return send(writer, {"choices": [choice], "usage": {"completion_tokens": 5}})

    async def stream(self, kind, ending, writer):
        """Write all four tokens at once; then end, a while later, or never."""
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        self.tokens[ending] += 4
        for text in (kind, "", "", ""):
            refusal = "No." if kind == "refusal" else None
            event(writer, {"content": text, "refusal": refusal}, None)
        await asyncio.sleep(600 if kind == "never" else 0.5)
        event(writer, {}, "length" if kind == "cut" else "stop")
        writer.write(b"data: [DONE]\n\n")
        writer.close()


def event(writer, delta, finish):
    """Write one event of a stream."""
    piece = {"choices": [{"delta": delta, "finish_reason": finish}]}
    writer.write(b"data: %s\n\n" % json.dumps(piece).encode())


def send(writer, body, *, status=b"200 OK", kind=b"application/json"):
    """Write one reply in one piece."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = b"HTTP/1.1 %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
    writer.write(head % (status, kind, len(body)) + body)


async def asked(base, endings, at_once):
    """Ask for every ending; return the replies, None where the caller has hung up."""
    gate = asyncio.Semaphore(at_once)

    async def ask(number, ending):
        turn = {"role": "user", "content": f"{ending}#{number}"}
        # From at once to long after the first answers.
        limit = (number % 40) / 50 if ending.startswith("hung up") else 60
        limit = 4 if ending == "late" else limit
        body = {"model": "m", "messages": [turn]}
        async with gate:
            with suppress(httpx.TimeoutException):
                return await asking.post(f"{base}/chat/completions", json=body, timeout=limit)

    # A connection that the server may close at any moment is not used again.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(limits=limits) as asking:
        return await asyncio.gather(*(ask(*each) for each in enumerate(endings)))


async def played(router, endings, at_once, deadline):
    """Ask through a server; return its upstream and the replies once nothing is open."""
    foreign = Foreign()
    async with foreign.open() as url:
        server = Server(router, url, "m", deadline=deadline)
        with listening(server.app(), timeout_graceful_shutdown=5) as base:
            replies = await asked(base, endings, at_once)
            while router.controller.opened:
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)  # what was sent last is read
    return foreign, replies


@pytest.mark.parametrize("requests", [140, pytest.param(1860, marks=pytest.mark.nightly)])
def test_what_was_asked_is_booked(monkeypatch, requests):
    monkeypatch.setattr("adalib.ask.endpoint.LARGEST_REPLY", 50_000)
    policy = PricedStopping(("votes",), schedule=(2, 4, 8, 16), repeats=1)
    router = Router.fit(load("word-fewshot").take(range(0, 372, 6)), 5, policy)
    quick = [ending for ending in ENDINGS if ending not in ("out of time", "late")]
    endings = [quick[k % len(quick)] for k in range(requests)]
    foreign, replies = run_to_end(played(router, endings, 48, 300.0))
    controller = router.controller
    assert controller.spent == foreign.asked.total()
    # No connection stays open but those that are kept for the next vote, of which both ends count.
    assert len(psutil.Process().net_connections("tcp")) < 2 * AT_ONCE + 32
    assert controller.asked + controller.cuts == len(+foreign.asked)
    figures = Counter()
    for ending, reply in zip(endings, replies, strict=True):
        if reply is not None and "adalib" in (said := reply.json()):
            figures[ending] += said["adalib"]["answers"] + said["adalib"]["cancelled"]
    for ending in set(ENDINGS) - {
        "a refusal",
        "busy",
        "hung up",
        "hung up later",
        "out of time",
        "late",
    }:
        of_ending = [n for (name, _), n in foreign.asked.items() if name == ending]
        assert figures[ending] == sum(of_ending) > 0, ending
    late, replies = run_to_end(played(router, ["out of time"] * 16, 16, 3.0))
    assert [reply.json()["adalib"]["why"] for reply in replies] == ["out of time"] * 16
    assert controller.spent == foreign.asked.total() + late.asked.total()
    most = router.bound(64) + controller.cuts * controller.budget
    assert controller.debt <= most


def test_what_a_race_was_asked_is_booked():
    """In tokens; its callers hang up after what was written has been read."""
    sampled = timed_answers()
    policy = PricedRace(("votes",), most=6, repeats=2, waiting_limit=0.0)
    router = Router.fit(sampled, 3 * float(sampled.tokens.mean()), policy)
    endings = ["well", "a cut first", "a refusal", "a later refusal", "busy"] * 8 + ["late"] * 8
    foreign, _ = run_to_end(played(router, endings, 8, 20.0))
    assert router.controller.spent == foreign.tokens.total() > 0


@pytest.mark.parametrize(("seconds", "status"), [(3.0, 200), (60.0, 503)])
def test_a_deploy_throws_no_vote_away(tmp_path, seconds, status):
    """Twelve votes are open when the server is told to end, and have no answer yet."""
    policy = PricedStopping(("votes",), schedule=(2, 4, 8, 16), repeats=1)
    policy = Router.fit(load("word-fewshot").take(range(0, 372, 6)), 5, policy).policy
    foreign = Foreign(seconds)

    async def deployed():
        async with foreign.open() as url:
            with commanded(policy, tmp_path, url) as (process, base):
                asking = asyncio.create_task(asked(base, ["well"] * 12, 12))
                while len(foreign.asked) < 12:
                    await asyncio.sleep(0.01)
                process.terminate()
                replies = await asking
                await asyncio.to_thread(process.wait, 60)
        return replies

    assert [reply.status_code for reply in run_to_end(deployed())] == [status] * 12
    debt = json.loads((tmp_path / "debt.json").read_text())
    assert debt["spent"] == foreign.asked.total() >= 12
