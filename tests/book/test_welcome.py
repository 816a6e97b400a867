"""The welcome page plays: with touch on a phone, with the keyboard alone, and tells the truth about the score."""

from __future__ import annotations

import pytest


@pytest.fixture
def page(html, new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, offline=True)
    page.goto((html / "book" / "intro.html").as_uri(), wait_until="load")
    page.locator(".spend-tile").first.wait_for()
    return page


def test_spending_by_hand_never_beats_its_own_budget(page):
    tiles = page.locator(".spend-tile")
    assert tiles.count() == 372
    page.locator(".adalib-choice label", has_text="16").tap()
    for row in range(25):
        tiles.nth(row).tap()
    assert "3 answers too many" in page.locator(".spend-bar").inner_text()  # 25 times 15 more, and 372 to give
    page.get_by_role("button", name="Score me").tap()
    assert page.locator(".spend-result").inner_text() == "Take 3 answers back first."
    tiles.nth(0).tap()
    page.get_by_role("button", name="Score me").tap()
    assert page.locator(".spend-result").inner_text().startswith("You: ")


def test_the_price_spends_the_same_answers_and_does_better_and_the_keyboard_alone_plays(page):
    page.get_by_role("button", name="Price it").tap()
    said = page.locator(".spend-result").inner_text()
    alike, price = (float(word.rstrip("%;.")) for word in said.split() if "%" in word)
    assert price > alike
    assert "too many" not in page.locator(".spend-bar").inner_text()
    page.get_by_role("button", name="Start again").tap()
    assert "372 of 744 answers left" in page.locator(".spend-bar").inner_text()
    page.locator(".spend-tile").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".spend-tile").nth(1).inner_text() == "4"
    page.keyboard.press("Space")
    assert page.locator(".spend-tile").nth(1).inner_text() == ""
