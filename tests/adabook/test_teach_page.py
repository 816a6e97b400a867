"""The teacher's page: its links show what it says they show."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs

import numpy as np
import pytest
from conftest import ROOT, prose

import adalib
import contents
from adabook.paper.settings import SETTINGS, answers, utility

TEXT = (ROOT / "book" / "teach.md").read_text(encoding="utf-8")
VIEWS = {
    text: {key: values[0] for key, values in parse_qs(html.unescape(view)).items()}
    for view, text in re.findall(
        r'<a href="\.\./notebooks/02_oracle\.html#([^"]+)">([^<]+)</a>', TEXT
    )
}


def view(text: str):
    """The table, the price and the row that a link shows."""
    shown = VIEWS[text]
    row = answers(shown["set"]).ids.index(shown["q"]) if "q" in shown else None
    return utility(shown["set"]), float(shown["lambda"]), row


def test_links_show_a_lost_question_and_free_compute():
    assert len(VIEWS) == 7
    for shown in VIEWS.values():
        assert shown["set"] in SETTINGS
        assert float(shown["lambda"]) >= 0
        assert "q" not in shown or shown["q"] in answers(shown["set"]).ids
    table, lam, row = view("a question that is lost")
    assert table.acc[row].max() < 0.05
    assert all(
        adalib.oracle_labels(table.acc, table.cost, price)[row] == 0 for price in (0.001, 0.01, lam)
    )
    table, lam, row = view("free compute")
    assert lam == 0
    assert adalib.oracle_labels(table.acc, table.cost, 0.0)[row] < table.k - 1
    assert table.acc[row, -1] < table.acc[row].max() - 0.1


def test_links_show_steps_jumps_and_votes_that_hurt():
    table, lam, row = view("the trees at a price of 0.04")
    bought = adalib.oracle_labels(table.acc, table.cost, lam)[row]
    assert table.budgets[bought] == 8
    assert table.acc[row, 1] - table.acc[row, 0] < lam
    assert table.acc[row, bought] - table.acc[row, 0] > lam * 7
    table, _, _ = view("a staircase with wide steps (simulated)")
    falls = -np.diff(adalib.frontier(table.acc, table.cost).cost[::-1])
    assert falls.max() > 10 * np.median(falls)
    table, _, row = view("a question that voting hurts")
    assert (np.diff(table.acc[row, [0, 2, 3, 4]]) < 0).all()


@pytest.mark.parametrize(
    "text", ["the same price on the drills", "the drills at the price that meets B = 2 elsewhere"]
)
def test_one_price_makes_two_bills(text):
    drill, lam, _ = view(text)
    word = utility("word-fewshot")
    assert lam == pytest.approx(adalib.frontier(word.acc, word.cost).at(2).lam, abs=5e-4)
    assert adalib.average_cost(drill.acc, drill.cost, lam) < 1.2


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
