"""Figures on a page: a text alternative always, data that cannot break out, and the figure left as it was."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest
from bs4 import BeautifulSoup

from adalib.teach import figures


def caption(shown) -> str:
    """What names the picture on the page."""
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    return page.find(id=page.find(role="img")["aria-labelledby"]).get_text()


def test_show_needs_a_text_alternative():
    with pytest.raises(ValueError, match="alt="):
        figures.show(go.Figure())


def test_the_title_is_the_text_alternative_by_default():
    shown = figures.show(go.Figure(layout={"title": "Cost falls as the price rises"}))
    assert caption(shown) == "Cost falls as the price rises"


def test_show_leaves_the_figure_as_it_was_and_uses_the_template():
    fig = go.Figure(go.Bar(y=[1, 2]))
    before = fig.to_json()
    shown = figures.show(fig, alt="Two bars.")
    assert fig.to_json() == before
    assert tuple(shown.fig.layout.template.layout.colorway) == figures.COLOURS


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", '" onload="alert(1)', "a < b & c", "<!--"])
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


def test_both_formats_are_offered_and_every_figure_has_its_own_place():
    shown = figures.show(go.Figure(go.Bar(y=[1])), alt="One bar.")
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html"}
    assert shown._repr_html_() != bundle["text/html"]


def test_neighbouring_colours_stand_apart_from_both_backgrounds():
    """WCAG asks a contrast of 3 for graphics; the palette keeps 2 or more on white and on the dark page."""

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colour in figures.COLOURS:
        for ground in ("#ffffff", "#121212"):
            dark, light = sorted((luminance(colour), luminance(ground)))
            assert (light + 0.05) / (dark + 0.05) >= 2
