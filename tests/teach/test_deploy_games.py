"""The held budget and the bill of chapter 11: the page computes what the package computes, by key and by touch."""

import re

import numpy as np
import pytest

import adalib
from adalib.router.controller import BudgetController
from adalib.sequential.priced import PricedStopping
from adalib.teach.exercises.chapter_11 import check
from adalib.teach.games.bill import PriceList, bill
from adalib.teach.games.hold import hold, hold_data, hold_run, still_run

ROWS = [(3.0, 0.54, 6.5), (1.5, 0.47, 2.9), (8.0, 0.6, None)]


@pytest.fixture(scope="module")
def data():
    answers = adalib.load("word-fewshot").take(range(0, 372, 4))
    policy = PricedStopping(("votes",), repeats=8).fit(answers.take(range(60)))
    return hold_data(policy, answers.take(range(60, 93)), None, 3.0)


@pytest.fixture
def page(data, play):
    return play(hold(data).html + bill(ROWS, 16).html, "deploy.js")


def test_hard_ones_take_the_longest_votes(data):
    stops = np.array(data["stops"])[:, data["mix"][1]].reshape(-1, 2).mean(axis=1)
    hard = np.unique(np.array(data["hard"]) // 2)
    assert stops[hard].min() >= np.delete(stops, hard).max()


def test_the_budget_is_held_and_the_law_is(data):
    for shift, share in ((500, 1.0), (0, 0.5), (1000, 0.0)):
        controller = hold_run(data, shift, share, 0.2)
        moved = np.log(controller.price / controller.first_price) / (0.2 * 1000)
        assert controller.average / 3.0 - 1 == pytest.approx(moved, abs=1e-9)
        assert controller.average == pytest.approx(3.0, rel=0.02)


def test_the_page_holds_as_the_package_does(page, data):
    said = page.locator(".adalib-hold .stop-board")

    def agrees(shift, share, step):
        held, still = hold_run(data, shift, share, step), still_run(data, shift, share)
        text = said.inner_text().replace("−", "-")
        average, off, factor, frozen = re.search(
            r"average ([\d.]+) .*?by ([-+][\d.]+)%; .*factor of ([\d.]+)\. Had it stood still: ([-+][\d.]+)%", text
        ).groups()
        assert float(average) == pytest.approx(held.average, abs=0.006)
        assert float(off) == pytest.approx(100 * (held.average / 3 - 1), abs=0.06)
        assert float(factor) == pytest.approx(held.price / data["price"], abs=0.006)
        assert float(frozen) == pytest.approx(100 * (still / 3 - 1), abs=0.06)

    agrees(500, 1.0, 0.2)
    shift, share, step = (page.locator(".hold-controls input").nth(k) for k in range(3))
    shift.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    agrees(450, 1.0, 0.2)
    share.fill("50")
    agrees(450, 0.5, 0.2)
    step.fill("6")
    agrees(450, 0.5, 2.0)
    box = page.locator(".hold-chart svg").first.bounding_box()
    before = shift.input_value()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 20)
    page.mouse.up()
    assert int(shift.input_value()) > int(before)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_bill_adds_up(page):
    cells = page.locator(".adalib-bill tbody tr")

    def agrees(prices):
        for number, (answers, _, mix) in enumerate(ROWS):
            texts = cells.nth(number).locator("td").all_inner_texts()
            shown = [text.removeprefix("over ").replace(",", "") for text in texts]
            day, other = (prices.questions * prices.dollars(n) for n in (answers, mix or 16))
            assert [float(shown[k]) for k in (2, 4, 5)] == pytest.approx([day, other, other - day], abs=0.51)

    agrees(PriceList())
    fields = page.locator(".bill-fields input")
    for number, value in enumerate(("2", "0.5", "8", "1000", "400", "250")):
        fields.nth(number).fill(value)
    agrees(PriceList(2, 0.5, 8, 1000, 400, 250))
    assert "less than a mix" in page.locator(".adalib-bill .stop-board").inner_text()


def test_the_exercise_takes_a_controller_and_nothing_less():
    def right(costs, budget, first, step):
        controller, found = BudgetController(budget, first, step=step), []
        for cost in costs:
            controller.open(budget)
            controller.close(budget, cost)
            found.append(controller.price)
        return found

    assert check("controller", right).right
    assert "logarithm" in check("controller", lambda costs, budget, first, step: [first] * len(costs)).hint
    assert "one price" in check("controller", lambda costs, budget, first, step: [first]).hint
    assert "error" in check("controller", lambda costs: costs).hint
