"""Every page of the book in a real browser, opened from its files with the network cut, in light and in dark."""

from __future__ import annotations

import browser as find
import pytest
from conftest import HTML, toc_pages

EXTRA = ["genindex", "search"]

# What a drawn trace leaves in a plotly figure.
INK = "'.trace, .overplot path, .overplot image, .slice, .table, canvas'"

# Resolves once the formulas are typeset and the figures drawn.
SETTLED = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  const drawn = (div) => div.querySelector(INK);
  const figures = [...document.querySelectorAll(".plotly-graph-div")];
  for (let wait = 0; wait < 100 && !figures.every(drawn); wait++) await new Promise((go) => setTimeout(go, 100));
}""".replace("INK", INK)

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

  for (const math of document.querySelectorAll(".math")) {
    if (!math.querySelector("mjx-container")) say("formula not typeset", math);
  }
  for (const error of document.querySelectorAll("mjx-merror, [data-mjx-error]")) say("formula with an error", error);

  for (const div of document.querySelectorAll(".plotly-graph-div")) {
    const box = div.getBoundingClientRect();
    const hidden = div.closest("details:not([open]), .toggle-hidden, .sd-tab-content");
    if (!div.querySelector(INK)) say("figure not drawn", div);
    else if (!hidden && (box.width < 100 || box.height < 100)) say("figure without room", div);
    if (!div.getAttribute("aria-label")) say("figure without a text alternative", div);
    const text = div.querySelector(".xtick text, .ytick text, .legendtext");
    if (text && contrast(getComputedStyle(text).fill, ground) < 4.5) say("figure with faint text", text);
  }
  for (const image of document.querySelectorAll("img")) {
    if (image.complete && image.naturalWidth === 0) say("image not shown", image);
    if (!image.hasAttribute("alt")) say("image without a text alternative", image);
  }
  return faults;
}""".replace("INK", INK)

OVERFLOW = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room + 1) return "";
  const right = (element) => element.getBoundingClientRect().right;
  const wide = [...document.querySelectorAll(".bd-article *")].filter((element) => right(element) > room + 1);
  return wide.map((e) => e.tagName + "." + e.className).slice(0, 5).join(", ") || "something outside the article";
}"""


@pytest.fixture(params=["light", "dark"])
def page(browser, request):
    """A fresh page, offline, that collects what goes wrong in ``page.wrong``."""
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.wrong = []

    def guard(route):
        url = route.request.url
        if url.startswith((HTML.as_uri() + "/", "data:", "blob:")):
            route.continue_()
        else:
            page.wrong.append(f"request outside the book: {url}")
            route.abort()

    page.route("**/*", guard)
    page.on("console", lambda m: page.wrong.append(f"console: {m.text}") if m.type == "error" else None)
    page.on("pageerror", lambda error: page.wrong.append(f"script error: {error}"))
    page.on("requestfailed", lambda request: page.wrong.append(f"request failed: {request.url}"))
    yield page
    context.close()


@pytest.mark.parametrize("name", [*EXTRA, *toc_pages()])
def test_page_is_whole_with_the_network_cut(html, page, name):
    page.goto((html / f"{name}.html").as_uri(), wait_until="load")
    page.evaluate(SETTLED)
    assert page.wrong + page.evaluate(FAULTS) == []

    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    assert page.evaluate(OVERFLOW) == "", "the page scrolls sideways on a phone"
    assert page.wrong == []


def test_index_leads_to_the_first_page(html, page):
    page.goto((html / "index.html").as_uri())
    page.wait_for_url(f"**/{toc_pages()[0]}.html")
    assert page.wrong == []


def test_figures_follow_the_theme_and_keep_their_own_colours(html, browser, tmp_path):
    """One figure, drawn by the book's own scripts, through a change of theme."""
    import plotly.graph_objects as go

    from adalib.teach import figures

    fig = go.Figure(go.Bar(y=[1, 2], marker_color="#123456"))
    fig.update_layout(xaxis_title="<b>x</b></script><script>document.title = 'broken'</script>")
    scripts = "".join(
        f'<script src="{(html / "_static" / file).as_uri()}"></script>' for file in ("lib/plotly.min.js", "figures.js")
    )
    (tmp_path / "page.html").write_text(
        f'<!doctype html><html data-theme="light"><meta charset="utf-8"><body style="width: 600px">'
        f"{figures.show(fig, alt='Two bars.')._repr_html_()}{scripts}",
        encoding="utf-8",
    )
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate(SETTLED)
    colours = "() => { const l = document.querySelector('.plotly-graph-div')._fullLayout; return l.font.color; }"
    bar = "() => getComputedStyle(document.querySelector('.bars path')).fill"
    light = page.evaluate(colours)
    assert page.title() != "broken"
    assert page.evaluate(bar) == "rgb(18, 52, 86)"
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function(f"({colours})() !== '{light}'")
    assert page.evaluate(bar) == "rgb(18, 52, 86)"
    assert page.get_by_label("Two bars.").count() == 1
    page.close()


SLIDERS = """() => [...document.querySelectorAll(".plotly-graph-div")].map((div, at) => [at, div.layout.sliders])
  .filter(([at, sliders]) => (sliders || []).length).map(([at]) => at)"""
STATE = """(at) => {
  const div = document.querySelectorAll(".plotly-graph-div")[at];
  const drawn = [...div.querySelectorAll(".plot-container path, .plot-container text")];
  const range = div.parentElement.querySelector(".adalib-range");
  const looks = drawn.map((e) => e.getAttribute("d") + e.getAttribute("style") + e.textContent).join();
  return { active: div._fullLayout.sliders[0].active, looks, value: Number(range.value), steps: Number(range.max) };
}"""


@pytest.mark.parametrize("name", [name for name in toc_pages() if name.startswith("notebooks/")])
def test_sliders_move_by_key_and_by_mouse(html, browser, name):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((html / f"{name}.html").as_uri(), wait_until="load")
    page.evaluate(SETTLED)
    for at in page.evaluate(SLIDERS):
        figure = page.locator(".plotly-graph-div").nth(at)
        range_ = figure.locator("xpath=..").locator(".adalib-range")
        before = page.evaluate(STATE, at)
        range_.press("Home" if before["active"] else "End")
        page.wait_for_function(f"({STATE})({at}).active !== {before['active']}")
        moved = page.evaluate(STATE, at)
        assert moved["value"] == moved["active"] == (0 if before["active"] else before["steps"])
        assert moved["looks"] != before["looks"]
        # The mouse: a click on the far end of the rail.
        figure.scroll_into_view_if_needed()
        rail = figure.locator(".slider-rail-touch-rect").bounding_box()
        far = rail["x"] + (0.97 if moved["active"] == 0 else 0.03) * rail["width"]
        page.mouse.click(far, rail["y"] + rail["height"] / 2)
        page.wait_for_function(f"({STATE})({at}).active !== {moved['active']}")
        clicked = page.evaluate(STATE, at)
        assert clicked["value"] == clicked["active"]
    page.close()


def test_a_browser_that_was_named_must_start(monkeypatch):
    monkeypatch.setenv("ADALIB_BROWSER", "/bin/false")
    with pytest.raises(RuntimeError, match="ADALIB_BROWSER is '/bin/false'"):
        find.find_browser.__wrapped__()


def test_without_any_browser_one_line_says_what_to_do(monkeypatch):
    """Nothing on the PATH but a stand-in that is no browser, and no way to install one."""
    tried = []
    monkeypatch.delenv("ADALIB_BROWSER", raising=False)
    monkeypatch.setattr(find, "_candidates", lambda: iter(["/bin/true"]))
    monkeypatch.setattr(find, "_run", lambda command: bool(tried.append(command)))
    with pytest.raises(RuntimeError, match="install Chromium or Chrome") as error:
        find.find_browser.__wrapped__()
    assert "\n" not in str(error.value)
    assert tried[-1][-2:] == ["install", "chromium"]
