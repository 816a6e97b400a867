"""How far above its budget does a price that follows spending end on new families?

The result is data/recorded/following.jsonl.

The order in which questions arrive matters, so three orders are tried, each with several seeds: the
questions of the new families shuffled and visited about 13 times each, a thousand visits in all;
the same visits with one family after the other; and every question once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial

import numpy as np
from record_stopping import Followed
from recording import main

import adalib
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.learners import Questions
from adalib.sequential.priced import LEAST
from adalib.serve.budget import BudgetController

SETTINGS = ("word-fewshot", "word-hot", "word-zeroshot")
TARGETS = (1.5, 2, 3, 4, 6, 8)
SEEDS = range(5)
FIRST = 250  # visits after which the miss is noted too


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a setting, and a function that computes its rows."""
    for name in SETTINGS:
        yield name, partial(following_rows, adalib.load(name), TARGETS)


def following_rows(responses: Responses, targets: Sequence[float]) -> list[dict]:
    """Return one row per order and target: the overspend on new families, as a budget share."""
    learner = Orders()
    protocol = Protocol(groups=responses.extras["family"])
    held_out(responses, targets, learners={"follows": learner}, noises=0, protocol=protocol)
    rows = []
    for target in targets:
        for order in ("shuffled", "blocks", "once"):
            ends, firsts, asked = np.transpose(learner.misses[order, target])
            rows.append(
                {
                    "policy": order,
                    "target": target,
                    "questions": [int(asked.min()), int(asked.max())],
                    "most": round(float(ends.max()), 5),
                    "median": round(float(np.median(np.abs(ends))), 5),
                    "most_after_250": round(float(firsts.max()), 5),
                    "runs": len(ends),
                }
            )
    return rows


class Orders(Followed):
    """Priced stopping whose price follows spending, while new families arrive in several orders."""

    def __init__(self) -> None:
        super().__init__()
        self.misses: dict[tuple[str, float], list[tuple[float, float, float]]] = {}
        self.families = np.array([])

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train``, and meet the questions of ``test`` in every order."""
        policy = copy(self)  # folds are learned side by side, and share only the list of misses
        policy.families = np.asarray(test.groups)
        return Followed.trial(policy, train, test, targets)

    def _run(
        self, target: float, stay: float, paid: np.ndarray, worth: np.ndarray, n: int
    ) -> tuple:
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            for order, visits in self._visits(n, rng).items():
                costs = self._follow(target, paid, visits, rng)
                miss = costs.mean() / target - 1, costs[:FIRST].mean() / target - 1, float(n)
                self.misses.setdefault((order, target), []).append(miss)
        return super()._run(target, stay, paid, worth, n)

    def _visits(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Which question comes when, by the name of the order."""
        often = np.repeat(np.arange(n), 1000 // n + 1)
        blocks = [
            rng.permutation(often[self.families[often] == family])
            for family in rng.permutation(np.unique(self.families))
        ]
        return {
            "shuffled": rng.permutation(often),
            "blocks": np.concatenate(blocks),
            "once": rng.permutation(n),
        }

    def _follow(
        self, target: float, paid: np.ndarray, visits: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the cost of every visit while the price follows, answers in random order."""
        orders = len(paid) // self.families.size
        controller = BudgetController(target, max(self.price(target), 1e-6))
        controller.low = LEAST / self.unit  # as the router does: what is worth less is not asked
        costs = np.empty(visits.size)
        for i, stream in enumerate(visits * orders + rng.integers(orders, size=visits.size)):
            number = self.at_price(controller.price)
            controller.open(self.costs[number])
            controller.close(self.costs[number], paid[stream, number])
            costs[i] = paid[stream, number]
        return costs


if __name__ == "__main__":
    main(following=parts())
