"""The judge: right where it can be, the same on every machine, and never stuck."""

import logging
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import math_verify.parser
import numpy as np
import pytest
import sympy
from antlr4.atn.PredictionMode import PredictionMode
from hypothesis import given, settings
from hypothesis import strategies as st

from adalib.vote import judge
from adalib.vote.answers import answer_classes, judged, same_answer
from adalib.vote.formulas import _variable_at
from adalib.vote.judge import read, read_number

# What is given up, by the limit that it passes.
PASSED = {
    "a tower": [
        "9^9^9^9",
        "9^{9^{9^9}}",
        "[0,9^{1*9^{1*9^{9}}}]",
        "x^" * 20 + "x",
        "x_" * 50 + "x",
        r"e^{e^{e^{9}}}",
        "[0,((((9)!)!)!)]",
        "[0,(9^{9})!]",
    ],
    "a number too large to work out": [
        r"\sin(9^{99})",
        "((9^{99})^{99})^{99}",
        "2^{99999}+x",
        "x+12345!",
        "1e999999999+x",
        r"\binom{9^{99}}{99}",
    ],
    "a root that is no plain number": [r"\sqrt[9^{99}]{2}"],
    "brackets nested deeper than 8": [
        "(" * 40 + "x" + ")" * 40,
        r"\frac{" * 15 + "1" + "}{2}" * 15,
        "|" * 20 + "x" + "|" * 20,
    ],
    "more than 10 functions": [r"\sin" * 30 + "x"],
    "longer than 200 characters": [
        "+".join(["x"] * 1000),
        rf"\begin{{pmatrix}}{'1&' * 999}1\end{{pmatrix}}",
    ],
    "an operation that is not worked out": [
        r"\sum_{k=1}^{999}k",
        r"\Gamma(99999999)",
        r"x|_{x=9^{999}}",
        r"\begin{vmatrix}1&2\\3&4\end{vmatrix}",
    ],
    "Derivative, which is not worked out": [r"\frac{d}{dx}x^{9}"],
}
HOSTILE = {text: limit for limit, texts in PASSED.items() for text in texts}

SAME = [
    (r"\sqrt{50}", r"5\sqrt{2}"),
    (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}"),
    (r"\frac{x^2-1}{x-1}", "x+1"),
    (r"\sin(x)^{2}+\cos(x)^{2}+y", "1+y"),
    (r"\binom{5}{2}x", "10x"),
    (r"f(x+1)", "f(1+x)"),
    (r"1\pm\sqrt{2}", r"1+\sqrt{2},1-\sqrt{2}"),
    (r"\{1,2,3\}", r"\{3,\sqrt{4},1\}"),
    ("(1,2)", "1,2"),
    (r"[\frac{1}{2},\infty)", r"[\frac{2}{4},\infty)"),
    (r"(-\infty,2)\cup(2,\infty)", r"\mathbb{R}\setminus\{2\}"),
    (r"(0,2)\cup(1,3)", "(0,3)"),
    (r"(2,3)\cup(0,1)", r"(0,1)\cup(2,3)"),
    ("x>2", r"(2,\infty)"),
    (r"3<x\le4", "(3,4]"),
    ("2x+2y=10", "y+x=5"),
    ("x<y", "y>x"),
    ("x>2, y>3", "3<y, x>2"),
    ("x+y=3z", "3z"),
    (
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        r"\begin{pmatrix}1&\sqrt{4}\\3&\frac{8}{2}\end{pmatrix}",
    ),
    ("(x+1)^{99}(x+1)", "(x+1)^{100}"),
    (
        r"\frac{8}{49}\begin{pmatrix}2\\x\end{pmatrix}",
        r"\begin{pmatrix}16/49\\\frac{8x}{49}\end{pmatrix}",
    ),
]
DIFFERENT = [
    (r"\sqrt{x^2}", "x"),
    (r"\frac{1+\min(k^{2},1)}{4}", r"\frac{1}{2}"),
    ("(1,2)", "(2,1)"),
    ("(1,2)", "[1,2]"),
    (r"(0,1)\cup(1,2)", "(0,2)"),
    ("x<y", "y<x"),
    ("x+y=5", "x-y=5"),
    (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    ("(x+1)^{999}", "(1+x)^{998}"),
    (r"2\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}"),
    (r"e^{\pi\sqrt{163}}", "262537412640768744"),
    (r"\frac{1}{0}", r"\frac{2}{0}"),
]


def test_the_quick_parse_reads_what_the_full_one_reads(monkeypatch):
    texts = [text for pair in SAME + DIFFERENT for text in pair]
    quick = [read.__wrapped__(text) for text in texts]
    monkeypatch.setattr(judge, "in_two_stages", judge.full_parse)
    math_verify.parser.parse_latex_cached.cache_clear()
    assert quick == [read.__wrapped__(text) for text in texts]


@pytest.mark.parametrize(
    ("a", "b", "same"), [(*pair, True) for pair in SAME] + [(*pair, False) for pair in DIFFERENT]
)
def test_formulas(a, b, same):
    assert read(a).equals(read(b)) is same
    assert read(b).equals(read(a)) is same


def test_the_libraries_stay_as_they_were_for_others():
    before = (judge.PSParser.math, math_verify.parser.TIMEOUT_WARNING_SHOWN)
    for text in (r"\frac{1}{3}", r"\frac{1", "x^"):
        read.__wrapped__(text)
    after = (judge.PSParser.math, math_verify.parser.TIMEOUT_WARNING_SHOWN)
    assert before == after
    assert judge.PSParser.math.__module__.startswith("latex2sympy2_extended")


def test_the_quick_parse_is_for_our_own_thread(monkeypatch):
    modes = []

    def ask():
        interpreter = SimpleNamespace(predictionMode="as it was")
        judge.PSParser.math(SimpleNamespace(_interp=interpreter))

    monkeypatch.setattr(judge.PSParser, "math", judge.full_parse)
    monkeypatch.setattr(judge, "full_parse", lambda one: modes.append(one._interp.predictionMode))
    with judge._two_stages():
        other = threading.Thread(target=ask)
        other.start()
        other.join()
        ask()
    assert modes == ["as it was", PredictionMode.SLL]


def test_another_thread_is_answered_in_silence(capfd, caplog):
    answers = []
    with caplog.at_level(logging.DEBUG):
        thread = threading.Thread(
            target=lambda: answers.append(same_answer(r"\sqrt{98}", r"7\sqrt{2}"))
        )
        thread.start()
        thread.join()
    assert answers == [True]
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


@pytest.mark.parametrize(("hostile", "limit"), HOSTILE.items())
def test_hostile_formulas_are_given_up(hostile, limit):
    assert read(hostile).given_up == limit
    assert not read(hostile).equals(read(hostile))


def test_what_would_be_dear_is_refused_before_it_is_parsed(monkeypatch):
    """All limits but those on values are counts in the text: the parser is not asked."""
    monkeypatch.setattr(judge, "_parsed", None)
    read.cache_clear()
    on_values = {r"\sin(9^{99})", r"\frac{d}{dx}x^{9}", "((9^{99})^{99})^{99}"}
    assert all(read(text).given_up for text in HOSTILE if text not in on_values)


def test_what_is_given_up_is_told_by_question():
    classes, given_up = judged(["x+9^9^9^9", "x", "9^9^9^9+x", "x+9^9^9^9", r"\int x", "y"])
    assert classes.tolist() == [0, 1, 2, 0, 3, 4]
    assert given_up == {
        "x+9^9^9^9": "a tower",
        "9^9^9^9+x": "a tower",
        r"\int x": "an operation that is not worked out",
    }
    assert judged(["x+9^9^9^9"] * 3)[1] == {}  # nothing to compare


def test_all_formulas_of_a_question_share_one_count_of_work(monkeypatch):
    """Past the count, formulas are told apart by their letters."""
    texts = [text for k in range(20) for text in (f"x+{k}y", f"{k}y+x")]
    monkeypatch.setattr(judge, "WORK", 10 * judge.work("x+2y"))
    classes, given_up = judged(texts)
    assert np.bincount(classes).tolist() == [2] * 5 + [1] * 30
    assert len(given_up) == 30


def test_powers_are_compared_without_computer_algebra(monkeypatch):
    monkeypatch.setattr(judge, "read", None)  # nobody may be asked
    answers = [f"10^{{{n}}}" for n in range(400, 496)]
    assert len(set(answer_classes(answers).tolist())) == 96
    assert answer_classes(["10^{3}", "1000", "10^3"]).tolist() == [0, 0, 0]


CODE = """
import random, sys
from adalib.vote.answers import judged
answers = sys.argv[2:]
order = random.Random(int(sys.argv[1])).sample(range(len(answers)), len(answers))
for i in order:  # what was read before, and in which order, changes nothing
    judged([answers[i], "x+y"])
classes, given_up = judged(answers)
print(classes.tolist(), given_up)
"""


def test_another_process_in_another_order_finds_the_same():
    pairs = [answer for pair in SAME + DIFFERENT for answer in pair]
    answers = [*pairs[::3], *(text for text in HOSTILE if len(text) < 100), "7", "1/2"]
    there = subprocess.run(
        [sys.executable, "-c", CODE, "1", *answers],
        env={
            **os.environ,
            "PYTHONHASHSEED": "1",
            "PYTHONPATH": str(Path(judge.__file__).parents[2]),
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    classes, given_up = judged(answers)
    assert there == f"{classes.tolist()} {given_up}\n"
    assert there.count("tower") > 3


TREES = st.recursive(
    st.sampled_from(["1", "2", "3", "x", "y", r"\pi"]),
    lambda part: st.one_of(
        st.tuples(part, st.sampled_from("+-"), part).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(part, part).map(lambda t: rf"\frac{{{t[0]}}}{{{t[1]}}}"),
        st.tuples(part, part).map(lambda t: rf"{t[0]}\cdot{t[1]}"),
        part.map(lambda t: rf"({t})^{{2}}"),
        part.map(lambda t: rf"\sqrt{{{t}}}"),
    ),
    max_leaves=4,
)


def _exact(text):
    return sympy.simplify(
        math_verify.parse(f"${text}$", judge._LATEX, parsing_timeout=None)[0].doit()
    )


@settings(deadline=None, max_examples=40)
@given(TREES, TREES)
def test_small_formulas_agree_with_sympy(a, b):
    one, other = read(a), read(b)
    assert one.equals(other) == other.equals(one)
    assert one.equals(one) == bool(one.forms)
    if one.forms and other.forms:
        gap = sympy.simplify(_exact(a) - _exact(b))
        # Where simplifying does not settle it, a point that the judge did not look at does.
        point = {
            symbol: sympy.Rational(22, 7) + i
            for i, symbol in enumerate(sorted(gap.free_symbols, key=str))
        }
        assert one.equals(other) == (gap == 0 or abs(gap.evalf(30, subs=point)) < 1e-20)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.sampled_from(
            [text for pair in SAME + DIFFERENT for text in pair] + ["7", "3.5", "word", ""]
        )
    )
)
def test_the_classes_are_a_partition_that_the_order_does_not_change(answers):
    classes = answer_classes(answers)
    order = random.Random(len(answers)).sample(range(len(answers)), len(answers))
    other = answer_classes([answers[i] for i in order])
    for i, place in enumerate(order):
        for j, also in enumerate(order):
            assert (other[i] == other[j]) == (classes[place] == classes[also])


@given(st.fractions(), st.fractions())
def test_numbers_as_formulas_agree_only_where_they_are_equal(p, q):
    assert read_number(p).equals(read_number(q)) == (p == q)
    assert read_number(p).equals(read_number(p))


def test_variables_are_tried_where_logarithms_exist_and_inside_the_unit_circle():
    """A logarithm needs a positive number, and a geometric series one below 1."""
    first, second, third = (
        np.array([float(_variable_at(name, point)) for name in "abcdefghuvwxyz"])
        for point in range(3)
    )
    assert ((first >= 1) & (first < 2)).all()
    assert (np.abs(second) < 1).all()
    assert ((np.abs(third) >= 1) & (np.abs(third) < 2)).all()
    for signed in (second, third):
        assert {-1, 1} == set(np.sign(signed))
