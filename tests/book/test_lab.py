"""Explorer, games and prompts live: one real JupyterLab and its kernel, moved by hand, by keys and
from Python."""

from __future__ import annotations

import time

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from explorer_page import SCRAPE, STEPS, check, unfold
from jupyter_client import BlockingKernelClient
from lab_server import jupyter_lab, opened, run_cell

from adalib.table import UtilityTable
from editions.lab_notebooks import Book, live_text

pytestmark = pytest.mark.nightly
TABLE = UtilityTable(np.sort(np.random.default_rng(7).random((50, 5)), axis=1), [1, 2, 4, 8, 16])
CELL = """
import ipywidgets
import numpy as np
import adalib
from adalib.solve.oracle import average_cost

acc = np.sort(np.random.default_rng(7).random((50, 5)), axis=1)
table = adalib.UtilityTable(acc, [1, 2, 4, 8, 16])
seen = []
w = adalib.explore(table, lam=0.02)
w.observe(lambda change: seen.append(change.new), "lam")
said = ipywidgets.Output()  # as in chapter 2: a place for what a callback prints


@said.capture(clear_output=True)
def tell(change):
    print(f"the price is now {change['new']:.4f}")


w.observe(tell, "lam")
ipywidgets.VBox([w, said])
"""

# What chapter 2 has made before its cell with the slider.
BEFORE = """
import plotly.graph_objects as go
from adabook.figures import show


def at_price(lam):
    return [1 - 5 * lam, 5 * lam], 2 - 10 * lam


def title(lam, spent):
    return f"at {lam:.3f}: {spent:.2f}"


fig = go.Figure(go.Bar(x=["b = 1", "b = 2"], y=at_price(0.02)[0]))
fig.update_layout(title=title(0.02, 1.8))
"""

# As the chapters show it: the page's explorer, without a widget.
STATIC = "from IPython.display import HTML\n\nHTML(adalib.explorer.static_html([w._settings[0]]))"

PROMPT = """:::{admonition} Before you read on
:class: prompt
Who buys a second answer?
- [ ] Whoever is never right. *Nobody gains by more of it.*
- [x] Whoever gains $\\lambda$ or more. *That is the rule.*
:::"""
GUESS = "from adabook.games import guess\n\nguess([1, 4, 16], [0.4, 0.6, 0.9])"
SPEND = 'from adabook.games import spend\n\nspend(adalib.load("word-fewshot"))'


def slider_of_the_book() -> str:
    """The cell of the book that draws at every move of a slider."""
    cells = nbformat.read(ROOT / "notebooks" / "explorer.ipynb", as_version=4).cells
    (cell,) = (cell.source for cell in cells if "interactive_output" in cell.source)
    return cell


@pytest.fixture(scope="module")
def live(tmp_path_factory, browser):
    """The notebook, run in the Lab, and `ask`, which evaluates an expression in its kernel."""
    texts = ("# A section\n\nwhich an arrow key could fold", live_text(PROMPT, Book({}, {})))
    codes = (CELL.strip(), BEFORE + slider_of_the_book(), STATIC, GUESS, SPEND)
    cells = [*map(nbformat.v4.new_markdown_cell, texts), *map(nbformat.v4.new_code_cell, codes)]
    with jupyter_lab(tmp_path_factory.mktemp("lab"), cells) as (address, runtime):
        page = opened(browser, address)
        run_cell(page, 0)
        page.locator(".adalib-explorer [data-control=lambda]").wait_for(timeout=300_000)
        unfold(page)
        (file,) = runtime.glob("kernel-*.json")
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=60)

        def ask(code: str) -> str:
            reply = client.execute(
                code, user_expressions={"value": "str(value)"}, reply=True, timeout=60
            )
            return reply["content"]["user_expressions"]["value"]["data"]["text/plain"].strip("'")

        yield page, ask
        client.stop_channels()
        page.close()


def until(condition, seconds: float = 120.0):
    """Poll until the condition is true; kernels and pages talk to each other in their own time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "the page and the kernel did not agree in time"
        time.sleep(0.05)
    return value


def test_the_slider_moves_the_price_in_python(live):
    page, ask = live
    assert check(page, TABLE)["lam"] == 0.02
    slider = page.locator("[data-control=lambda]")
    for keys in ["PageDown", "Home", *STEPS, "End"]:
        slider.press(keys)
        price = check(page, TABLE)["lam"]
        until(lambda price=price: float(ask("value = w.lam")) == price)
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    price = check(page, TABLE)["lam"]
    until(lambda: float(ask("value = w.lam")) == price)
    assert float(ask("value = seen[-1]")) == price  # the observer was called
    until(
        lambda: page.get_by_text(f"the price is now {price:.4f}").count()
    )  # and what a callback prints appears
    assert ask("value = w.budget") == "None"


def test_python_moves_the_page(live):
    page, ask = live
    ask("w.lam = 0.0375; value = 0")
    until(lambda: page.evaluate(SCRAPE)["lam"] == 0.0375)
    check(page, TABLE)
    # A budget set in Python makes the page choose the price, and the price comes back.
    ask("w.budget = 2.5; value = 0")
    until(lambda: page.evaluate(SCRAPE)["lam"] != 0.0375)
    price = check(page, TABLE)["lam"]
    until(lambda: float(ask("value = w.lam")) == price)
    assert float(ask("value = w.budget")) == 2.5
    spent = float(ask("value = average_cost(acc.round(6), table.cost, w.lam)"))
    assert spent <= 2.5
    ask("w.selected = 11; value = 0")
    until(lambda: page.evaluate(SCRAPE)["title"] == "Question 11")
    page.get_by_label("Next question").click()
    until(lambda: ask("value = w.selected") == "12")
    ask("w.lam = 0.1; value = 0")
    until(lambda: page.evaluate(SCRAPE)["lam"] == 0.1)
    until(lambda: ask("value = w.budget") == "None")
    assert "#lambda" not in page.url  # the Lab's address is left alone


def test_the_widget_follows_the_theme_of_the_lab(live):
    page, ask = live
    ink = "getComputedStyle(document.querySelector('.adalib-explorer')).color"
    before = page.evaluate(ink)
    page.evaluate(
        "document.body.dataset.jpThemeLight = document.body.dataset.jpThemeLight !== 'true'"
    )
    until(lambda: page.evaluate(ink) != before)
    check(page, TABLE)
    slider = page.locator("[data-control=lambda]")
    slider.click()  # in its middle, once nothing moves any more
    until(lambda: page.evaluate("document.activeElement.dataset.control") == "lambda")
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    place = int(slider.input_value())
    for key, by in {
        "ArrowLeft": -1,
        "ArrowDown": -2,
        "ArrowRight": -1,
        "ArrowUp": 0,
        "a": 0,
    }.items():
        page.keyboard.press(key)
        until(lambda by=by: int(slider.input_value()) == place + by)
    price = check(page, TABLE)["lam"]
    until(lambda: float(ask("value = w.lam")) == price)
    assert slider.is_visible()
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells


def test_widgets_still_move_after_a_reload(live):
    page, ask = live

    def drawn(title: str):
        """Wait for a figure with this title; the copy that the Lab makes of it for a picture does
        not count."""
        page.locator(".jp-Notebook .js-plotly-plot .gtitle", has_text=title).wait_for(
            timeout=120_000
        )

    run_cell(page, 1)
    drawn("at 0.020: 1.80")
    handle = page.locator(".noUi-handle").first
    handle.focus()
    page.keyboard.press("ArrowRight")
    drawn("at 0.021: 1.79")
    assert (
        page.locator(".jp-Notebook .js-plotly-plot .point").count() == 2
    )  # the old picture is gone
    page.keyboard.press("Control+s")
    until(lambda: "notebook is saved" if not page.locator(".jp-mod-dirty").count() else None)
    page.reload()
    page.get_by_text("| Idle").wait_for(timeout=300_000)
    drawn("at 0.021: 1.79")
    explorer = page.locator(".adalib-explorer [data-control=lambda]")
    explorer.wait_for(timeout=120_000)
    assert page.evaluate(SCRAPE)["lam"] == pytest.approx(float(ask("value = w.lam")))
    handle.focus()
    page.keyboard.press("ArrowRight")
    drawn("at 0.022: 1.78")
    assert page.locator(".jp-Notebook .js-plotly-plot .point").count() == 2
    explorer.press("ArrowRight")
    price = page.evaluate(SCRAPE)["lam"]
    until(lambda: float(ask("value = w.lam")) == price)


def test_the_explorer_of_a_page_keeps_its_keys_in_the_lab_too(live):
    page, _ = live
    run_cell(page, 2)
    slider = page.locator(".jp-RenderedHTMLCommon [data-control=lambda]")
    slider.wait_for(timeout=120_000)
    cells, address = page.locator(".jp-Notebook .jp-Cell").count(), page.url
    place = int(slider.input_value())
    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "a", "d", "d"):
        page.keyboard.press(key)
    until(lambda: int(slider.input_value()) == place + 1)
    page.wait_for_timeout(400)  # an address would be written by now
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert page.url == address


def test_a_prompt_answers_after_the_guess(live):
    page, _ = live
    shown = page.locator(".jp-RenderedMarkdown")
    assert shown.locator("input").count() == 0
    reasons = shown.locator("em").all()
    assert [reason.is_visible() for reason in reasons] == [False, False]
    shown.get_by_text("my guess").first.click()
    shown.get_by_text("Not quite.").wait_for()
    assert [reason.is_visible() for reason in reasons] == [True, False]


@pytest.fixture(scope="module")
def games(live):
    """The page, with its games."""
    page, _ = live
    for number, place in ((3, ".adalib-guess svg"), (4, ".spend-tile")):
        run_cell(page, number)
        page.locator(place).first.wait_for(timeout=300_000)
    return page


def test_a_game_is_played_with_the_mouse(games):
    page = games
    handle = page.locator(".guess-handle").last
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    before = float(handle.get_attribute("aria-valuenow"))
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] - 40, steps=5)
    page.mouse.up()
    until(lambda: float(handle.get_attribute("aria-valuenow")) > before)
    page.locator(".spend-tile").nth(5).scroll_into_view_if_needed()
    tiles = [page.locator(".spend-tile").nth(at).bounding_box() for at in (2, 5)]
    page.mouse.move(tiles[0]["x"] + 5, tiles[0]["y"] + 5)
    page.mouse.down()
    page.mouse.move(tiles[1]["x"] + 5, tiles[1]["y"] + 5, steps=12)
    page.mouse.up()
    until(lambda: page.locator(".spend-left").inner_text().startswith("48 of 60"))


def test_a_game_is_played_by_keys_alone(games):
    """Arrows move what they are meant to move, and the notebook keeps its shortcuts to itself."""
    page = games
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    handle = page.locator(".guess-handle").first
    before = float(handle.get_attribute("aria-valuenow"))
    handle.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowDown", "a", "d"):
        page.keyboard.press(key)
    until(lambda: float(handle.get_attribute("aria-valuenow")) == pytest.approx(before + 0.02))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    said = page.locator(".adalib-guess .stop-board")
    until(lambda: "scores 0.90" in said.inner_text())
    tiles = page.locator(".spend-tile")
    tiles.nth(20).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    until(lambda: tiles.nth(33).inner_text() == "4")
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
