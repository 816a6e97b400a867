"""The solutions of the built book: each is right, asked for before it is given, and recorded as the
package has it."""

from __future__ import annotations

import json
import re

import pytest
import recorded
from conftest import ROOT

import contents
from adabook.exercises import JUDGED, RECORD, checks

KEPT = json.loads(RECORD.read_text(encoding="utf-8"))
CHAPTERS = sorted({*KEPT, *(chapter for chapter, _ in JUDGED)})


@pytest.fixture(scope="module")
def executed(html):
    """The notebooks as the last build ran them."""
    return dict(recorded.executed(ROOT / "notebooks", html.parent / ".jupyter_cache"))


def test_the_record_is_what_the_solutions_say(executed):
    assert recorded.written(recorded.solutions(executed.values())) == RECORD.read_text(
        encoding="utf-8"
    ), f"run `make book`, which writes {RECORD.relative_to(ROOT)}, and commit that file"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_is_solved_rightly(executed, chapter):
    """An output says "not answered yet" where the reader is asked, and "right" in the solution."""
    name = next(page.stem for page in contents.pages() if page.key == chapter)
    verdicts = []
    for cell in executed[name].cells:
        for output in cell.get("outputs", []):
            verdicts += re.findall(
                r"^Exercise (.+?): (not answered yet|right|not yet)",
                output.get("data", {}).get("text/plain", ""),
            )
    names = list(checks(chapter)[0].exercises)
    assert sorted(verdicts) == sorted(
        (name, what) for name in names for what in ("not answered yet", "right")
    ), "every exercise has one check(...) where it is asked and one solution(...) that is right"
    assert all(
        verdicts.index((name, "not answered yet")) < verdicts.index((name, "right"))
        for name in names
    )


@pytest.mark.parametrize("chapter", KEPT)
def test_every_box_finds_its_chapters_record(html, chapter):
    script = html / "_static" / "recorded" / f"{chapter}.js"
    assert (
        json.loads(script.read_text(encoding="utf-8").split(" = ", 1)[1].rstrip(";\n"))
        == KEPT[chapter]
    ), "the built page is older than the record: run `make book`"
    pages = [path.read_text(encoding="utf-8") for path in (html / "notebooks").glob("*.html")]
    (page,) = (page for page in pages if f'class="adalib-answer" data-chapter="{chapter}"' in page)
    assert f"recorded/{chapter}.js" in page
