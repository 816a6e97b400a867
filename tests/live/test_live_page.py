"""Cells that run in the page, in a real browser, over HTTP, with every other host cut off."""

import nbformat
import pytest
from conftest import site

import adalib

CHAPTER = "notebooks/02_oracle.html"


@pytest.fixture(scope="module")
def served(html):
    """The address of the built book, with Python beside it."""
    if not (html / "_live" / "index.json").exists():
        pytest.fail(
            "there is no Python next to the book: run `make live`; "
            "where pip cannot download, it says what else to do",
            pytrace=False,
        )
    with site(html) as address:
        yield address


class Live:
    """A chapter in a browser, and what can be done to its cells."""

    def __init__(self, page, address):
        self.page, self.asked = page, []
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)

    def cell(self, code):
        """The first cell that holds this code."""
        return self.page.locator(f".bd-article div.cell:has(.cell_input :text('{code}'))").first

    def press(self, cell, button="Run"):
        cell.locator("details").evaluate_all(
            "(folds) => folds.forEach((fold) => (fold.open = true))"
        )
        cell.locator(".live-tools").get_by_role("button", name=button, exact=True).click()

    def ended(self, cell):
        """Wait until a cell has run; what it shows."""
        cell.locator(".live-button", has_text="Stop").wait_for(state="hidden")
        return cell.locator(".live-output").inner_text()

    def write(self, cell, code):
        """Change a cell, and run it from the keyboard."""
        if not cell.locator("textarea").count():
            self.press(cell, "Edit")
        cell.locator("textarea").fill(code)
        cell.locator("textarea").press("Shift+Enter")
        return self.ended(cell)


def test_a_chapter_is_run_in_its_page(served, new_page):
    live = Live(new_page(), f"{served}/{CHAPTER}")
    page = live.page
    page.locator(".live-tools").first.wait_for(state="attached")
    # Nothing of Python before a press.
    assert not [url for url in live.asked if "_live/" in url or "worker" in url]

    # Run: the set-up cells first, then the cell, whose output is that of the book.
    cell = live.cell("price at 0.04")
    printed = cell.locator(".cell_output").inner_text().split()
    live.press(cell)
    assert live.ended(cell).split() == printed
    assert "2 cells above" in cell.locator(".live-said").inner_text()

    # Edit: another price.
    source = cell.locator(".cell_input .highlight pre").text_content()
    live.press(cell, "Edit")
    assert cell.locator("textarea").input_value() == source.rstrip("\n")
    assert "so it buys 1" in " ".join(live.write(cell, source.replace("0.04", "0.075")).split())

    # The numbers are those of the package elsewhere; names are shared by the cells.
    wanted = (
        "best = adalib.frontier(table).at(2)\n"
        "[float(x) for x in (acc.mean(), best.lam, best.accuracy, net[-1])]"
    )
    found = [float(text) for text in live.write(cell, wanted).strip(" []\n").split(",")]
    table = adalib.load("word-fewshot").table()
    best = adalib.frontier(table.acc, table.cost).at(2)
    tree = adalib.load("word-fewshot").ids.index("word-trees-05")
    native = [table.acc.mean(), best.lam, best.accuracy, table.acc[tree, -1] - 0.075 * 16]
    assert found == pytest.approx([float(x) for x in native], abs=1e-12, rel=0)

    # Fail: the last line, and the rest folded.
    live.write(cell, "def half(n):\n    return n / 0\n\n\nhalf(1)")
    assert cell.locator(".live-error").inner_text().startswith("ZeroDivisionError")
    assert cell.locator(".live-trace[open]").count() == 0
    assert "return n / 0" in cell.locator(".live-trace pre").text_content()

    # Reset: cell and output as the book has them.
    live.press(cell, "Reset")
    assert cell.locator("textarea, .live-output").count() == 0
    assert cell.locator(".cell_output").inner_text().split() == printed

    # A figure, drawn in place.
    live.write(
        cell,
        "import plotly.graph_objects as go\n"
        "from adabook.figures import show\n"
        'show(go.Figure(go.Bar(x=["one", "two"], y=[1, 2])), alt="**Two bars.** Drawn here.")',
    )
    cell.locator(".live-output .main-svg").first.wait_for()

    # Exercises: a value, and a function to build.
    value, build = (live.cell(code) for code in ("a price, to four digits", "def my_oracle"))
    source = value.locator(".cell_input .highlight pre").text_content()
    assert "not yet" in live.write(value, source.replace("None", "0.5"))
    assert value.locator(".adalib-answer-form").is_visible()
    assert "right" in live.write(
        build, 'check("oracle", lambda acc, cost, lam: (acc - lam * cost).argmax(axis=1))'
    )
    assert "not yet" in live.write(build, 'check("oracle", lambda acc, cost, lam: [0] * len(acc))')

    # What needs JupyterLab has no buttons.
    assert page.locator(".tag_skip-execution .live-tools").count() == 0

    # A loop that never ends is stopped, and Python starts afresh.
    live.press(cell, "Edit")
    cell.locator("textarea").fill("while True:\n    pass")
    live.press(cell)
    cell.locator(".live-said", has_text="Running").wait_for()
    live.press(cell, "Stop")
    assert "Stopped" in cell.locator(".live-said").inner_text()
    assert live.write(cell, "1 + 1").strip() == "2"

    assert [url for url in live.asked if not url.startswith((served, "data:", "blob:"))] == []


@pytest.mark.nightly
def test_all_cells_above_one_run(served, new_page):
    live = Live(new_page(), f"{served}/{CHAPTER}")
    cell = live.cell("def my_oracle")
    live.press(cell, "Run all above")
    live.ended(cell)
    assert "Done" in cell.locator(".live-said").inner_text()


def test_a_page_from_disk_speaks_to_a_student(html, new_page):
    live = Live(new_page(), (html / CHAPTER).as_uri())
    cell = live.cell("price at 0.04")
    live.press(cell)
    told = cell.locator(".live-said").inner_text()
    assert told.index("ask your teacher") < told.index("make live and make serve")
    assert cell.locator(".live-output").count() == 0


def test_a_book_without_python_says_how_it_gets_one(served, new_page):
    page = new_page()
    page.route("**/_live/**", lambda route: route.fulfill(status=404))
    live = Live(page, f"{served}/{CHAPTER}")
    cell = live.cell("price at 0.04")
    live.press(cell)
    cell.locator(".live-said", has_text="make live").wait_for()


def test_changes_outlast_a_reload_and_can_be_downloaded(html, new_page, tmp_path):
    live = Live(new_page(), (html / CHAPTER).as_uri())
    cell = live.cell("price at 0.04")
    place = live.page.locator(".bd-article div.cell").filter(has=live.page.locator(".live-tools"))
    number = place.evaluate_all("(all, one) => all.indexOf(one)", cell.element_handle())
    live.press(cell, "Edit")
    cell.locator("textarea").fill("mine = 'kept'")

    live.page.reload()
    cell = place.nth(number)
    assert cell.locator("textarea").input_value() == "mine = 'kept'"
    assert "from last time" in cell.locator(".live-said").inner_text()
    assert live.page.locator("textarea.live-editor").count() == 1

    with live.page.expect_download() as waited:
        live.press(cell, "Download")
    saved = tmp_path / waited.value.suggested_filename
    assert saved.name == "02_oracle-mine.ipynb"
    waited.value.save_as(saved)
    notebook = nbformat.read(saved, as_version=4)
    nbformat.validate(notebook)
    code = [one.source for one in notebook.cells if one.cell_type == "code"]
    assert len(code) == place.count()
    assert code[number] == "mine = 'kept'"

    live.press(cell, "Reset")
    live.page.reload()
    live.page.locator(".live-tools").first.wait_for(state="attached")
    assert live.page.locator("textarea.live-editor").count() == 0


def test_changes_to_a_cell_that_the_book_changed_are_dropped(html, new_page):
    live = Live(new_page(), (html / CHAPTER).as_uri())
    live.press(live.cell("price at 0.04"), "Edit")
    live.page.locator("textarea.live-editor").fill("old = 1")
    live.page.evaluate(
        """() => {
            const kept = Object.keys(localStorage).filter((one) => one.startsWith("adalib-live:"));
            for (const name of kept) {
                const found = JSON.parse(localStorage.getItem(name));
                localStorage.setItem(name, JSON.stringify({ ...found, original: "another" }));
            }
        }"""
    )
    live.page.reload()
    live.page.locator(".live-tools").first.wait_for(state="attached")
    assert live.page.locator("textarea.live-editor").count() == 0
