"""Every page of the book in a real browser, opened from its files with the network cut: light,
dark, and a phone."""

from __future__ import annotations

import browser as find
import plotly.graph_objects as go
import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import HTML, ROOT, site, toc_pages

from adabook import figures

EXTRA = ["genindex", "search"]
# One page of each kind: welcome, chapter, explorer, game, appendix, prose, tables, search.
KINDS = {
    *("book/intro", "book/operate", "book/data-cards", "search"),
    *(f"notebooks/{name}" for name in ("02_oracle", "09_stopping", "explorer", "market")),
    "notebooks/c_rivals",
}

# What a drawn trace leaves in a plotly figure.
INK = "'.trace, .overplot path, .overplot image, .slice, .table, canvas'"

# What is wrong with a page, as a list of sentences.
FAULTS = """() => {
  const faults = [];
  const say = (what, element) => faults.push(what + ": " + (element.outerHTML || "").slice(0, 160));
  const luminance = (colour) => {
    const channel = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const ground = getComputedStyle(document.body).backgroundColor;
  const fontOf = (element) => getComputedStyle(element).fontFamily;

  for (const math of document.querySelectorAll(".math")) {
    if (!math.querySelector("math")) say("formula not typeset", math);
    else if (!fontOf(math.querySelector("math")).startsWith('"Adalib Math"')) {
      say("formula in a font for text", math);
    }
  }
  for (const error of document.querySelectorAll("merror")) say("formula with an error", error);

  for (const div of document.querySelectorAll(".plotly-graph-div")) {
    const box = div.getBoundingClientRect();
    const hidden = div.closest("details:not([open]), .toggle-hidden, .sd-tab-content");
    if (!div.querySelector(INK)) say("figure not drawn", div);
    else if (!hidden && (box.width < 100 || box.height < 100)) say("figure without room", div);
    const caption = document.getElementById(div.getAttribute("aria-labelledby"));
    if (!/^Figure [A-Z\\d.]+ \\S/.test(caption?.textContent ?? "")) {
      say("figure without a numbered caption", div);
    }
    if (div.querySelector(".modebar")) say("figure with a toolbar", div);
    const text = div.querySelector(".xtick text, .ytick text, .legendtext");
    if (text && contrast(getComputedStyle(text).fill, ground) < 4.5) {
      say("figure with faint text", text);
    }
  }
  for (const image of document.querySelectorAll("img")) {
    if (image.complete && image.naturalWidth === 0) say("image not shown", image);
    if (!image.hasAttribute("alt")) say("image without a text alternative", image);
  }
  return faults;
}""".replace("INK", INK)

# What is wider than a phone: the page itself, a table that does not scroll beside its first
# column, a line of code.
OVERFLOW = """() => {
  const start = (element) => element.textContent.trim().slice(0, 80);
  const name = (element) => `${element.tagName}.${element.className}: ${start(element)}`;
  const room = document.documentElement.clientWidth;
  const right = (element) => element.getBoundingClientRect().right;
  const boxes = ".states-grid, .adalib-sideways, .adalib-columns, .adalib-explorer *";
  const scrolls = `${boxes}, .cell_input pre`; // code keeps its indentation
  const inside = [...document.querySelectorAll(`.bd-article :is(table, pre):not(${scrolls})`)];
  const cut = inside.filter((e) => right(e) > room + 1 || e.scrollWidth > e.clientWidth + 1);
  const faults = cut.map(name);
  if (document.documentElement.scrollWidth > room + 1) {
    const elements = [...document.querySelectorAll(".bd-article *")];
    const wide = elements.filter((element) => right(element) > room + 1);
    faults.push(...["the page", ...wide.map(name)].slice(0, 5));
  }
  return faults;
}"""

# Everything that folds: cells, solutions, proofs, tables.
OPEN = """() => {
  document.querySelectorAll("details").forEach((fold) => (fold.open = true));
  document.querySelectorAll(".toggle-button-hidden").forEach((button) => button.click());
}"""
# Controls of plotly's figures; pictures with a script of their own have tests of their own.
CONTROLS = ".adalib-figure .adalib-controls:not(.adalib-several)"
# The figure of a control, or the whole page.
SCOPE = (
    f'at == null ? document : document.querySelectorAll("{CONTROLS}")[at].closest(".adalib-figure")'
)
# Resolves once nothing has moved or changed its look for ten frames.
SETTLED = """async (at) => {
  const frame = () => new Promise(requestAnimationFrame);
  const scope = SCOPE;
  const moving = ".plotly-graph-div, .gtitle, .xtick text, .colorbar, table";
  const parts = () => [...scope.querySelectorAll(moving)];
  const looks = () => parts().map((e) => {
    const box = e.getBoundingClientRect();
    const { fill, color } = getComputedStyle(e);
    return [box.x, box.width, box.height, fill, color].join();
  }).join(";");
  const deadline = performance.now() + PATIENCE;
  for (let same = 0, before = looks(); same < 10; ) {
    if (performance.now() > deadline) throw new Error("the page still moves");
    await frame();
    const now = looks();
    same = now === before ? same + 1 : 0;
    before = now;
  }
}""".replace("SCOPE", SCOPE).replace("PATIENCE", str(find.PATIENCE))
LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# Once every figure has followed the width of its place, and was drawn anew where that is narrow or
# wide now.
FITTED = """() => [...document.querySelectorAll(".plotly-graph-div[data-narrow]")].every((div) => {
  const { clientWidth: width, dataset, _fullLayout } = div;
  const narrow = dataset.narrow === String(width < 520);
  return !width || (narrow && Math.abs(width - _fullLayout.width) < 1);
})"""
THEME = "(name) => document.documentElement.dataset.theme === name"


# Before axe looks: drawn figures and formulas, which `FAULTS` has looked at, and all words of code
# and rows of a table that look like one before them, are tens of thousands of elements that it
# would weigh one by one.
THIN = """() => {
  document.querySelectorAll("math").forEach((formula) => formula.remove());
  for (const figure of document.querySelectorAll(".plotly-graph-div")) {
    window.Plotly?.purge(figure); // else it would still follow the theme, unseen
    figure.replaceWith(figure.cloneNode(false));
  }
  const kinds = new Set();
  for (const word of document.querySelectorAll("pre span[class]")) {
    if (kinds.has(word.className)) word.replaceWith(word.textContent);
    kinds.add(word.className);
  }
  const look = (part) => `${part.tagName} ${part.className} ${part.getAttribute("style")}`;
  for (const { rows } of document.querySelectorAll("tbody")) {
    const looks = new Set();
    for (const row of [...rows]) {
      const before = looks.size;
      [row, ...row.querySelectorAll("*")].forEach((part) => looks.add(look(part)));
      if (before === looks.size) row.remove();
    }
  }
}"""
# Before axe weighs contrast, its dearest rule: of words in the same places of the same kinds, the
# first stay.
ALIKE = """() => {
  const [kindOf, kinds] = [new Map([[null, ""]]), new Set()];
  const kind = (part) => {
    if (!kindOf.has(part)) {
      const { color, backgroundColor, fontSize, fontWeight, opacity } = getComputedStyle(part);
      const look = [color, backgroundColor, fontSize, fontWeight, opacity];
      kindOf.set(part, kind(part.parentElement) + [part.tagName, part.className, ...look]);
    }
    return kindOf.get(part);
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const again = [];
  while (words.nextNode()) {
    const here = words.currentNode.data.trim() && kind(words.currentNode.parentElement);
    if (here && kinds.has(here)) again.push(words.currentNode);
    kinds.add(here);
  }
  again.forEach((word) => (word.data = ""));
}"""
CONTRAST = "color-contrast"


def barriers(page, *, contrast: bool) -> list[str]:
    """What axe finds on a page, however small, in contrast alone or in all else.

    The rules are those of WCAG 2.1, A and AA, and axe's best practices.
    """
    # Without preload: axe would fetch the style sheets again, which a browser refuses for files.
    asked: dict = {"preload": False, "resultTypes": ["violations"]}
    others = {CONTRAST: {"enabled": False}, "label-content-name-mismatch": {"enabled": True}}
    asked |= {"runOnly": {"type": "rule", "values": [CONTRAST]}} if contrast else {"rules": others}
    # axe is half a megabyte of script, which a page needs once.
    axe = Axe("0") if page.evaluate("Boolean(window.axe)") else Axe()
    found = axe.run(page, options=asked).response["violations"]
    return [
        f"{finding['id']}: {node['html'][:160]}" for finding in found for node in finding["nodes"]
    ]


OFFLINE = {"color_scheme": "light", "viewport": LAPTOP, "offline": True}


def watched(page):
    """The same page, which now collects what goes wrong in ``page.wrong``."""
    page.wrong = []

    def watch(request):
        if not request.url.startswith((HTML.as_uri() + "/", "data:", "blob:")):
            page.wrong.append(f"request outside the book: {request.url}")

    page.on("request", watch)
    page.on(
        "console", lambda m: page.wrong.append(f"console: {m.text}") if m.type == "error" else None
    )
    page.on("pageerror", lambda error: page.wrong.append(f"script error: {error}"))

    def failed(request):
        if request.failure != "net::ERR_ABORTED":  # cut short, by leaving the page
            page.wrong.append(f"request failed: {request.url}")

    page.on("requestfailed", failed)
    return page


@pytest.fixture
def page(new_page):
    """A fresh page, offline, that collects what goes wrong in ``page.wrong``."""
    return watched(new_page(**OFFLINE))


@pytest.fixture(scope="module")
def tab(browser):
    """One page for many visits: the browser compiles the scripts that pages share only once."""
    context = browser.new_context(**OFFLINE)
    tab = watched(context.new_page())
    tab.set_default_timeout(find.PATIENCE)
    tab.add_init_script("if (location.protocol === 'file:') localStorage.clear()")
    yield tab
    context.close()


@pytest.fixture
def visit(html, tab):
    """Open a page of the book on a phone, in light, as a reader who has never been here."""

    def opened(name: str):
        tab.wrong.clear()
        tab.emulate_media(color_scheme="light")
        tab.set_viewport_size(PHONE)
        tab.goto((html / f"{name}.html").as_uri(), wait_until="load")
        return tab

    yield opened
    tab.goto("about:blank")  # what this page still does must not go wrong during the next visit


STATE = """(at) => {
  const box = document.querySelectorAll("CONTROLS")[at];
  const figure = box.closest(".adalib-figure");
  const drawn = figure.querySelectorAll(".plot-container path, .plot-container text");
  const drawing = ["d", "style", "transform"];
  const look = (e) => drawing.map((name) => e.getAttribute(name)) + e.textContent;
  const looks = [...drawn].map(look).join();
  const input = box.querySelector("input:checked, input[type=range]");
  const stops = box.querySelectorAll("input").length;
  const last = input.type === "range" ? Number(input.max) : stops - 1;
  return { kind: input.type, value: Number(input.value), stops, looks, last };
}""".replace("CONTROLS", CONTROLS)
MOVED = f"([at, before]) => ({STATE})(at).looks !== before"


def move_controls(page) -> None:
    """Every control of a figure moves it, by key and by mouse."""
    for at in range(page.locator(CONTROLS).count()):
        box = page.locator(CONTROLS).nth(at)
        before = page.evaluate(STATE, at)
        assert (before["kind"] == "radio") == (before["last"] < 4)
        if before["kind"] == "range":
            box.locator("input").press("Home" if before["value"] else "End")
        else:
            box.locator("input:checked").press("ArrowRight")
        page.wait_for_function(MOVED, arg=[at, before["looks"]])
        moved = page.evaluate(STATE, at)
        if before["kind"] == "range":
            assert moved["value"] == (0 if before["value"] else before["last"])
            rail = box.locator("input").bounding_box()
            far = rail["x"] + (0.97 if moved["value"] == 0 else 0.03) * rail["width"]
            box.scroll_into_view_if_needed()
            rail = box.locator("input").bounding_box()
            page.mouse.click(far, rail["y"] + rail["height"] / 2)
        else:
            box.locator("label", has=page.locator("input:not(:checked)")).first.click()
        page.wait_for_function(MOVED, arg=[at, moved["looks"]])


@pytest.mark.parametrize("name", [*EXTRA, *toc_pages()])
def test_page_is_whole_with_the_network_cut(visit, name):
    """Loaded once, on a phone: well drawn there and on a laptop, controls move, all is whole in
    light and in dark.

    Drawing figures takes most of the time, so each size and each theme has its turn once.
    """
    page = visit(name)
    page.evaluate(find.DRAWN)
    assert badly_drawn(page, stops=3) == []
    page.evaluate(OPEN)
    page.evaluate(find.DRAWN)
    settle(page)
    assert page.evaluate(OVERFLOW) == []
    page.set_viewport_size(LAPTOP)
    settle(page)
    assert badly_drawn(page, stops=2) == []
    move_controls(page)
    assert page.wrong + page.evaluate(FAULTS) == []
    in_theme(page, "dark")
    assert page.wrong + page.evaluate(FAULTS) == []


@pytest.mark.parametrize(
    "name",
    [
        name if name in KINDS else pytest.param(name, marks=pytest.mark.nightly)
        for name in [*EXTRA, *toc_pages()]
    ],
)
def test_a_page_is_open_to_all(visit, name):
    """Drawn, since explorers and games are drawn by scripts, and without the lines of figures."""
    page = visit(name)
    page.evaluate(OPEN)
    page.evaluate(find.DRAWN)
    in_theme(page, "dark")
    page.evaluate(THIN)
    assert_open_to_all(page)
    assert page.wrong == []


@pytest.mark.parametrize("name", ["book/intro", "notebooks/09_stopping"])
def test_the_frame_around_a_page_is_open_to_all(visit, name):
    """Menus and contents stand beside a page on a laptop; on a phone they are folded away."""
    page = visit(name)
    page.set_viewport_size(LAPTOP)
    in_theme(page, "dark")
    page.evaluate(THIN)
    assert_open_to_all(page)


def assert_open_to_all(page) -> None:
    """No barrier on a thin page in dark, nor for contrast in light."""
    page.wait_for_timeout(500)  # what scrolls takes the focus a moment after the width changed
    assert barriers(page, contrast=False) == []
    page.evaluate(ALIKE)
    assert barriers(page, contrast=True) == []
    in_theme(page, "light")
    assert barriers(page, contrast=True) == []


# What is badly drawn: text that is cut, tiny or over other text, ticks that repeat, numbers that
# nobody would write.
DRAWING = """(at) => [...(SCOPE).querySelectorAll(".plotly-graph-div")].flatMap((div) => {
  const faults = [];
  const figure = div.parentElement.querySelector(".adalib-number")?.textContent ?? div.id;
  const say = (fault, ...words) => {
    faults.push(`${figure} ${fault}: ${words.map((text) => text.slice(0, 40)).join(" | ")}`);
  };
  const all = div.getBoundingClientRect();
  const visible = (text) => getComputedStyle(text).visibility !== "hidden";
  const shown = [...div.querySelectorAll("svg text")]
    .filter((text) => !text.closest(".hoverlayer") && visible(text))
    .map((text) => ({ text, words: text.textContent, box: text.getBoundingClientRect() }))
    .filter(({ words, box }) => words.trim() && box.width > 0);
  for (const { text, words, box } of shown) {
    const across = Math.max(all.left - box.left, box.right - all.right);
    const down = Math.max(all.top - box.top, box.bottom - all.bottom);
    if (Math.max(across, down) > 2) say("is cut", words);
    const { a, b } = text.getScreenCTM();
    const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
    if (size < 10) say("is tiny", words);
    const odd = /^[-\u2212]0(\\.0*)?%?$|\\de-\\d\\d/;
    if (odd.test(words.trim())) say("is not a number to print", words);
  }
  shown.forEach((one, at) => shown.slice(at + 1).forEach((two) => {
    const across = Math.min(one.box.right, two.box.right) - Math.max(one.box.left, two.box.left);
    const down = Math.min(one.box.bottom, two.box.bottom) - Math.max(one.box.top, two.box.top);
    if (across > 2 && down > 3 && one.words !== two.words) {
      say("has one text over another", one.words, two.words);
    }
  }));
  for (const [name, axis] of Object.entries(div._fullLayout)) {
    if (!/^[xy]axis\\d*$/.test(name) || !axis._vals || axis.showticklabels === false) continue;
    const ticks = axis._vals.map((tick) => tick.text).filter(Boolean);
    if (new Set(ticks).size < ticks.length) say("repeats a tick", ticks.join(" "));
  }
  return faults;
})""".replace("SCOPE", SCOPE)


def badly_drawn(page, stops: int) -> list[str]:
    """The faults of every figure of a page, at some stops of its control, both ends among them."""
    found = set(page.evaluate(DRAWING))
    for at in range(page.locator(CONTROLS).count()):
        box, state = page.locator(CONTROLS).nth(at), page.evaluate(STATE, at)
        places = {round(state["last"] * part / (stops - 1)) for part in range(stops)}
        for stop in sorted(places - {state["value"]}):
            if state["kind"] == "range":
                box.locator("input").evaluate(
                    "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", stop
                )
            else:
                box.locator("input").nth(stop).evaluate("(e) => e.click()")
            page.evaluate(SETTLED, at)
            found |= set(page.evaluate(DRAWING, at))
    return sorted(found)


def settle(page) -> None:
    """Wait until the figures have followed a change of their width."""
    page.wait_for_function(FITTED)
    page.evaluate(SETTLED)


def in_theme(page, name: str) -> None:
    """Change the theme, and wait until the figures have followed."""
    page.emulate_media(color_scheme=name)
    page.wait_for_function(THEME, arg=name)
    page.evaluate(SETTLED)


def test_index_and_search_work_from_disk(html, page):
    page.goto((html / "index.html").as_uri())
    page.wait_for_url(f"**/{toc_pages()[0]}.html")
    page.goto((html / "search.html").as_uri() + "?q=envelope")
    page.locator("#search-results li").first.wait_for()
    assert page.wrong == []


# What readers type, and the page or section that they mean.
SEARCHES = {
    "KKT": "notebooks/04_duality.html",
    "theorem Everett": "notebooks/04_duality.html#everett-",
    "shadow price": "book/glossary.html#term-shadow-price",
    "envelope": "book/glossary.html#term-envelope",
    "winner's curse": "notebooks/05_estimation.html#the-winner-s-curse",
    "cross-fitting": "notebooks/05_estimation.html#cross-fitting",
    "confidence interval": "notebooks/05_estimation.html",
    "frontier": "notebooks/03_budgets.html",
    "exercise bisection": "notebooks/03_budgets.html#exercises",
    "own policy": "notebooks/own_policy.html",
    "how do I use my own data": "notebooks/own_file.html",
    "how to cite": "book/references.html#how-to-cite",
    "held_out": "book/api.html#adalib.held_out",
    "install": "book/operate.html#install",
    "market game": "notebooks/market.html",
    "is the paper right": "notebooks/13_verdict.html#is-the-paper-right",
    "xgboost": "notebooks/06_learning.html",
    "self-consistency": "notebooks/00_data.html",
    "price": "notebooks/02_oracle.html",
    "oracel": "notebooks/02_oracle.html",
    "oralce": "notebooks/02_oracle.html",
    "when should I stop asking": "notebooks/09_stopping.html",
    "race": "notebooks/11_deploy.html",
    "verifier": "notebooks/10_check.html",
    "how much does it save": "notebooks/11_deploy.html#the-bill",
    "effort": "notebooks/models.html",
    "tokens cost dollars": "notebooks/12_costs.html",
}


@pytest.mark.parametrize(("query", "first"), SEARCHES.items())
def test_searches_lead_to_the_place_that_a_reader_means(html, page, query, first):
    page.goto((html / "search.html").as_uri() + f"?q={query}")
    result = page.locator("#search-results li a").first
    result.wait_for()
    address = result.get_attribute("href")
    assert address.startswith(first)
    place, _, anchor = address.partition("#")
    assert f'id="{anchor}"' in (html / place).read_text(encoding="utf-8") or not anchor
    assert page.wrong == []


def test_what_was_found_says_how_it_begins_without_asking_for_its_page(html, new_page):
    page, asked = new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    with site(html) as address:
        page.goto(f"{address}/search.html?q=winner's curse", wait_until="networkidle")
        said = page.locator("#search-results li p").first.inner_text()
        assert said.startswith("Of two equally good budgets")
        assert [url for url in asked if url.endswith(".html")] == []


def test_nothing_found_is_said(html, page):
    page.goto((html / "search.html").as_uri() + "?q=zzyzxqua")
    page.get_by_text("Nothing found").wait_for()
    assert page.locator("#search-results li").count() == 0


def test_what_is_below_the_screen_waits(html, page):
    page.goto((html / "notebooks" / "01_motivation.html").as_uri())
    last = page.locator(".plotly-graph-div").last
    assert last.locator(".main-svg").count() == 0
    last.scroll_into_view_if_needed()
    last.locator(".main-svg").first.wait_for()
    assert page.wrong == []


def drawn_alone(play, fig, width):
    """A page of some width with one figure, drawn by the book's own scripts."""
    page = play(
        figures.show(fig, alt="Two bars.")._repr_html_(), "near.js", "figures.js", width=width
    )
    page.evaluate(find.DRAWN)
    return page


# The names beside the lines from top to bottom, each with its distance from the end of its line.
NAMED = """() => {
  const div = document.querySelector(".plotly-graph-div");
  const { yaxis } = div._fullLayout;
  const top = div.querySelector(".main-svg").getBoundingClientRect().top;
  return [...div.querySelectorAll(".annotation")].map((note) => {
    const name = note.textContent.replace("■", "").trim();
    const { y } = div.data.find((trace) => trace.name === name);
    const box = note.getBoundingClientRect();
    const end = top + yaxis._offset + yaxis.d2p(y.at(-1));
    return [name, Math.abs((box.top + box.bottom) / 2 - end)];
  });
}"""


def lines(**ends):
    """A figure of lines that begin together and end where they are told."""
    return go.Figure([go.Scatter(x=[1, 2], y=[5, end], name=name) for name, end in ends.items()])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_lines_are_named_at_their_ends(play, scale):
    figure = lines(low=10, high=1000, middle=300).update_yaxes(type=scale)
    page = drawn_alone(play, figure, 700)
    assert page.locator(".legend").count() == 0
    named = dict(page.evaluate(NAMED))
    assert set(named) == {"low", "high", "middle"}
    assert max(named.values()) < 3  # pixels


@pytest.mark.parametrize(
    ("figure", "width"),
    [
        (lines(a=1, b=1, c=1, d=1), 700),  # nobody could tell which is which
        (lines(low=1, high=3), 400),  # a phone has no room beside
        (lines(low=1, high=3).add_bar(x=[1, 2], y=[1, 1], name="bars"), 700),
        (lines(low=1, high=3).update_xaxes(range=[1, 4]), 700),  # they end in the middle
    ],
)
def test_a_legend_stays_where_names_do_not_fit(play, figure, width):
    page = drawn_alone(play, figure, width)
    assert page.locator(".legend .legendtext").count() == len(figure.data)
    assert page.locator(".annotation").count() == 0


PRINTED = """() => [".plotly-graph-div:has(.main-svg)", ".plotly-graph-div"].map(
  (kind) => document.querySelectorAll(kind).length)"""


@pytest.mark.parametrize("way", ["keys", "button", "menu"])
def test_an_unscrolled_page_prints_whole(html, page, way):
    """Keys and button wait until all is drawn. A browser's own menu does not wait: then all is
    drawn at once."""
    page.add_init_script(f"window.print = () => (window.printed = ({PRINTED})())")
    file = html / "notebooks" / ("06_learning.html" if way == "menu" else "05_estimation.html")
    page.goto(file.as_uri(), wait_until="load")
    if way == "keys":
        page.keyboard.press("Control+p")
    elif way == "button":
        page.evaluate("document.querySelector('.btn-download-pdf-button').click()")
    else:
        page.wait_for_function("window.Plotly")
        page.evaluate(
            "dispatchEvent(new Event('beforeprint')); print(); "
            "dispatchEvent(new Event('afterprint'))"
        )
    page.wait_for_function("window.printed")
    drawn, there = page.evaluate("printed")
    of_the_page = file.read_text(encoding="utf-8").count('class="plotly-graph-div"')
    assert drawn == there == of_the_page > 0
    page.emulate_media(media="print")
    assert page.locator("h1").is_visible()
    assert (
        page.locator(".bd-article :is(.adalib-controls, details.adalib-code):visible").count() == 0
    )


def finger(page):
    """A function that moves a finger along points of the screen."""
    touch = page.context.new_cdp_session(page)

    def swipe(*points: tuple[float, float]) -> None:
        for kind, at in zip(
            ["touchStart", *["touchMove"] * (len(points) - 1)], points, strict=True
        ):
            touch.send(
                "Input.dispatchTouchEvent",
                {"type": kind, "touchPoints": [{"x": at[0], "y": at[1]}]},
            )
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    return swipe


def test_scrolling_leaves_a_slider_alone(new_page):
    """A slider's listener gets no value that a scrolling finger passed."""
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.set_content(
        "<div style='height: 3000px; padding-top: 300px'>"
        "<input type=range style='width: 300px'></div>"
    )
    page.add_script_tag(path=ROOT / "book" / "_static" / "touch.js")
    page.evaluate(
        "window.values = []; const slider = document.querySelector('input');"
        "slider.oninput = () => values.push(slider.value); 0"
    )
    box, swipe = page.locator("input").bounding_box(), finger(page)
    x, y = box["x"] + 30, box["y"] + box["height"] / 2
    swipe((x, y), *((x + 15 * step, y) for step in range(1, 13)))
    dragged = page.evaluate("values.at(-1)")
    assert float(dragged) > 60
    page.evaluate("values.length = 0")
    swipe((x, y), *((x, y - 15 * step) for step in range(1, 13)))
    assert set(page.evaluate("[...values, document.querySelector('input').value]")) == {dragged}


def centre(page, selector):
    """Bring an element to the middle of the window, again until it stays there: a swipe's momentum
    may carry it off."""
    page.evaluate(
        """async ([selector, patience]) => {
          const element = document.querySelector(selector);
          const deadline = performance.now() + patience;
          for (let at = null, still = 0; still < 30; ) {
            if (performance.now() > deadline) throw new Error(`${selector} still moves`);
            element.scrollIntoView({block: "center", behavior: "instant"});
            await new Promise(requestAnimationFrame);
            const now = element.getBoundingClientRect().top;
            still = now === at ? still + 1 : 0;
            at = now;
          }
        }""",
        [selector, find.PATIENCE],
    )


def test_a_finger_on_a_figure_scrolls_or_taps(html, new_page):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto((html / "notebooks" / "00_data.html").as_uri(), wait_until="load")
    figure = page.locator(".plotly-graph-div").first
    figure.scroll_into_view_if_needed()
    figure.locator(".main-svg").first.wait_for()
    centre(page, ".plotly-graph-div")
    box, touch = figure.bounding_box(), page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def send(kind: str, *points: float) -> None:
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": at} for at in points]},
        )

    before = page.evaluate("scrollY")
    send("touchStart", y)
    for step in range(1, 13):
        send("touchMove", y - 20 * step)
    send("touchEnd")
    page.wait_for_function(f"() => scrollY > {before} + 100")
    centre(page, ".plotly-graph-div")
    mark = figure.locator(".points > .point, .js-line").first.bounding_box()
    page.touchscreen.tap(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    figure.locator(".hovertext").first.wait_for()
