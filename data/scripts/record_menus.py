"""Compute what stopping gains with every model, for the chapter "What an answer costs".

The result is data/recorded/menus.jsonl.

Small models, GPT-4o-mini and public reasoning models take the same trial, by votes alone and with
the answers' lengths, since public answers have no log-probabilities; they are paid by the answer
and by the token. A test computes some of the cells again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
from recording import STOPS, main

import adalib
from adabook.recorded import figures
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import Protocol, held_out
from adalib.sequential.priced_stopping import PricedStopping

_PAID = ("target", "cost", "mix_cost")

MODELS = {
    "gsm8k": ("qwen05", "qwen15", "gpt4omini"),
    "math": ("qwen05", "qwen15"),
    "math500": ("exaone-deep-32b", "gpt-oss-20b", "qwen3-14b"),
    "gpqa": ("gpt-oss-20b", "phi-4-reasoning", "qwen3-30b-a3b-thinking-2507"),
    "aime": ("am-thinking-v1", "gpt-oss-20b", "phi-4-reasoning", "qwen3-14b"),
    "otis": ("deepseek-v3",),  # its tokens are not known
}
#: Orders in which a rule sees its training answers: few, so that anyone can compute it again.
REPEATS = 4
AVERAGES = (1.5, 2, 3, 4)  # answers, or the tokens of as many average answers


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for benchmark, names in MODELS.items():
        for model in names:
            answers = adalib.load(f"{benchmark}-{model}")
            yield f"{benchmark}-{model}, answers", partial(voting_cells, answers, AVERAGES)
            if answers.tokens is not None:
                by_token = partial(voting_cells, answers, AVERAGES, "tokens")
                yield f"{benchmark}-{model}, tokens", by_token


def voting_cells(
    answers: Responses, averages: Sequence[float], cost: Literal["samples", "tokens"] = "samples"
) -> list[dict]:
    """Hold out stopping by votes, alone and with lengths, next to the mix and both oracles.

    Targets and costs are in average answers, also where tokens are paid.
    """
    unit = 1.0 if cost == "samples" else float(np.mean(answers.tokens))
    menu = [b for b in STOPS if b <= answers.samples // 2]
    read = (("votes",), ("votes", "length")) if answers.tokens is not None else (("votes",),)
    learners = {
        " + ".join(signals): PricedStopping(signals, cost=cost, repeats=REPEATS, exact=True)
        for signals in read
    }
    protocol = Protocol(folds=2, cost=cost)
    targets = [unit * b for b in averages]
    rows = held_out(answers, targets, menu, learners=learners, noises=0, protocol=protocol)
    return [
        {
            key: round(value / unit, 5) if key in _PAID and value else value
            for key, value in figures(row).items()
        }
        for row in rows
        if row.policy in ("oracle", "oracle_in_sample", "mix", *learners)
    ]


if __name__ == "__main__":
    main(menus=parts())
