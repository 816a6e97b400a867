"""The explorer as a static Space."""

from __future__ import annotations

import json
import re

import yaml

from adabook.paper.settings import shelf
from editions.space import write_space


def test_the_space_is_a_page_that_its_readme_names(tmp_path):
    write_space(tmp_path / "space", "https://a.example/book")
    _, header, text = (tmp_path / "space" / "README.md").read_text("utf-8").split("---\n")
    card = yaml.safe_load(header)
    assert card["sdk"] == "static"
    assert "https://a.example/book" in text
    page = (tmp_path / "space" / card["app_file"]).read_text("utf-8")
    (settings,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    assert [one["name"] for one in json.loads(settings)] == [one["name"] for one in shelf()]


def test_a_space_of_an_unpublished_book_leads_nowhere(tmp_path):
    write_space(tmp_path, "")
    assert "](" not in (tmp_path / "README.md").read_text("utf-8")


def test_the_space_draws_its_explorer(tmp_path, new_page):
    write_space(tmp_path, "")
    page = new_page()
    page.goto((tmp_path / "index.html").as_uri())
    page.locator(".adalib-explorer [data-control=lambda]").wait_for()
