"""Measure every row of the replication table, and what decides on every claim of the paper.

The result is data/recorded/referee.jsonl, which the chapter "What we know" and appendix B
show. A test measures a part of it again. What trains long is read from data/recorded/paper.jsonl,
so run ``record_paper.py`` first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from recording import main
from referee import (
    claims_method,
    claims_results,
    rows_experiments,
    rows_method,
    rows_patterns,
    rows_results,
    rows_theory,
)

from adabook.paper.referee import CLAIMS, ROWS, Evidence, Outcome

_ROW_MODULES = (rows_theory, rows_method, rows_results, rows_patterns, rows_experiments)
_CLAIM_MODULES = (claims_method, claims_results)


def measured_row(name: str) -> dict:
    """Measure a row of the table, and return it as numbers and texts."""
    found: Outcome = _function(name, *_ROW_MODULES)()
    cells = [
        [cell.name, None if math.isnan(cell.paper) else float(cell.paper), float(cell.ours)]
        + [float(cell.tolerance), cell.relation, cell.unit]
        for cell in found.cells
    ]
    checks = [list(check) for check in found.checks]
    return {"note": found.note, "checks": checks, "cells": cells}


def measured_claim(name: str) -> dict:
    """Measure what decides on a claim, and return it as numbers and a sentence."""
    found: Evidence = _function(name, *_CLAIM_MODULES)()
    checks = [list(check) for check in found.checks]
    return {"value": found.value, "says": found.number, "checks": checks}


def _function(name: str, *modules) -> Callable:
    """Return the function of this name from the one module that has it."""
    (module,) = (module for module in modules if hasattr(module, name))
    return getattr(module, name)


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the id of every row and the name of every claim, with what measures it."""
    for measure, items in ((measured_row, ROWS), (measured_claim, CLAIMS)):
        for item in items:
            yield getattr(item, "id", None) or item.name, partial(_one, measure, item.by)


def _one(measure: Callable[[str], dict], name: str) -> list[dict]:
    """The one line of a part."""
    return [measure(name)]


if __name__ == "__main__":
    main(referee=parts())
