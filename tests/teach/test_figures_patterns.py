"""Figures of chapter 8: what is drawn is what was given."""

import numpy as np
import pandas as pd
import pytest

from adalib.teach.figures import patterns as draw

MEAN, LOW, HIGH = [0.5, 0.6], [0.4, 0.55], [0.7, 0.61]


def test_means_have_their_intervals_in_every_panel():
    fig = draw.means(["a", "b"], {"one": {"x": (MEAN, LOW, HIGH)}, "two": {"x": (LOW, LOW, MEAN)}}, "x", "y")
    first, second = fig.data
    assert np.add(first.y, first.error_y.array) == pytest.approx(HIGH)
    assert np.subtract(first.y, first.error_y.arrayminus) == pytest.approx(LOW)
    assert (first.showlegend, second.showlegend) == (True, False)
    assert fig.layout.yaxis.range == fig.layout.yaxis2.range
    assert [note.text for note in fig.layout.annotations] == ["one", "two"]


def test_a_group_without_members_is_left_out():
    fig = draw.means(["a", "b"], {"one": {"x": ([0.5, np.nan], [0.4, np.nan], [0.6, np.nan])}}, "x", "y")
    assert np.isfinite(fig.layout.yaxis.range).all()


def test_dots_lie_near_their_budget_and_the_line_at_the_mean():
    tenths = pd.DataFrame({"acc1": [0.2, 0.8], "budget": [1.0, 8.0]})
    dots = draw.Dots(np.array([0.1, 0.9, 0.5]), np.array([0, 2, 1]), np.array([0.0, 0.5, 1.0]), tenths)
    fig = draw.scatter({"real": dots}, (1, 2, 4))
    assert np.abs(np.array(fig.data[0].y) - [0, 2, 1]).max() <= 0.16
    assert list(fig.data[0].marker.size) == [4, 11, 18]
    assert np.exp2(fig.data[1].y) == pytest.approx([1, 8])


def test_the_heatmaps_move_with_the_budget():
    frames = {
        B: {"oracle": pd.DataFrame([[1 - B / 10, B / 10]], index=[2]), "learned": pd.DataFrame([[1.0, 0.0]], index=[2])}
        for B in (1.5, 3.0)
    }
    fig = draw.heatmaps(frames, (1, 4), "levels")
    assert (
        [frame.name for frame in fig.frames] == [step.label for step in fig.layout.sliders[0].steps] == ["1.5", "3.0"]
    )
    assert np.array(fig.data[0].z) == pytest.approx(np.array([[0.85, 0.15]]))
    assert np.array(fig.frames[1].data[0].z) == pytest.approx(np.array([[0.7, 0.3]]))
    assert list(fig.data[0].y) == ["level 2"]


def test_the_stacks_and_their_headings_move_with_the_budget():
    stack = {B: draw.Stack(np.array([[1 - B / 10] * 5, [B / 10] * 5]), B / 100, -1e-9) for B in (1.0, 1.5)}
    fig = draw.drag_budget({"real": stack, "null": stack}, (1, 4), active=1)
    assert [frame.name for frame in fig.frames] == [step.label for step in fig.layout.sliders[0].steps] == ["1", "1.5"]
    assert [note.text for note in fig.frames[0].layout.annotations] == [
        "real<br>claims +1.0, gains +0.0 points",
        "null<br>claims +1.0, gains +0.0 points",
    ]
    assert fig.layout.annotations[0].text == "real<br>claims +1.5, gains +0.0 points"
    assert list(fig.data[1].y) == pytest.approx([0.15] * 5)
    assert list(fig.frames[0].data[3].y) == pytest.approx([0.1] * 5)
    assert [trace.showlegend for trace in fig.data] == [True, True, False, False]
