"""Features: counted by hand, and safe on any text."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adabook.paper.ablations import EXTRA_FEATURES, LEAKS, extra_features
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_features


def features_of(text: str) -> pd.Series:
    return text_features([text]).iloc[0]


def test_a_question_counted_by_hand():
    text = "Tom drives 120 miles in 2 hours. Then he drives 1,080 miles. What is his speed?"
    expected = {
        "prompt_length_chars": len(text),
        "prompt_length_words": 16,
        "sentence_count": 3,
        "question_marks": 1,
        "numbers_count": 3,
        "number_magnitude_avg": math.log((120 + 2 + 1080) / 3),
        "number_magnitude_max": math.log(1080),
        "has_percentage": 0,
        "has_fraction": 0,
        "has_time_word": 1,  # hours
        "has_money_word": 0,
        "has_rate_word": 1,  # speed
        "has_multi_step_word": 1,  # then
        # Tom drives 120 miles in 2 hours Then he drives 1,080 miles What is his speed
        "avg_word_length": (3 + 6 + 3 + 5 + 2 + 1 + 5 + 4 + 2 + 6 + 5 + 5 + 4 + 2 + 3 + 5) / 16,
        "unique_word_ratio": 14 / 16,  # drives and miles come twice
    }
    assert features_of(text).to_dict() == pytest.approx(expected)
    assert text_features([text], entropy=[0.3])["entropy_estimate"].tolist() == [0.3]
    beyond = features_of(f"1{'0' * 400} and {'9' * 500} and 0.{'0' * 400}1")  # floating point
    assert beyond["numbers_count"] == 3
    assert beyond["number_magnitude_max"] == pytest.approx(300 * math.log(10))
    assert beyond["number_magnitude_avg"] == pytest.approx(math.log(2e300 / 3))


FRUIT = "他有三个苹果。他吃了一个？"
CASES = {
    "prompt_length_words": [("", 0), ("Bob's cat isn't Bob's", 4)],
    "sentence_count": [
        ("", 0),
        ("One. Two! Three?", 3),
        ("It is 3.5 m long, e.g. a rope", 2),
        ("...", 0),
        (FRUIT, 2),
    ],
    "question_marks": [(FRUIT, 1), ("Really?? Why?", 3)],
    "numbers_count": [("0.5 and .25 and 3", 3), ("f(1,2)", 2)],
    "number_magnitude_avg": [("0.5 and .25 and 3", math.log(3.75 / 3)), ("0 and 0", 0)],
    "number_magnitude_max": [
        ("1,234,567", math.log(1234567)),
        ("1,2345", math.log(2345)),
        ("٣٤ apples", math.log(34)),
    ],
    "has_percentage": [("5 % off", 1), ("Percentages matter", 1)],
    "has_fraction": [("3/4 of it", 1), (r"\dfrac{1}{2}", 1), ("½ cup", 1), ("and/or", 0)],
    "has_time_word": [("at 5 o'clock", 1), ("a daytime show", 0)],
    "has_money_word": [
        ("He PAID", 1),
        ("It is $5 each", 1),
        ("It is $2,000.", 1),
        (r"a toy at \$3", 1),
    ],
    "has_rate_word": [("60 miles per hour", 1), ("a person", 0)],
    "has_multi_step_word": [("How many are left?", 1)],
    "unique_word_ratio": [("Bob's cat isn't bob's", 3 / 4)],
}
CASES["number_magnitude_max"] += [("none", 0), ("1", 0)]
CASES["has_money_word"] += [("Find $5$ and $3x + 1$ and $4 + 4$", 0)]


@pytest.mark.parametrize("name", CASES)
def test_one_feature(name):
    assert {text: features_of(text)[name] for text, _ in CASES[name]} == pytest.approx(
        dict(CASES[name])
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Simplify the square root of 8.", [1, 0, 0]),
        (r"Find \sqrt{2}", [1, 0, 0]),
        ("Solve 2x = 4.", [0, 1, 0]),
        ("Is x >= 2 or x != 3", [0, 0, 0]),
        ("Which equation fits", [0, 1, 0]),
        ("(a) Find x. (b) Find y.", [0, 0, 1]),
        ("Who? Where?", [0, 0, 1]),
        ("Figure (a) shows it. Why?", [0, 0, 0]),
    ],
)
def test_extra_features(text, expected):
    frame, graded = extra_features([text]), extra_features([text, "y"], single_pass_acc=[0.5, 1.0])
    assert list(frame.columns) == list(EXTRA_FEATURES[:3])
    assert frame.iloc[0].tolist() == expected
    assert LEAKS == ("single_pass_acc",)  # it must be handed in
    assert list(graded["single_pass_acc"]) == [0.5, 1.0]


@example([".0.0"])
@given(st.lists(st.text(), max_size=5))
def test_any_text_gives_finite_numbers(texts):
    for frame in (text_features(texts), extra_features(texts)):
        assert len(frame) == len(texts)
        assert np.isfinite(frame.to_numpy()).all()


@pytest.mark.parametrize(
    "piece", ["7", ".", "$1", "1,", "(a) ", " ", "a.", "\\frac{1}{2} ", "漢字。", "\0", "<b>=</b>"]
)
def test_huge_texts(piece):
    text = piece * (10**6 // len(piece))
    row = features_of(text)
    assert np.isfinite(row.to_numpy()).all()
    assert row["prompt_length_chars"] == len(text)
    assert np.isfinite(extra_features([text]).to_numpy()).all()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: text_features("one text"), "give a list of texts"),
        (lambda: text_features(["fine", None]), r"questions\[1\] is NoneType"),
        (lambda: text_features(["a", "b"], entropy=[0.1]), r"shape \(1,\); give 2 numbers"),
        (lambda: text_features(["a", "b"], entropy=[0.1, np.inf]), r"entropy\[1\] is inf"),
        (
            lambda: extra_features(["x", "y"], single_pass_acc=[0.5, np.nan]),
            r"single_pass_acc\[1\] is nan",
        ),
        (lambda: TextEmbedding().fit(["", "  "]), "at least one that is not blank"),
        (lambda: TextEmbedding().transform(["a"]), "call fit"),
        (lambda: TextEmbedding(dims=0), "dims is 0"),
    ],
)
def test_what_is_refused(action, message):
    with pytest.raises(ValueError, match=message):
        action()
