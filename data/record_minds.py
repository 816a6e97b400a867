"""Compute the two dear tables of chapter 13, and write them to data/recorded/minds.jsonl, which the chapter reads.

Run ``python data/record_minds.py`` (about two minutes on two cores; what is there already is kept, so that it can be
stopped and started again; ``--anew`` begins anew). Each of three models is held out on the questions that fit it, at an
average of two answers; the menu of the two larger ones under two price lists. The cells come from
`adalib.evaluate.recorded`; the chapter and a test compute some of them again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import adalib
from adalib.evaluate.recorded import model_cells, record, way_cells


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for name in ("word-fewshot", "story-qwen05", "story-qwen15"):
        yield name, partial(model_cells, adalib.load(name), [2])
    models = {"0.5B": adalib.load("story-qwen05"), "1.5B": adalib.load("story-qwen15")}
    by_size = adalib.Menu(models, prices={"0.5B": 0.494, "1.5B": 1.54})
    yield "by size", partial(way_cells, by_size, [40, 60, 80, 120], "1.5B")
    yield "1 to 10", partial(way_cells, by_size.priced({"0.5B": 1, "1.5B": 10}, per="samples"), [3, 5, 8, 12])


if __name__ == "__main__":
    record("minds", parts(), anew="--anew" in sys.argv)
