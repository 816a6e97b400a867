"""The quizzes: every option explained, one of them right, exported as they are."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from conftest import ROOT

from editions.quizzes import export, misconceptions, moodle, quiz_items

# Reading a quiz fails where an option has no text or no explanation in italics.
QUIZZES = {path.stem: quiz_items(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
QUIZZES = {name: items for name, items in QUIZZES.items() if items}
ITEMS = [item for items in QUIZZES.values() for item in items]


@pytest.mark.parametrize("name", QUIZZES)
def test_every_question_has_one_right_option_among_different_ones(name):
    for item in QUIZZES[name]:
        assert sum(option.right for option in item.options) == 1
        assert len({option.text for option in item.options}) == len(item.options) > 1


def test_moodle_xml():
    """What Moodle's format asks of a question of several options."""
    root = ET.fromstring(moodle({"1 One/two": ITEMS}).encode())
    category, *questions = root
    assert category.get("type") == "category"
    assert category.findtext("category/text") == "$course$/top/1 One//two"
    assert (root.tag, len(questions)) == ("quiz", len(ITEMS))
    for question in questions:
        assert question.get("type") == "multichoice"
        assert question.findtext("name/text")
        assert question.find("questiontext").get("format") == "html"
        assert question.findtext("single") == "true"
        fractions = [int(answer.get("fraction")) for answer in question.iter("answer")]
        assert sorted(fractions) == [0] * (len(fractions) - 1) + [100]
        assert all(
            a.findtext("text") and a.findtext("feedback/text") for a in question.iter("answer")
        )
        assert "$" not in "".join(question.itertext())


def test_misconceptions_are_questions_of_true_or_false(tmp_path):
    page = tmp_path / "teach.md"
    head = "text\n\n| a student says | show | and ask |\n|---|---|---|\n"
    page.write_text(head + '| "All is $x$." | [this](a.md) | Why? |\n\nmore')
    (item,) = misconceptions(page)
    assert item.text == "All is $x$."
    assert [option.right for option in item.options] == [False, True]
    assert "this" in item.options[1].why
    assert "\\(x\\)" in moodle({"1": [item]})


def test_the_command_exports_quizzes_and_misconceptions(tmp_path):
    count = export(ROOT, tmp_path / "new")
    written = (tmp_path / "new" / "quizzes.xml").read_text(encoding="utf-8")
    kinds = [question.get("type") for question in ET.fromstring(written.encode())]
    assert count == kinds.count("multichoice") > len(ITEMS)
    assert kinds.count("category") == sum(map(bool, QUIZZES.values())) + 1
    assert "{ch}" not in written, "chapters have numbers outside the book"
