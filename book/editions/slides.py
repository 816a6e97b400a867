"""Slides: a deck per chapter, cut out of its built page, as one file that stands alone.

What a figure, a theorem or a prompt needs is on the slide; the prose is in the speaker's notes. The
file holds its styles, fonts, scripts and figures, and needs neither the book nor a network.
"""

from __future__ import annotations

import base64
import copy
import html
import mimetypes
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag

from contents import taught

# For the book: a check is run, an exercise is done at a desk.
_SKIPPED = ("Check", "Checked", "Exercises", "References")
_SHOWS = '[class*="adalib-"]:not(.adalib-answer), img'  # what a cell draws, plays or tabulates
# What is longer cannot be read from the last row.
_LINES = 22  # of a program
_ROWS = 18  # of a table
_LETTERS = 2500  # of a table
_CUT = "\0"  # in the place of a line that is cut out of a program
_POINTS = 5  # sentences on a slide that has nothing else
# A sentence that points at another one means nothing alone.
_POINTING = re.compile(
    r"(?:And|Both|But|Here|Hence|Instead|It|Its|Now|So|Such|Their|Then|There|They|This|That|Yet)\b"
    r"|.*(?:\b(?:these|those|them|they|above|below|claims it|it would|part of this)\b|:$)",
    re.S | re.I,
)
# Words that may open a sentence which makes sense alone.
_OPENING = re.compile(r"^(?:And|But|So|There is one exception:) ")
# Scripts for a page that is read.
_LEFT_OUT = re.compile(r"/(?:exercises|live|progress|search|quiz|reachable)\.js")
_HELP = (
    "→ next, ← back, F full screen, N notes, S speaker's window, O all slides, T light or dark, "
    "Esc leaves a slider; #slide=5 at the end of the address opens the fifth"
)

_PAGE = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · slides</title>
{styles}
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


def slides(soup: BeautifulSoup) -> list[Slide]:
    """Cut the slides out of a chapter's built page.

    A section opens a slide; every figure, table, game, program, theorem and prompt gets its own. Of
    the prose, the first sentence of a section and all that is set in bold is shown; the rest is for
    the speaker.
    """
    for anchor in soup.select("a.headerlink"):
        anchor.decompose()
    chapter = soup.select_one("article.bd-article section")
    if chapter is None:
        raise ValueError("the page holds no chapter")
    cut = [Slide(_text_of(chapter.select_one("h1")), kind="title")]
    _walk(chapter, cut)
    kept = [cut[0]]
    for slide in cut[1:]:
        if slide.kind == "text" and len(slide.shown) <= 1:
            leads = [_lead(paragraph) for paragraph in slide.notes[1:] if paragraph.name == "p"]
            points = [lead for lead in leads if lead and not _text_of(lead).endswith("?")]
            slide.shown.extend(points[: _POINTS - 1])
        if all(_is_command(node) for node in slide.shown):
            kept[-1].notes.extend([*slide.shown, *slide.notes])  # nothing for the class to see
        else:
            kept.append(slide)
    return kept


def _is_command(node: Tag) -> bool:
    """Whether a node is a line to be typed elsewhere."""
    return " ".join(node.get("class") or []).startswith("highlight-")


def _text_of(tag: Tag | None) -> str:
    """The words of an element."""
    return tag.get_text(" ", strip=True) if tag else ""


def _tag(name: str, *inside: PageElement | str, kind: str = "") -> Tag:
    """A new element with some content."""
    made = Tag(name=name, attrs={"class": kind} if kind else {})
    made.extend(inside)
    return made


def _walk(section: Tag, cut: list[Slide]) -> None:
    """Cut a section into slides, and its subsections after it."""
    for node in [child for child in section.children if isinstance(child, Tag)]:
        classes: Sequence[str] = node.get("class") or []
        if node.name == "section":
            title = _text_of(node.select_one("h2, h3, h4"))
            if title == "Quiz":
                cut.extend(_questions(node))
            elif title not in _SKIPPED:
                cut.append(Slide(title))
                _walk(node, cut)
        elif node.name == "p":
            if not {"adalib-path-mark", "adalib-path-next"} & {*classes}:
                _say(node, cut)
        elif node.name in ("ul", "ol", "dl"):
            (cut[-1].notes if cut[-1].full else cut[-1].shown).append(node)
        elif "cell" in classes:
            _cell(node, cut)
        elif "admonition" in classes:
            _boxed(node, cut)
        elif node.name not in ("h1", "h2", "h3", "h4", "span", "script"):
            _free(cut).shown.append(node)


def _free(cut: list[Slide]) -> Slide:
    """The slide at hand, or a new one under the same title if it is full."""
    if cut[-1].full:
        cut.append(Slide(cut[-1].title))
    return cut[-1]


def _own(cut: list[Slide], kind: str, *nodes: Tag) -> None:
    """A slide for one thing; a slide that holds no more than a sentence makes room for it."""
    if cut[-1].full or len(cut[-1].shown) > 1:
        cut.append(Slide(cut[-1].title))
    cut[-1].kind = kind
    cut[-1].shown.extend(nodes)


def _say(paragraph: Tag, cut: list[Slide]) -> None:
    """Give a paragraph to the speaker, and its bold sentences to the class.

    Of a section the class also sees the first sentence.
    """
    slide = cut[-1]
    is_last_word = slide.title in ("Take away", "Takeaways")
    if is_last_word and not paragraph.get_text().startswith("To read more"):
        slide.shown.append(paragraph)
        return
    is_first = slide.kind == "text" and not slide.shown and not slide.notes
    lead = _lead(paragraph) if is_first else None
    if lead:
        slide.shown.append(lead)
    for bold in paragraph.find_all("strong"):
        words = bold.get_text()
        if len(words) <= 25 or (lead and words in lead.get_text()):
            continue
        is_sentence = words[0].isupper() and words[-1] in ".?!"
        whole = [copy.copy(bold)] if is_sentence else _around(bold, paragraph)
        key = _tag("p", *whole, kind="deck-key")
        if not _POINTING.match(_OPENING.sub("", _text_of(key))):
            _free(cut).shown.append(key)
    cut[-1].notes.append(paragraph)


def _sentences(paragraph: Tag) -> list[Tag]:
    """Copies of a paragraph's sentences."""
    found = [_tag("p", kind="deck-lead")]
    for child in paragraph.children:
        if isinstance(child, NavigableString):
            first, *others = re.split(r"(?<=[.?!])\s+", child)
            found[-1].append(first)
            found.extend(_tag("p", other, kind="deck-lead") for other in others)
        else:
            found[-1].append(copy.copy(child))
    return [sentence for sentence in found if _text_of(sentence)]


def _lead(paragraph: Tag) -> Tag | None:
    """The first sentence of a paragraph, if it makes sense alone."""
    sentences = _sentences(paragraph)
    return sentences[0] if sentences and not _POINTING.match(_text_of(sentences[0])) else None


def _around(bold: Tag, paragraph: Tag) -> list[PageElement]:
    """What a sentence says around the words of it that are set in bold."""
    holds = [
        sentence for sentence in _sentences(paragraph) if bold.get_text() in sentence.get_text()
    ]
    return list(holds[0].contents) if holds else [copy.copy(bold)]


def _cell(node: Tag, cut: list[Slide]) -> None:
    """What a cell shows gets a slide; so does a short program that is not folded away."""
    code = node.select_one(".cell_input")
    output = node.select_one(".cell_output")
    folded = {"tag_hide-input", "tag_remove-input"} & set(node.get("class") or [])
    if output is not None and output.select_one(_SHOWS):
        for part in output.find_all("div", class_="output", recursive=False) or [output]:
            is_long = len(part.select("tr")) > _ROWS or len(_text_of(part.table)) > _LETTERS
            if not part.details and not is_long:  # what is folded, or longer, is for a reader
                _own(cut, "figure", part)  # whole: an explorer brings its style and its script
                cut[-1].notes.extend(map(copy.copy, part.select("figcaption")))
    elif code is not None and not folded:
        program = _without_checks(code)
        if program.count("\n") < _LINES and (output is not None or "def " in program):
            _own(cut, "code", *(part for part in (code, output) if part is not None))


def _without_checks(code: Tag) -> str:
    """Take what only checks or hands on a number out of a shown program, and return the rest."""
    shown = code.pre
    if shown is None:
        return code.get_text().strip()
    kept: list[str] = []
    for line in shown.decode_contents().strip().split("\n"):
        plain = _preformatted(line).get_text()
        if re.match(r"assert\b|give\(", plain) or (
            kept[-1:] == [_CUT] and re.match(r"[ )\]}]", plain)
        ):
            kept.append(_CUT)
        else:
            kept.append(line)
    parts = "\n".join(kept).split("\n\n")
    if _CUT in parts[-1] and ">print<" not in parts[-1]:
        parts.pop()  # it was there for its check
    text = "\n\n".join(parts).replace(_CUT + "\n", "").replace(_CUT, "").rstrip()
    shown.clear()
    shown.extend(list(_preformatted(text).contents))
    return shown.get_text()


def _preformatted(text: str) -> Tag:
    """Parse a piece of a program inside <pre>; elsewhere the parser shortens runs of spaces."""
    found = BeautifulSoup(f"<pre>{text}</pre>", "html.parser").pre
    assert found is not None
    return found


def _boxed(node: Tag, cut: list[Slide]) -> None:
    """Place a box: aims open the deck, a prompt joins its figure, a theorem has its own slide.

    A prompt without a figure stands alone; a proof is folded.
    """
    notes = _unmarked(node)
    title = node.select_one(".admonition-title")
    name = _text_of(title)
    classes = " ".join(node.get("class") or [])
    if "dropdown" in classes or classes == "proof admonition":
        name = name or "Proof"
        if title:
            title.extract()
        node["class"] = "deck-proof"
        folded = _tag("details", _tag("summary", name), node)
        (cut[-1].shown if cut[-1].kind == "theorem" else cut[-1].notes).append(folded)
    elif name.startswith("While you"):  # it belongs to the figure that is dragged or played
        figures = [slide for slide in cut if slide.kind == "figure"]
        (figures[-1].shown if figures else cut[-1].notes).append(node)
    elif cut[-1].kind == "title" and not cut[-1].shown:
        cut[-1].shown.append(node)
    else:
        _own(cut, "theorem" if "proof" in classes or "theorem" in classes else "prompt", node)
    cut[-1].notes.extend(notes)


def _questions(section: Tag) -> list[Slide]:
    """One slide per question, its options unmarked; which is right, and why, is for the speaker."""
    asked = section.select(
        ".admonition.quiz > ol > li, .admonition.quiz .admonition-content > ol > li"
    )
    notes = [_unmarked(question) for question in asked]
    shown = [_tag("div", *list(question.contents), kind="deck-quiz") for question in asked]
    return [Slide("Quiz", [own], note, "prompt") for own, note in zip(shown, notes, strict=True)]


def _unmarked(asked: Tag) -> list[Tag]:
    """Take the marks and explanations off the options of a question, and return them as notes."""
    notes = []
    options = asked.select("li.task-list-item")
    for option in options:
        box = option.select_one("input")
        why = option.find_all("em")[-1].extract()
        verdict = "Right" if box is not None and box.has_attr("checked") else "Wrong"
        if box is not None:
            box.extract()
        notes.append(_tag("p", f"{_text_of(option)} ", f"{verdict}: ", why))
    if len(options) == 1 and options[0].parent:
        # A number to be guessed is for the speaker alone.
        options[0].parent.extract()
    return notes


def deck(page: Path) -> str:
    """The deck of a chapter's built page, with all that it needs inside."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    files = page.parents[1] / "_static"
    sheets = [page.parent / _address(tag["href"]) for tag in soup.select('link[rel="stylesheet"]')]
    sheets += [files / "fonts" / "all.css", files / "deck.css"]
    scripts = [page.parent / _address(tag["src"]) for tag in _scripts(soup)]
    cut = slides(soup)
    shown = BeautifulSoup("\n".join(map(_section, cut)), "html.parser")
    _stand_alone(shown, page.parent)
    libraries = [files / "lib" / "plotly.min.js"] if shown.select(".plotly-graph-div") else []
    for explorer in shown.select(".adalib-explorer[data-settings]"):
        names = explorer["data-program"], explorer["data-settings"]
        libraries += [files / "explorer" / f"{name}.js" for name in names]
    return _PAGE.format(
        title=html.escape(cut[0].title),
        styles="\n".join(f"<style>{_style(file)}</style>" for file in dict.fromkeys(sheets)),
        slides=shown,
        scripts="\n".join(
            [*map(_script, scripts), _LOADED, *map(_script, dict.fromkeys(libraries))]
            + [_script(files / "deck.js")]
        ),
        help=_HELP,
    )


#: What a script would fetch is in the deck already.
_LOADED = "<script>window.fetchScript = () => Promise.resolve();</script>"


def _address(reference: str) -> str:
    """The file that a page refers to, without what follows a question mark."""
    return reference.partition("?")[0]


def _scripts(soup: BeautifulSoup) -> list[Tag]:
    """The book's own scripts that draw or play something on a slide."""
    found = soup.select("head script[src], body > script[src]")
    return [
        tag for tag in found if tag.get("defer") == "defer" and not _LEFT_OUT.search(tag["src"])
    ]


def _style(file: Path) -> str:
    """A style sheet; fonts of icons, which no slide shows, are left out."""
    text = file.read_text(encoding="utf-8")
    return re.sub(r'url\((?!"?(?:data|#))[^)]*\)', 'url("data:,")', text)


def _script(file: Path) -> str:
    """A script inside the page; it finds nothing next to itself there."""
    text = file.read_text(encoding="utf-8")
    text = text.replace("document.currentScript.src", "document.baseURI")
    return "<script>" + text.replace("</script", "<\\/script") + "</script>"


def _stand_alone(shown: BeautifulSoup, folder: Path) -> None:
    """Put pictures into the slides, and turn links into the book to words."""
    for image in shown.select("img[src]"):
        file = folder / _address(image["src"])
        if file.exists():
            kind = mimetypes.guess_type(file.name)[0]
            image["src"] = f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
    for link in shown.select("a[href]"):
        if not re.match(r"https?:|mailto:", link["href"]):
            del link["href"]


def _section(slide: Slide) -> str:
    """A slide as HTML."""
    heading = "h1" if slide.kind == "title" else "h2"
    return (
        '<section class="deck-slide '
        f'deck-{slide.kind}"><{heading}>{html.escape(slide.title)}</{heading}><div '
        f'class="deck-shown">{"".join(map(str, slide.shown))}</div><aside class="deck-notes" '
        f'aria-label="Speaker\'s notes">{"".join(map(str, slide.notes))}</aside></section>'
    )


def write_decks(root: Path, built: Path, target: Path) -> list[Path]:
    """Write a deck for every chapter of a course, and a list of them.

    ``root`` holds ``_toc.yml``, ``built`` the pages of the book.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    written = []
    lines = []
    for chapter in taught(root):
        page = built / f"{chapter.name}.html"
        text = deck(page)
        written.append(target / page.name)
        written[-1].write_text(text, encoding="utf-8")
        title = text.split("<title>", 1)[1].split(" · slides</title>", 1)[0]
        lines.append(f'<li><a href="{page.name}">{title}</a></li>')
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Slides</title><h1>Slides</h1>'
    )
    (target / "index.html").write_text(f"{head}<ul>{''.join(lines)}</ul>", encoding="utf-8")
    return written
