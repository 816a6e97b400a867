"""The drawing of the whole, on its own and in the chapters."""

import re
from xml.etree import ElementTree

import pytest
import yaml
from conftest import ROOT

from adabook.figures import whole
from contents import chapters

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["question", "text", "plan", "answers", "watch", "vote", "check", "budget", "price"]


def boxes(*lit: str) -> ElementTree.Element:
    return ElementTree.fromstring(whole(*lit).html).find(f"{SVG}svg")


def test_the_boxes_that_are_named_are_lit_and_told():
    told = [boxes().find(f"{SVG}desc").text]
    for name in NAMES:
        drawn = boxes(name)
        groups = drawn.findall(f"{SVG}g")
        assert [one.get("class") for one in groups].index("is-lit") == NAMES.index(name)
        told.append(drawn.find(f"{SVG}desc").text)
    assert len(set(told)) == len(NAMES) + 1
    assert whole(*NAMES).html.count("is-lit") == len(NAMES)
    with pytest.raises(ValueError, match="'vot'"):
        whole("vot")


def test_no_two_boxes_meet():
    edges = []
    for box in boxes().iter(f"{SVG}rect"):
        x, y, wide, high = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        for left, up, right, down in edges:
            assert x >= right or x + wide <= left or y >= down or y + high <= up
        edges.append((x, y, x + wide, y + high))
    assert len(edges) == len(NAMES)


def test_each_part_of_the_main_line_opens_with_it():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    firsts = {part["chapters"][0]["file"] for part in parts}
    for page in chapters(ROOT, appendices=False):
        shown = [one for one in page.cells if re.search(r"^whole\(", one["source"], re.M)]
        assert len(shown) == (page.name in firsts), page.name
