"""Figures of chapter 5: what is drawn is what was given."""

import numpy as np
import pytest

from adalib.teach.figures import estimation as draw

MEAN, LOW, HIGH = [0.5, 0.6], [0.4, 0.55], [0.7, 0.61]


def test_intervals_become_error_bars():
    for fig, scale in (
        (draw.points([1, 2], {"a": (MEAN, LOW, HIGH)}, "x", "y"), 1),
        (draw.bars(["one", "two"], {"a": (MEAN, LOW, HIGH)}, "y"), 100),  # gains, in points
        (draw.bars(["one", "two"], {"a": (MEAN, LOW, HIGH)}, "y", percent=True), 1),
        (draw.claim_and_truth([1, 2], (MEAN, LOW, HIGH), truth=0.5), 1),
    ):
        trace = fig.data[0]
        assert np.divide(trace.y, scale) == pytest.approx(MEAN)
        assert np.add(trace.y, trace.error_y.array) / scale == pytest.approx(HIGH)
        assert np.subtract(trace.y, trace.error_y.arrayminus) / scale == pytest.approx(LOW)


def test_the_histogram_counts_every_redraw():
    estimates = {"windows": np.array([0.0, 1.0, 1.0, 0.5]), "subsets": np.array([0.49, 0.51, 0.6, 0.4])}
    fig = draw.estimate_histogram(estimates, truth=0.5, width=1 / 12)
    assert [sum(trace.y) for trace in fig.data] == pytest.approx([1, 1])
    assert dict(zip(np.round(fig.data[0].x, 6), fig.data[0].y, strict=True))[1.0] == 0.5


def test_even_budgets_are_hollow():
    colours = draw.odd_and_even([1, 2, 3], {"p": [0.6, 0.6, 0.65]}).data[0].marker.color
    assert colours[0] == colours[2] != colours[1]


def test_the_theorem_is_the_diagonal_under_the_dots():
    fig = draw.gain_of_two({"a": (np.array([0.0, 0.2]), np.array([0.0, 0.2]))})
    assert list(fig.data[0].x) == list(fig.data[0].y)
    assert list(fig.data[1].y) == [0.0, 0.2]


def test_a_point_that_does_not_exist_is_not_drawn():
    missing = ([np.nan, 0.57], [np.nan, 0.56], [np.nan, 0.58])
    fig = draw.bracket([16, 48], {"way": {"in-sample": (MEAN, LOW, HIGH), "cross-fitted": missing}}, truth=0.58)
    assert [list(trace.x) for trace in fig.data] == [[16, 48], [48], [16, 48]]
    assert "NaN" not in fig.to_json()


def test_the_slider_holds_every_number_of_samples():
    frames = {R: draw.Frame([0.6, 0.7 - R / 1000], [0.5, 0.6], [0.9, 0.1]) for R in (16, 48)}
    fig = draw.drag_samples(frames, [1.5, 3], [0.55, 0.65], [1, 2], active=1)
    assert [frame.name for frame in fig.frames] == ["16", "48"]
    assert [frame.layout.title.text for frame in fig.frames] == [
        "B = 3: claims 0.684, worth 0.600",
        "B = 3: claims 0.652, worth 0.600",
    ]
    assert fig.layout.title.text == fig.frames[1].layout.title.text
    assert fig.layout.sliders[0].active == 1
    assert all(list(frame.data[2].y) == [0.9, 0.1] for frame in fig.frames)
