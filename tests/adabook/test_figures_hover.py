"""What a figure says of a point: its name, its axes and its interval, unless it says so itself."""

import plotly.graph_objects as go
import pytest

from adabook.figures import show
from adabook.figures.shapes import bar, dots, line, panels


def shown(fig: go.Figure) -> go.Figure:
    return show(fig, alt="A figure.").fig


def test_every_point_has_its_axes_in_words():
    fig = panels([[line([1, 2], [0.4, 0.5], "oracle")], [bar(["a", "b"], [3, 4])]])
    fig.update_xaxes(title="cost", row=1, col=1)
    fig.update_yaxes(title="share", tickformat=".0%", row=2, col=1)
    first, second = shown(fig).data
    assert first.hovertemplate == "<b>oracle</b><br>cost: %{x}<br>%{y}<extra></extra>"
    assert second.hovertemplate == "%{x}<br>share: %{y}<extra></extra>"
    assert shown(fig).layout.yaxis2.hoverformat is None  # the axis's own format stays


def test_an_interval_is_told_by_its_ends():
    fig = go.Figure(dots([1, 2], [[0.5, 0.6], [0.4, 0.5], [0.7, 0.9]], "policy"))
    (trace,) = shown(fig).data
    assert trace.customdata.ravel() == pytest.approx([0.4, 0.7, 0.5, 0.9])
    assert "[%{customdata[0]" in trace.hovertemplate


def test_what_a_figure_says_itself_stays():
    own = [line([1], [2], hovertemplate="mine"), line([1], [2], hoverinfo="skip")]
    first, second = shown(go.Figure(own)).data
    assert first.hovertemplate == "mine<extra></extra>"  # and no "trace 0" next to it
    assert second.hovertemplate is None
