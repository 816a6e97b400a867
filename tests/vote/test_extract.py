"""Reading answers: tables of what real texts hold, and texts made to do harm."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adalib.vote.answers import same_answer
from adalib.vote.extract import extract_answer

# An answer, and texts that hold it.
EXTRACTED = [
    (
        "42",
        r"so we get \boxed{42}",
        "The answer is 42.",
        "The answer is: **42**",
        "**Answer:** 42",
        "**Answer**: 42",
    ),
    ("42", "### Answer:\n\n42\n", "Answer: 6 * 7 = 42 miles", "Answer: Tom has 42 apples left."),
    (
        "42",
        "Answer: 42 because 6 times 7 is the number that Tom wanted",
        "Answer: 42. The 3 is not needed",
    ),
    ("42", "Answer: 6 * 7 = 42 pages in 7 days"),
    ("2", r"first \boxed{1}, no: \boxed{2}."),
    (
        r"\frac{1}{2}",
        r"\boxed{\frac{1}{2}} and then \boxed{3",
        "the answer is $\\frac{1}{2}$.",
        "it is \\frac{1}{2}",
    ),
    (r"\frac{3}{4}", "The answer is \\(\\frac{3}{4}\\)"),
    (
        "5",
        r"\boxed{\boxed{5}}",
        "Answer: 5\nAnswer:",
        "Answer: x = 5",
        "which leaves 8 - 5 of them",
    ),
    ("7", r"\boxed{7} or \boxed{}", "3 + 4 = 7\n#### 7", "She has 3 and gets 4 so 7 in all"),
    ("1250", r"\boxed{\$1{,}250.}"),
    ("1250.00", "It costs $1,250.00."),
    ("1234", "#### 1,234"),
    ("1000.50", "It costs 1.000,50.", "Answer: 1.000,50 €"),
    ("1234567", "There are 1.234.567 of them."),
    ("500", "1.000,500"),  # no way to write one number
    ("C", r"\boxed{\text{(C)}}"),
    ("B", "Answer: (B) Paris", "Answer: B because it is warm"),
    (r"\{1, 2\}", r"\boxed{\{1, 2\}}"),
    ("[-2, 7]", r"The answer is $\boxed{[-2, 7]$."),
    (
        "12",
        r"\boxed{12\text{ cm}^2}",
        "Answer: 12 apples.",
        "Answer: 12 boxes of 3 and one of 5 give him 41 apples",
    ),
    ("41", "Answer: he has 12 boxes of 3 and one of 5, so 41"),
    ("90", r"\boxed{90^\circ}"),
    ("6", "Answer: 5\nWait, no.\nAnswer: 6"),
    ("12.50", "Answer: $12.50"),
    ("3 hours 20 minutes", "Answer: 3 hours 20 minutes"),
    ("Monday", "Answer: Monday"),
    ("50%", "Answer: 50%"),
    ("-3", "answer: -3", "down to -3"),
    ("-5", "a loss of -$5"),
    ("4", "a 3-4 win"),
    ("3 1/2", "it is 3 1/2"),
    ("1.5e-3", "about 1.5e-3"),
    ("", "no idea", "", "the 3rd of x2", "Answer: "),
]


@pytest.mark.parametrize(("answer", "texts"), [(answer, texts) for answer, *texts in EXTRACTED])
def test_extraction(answer, texts):
    assert [extract_answer(text) for text in texts] == [answer] * len(texts)


def test_a_text_that_was_cut_has_no_last_number():
    assert extract_answer("First 3, then 4", finished=False) == ""
    assert extract_answer("First 3, Answer: 4", finished=False) == "4"
    assert extract_answer(r"First 3, \boxed{4}", finished=False) == "4"


PIECES = ["\\boxed{", "\\frac{", "\\text{", "answer is ", "answer   ", "####", "1,", "1/", "- "]


@pytest.mark.parametrize("piece", [*"{}$\\ 9\n", *PIECES])
def test_ten_megabytes_of_anything(piece):
    huge = piece * (10_000_000 // len(piece))
    assert len(extract_answer(huge)) <= len(huge)
    assert extract_answer(huge + r" \boxed{7}") == "7"


# Texts of each kind, and the answer that is read out of them.
OF_A_KIND = [
    (
        "choice",
        "B",
        ["B", "(B)", "**B**", "B) Paris", "So I think\n(B)", "I think the answer is B."],
    ),
    ("choice", "C", ["The option is **(C)**", r"\boxed{C}", "It is warm.\nC. Paris"]),
    ("choice", "", ["Paris", "", "7", "A dog is a pet, and so is a cat"]),
    (
        "text",
        "Paris",
        ["Paris", "Paris.", "**Paris**", "Answer: Paris", r"So \boxed{\text{Paris}}"],
    ),
    ("text", "7", ["7", "7 dollars", "#### 7"]),
    ("text", "", ["", "Once upon a time. " * 20]),
    ("number", "7", ["3 + 4 = 7", "Once upon a time. " * 20 + "They were 7."]),
]


@pytest.mark.parametrize(("kind", "answer", "texts"), OF_A_KIND)
def test_kinds(kind, answer, texts):
    assert [extract_answer(text, kind=kind) for text in texts] == [answer] * len(texts)
    assert [extract_answer(text, finished=False, kind=kind) for text in ("Paris", "7")] == ["", ""]


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="nombre"):
        extract_answer("7", kind="nombre")


@given(st.integers())
def test_thousands_commas(n):
    assert extract_answer(f"Answer: {n:,}.") == str(n)


PIECE = st.sampled_from(
    [*"0123456789/.,-+ %$(){}=!xA\n", r"\frac", r"\text{", r"\boxed{", "Answer:", " million", "cm"]
)


@settings(max_examples=500)
@given(
    st.text(st.characters()) | st.lists(PIECE).map("".join),
    st.booleans(),
    st.sampled_from(["number", "choice", "text"]),
)
@example("Answer:.)", True, "number")  # what is left is no answer
def test_any_text_is_read(text, finished, kind):
    answer = extract_answer(text, finished, kind)
    assert same_answer(answer, answer) == bool(answer)


def test_only_the_last_two_hundred_markers_are_read():
    """So the work does not grow with the promises of a text that never gives its answer."""
    assert extract_answer("####" * 50_000) == ""
    assert extract_answer("#### 7\n" + "####" * 199, finished=False) == "7"
    assert extract_answer("#### 7\n" + "####" * 200, finished=False) == ""
