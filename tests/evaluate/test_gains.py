"""The picture of gains: every policy where the axis says, sorted, and linked with its row."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from adalib.evaluate.gains import Gain, gains_figure

ROWS = [
    Gain("loses <b>", -0.02, -0.03, -0.01, False, ("2.9",)),
    Gain("ours & best", 0.03, 0.01, 0.05, True, ("3.0",)),
    Gain("nothing", 0.0, -0.01, 0.01, False, ("3.1",)),
]
BEST_FIRST = ["ours & best", "nothing", "loses <b>"]


@pytest.fixture
def figure():
    return BeautifulSoup(gains_figure(ROWS, "A set & its cost.", ("spent",)), "html.parser")


def left(mark) -> float:
    return float(re.search(r"left:([\d.]+)%", mark["style"])[1])


def test_dots_and_intervals_stand_where_the_axis_says(figure):
    ticks = [(float(tick.get_text()) / 100, left(tick)) for tick in figure.select(".tick")]
    (first, start), (last, end) = ticks[0], ticks[-1]

    def value(place: float) -> float:
        return first + (place - start) / (end - start) * (last - first)

    for row, line in zip(
        sorted(ROWS, key=lambda row: -row.gain), figure.select(".one"), strict=False
    ):
        assert value(left(line.select_one(".dot"))) == pytest.approx(row.gain, abs=1e-4)
        span = line.select_one(".span")
        width = float(re.search(r"width:([\d.]+)%", span["style"])[1])
        assert value(left(span)) == pytest.approx(row.low, abs=1e-4)
        assert value(left(span) + width) == pytest.approx(row.high, abs=1e-4)
        assert value(left(line.select_one(".zero"))) == pytest.approx(0, abs=1e-4)


def test_the_best_comes_first_and_ours_is_marked(figure):
    lines = figure.select(".one:not([aria-hidden])")
    assert [line.span.get_text() for line in lines] == BEST_FIRST
    assert [line.span.get_text() for line in figure.select(".is-ours")] == ["ours & best"]


def test_a_policy_and_its_row_are_marked_together(figure):
    rows = figure.select("tbody tr")
    assert [row.td.get_text() for row in rows] == BEST_FIRST
    assert rows[0].get_text(" ") == "ours & best +3.0 [+1.0, +5.0] 3.0"
    for line, row in zip(figure.select(".one"), rows, strict=False):
        (shared,) = {*line["class"]} & {*row["class"]}
        assert f".gains:has(.{shared}:hover) .{shared}" in figure.style.get_text()


def test_a_picture_of_gains_alone_has_a_zero():
    found = BeautifulSoup(gains_figure(ROWS[1:2], "One."), "html.parser")
    assert "+0.0" in [tick.get_text() for tick in found.select(".tick")]
    assert found.table is None
