"""Write the decks: pages that stand beside the book and use its scripts, styles and figures."""

from __future__ import annotations

import html
import re
from pathlib import Path

from bs4 import BeautifulSoup

from adalib.teach.slides.cut import Slide, slides

__all__ = ["deck", "write_decks"]

_NEEDED = re.compile(
    r"/(near|figures|formulas|parts|tables|spend|stop|guess|lineup|noise|cards|market|deploy|menu)\.js|window\.MathJax"
)
_HELP = (
    "→ next, ← back, F full screen, N notes, S speaker's window, O all slides, T light or dark, Esc leaves a slider; "
    "#slide=5 at the end of the address opens the fifth"
)
_PAGE = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · slides</title>
{head}
<link rel="stylesheet" href="../html/_static/deck.css">
</head>
<body class="deck-page">
<main class="deck bd-article">
{slides}
</main>
<footer class="deck-foot"><button type="button" data-go="-1" aria-label="Previous slide">←</button>
<span class="deck-at" role="status"></span>
<button type="button" data-go="1" aria-label="Next slide">→</button>
<span class="deck-help">{help}</span></footer>
{scripts}
<script src="../html/_static/deck.js" defer></script>
</body>
</html>
"""


def deck(page: str) -> str:
    """The deck of a chapter's built page, to lie in a folder beside ``html/``.

    Parameters
    ----------
    page : str
        The HTML of a page in ``html/notebooks/``.
    """
    soup = BeautifulSoup(page, "html.parser")
    styles = [str(tag) for tag in soup.select('link[rel="stylesheet"]')]
    scripts = [str(tag) for tag in soup.select("head script, body > script") if _is_needed(tag)]
    cut = slides(page)
    text = _PAGE.format(
        title=html.escape(cut[0].title),
        head="\n".join(styles),
        slides="\n".join(map(_section, cut)),
        scripts="\n".join(scripts),
        help=_HELP,
    )
    # Addresses count from html/notebooks/; the deck lies in slides/, beside html/.
    text = re.sub(r'((?:href|src)=")\.\./(?!html/)', r"\1../html/", text)
    return re.sub(r'((?:href|src)=")(?![a-z]+:|[#/.])', r"\1../html/notebooks/", text)


def _is_needed(tag) -> bool:
    if tag.get("type") == "application/json" or tag.find_parent("article"):
        return False
    return _NEEDED.search(tag.get("src") or tag.string or "") is not None


def _section(slide: Slide) -> str:
    heading = "h1" if slide.kind == "title" else "h2"
    notes = "".join(map(str, slide.notes))
    return (
        f'<section class="deck-slide deck-{slide.kind}"><{heading}>{html.escape(slide.title)}</{heading}>'
        f'<div class="deck-shown">{"".join(map(str, slide.shown))}</div>'
        f'<aside class="deck-notes" aria-label="Speaker\'s notes">{notes}</aside></section>'
    )


def write_decks(built: Path, target: Path) -> list[Path]:
    """A deck for every chapter of a built book, its appendix included, and a list of them.

    Parameters
    ----------
    built : Path
        The folder ``html`` of a built book.
    target : Path
        The folder of the decks; it must lie beside ``built``.
    """
    target.mkdir(parents=True, exist_ok=True)
    written, lines = [], []
    pages = built / "notebooks"
    for page in [*sorted(pages.glob("[0-9]*.html")), *sorted(pages.glob("appendix_*.html"))]:
        text = deck(page.read_text(encoding="utf-8"))
        (target / page.name).write_text(text, encoding="utf-8")
        written.append(target / page.name)
        title = re.search("<title>(.*?) · slides</title>", text)[1]
        lines.append(f'<li><a href="{page.name}">{title}</a></li>')
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Slides</title><h1>Slides</h1>'
    index = f"{head}<ul>{''.join(lines)}</ul><p>{_HELP}</p></html>\n"
    (target / "index.html").write_text(index, encoding="utf-8")
    return written
