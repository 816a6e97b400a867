"""Quizzes and misconceptions as data, and as files for platforms: Moodle XML and QTI 2.1.

The notebooks stay the one source. A quiz is an admonition of class "quiz" with task lists; a
misconception is a row of the table in the teacher's page, and becomes a question of true or false.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import nbformat

from contents import Page, chapters, keys, spelled

_OPTION = re.compile(r"^ +- \[(?P<mark>[ x])\] (?P<text>.+?) \*(?P<why>[^*].*)\*$")
_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_PACK = "http://www.imsglobal.org/xsd/imscp_v1p1"


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
    """Write quizzes.xml and quizzes.zip of the sources in ``book``; return how many questions."""
    items = [item for chapter in chapters(book) for item in quiz_items(chapter.path)]
    items += misconceptions(book / "book" / "teach.md")
    by_key = keys(book)
    items = [_numbered(item, by_key) for item in items]
    out.mkdir(parents=True, exist_ok=True)
    (out / "quizzes.xml").write_text(moodle(items), encoding="utf-8")
    qti(items, out / "quizzes.zip")
    return len(items)


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
    items = []
    for quiz in re.findall(
        r"^:::\{admonition\}[^\n]*\n:class: quiz\n(.*?)^:::$", text, re.MULTILINE | re.DOTALL
    ):
        for part in re.split(r"^\d+\. ", quiz, flags=re.MULTILINE)[1:]:
            asked, *lines = part.strip().split("\n")
            found = [_OPTION.match(line) for line in lines]
            if None in found:
                raise ValueError(
                    f"{notebook}: an option of {asked!r} has no explanation in italics; add one"
                )
            options = tuple(Option(one["text"], one["mark"] == "x", one["why"]) for one in found)
            items.append(Item(f"quiz-{notebook.stem}-{len(items) + 1}", asked, options))
    return items


def misconceptions(page: Path) -> list[Item]:
    """Return what students say, false and true, from the two tables of the teacher's page."""
    text = page.read_text(encoding="utf-8")
    items = []
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


def moodle(items: Iterable[Item]) -> str:
    """Write questions as Moodle XML, with an explanation for every option."""
    root = ET.Element("quiz")
    for item in items:
        question = ET.SubElement(root, "question", type="multichoice")
        _text(ET.SubElement(question, "name"), item.name)
        _text(ET.SubElement(question, "questiontext", format="html"), _html(item.text))
        ET.SubElement(question, "defaultgrade").text = "1"
        ET.SubElement(question, "single").text = "true"
        ET.SubElement(question, "shuffleanswers").text = "true"
        for option in item.options:
            answer = ET.SubElement(
                question, "answer", fraction="100" if option.right else "0", format="html"
            )
            ET.SubElement(answer, "text").text = _html(option.text)
            _text(ET.SubElement(answer, "feedback", format="html"), _html(option.why))
    return _written(root)


def qti(items: Sequence[Item], path: Path) -> None:
    """Write a QTI 2.1 content package: a zip with a manifest and a file per question."""
    ET.register_namespace("", _QTI)
    manifest = ET.Element("manifest", {"xmlns": _PACK, "identifier": "adalib"})
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for item in items:
            file = f"items/{item.name}.xml"
            kind = {"identifier": item.name, "type": "imsqti_item_xmlv2p1", "href": file}
            ET.SubElement(ET.SubElement(resources, "resource", kind), "file", href=file)
            pack.writestr(file, _qti_item(item))
        pack.writestr("imsmanifest.xml", _written(manifest))


def _qti_item(item: Item) -> str:
    """A question as a QTI file."""
    about = {
        "identifier": item.name,
        "title": item.name,
        "adaptive": "false",
        "timeDependent": "false",
    }
    root = ET.Element("assessmentItem", {"xmlns": _QTI, **about})
    names = [f"option{number}" for number in range(len(item.options))]
    answer = {"identifier": "RESPONSE", "cardinality": "single", "baseType": "identifier"}
    right = ET.SubElement(ET.SubElement(root, "responseDeclaration", answer), "correctResponse")
    ET.SubElement(right, "value").text = next(
        n for n, one in zip(names, item.options, strict=True) if one.right
    )
    for name, kind in (("SCORE", "float"), ("FEEDBACK", "identifier")):
        ET.SubElement(
            root,
            "outcomeDeclaration",
            {"identifier": name, "cardinality": "single", "baseType": kind},
        )
    choices = {"responseIdentifier": "RESPONSE", "shuffle": "true", "maxChoices": "1"}
    box = ET.SubElement(ET.SubElement(root, "itemBody"), "choiceInteraction", choices)
    ET.SubElement(box, "prompt").text = _html(item.text)
    for name, option in zip(names, item.options, strict=True):
        ET.SubElement(box, "simpleChoice", identifier=name).text = _html(option.text)
    # One point for the right option, and the feedback of the chosen one.
    processing = ET.SubElement(root, "responseProcessing")
    condition = ET.SubElement(processing, "responseCondition")
    for branch, points in (("responseIf", "1"), ("responseElse", "0")):
        part = ET.SubElement(condition, branch)
        if branch == "responseIf":
            match = ET.SubElement(part, "match")
            ET.SubElement(match, "variable", identifier="RESPONSE")
            ET.SubElement(match, "correct", identifier="RESPONSE")
        scored = ET.SubElement(part, "setOutcomeValue", identifier="SCORE")
        ET.SubElement(scored, "baseValue", baseType="float").text = points
    ET.SubElement(
        ET.SubElement(processing, "setOutcomeValue", identifier="FEEDBACK"),
        "variable",
        identifier="RESPONSE",
    )
    for name, option in zip(names, item.options, strict=True):
        shown = {"outcomeIdentifier": "FEEDBACK", "identifier": name, "showHide": "show"}
        ET.SubElement(root, "modalFeedback", shown).text = _html(option.why)
    return _written(root)


def _text(parent: ET.Element, text: str) -> None:
    """Add a text to an element, as Moodle wants it."""
    ET.SubElement(parent, "text").text = text


def _plain(text: str) -> str:
    """A table's cell without links and emphasis."""
    text = re.sub(r"<[^>]+>", "", text)
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).strip()


def _html(text: str) -> str:
    """Return a sentence with MathJax delimiters that both platforms know, without Markdown."""
    text = re.sub(r"\$([^$]+)\$", r"\\(\1\\)", text)
    return re.sub(r"(?<!\w)[*`]([^*`]+)[*`](?!\w)", r"\1", text)


def _written(root: ET.Element) -> str:
    """An XML tree as text."""
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True).decode()
