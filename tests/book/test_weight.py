"""What a reader on a slow line waits for: the bytes that a page names, packed for the line."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

import pytest
from conftest import toc_pages

PACKED = {".woff2", ".png"}
# The most that a page may weigh if it holds this, and else. The letters of formulas are a font of
# 69 KB, and figures carry their data; an explorer brings its program and its questions.
MOST = {'class="adalib-explorer': 900_000, 'class="plotly-graph-div"': 500_000, "<math": 500_000}
TEXT = 400_000
# A font arrives when a page has letters of it; the serif and the sans always.
FONTS = {
    "serif.woff2": "<p",
    "sans.woff2": "<p",
    "serif-italic.woff2": "<em",
    "mono.woff2": "<code",
    "math.woff2": "<math",
}


@cache
def sent(file: Path) -> int:
    """How many bytes a host sends for a file."""
    content = file.read_bytes()
    return len(content if file.suffix in PACKED else gzip.compress(content))


def weigh(page: Path, html: Path) -> int:
    """How many bytes a page, what its head names and its explorers make; figures come later."""
    text = page.read_text(encoding="utf-8")
    # What these hold names files for a disk.
    text = re.sub(r"<(noscript|script)>.*?</\1>", "", text, flags=re.S)
    named = re.findall(r'<script [^>]*src="([^"?]+)', text)
    named += re.findall(r'<link [^>]*href="([^"?]+\.css)', text)
    files = {(page.parent / name).resolve() for name in named}
    files |= {html / "_static/fonts" / name for name, sign in FONTS.items() if sign in text}
    brought = re.findall(r'data-(?:program|settings)="(\w+)"', text)
    files |= {html / f"_static/explorer/{name}.js" for name in brought}
    return sent(page) + sum(sent(file) for file in files)


@pytest.mark.parametrize("name", [*toc_pages(), "genindex", "search"])
def test_page_is_light(html, name):
    page = html / f"{name}.html"
    text = page.read_text(encoding="utf-8")
    assert weigh(page, html) < next((most for sign, most in MOST.items() if sign in text), TEXT)


def test_no_page_loads_icons_that_nobody_uses(html):
    assert not [*html.rglob("fontawesome*.js"), *html.rglob("fa-*.woff2")]
