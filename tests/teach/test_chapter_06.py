"""Chapter 6: what counts as right in its exercises, and what its figures draw."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adalib.teach.exercises.chapter_06 import check
from adalib.teach.figures import learning as draw

ESTIMATE = [0.01, 0.02], [0.0, 0.015], [0.03, 0.04]


def says(name, answer) -> str:
    return repr(check(name, answer))


def test_the_constant_repeats_the_oracle_as_often_as_its_label_occurs():
    table = adalib.load("word-fewshot").table()
    labels = adalib.frontier(table.acc, table.cost).at(1.5).labels
    assert "right" in says("majority", (labels == 0).mean())
    assert "Hint" in says("majority", (labels > 0).mean())


def test_noise_is_learned_by_heart():
    assert "right" in says("memory", 1.0)
    assert "Hint" in says("memory", 0.69)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (("What is 12 plus 34?", "What is 12 over 34?"), "right"),
        (("What is 12 plus 34?", "What is 12 plus 34?"), "same words"),
        (("What is 12 plus 34?", "What is 12 times 34?"), "prompt_length_chars tells"),
        (("Why?", "How?"), "four words"),
        ("one text", "pair of texts"),
        ((1, 2), "pair of texts"),
    ],
)
def test_two_questions_that_the_features_cannot_tell_apart(answer, said):
    assert said in says("blind", answer)


def test_gains_are_drawn_with_their_intervals_and_the_control_in_grey():
    fig = draw.gains([1.5, 3], {"label": ESTIMATE, "noise": ESTIMATE}, "a title")
    assert [trace.name for trace in fig.data] == ["label", "noise"]
    for trace in fig.data:
        assert list(trace.x) == ["B = 1.5", "B = 3"]
        assert np.add(trace.y, trace.error_y.array) / 100 == pytest.approx(ESTIMATE[2])
        assert np.subtract(trace.y, trace.error_y.arrayminus) / 100 == pytest.approx(ESTIMATE[1])
    assert fig.data[1].marker.color == draw.CONTROL != fig.data[0].marker.color
    assert fig.layout.title.text == "a title"


def test_a_right_prediction_lies_on_the_line():
    values = np.array([0.1, 0.5])
    fig = draw.predicted_and_measured({"one": (values, values), "two": (values, values)})
    assert all(list(fig.data[k].x) == list(fig.data[k].y) for k in range(4))


def test_the_slider_holds_every_price():
    measured, predicted = np.array([[1, 1], [0, 1]]), np.array([[1, 0], [0, 0]])
    spent = np.array([[3.0, 2.5], [2.0, 1.0]])
    fig = draw.price_choices([0, 0.05], ["q<1>", "q2"], [1, 4], measured, predicted, spent, active=1)
    assert [frame.name for frame in fig.frames] == ["0", "0.05"]
    assert "1 of 2 agree" in fig.frames[0].layout.title.text
    assert [trace.name for trace in fig.data[1:]] == ["oracle (mean of all: 2.00)", "predicted from text (1.00)"]
    assert list(fig.frames[0].data[1].x) == [4, 4]
    assert list(fig.frames[0].data[2].x) == [4, 1]
    assert list(fig.data[1].y) == ["q&lt;1&gt;", "q2"]
    assert list(fig.frames[0].data[0].x) == [4, 4, None, 1, 4, None]
    assert fig.layout.sliders[0].active == 1
