"""The market game: its cards are the real curves, and the page finds the price that the package finds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

import adalib
from adalib.teach.games.market import market, market_data


@pytest.fixture(scope="module")
def word():
    return adalib.load("word-fewshot")


@pytest.fixture(scope="module")
def data(word):
    return market_data(word)


def buys(points, price: float) -> np.ndarray:
    """The budgets that the package buys on whole points, at a price in points."""
    budgets = np.array([1, 2, 4, 8, 16])
    return budgets[adalib.oracle_labels(np.atleast_2d(points) / 100, budgets, price / 100)]


def test_cards_are_the_real_curves(word, data):
    acc = word.table().acc
    assert len(data["cards"]) == 40
    assert len({tuple(card["points"]) for card in data["cards"]}) == 40
    for card in [*data["cards"], data["twin"]]:
        row = word.ids.index(card["id"])
        assert card["question"] == word.questions[row]
        assert np.abs(np.array(card["points"]) / 100 - acc[row]).max() <= 0.005 + 1e-12


@pytest.mark.parametrize("students", [5, 10, 20, 40])
def test_a_class_of_any_size_is_a_lively_market(data, students):
    points = [card["points"] for card in data["cards"][:students]]
    free, dear = buys(points, 0).mean(), buys(points, 9).mean()
    assert free > 6
    assert dear < 1.5


@pytest.mark.parametrize("students", [10, 20, 30, 40])
def test_rounding_hardly_moves_the_clearing_price(word, data, students):
    cards, cost = data["cards"][:students], np.array([1, 2, 4, 8, 16])
    exact = word.table().acc[[word.ids.index(card["id"]) for card in cards]]
    rounded = np.array([card["points"] for card in cards]) / 100
    prices = [100 * adalib.bisect(acc, cost, 3.0).lam for acc in (exact, rounded)]
    assert abs(prices[0] - prices[1]) < 0.25


def test_no_price_parts_the_twins(data):
    twin = data["twin"]
    assert (twin["low"], twin["high"]) == (1, 16)
    assert {int(buys(twin["points"], price)[0]) for price in np.arange(0.05, 9, 0.05)} == {twin["low"], twin["high"]}


def test_questions_are_data_on_the_page():
    nasty = "</script><script>alert(1)</script>"
    rng = np.random.default_rng(0)
    rows = [[str(a) for a in rng.choice([7, 8, 9], size=32, p=p)] for p in rng.dirichlet([2, 2, 2], size=400)]
    ids = [str(i) for i in range(len(rows))]
    page = market(adalib.Responses(ids, [nasty] * len(rows), ["7"] * len(rows), rows)).html
    (script,) = BeautifulSoup(page, "html.parser").find_all("script")
    assert json.loads(script.string)["cards"][0]["question"] == nasty


@pytest.fixture
def page(browser, word, tmp_path):
    """The game on a page of its own, at a price of 5."""
    static = ROOT / "book" / "_static"
    head = f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{(static / "market.css").as_uri()}">'
    script = f'<script src="{(static / "market.js").as_uri()}"></script>'
    (tmp_path / "game.html").write_text(f"{head}<body><p>The rest of the page.</p>{market(word).html}{script}")
    page = browser.new_page()
    page.set_default_timeout(600_000)
    page.goto((tmp_path / "game.html").as_uri())
    yield page
    page.close()


def test_the_page_adds_up_and_clears_as_the_package_does(page, data):
    points = np.array([card["points"] for card in data["cards"][:20]])
    said = page.locator(".market-said").first
    for price in (5, 2.5, 1):
        page.get_by_label("price, points an answer").first.fill(str(price))
        page.get_by_role("button", name="Count for me").click()
        assert f"the class buys {buys(points, price).sum()} of 60 answers" in said.inner_text()
    page.get_by_role("button", name="Find the clearing price").click()
    clears = adalib.bisect(points / 100, np.array([1, 2, 4, 8, 16]), 3.0)
    assert f"clears at {100 * clears.lam:.2f}".rstrip("0") in said.inner_text()
    assert page.locator(".market-stairs").first.is_visible()


def test_hands_are_counted_as_they_are_shown(page):
    for budget, hands in ((1, 12), (4, 6), (8, 2)):
        page.get_by_label(f"show {budget}:", exact=True).fill(str(hands))
    page.get_by_role("button", name="Add up the hands").click()
    assert "the class buys 52 of 60 answers: 8 are left." in page.locator(".market-said").first.inner_text()


def test_the_twins_jump_together(page):
    slider = page.get_by_label("price for the twins")
    seen = set()
    for price in ("1", "2", "2.3", "2.4", "3"):
        slider.fill(price)
        text = page.locator(".market-said").nth(1).inner_text()
        assert "There are 17." in text
        seen.add(text.split("buy ")[1].split(" each")[0])
    assert seen == {"1", "16"}


def test_only_the_cards_are_printed(page):
    page.evaluate("window.print = () => {}")
    page.get_by_role("button", name="Print the cards").click()
    page.emulate_media(media="print")
    assert page.locator(".market-sheet .market-card").count() == 20
    assert page.locator(".market-sheet .market-card").first.is_visible()
    assert not page.get_by_text("The rest of the page.").is_visible()
    page.emulate_media(media="screen")
    assert not page.locator(".market-sheet").is_visible()
