"""Compute the expensive tables of the chapter "Several models, several efforts".

The result is data/recorded/minds.jsonl.

Run ``python data/record_minds.py`` (about five minutes on two cores; what is there already is
kept, so that it can be stopped and started again; ``--anew`` begins anew). Each of three models is
held out on the questions that fit it and two of them on GSM8K and MATH, at an average of two
answers; the menu of the two larger ones under two price lists; and public reasoning models on
three benchmarks, paid by the answer and by the token. The chapter and a test compute some of the
cells again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
from escalation import PricedEscalation

import adalib
from adabook.recorded import GO_UP, LADDER, REPEATS, STOPS, figures, model_cells, record
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.trials import STOPPING, Learner, Planner, Questions
from adalib.sequential.peers import PEERS, TunedRules
from adalib.sequential.policy import PricedStopping
from adalib.sequential.streams import Money

_PAID = ("target", "cost", "mix_cost")

MODELS = (
    "word-fewshot",
    "story-qwen05",
    "story-qwen15",
    "gsm8k-qwen05",
    "gsm8k-qwen15",
    "math-qwen05",
    "math-qwen15",
)
REASONING = {
    "math500": ("exaone-deep-32b", "gpt-oss-20b", "qwen3-14b"),
    "gpqa": ("gpt-oss-20b", "phi-4-reasoning", "qwen3-30b-a3b-thinking-2507"),
    "aime": ("am-thinking-v1", "gpt-oss-20b", "phi-4-reasoning", "qwen3-14b"),
}
AVERAGES = (1.5, 2, 3, 4)  # answers, or the tokens of as many average answers


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for name in MODELS:
        yield name, partial(model_cells, adalib.load(name), [2])
    models = {"0.5B": adalib.load("story-qwen05"), "1.5B": adalib.load("story-qwen15")}
    by_size = adalib.Menu(models, prices={"0.5B": 0.494, "1.5B": 1.54})
    yield "by size", partial(way_cells, by_size, [40, 60, 80, 120], "1.5B")
    yield (
        "1 to 10",
        partial(way_cells, by_size.priced({"0.5B": 1, "1.5B": 10}, per="samples"), [3, 5, 8, 12]),
    )
    for benchmark, names in REASONING.items():
        for model in names:
            answers = adalib.load(f"{benchmark}-{model}")
            yield f"{benchmark}-{model}, answers", partial(reasoning_cells, answers, AVERAGES)
            yield (
                f"{benchmark}-{model}, tokens",
                partial(reasoning_cells, answers, AVERAGES, "tokens"),
            )


def way_cells(menu: Menu, targets: Sequence[float], alone: str | None = None) -> list[dict]:
    """Hold out the ways through a menu, cheaper model first: the oracle, and the priced ways.

    With ``alone`` that model is also stopped by its own price, without the other.
    """
    learners: dict[str, Learner | Planner] = {GO_UP: PricedEscalation(repeats=REPEATS)}
    if alone is not None:
        learners[f"{alone} alone, priced"] = _Alone(menu, alone)
    rows = held_out(menu, targets, learners=learners, noises=0, protocol=Protocol(folds=2))
    return [figures(row) for row in rows if row.policy in ("oracle", *learners)]


def reasoning_cells(
    answers: Responses, averages: Sequence[float], cost: Literal["samples", "tokens"] = "samples"
) -> list[dict]:
    """Hold out the votes of a model whose texts and certainty are unknown.

    The rows are oracles, the price and, where costs are answers, its peers.

    Targets and costs are in average answers, also where tokens are paid. In ``behind`` is how far
    a stopper is behind the cross-fitted oracle, with its interval."""
    unit = 1.0 if cost == "samples" else float(np.mean(answers.tokens))
    menu = [b for b in STOPS if b <= answers.samples // 2]
    learners: dict[str, Learner | Planner] = {
        "votes": PricedStopping(("votes",), cost=cost, repeats=REPEATS, exact=True)
    }
    if cost == "samples":
        learners |= {
            name: TunedRules(PEERS[name], repeats=REPEATS) for name in STOPPING if name in PEERS
        }
    protocol = Protocol(folds=2, table=partial(Responses.table, cost=cost))
    rows = held_out(
        answers, [unit * b for b in averages], menu, learners=learners, noises=0, protocol=protocol
    )
    oracles = {row.target: row for row in rows if row.policy == "oracle"}
    cells = []
    for row in rows:
        if row.policy in ("oracle", "mix", *learners):
            cell = {
                key: round(value / unit, 5) if key in _PAID and value else value
                for key, value in figures(row).items()
            }
            lead = mean_interval(row.gains - oracles[row.target].gains)
            behind = [round(float(part), 5) for part in (lead.mean, lead.low, lead.high)]
            cells.append(cell | ({"behind": behind} if row.policy in learners else {}))
    return cells


class _Alone:
    """One model of a menu, stopped by a price; it always pays for at least one answer."""

    def __init__(self, menu: Menu, name: str):
        self.name = name
        self.unit = (menu.unit or {})[name]

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list:
        taught, asked = (part.answers.models[self.name] for part in (train, test))
        rule = PricedStopping(
            LADDER["all three"], cost=Money(0, self.unit), schedule=range(1, 9), exact=True
        )
        rule.fit(taught, train.features, tuple(train.groups))
        return rule.replay(
            asked, [max(target, self.unit) for target in targets], test.features
        ).pairs()


if __name__ == "__main__":
    record("minds", parts(), anew="--anew" in sys.argv)
