"""The symbolic judge: right where it can be, quiet, and never stuck."""

import logging
import os
import subprocess
import sys
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.vote import judge, judge_child
from adalib.vote.answers import answer_classes
from adalib.vote.arithmetic import arithmetic
from adalib.vote.judge import same_expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12 + 5", 17),
        ("3 x 4", 12),
        (r"3\times4", 12),
        (r"2 \cdot (3 - 1)", 4),
        ("-2^2", -4),
        ("(1 + 2)^2 / 6", Fraction(3, 2)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("2^-2", Fraction(1, 4)),
        ("1/0", None),
        ("9^9^9^9", None),
        ("9**9**9**9", None),
        ("2^0.5", None),
        ("(((", None),
        ("2(3 + 1)(2)", 16),
        ("5x", None),
        ("1 2", None),
        ("", None),
        ("-" * 99 + "1", -1),
        ("1+" * 5000 + "1", None),
    ],
)
def test_arithmetic(text, value):
    assert arithmetic(text) == value


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 99)), min_size=1, max_size=15))
def test_arithmetic_agrees_with_python(terms):
    text = "1" + "".join(f" {sign} {number}" for sign, number in terms)
    assert arithmetic(text) == eval(text)


def test_from_another_thread(capfd, caplog):
    found = []
    with caplog.at_level(logging.DEBUG):
        thread = threading.Thread(target=lambda: found.append(same_expression(r"\sqrt{50}", r"5\sqrt{2}")))
        thread.start()
        thread.join()
        assert not same_expression("(x+1)^{999}", "(1+x)^{998}")  # runs out of time in the child
    assert found == [True]
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


@pytest.mark.parametrize("hostile", ["9**9**9**9", "9^{9^{9^9}}", "2^{99999}", "12345!", "x" * 300, "((", "\n", "\x00"])
def test_hostile_expressions(hostile):
    assert not same_expression(hostile, "7")
    assert same_expression("x+2", "2+x")  # and the judge still answers


def test_a_child_that_hangs_is_ended_and_replaced(monkeypatch):
    monkeypatch.setattr(judge, "_LAST_RESORT", 0.5)
    stuck = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="ascii",
    )
    monkeypatch.setattr(judge, "_owner", os.getpid())
    monkeypatch.setattr(judge, "_child", stuck)
    assert not same_expression("x+3", "3+x")
    assert stuck.poll() is not None
    monkeypatch.setattr(judge, "_LAST_RESORT", 60)
    assert same_expression("x+4", "4+x")


def test_a_child_that_was_killed_is_replaced():
    assert same_expression("x+5", "5+x")
    judge._child.kill()
    judge._child.wait()
    assert same_expression("x+7", "7+x")


def test_no_python_to_start(monkeypatch):
    monkeypatch.setattr(judge, "_child", None)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert not same_expression("x+8", "8+x")


def test_an_interrupted_question_does_not_answer_the_next(monkeypatch):
    assert same_expression("x+9", "9+x")

    def interrupted(text):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(judge.json, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            same_expression("x+10", "10+x")
    assert not same_expression("x+11", "x+12")


def test_a_question_of_hostile_answers_has_a_budget_and_what_is_given_up_is_counted(monkeypatch):
    """Whatever the shape, no more than the budget is computed: the rest is not equal, and is told."""
    monkeypatch.setattr(judge, "_QUESTION", 0.3)
    asked = []
    real = judge._ask
    monkeypatch.setattr(judge, "_ask", lambda a, b: asked.append(real(a, b)) or asked[-1])
    answers = [rf"\sqrt{{{n}x+1}}+\frac{{x}}{{\sqrt{{{n}}}+x}}" for n in range(101, 160)]
    before = judge.given_up()
    assert len(set(answer_classes(answers).tolist())) == len(answers)
    assert judge.given_up() > before
    assert sum(cost for _, cost in asked[:-1]) < 0.3


def test_powers_are_compared_without_computer_algebra(monkeypatch):
    monkeypatch.setattr(judge, "_ask", None)  # nobody may be asked
    answers = [f"10^{{{n}}}" for n in range(400, 496)]
    assert len(set(answer_classes(answers).tolist())) == 96
    assert answer_classes(["10^{3}", "1000", "10^3"]).tolist() == [0, 0, 0]


def test_a_pair_is_compared_once_across_questions(monkeypatch):
    asked = []
    real = judge._ask
    monkeypatch.setattr(judge, "_ask", lambda a, b: asked.append((a, b)) or real(a, b))
    for _ in range(3):
        answer_classes([r"\sqrt{1234}+y", r"y+\sqrt{1234}", r"\sqrt{1235}+y"])
    assert len(asked) == len(set(asked)) > 0


def test_an_expression_on_which_the_child_was_lost_is_not_tried_again(monkeypatch):
    monkeypatch.setattr(judge, "_hopeless", set())
    lost = []

    def gone():
        lost.append(1)
        raise OSError("killed")

    monkeypatch.setattr(judge, "_child", None)
    monkeypatch.setattr(judge, "_start", gone)
    before = judge.given_up()
    assert answer_classes([f"z^{{{n}}}+w" for n in range(2, 30)]).max() == 27
    assert 1 <= len(lost) <= 3
    assert judge.given_up() > before


def test_a_comparison_that_takes_too_long_is_given_up_and_counted(monkeypatch):
    monkeypatch.setattr(judge, "_ask", lambda a, b: (judge_child.same(a, b), 0.1))
    monkeypatch.setattr(judge_child.signal, "setitimer", lambda *_: judge_child._too_long())  # at once
    before = judge.given_up()
    assert not same_expression(r"\sqrt{77}+v", r"v+\sqrt{77}")
    assert judge.given_up() == before + 1
