"""The exact numbers in plain answers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.vote.plain import arithmetic

HALF = Fraction(1, 2)
WORKED_OUT = {
    "12 + 5": 17,
    "3 x 4": 12,
    r"3\times4": 12,
    r"2 \cdot (3 - 1)": 4,
    "-2^2": -4,
    "2(3 + 1)(2)": 16,
}
WORKED_OUT |= {
    "(1 + 2)^2 / 6": 3 * HALF,
    "0.1 + 0.2": Fraction(3, 10),
    "2^-2": HALF / 2,
    "-" * 99 + "1": -1,
    "11" + r"\cdot1" * 33: 11,  # 200 characters, the longest that is worked out
}
WORKED_OUT |= dict.fromkeys(
    ["1/0", "9^9^9^9", "9**9**9**9", "2^0.5", "(((", "5x", "1 2", "()", "", "111" + r"\cdot1" * 33]
)


@pytest.mark.parametrize(("text", "value"), WORKED_OUT.items())
def test_arithmetic(text, value):
    assert arithmetic(text) == value


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 99)), min_size=1, max_size=15))
def test_arithmetic_agrees_with_python(terms):
    text = "1" + "".join(f" {sign} {number}" for sign, number in terms)
    assert arithmetic(text) == eval(text)
