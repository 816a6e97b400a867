"""The explorer under a reader's hands: a finger that scrolls, a keyboard alone, large files, and
letters that hide."""

from __future__ import annotations

import json

import numpy as np
import pytest
from explorer_page import check, digits_of, drop, random_table, shown, until

from adalib.datasets.responses import Responses
from adalib.explorer import setting
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average, average_cost, oracle_labels

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


# Not under the bar that stays in sight.
MIDDLE = "(node) => node.scrollIntoView({ block: 'center' })"
PRICE = "document.querySelector('.adalib-explorer').dataset.lam"


def test_a_finger_drags_or_taps_but_does_not_change_by_scrolling(phone):
    page, swipe = phone
    page.evaluate("document.body.style.paddingBottom = '100vh'")  # the last panel can scroll too
    nodes = [page.locator("[data-control=lambda]"), page.locator("[data-control=budget]")]
    nodes += [page.locator(":is(.ax-drag > svg, svg.ax-dragx)").nth(at) for at in range(3)]
    nodes.append(page.locator(".ax-map"))
    for at, node in enumerate(nodes):
        node.evaluate(MIDDLE)
        before, question = page.evaluate(PRICE), page.locator(".ax-qid").text_content()
        place = node.evaluate("(node) => [node.value, scrollY]")
        swipe(node, 12, -150)
        until(page, "(y) => scrollY > y", place[1])  # the page went along
        page.wait_for_timeout(100)
        assert page.evaluate(PRICE) == before
        assert page.locator(".ax-qid").text_content() == question
        assert node.evaluate("(node) => node.value") == place[0]
        if at < 5:
            node.evaluate(MIDDLE)
            swipe(node, 80 + 10 * at, 8)
            until(page, f"(before) => {PRICE} !== before", before)
    nodes[5].evaluate(MIDDLE)
    nodes[5].tap(position={"x": 60, "y": 30})
    until(page, "document.querySelector('.ax-qid').textContent !== 'Question 0'")


def test_the_mouse_shows_a_question_and_what_it_takes(show):
    table = random_table(3, n=400)
    page = show(table)
    title, kept = page.locator(".ax-qid"), page.locator(".ax-qid").text_content()
    page.locator(".ax-map").hover(position={"x": 200, "y": 60})
    until(page, "(kept) => document.querySelector('.ax-qid').textContent !== kept", kept)
    row = table.ids.index(title.text_content().split()[1])
    lam = float(page.evaluate(PRICE))
    best = (table.acc[row] - lam * table.cost).argmax()
    assert page.locator(".ax-winner text").text_content() == f"takes {table.budgets[best]}"
    page.mouse.move(5, 5)
    until(page, "(kept) => document.querySelector('.ax-qid').textContent === kept", kept)


def test_a_sweep_raises_the_price_to_the_end_and_a_key_stops_it(show):
    page = show(random_table(3))
    page.locator("[data-control=lambda]").press("Home")
    page.get_by_role("button", name="Sweep the price").click()
    until(page, f"() => Number({PRICE}) > 0")
    page.locator("[data-control=lambda]").press("Shift")
    price = page.evaluate(PRICE)
    page.wait_for_timeout(150)
    assert page.evaluate(PRICE) == price


def test_where_motion_is_unwelcome_a_press_goes_to_the_next_stop(show):
    page = show(random_table(3), reduced_motion="reduce")
    page.locator("[data-control=lambda]").press("Home")
    page.get_by_role("button", name="Sweep the price").click()
    price = page.evaluate(PRICE)
    page.wait_for_timeout(150)
    assert page.evaluate(PRICE) == price != "0"


def test_a_pinned_price_is_compared_with_the_one_in_use(show):
    table = random_table(3)
    page = show(table)
    first = check(page, table)
    page.get_by_role("button", name="Pin this price").click()
    page.locator("[data-control=lambda]").press("PageUp")
    second = check(page, table)
    before, after = (oracle_labels(table.acc, table.cost, seen["lam"]) for seen in (first, second))
    text = page.locator(".ax-says .ax-say").nth(1).text_content()
    assert f" {(before != after).sum()} question" in text
    points = 100 * (average(table.acc, after) - average(table.acc, before))
    assert f"{points:+.2f} points".replace("-", "\u2212") in text
    page.get_by_role("button", name="Unpin").click()
    until(page, "document.querySelector('.ax-pin').getAttribute('visibility') === 'hidden'")


def test_a_guess_is_compared_with_the_price_that_spends_what_was_asked(show):
    table = random_table(3)
    page = show(table)
    assert "2.5 answers" in page.get_by_text("Challenge").text_content()
    page.get_by_label("Your guess").fill("0.02")
    page.get_by_role("button", name="Reveal").click()
    seen = check(page, table)
    solved = frontier(table.acc, table.cost).at(2.5)
    assert seen["lam"] == pytest.approx(solved.lam)
    digits = digits_of(seen["numbers"]["cost"])
    told = page.get_by_text("At 0.02 the questions spend").text_content()
    assert f"spend {shown(average_cost(table.acc, table.cost, 0.02), digits)}," in told


def test_a_story_moves_the_tiles_beside_it(show):
    tables = {"one": random_table(1), "two": random_table(2)}
    settings = [setting(table, name=name, title=name) for name, table in tables.items()]
    settings[1]["stories"] = [{"title": "T", "text": "Look.", "lam": 0.03, "question": "7"}]
    page = show(settings)
    page.get_by_role("button", name="1. T").click()
    seen = check(page, tables["two"])
    assert (seen["lam"], seen["title"]) == (0.03, "Question 7")
    assert page.locator(".ax-story").text_content() == "Look."


def test_a_price_out_of_bounds_is_brought_back_and_said(show):
    table = random_table(5)
    page = show(table)
    box = page.locator("[data-exact=lambda]")
    highest = float(box.get_attribute("max"))
    box.fill("1000000")
    box.press("Enter")
    assert check(page, table)["lam"] == highest
    says = page.locator(".ax-say").first
    assert f"0 to {highest:g}" in says.text_content()
    box.fill("-3")
    box.press("Enter")
    assert check(page, table)["lam"] == highest
    box.press("ArrowDown")
    assert 0 < check(page, table)["lam"] < highest
    page.evaluate("location.hash = '#lambda=1e30'")
    until(page, f"{PRICE} === '{highest:g}'")


def test_a_copied_link_says_that_it_cannot_carry_a_file(show):
    page = show([setting(random_table(1), name="one", title="one", kind="real")])
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    button = page.get_by_role("button", name="Copy link to this view")
    hint = page.locator(".ax-hint")
    button.click()
    until(page, "document.querySelector('.ax-foot').textContent.includes('Copied')")
    drop(page, "mine.csv", "1,2\n0.1,0.9\n0.2,0.4\n")
    page.get_by_text("2 questions, 2 budgets.").wait_for()
    page.get_by_role("button", name="Cop").click()
    assert "not your file" in hint.text_content()
    link = page.evaluate("window.copied")
    page.reload()
    page.goto("about:blank")
    page.goto(link)
    assert "Open that file here" in hint.text_content()
    assert "60 questions" in page.locator(".ax-about").text_content()


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
    asked = {"question": "?", "gold": "1"}
    lines = [
        json.dumps({"id": f"q{i}", **asked, "answers": rng.integers(0, 20, 32).tolist()})
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
    # What was there before is still there.
    assert "60 questions" in page.locator(".ax-about").text_content()
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
