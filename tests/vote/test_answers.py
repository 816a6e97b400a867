"""Extraction and equivalence: tables of what real texts hold, and texts made to do harm."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adalib.vote.answers import answer_classes, same_answer
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


PIECES = [
    *"{}$\\ 9\n",
    "\\boxed{",
    "\\frac{",
    "\\text{",
    "answer is ",
    "answer   ",
    "####",
    "1,",
    "1/",
    "- ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_ten_megabytes_of_anything(piece):
    huge = piece * (10_000_000 // len(piece))
    assert len(extract_answer(huge)) <= len(huge)
    assert extract_answer(huge + r" \boxed{7}") == "7"


@settings(deadline=None)
@given(st.text(st.characters()), st.booleans())
def test_any_text_is_read(text, finished):
    answer = extract_answer(text, finished)
    assert same_answer(answer, answer) == bool(answer)


SAME = [
    ["1/2", "0.5", ".5", "0.50", "½", r"\frac12", r"\frac{1}{2}", r"\dfrac{1}{2}"],
    ["-1/2", r"-\frac{1}{2}"],
]
SAME += [
    ["3 1/2", "3.5"],
    ["1000", "1,000", "1{,}000", "$1,000", "1000 dollars", "1e3"],
    ["1000000", "1,000,000.0"],
]
SAME += [
    ["5", r"\$5", "$5$", "€5", "5 m", "5 cm", "5cm", "x = 5", "x_1 = 5", "f(x) = 5", "2 + 3 = 5"]
]
SAME += [
    [
        "12",
        "12 apples",
        "12 (twelve)",
        "12 cm2",
        "１２",
        "3 x 4",
        r"\sqrt{144}",
        r"3 \times 4 = 12",
        "12 = 12",
    ]
]
SAME += [
    ["10", r"10\text{ m}^2", r"10\ \mathrm{cm}"],
    ["60 km/h", "60"],
    ["90", "90°", "90 degrees", r"90^\circ"],
]
SAME += [
    ["5 million", "5,000,000"],
    ["1.5 thousand dollars", "1500"],
    ["7", "7.", "7!", "7)", "# 7", ", 7", "**7**"],
]
SAME += [["20 (4 * 5)", "20"], ["160days", "160"], ["−3", "-3"], ["0.333333", "1/3"]]
SAME += [
    ["50%", "50", "50 percent", r"50\%"],
    ["50%", "0.5", "1/2"],
    ["Monday", " monday ", r"\text{Monday}"],
]
SAME += [
    ["New York", "newyork"],
    ["B", "(b)", "(B) Paris", "B."],
    ["x+1", "1+x"],
    ["(x+1)^2", "x^2+2x+1"],
]
SAME += [
    [r"3\sqrt{2}", r"\sqrt{18}"],
    ["6*7", "42"],
    ["(1 + 2)^2 / 3", "3"],
    ["e^0", "1"],
    ["1, 2", "2, 1"],
]
SAME += [
    [r"16,\!471", "16471", "16{,}471"],
    [r"\frac{68}{3}\text{ pounds}", r"\frac{68}{3}", r"\frac{68}{3}^\circ"],
]
SAME += [
    [r"8\sqrt{3}\text{ cm}", r"8\sqrt{3}", r"8\sqrt{3} square feet"],
    [r"12\pi\text{ cubic inches}", r"12\pi"],
]
SAME += [[r"12\text{ gm}", "12"]]
SAME += [
    ["(1, 2)", "(1,2)", r"\left(1, 2\right)"],
    ["2π", r"2\pi"],
    ["x²", "x^2"],
    [r"2^{10}", "1024"],
]


@pytest.mark.parametrize("group", SAME)
def test_the_same_answer(group):
    for a, b in product(group, repeat=2):
        assert same_answer(a, b), (a, b)


# No two of these are the same answer, and nothing is not even the same as nothing.
DIFFERENT = [
    "1/2",
    "1/3",
    "0.33",
    "50",
    "1000000",
    "1000001",
    "1000000.5",
    "1000001.5",
    "1e-9",
    "2e-9",
    "-5",
    "5",
]
DIFFERENT += [
    "3a",
    "3",
    "5m",
    "5x",
    "2pi",
    "2",
    "(1,2)",
    "(2,1)",
    "(1,200)",
    "1200",
    "3:4",
    "0.75",
    "12 12",
    "144",
]
DIFFERENT += [
    "2 (x + 1)",
    "5 +",
    "3, 4",
    "1.2.3",
    "1.2",
    "x + y = 5",
    "1",
    "1/0",
    "Monday",
    "Tuesday",
]
DIFFERENT += [r"\frac{1}{2} x", r"\sqrt{2} and more", r"\sqrt{2}"]
DIFFERENT += ["A", "B", "x", "y", "3 hours 20 minutes", "", "", " "]


@pytest.mark.parametrize("group", [DIFFERENT, ["50", "0.5"], ["1/0 million", "1"]])
def test_different_answers(group):
    assert [pair for pair in permutations(group, 2) if same_answer(*pair)] == []


USUAL = ["\\frac", "\\text{", "\\boxed{", "Answer:", " million", " percent", "cm", "\n"]


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from([*"0123456789/.,-+ %$(){}=!xA", *USUAL])).map("".join))
@example("Answer:.)")  # what is left is no answer
def test_any_mixture_of_the_usual_pieces_is_read(text):
    answer = extract_answer(text)
    classes = answer_classes([answer, "7", answer])
    assert classes[0] == classes[2]
    assert (classes[0] < 0) == (not answer.strip())


HOSTILE = [
    "9**9**9**9",
    "9^{9^{9^9}}",
    "1e999999999",
    "9" * 100_000,
    "(" * 100_000,
    "x+" * 50_000,
    "\\frac{" * 20_000,
]


@pytest.mark.parametrize("hostile", [*HOSTILE, "\x00", "\ud800"])
def test_hostile_answers_are_only_themselves(hostile):
    assert same_answer(hostile, hostile)
    assert not same_answer(hostile, "7")


@given(st.fractions(), st.fractions())
def test_fractions_agree_exactly_or_to_a_millionth(p, q):
    near = p == q or (
        min(p.denominator, q.denominator) > 1 and abs(p - q) <= min(1, max(abs(p), abs(q))) / 10**6
    )
    assert same_answer(str(p), str(q)) == near


@given(st.integers())
def test_thousands_commas(n):
    assert same_answer(f"{n:,}", str(n))
    assert extract_answer(f"Answer: {n:,}.") == str(n)


def test_classes():
    answers = ["7", "1/2", "", "0.5", "7.0", " ", "x+1", "1+x", "Paris", "paris"]
    assert answer_classes(answers).tolist() == [0, 1, -1, 1, 0, -1, 2, 2, 3, 3]
    assert answer_classes([]).tolist() == []
    assert answer_classes([""]).dtype.kind == "i"


@given(
    st.lists(st.sampled_from(["50%", "50", "0.5", "1/2", "", "x", "50 %", "0.500", "B", "b) yes"]))
)
def test_classes_are_a_partition_by_the_first_member(answers):
    classes = answer_classes(answers)
    seen = [c for i, c in enumerate(classes) if c >= 0 and c not in classes[:i]]
    assert seen == list(range(len(seen)))
    for answer, c in zip(answers, classes, strict=True):
        if c < 0:
            assert not answer
        else:
            assert same_answer(answers[int(np.argmax(classes == c))], answer)


def test_only_the_last_two_hundred_markers_are_read():
    """So the work does not grow with the promises of a text that never gives its answer."""
    assert extract_answer("####" * 50_000) == ""
    assert extract_answer("#### 7\n" + "####" * 199, finished=False) == "7"
    assert extract_answer("#### 7\n" + "####" * 200, finished=False) == ""


def test_a_percentage_is_not_a_whole_number_of_wholes():
    assert not same_answer("6000%", "60")
    assert not same_answer("-200%", "-2")
    assert same_answer("6000%", "6000")
    assert same_answer("150%", "1.5")
    assert same_answer("100%", "1")
    assert same_answer("0%", "0")
