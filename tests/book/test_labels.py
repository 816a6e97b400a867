"""Links that tables write are led to the book's labels, and a label that no page has is a warning,
which stops it."""

from __future__ import annotations

from types import SimpleNamespace

from bs4 import BeautifulSoup
from docutils import nodes

from press import cross_references

KNOWN = {"estimation-windows": ("notebooks/05", "id3"), "here": ("notebooks/12", "id1")}


def test_a_label_becomes_an_address_or_a_warning(monkeypatch):
    warned = []
    monkeypatch.setattr(
        cross_references.logger,
        "warning",
        lambda text, *values, **place: warned.append(text % values),
    )
    app = SimpleNamespace(
        numbers={"notebooks/05": "5"},
        env=SimpleNamespace(get_domain=lambda name: SimpleNamespace(anonlabels=KNOWN)),
        builder=SimpleNamespace(
            get_relative_uri=lambda page, target: target.split("/")[1] + ".html"
        ),
    )

    def resolved(body: str) -> str:
        page = nodes.section("", nodes.raw("", body, format="html"))
        cross_references.lead_to_labels(app, page, "notebooks/12")
        return page.astext()

    page = (
        '<a class="adalib-see" href="#estimation-windows" style="x">5</a>'
        '<a href="#estimation-windows">as is</a>'
    )
    links = BeautifulSoup(resolved(page), "html.parser").find_all("a")
    assert [a["href"] for a in links] == ["05.html#id3", "#estimation-windows"]
    assert 'href="#id1"' in resolved('<a class="adalib-see" href="#here">x</a>')
    place = '<span class="adalib-chapter">{}</span>'
    link = '<a class="adalib-see" href="#estimation-windows">See {}</a>'
    assert "See chapter 5<" in resolved(link.format(place.format("in the book")))
    assert warned == []
    assert "#nowhere" in resolved('<a class="adalib-see" href="#nowhere">x</a>')
    (warning,) = warned
    assert "'nowhere'" in warning
