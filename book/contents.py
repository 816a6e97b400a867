"""The registry of the book's pages: those in `_toc.yml`, in order, with chapter numbers.

A chapter is a notebook of any part but those in `WITHOUT_NUMBERS`, whose file begins with a number;
the chapters count from 0, in the order of `_toc.yml`, and the appendices from A. Another notebook
is a lesson like them, with cells that run in the page, if its metadata has ``"adalib": {"lesson":
true}``. Titles, links, exercises and tests take numbers from here, so a chapter moves by moving its
line. Prose names a chapter by its key, which is its file's name without the leading number:
``chapter {ch}`stopping` `` becomes "chapter 9".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
#: Parts whose pages are not counted as chapters.
WITHOUT_NUMBERS = ("Play", "Your own", "For teachers", "Reference")
#: The part whose pages have letters.
WITH_LETTERS = "Appendices"
_MENTION = re.compile(r"\{ch\}`([\w-]+)`")


class Page(NamedTuple):
    """A page of the book.

    Attributes
    ----------
    name : str
        Its file without the suffix, such as "notebooks/09_stopping".
    number : str
        "9" for a chapter, "A" for an appendix, and "" for any other page.
    root : Path
        The folder that holds `_toc.yml`.
    """

    name: str
    number: str
    root: Path

    @property
    def stem(self) -> str:
        """The name of its file alone, such as "09_stopping"."""
        return self.name.rpartition("/")[2]

    @property
    def key(self) -> str:
        """The name by which prose and exercises call it, such as "stopping"."""
        return re.sub(r"^\d+[a-z]?_", "", self.stem)

    @property
    def path(self) -> Path:
        """Its source file."""
        notebook = self.root / f"{self.name}.ipynb"
        return notebook if notebook.exists() else self.root / f"{self.name}.md"

    @property
    def cells(self) -> list[dict]:
        """The cells of a notebook, each with its source as one text; any other page has none."""
        if self.path.suffix != ".ipynb":
            return []
        cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
        return [cell | {"source": "".join(cell["source"])} for cell in cells]

    @property
    def prose(self) -> str:
        """The Markdown of a notebook, an empty line between two cells."""
        return "\n\n".join(one["source"] for one in self.cells if one["cell_type"] == "markdown")

    @property
    def title(self) -> str:
        """Its first heading, without a number."""
        if self.path.suffix == ".md":
            text = self.path.read_text(encoding="utf-8")
        else:
            text = self.cells[0]["source"]
        heading = re.search(r"^# (.+)$", text, re.M)
        if heading is None:
            raise ValueError(f"{self.path}: begins without a title; write one, such as # Budgets")
        return heading[1].strip()

    @property
    def is_appendix(self) -> bool:
        """Whether its number is a letter."""
        return self.number.isalpha()

    @property
    def place(self) -> str:
        """What a sentence calls it: "chapter 9" or "appendix A"."""
        return f"{'appendix' if self.is_appendix else 'chapter'} {self.number}"

    @property
    def metadata(self) -> dict:
        """What a notebook says of itself, under "adalib" in its metadata."""
        if self.path.suffix != ".ipynb":
            return {}
        notebook = json.loads(self.path.read_text(encoding="utf-8"))
        return notebook["metadata"].get("adalib", {})

    @property
    def is_lesson(self) -> bool:
        """Whether it teaches as a chapter does, with a number or without."""
        return self.path.suffix == ".ipynb" and bool(self.number or self.metadata.get("lesson"))

    @property
    def runs_live(self) -> bool:
        """Whether the page's cells run in the browser; a lesson's metadata can switch that off."""
        return self.is_lesson and self.metadata.get("live", True)


def pages(root: Path = ROOT) -> list[Page]:
    """List every page that `_toc.yml` names, the first page included."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    listed = [Page(contents["root"], "", root)]
    chapter_count = -1
    appendix_count = 0
    for part in contents.get("parts", []):
        caption = part.get("caption", "")
        for entry in part["chapters"]:
            name = entry["file"]
            number = ""
            if caption == WITH_LETTERS:
                number = chr(ord("A") + appendix_count)
                appendix_count += 1
            elif caption not in WITHOUT_NUMBERS and name.rpartition("/")[2][0].isdigit():
                chapter_count += 1
                number = str(chapter_count)
            listed.append(Page(name, number, root))
    return listed


def chapters(root: Path = ROOT, appendices: bool = True) -> list[Page]:
    """List the chapters in order, and after them the appendices."""
    return [page for page in pages(root) if page.number and (appendices or not page.is_appendix)]


def lessons(root: Path = ROOT, appendices: bool = True) -> list[Page]:
    """List the chapters, the appendices, and the lessons without a number, in the book's order."""
    return [page for page in pages(root) if page.is_lesson and (appendices or not page.is_appendix)]


def keys(root: Path = ROOT) -> dict[str, Page]:
    """Return the chapters and appendices by the names that prose calls them by."""
    listed = chapters(root)
    by_key = {page.key: page for page in listed}
    if len(by_key) < len(listed):
        raise ValueError(f"two chapters of {root / '_toc.yml'} share a key; rename one's file")
    return by_key


def spelled(text: str, by_key: Mapping[str, Page], where: str) -> str:
    """Replace every mention of a chapter by its number; ``where`` is named if a key is unknown.

    >>> spelled("See chapter {ch}`stopping`.", {"stopping": Page("09_stopping", "9", ROOT)}, "here")
    'See chapter 9.'
    """

    def number(match: re.Match) -> str:
        if match[1] not in by_key:
            raise ValueError(
                f"{where} mentions the chapter {match[1]!r}, and no line of _toc.yml has that key: "
                f"use one of {', '.join(by_key)}"
            )
        return by_key[match[1]].number

    return _MENTION.sub(number, text)
