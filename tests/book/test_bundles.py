"""One style sheet and one script hold what every page loads."""

from __future__ import annotations

import pytest
from conftest import soup, toc_pages

from press.bundles import SCRIPTS, STYLES, joined_scripts, joined_styles


def test_addresses_in_a_style_sheet_lead_where_they_led(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.css").write_text(
        'a { b: url("../x.svg") url(y.png) url(data:z) url(#w) }', encoding="utf-8"
    )
    (tmp_path / "b.css").write_text("b { c: url(v.png) }", encoding="utf-8")
    joined = joined_styles(tmp_path, ["deep/a.css", "b.css"])
    for address in (
        "url(deep/../x.svg)",
        "url(deep/y.png)",
        "url(data:z)",
        "url(#w)",
        "url(v.png)",
    ):
        assert address in joined
    assert joined.index("a {") < joined.index("b {")


def test_a_script_ends_where_it_ended(tmp_path, new_page):
    (tmp_path / "a.js").write_text("window.a = 1 // without an end", encoding="utf-8")
    (tmp_path / "b.js").write_text("(() => (window.b = 2))()", encoding="utf-8")
    page = new_page()
    page.add_script_tag(content=joined_scripts(tmp_path, ["a.js", "b.js"]))
    assert page.evaluate("[a, b]") == [1, 2]


@pytest.mark.parametrize("name", toc_pages())
def test_a_page_names_few_files(html, name):
    head = soup(name).head
    sheets = [
        tag["href"] for tag in head.select("link[rel=stylesheet]") if tag.parent.name != "noscript"
    ]
    scripts = [tag["src"] for tag in soup(name).select("script[src]")]
    assert sum(f"/{STYLES}?" in sheet for sheet in sheets) == 1
    assert sum(f"/{SCRIPTS}?" in script for script in scripts) == 1
    assert not [file for file in sheets + scripts if "custom.css" in file or "theme" in file]


@pytest.mark.parametrize("name", ["pygments.css", "custom.css", "styles/sphinx-book-theme.css"])
def test_the_style_sheet_holds_the_others_as_they_ended(html, name):
    """The theme writes the colours of code when all pages are written."""
    folder = html / "_static"
    last_rule = (folder / name).read_text(encoding="utf-8").strip().splitlines()[-1]
    assert last_rule in (folder / STYLES).read_text(encoding="utf-8")
