"""Compute the whole comparison of chapter 10, and write it to data/recorded/stopping.jsonl, which the chapter reads.

Run ``python data/record_stopping.py`` (about a quarter of an hour on two cores; what is there already is kept, so that
it can be stopped and started again; ``--anew`` begins anew). Four bundled settings are held out by question, at six
targets, with every peer and with signals that say nothing, and at three targets with the mean token entropy; those of
`word` by family too; simulated populations by question. The cells come from `adalib.evaluate.recorded`; a test computes
some of them again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import adalib
from adalib.evaluate.recorded import control_cells, entropy_cells, record, stopping_cells

TARGETS = (1.5, 2, 3, 4, 6, 8)
SETTINGS = ("word-fewshot", "word-hot", "word-zeroshot", "drill-fewshot")


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    settings = {name: adalib.load(name) for name in SETTINGS}
    for name, answers in settings.items():
        yield f"{name} by question", partial(stopping_cells, answers, TARGETS)
    for name, answers in settings.items():
        yield f"{name}, controls", partial(control_cells, answers, TARGETS)
        if name.startswith("word"):
            yield f"{name} by family", partial(stopping_cells, answers, TARGETS, answers.extras["family"], peers=False)
        yield f"{name}, entropy", partial(entropy_cells, answers, (2, 3, 4))
    simulated = {"votes say nothing": adalib.flat_null(300), "Beta(1.5, 1.5)": adalib.beta_population(300, 1.5, 1.5)}
    for name, population in simulated.items():
        yield f"{name} by question", partial(stopping_cells, population.sample(96, seed=1), TARGETS)


if __name__ == "__main__":
    record("stopping", parts(), anew="--anew" in sys.argv)
