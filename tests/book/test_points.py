"""Gains are quoted in one format on every page, and the notebooks for JupyterLab quote them the same."""

import json
import re

import pytest
from conftest import ROOT, toc_pages

from editions.text import spelled_out

QUOTED = re.compile(r"\{points\}`(\w+)(?::(\d))?`")


def test_points_are_hundredths_with_a_sign():
    assert spelled_out("{points}`a`, {points}`b:2`, {points}`c`", {"a": "0.0361", "b": "-0.0042", "c": "-0.0001"}) == (
        "+3.6, -0.42, +0.0"
    )


@pytest.mark.parametrize("page", [page for page in toc_pages() if page.startswith("notebooks/")])
def test_a_gain_on_the_page_is_the_gain_that_was_computed(page, html):
    built = (html / f"{page}.html").read_text(encoding="utf-8")
    source = "".join(
        "".join(cell["source"])
        for cell in json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    )
    assert "{points}" not in built
    kept = html.parent / "jupyter_execute" / f"{page}.glue.json"
    values = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name, digits in QUOTED.findall(source):
        said = f"{100 * float(values[name]['data']['text/plain']):+z.{digits or 1}f}"
        assert f'<span class="pasted-text">{said}</span>' in built


def test_a_number_at_the_head_of_a_line_begins_no_list():
    assert spelled_out("it takes\n{glue:text}`n`. The {glue:text}`n`. Then", {"n": "1"}) == "it takes\n1\\. The 1. Then"
