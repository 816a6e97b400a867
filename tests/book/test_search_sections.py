"""The index of the search holds sections."""

from __future__ import annotations

import docutils.core
import pytest

from press.search_sections import lead, sections

PAGE = """
Title
=====

Top words.

First
-----

.. list-table::

   * - a cell

With a formula :math:`x`.

Its own words.

Inner
~~~~~

Inner words.

Last
----
"""


@pytest.fixture
def page():
    return docutils.core.publish_doctree(PAGE, settings_overrides={"doctitle_xform": False})


def test_every_section_is_without_those_in_it(page):
    found = list(sections(page))
    names = [(anchor, heading) for anchor, heading, _ in found]
    assert names == [("", "Title"), ("first", "First"), ("inner", "Inner"), ("last", "Last")]
    words = [section.astext() for _, _, section in found]
    assert [sum(text in each for each in words) for text in ("Top words", "Inner words")] == [1, 1]


def test_a_section_is_not_taken_out_of_its_page(page):
    list(sections(page))
    assert all(child.parent is node for node in page.findall() for child in node.children)


def test_what_a_section_begins_with_is_a_sentence_of_its_own(page):
    assert [lead(section) for *_, section in sections(page)] == [
        "Top words.",
        "Its own words.",
        "Inner words.",
        "",
    ]
