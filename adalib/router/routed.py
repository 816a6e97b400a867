"""The answer to a question, with how it came about and why no further answer was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from adalib.llm.reply import DETAILS, Answer

# Why no further answer was asked.
WORTH = "the next answer is not worth its price"
FULL = "the longest vote that the policy knows"
CAP = "the cap of a question"
SPENT = "the total in money is spent"
LATE = "the time for a question is over"
OTHER = "no short answer to vote on"
GONE = "the caller has gone"


@dataclass(frozen=True)
class Routed:
    """The answer to a question, and how it came about. Explained in the chapter "Deploy"."""

    answer: str  # the winner, "" if none could be read
    text: str  # the first text that gave it
    votes: dict[str, int]  # of every answer, the first seen first
    samples: int  # answers that came in
    rounds: int  # how often one waited for some
    cost: float  # in the policy's unit
    money: float  # in dollars
    confidence: float  # chance that the winner stays ahead of the runner-up, from the votes alone
    agreement: float  # share of the winner among the answers
    reason: str  # why no further answer was asked
    price: float  # of compute at the time, in accuracy per unit of cost
    tokens: int  # written, over all samples, cancelled ones included
    prompt_tokens: int  # read
    finish: str  # how the winning text ended
    certificate: float = 1.0  # chance, at most, that another answer is the model's most frequent
    counted: bool = True  # in the average that the budget holds
    bill: tuple[float, ...] = ()  # dollars for each answer that came in
    fingerprint: str | None = None  # of the system that wrote the winning text
    expected: float = 0.0  # what such questions cost in training
    unread: int = 0  # answers that could not be read
    details: dict[str, dict[str, int]] = field(default_factory=dict)  # of tokens, summed
    waiting: int = 0  # tokens that were waited for one after the other
    cancelled: int = 0  # answers that a race cancelled
    cancelled_tokens: int = 0  # what those had written


def summed_details(answers: Sequence[Answer]) -> dict[str, dict[str, int]]:
    """Return the details of tokens that answers report, each count summed."""
    sums: dict[str, Counter[str]] = {name: Counter() for name in DETAILS}
    for answer in answers:
        for name, counts in answer.details.items():
            sums[name].update(counts)
    return {name: dict(counts) for name, counts in sums.items() if counts}
