"""When two answers are the same: tables of what real texts hold, and answers made to do harm."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.vote.answers import ClassesSoFar, answer_classes, same_answer

SAME = [
    ["1/2", "0.5", ".5", "0.50", "½", r"\frac12", r"\frac{1}{2}", r"\dfrac{1}{2}"],
    ["-1/2", r"-\frac{1}{2}"],
    ["3 1/2", "3.5"],
    ["1000", "1,000", "1{,}000", "$1,000", "1000 dollars", "1e3"],
    ["1000000", "1,000,000.0"],
    ["5", r"\$5", "$5$", "€5", "5 m", "5 cm", "5cm", "x = 5", "x_1 = 5", "f(x) = 5", "2 + 3 = 5"],
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
    ],
    ["10", r"10\text{ m}^2", r"10\ \mathrm{cm}"],
    ["60 km/h", "60"],
    ["90", "90°", "90 degrees", r"90^\circ"],
    ["5 million", "5,000,000"],
    ["1.5 thousand dollars", "1500"],
    ["7", "7.", "7!", "7)", "# 7", ", 7", "**7**"],
    ["20 (4 * 5)", "20"],
    ["160days", "160", "160 day"],
    ["3 hundred", "300"],
    [r"\begin{pmatrix}1/2&2\\3&4\end{pmatrix}", r"\begin{pmatrix} 0.5 & 2 \\ 3 & 4 \end{pmatrix}"],
    ["−3", "-3"],
    ["0.333333", "1/3"],
    ["1.000,50", "1000.5", "1.000,5 euros"],
    ["1.234.567", "1,234,567"],
    ["50%", "50", "50 percent", r"50\%"],
    ["50%", "0.5", "1/2"],
    ["Monday", " monday ", r"\text{Monday}"],
    ["New York", "newyork"],
    ["B", "(b)", "(B) Paris", "B."],
    ["x+1", "1+x"],
    ["(x+1)^2", "x^2+2x+1"],
    [r"3\sqrt{2}", r"\sqrt{18}"],
    ["6*7", "42"],
    ["(1 + 2)^2 / 3", "3"],
    ["e^0", "1"],
    ["1, 2", "2, 1"],
    [r"16,\!471", "16471", "16{,}471"],
    [r"\frac{68}{3}\text{ pounds}", r"\frac{68}{3}", r"\frac{68}{3}^\circ"],
    [r"8\sqrt{3}\text{ cm}", r"8\sqrt{3}", r"8\sqrt{3} square feet"],
    [r"12\pi\text{ cubic inches}", r"12\pi"],
    [r"12\text{ gm}", "12"],
    ["6000%", "6000"],
    ["150%", "1.5"],
    ["100%", "1"],
    ["0%", "0"],
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
    *["1/2", "1/3", "0.33", "50", "1000000", "1000001", "1000000.5", "1000001.5", "1e-9", "2e-9"],
    *["-5", "5", "3a", "3", "5m", "5x", "5day", "2pi", "2", "3:4", "0.75", "1.2.3", "1.2", "1/0"],
    *["(1,2)", "(2,1)", "(1,200)", "1200", "12 12", "144", "2 (x + 1)", "5 +", "3, 4", "1"],
    *["x + y = 5", r"\frac{1}{2} x", r"\sqrt{2} and more", r"\sqrt{2}", "A", "B", "x", "y"],
    *["Monday", "Tuesday", "3 hours 20 minutes", "", "", " "],
]


@pytest.mark.parametrize(
    "group", [DIFFERENT, ["50", "0.5"], ["1/0 million", "1"], ["6000%", "60"], ["-200%", "-2"]]
)
def test_different_answers(group):
    assert [pair for pair in permutations(group, 2) if same_answer(*pair)] == []


HOSTILE = [
    "9**9**9**9",
    "9^{9^{9^9}}",
    "9^{9^{99}}",
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


@given(
    st.lists(st.sampled_from(["50%", "50", "0.5", "1/2", "", "x", "50 %", "0.500", "B", "b) yes"]))
)
def test_classes_are_a_partition_by_the_first_member(answers):
    classes = answer_classes(answers)
    so_far = ClassesSoFar()
    assert [so_far.add(answer) for answer in answers] == classes.tolist()
    seen = [c for i, c in enumerate(classes) if c >= 0 and c not in classes[:i]]
    assert seen == list(range(len(seen)))
    for answer, c in zip(answers, classes, strict=True):
        if c < 0:
            assert not answer
            assert so_far.first_member(answer) is None
        else:
            first = answers[int(np.argmax(classes == c))]
            assert so_far.first_member(answer) == first
            assert same_answer(first, answer)
