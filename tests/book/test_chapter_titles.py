"""Where the code says which chapter explains it, the chapter has that number, and that title or a section of it."""

from __future__ import annotations

import json
import re

from conftest import ROOT

MENTION = re.compile(r'chapter\s+(\d+),\s+"([^"]+)"')


def headings() -> dict[int, list[str]]:
    """The headings of every numbered chapter, its title first."""
    found = {}
    for file in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        found[int(file.name[:2])] = re.findall(r"(?m)^#{1,3} (.+)$", text)
    return found


def mentions(folder: str) -> list[tuple[str, int, str]]:
    """Every 'chapter N, "Title"' of a folder's code, also where a line break parts it."""
    return [
        (file.relative_to(ROOT).as_posix(), int(number), " ".join(title.split()))
        for file in sorted((ROOT / folder).rglob("*.py"))
        for number, title in MENTION.findall(file.read_text(encoding="utf-8"))
    ]


def test_docstrings_name_the_chapters_as_they_are_called():
    known = headings()
    found = mentions("adalib")
    assert len(found) > 20  # the pattern still fits what we write
    assert [(file, n, title) for file, n, title in found if title not in known.get(n, ())] == []


def test_a_title_that_drifted_is_found():
    # A line break in the middle is no excuse.
    assert MENTION.findall('Explained in chapter 0,\n    "One question, 48 answers".') == [
        ("0", "One question, 48 answers")
    ]
    assert headings()[0][0] == "One question, many answers"
    assert "One question, 48 answers" not in headings()[0]
