"""Python's side of `test_browser_verdicts`: answer the exercises in a browser, and print verdicts.

The test sends this file to the page's worker as one cell, with the roads of `roads.py`
and a call of `report` behind it. Every verdict is one line of JSON, printed as soon as it is there.
"""

from __future__ import annotations

import json
import re

from adabook.exercises import JUDGED, Checker, behaviour, checks

VERDICT = re.compile(r'^Exercise "(.+?)": (.*)', re.M)


def report(chapters, roads):
    """Print the verdict on every solution, and on every other road that a function judges.

    A number is compared in a browser as it is elsewhere. ``chapters`` has the cells of each by its
    key: their sources, whether they are solutions, and whether they are folded.
    """
    # A browser is slow; test_roads.py tries every case.
    behaviour._CASES, behaviour.PROOF_CASES = 50, 60
    # The record judges solutions as it judges a reader; without this they would write it anew.
    Checker.solution = lambda check, name, answer, *_, **__: check(name, answer)
    for chapter, cells in chapters.items():
        for name, verdict in _solved(cells):
            _print("solution", chapter, name, verdict)
    for chapter, name in JUDGED:
        try:
            answer = roads[chapter, name]()
            verdict = VERDICT.match(repr(checks(chapter)(name, answer)))[2]
        except Exception as error:
            verdict = f"{type(error).__name__}: {error}"
        _print("other road", chapter, name, verdict)


def _solved(cells):
    """Run the solutions of a chapter, each after the cells above that it needs; yield verdicts."""
    import adalib_live  # the module of the page's worker, which only a browser has

    shown = []
    page = adalib_live.Page(lambda kind, text: shown.append(text))
    page.update(cells)
    for at, (source, is_solution, _) in enumerate(cells):
        if not is_solution:
            continue
        shown.clear()
        if all(page.run_needed(cell) for cell in page.needs(at)):
            shown.clear()  # a cell above may have asked for another answer
            page.run(at)
        text = "".join(shown)
        verdicts = VERDICT.findall(text)
        if verdicts or "check(" in source:
            yield verdicts[-1] if verdicts else (f"cell {at + 1}", text)


def _print(kind, chapter, name, verdict):
    print(json.dumps([kind, chapter, name, verdict]))
