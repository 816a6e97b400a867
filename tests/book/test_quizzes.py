"""The quizzes: three a chapter or more, every option explained, the right one not given away,
exported as they are."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from conftest import ROOT

from contents import lessons
from editions.quizzes import Item, export, misconceptions, moodle, quiz_items

# Reading a quiz fails where an option has no text or no explanation in italics.
QUIZZES = {path.stem: quiz_items(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
QUIZZES = {name: items for name, items in QUIZZES.items() if items}
ITEMS = [item for items in QUIZZES.values() for item in items]


def right(item: Item) -> int:
    """The place of the one right option."""
    (place,) = (place for place, option in enumerate(item.options) if option.right)
    return place


def test_form_does_not_give_the_right_option_away():
    assert set(QUIZZES) >= {page.stem for page in lessons(appendices=False)}
    # Over the book the right option is the longest, the shortest, or in one place hardly more often
    # than chance.
    chance = sum(1 / len(item.options) for item in ITEMS)
    longest = shortest = 0
    for item in ITEMS:
        lengths = [len(option.text) for option in item.options]
        own = lengths.pop(right(item))
        longest += own > max(lengths)
        shortest += own < min(lengths)
    places = [right(item) for item in ITEMS]
    assert longest <= chance
    assert shortest <= chance * 1.1
    assert max(places.count(place) for place in places) <= 1.25 * chance


@pytest.mark.parametrize("name", QUIZZES)
def test_three_questions_each_with_one_right_option_in_no_fixed_place(name):
    assert len(QUIZZES[name]) >= 3
    for item in QUIZZES[name]:
        assert len(item.options) >= 3
        assert len({option.text for option in item.options}) == len(item.options)
    places = [right(item) for item in QUIZZES[name]]
    assert len(set(places)) > 1


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
    rights = [one.options[0].right for one in misconceptions(ROOT / "book" / "teach.md")]
    assert 0.2 < sum(rights) / len(rights) < 0.8, "not all are false"


def test_the_command_exports_quizzes_and_misconceptions(tmp_path):
    count = export(ROOT, tmp_path / "new")
    written = (tmp_path / "new" / "quizzes.xml").read_text(encoding="utf-8")
    kinds = [question.get("type") for question in ET.fromstring(written.encode())]
    assert count == kinds.count("multichoice") > len(ITEMS)
    assert kinds.count("category") == sum(map(bool, QUIZZES.values())) + 1
    assert "{ch}" not in written, "chapters have numbers outside the book"
