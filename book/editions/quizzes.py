"""Quizzes and misconceptions as data, and as one file of Moodle XML, which most platforms import.

The notebooks stay the one source. A quiz is an admonition of class "quiz" with task lists; a
misconception is a row of the table in the teacher's page, and becomes a question of true or false.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import nbformat

from contents import Page, keys, lessons, spelled

_OPTION = re.compile(r"^ +- \[(?P<mark>[ x])\] (?P<text>.+?) \*(?P<why>[^*].*)\*$")


class Option(NamedTuple):
    """One answer on offer: its text, whether it is right, and why."""

    text: str
    right: bool
    why: str


class Item(NamedTuple):
    """One question: a name that is unique in the book, its text and its options."""

    name: str
    text: str
    options: tuple[Option, ...]


def export(book: Path, out: Path) -> int:
    """Write quizzes.xml of the sources in ``book``; return how many questions."""
    by_key = keys(book)
    by_category = {
        f"{page.number} {spelled(page.title, by_key, page.name)}".lstrip(): quiz_items(page.path)
        for page in lessons(book)
    }
    by_category["Misconceptions"] = misconceptions(book / "book" / "teach.md")
    numbered = {
        category: [_numbered(item, by_key) for item in items]
        for category, items in by_category.items()
        if items
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "quizzes.xml").write_text(moodle(numbered), encoding="utf-8")
    return sum(map(len, numbered.values()))


def _numbered(item: Item, by_key: Mapping[str, Page]) -> Item:
    """Put numbers where a question names chapters by their keys."""
    options = tuple(
        Option(spelled(one.text, by_key, item.name), one.right, spelled(one.why, by_key, item.name))
        for one in item.options
    )
    return Item(item.name, spelled(item.text, by_key, item.name), options)


def quiz_items(notebook: Path) -> list[Item]:
    """The quiz questions of a chapter, in order."""
    cells = nbformat.read(notebook, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    items: list[Item] = []
    for quiz in re.findall(
        r"^:::\{admonition\}[^\n]*\n:class: quiz\n(.*?)^:::$", text, re.MULTILINE | re.DOTALL
    ):
        for part in re.split(r"^\d+\. ", quiz, flags=re.MULTILINE)[1:]:
            asked, *lines = part.strip().split("\n")
            found = [option for line in lines if (option := _OPTION.match(line))]
            if len(found) < len(lines):
                raise ValueError(
                    f"{notebook}: an option of {asked!r} has no explanation in italics; add one"
                )
            options = tuple(Option(one["text"], one["mark"] == "x", one["why"]) for one in found)
            items.append(Item(f"quiz-{notebook.stem}-{len(items) + 1}", asked, options))
    return items


def misconceptions(page: Path) -> list[Item]:
    """Return what students say, false and true, from the two tables of the teacher's page."""
    text = page.read_text(encoding="utf-8")
    items: list[Item] = []
    for head, true in (("a student says", False), ("true all the same", True)):
        found = re.search(
            rf"^\| {head} \|.*?\n\|[-| ]+\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL
        )
        for row in found[1].splitlines() if found else []:
            statement, show, ask = (_plain(cell) for cell in row.strip().strip("|").split(" | "))
            options = (
                Option("True", true, f"Look at {show}. {ask}"),
                Option("False", not true, f"See {show}. {ask}"),
            )
            items.append(Item(f"misconception-{len(items) + 1}", statement.strip('" '), options))
    return items


def moodle(by_category: Mapping[str, Iterable[Item]]) -> str:
    """Write questions as Moodle XML, with an explanation for every option."""
    root = ET.Element("quiz")
    for category, items in by_category.items():
        place = ET.SubElement(root, "question", type="category")
        # Moodle reads a slash as the end of a category's name.
        title = category.replace("/", "//")
        _text(ET.SubElement(place, "category"), f"$course$/top/{title}")
        for item in items:
            _add_question(root, item)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add_question(root: ET.Element, item: Item) -> None:
    """Add a question with its options."""
    question = ET.SubElement(root, "question", type="multichoice")
    _text(ET.SubElement(question, "name"), item.name)
    _text(ET.SubElement(question, "questiontext", format="html"), _html(item.text))
    ET.SubElement(question, "defaultgrade").text = "1"
    ET.SubElement(question, "single").text = "true"
    ET.SubElement(question, "shuffleanswers").text = "true"
    for option in item.options:
        fraction = "100" if option.right else "0"
        answer = ET.SubElement(question, "answer", fraction=fraction, format="html")
        ET.SubElement(answer, "text").text = _html(option.text)
        _text(ET.SubElement(answer, "feedback", format="html"), _html(option.why))


def _text(parent: ET.Element, text: str) -> None:
    """Add a text to an element, as Moodle wants it."""
    ET.SubElement(parent, "text").text = text


def _plain(text: str) -> str:
    """A table's cell without links and emphasis."""
    text = re.sub(r"<[^>]+>", "", text)
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).strip()


def _html(text: str) -> str:
    """Return a sentence with MathJax delimiters that Moodle knows, without Markdown."""
    text = re.sub(r"\$([^$]+)\$", r"\\(\1\\)", text)
    return re.sub(r"(?<!\w)[*`]([^*`]+)[*`](?!\w)", r"\1", text)
