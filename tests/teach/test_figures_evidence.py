"""Figures of chapters 5 to 9: what is drawn is what was given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from adalib.teach.figures import evidence as draw
from adalib.teach.figures.shapes import GREY

ESTIMATE = MEAN, LOW, HIGH = [0.5, 0.6], [0.4, 0.55], [0.7, 0.61]
ONE = draw.Points([1.0, 2.9], [0.4, 0.49], [0.0, 0.026], [0.0, 0.021], [0.0, 0.031])
BEST = draw.Points([1.0, 3.0], [0.4, 0.51], [0.0, 0.045], [0.0, 0.037], [0.0, 0.054])
HULL = np.array([1, 4]), np.array([0.4, 0.49])


def stops(fig) -> list[str]:
    assert [frame.name for frame in fig.frames] == [step.label for step in fig.layout.sliders[0].steps]
    return [frame.name for frame in fig.frames]


def test_means_have_their_intervals_in_every_panel_on_one_scale():
    missing = ([0.5, np.nan], [0.4, np.nan], [0.6, np.nan])  # a group without members
    fig = draw.means(["a", "b"], {"one": {"x": ESTIMATE}, "two": {"x": missing}}, "x", "y", points=True)
    first, second = fig.data
    assert np.add(first.y, first.error_y.array) == pytest.approx(100 * np.array(HIGH))
    assert np.subtract(first.y, first.error_y.arrayminus) == pytest.approx(100 * np.array(LOW))
    assert (first.showlegend, second.showlegend) == (None, False)
    assert fig.layout.yaxis.range == fig.layout.yaxis2.range == pytest.approx((-0.06 * 70, 1.06 * 70))
    assert [note.text for note in fig.layout.annotations] == ["one", "two"]


def test_the_slider_holds_every_number_of_samples():
    given = {R: draw.Worth([0.6, 0.7 - R / 1000], [0.5, 0.6], [0.9, 0.1]) for R in (16, 48)}
    fig = draw.drag_samples(given, [1.5, 3], [0.55, 0.65], [1, 2], active=1)
    assert stops(fig) == ["16", "48"]
    titles = [frame.layout.title.text for frame in fig.frames]
    assert titles == ["B = 3: claims 0.684, worth 0.600", "B = 3: claims 0.652, worth 0.600"]
    assert (fig.layout.title.text, fig.layout.sliders[0].active) == (titles[1], 1)
    assert all(list(frame.data[2].y) == [0.9, 0.1] for frame in fig.frames)


def test_gains_are_drawn_with_their_intervals_and_the_control_in_grey():
    fig = draw.gains([1.5, 3], {"label": ESTIMATE, "noise": ESTIMATE}, "a title")
    assert [trace.name for trace in fig.data] == ["label", "noise"]
    for trace in fig.data:
        assert list(trace.x) == ["B = 1.5", "B = 3"]
        assert np.add(trace.y, trace.error_y.array) / 100 == pytest.approx(HIGH)
    assert fig.data[1].marker.color == GREY != fig.data[0].marker.color
    assert fig.layout.title.text == "a title"


def test_the_slider_holds_every_price():
    measured, predicted = np.array([[1, 1], [0, 1]]), np.array([[1, 0], [0, 0]])
    spent = np.array([[3.0, 2.5], [2.0, 1.0]])
    fig = draw.price_choices([0, 0.05], ["q<1>", "q2"], [1, 4], measured, predicted, spent, active=1)
    assert stops(fig) == ["0", "0.05"]
    assert "1 of 2 agree" in fig.frames[0].layout.title.text
    assert [trace.name for trace in fig.data[1:]] == ["oracle (mean of all: 2.00)", "predicted from text (1.00)"]
    assert [list(trace.x) for trace in fig.frames[0].data] == [[4, 4, None, 1, 4, None], [4, 4], [4, 1]]
    assert list(fig.data[1].y) == ["q&lt;1&gt;", "q2"]
    assert fig.layout.sliders[0].active == 1


def test_equal_values_lie_on_the_line():
    pairs = {"imitation": ([0.9, 0.95], [0.91, 0.94]), "gap": ([0.1, 0.2], [0.1, 0.2])}
    for fig, sizes in (
        (draw.on_the_line(pairs, ["a", "b"], "if"), [2, 1, 1, 2, 1, 1]),
        (draw.on_the_line(pairs, (), "predicted", across=True), [2, 2, 2, 2]),
    ):
        assert [len(trace.x) for trace in fig.data] == sizes
        drawn = [trace for trace in fig.data if trace.mode == "lines" or trace.yaxis == "y2"]
        assert all(list(trace.x) == list(trace.y) for trace in drawn)


def test_frontiers_have_a_stop_a_setting():
    front = {name: [0.4, 0.5] for name in ("claimed", "learned", "oracle", "mix", "random", "fixed")}
    front |= {"budget": [1, 2], "learned_cost": [1, 1.9]}
    fig = draw.simulated_frontiers({"x": front, "y": front})
    assert stops(fig) == ["x", "y"]
    assert [list(trace.x) for trace in fig.frames[1].data] == [[1, 2], [1, 1.9], [1, 2], [1, 2], [1, 2], [1, 2]]
    fig = draw.real_frontiers({"x": ({"oracle": BEST, "curve": ONE}, *HULL)})
    assert stops(fig) == ["x"]
    assert [trace.mode for trace in fig.data] == ["lines", "lines", "lines+markers", "markers", "markers"]
    assert fig.data[2].error_y.array == pytest.approx([0, 0.9])  # in points
    assert fig.layout.yaxis2.range == pytest.approx((-0.4, 5.8))


def test_gain_dots_are_in_points():
    fig = draw.gain_dots(["a"], {"2": {"oracle": ([0.1], [0.0], [0.2]), "noise": ([0.0], [-0.1], [0.1])}})
    assert stops(fig) == ["2"]
    assert [trace.name for trace in fig.data] == ["oracle, cross-fitted", "noise control"]
    assert (fig.data[0].x[0], fig.data[0].error_x.array[0]) == (10, 10)


def test_the_mix_may_not_get_there():
    fig = draw.along_the_frontier([1, 3], HULL, BEST, ONE, [1.0, float("nan")], active=1)
    assert stops(fig) == ["1", "3"]
    assert "no mix gets there" in fig.layout.title.text
    assert "needs 1.0" in fig.frames[0].layout.title.text
    places, gains = fig.frames[1].data
    assert list(places.y) == pytest.approx([np.interp(2.9, *HULL), 0.49, 0.51])
    assert (list(gains.x), list(gains.error_x.array)) == (pytest.approx([2.6, 4.5]), pytest.approx([0.5, 0.9]))


def test_dots_lie_near_their_budget_and_the_line_at_the_mean():
    tenths = pd.DataFrame({"acc1": [0.2, 0.8], "budget": [1.0, 8.0]})
    dots = draw.Dots(np.array([0.1, 0.9, 0.5]), np.array([0, 2, 1]), np.array([0.0, 0.5, 1.0]), tenths)
    fig = draw.scatter({"real": dots}, (1, 2, 4))
    assert np.abs(np.array(fig.data[0].y) - [0, 2, 1]).max() <= 0.16
    assert list(fig.data[0].marker.size) == [4, 11, 18]
    assert np.exp2(fig.data[1].y) == pytest.approx([1, 8])


def test_the_heatmaps_move_with_the_budget():
    tables = {
        B: {"oracle": pd.DataFrame([[1 - B / 10, B / 10]], index=[2]), "learned": pd.DataFrame([[1.0, 0.0]], index=[2])}
        for B in (1.5, 3.0)
    }
    fig = draw.budgets_by_level(tables, (1, 4), "levels")
    assert stops(fig) == ["1.5", "3.0"]
    assert np.array(fig.data[0].z) == pytest.approx(np.array([[0.85, 0.15]]))
    assert np.array(fig.frames[1].data[0].z) == pytest.approx(np.array([[0.7, 0.3]]))
    assert list(fig.data[0].y) == ["level 2"]


def test_the_stacks_and_their_headings_move_with_the_budget():
    stack = {B: draw.Stack(np.array([[1 - B / 10] * 5, [B / 10] * 5]), B / 100, -1e-9) for B in (1.0, 1.5)}
    fig = draw.budgets_by_fifth({"real": stack, "null": stack}, (1, 4), active=1)
    assert stops(fig) == ["1", "1.5"]
    said = "<br>claims +1.0, gains +0.0 points"
    assert [note.text for note in fig.frames[0].layout.annotations] == [f"real{said}", f"null{said}"]
    assert fig.layout.annotations[0].text == "real<br>claims +1.5, gains +0.0 points"
    assert list(fig.data[1].y) == pytest.approx([0.15] * 5)
    assert list(fig.frames[0].data[3].y) == pytest.approx([0.1] * 5)
    assert [trace.showlegend for trace in fig.data] == [True, True, False, False]


def test_a_cell_that_stands_out_is_marked():
    fig = draw.class_profile(["f"], ["b=1", "b=2"], np.array([[0.5, -1.0]]), np.array([[False, True]]))
    assert np.array(fig.data[0].text).tolist() == [["0.5", "-1.0*"]]
    assert (fig.data[0].zmin, fig.data[0].zmax) == (-1.0, 1.0)
