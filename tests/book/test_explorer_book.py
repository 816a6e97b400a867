"""The lambda explorer where readers meet it: in the built chapter, from file://, with the network cut."""

import pytest
from test_explorer import STEPS, check, until

import adalib
import adalib.paper

PAPER_WAY = {"estimator": "windows", "ties": "first"}


@pytest.fixture(scope="module")
def chapter(html, browser):
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    context.set_offline(True)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
    page.goto((html / "notebooks" / "02_oracle.html").as_uri())
    until(page, "document.querySelector('.adalib-explorer')?.dataset.lam !== undefined")
    yield page
    context.close()
    assert complaints == []


def table_of(name):
    if name in adalib.paper.PAPER_SETTINGS:
        return adalib.paper.paper_setting(name).table(**PAPER_WAY)
    return adalib.load(name).table()


@pytest.mark.parametrize("name", ["word-fewshot", "drill-fewshot", "gpt-4o-mini-math"])
def test_every_number_at_ten_prices(chapter, name):
    table = table_of(name)
    chapter.evaluate("(hash) => { location.hash = hash; }", f"#lambda=0.02&set={name}")
    until(
        chapter,
        "(name) => location.hash.includes(name) && document.querySelector('.adalib-explorer').dataset.lam === '0.02'",
        name,
    )
    slider = chapter.locator("[data-control=lambda]").first
    slider.focus()
    prices = {check(chapter, table)["lam"]}
    for key in ["Home", *STEPS, "End"]:
        slider.press(key)
        prices.add(check(chapter, table)["lam"])
    assert len(prices) >= 10


def test_the_mouse_moves_it_too(chapter):
    chapter.evaluate("() => { location.hash = '#lambda=0.02&set=word-fewshot'; }")
    until(chapter, "document.querySelector('.adalib-explorer').dataset.lam === '0.02'")
    table = table_of("word-fewshot")
    slider = chapter.locator("[data-control=lambda]").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    seen = []
    for share in (0.3, 0.6, 0.9):
        chapter.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        seen.append(check(chapter, table)["lam"])
    assert seen == sorted(set(seen))
