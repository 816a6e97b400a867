"""Slides: the chapter's own figures and theorems, its prose in the notes, no answer on the
screen."""

from __future__ import annotations

import ast
import re

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

from adabook.games.scripts import SCRIPTS
from contents import chapters
from editions.slides import deck, slides, write_decks

PAGE = """<html><head><link rel="stylesheet" href="../_static/custom.css">
<script defer="defer" src="../_static/figures.js?v=1"></script>
<script src="../_static/theme.js"></script>
<script defer="defer" src="../_static/quiz.js?v=1"></script></head>
<body><article class="bd-article"><section><h1>2. The oracle<a class="headerlink">#</a></h1>
<div class="tip admonition"><p class="admonition-title">Aims</p><p>Know.</p></div>
<section><h2>One price</h2><p>A market has a price.
It is <strong>one number for everybody alike</strong>. A
price is <strong>one number for everybody, and no more</strong>. See
<a href="03_budgets.html">chapter 3</a>.</p>
<div class="cell tag_hide-input"><div class="cell_input"><pre>draw()</pre></div>
<div class="cell_output"><div class="output"><figure class="adalib-figure">
<div class="plotly-graph-div"></div></figure></div></div></div>
<div class="admonition"><p class="admonition-title">While you drag</p><p>Why?</p></div>
<div class="proof theorem admonition"><p class="admonition-title">Theorem</p><p>It falls.</p></div>
<div class="dropdown admonition"><p class="admonition-title">Proof</p><p>Add.</p></div></section>
<section><h2>Check</h2>
<div class="cell"><div class="cell_input"><pre>assert secret</pre></div></div></section>
<section><h2>Quiz</h2>
<div class="quiz admonition"><ol><li><p>Which?</p><ul class="contains-task-list">
<li class="task-list-item"><p>
<input checked="checked" type="checkbox">This. <em>Since it is.</em></p></li>
<li class="task-list-item"><p>
<input type="checkbox">That. <em>It is not.</em></p></li></ul></li></ol></div></section>
<section><h2>Take away</h2><p>One price.</p></section></section></article></body></html>"""


def test_a_page_is_cut_into_slides():
    found = slides(BeautifulSoup(PAGE, "html.parser"))
    assert [(slide.kind, slide.title) for slide in found] == [
        ("title", "2. The oracle"),
        ("text", "One price"),
        ("figure", "One price"),
        ("theorem", "One price"),
        ("prompt", "Quiz"),
        ("text", "Take away"),
    ]
    text, figure, theorem, quiz = found[1:5]
    shown_texts = [node.get_text() for node in text.shown]
    assert shown_texts == [
        "A market has a price.",
        "A\nprice is one number for everybody, and no more.",
    ]
    assert "See" in text.notes[0].get_text()
    assert figure.shown[0].figure is not None
    assert "Why?" in figure.shown[1].get_text()  # with its prompt
    assert theorem.shown[-1].name == "details"
    shown, notes = quiz.shown[0], " ".join(node.get_text() for node in quiz.notes)
    assert "Since it is" not in shown.get_text()
    assert shown.find("input") is None
    assert notes == "This. Right: Since it is. That. Wrong: It is not."


def built(folder, page):
    """A built page with the files that it names, each of which says its own name."""
    files = folder / "_static"
    (files / "fonts").mkdir(parents=True)
    (files / "lib").mkdir()
    names = re.findall(r"_static/([\w.]+)", page)
    for name in [*names, "deck.css", "deck.js", "fonts/all.css", "lib/plotly.min.js"]:
        (files / name).write_text(f"/* {name} */")
    (folder / "notebooks").mkdir()
    path = folder / "notebooks" / "02_oracle.html"
    path.write_text(page)
    return path


def test_a_deck_holds_all_that_it_needs(tmp_path):
    text = deck(built(tmp_path, PAGE))
    assert not re.search(r'(?:href|src)="(?!data:|https?:)', text)
    for name in ("custom.css", "figures.js", "deck.js", "fonts/all.css", "lib/plotly.min.js"):
        assert f"/* {name} */" in text
    assert "/* quiz.js */" not in text
    assert "assert secret" not in text


@pytest.mark.parametrize("game", SCRIPTS)
def test_every_game_of_the_book_can_be_played_on_a_slide(game, tmp_path):
    script = f"{game}.js"
    place = f'<div class="adalib-{game}"><script type="application/json">{{}}</script></div>'
    page = PAGE.replace("../_static/figures.js", f"../_static/{script}")
    page = re.sub(r"<figure.*?</figure>", place, page, flags=re.S)
    text = deck(built(tmp_path, page))
    assert f"/* {script} */" in text
    assert f'class="adalib-{game}"' in text


@pytest.fixture(scope="module")
def decks(html, tmp_path_factory):
    """The decks of the built book, by chapter."""
    folder = tmp_path_factory.mktemp("slides")
    return {path.stem: path for path in write_decks(ROOT, html, folder)}


@pytest.fixture(scope="module")
def slides_by_chapter(decks):
    """The slides of every deck, parsed."""
    return {
        name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select(".deck-slide")
        for name, path in decks.items()
    }


def programs(page: str) -> list[str]:
    """The programs on the slides of a page."""
    return [
        node.pre.get_text()
        for slide in slides(BeautifulSoup(page, "html.parser"))
        if slide.kind == "code"
        for node in slide.shown
        if "cell_input" in (node.get("class") or [])
    ]


def test_code_keeps_its_indentation():
    code = """<span class="k">def</span> half(x):
<span class="w">    </span><span class="k">if</span> x:
<span class="w">        </span><span class="k">return</span> x / 2
<span class="w">    </span><span class="k">return</span> 0
<span class="k">assert</span> half(4) == 2
<span class="nb">print</span>(half(4))"""
    cell = f'<div class="cell"><div class="cell_input"><pre>{code}</pre></div></div>'
    (program,) = programs(PAGE.replace("<section><h2>Check", f"{cell}<section><h2>Check"))
    assert program.split("\n") == [
        "def half(x):",
        "    if x:",
        "        return x / 2",
        "    return 0",
        "print(half(4))",
    ]


def test_every_chapter_but_the_last_two_has_a_deck(decks):
    assert list(decks) == [page.stem for page in chapters(appendices=False)][:-2]


def test_every_program_on_a_slide_is_valid_python(slides_by_chapter):
    found = 0
    for shown in slides_by_chapter.values():
        for slide in shown:
            for program in slide.select(".deck-shown .cell_input pre"):
                ast.parse(program.get_text())
                found += 1
    assert found >= 20


def test_slides_show_whole_sentences(slides_by_chapter):
    every = [(name, slide) for name, shown in slides_by_chapter.items() for slide in shown]
    for name, slide in every:
        shown = slide.select_one(".deck-shown")
        where = name, slide.find(["h1", "h2"]).get_text()
        assert not re.search(r"^(?:assert|give)\b", shown.get_text(), re.M), where
        kinds = [str(part.get("class")) for part in shown.find_all(recursive=False)]
        assert slide.h1 or not all("highlight-" in kind for kind in kinds), where
        for lead_text in (
            lead.get_text().strip() for lead in shown.select(".deck-lead, .deck-key")
        ):
            assert re.fullmatch(
                r"(?!(?:It|They|This|These|Of those)\b)[^a-z].*[.?!:)”]", lead_text, re.S
            ), (where, lead_text)


# The slides that do not fit, once their figures are drawn.
OVERFLOW = """async () => {
  const found = [];
  const rest = () => new Promise((go) => setTimeout(go, 100));
  const undrawn = ".plotly-graph-div:not(:has(.main-svg))";
  const waits = (part) => part.offsetParent && !part.closest("details");
  const deadline = performance.now() + 600_000;
  for (const slide of document.querySelectorAll(".deck-slide")) {
    const title = slide.querySelector("h1, h2").textContent;
    while ([...slide.querySelectorAll(undrawn)].some(waits)) {
      if (performance.now() > deadline) throw new Error(`slide "${title}" is not drawn`);
      await rest();
    }
    await rest();
    if (slide.scrollHeight > slide.clientHeight + 1 || slide.scrollWidth > slide.clientWidth + 1)
      found.push([title, slide.scrollHeight, slide.scrollWidth]);
    document.querySelector('[data-go="1"]').click();
  }
  return found;
}"""


@pytest.mark.parametrize("name", ["02_oracle", "09_stopping"])
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
    page.keyboard.press("ArrowRight")
    assert at.inner_text() == f"2 / {total}"
    cut = page.locator(".deck-slide").all()

    def show_first(part):
        """Show the first slide that has this part; its number."""
        number = next(i for i, slide in enumerate(cut, 1) if slide.locator(part).count())
        page.evaluate(f"location.hash = 'slide={number}'")
        return number

    show_first(".adalib-price")
    page.locator(".is-shown .adalib-price svg").first.wait_for()  # the game is played
    show_first(".plotly-graph-div")
    page.locator(".is-shown .main-svg").first.wait_for()  # the figure is drawn
    assert not page.locator(".is-shown .deck-notes").is_visible()
    page.keyboard.press("n")
    assert page.locator(".is-shown .deck-notes").is_visible()
    page.keyboard.press("End")
    assert at.inner_text() == f"{total} / {total}"
    # The explorer works, and keeps its arrows.
    number = show_first(".adalib-explorer")
    slider = page.locator(".is-shown [data-control=lambda]")
    before = slider.input_value()
    slider.press("ArrowRight")
    assert slider.input_value() != before
    assert at.inner_text() == f"{number} / {total}"
    slider.press("Escape")
    page.keyboard.press("ArrowLeft")
    assert at.inner_text() == f"{number - 1} / {total}"
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    page.keyboard.press("ArrowRight")
    assert re.match(rf"{number}\. ", opened.value.locator("h1").inner_text())
    assert faults == []
    assert outside == []
