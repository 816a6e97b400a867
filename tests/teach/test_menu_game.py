"""The menu in dollars, chapter 13: the page buys what the package buys, before and after the price list is edited."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adalib.teach.games.menu import Charges, menu_bill, priced_in_dollars

CHARGES = {"small": Charges(0.05, 0.2), "large": Charges(0.3, 1.2)}
PROMPT, DOLLARS = 300, 0.06


@pytest.fixture(scope="module")
def menu():
    part = range(0, 300, 4)
    return adalib.Menu(
        {"small": adalib.load("story-qwen05").take(part), "large": adalib.load("story-qwen15").take(part)}
    )


@pytest.fixture
def page(menu, play):
    return play(menu_bill(menu, CHARGES, PROMPT, DOLLARS).html, "menu.js")


def rows(page) -> dict[str, list[str]]:
    """What the table shows, by its first column."""
    cells = [row.locator("td").all_inner_texts() for row in page.locator(".adalib-menu tbody tr").all()]
    return {name: rest for name, *rest in cells}


def agrees(page, menu, charges, dollars):
    """Every row against the frontier and the best mix, on a table in dollars."""
    shown = rows(page)
    table = priced_in_dollars(menu, charges, PROMPT).table()
    best = adalib.frontier(table.acc.round(4), table.cost).at(dollars)
    assert float(shown["all, one price"][0]) == pytest.approx(best.accuracy, abs=1e-3)
    assert float(shown["all, one price"][1]) == pytest.approx(best.cost, abs=1e-3)
    large = np.array([arm.startswith("large") for arm in table.budgets])
    assert float(shown["all, one price"][3].rstrip("%")) == pytest.approx(100 * large[best.labels].mean(), abs=0.51)
    mixed = adalib.best_mix(table.acc, table.cost, dollars).expected(table.acc).mean()
    assert float(shown["all, a mix by coin"][0]) == pytest.approx(mixed, abs=1e-3)
    for name, own in (("small", ~large), ("large", large)):
        if table.cost[own].min() > dollars:
            assert shown[f"{name} alone, one price"][0] == "too dear"
            continue
        alone = adalib.frontier(table.acc[:, own].round(4), table.cost[own]).at(dollars)
        assert float(shown[f"{name} alone, one price"][0]) == pytest.approx(alone.accuracy, abs=1e-3)


def test_an_answer_reads_the_prompt_and_writes_its_tokens(menu):
    tokens = menu.models["large"].tokens.mean()
    unit = priced_in_dollars(menu, CHARGES, PROMPT).unit["large"]
    assert unit == pytest.approx((300 * 0.3 + tokens * 1.2) / 1000)


def test_the_page_buys_what_the_package_buys(page, menu):
    agrees(page, menu, CHARGES, DOLLARS)
    assert "One answer of large costs" in page.locator(".adalib-menu .stop-board").inner_text()


def test_an_edited_price_list_and_budget_are_followed(page, menu):
    fields = page.locator(".adalib-menu input")
    fields.nth(3).fill("3.5")
    agrees(page, menu, CHARGES | {"large": Charges(0.3, 3.5)}, DOLLARS)
    fields.nth(5).fill("0.2")
    agrees(page, menu, CHARGES | {"large": Charges(0.3, 3.5)}, 0.2)
    fields.nth(5).fill("0.0001")
    assert rows(page)["all, one price"][0] == "too dear"
    assert "does not buy" in page.locator(".adalib-menu .stop-board").inner_text()
    for number in range(2):
        fields.nth(number).fill("0")
    assert "free" in page.locator(".adalib-menu .stop-board").inner_text()


def test_it_fits_a_phone(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 390 + 2
