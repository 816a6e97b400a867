"""Figures of chapters 0 and 1: what is drawn is what was given."""

import numpy as np
import pytest

import adalib
from adalib.teach.figures import answers as draw
from adalib.vote.estimators import acc_windows


@pytest.fixture(scope="module")
def word():
    return adalib.load("word-fewshot")


def test_every_answer_is_one_tile_of_its_kind(word):
    fig = draw.answer_grid(word.answers[65], word.classes[65], word.values[65])
    drawn = {trace.name.split(" (")[0]: len(trace.x) for trace in fig.data}
    assert sum(drawn.values()) == word.samples
    assert drawn["right"] == word.values[65].sum()
    assert drawn["no answer read"] == word.answers[65].count("")


def test_text_of_an_answer_stays_text():
    fig = draw.answer_grid(["<b>1</b>", "2"], np.array([0, 1]), np.array([1.0, 0.0]))
    assert "<b>" not in fig.data[0].hovertext[0]


def test_the_window_slider_shows_the_estimate(word):
    outcomes = {
        b: acc_windows(word.classes[65].reshape(-1, b), word.values[65].reshape(-1, b), [b])[:, 0] for b in (1, 4, 16)
    }
    fig = draw.window_votes(outcomes, samples=96)
    estimate = word.table(budgets=(1, 4, 16), estimator="windows").acc[65]
    for frame, b, mean in zip(fig.frames, (1, 4, 16), estimate, strict=True):
        assert frame.name == str(b)
        assert frame.layout.title.text.endswith(f"{mean:.0%} right")
        assert sum(len(bar.base) for bar in frame.data) == 96 // b
    assert [step.label for step in fig.layout.sliders[0].steps] == ["1", "4", "16"]


def test_curves_keep_their_values_and_bands():
    fig = draw.accuracy_curves(
        [1, 2], {"a": np.array([0.1, 0.2])}, bands={"a": (np.array([0, 0.1]), np.array([0.2, 0.3]))}
    )
    band, line = fig.data
    assert list(line.y) == [0.1, 0.2]
    assert list(band.y) == [0, 0.1, 0.3, 0.2]


def test_samples_and_gains_start_in_the_middle_and_hold_every_budget():
    spent, gained = np.array([[0, 10, 30], [0, 20, 60]]), np.array([[0, 1, 2], [0, -1, -2]])
    fig = draw.samples_and_gains([1, 2, 4], ["easy", "hard"], spent, gained, [0.1, 0.2, 0.3])
    assert fig.layout.title.text == "everyone gets 2: accuracy 0.200"
    assert [list(frame.data[1].x) for frame in fig.frames] == [[0, 0], [1, -1], [2, -2]]
