"""The lambda explorer where readers meet it: on its page, from file://, with the network cut."""

import pytest
from explorer_page import STEPS, check, unfold, until, walk, watched

from adabook.paper.settings import utility


@pytest.fixture(scope="module")
def chapter(html, browser):
    complaints = []
    page = watched(browser, complaints)
    page.goto((html / "notebooks" / "explorer.html").as_uri())
    page.locator(".adalib-explorer").scroll_into_view_if_needed()
    until(page, "document.querySelector('.adalib-explorer')?.dataset.lam !== undefined")
    unfold(page)
    yield page
    page.context.close()
    assert complaints == []


@pytest.mark.parametrize("name", ["word-fewshot", "drill-fewshot", "gpt-4o-mini-math"])
def test_every_number_at_ten_prices(chapter, name):
    table = utility(name)
    chapter.evaluate("(hash) => { location.hash = hash; }", f"#lambda=0.02&set={name}")
    until(
        chapter,
        "(name) => location.hash.includes(name) && "
        "document.querySelector('.adalib-explorer').dataset.lam === '0.02'",
        name,
    )
    prices = [check(chapter, table)["lam"], *walk(chapter, table, ["Home", *STEPS, "End"])]
    assert len(set(prices)) >= 10
