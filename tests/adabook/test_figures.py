"""Figures on a page, the shapes they are made of, those of chapters 5 to 8, and all of the built
book."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from bs4 import BeautifulSoup
from conftest import contrast, toc_pages

from adabook import figures
from adabook.figures import shapes
from adabook.figures.evidence import Worth, drag_samples
from adabook.figures.style import SERIES

ESTIMATE = [0.5, 0.6], [0.4, 0.55], [0.7, 0.61]  # mean, low, high


def caption(shown) -> str:
    """What names the picture on the page."""
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    return page.find(id=page.find(role="img")["aria-labelledby"]).get_text()


def test_show_needs_a_text_alternative():
    with pytest.raises(ValueError, match="alt="):
        figures.show(go.Figure())
    shown = figures.show(go.Figure(layout={"title": "Cost falls as the price rises"}))
    # The title is, by default.
    assert caption(shown) == "Cost falls as the price rises"
    fig = go.Figure(go.Bar(y=[1, 2], customdata=np.array([0.5, None])))
    before = fig.to_json()
    shown = figures.show(fig, alt="Two bars.")
    assert fig.to_json() == before
    assert tuple(shown.fig.layout.template.layout.colorway) == SERIES
    bundle = shown._repr_mimebundle_()
    assert set(json.loads(json.dumps(bundle))) == {
        "application/vnd.plotly.v1+json",
        "text/html",
    }  # no arrays
    assert shown._repr_html_() != bundle["text/html"]


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", '" onload="alert(1)', "a < b & c", "<!--"]
)
def test_text_is_data_wherever_it_stands(text):
    fig = go.Figure(go.Bar(y=[1], name=text), layout={"xaxis": {"title": text}})
    shown = figures.show(fig, alt=text)
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    (script,) = page.find_all("script")
    data = json.loads(script.string)
    assert script["type"] == "application/json"
    assert data["data"][0]["name"] == data["layout"]["xaxis"]["title"]["text"] == text
    assert caption(shown) == text
    assert set(page.find(role="img").attrs) == {"id", "class", "role", "aria-labelledby", "style"}


def test_neighbouring_colours_stand_apart_from_both_backgrounds():
    """WCAG asks a contrast of 3 for graphics; the palette keeps 2 or more on white and on the dark
    page."""
    for colour in figures.COLOURS:
        for ground in ("#ffffff", "#121212"):
            assert contrast(colour, ground) >= 2


def ends(trace, axis="y") -> list:
    """The mean and the ends of the intervals that a trace draws."""
    mean, error = np.array(trace[axis]), trace[f"error_{axis}"]
    return [mean.tolist(), (mean - error.arrayminus).tolist(), (mean + error.array).tolist()]


def steps(fig: go.Figure) -> list[str]:
    """What the slider of a figure offers, which is what it has frames for."""
    labels = [step.label for step in fig.layout.sliders[0].steps]
    assert labels == [frame.name for frame in fig.frames]
    assert labels[fig.layout.sliders[0].active] is not None
    return labels


@pytest.mark.parametrize(
    ("trace", "axis"),
    [
        (shapes.line([1, 2], ESTIMATE), "y"),
        (shapes.dots(ESTIMATE, [1, 2]), "x"),
        (shapes.bar(["a", "b"], ESTIMATE, sideways=True), "x"),
        (shapes.lines([1, 2], {"a": ESTIMATE}, "x", "y").data[0], "y"),
        (shapes.bars(["a", "b"], {"a": ESTIMATE}, "y").data[0], "y"),
    ],
)
def test_an_estimate_is_drawn_with_its_interval(trace, axis):
    assert np.array(ends(trace, axis)) == pytest.approx(np.array(ESTIMATE))
    assert list(trace["x" if axis == "y" else "y"]) in ([1, 2], ["a", "b"])


def test_a_slider_moves_the_whole_figure():
    fig = shapes.panels([[shapes.line([0, 1], [0, 1], "still")], []])
    shapes.drag(
        fig,
        [0.5, "all"],
        lambda i: [shapes.dots([i], [i]), shapes.bar(["a"], [i])],
        "share ",
        rows=(1, 2),
        titles=["stop 0", "stop 1"],
        layout=lambda i: {"yaxis": {"range": [0, 1 + i]}},
        active=1,
    )
    assert steps(fig) == ["0.5", "all"]
    assert [trace.yaxis for trace in fig.data] == ["y", "y", "y2"]
    assert fig.layout.title.text == fig.frames[1].layout.title.text == "stop 1"
    assert all(list(frame.traces) == [1, 2] for frame in fig.frames)
    assert (fig.layout.yaxis.range, fig.frames[0].layout.yaxis.range) == ((0, 2), (0, 1))


def test_a_claim_and_its_worth_keep_their_names_at_every_stop():
    stops = {2: Worth([0.7, 0.8], [0.5, 0.6]), 48: Worth([0.65, 0.75], [0.6, 0.7])}
    fig = drag_samples(stops, [1, 2], [0.66, 0.76], active=1)
    assert {trace.name: list(trace.y) for trace in fig.data} == {
        "best possible": [0.66, 0.76],
        "claimed": [0.65, 0.75],
        "worth": [0.6, 0.7],
    }
    for frame, stop in zip(fig.frames, stops.values(), strict=True):
        shown = [list(trace.y) for trace in frame.data]
        assert shown == [stop.claimed, stop.worth]
        assert [fig.data[at].name for at in frame.traces] == ["claimed", "worth"]


def numbers(values) -> np.ndarray:
    """What a trace on a page holds: values as they are, or plotly's encoding of numbers."""
    packed = isinstance(values, dict)
    return (
        np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
        if packed
        else np.array(values)
    )


@pytest.mark.parametrize("page", [page for page in toc_pages() if page.startswith("notebooks/")])
def test_every_figure_of_the_book_is_whole(html, page):
    """As many x as y in every trace, a frame for every stop, a mean between its ends."""
    text = (html / f"{page}.html").read_text(encoding="utf-8")
    found = re.findall(
        r'<figure class="adalib-figure.*?"application/json">(.*?)</script>.*?<figcaption',
        text,
        re.S,
    )
    assert len(found) == text.count('<figure class="adalib-figure')
    for fig in map(json.loads, found):
        frames = fig.get("frames", [])
        for slider in fig["layout"].get("sliders", []):
            assert {step["args"][0][0] for step in slider["steps"]} <= {
                frame["name"] for frame in frames
            }
        for trace in [*fig["data"], *(trace for frame in frames for trace in frame["data"])]:
            if trace["type"] != "heatmap":
                assert len(numbers(trace["x"])) == len(numbers(trace["y"])), trace.get("name")
            for error in (trace.get("error_x", {}), trace.get("error_y", {})):
                if "array" in error:
                    ends = np.concatenate([numbers(error["array"]), numbers(error["arrayminus"])])
                    assert np.nanmin(ends.astype(float)) >= -1e-9, trace.get("name")


def test_tables_show_text_as_text():
    frame = pd.DataFrame({"claim": ["one\n<script>1</script>"], "where": ["a < b"]})
    page = BeautifulSoup(figures.table(frame)._repr_html_(), "html.parser")
    assert page.find("script") is None
    assert page.find_all("td")[1].text == "a < b"
