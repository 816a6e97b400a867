"""The solutions of the built book: each is asked for before it is given, and right by the answers
that the package has."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import nbformat
import pytest
from conftest import ROOT
from jupyter_cache import get_cache

import contents
from adabook.exercises import JUDGED, checks, value_exercises

CHAPTERS = sorted({*value_exercises(), *(chapter for chapter, _ in JUDGED)})


@pytest.fixture(scope="module")
def executed(html):
    """The notebooks as the last build ran them, by name."""
    cache = get_cache(html.parent / ".jupyter_cache")
    ran = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        with suppress(KeyError):  # it did not run
            notebook = nbformat.read(path, as_version=4)
            ran[path.stem] = cache.merge_match_into_notebook(notebook)[1]
    return ran


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_is_solved_rightly(executed, chapter):
    """An output says "no answer yet" where the reader is asked, and the solution is right.

    Of a proof it says that every step holds.
    """
    name = next(page.stem for page in contents.pages() if page.key == chapter)
    assert name in executed, f"{name}.ipynb has changed since the last build: run `make book`"
    verdicts = []
    for cell in executed[name].cells:
        for output in cell.get("outputs", []):
            verdicts += re.findall(
                r'^Exercise "(.+?)": (no answer yet|right|not yet|every step holds)',
                output.get("data", {}).get("text/plain", ""),
            )
    verdicts = [(one, what.replace("every step holds", "right")) for one, what in verdicts]
    names = list(checks(chapter).exercises)
    assert sorted(verdicts) == sorted(
        (name, what) for name in names for what in ("no answer yet", "right")
    ), (
        "every exercise has one check(...) where it is asked and one, right, in its solution;"
        f" where the solution is, mend book/adabook/exercises/answers/{chapter}.json"
    )
    assert all(
        verdicts.index((name, "no answer yet")) < verdicts.index((name, "right")) for name in names
    )


@pytest.mark.parametrize("chapter", value_exercises())
def test_every_box_finds_its_chapters_answers(html, chapter):
    script = html / "_static" / "exercises" / f"{chapter}.js"
    assert (
        json.loads(script.read_text(encoding="utf-8").split(" = ", 1)[1].rstrip(";\n"))
        == value_exercises()[chapter]
    ), "the built page is older than the answers: run `make book`"
    pages = [path.read_text(encoding="utf-8") for path in (html / "notebooks").glob("*.html")]
    (page,) = (page for page in pages if f'class="adalib-answer" data-chapter="{chapter}"' in page)
    assert f"exercises/{chapter}.js" in page
