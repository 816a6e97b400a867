"""Let a page be painted early: one style sheet for thirteen, and no script that it waits for.

Sphinx, the theme and a dozen extensions each bring a style sheet, and one of them imports another.
A browser on a slow line fetches six files at a time and paints nothing before the last one is
there. When the book is built, all sheets become ``_static/book.css``, which every page shares and
which holds only rules that some page can use (see `small_styles`); the scripts in the head are told
to wait for the page.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from pathlib import Path

from small_styles import OURS, names_of, small_styles

SHEET = "book.css"
_LINK = re.compile(r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")[^>]*?\bhref="([^"?]+)[^"]*"[^>]*>\n?')
_WITHOUT_SCRIPTS = re.compile(r"<(noscript|script)\b.*?</\1>", re.S)
_OURS = re.compile(r'<link rel="stylesheet" href="[^"]*" data-sheets="([^"]*)">')
_INLINE = re.compile(r"<script>(.*?)</script>", re.S)
_IMPORT = re.compile(r'@import "([^"]+)";')
_ADDRESS = re.compile(r"""url\((["']?)(?!data:|https?:|#|/)([^"')]+)\1\)""")
# The page's own settings are written into what this script makes, so it must have run before.
_SCRIPT = re.compile(r'<script (?![^>]*\b(?:defer|async|type)\b)(?=[^>]*\bsrc=")')
_RUNS_FIRST = "documentation_options.js"


def joined(order: list[str], names: list[str]) -> list[str]:
    """Add the sheets of a page to a list, each before those that it precedes on the page.

    >>> joined(["theme.css", "custom.css"], ["theme.css", "race.css", "custom.css"])
    ['theme.css', 'race.css', 'custom.css']
    """
    order = list(order)
    place = len(order)
    for name in reversed(names):
        if name in order:
            place = order.index(name)
        else:
            order.insert(place, name)
    return order


def sheet(static: Path, name: str) -> str:
    """Return a style sheet with what it imports, its addresses counted from the static folder."""
    folder = posixpath.dirname(name)

    def from_static(address: str) -> str:
        return posixpath.normpath(posixpath.join(folder, address))

    text = (static / name).read_text(encoding="utf-8")
    if folder:
        text = _ADDRESS.sub(lambda found: f'url("{from_static(found[2])}")', text)
    # What is imported has counted its own addresses.
    return _IMPORT.sub(lambda found: sheet(static, from_static(found[1])), text)


def deferred(head: str) -> str:
    """Have the scripts of a head run when the page is there.

    >>> deferred('<script src="a.js"></script>')
    '<script defer src="a.js"></script>'
    """

    def wait(found: re.Match) -> str:
        rest = head[found.end() :].partition(">")[0]
        return found[0] if _RUNS_FIRST in rest else f"{found[0]}defer "

    return _SCRIPT.sub(wait, head)


def sheets_of(head: str) -> list[str]:
    """Return the book's own style sheets of a head, by their names in the static folder."""
    kept = _OURS.search(head)
    if kept:  # a page of an earlier build
        return kept[1].split()
    links = _LINK.findall(_WITHOUT_SCRIPTS.sub("", head))
    return [link.partition("_static/")[2] for link in links if "_static/" in link]


def with_one_sheet(head: str, names: list[str], version: str) -> str:
    """Replace the links to style sheets by one link."""
    kept = _OURS.search(head)
    if kept:
        return re.sub(rf"(_static/{SHEET}\?v=)\w+", rf"\g<1>{version}", head)
    links = [link for link in _LINK.finditer(head) if "_static/" in link[1]]
    links = [link for link in links if link[1].partition("_static/")[2] in names]
    root = links[0][1].partition("_static/")[0]
    address = f"{root}_static/{SHEET}?v={version}"
    ours = f'<link rel="stylesheet" href="{address}" data-sheets="{" ".join(names)}">\n'
    parts = [head[: links[0].start()], ours]
    for link, following in zip(links, [*links[1:], None], strict=True):
        parts.append(head[link.end() : following.start() if following else len(head)])
    return "".join(parts)


def common_sheet(static: Path, names: list[str], pages: list[str]) -> str:
    """All sheets in one: the book's own whole, of the others what these pages can use."""
    files = [path for path in static.rglob("*.js") if path.parent.name != "lib"]
    scripts = [path.read_text(encoding="utf-8") for path in files]
    scripts += [script for page in pages for script in _INLINE.findall(page)]
    used = names_of(pages, scripts)
    texts = []
    for name in names:
        text = sheet(static, name)
        texts.append(text if name in OURS else small_styles(text, used))
    return "\n".join(texts)


def lighten(app, error) -> None:
    """Write the common sheet, and change the heads of all pages."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    heads = {}
    order: list[str] = []
    pages = [path for path in sorted(out.rglob("*.html")) if "_static" not in path.parts]
    for path in pages:
        text = path.read_text(encoding="utf-8")
        head, end, body = text.partition("</head>")
        names = sheets_of(head)
        if names:
            heads[path] = (head, names, end + body)
            order = joined(order, names)
    whole = common_sheet(out / "_static", order, [head + rest for head, _, rest in heads.values()])
    version = hashlib.sha256(whole.encode()).hexdigest()[:8]
    (out / "_static" / SHEET).write_text(whole, encoding="utf-8")
    for path, (head, names, rest) in heads.items():
        path.write_text(deferred(with_one_sheet(head, names, version)) + rest, encoding="utf-8")


def setup(app) -> dict:
    # After the theme, which writes the colours of code when the pages are done.
    app.connect("build-finished", lighten, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
