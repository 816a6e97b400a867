"""Where the code says which chapter explains it, the chapter has that number and that title."""

from __future__ import annotations

import json
import re

from conftest import ROOT

MENTION = re.compile(r'chapter\s+(\d+),\s+"([^"]+)"')


def titles() -> dict[int, str]:
    """The title of every numbered chapter."""
    found = {}
    for file in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        first = "".join(json.loads(file.read_text(encoding="utf-8"))["cells"][0]["source"])
        found[int(file.name[:2])] = first.split("\n")[0].removeprefix("# ")
    return found


def mentions(folder: str) -> list[tuple[str, int, str]]:
    """Every 'chapter N, "Title"' of a folder's code, also where a line break parts it."""
    return [
        (file.relative_to(ROOT).as_posix(), int(number), " ".join(title.split()))
        for file in sorted((ROOT / folder).rglob("*.py"))
        for number, title in MENTION.findall(file.read_text(encoding="utf-8"))
    ]


def test_docstrings_name_the_chapters_as_they_are_called():
    known = titles()
    found = mentions("adalib")
    assert len(found) > 100  # the pattern still fits what we write
    assert [(file, n, title) for file, n, title in found if known.get(n) != title] == []


def test_a_title_that_drifted_is_found():
    # A line break in the middle is no excuse.
    assert MENTION.findall('Explained in chapter 0,\n    "One question, 48 answers".') == [
        ("0", "One question, 48 answers")
    ]
    assert titles()[0] != "One question, 48 answers"
