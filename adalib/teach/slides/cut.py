"""Cut the built page of a chapter into slides."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

__all__ = ["Slide", "slides"]

_SKIPPED = ("Check", "Exercises", "References")  # for the book: a check is run, an exercise is done at a desk
_GAMES = ("spend", "stop", "states", "guess", "lineup", "noise", "cards", "market", "hold", "bill", "menu")
_SHOWN = ("figure", "table", "explorer", *_GAMES)
_SHOWS = ", ".join([*(f".adalib-{kind}" for kind in _SHOWN), "img"])
_LINES = 22  # a longer program cannot be read from the last row


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

    Parameters
    ----------
    page : str
        The page's HTML.
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
            _add(deck[-1], node) if not deck[-1].full else deck[-1].notes.append(node)
        elif "math" in node.get("class", []):
            _add(_free(deck), node)
        elif "cell" in node.get("class", []):
            _cell(node, deck)
        elif "admonition" in node.get("class", []):
            _boxed(node, deck, soup)
        elif not {"h1", "h2", "h3", "h4", "span", "script"} & {node.name}:
            _add(_free(deck), node)


def _add(slide: Slide, node: Tag) -> None:
    slide.shown.append(node)


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
        _add(slide, paragraph)
        return
    bold = [tag for tag in paragraph.find_all("strong") if len(tag.get_text()) > 25]
    if slide.kind == "text" and not slide.shown and not slide.notes:
        _add(slide, first_sentence(paragraph, soup))
    for tag in bold:
        line = soup.new_tag("p", attrs={"class": "deck-key"})
        line.append(copy.copy(tag))
        _add(_free(deck), line)
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
        _add(deck[-1], folded) if deck[-1].kind == "theorem" else deck[-1].notes.append(folded)
    elif deck[-1].kind == "title" and not deck[-1].shown or name.startswith("While you") and deck[-1].kind == "figure":
        _add(deck[-1], node)
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
