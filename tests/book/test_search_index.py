"""What the search looks words up in, in a small book that is built and then changed."""

from __future__ import annotations

import json

import pytest
from sphinx.testing.util import SphinxTestApp

from editions import handout

CONF = """
extensions = ["myst_nb", "press.mended"]
nb_execution_mode = "off"
root_doc = "intro"
"""
PAGES = {
    "intro": "# Intro\n\n```{toctree}\nwords\nteach\n```\n",
    "words": "# Words\n\n```{glossary}\nshadow price\n  What one more is worth.\n```\n",
    "teach": "# Teaching\n\n```{index} single: rubric\n```\n\nUnheard.\n",
}


@pytest.fixture
def book(tmp_path):
    """A folder with a small book."""
    (tmp_path / "conf.py").write_text(CONF, encoding="utf-8")
    for name, text in PAGES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    return tmp_path


def build(folder, then=lambda builder: None):
    """Build the book, and return what its search knows."""
    app = SphinxTestApp(srcdir=folder, freshenv=False)
    app.build()
    then(app.builder)
    app.cleanup()
    return read(folder / "_build" / "html" / "searchindex.js")


def read(file):
    """An index as data."""
    script = file.read_text(encoding="utf-8")
    return json.loads(script.removeprefix("Search.setIndex(").removesuffix(")"))


def test_a_page_that_is_not_built_again_keeps_its_entries(book):
    first = build(book)
    assert first["indexentries"].keys() == {"shadow price", "rubric"}
    (book / "intro.md").write_text(PAGES["intro"] + "\nMore.\n", encoding="utf-8")
    again = build(book)
    assert "more" in again["terms"]
    assert again["indexentries"] == first["indexentries"]


def test_an_entry_that_a_page_no_longer_has_is_gone(book):
    build(book)
    changed = PAGES["words"].replace("shadow price", "net value")
    (book / "words.md").write_text(changed, encoding="utf-8")
    assert build(book)["indexentries"].keys() == {"net value", "rubric"}


def test_the_students_index_has_nothing_of_the_teachers_pages(book, monkeypatch):
    monkeypatch.setattr(handout, "TEACHERS", ("teach",))
    whole = build(book, handout.write_index)
    theirs = read(book / "_build" / handout._INDEX)
    assert whole["indexentries"].keys() == {"shadow price", "rubric"}
    assert theirs["indexentries"].keys() == {"shadow price"}
    assert whole["terms"].keys() - theirs["terms"].keys() == {"unheard"}
    assert whole["titleterms"].keys() - theirs["titleterms"].keys() == {"teach"}
