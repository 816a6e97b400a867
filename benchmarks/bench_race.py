"""How long does a caller of the served race wait, compared with a single answer, on AIME?

The whole server runs in this process, on a clock that counts tokens: every answer writes one token
per tick, as long as it was when it was recorded, and a cancelled one stops. Routers are fitted on
half of the questions and half of the answers; the other halves are served, and then the questions
change places. At the tokens of 1.5, 2 and 3 answers per question the table has the waiting (in
tokens, at the median and on average, from request to reply), the tokens that the server booked,
and the accuracy; "parallel" is the vote of as many answers at once, which waits for the last one
that matters.

    python benchmarks/bench_race.py
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from math import inf
from pathlib import Path

import httpx
import numpy as np

from adalib import Router, load, same_answer
from adalib.datasets.responses import Responses
from adalib.router.asking import Asking
from adalib.router.server import Service, make_app

_TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "helpers"), str(_TESTS / "router")]
from token_server import RecordedModel  # noqa: E402
from virtual_time import in_virtual_time  # noqa: E402

SETS = ("aime-am-thinking-v1", "aime-gpt-oss-20b", "aime-phi-4-reasoning", "aime-qwen3-14b")
MULTIPLES = (1.5, 2.0, 3.0)
ROUNDS = 4  # how often every question is asked
URL = "http://127.0.0.1"


async def served(router: Router, unseen: Responses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ask every question some times; return what each waited, wrote and scored."""
    client = RecordedModel(unseen.answers, unseen.tokens)
    asking = Asking(max_tokens=int(np.max(unseen.tokens)), kind="number", deadline=inf)
    service = Service(router, client, asking)
    transport = httpx.ASGITransport(make_app(service))
    loop = asyncio.get_running_loop()
    figures = []
    async with httpx.AsyncClient(transport=transport, base_url=URL, timeout=inf) as http:
        for question in list(range(unseen.n)) * ROUNDS:
            turn = {"role": "user", "content": str(question)}
            start = loop.time()
            reply = await http.post(
                "/v1/chat/completions", json={"model": client.model, "messages": [turn]}
            )
            waited = loop.time() - start
            before = router.tally.tokens
            # A vote that was decided early still has answers under way.
            await asyncio.gather(*service.running)
            routed = reply.json()["adalib"]
            written = routed["tokens"] + router.tally.tokens - before
            right = same_answer(routed["answer"], str(unseen.golds[question]))
            figures.append((waited, written, right))
    booked = sum(written for _, written, _ in figures)
    assert booked == sum(client.written), "the server booked other tokens than the model wrote"
    return tuple(np.array(figures, dtype=float).T)


def compared(
    train: Responses, unseen: Responses, waiting_price: float
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Serve unseen questions one by one, by a single answer, by fixed votes and by the race."""
    unit = float(np.mean(train.tokens))
    options = {"signals": ("votes",), "cost": "tokens", "waiting_price": waiting_price}
    race = Router.fit(train, budget=2 * unit, policy="race", **options)
    cheapest = float(race.policy.costs[0])
    found = {}
    for answers in (1, 2, 3):
        vote = race.at_budget(max(answers * unit, cheapest))
        vote.votes_alone = True  # a fixed vote of as many answers as the budget pays for
        name = "a single answer" if answers == 1 else f"parallel at {answers}"
        found[name] = in_virtual_time(served(vote, unseen))
    for multiple in MULTIPLES:
        router = race.at_budget(multiple * unit)
        found[f"race at {multiple:g}"] = in_virtual_time(served(router, unseen))
    return found


def show(name: str, waited: np.ndarray, written: np.ndarray, right: np.ndarray) -> None:
    """Print one row."""
    waits = f"waits {np.median(waited):7,.0f} at the median, {waited.mean():7,.0f} on average"
    print(f"  {name:16} {waits}; {written.mean():8,.0f} tokens; {right.mean():.3f} right")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--waiting-price", type=float, default=0.07)
    args = parser.parse_args()
    for name in args.sets:
        teach, score = load(name).split_samples(0)
        halves = [range(0, teach.n, 2), range(1, teach.n, 2)]
        pooled: dict[str, list[tuple[np.ndarray, ...]]] = {}
        for train, unseen in (halves, halves[::-1]):
            found = compared(teach.take(train), score.take(unseen), args.waiting_price)
            for policy, figures in found.items():
                pooled.setdefault(policy, []).append(figures)
        print(f"{name}: one answer has {np.mean(teach.tokens):,.0f} tokens on average")
        for policy, parts in pooled.items():
            show(policy, *(np.concatenate(column) for column in zip(*parts, strict=True)))


if __name__ == "__main__":
    main()
