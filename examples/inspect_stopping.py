"""Priced stopping in Inspect AI: an epoch of a sample is skipped once another answer is not worth
its price.

    from inspect_ai import Epochs, Task, eval
    from inspect_stopping import PricedEpochs

    task = Task(dataset=..., solver=..., scorer=..., epochs=Epochs(32, "mode"),
    early_stopping=PricedEpochs("router")) eval(task, model=..., max_samples=8)

``router`` is a folder that ``adalib fit`` wrote. Inspect starts samples side by side, and an answer
that is on its way is not called back: the smaller ``max_samples``, the more is saved. Of the scorer
only ``Score.answer`` is read.
"""

from __future__ import annotations

import os
from typing import Any

from inspect_ai.util import EarlyStop

from adalib import Router, answer_classes


class PricedEpochs:
    """An `EarlyStopping` of Inspect AI that votes as `adalib.Router` does; a price of one's own
    replaces the fitted."""

    def __init__(self, router: str | os.PathLike, price: float | None = None) -> None:
        self.router = Router.load(router)
        self.price = self.router.controller.price if price is None else price
        self.votes: dict[str | int, Any] = {}
        self.classes: dict[
            str | int, list[str]
        ] = {}  # of every sample, the first answer of each class
        self.skipped = 0

    async def start_task(self, task: Any, samples: list[Any], epochs: int) -> str:
        self.votes = {
            sample.id: self.router.plan(_text(sample), self.price).session for sample in samples
        }
        self.classes = {name: [] for name in self.votes}
        if any(vote.reads for vote in self.votes.values()):
            raise ValueError(
                "the router weighs answers by what Inspect does not tell; "
                "fit it on votes and text alone"
            )
        return "adalib: priced stopping"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        if self.votes[id].goes_on:
            return None
        self.skipped += 1
        return EarlyStop(id=id, epoch=epoch, reason="another answer is not worth its price")

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, Any]) -> None:
        answer = next((one.score.answer for one in scores.values() if one.score.answer), "")
        known = self.classes[id]
        number = int(answer_classes([*known, answer])[-1])
        if number == len(known):
            known.append(answer)
        self.votes[id].add(None if number < 0 else number)

    async def complete_task(self) -> dict[str, Any]:
        return {"price": self.price, "skipped": self.skipped}


def _text(sample: Any) -> str:
    """What the user says last."""
    turns = sample.input
    return (
        turns
        if isinstance(turns, str)
        else next((one.text for one in reversed(turns) if one.role == "user"), "")
    )
