"""The welcome page plays: with touch on a phone, with the keyboard alone, and tells the truth about
the score."""

from __future__ import annotations

import re
from collections import Counter

import pytest


def score(page, kind: str) -> float:
    """What one of the three bars shows: points gained over one answer each."""
    return float(page.locator(f".spend-{kind} strong").inner_text().replace("−", "-"))


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


def points(page) -> list[float]:
    """The two numbers of "You found X of the Y points that a price finds"."""
    text = page.locator(".spend-result", has_text="You found").inner_text().replace("−", "-")
    return [float(number) for number in re.findall(r"-?\d+\.\d", text)[:2]]


def test_your_plan_is_compared_with_the_price(page):
    left = page.locator(".spend-left")
    assert given(page) == [1] * 60
    assert left.inner_text() == "60 of 60 extra answers left"
    assert score(page, "you") == 0
    page.locator(".adalib-choice label", has_text="16").tap()
    for tile in range(4):
        page.locator(".spend-tile").nth(tile).tap()
    mine = given(page)
    assert mine == [16] * 4 + [1] * 56
    page.locator(".spend-tile").nth(4).tap()
    assert given(page) == mine
    assert "15 needed, 0 left" in left.inner_text()
    own = score(page, "you")
    page.get_by_role("button", name="Price it").tap()
    found, possible = points(page)
    assert found == own == score(page, "you")
    assert possible == score(page, "priced") > score(page, "alike")
    # What the page says of the price is what the tiles show.
    counts = Counter(given(page))
    keep = counts.pop(1)
    shares = [f"{count} questions {budget} answers each" for budget, count in counts.items()]
    said = page.locator(".spend-result").inner_text()
    assert all(share in said for share in [*shares, f"{keep} keep one"])
    assert mine != given(page)
    assert sum(given(page)) <= 120
    page.get_by_role("button", name="Back to mine").tap()
    assert given(page) == mine
    page.get_by_role("button", name="Start again").tap()
    assert given(page) == [1] * 60


def test_a_link_shows_the_plan_that_was_shared(page, html, new_page):
    page.evaluate(
        "navigator.share = undefined;"
        "navigator.clipboard.writeText = async (text) => (window.copied = text)"
    )
    page.locator(".spend-tile").nth(7).tap()
    page.get_by_role("button", name="Share").tap()
    page.locator(".spend-result", has_text="clipboard").wait_for()
    link = page.evaluate("copied.split(' ').at(-1)")
    wide = new_page(offline=True, viewport={"width": 1280, "height": 800})
    wide.goto(link)
    wide.locator(".spend-tile").first.wait_for()
    assert given(wide) == given(page) == [1] * 7 + [4] + [1] * 52
