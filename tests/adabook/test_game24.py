"""The checker of the Game of 24, against the source's verdicts and hostile expressions."""

import pytest

import adalib
from adabook.game24 import makes_24
from adalib.datasets.loading import data_folder


def test_it_says_what_the_sources_checker_said():
    answers = adalib.load(data_folder() / "checked" / "game24-cot.jsonl.gz")
    for puzzle, row, right in zip(answers.questions, answers.answers, answers.values, strict=True):
        assert [makes_24(puzzle, one) for one in row] == (right == 1).tolist(), puzzle


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "4 * 6 = 24",  # two numbers
        "4 * 6 * 1 * 1 * 1",  # one too many
        "4 ** 6 - 1 - 1",
        "4 / (1 - 1) + 6",
        "__import__('os').system('true') or 4 * 6 * 1 * 1",
        "(" * 5000 + "4*6*1*1" + ")" * 5000,
        "-" * 5000 + "4*6*1*1",
        "4.0 * 6 * 1 * 1",
        "True * 4 * 6 * 1",
    ],
)
def test_what_is_no_expression_of_the_four_numbers_is_wrong(answer):
    assert makes_24("1 1 4 6", answer) is False


def test_fractions_are_exact():
    assert makes_24("3 3 8 8", "8 / (3 - 8 / 3) = 24")
