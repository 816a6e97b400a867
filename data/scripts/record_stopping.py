"""Compute what stopping by all signals spends and is worth, for the bills of chapters 9 and 11.

The result is data/recorded/stopping.jsonl: 300 questions of GSM8K, held out, at six targets. A test
computes one of them again.
"""

from __future__ import annotations

from recording import STOPS, main

import adalib
from adabook.recorded import figures
from adalib.evaluate.heldout import held_out
from adalib.sequential.priced_stopping import PricedStopping

TARGETS = (1.5, 2, 3, 4, 6, 8)
_NAME = "all three"


def rows() -> list[dict]:
    """Score the policy; the mix may stop wherever the policy may."""
    answers = adalib.load("gsm8k-qwen15")
    learners = {_NAME: PricedStopping(exact=True)}
    found = held_out(answers, TARGETS, STOPS, learners=learners, noises=0)
    return [figures(row) for row in found if row.policy == _NAME]


if __name__ == "__main__":
    main(stopping=[("gsm8k-qwen15 by question", rows)])
