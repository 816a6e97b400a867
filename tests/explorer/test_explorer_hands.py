"""The explorer under a reader's hands: a finger that scrolls, a keyboard alone, large files, and
letters that hide."""

from __future__ import annotations

import json

import numpy as np
import pytest
from explorer_page import check, drop, random_table, until

from adalib.datasets.responses import Responses
from adalib.explorer import setting

pytest_plugins = ["explorer_page"]


@pytest.fixture
def phone(show):
    """A page of 390 x 800 that is touched, and what moves one finger over it."""
    page = show(
        random_table(3, n=300),
        viewport={"width": 390, "height": 800},
        has_touch=True,
        is_mobile=True,
    )
    wire = page.context.new_cdp_session(page)

    def swipe(node, across: float, down: float) -> None:
        box = node.bounding_box()
        x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
        wire.send(
            "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}
        )
        for part in np.linspace(0.1, 1, 10):
            point = {"x": x + part * across, "y": y + part * down}
            wire.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    return page, swipe


PRICE = "document.querySelector('.adalib-explorer').dataset.lam"


def test_a_finger_drags_or_taps_but_does_not_change_by_scrolling(phone):
    page, swipe = phone
    nodes = [page.locator("[data-control=lambda]"), page.locator("[data-control=budget]")]
    nodes += [page.locator(".ax-panel > svg").nth(at) for at in range(3)] + [
        page.locator(".ax-map")
    ]
    for at, node in enumerate(nodes):
        node.scroll_into_view_if_needed()
        before, question = page.evaluate(PRICE), page.locator(".ax-qid").text_content()
        place = node.evaluate("(node) => [node.value, scrollY]")
        swipe(node, 12, -150)
        until(page, "(y) => scrollY > y", place[1])  # the page went along
        page.wait_for_timeout(100)
        assert page.evaluate(PRICE) == before
        assert page.locator(".ax-qid").text_content() == question
        assert node.evaluate("(node) => node.value") == place[0]
        if at < 5:
            node.scroll_into_view_if_needed()
            swipe(node, 90, 8)
            until(page, f"(before) => {PRICE} !== before", before)
    nodes[5].scroll_into_view_if_needed()
    nodes[5].tap(position={"x": 60, "y": 30})
    assert page.locator(".ax-qid").text_content() != "Question 0"
    before = page.evaluate(PRICE)
    nodes[2].scroll_into_view_if_needed()
    nodes[2].tap(position={"x": 90, "y": 100})
    assert page.evaluate(PRICE) != before


@pytest.mark.parametrize("size", [(390, 800), (1200, 900)])
def test_tiles_and_sliders_are_in_sight_together(show, size):
    page = show(random_table(3, n=400), viewport=dict(zip(("width", "height"), size, strict=True)))
    page.locator(".ax-bar").evaluate("(bar) => bar.scrollIntoView()")
    edges = """() => ['.ax-bar', '.ax-map', '.ax-pick'].map((name) => {
      const box = document.querySelector(name).getBoundingClientRect();
      return [box.top, box.bottom];
    })"""
    (_, under_bar), (top, bottom), _ = page.evaluate(edges)
    assert under_bar <= top < bottom <= size[1]
    # Further down the sliders are still there, above what they move.
    page.locator(".ax-pick").evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    (bar, _), _, (pick, _) = page.evaluate(edges)
    assert 0 <= bar < pick < size[1]


def test_the_arrow_keys_walk_over_the_tiles(show):
    table = random_table(5, n=150)
    page = show(table)
    tiles = page.get_by_role("slider", name="Question shown")
    tiles.focus()
    seen = [tiles.get_attribute("aria-valuenow")]
    for key in ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "End", "ArrowRight", "Home"]:
        page.keyboard.press(key)
        check(page, table)
        seen.append(tiles.get_attribute("aria-valuenow"))
    columns = int(seen[2]) - int(seen[1])
    assert seen == [str(x) for x in (1, 2, 2 + columns, 1 + columns, 1, 150, 150, 1)]
    assert "budget" in tiles.get_attribute("aria-valuetext")


def test_reading_a_large_file_can_be_stopped(show):
    rng = np.random.default_rng(0)
    lines = [
        json.dumps(
            {
                "id": f"q{i}",
                "question": f"{i}?",
                "gold": "1",
                "answers": rng.integers(0, 20, 32).tolist(),
            }
        )
        for i in range(3000)
    ]
    page = show(random_table(1))
    page.evaluate(
        """() => { window.stopped = 0; window.shares = [];
        const bar = document.querySelector('.ax-reading progress');
        const turn = () => {
          if (!bar.parentNode.hidden) {
            shares.push(bar.value);
            // Pressed from within: a machine may read faster than we press.
            if (!stopped++) document.querySelector('.ax-reading button').click();
          }
          setTimeout(turn);
        };
        turn(); }"""
    )
    drop(page, "large.jsonl", "\n".join(lines))
    until(page, "stopped && document.querySelector('.ax-reading').hidden")
    assert (
        "60 questions" in page.locator(".ax-about").text_content()
    )  # what was there before is still there
    drop(page, "large.jsonl", "\n".join(lines))
    page.get_by_text("3000 questions, 5 budgets.").wait_for(timeout=120_000)
    shares = page.evaluate("shares")
    assert len(set(shares)) >= 3  # the page had its turns while it read
    assert page.locator(".ax-reading").is_hidden()


def test_letters_that_hide_or_turn_the_line_are_shown_or_kept_apart(show):
    ids = ["a", "a\u200f", "\u202eb", "c\x07\n"]
    turned = "\u202eturned round"
    responses = Responses(ids, [turned] * 4, ["1"] * 4, [["1", turned]] * 4)
    page = show([setting(responses, title="t\u202etitle")])
    titles = set()
    for _ in ids:
        titles.add(page.locator(".ax-qid").text_content())
        page.get_by_label("Next question").click()
    assert titles == {
        "Question a",
        "Question a\\u200f",
        "Question \\u202eb",
        "Question c\\u0007\\u000a",
    }
    assert page.locator("option").first.text_content() == "t\\u202etitle"
    apart = "(node) => getComputedStyle(node).unicodeBidi"
    assert page.locator(".ax-gold bdi").evaluate(apart) == "isolate"
    assert page.locator(".ax-votes bdi").nth(1).evaluate(apart) == "isolate"
    assert (
        page.locator("blockquote").evaluate("(node) => getComputedStyle(node).display") == "block"
    )
