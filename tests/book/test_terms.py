"""Words of the glossary: where a page first uses one, it leads to its definition, which the pointer shows."""

from __future__ import annotations

import re

import pytest
from conftest import soup, toc_pages
from terms import pattern

WANTED = (
    "Lagrangian", "dual function", "duality gap", "envelope", "net value", "regret", "subgradient", "optimism",
    "in-sample", "token",
)  # fmt: skip


def test_the_longest_word_is_found_first_and_plurals_count():
    assert pattern(["dual", "dual function"]).findall("Dual functions, duals, dual-use.") == ["Dual function", "dual"]


def test_the_glossary_defines_the_words_of_the_book(html):
    terms = [term.get_text().rstrip("#") for term in soup("book/glossary").select("dl.glossary dt")]
    assert set(WANTED) <= set(terms)
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.parametrize("page", [page for page in toc_pages() if page.startswith("notebooks/")])
def test_first_mentions_lead_to_the_glossary(html, page):
    links = soup(page).select("a.adalib-term")
    glossary = soup("book/glossary")
    words = [re.sub(r"\s+", " ", link.get_text().lower()) for link in links]
    assert len(words) == len(set(words)), "a word is linked once a page"
    for link in links:
        assert len(link["title"]) > 15
        assert glossary.find(id=link["href"].split("#")[1]) is not None
        assert link.find_parent(class_="quiz") is None
        assert link.find_parent(["h1", "h2", "h3", "code", "pre"]) is None


def test_chapters_use_the_words(html):
    assert len(soup("notebooks/04_duality").select("a.adalib-term")) > 8
