"""What a page needs before it is painted."""

import re
from types import SimpleNamespace

import pytest
from conftest import HTML, toc_pages
from first_paint import SHEET, deferred, joined, lighten, sheet, sheets_of
from small_styles import OURS

HEAD = """<html><head>
<noscript><link rel="stylesheet" href="../_static/fonts/all.css"></noscript>
<link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />
<script src="../_static/documentation_options.js"></script>
    <link rel="stylesheet" type="text/css" href="../_static/{own}.css?v=2" />
    <link rel="stylesheet" type="text/css" href="../_static/custom.css" />
<script src="../_static/other.js"></script>
</head><body><link rel="stylesheet" href="kept.css"></body></html>"""


@pytest.fixture
def book(tmp_path):
    """Two small pages with three style sheets each, of which they share two."""
    styles = {
        "basic.css": "p { color: red; background: url(far.png) }",
        "styles/theme.css": '@import "../basic.css";\nb { background: url(../font.woff2) }',
        "one.css": 'i { background: url("data:image/svg+xml,x") }',
        "two.css": "u { color: blue }",
        "custom.css": "p { background: url(near.png) }",
    }
    for name, text in styles.items():
        path = tmp_path / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "pages").mkdir()
    for name in ("one", "two"):
        (tmp_path / "pages" / f"{name}.html").write_text(HEAD.format(own=name))
    return tmp_path


def build(book):
    lighten(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=book), None)
    return (book / "pages" / "one.html").read_text()


def test_all_sheets_become_one_in_their_order(book):
    page = build(book)
    whole = (book / "_static" / "book.css").read_text()
    order = ["url(far.png)", 'url("font.woff2")', "i{", "u{", "url(near.png)"]
    assert sorted(order, key=whole.index) == order
    assert 'url("data:image/svg+xml,x")' in whole
    assert re.findall(r'<link[^>]*href="([^"?]*)', page) == [
        "../_static/fonts/all.css",  # where no script runs
        "../_static/book.css",
        "kept.css",
    ]
    assert '<script src="../_static/documentation_options.js">' in page
    assert '<script defer src="../_static/other.js">' in page


def test_a_second_build_changes_nothing_but_the_version(book):
    first = build(book)
    assert build(book) == first
    (book / "_static" / "custom.css").write_text("p { color: green }")
    second = build(book)
    assert "color: green" in (book / "_static" / "book.css").read_text()
    assert second != first
    version = re.compile(r"book\.css\?v=\w+")
    assert version.sub("", second) == version.sub("", first)


def test_a_new_sheet_comes_before_its_successor():
    assert joined([], ["a", "c"]) == ["a", "c"]
    assert joined(["a", "c"], ["a", "b", "c"]) == ["a", "b", "c"]
    assert joined(["a", "b", "c"], ["a", "x", "c"]) == ["a", "b", "x", "c"]


def test_modules_and_inline_scripts_stay():
    for script in ('<script type="module" src="a.js">', "<script>let a;</script>"):
        assert deferred(script) == script


@pytest.mark.parametrize("page", toc_pages())
def test_a_page_waits_for_one_sheet(html, page):
    head = (HTML / f"{page}.html").read_text(encoding="utf-8").partition("</head>")[0]
    seen = re.sub(r"<noscript>.*?</noscript>", "", head, flags=re.S)
    assert len(re.findall(r'<link[^>]*rel="stylesheet"', seen)) == 1
    waited = [
        script for script in re.findall(r"<script [^>]*src=[^>]*>", seen) if "defer" not in script
    ]
    assert [script for script in waited if "documentation_options" not in script] == []


def test_the_common_sheet_holds_every_sheet_of_the_book(html):
    whole = (HTML / "_static" / SHEET).read_text(encoding="utf-8")
    for name in OURS:
        assert sheet(HTML / "_static", name) in whole


VIEWS = [("light", "screen", 1280), ("dark", "screen", 390), ("light", "print", 1280)]
# Without motion, and without icons, whose font may come early or late.
AT_ONCE = """() => {
  const rule = document.head.appendChild(document.createElement("style"));
  rule.textContent = "* { transition: none !important } [class*=fa-] { display: none !important }";
}"""
# How every element looks, and what a style sheet puts before and after it; of those with the same
# classes in the same place, one.
LOOKS = """() => {
  const kinds = new Map();
  for (const element of document.querySelectorAll("body, body *:not(svg *, math *, pre *)")) {
    const above = [element, element.parentElement, element.parentElement.parentElement];
    kinds.set(above.map((each) => `${each?.tagName}.${each?.className}`).join(), element);
  }
  const keys = ["display", "position", "content", "visibility", "opacity", "color", "font",
    "background-color", "text-decoration", "margin", "padding", "border-top", "width", "height",
    "cursor", "overflow", "box-shadow", "transform"];
  return [...kinds].flatMap(([name, element]) => ["", "::before", "::after"].map((part) => {
    const style = getComputedStyle(element, part);
    if (part && style.content === "none") return "";
    const look = keys.map((key) => `${key}: ${style.getPropertyValue(key)}`);
    return `${name}${part} ${look.join("; ")}`;
  }));
}"""


@pytest.mark.parametrize("name", ["book/intro", "notebooks/13_referee"])
def test_rules_that_were_dropped_change_nothing(html, new_page, name):
    """With all sheets whole, every element looks the same: light, dark, on a phone, printed."""
    file = html / f"{name}.html"
    names = sheets_of(file.read_text(encoding="utf-8").partition("</head>")[0])
    whole = "\n".join(sheet(html / "_static", each) for each in names)
    page = new_page(java_script_enabled=False)

    def looks() -> list[str]:
        page.goto(file.as_uri())
        page.evaluate(AT_ONCE)
        found = []
        for theme, media, width in VIEWS:
            page.emulate_media(media=media, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
            found += page.evaluate(LOOKS)
        return found

    small = looks()
    page.route(f"**/{SHEET}*", lambda route: route.fulfill(body=whole, content_type="text/css"))
    assert [pair for pair in zip(small, looks(), strict=True) if pair[0] != pair[1]] == []
