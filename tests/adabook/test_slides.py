"""Slides: what a deck lists is on them, its outputs from the page, and nothing else."""

from __future__ import annotations

import ast
import json
import re

import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import ROOT

from adabook.games.scripts import SCRIPTS
from contents import Page, keys, pages
from editions.slides import deck, deck_source, slides, write_decks

VALUES = {"gain": "0.0312"}
PAGE = """<html><head><link rel="stylesheet" href="../_static/custom.css">
<script defer="defer" src="../_static/figures.js?v=1"></script>
<script src="../_static/theme.js"></script>
<script defer="defer" src="../_static/quiz.js?v=1"></script></head>
<body><article class="bd-article"><section><h1>2. The oracle</h1><p>Prose.</p>
<div class="cell"><div class="cell_input"><pre>1 + 1</pre></div></div>
<div class="cell"><div class="cell_input"><pre>print(2)</pre></div>
<div class="cell_output"><pre>2</pre></div></div>
<div class="cell tag_hide-input"><div class="cell_output"><figure class="adalib-figure">
<div class="plotly-graph-div"></div><figcaption>A line.</figcaption></figure></div></div>
</section></article></body></html>"""


def cell(ident, kind, source, tags=()):
    """A cell as a notebook stores it."""
    metadata = {"tags": list(tags)}
    return {"id": ident, "cell_type": kind, "metadata": metadata, "source": source.splitlines(True)}


CELLS = [
    cell("title", "markdown", "# The oracle"),
    cell("sum", "code", "1 + 1"),
    cell("numbers", "code", "secret = 1", tags=["remove-cell"]),
    cell("print", "code", "print(2)\nassert 1 < 2, (\n    'less'\n)"),
    cell("prose", "markdown", "Prose."),
    cell("draw", "code", "draw()", ["hide-input"]),
]
OPENING = {"then": "**Why?**"}
PRICE = {
    "title": "One $b$",
    "text": "A gain of {points}`gain` for $b$.",
    "cell": "print",
    "then": "So what?",
    "notes": "See chapter {ch}`budgets`.",
}
LINE = {"title": "A line", "text": "Which one?", "cell": "draw"}
DECK = [OPENING, PRICE, LINE]


def chapter(folder, listed, page=PAGE):
    """A chapter with a list of slides; a built page, and files that say their own names."""
    files = folder / "html" / "_static"
    (files / "fonts").mkdir(parents=True)
    (files / "lib").mkdir()
    names = re.findall(r"_static/([\w.]+)", page)
    for name in [*names, "deck.css", "deck.js", "fonts/all.css", "lib/plotly.min.js"]:
        (files / name).write_text(f"/* {name} */")
    built = folder / "html" / "notebooks" / "02_oracle.html"
    for path, text in (
        (built, page),
        (folder / "notebooks" / "02_oracle.ipynb", json.dumps({"cells": CELLS})),
        (folder / "notebooks" / "slides" / "02_oracle.yml", listed),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Page("notebooks/02_oracle", "2", folder), built


def cut(folder, listed, page=PAGE):
    """The slides of a chapter, from the text of its list."""
    found, _ = chapter(folder, listed)
    return slides(found, BeautifulSoup(page, "html.parser"), VALUES, keys())


def test_listed_slides_are_in_the_deck(tmp_path):
    title, price, line = cut(tmp_path, yaml.safe_dump(DECK))
    assert (title.title, title.shown, title.notes) == ("2. The oracle", [], [])
    assert title.fragments == ["<p><strong>Why?</strong></p>\n"]
    assert price.title == "One $b$"
    assert "A gain of +3.1 for <span" in price.shown[0]
    assert "<math><mi>b</mi></math>" in price.shown[0]
    program, printed = BeautifulSoup(price.fragments[0], "html.parser").select("pre")
    assert (program.get_text().strip(), printed.get_text()) == ("print(2)", "2")
    assert price.fragments[1] == "<p>So what?</p>\n"
    assert price.notes == [f"<p>See chapter {keys()['budgets'].number}.</p>\n"]
    assert "plotly-graph-div" in line.fragments[0]
    assert "draw()" not in line.fragments[0]
    assert line.notes == ["<p>A line.</p>"]


def test_a_deck_may_begin_with_a_slide_of_its_own(tmp_path):
    assert [slide.title for slide in cut(tmp_path, yaml.safe_dump([LINE]))][1:] == ["A line"]


def test_a_slide_may_show_what_a_cell_printed_without_its_program(tmp_path):
    *_, slide = cut(tmp_path, yaml.safe_dump([{"title": "Two", "output": "print"}]))
    assert BeautifulSoup(slide.fragments[0], "html.parser").get_text().strip() == "2"


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [
        (yaml.safe_dump([PRICE, {"text": "Words."}]), r"02_oracle.yml, slide 2: has no title"),
        (yaml.safe_dump([{"heading": "Words"}]), "slide 1: has something else than title, text"),
        (yaml.safe_dump([{"title": 3}]), "slide 1: its title is no text"),
        (yaml.safe_dump({"title": "Price"}), "02_oracle.yml: is no list"),
        ("- title: A\n\n- title: Price: a word", "02_oracle.yml, line 3: "),
        (yaml.safe_dump([LINE | {"cell": "prose"}]), "'prose'.*name one of sum, print, draw"),
        (yaml.safe_dump([LINE | {"cell": "numbers"}]), "slide 1: names the cell 'numbers'"),
    ],
)
def test_a_wrong_slide_is_named_with_its_place(listed, complaint, tmp_path):
    with pytest.raises(ValueError, match=complaint):
        cut(tmp_path, listed)


def test_a_page_of_another_build_is_named(tmp_path):
    first = '<div class="cell"><div class="cell_input"><pre>1 + 1</pre></div></div>'
    with pytest.raises(ValueError, match="has 3 code cells for its page, and the built page has 2"):
        cut(tmp_path, yaml.safe_dump(DECK), PAGE.replace(first, ""))


def test_a_deck_holds_all_that_it_needs(tmp_path):
    text = deck(*chapter(tmp_path, yaml.safe_dump(DECK)), VALUES, keys())
    assert not re.search(r'(?:href|src)="(?!data:|https?:)', text)
    for name in ("custom.css", "figures.js", "deck.js", "fonts/all.css", "lib/plotly.min.js"):
        assert f"/* {name} */" in text
    assert "/* quiz.js */" not in text
    assert not re.search(r"secret|Prose|1 \+ 1|assert", text)


@pytest.mark.parametrize("game", SCRIPTS)
def test_every_game_of_the_book_can_be_played_on_a_slide(game, tmp_path):
    script = f"{game}.js"
    place = f'<div class="adalib-{game}"><script type="application/json">{{}}</script></div>'
    page = PAGE.replace("../_static/figures.js", f"../_static/{script}")
    page = re.sub(r"<figure.*?</figure>", place, page, flags=re.S)
    text = deck(*chapter(tmp_path, yaml.safe_dump(DECK), page), VALUES, keys())
    assert f"/* {script} */" in text
    assert f'class="adalib-{game}"' in text


LISTED = [page.stem for page in pages() if deck_source(page).exists()]


@pytest.fixture(scope="module")
def decks(html, tmp_path_factory):
    """The decks of the built book, by chapter."""
    folder = tmp_path_factory.mktemp("slides")
    executed = html.parent / "jupyter_execute" / "notebooks"
    return {path.stem: path for path in write_decks(ROOT, executed, html, folder)}


@pytest.fixture(scope="module")
def slides_by_chapter(decks):
    """The slides of every deck, parsed."""
    return {
        name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select(".deck-slide")
        for name, path in decks.items()
    }


def test_the_chapters_of_the_two_week_plan_have_decks(decks):
    syllabus = (ROOT / "book" / "syllabus.md").read_text(encoding="utf-8")
    sessions = syllabus.partition("\n## Sessions\n")[2].partition("\n## ")[0]
    planned = {keys()[key].stem for key in re.findall(r"\{ch\}`(\w+)`", sessions)}
    planned |= set(re.findall(r"notebooks/(\w+)\.ipynb", sessions))
    files = {path.stem for path in (ROOT / "notebooks" / "slides").iterdir()}
    assert planned <= set(decks) == files  # a file of another name is nobody's deck


def test_every_program_on_a_slide_is_valid_python(slides_by_chapter):
    found = 0
    for shown in slides_by_chapter.values():
        for slide in shown:
            for program in slide.select(".deck-fragment > .highlight pre"):
                kinds = {type(node) for node in ast.walk(ast.parse(program.get_text()))}
                assert ast.Assert not in kinds
                found += 1
    assert found


# The slides that do not fit, once their figures are drawn.
OVERFLOW = """async () => {
  const found = [];
  const rest = () => new Promise((go) => setTimeout(go, 100));
  const undrawn = ".plotly-graph-div:not(:has(.main-svg))";
  const waits = (part) => part.offsetParent && !part.closest("details");
  const deadline = performance.now() + 600_000;
  for (const [i, slide] of [...document.querySelectorAll(".deck-slide")].entries()) {
    location.hash = `slide=${i + 1}`;
    await rest();
    const title = slide.querySelector("h1").textContent;
    while ([...slide.querySelectorAll(undrawn)].some(waits)) {
      if (performance.now() > deadline) throw new Error(`slide "${title}" is not drawn`);
      await rest();
    }
    await rest();
    if (slide.scrollHeight > slide.clientHeight + 1 || slide.scrollWidth > slide.clientWidth + 1)
      found.push([title, slide.scrollHeight, slide.scrollWidth]);
  }
  return found;
}"""


# The size of the smallest letters of a figure.
LEAST = """() => Math.min(...[...document.querySelectorAll(".is-shown .main-svg text")]
  .map((text) => parseFloat(getComputedStyle(text).fontSize)))"""


@pytest.mark.nightly
@pytest.mark.parametrize("name", LISTED)
def test_every_slide_fits_a_projector(decks, new_page, name):
    page = new_page(viewport={"width": 1280, "height": 720})
    page.goto(decks[name].as_uri())
    assert page.evaluate(OVERFLOW) == []


def test_the_deck_plays(decks, new_page):
    page = new_page(viewport={"width": 1280, "height": 720})
    faults, outside = [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: outside.append(request.url) if request.url.startswith("http") else None,
    )
    page.goto(decks["02_oracle"].as_uri())
    at = page.locator(".deck-at")
    total = page.locator(".deck-slide").count()
    assert at.inner_text() == f"1 / {total}"
    question = page.locator(".is-shown .deck-fragment")
    assert not question.is_visible()
    page.keyboard.press("ArrowRight")
    assert question.is_visible()
    assert at.inner_text() == f"1 / {total}"
    page.keyboard.press("ArrowRight")
    assert at.inner_text() == f"2 / {total}"
    page.keyboard.press("ArrowLeft")
    assert question.is_visible()
    assert at.inner_text() == f"1 / {total}"
    cut = page.locator(".deck-slide").all()

    def show_first(part):
        """Show the first slide that has this part; its number."""
        number = next(i for i, slide in enumerate(cut, 1) if slide.locator(part).count())
        page.evaluate(f"location.hash = 'slide={number}'")
        page.keyboard.press("ArrowRight")
        return number

    show_first(".adalib-price")
    page.locator(".is-shown .adalib-price svg").first.wait_for()  # the game is played
    show_first(".plotly-graph-div")
    page.locator(".is-shown .main-svg").first.wait_for()  # the figure is drawn
    assert page.evaluate(LEAST) >= 18  # pixels, for the back row
    assert not page.locator(".is-shown .deck-notes").is_visible()
    page.keyboard.press("n")
    assert page.locator(".is-shown .deck-notes").is_visible()
    page.keyboard.press("End")
    assert at.inner_text() == f"{total} / {total}"
    assert faults == []
    assert outside == []


def test_the_explorer_on_a_slide_works_and_keeps_its_arrows(decks, new_page):
    page = new_page(viewport={"width": 1280, "height": 720})
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(decks["explorer"].as_uri())
    at = page.locator(".deck-at")
    page.evaluate("location.hash = 'slide=2'")
    page.keyboard.press("ArrowRight")
    explorer = page.locator(".is-shown .adalib-explorer[data-lam]")  # it is drawn
    before = explorer.get_attribute("data-lam")
    slider = explorer.locator("[data-control=lambda]")
    slider.press("ArrowRight")
    page.locator(f".is-shown .adalib-explorer:not([data-lam='{before}'])").wait_for()
    assert at.inner_text().startswith("2 / ")
    slider.press("Escape")
    page.keyboard.press("ArrowLeft")
    assert at.inner_text().startswith("1 / ")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    page.keyboard.press("ArrowRight")
    assert re.match(r"2\. ", opened.value.locator("h1").inner_text())
    assert faults == []
