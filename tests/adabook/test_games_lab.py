"""Games and prompts live: a real JupyterLab, played by mouse and by keys alone."""

from __future__ import annotations

import pytest
from lab_server import jupyter_lab, opened, run_cell
from nbformat.v4 import new_code_cell, new_markdown_cell

from editions.live import Book, live_text

PROMPT = """:::{admonition} Before you read on
:class: prompt
Who buys a second answer?
- [ ] Whoever is never right. *Nobody gains by more of it.*
- [x] Whoever gains $\\lambda$ or more. *That is the rule.*
:::"""
GUESS = "from adabook.games import guess\n\nguess([1, 4, 16], [0.4, 0.6, 0.9])"
SPEND = 'import adalib\nfrom adabook.games import spend\n\nspend(adalib.load("word-fewshot"))'


@pytest.fixture(scope="module")
def page(tmp_path_factory, browser):
    cells = [
        new_markdown_cell(live_text(PROMPT, Book({}, {}))),
        new_code_cell(GUESS),
        new_code_cell(SPEND),
    ]
    with jupyter_lab(tmp_path_factory.mktemp("lab"), cells) as (address, _):
        page = opened(browser, address)
        for number, place in enumerate((".adalib-guess svg", ".spend-tile")):
            run_cell(page, number)
            page.locator(place).first.wait_for(timeout=300_000)
        yield page
        page.close()


def test_a_prompt_answers_after_the_guess(page):
    shown = page.locator(".jp-RenderedMarkdown")
    assert shown.locator("input").count() == 0
    reasons = shown.locator("em").all()
    assert [reason.is_visible() for reason in reasons] == [False, False]
    shown.get_by_text("my guess").first.click()
    assert shown.get_by_text("Not quite.").is_visible()
    assert [reason.is_visible() for reason in reasons] == [True, False]


def test_a_game_is_played_with_the_mouse(page):
    handle = page.locator(".guess-handle").last
    box = handle.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    before = float(handle.get_attribute("aria-valuenow"))
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] - 40, steps=5)
    page.mouse.up()
    assert float(handle.get_attribute("aria-valuenow")) > before
    tiles = [page.locator(".spend-tile").nth(at).bounding_box() for at in (2, 5)]
    page.mouse.move(tiles[0]["x"] + 5, tiles[0]["y"] + 5)
    page.mouse.down()
    page.mouse.move(tiles[1]["x"] + 5, tiles[1]["y"] + 5, steps=12)
    page.mouse.up()
    assert page.locator(".spend-left").inner_text().startswith("48 of 60")


def test_a_game_is_played_by_keys_alone(page):
    """Arrows move what they are meant to move, and the notebook keeps its shortcuts to itself."""
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    handle = page.locator(".guess-handle").first
    before = float(handle.get_attribute("aria-valuenow"))
    handle.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowDown", "a", "d"):
        page.keyboard.press(key)
    assert float(handle.get_attribute("aria-valuenow")) == pytest.approx(before + 0.02)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    said = page.locator(".adalib-guess .stop-board")
    assert "scores 0.90" in said.inner_text()
    tiles = page.locator(".spend-tile")
    tiles.nth(20).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert tiles.nth(33).inner_text() == "4"
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
