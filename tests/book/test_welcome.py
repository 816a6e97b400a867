"""The welcome page plays: with touch on a phone, with the keyboard alone, and tells the truth about
the score."""

from __future__ import annotations

import pytest


def score(page, kind: str) -> float:
    """What one of the three meters shows, in percent."""
    return float(page.locator(f".spend-{kind} strong").inner_text().rstrip("%"))


def opened(html, new_page, **size):
    page = new_page(offline=True, reduced_motion="reduce", **size)
    page.goto((html / "book" / "intro.html").as_uri(), wait_until="load")
    page.locator(".spend-tile").first.wait_for()
    return page


@pytest.fixture
def page(html, new_page):
    return opened(html, new_page, viewport={"width": 390, "height": 844}, has_touch=True)


def given(page) -> list[int]:
    return [int(text or 1) for text in page.locator(".spend-tile").all_inner_texts()]


def test_the_price_does_better_within_the_same_budget(page):
    assert page.locator(".spend-tile").count() == 60
    assert sum(given(page)) == 120
    assert (
        abs(score(page, "you") - score(page, "alike")) < 2
    )  # the start deals what the mix draws by lot
    page.locator(".adalib-choice label", has_text="16").tap()
    page.locator(".spend-tile").first.tap()
    assert "to take its answers back" in page.locator(".spend-left").inner_text()
    page.get_by_role("button", name="Price it").tap()
    page.locator(".spend-left", has_text="One price").wait_for()
    assert sum(given(page)) <= 120
    assert score(page, "you") == score(page, "priced") > score(page, "alike")
    page.get_by_role("button", name="Start again").tap()
    page.locator(".spend-left", has_text="0 of 120 answers left").wait_for()


def test_what_a_tile_says_stands_next_to_it_and_keys_move_by_rows(page):
    tiles = page.locator(".spend-tile")
    tiles.nth(2).focus()
    page.keyboard.press("ArrowDown")
    at = page.evaluate(
        "[...document.querySelectorAll('.spend-tile')].indexOf(document.activeElement)"
    )
    above, below = tiles.nth(2).bounding_box(), tiles.nth(at).bounding_box()
    assert (above["x"], at > 2) == (below["x"], True)
    assert abs(page.locator(".spend-said").bounding_box()["y"] - below["y"] - below["height"]) < 20
    before = given(page)[at]
    page.keyboard.press("Enter")
    assert given(page)[at] == (1 if before == 4 else before)


def test_a_stroke_of_the_mouse_takes_back_and_all_is_on_the_first_screen(html, new_page):
    page = opened(html, new_page, viewport={"width": 1280, "height": 800})
    assert page.locator(".spend-tile").count() == 120
    last = page.get_by_role("button", name="Start again").bounding_box()
    assert last["y"] + last["height"] < 800
    first, third = (page.locator(".spend-tile").nth(at).bounding_box() for at in (2, 5))
    page.mouse.move(first["x"] + 10, first["y"] + 10)
    page.mouse.down()
    page.mouse.move(third["x"] + 10, third["y"] + 10, steps=12)
    page.mouse.up()
    assert given(page)[2:6] == [1, 1, 1, 1]
    assert "6 of 240 answers left" in page.locator(".spend-left").inner_text()
