"""Compute the expensive tables of the chapter "Several models, several efforts".

The result is data/recorded/minds.jsonl.

Run ``python data/record_minds.py`` (about five minutes on two cores; what is there already is
kept, so that it can be stopped and started again; ``--anew`` begins anew). Each of three models is
held out on the questions that fit it and two of them on GSM8K and MATH, at an average of two
answers; and public reasoning models on three benchmarks, paid by the answer and by the token. A
test computes some of the cells again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

import adalib
from adabook.recorded import LADDER, STOPS, figures, record
from adalib.datasets.responses import Responses
from adalib.evaluate.compare import STOPPING
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.trials import Learner, Planner
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.peers import PEERS, TunedRules
from adalib.sequential.policy import PricedStopping

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
#: Orders in which a rule sees its training answers: few, so that anyone can compute it again.
REPEATS = 4
#: The learners that are held out for every model, by their names in the table.
MODEL_LEARNERS: Mapping[str, Learner | Planner] = {
    "label policy": LabelPolicy(),
    "curve policy": CurvePolicy(),
    **{
        f"stopping: {name}": PricedStopping(signals, repeats=REPEATS, exact=True)
        for name, signals in LADDER.items()
    },
}
AVERAGES = (1.5, 2, 3, 4)  # answers, or the tokens of as many average answers


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for name in MODELS:
        yield name, partial(model_cells, adalib.load(name), [2])
    for benchmark, names in REASONING.items():
        for model in names:
            answers = adalib.load(f"{benchmark}-{model}")
            yield f"{benchmark}-{model}, answers", partial(reasoning_cells, answers, AVERAGES)
            yield (
                f"{benchmark}-{model}, tokens",
                partial(reasoning_cells, answers, AVERAGES, "tokens"),
            )


def model_cells(
    answers: Responses,
    targets: Sequence[float],
    learners: Mapping[str, Learner | Planner] = MODEL_LEARNERS,
) -> list[dict]:
    """Score the learners held out for one model, next to both oracles and noise."""
    rows = held_out(answers, targets, learners=learners, noises=1, protocol=Protocol(folds=2))
    wanted = ("oracle", "oracle_in_sample", "noise", *learners)
    return [figures(row) for row in rows if row.policy in wanted]


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


if __name__ == "__main__":
    record("minds", parts(), anew="--anew" in sys.argv)
