"""How long does a caller of the race wait, compared with a single answer, on AIME?

The router runs on a clock that counts tokens: every answer writes one token per tick, as long as it
was when it was recorded, and a cancelled one stops. Routers are fitted on half of the questions and
half of the answers; the other halves are asked, and then the questions change places. At the tokens
of 1.5, 2 and 3 answers per question the table has the waiting (in tokens, at the median and on
average), the tokens that the router booked, and the accuracy.

    python benchmarks/bench_race.py
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from adalib import PricedRace, Router, load, same_answer
from adalib.ask.reply import Answer
from adalib.datasets.responses import Responses

_TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "helpers")]
from virtual_time import in_virtual_time  # noqa: E402

SETS = ("aime-am-thinking-v1", "aime-gpt-oss-20b", "aime-phi-4-reasoning", "aime-qwen3-14b")
MULTIPLES = (1.5, 2.0, 3.0)
ROUNDS = 4  # how often every question is asked


class Recorded:
    """Recorded answers, one token per second of the loop's clock."""

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self.asked: Counter[int] = Counter()
        self.written = 0

    def asker(self, question: int):
        """Return a function that gives the next answers to one question."""

        async def ask(runner) -> Answer:
            place = self.asked[question] % self.responses.samples
            self.asked[question] += 1
            answer = self.responses.answers[question][place]
            loop = asyncio.get_running_loop()
            start = loop.time()
            try:
                await asyncio.sleep(int(self.responses.tokens[question][place]))
            finally:
                runner.tokens = round(loop.time() - start)
                self.written += runner.tokens
            return Answer(f"Answer: {answer}", answer, "stop", tokens=runner.tokens)

        return ask


async def raced(router: Router, unseen: Responses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ask every question some times; return what each waited, wrote and scored."""
    model = Recorded(unseen)
    loop = asyncio.get_running_loop()
    figures = []
    for question in list(range(unseen.n)) * ROUNDS:
        start = loop.time()
        routed = await router.answer(unseen.questions[question], model.asker(question))
        right = same_answer(routed.answer, str(unseen.golds[question]))
        figures.append((loop.time() - start, routed.tokens, right))
    booked = sum(tokens for _, tokens, _ in figures)
    assert booked == model.written, "the router booked other tokens than the model wrote"
    return tuple(np.array(figures, dtype=float).T)


def show(name: str, waited: np.ndarray, written: np.ndarray, right: np.ndarray) -> None:
    """Print one row."""
    waits = f"waits {np.median(waited):7,.0f} at the median, {waited.mean():7,.0f} on average"
    print(f"  {name:16} {waits}; {written.mean():8,.0f} tokens; {right.mean():.3f} right")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    args = parser.parse_args()
    for name in args.sets:
        teach, score = load(name).split_samples(0)
        halves = [range(0, teach.n, 2), range(1, teach.n, 2)]
        unit = float(np.mean(teach.tokens))
        print(f"{name}: one answer has {unit:,.0f} tokens on average")
        for multiple in MULTIPLES:
            parts = []
            for train, unseen in (halves, halves[::-1]):
                router = Router.fit(teach.take(train), multiple * unit, PricedRace(("votes",)))
                parts.append(in_virtual_time(raced(router, score.take(unseen))))
            show(f"race at {multiple:g}", *map(np.concatenate, zip(*parts, strict=True)))


if __name__ == "__main__":
    main()
