"""Slides: a deck a chapter, cut out of its built page, with the book's own figures, scripts and styles.

What a figure, a theorem or a prompt needs is on the slide; the prose is in the speaker's notes.
"""

from __future__ import annotations

import copy
import html
import re
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

__all__ = ["Slide", "deck", "slides", "write_decks"]

_SKIPPED = ("Check", "Exercises", "References")  # for the book: a check is run, an exercise is done at a desk
_SHOWS = '[class*="adalib-"]:not(.adalib-answer), img'  # what a cell draws, plays or tabulates
_LINES = 22  # a longer program cannot be read from the last row
_SCRIPTS = {file.name for file in (Path(__file__).parents[1] / "_static").glob("*.js")}
_SCRIPTS -= {"exercises.js", "locked.js", "progress.js", "quiz.js", "reachable.js"}  # for a page that is read
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


@dataclass
class Slide:
    """A slide: its heading, what the class sees, and what the speaker says."""

    title: str
    shown: list[Tag] = field(default_factory=list)
    notes: list[Tag] = field(default_factory=list)
    kind: str = "text"

    @property
    def full(self) -> bool:
        """Whether something stands on it that wants the whole slide."""
        return self.kind != "text"


def slides(page: str) -> list[Slide]:
    """The slides of a chapter's built page.

    A section opens a slide; every figure, table, game, program, theorem and prompt gets its own. Of the prose, the
    first sentence of a section and all that is set in bold is shown; the rest is for the speaker.
    """
    soup = BeautifulSoup(page, "html.parser")
    article = soup.select_one("article.bd-article")
    for anchor in article.select("a.headerlink"):
        anchor.decompose()
    first = article.find("section")
    deck = [Slide(first.find("h1").get_text(" ", strip=True), kind="title")]
    _walk(first, deck, soup)
    return [slide for slide in deck if slide.shown or slide.kind == "title"]


def _walk(section: Tag, deck: list[Slide], soup: BeautifulSoup) -> None:
    for node in [child for child in section.children if isinstance(child, Tag)]:
        if node.name == "section":
            title = node.find(["h2", "h3", "h4"]).get_text(" ", strip=True)
            if title == "Quiz":
                deck.extend(_questions(node, soup))
            elif title not in _SKIPPED:
                deck.append(Slide(title))
                _walk(node, deck, soup)
        elif node.name == "p":
            _say(node, deck, soup, whole=deck[-1].title == "Take away")
        elif node.name in ("ul", "ol", "dl"):
            (deck[-1].notes if deck[-1].full else deck[-1].shown).append(node)
        elif "math" in node.get("class", []):
            _free(deck).shown.append(node)
        elif "cell" in node.get("class", []):
            _cell(node, deck)
        elif "admonition" in node.get("class", []):
            _boxed(node, deck, soup)
        elif not {"h1", "h2", "h3", "h4", "span", "script"} & {node.name}:
            _free(deck).shown.append(node)


def _free(deck: list[Slide]) -> Slide:
    """The slide at hand, or a new one under the same title if it is full."""
    if deck[-1].full:
        deck.append(Slide(deck[-1].title))
    return deck[-1]


def _own(deck: list[Slide], kind: str, *nodes: Tag) -> None:
    """A slide for one thing; a slide that holds no more than a sentence makes room for it."""
    slide = deck[-1]
    if slide.full or len(slide.shown) > 1:
        slide = Slide(slide.title)
        deck.append(slide)
    slide.kind = kind
    slide.shown.extend(nodes)


def _say(paragraph: Tag, deck: list[Slide], soup: BeautifulSoup, whole: bool) -> None:
    """A paragraph goes to the speaker; the class sees its bold sentences, and the first sentence of a section."""
    slide = deck[-1]
    if whole and not paragraph.get_text().startswith("To read more"):
        slide.shown.append(paragraph)
        return
    bold = [tag for tag in paragraph.find_all("strong") if len(tag.get_text()) > 25]
    if slide.kind == "text" and not slide.shown and not slide.notes:
        slide.shown.append(first_sentence(paragraph, soup))
    for tag in bold:
        line = soup.new_tag("p", attrs={"class": "deck-key"})
        line.append(copy.copy(tag))
        _free(deck).shown.append(line)
    deck[-1].notes.append(paragraph)


def first_sentence(paragraph: Tag, soup: BeautifulSoup) -> Tag:
    """A copy of a paragraph up to the end of its first sentence."""
    cut = soup.new_tag("p", attrs={"class": "deck-lead"})
    for child in paragraph.children:
        if isinstance(child, NavigableString):
            end = min((at for mark in (". ", ".\n", "? ", "?\n") if (at := child.find(mark)) >= 0), default=-1)
            if end >= 0:
                cut.append(str(child)[: end + 1])
                return cut
        cut.append(copy.copy(child))
    return cut


def _cell(node: Tag, deck: list[Slide]) -> None:
    """What a cell shows gets a slide; so does a short program that is not folded away."""
    classes = " ".join(node.get("class", []))
    code, output = node.select_one(".cell_input"), node.select_one(".cell_output")
    if output is not None and output.select_one(_SHOWS):
        for part in output.find_all("div", class_="output", recursive=False) or [output]:
            _own(deck, "figure", part)  # whole: an explorer brings its style and its script
    elif code is not None and not any(f"tag_{tag}-input" in classes for tag in ("hide", "remove")) and _short(code):
        _own(deck, "code", *(part for part in (code, output) if part is not None))


def _short(code: Tag) -> bool:
    return len(code.get_text().strip().split("\n")) <= _LINES


def _boxed(node: Tag, deck: list[Slide], soup: BeautifulSoup) -> None:
    """Aims open the deck, a prompt joins its figure or stands alone, a theorem has a slide with its proof folded."""
    told = _unmarked(node, soup)
    title = node.select_one(".admonition-title")
    name = title.get_text(" ", strip=True) if title else ""
    classes = node.get("class", [])
    if "dropdown" in classes:
        folded = soup.new_tag("details")
        summary = soup.new_tag("summary")
        summary.string = name
        if title:
            title.extract()
        folded.append(summary)
        folded.append(node)
        node["class"] = "deck-proof"
        (deck[-1].shown if deck[-1].kind == "theorem" else deck[-1].notes).append(folded)
    elif deck[-1].kind == "title" and not deck[-1].shown or name.startswith("While you") and deck[-1].kind == "figure":
        deck[-1].shown.append(node)
    else:
        _own(deck, "theorem" if any("proof" in c or "theorem" in c for c in classes) else "prompt", node)
    deck[-1].notes.extend(told)


def _questions(section: Tag, soup: BeautifulSoup) -> list[Slide]:
    """A slide a question, its options unmarked; which is right, and why, is for the speaker."""
    found = []
    for asked in section.select(".admonition.quiz > ol > li, .admonition.quiz .admonition-content > ol > li"):
        slide = Slide("Quiz", kind="prompt", notes=_unmarked(asked, soup))
        question = soup.new_tag("div", attrs={"class": "deck-quiz"})
        question.extend(list(asked.contents))
        slide.shown.append(question)
        found.append(slide)
    return found


def _unmarked(asked: Tag, soup: BeautifulSoup) -> list[Tag]:
    """Take the marks and explanations off the options of a question, and return them as notes."""
    notes = []
    for option in asked.select("li.task-list-item"):
        box, why = option.find("input"), option.find_all("em")[-1]
        right = box is not None and box.has_attr("checked")
        note = soup.new_tag("p")
        note.append(f"{'Right' if right else 'Wrong'}: ")
        note.append(copy.copy(why))
        why.extract()
        if box is not None:
            box.extract()
        note.insert(0, option.get_text(" ", strip=True) + " ")
        notes.append(note)
    guessed = asked.select("li.task-list-item")
    if len(guessed) == 1:  # a number to be guessed: it is for the speaker alone
        guessed[0].find_parent("ul").extract()
    return notes


def deck(page: str) -> str:
    """The deck of a chapter's built page, to lie in a folder beside ``html/``."""
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


def _is_needed(tag: Tag) -> bool:
    """Whether a script draws or plays something on a slide, or sets formulas."""
    own = re.search(r"/_static/(\w+\.js)", str(tag.get("src", "")))
    return own[1] in _SCRIPTS if own else "window.MathJax" in (tag.string or "")


def _section(slide: Slide) -> str:
    heading = "h1" if slide.kind == "title" else "h2"
    return (
        f'<section class="deck-slide deck-{slide.kind}"><{heading}>{html.escape(slide.title)}</{heading}>'
        f'<div class="deck-shown">{"".join(map(str, slide.shown))}</div>'
        f'<aside class="deck-notes" aria-label="Speaker\'s notes">{"".join(map(str, slide.notes))}</aside></section>'
    )


def write_decks(built: Path, target: Path) -> list[Path]:
    """A deck for every chapter and appendix of the book in ``built``, and a list of them; ``target`` lies beside it."""
    target.mkdir(parents=True, exist_ok=True)
    written, lines = [], []
    pages = built / "notebooks"
    for page in [*sorted(pages.glob("[0-9]*.html")), *sorted(pages.glob("appendix_*.html"))]:
        text = deck(page.read_text(encoding="utf-8"))
        (target / page.name).write_text(text, encoding="utf-8")
        written.append(target / page.name)
        title = text.split("<title>", 1)[1].split(" · slides</title>", 1)[0]
        lines.append(f'<li><a href="{page.name}">{title}</a></li>')
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Slides</title><h1>Slides</h1>'
    index = f"{head}<ul>{''.join(lines)}</ul><p>{_HELP}</p></html>\n"
    (target / "index.html").write_text(index, encoding="utf-8")
    return written
