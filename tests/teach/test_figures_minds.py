"""The figures of chapter 13 draw the numbers that they are given."""

from adalib.teach.figures import minds as draw


def test_votes_are_a_line_a_model():
    fig = draw.votes((1, 4), {"small": [0.1, 0.2], "<b>large": [0.8, 0.9]})
    assert [list(trace.y) for trace in fig.data] == [[0.1, 0.2], [0.8, 0.9]]
    assert fig.data[1].name == "&lt;b&gt;large"  # a name is text, not markup


def test_a_model_has_one_colour_as_line_and_as_dots():
    lines = {"small alone": ([1, 2], [0.1, 0.2]), "large alone": ([3, 4], [0.5, 0.6]), "the menu": ([1, 4], [0.1, 0.7])}
    dots = {"small": ([1], [0.1], ["small x1"]), "large": ([3], [0.5], ["large x1"])}
    fig = draw.frontiers(lines, dots)
    assert [list(trace.x) for trace in fig.data] == [[1, 2], [3, 4], [1, 4], [1], [3]]
    assert fig.data[0].line.color == fig.data[3].marker.color
    assert fig.data[1].line.color == fig.data[4].marker.color


def test_ratios_carry_their_intervals():
    fig = draw.ratios((2, 10), {"cascade": [(0.0, -0.25, 0.5), (0.5, 0.25, 1.0)]})
    assert list(fig.data[0].y) == [0.0, 50.0]  # in points
    assert list(fig.data[0].error_y.array) == [50.0, 50.0]
    assert list(fig.data[0].error_y.arrayminus) == [25.0, 25.0]
