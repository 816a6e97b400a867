"""Compute the two dear tables of chapter 13, and write them to data/recorded/minds.jsonl, which the chapter reads.

Run ``python data/record_minds.py`` (about two minutes on two cores; what is there already is kept, so that it can be
stopped and started again; ``--anew`` begins anew). Each of three models is held out on the questions that fit it, at an
average of two answers; the menu of the two larger ones under two price lists. The chapter and a test compute some of
the cells again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import adalib
from adalib.datasets.menu import Menu
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.recorded import GO_UP, REPEATS, figures, model_cells, record
from adalib.evaluate.trials import Learner, Planner, Questions
from adalib.sequential.escalation import PricedEscalation
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import Money


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for name in ("word-fewshot", "story-qwen05", "story-qwen15"):
        yield name, partial(model_cells, adalib.load(name), [2])
    models = {"0.5B": adalib.load("story-qwen05"), "1.5B": adalib.load("story-qwen15")}
    by_size = adalib.Menu(models, prices={"0.5B": 0.494, "1.5B": 1.54})
    yield "by size", partial(way_cells, by_size, [40, 60, 80, 120], "1.5B")
    yield "1 to 10", partial(way_cells, by_size.priced({"0.5B": 1, "1.5B": 10}, per="samples"), [3, 5, 8, 12])


def way_cells(menu: Menu, targets: Sequence[float], alone: str | None = None) -> list[dict]:
    """Hold out the ways through a menu, the cheaper model first: its oracle, going on or up under one price.

    With ``alone`` that model is also stopped by its own price, without the other.
    """
    learners: dict[str, Learner | Planner] = {GO_UP: PricedEscalation(repeats=REPEATS)}
    if alone is not None:
        learners[f"{alone} alone, priced"] = _Alone(menu, alone)
    rows = held_out(menu, targets, learners=learners, noises=0, protocol=Protocol(folds=2))
    return [figures(row) for row in rows if row.policy in ("oracle", *learners)]


class _Alone:
    """One model of a menu, stopped by a price; below the price of one answer it pays for one answer."""

    def __init__(self, menu: Menu, name: str):
        self.name, self.unit = name, (menu.unit or {})[name]

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list:
        taught, asked = (part.answers.models[self.name] for part in (train, test))
        rule = PricedStopping(cost=Money(0, self.unit), schedule=range(1, 9))
        rule.fit(taught, train.features, tuple(train.groups))
        return rule.replay(asked, [max(target, self.unit) for target in targets], test.features).pairs()


if __name__ == "__main__":
    record("minds", parts(), anew="--anew" in sys.argv)
