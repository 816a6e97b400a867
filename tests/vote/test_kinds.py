"""What an answer is: every kind on texts that hold one, and on code, times and stories that hold
none."""

import json
import re
import string

import pytest
from conftest import run_to_end
from hypothesis import given
from hypothesis import strategies as st

from adalib.vote.extract import extract_answer
from adalib.vote.kinds import answer_reader, is_free_text, storable_kind
from adalib.vote.meaning import Meaning

AUTO = {
    "3 + 4 = 7": "7",
    "So \\boxed{7}.": "7",
    "The sum is 7.": "7",
    "So she pays 12 dollars.": "12",
    "3*4=12\nNatalia sold 12 clips altogether.": "12",
    "(B) Paris": "B",
    "**B**": "B",
    "Yes.": "yes",
    "Answer: Paris": "Paris",
}
NONE = [
    "return x+1",
    "def f(x):\n    return x+1",
    "10:30",
    "The meeting is at 10:30",
    "He was born in 1984.",
]
NONE += [
    "In 1984 we read.\nThen we slept.",
    "```python\nx = 1\n```",
    "print(3)",
    "See version 1.2.3",
    "It was 2024-05-01",
]
NONE += [
    "Once upon a time there were 3 bears who ate 4 bowls.",
    "I",
    "A dog is a pet",
    "for i in range(3): pass",
]


def test_auto_reads_results_alone():
    read = answer_reader("auto")
    assert {text: read(text, True) for text in AUTO} == AUTO
    assert [read(text, True) for text in NONE] == [""] * len(NONE)
    assert read("3 + 4 = 7", False) == ""  # it was cut: a number on the way
    assert is_free_text("Once upon a time. " * 20)
    assert not is_free_text("So 3 + 4 = 7, and 7 + 1 = 8, and so on. " * 20)


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (
            "number",
            {"It is at 10:30, so 7": "7", "    return x+1": "", "We have 12 apples here": "12"},
        ),
        (
            "choice",
            {
                "B": "B",
                "(B)": "B",
                "**B**": "B",
                "B) Paris": "B",
                "The option is **(C)**": "C",
                "Paris": "",
            },
        ),
        ("choice", {"I think the answer is B.": "B"}),
        (
            "yesno",
            {
                "Yes, it is.": "yes",
                "It is odd.\n**No**": "no",
                "Answer: true": "yes",
                "Perhaps": "",
            },
        ),
        (
            "label:red,dark red",
            {"I see Dark Red": "dark red", "red, not green\nso: RED": "red", "blue": ""},
        ),
        (
            "json:a.b",
            {
                'So {"a": {"b": 3}}': "3",
                '{"x": 1} {"a": {"b": "y "}}': "y",
                "{}": "",
                '{"a": [1]}': "",
            },
        ),
        (r"regex:Total (\d+)", {"Total 3, Total 4": "4", "none": ""}),
        ("regex:a+", {"caat a": "a"}),
        ("python:string:capwords", {"so it IS": "So It Is"}),
    ],
)
def test_every_kind(kind, texts):
    read = answer_reader(kind)
    assert {text: read(text, True) for text in texts} == texts


@pytest.mark.parametrize(
    "kind", ["", "nombre", "label:", "label: , ", "json:", "regex:(", "python:os", "auto:x"]
)
def test_no_kind_is_one_line(kind):
    with pytest.raises(ValueError, match="kind|regular expression") as caught:
        answer_reader(kind)
    assert "\n" not in str(caught.value)
    for name in ("python:nowhere:f", "python:string:nothing", "python:string:digits"):
        with pytest.raises(ValueError, match="function"):
            answer_reader(name)


@given(st.text(alphabet=string.printable, max_size=300))
def test_every_kind_reads_any_text(text):
    for kind in ("auto", "number", "choice", "yesno", "label:red,green", "json:a", "regex:[a-z]+"):
        answer = answer_reader(kind)(text, True)
        assert isinstance(answer, str)
    if answer_reader("auto")(text, True) and not extract_answer(text, finished=False):
        assert re.search(r"\d|[A-J]|yes|no|true|false", text, re.IGNORECASE)


@given(
    st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5)
)
def test_a_field_of_json_is_read_back(value):
    read = answer_reader("json:x")(f"I say {json.dumps({'x': value})} and no more", True)
    assert read == (value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True))


@pytest.mark.parametrize(
    ("new", "before", "found"),
    [
        ("8", "7", None),
        ("born in 1970", "born in 1971", None),
        ("true", "False.", None),
        ("B", "Paris", None),
        (r"\frac{a}{b}", r"\sqrt{a}", None),
        ("Rome", "in Rome", "in Rome"),
        ("2 men, 3 boys", "3 boys, 2 men", None),
    ],
)
def test_meaning_is_asked_about_words_alone(new, before, found):
    # By this function all answers that differ mean the same.
    assert run_to_end(Meaning("operator:ne").find(new, [before])) == found


def test_regex_of_a_user_cannot_hold_the_program():
    """Backtracking would take longer than the universe has; RE2 reads each character once."""
    assert answer_reader("regex:(?:a|a)+b")("a" * 20_000, True) == ""


def test_a_file_names_no_function():
    for kind in ("python:os:getcwd", "python:nowhere.at.all:f", "regex:(", "regex:(?:a|a)+b"):
        word = kind.partition(":")[0]
        assert storable_kind(kind) == word
        with pytest.raises(ValueError, match=f"give --kind {word}:"):
            answer_reader(word)
    for kind in ("auto", "label:red,green", "json:a.b"):
        assert storable_kind(kind) == kind
    for nothing in (None, 7, ["auto"], "magic"):
        with pytest.raises(ValueError, match="kind of answers"):
            storable_kind(nothing)
