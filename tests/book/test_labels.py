"""Links that tables write are led to the book's labels, and a label that no page has is a warning, which stops it."""

from __future__ import annotations

from types import SimpleNamespace

import labels
from bs4 import BeautifulSoup

KNOWN = {"ch05-windows": ("notebooks/05", "id3"), "here": ("notebooks/12", "id1")}


def test_a_label_becomes_an_address_and_one_that_no_page_has_is_a_warning(monkeypatch):
    warned = []
    monkeypatch.setattr(
        labels.logger, "warning", lambda text, *values, **place: warned.append(text % values)
    )
    app = SimpleNamespace(
        env=SimpleNamespace(get_domain=lambda name: SimpleNamespace(anonlabels=KNOWN)),
        builder=SimpleNamespace(
            get_relative_uri=lambda page, target: target.split("/")[1] + ".html"
        ),
    )

    def resolved(body: str) -> str:
        context = {"body": body}
        labels.resolve(app, "notebooks/12", "page.html", context, None)
        return context["body"]

    page = '<a class="adalib-see" href="#ch05-windows" style="x">5</a><a href="#ch05-windows">as is</a>'
    links = BeautifulSoup(resolved(page), "html.parser").find_all("a")
    assert [a["href"] for a in links] == ["05.html#id3", "#ch05-windows"]
    assert resolved('<a class="adalib-see" href="#here">') == '<a class="adalib-see" href="#id1">'
    assert warned == []
    assert "#nowhere" in resolved('<a class="adalib-see" href="#nowhere">')
    assert warned == ["a table links to the label 'nowhere', which no page has"]
