"""The server of chapter 12, next to one that is written as a clock that ticks."""

import numpy as np
import pytest
from conftest import ROOT
from nbformat import read

CELL = next(
    cell.source
    for cell in read(ROOT / "notebooks/12_costs.ipynb", as_version=4).cells
    if "def serve(" in cell.source
)


def served(*args, most):
    """Call the chapter's own function."""
    names = {"np": np}
    exec(CELL, names)
    return names["serve"](*args, most=most)


def ticked(arrive, asked, most):
    """Serve by the second: every answer that runs writes one token per tick."""
    done = np.zeros(len(asked))
    meter = np.zeros(len(asked))
    began, line, joules = {}, [], 0
    coming = list(range(len(asked)))
    second = 0
    while coming or line or began:
        for question, start in list(began.items()):
            if second - start == max(end for _, end in asked[question]):
                done[question], meter[question] = second, joules
                del began[question]
        while coming and arrive[coming[0]] == second:
            line.append(coming.pop(0))

        def running(now=second):
            return sum(
                first <= now - start < last
                for question, start in began.items()
                for first, last in asked[question]
            )

        while line and running() + sum(first == 0 for first, _ in asked[line[0]]) <= most:
            began[line.pop(0)] = second
        joules += running() ** 2
        second += 1
    return done, meter


@pytest.mark.parametrize("seed", range(20))
def test_the_server_is_a_clock_that_ticks(seed):
    rng = np.random.default_rng(seed)
    arrive = np.sort(rng.integers(0, 40, 15)).astype(float)
    asked = []
    for ways in rng.integers(3, size=15):
        lengths = rng.integers(1, 9, 3)
        ends = lengths.cumsum()
        one_by_one = [(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        second_wave = [(0, 4), (0, 2), (2, 9)]
        asked.append([[(0, end) for end in lengths], one_by_one, second_wave][ways])
    watts = np.arange(40.0) ** 2
    done, meter = served(arrive, asked, np.ones(40), watts, most=4)
    by_tick, spent = ticked(arrive, asked, most=4)
    assert done == pytest.approx(by_tick)
    assert meter == pytest.approx(spent)


def test_a_step_takes_as_long_as_its_row_of_answers():
    seconds, watts = np.array([1.0, 1.0, 3.0]), np.array([5.0, 10.0, 20.0])
    done, meter = served(np.array([2.0]), [[(0, 4), (0, 6)]], seconds, watts, most=2)
    assert done == pytest.approx([2 + 4 * 3 + 2 * 1])
    assert meter == pytest.approx([2 * 5 + 12 * 20 + 2 * 10])
