"""The lambda explorer on a page, for its tests: opened without a network, and every number held
against adalib's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from random_tables import averages

from adalib.evaluate.baselines import best_mix
from adalib.explorer import page as write_page
from adalib.explorer.static import script
from adalib.solve.oracle import oracle_labels
from adalib.table import UtilityTable

if TYPE_CHECKING:  # it is not there when the core's tests run with the oldest libraries
    from playwright.sync_api import Page

STEPS = ["ArrowRight", "PageUp", "PageUp", "ArrowRight", "PageUp", "PageUp", "ArrowLeft", "PageUp"]


def watched(browser, complaints: list[str], **options) -> Page:
    """A page in a context of its own, the network cut; what it complains of is noted, and any
    request."""
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    context.set_offline(True)
    page = context.new_page()
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request", lambda request: request.url.startswith("file:") or complaints.append(request.url)
    )
    return page


@pytest.fixture(scope="session")
def tab(browser):
    """One page for all that need no context of their own, and its complaints."""
    complaints: list[str] = []
    page = watched(browser, complaints)
    yield page, complaints
    page.context.close()


@pytest.fixture
def show(browser, tab, tmp_path):
    """Open settings (or a table) as a self-contained page from file://; no error may be logged."""
    (shared, complaints), own = tab, []
    complaints.clear()

    def opened(source, hash_="", *, unfolded=True, **options) -> Page:
        page = watched(browser, complaints, **options) if options else shared
        own.extend([page] if options else [])
        file = tmp_path / f"page{len(list(tmp_path.glob('page*')))}.html"
        page.goto(write_page(source, file).as_uri() + hash_)
        if unfolded and page.evaluate("document.querySelector('.ax-more')"):
            unfold(page)
        return page

    yield opened
    for page in own:
        page.context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def functions(browser, tmp_path_factory):
    """The front end's own functions, as ``ax``, on a bare page."""
    names = (
        "armColours, build, buildHalves, crossFit, oracle, priceFor, meanInterval, readFile, "
        "Slices, splitsAt, subsetAccuracies, unitsOf"
    )
    file = tmp_path_factory.mktemp("functions") / "bare.html"
    module = f"{script()}\nwindow.ax = {{ {names} }};"
    file.write_text(f'<meta charset="utf-8"><script type="module">{module}</script>')
    page = browser.new_page()
    page.goto(file.as_uri())
    yield page
    page.close()


def unfold(page: Page) -> None:
    """Open every panel that a reader can open, and wait until it is drawn."""
    page.evaluate(
        """async () => {
          document.querySelectorAll(".ax-panel, .ax-inner").forEach((node) => (node.open = true));
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        }"""
    )


def random_table(seed: int, n: int = 60, per_row: bool = False) -> UtilityTable:
    rng = np.random.default_rng(seed)
    rise = np.log2([1, 2, 4, 8, 16]) * rng.uniform(-0.06, 0.15, (n, 1))
    acc = np.clip(rng.beta(0.6, 0.6, (n, 1)) + rise + rng.normal(0, 0.02, (n, 5)), 0, 1)
    cost = np.array([1.0, 2, 4, 8, 16])
    return UtilityTable(
        acc, cost * rng.uniform(50, 300, (n, 1)) if per_row else cost, budgets=(1, 2, 4, 8, 16)
    )


def shown(value: float, digits: int) -> str:
    """How the page writes a number (the tiny factor settles halves alike in every language)."""
    text = f"{value * (1 + 1e-12):.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def digits_of(text: str) -> int:
    return len(re.search(r"-?\d+\.?(\d*)", text)[1])


def until(page: Page, condition: str, arg=None) -> None:
    """Wait until a script's value is true. (Playwright's own waiting needs eval, which the page's
    policy forbids.)"""
    for _ in range(100):
        if page.evaluate(condition, arg):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"still not so: {condition} {arg or ''}")


SCRAPE = """() => {
  const texts = (where) => [...document.querySelectorAll(where)].map((node) => node.textContent);
  const rows = (name) => [...document.querySelectorAll(`[aria-label="${name}"] tbody tr`)]
    .map((row) => [...row.children].map((cell) => cell.textContent));
  return {
    lam: Number(document.querySelector(".adalib-explorer").dataset.lam),
    price: document.querySelector("[data-exact=lambda]").value,
    numbers: Object.fromEntries([...document.querySelectorAll("[data-number]")].map(
      (node) => [node.dataset.number, node.textContent])),
    shares: rows("Questions at each budget"), values: rows("What each budget is worth"),
    won: texts(".ax-won th"),
    title: texts(".ax-qid")[0], say: texts(".ax-verdict")[0],
  };
}"""


def check(page: Page, table: UtilityTable) -> dict:
    """Every number on the page, as printed, against adalib at the page's price."""
    seen = page.evaluate(SCRAPE)
    acc, lam = table.acc, seen["lam"]
    costs = np.broadcast_to(table.cost, acc.shape)
    labels = oracle_labels(acc, table.cost, lam)
    cost, accuracy = averages(acc, table.cost, labels)
    mix = best_mix(acc, table.cost, cost).expected(acc).mean()
    number = seen["numbers"]
    assert float(seen["price"]) == pytest.approx(lam, rel=6e-4)
    assert number["cost"] == shown(cost, digits_of(number["cost"]))
    assert number["accuracy"] == shown(100 * accuracy, 2) + "%"
    assert number["mix"] == shown(100 * mix, 2) + "%"
    assert number["gain"] == "+" + shown(100 * (accuracy - mix), 2)
    counts = np.bincount(labels, minlength=table.k)
    assert number["least"] == shown(100 * counts[0] / table.n, 0) + "%"
    assert seen["shares"] == [
        [str(b), str(c), f"{shown(100 * c / table.n, 1)}%"]
        for b, c in zip(table.budgets, counts, strict=True)
    ]
    row = table.ids.index(re.match(r"Question (\S+)", seen["title"])[1])
    paid = lam * costs[row]
    assert seen["values"] == [
        [str(b), shown(a, 4), shown(p, 4), shown(a - p, 4).replace("-", "\u2212")]
        for b, a, p in zip(table.budgets, acc[row], paid, strict=True)
    ]
    assert seen["won"] == [str(table.budgets[labels[row]])]
    return seen


def drop(page: Page, name: str, text: str) -> None:
    page.evaluate(
        """([name, text]) => {
        const data = new DataTransfer(); data.items.add(new File([text], name));
        const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
        document.querySelector(".adalib-explorer").dispatchEvent(drop); }""",
        [name, text],
    )


def walk(page: Page, table: UtilityTable, keys: list[str]) -> list[float]:
    """Press keys on the price's slider and check every number after each; the prices there were."""
    slider, prices = page.locator("[data-control=lambda]").first, []
    for key in keys:
        slider.press(key)
        prices.append(check(page, table)["lam"])
    return prices


def look_up(page: Page, question: str) -> None:
    page.get_by_label("Search the questions").fill(question)
    page.keyboard.press("Enter")


def choose_file(page: Page, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open your own file").press("Enter")
    chooser.value.set_files(path)
