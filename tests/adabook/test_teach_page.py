"""The teacher's page: its links show what it says they show."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs

from conftest import ROOT, prose

import contents
from adabook.paper.settings import SETTINGS, answers

TEXT = (ROOT / "book" / "teach.md").read_text(encoding="utf-8")
VIEWS = {
    text: {key: values[0] for key, values in parse_qs(html.unescape(view)).items()}
    for view, text in re.findall(
        r'<a href="\.\./notebooks/02_oracle\.html#([^"]+)">([^<]+)</a>', TEXT
    )
}


def test_links_lead_to_settings_and_questions_that_there_are():
    assert VIEWS
    for shown in VIEWS.values():
        assert shown["set"] in SETTINGS
        assert float(shown["lambda"]) >= 0
        assert "q" not in shown or shown["q"] in answers(shown["set"]).ids


def needs(chapter: contents.Page) -> set[str]:
    """The keys of the chapters that a chapter says it needs, on its own first lines."""
    sentence = re.search(r"\*\d+ minutes.*?\*", prose(chapter.stem), re.S)[0]
    sentence = re.search(r"(?:you need|;) .*", sentence, re.S)[0]
    sentence = sentence.partition("a little of")[0]  # which is no arrow of the graph
    mention = r"\{ch\}`([\w-]+)`"
    named = set(re.findall(mention, sentence))
    order = [page.key for page in contents.chapters()]
    for first, last in re.findall(f"{mention} to {mention}", sentence):
        named |= set(order[order.index(first) : order.index(last) + 1])
    return named


def test_the_graph_agrees_with_what_the_chapters_say_they_need():
    arrows = [tuple(arrow.split("-")) for arrow in re.findall(r'data-arrow="([\w-]+)"', TEXT)]
    before: dict[str, set[str]] = {}
    for source, target in arrows:
        before.setdefault(target, set()).add(source)

    def ancestors(chapter: str) -> set[str]:
        direct = before.get(chapter, set())
        return direct.union(*(ancestors(one) for one in direct))

    by_key = contents.keys()
    drawn = {end for arrow in arrows for end in arrow}
    assert {page.key for page in contents.chapters(appendices=False)} <= drawn <= set(by_key)
    for key in drawn:
        asked = needs(by_key[key])
        assert asked <= ancestors(key), f"{key} needs {asked}, the graph has {ancestors(key)}"
        mention = f"{{ch}}`{key}`"
        assert mention in TEXT
        assert by_key[key].is_appendix or mention in TEXT.split("## Plans")[1]
