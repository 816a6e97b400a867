"""The teacher's pack: the question to ask a student, and its answer by other code."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import on_paper
import pytest
from conftest import ROOT

from adabook.homework import SHEETS, drawn_questions
from contents import keys, pages
from editions.lab_notebooks import Book, live_text
from editions.oral import _ASKED, oral_question
from editions.pack import keys_page, linked
from editions.text import read_works

SECRET = "a sentence that nobody guesses"
COST = [1, 2, 4, 8]


def number(text, pattern):
    return Fraction(re.search(pattern, text)[1])


def table(question):
    return [[Fraction(f"{value:.2f}") for value in row] for row in question.table]


def scan(question, asked, answer):
    """The first change above the price, among all slopes between two points."""
    acc, price = table(question), number(question.text, r"price ([\d.]+\d)")
    higher = [lam for lam in on_paper.changes(acc, COST) if lam > price]
    if not higher:
        assert "cheapest already" in answer
        return
    before, after = on_paper.oracle(acc, COST, price), on_paper.oracle(acc, COST, min(higher))
    who, low, high, at = re.match(r"([A-D]), from (\d) to (\d), at ([\d.]+):", answer).groups()
    row = "ABCD".index(who)
    assert (int(low), int(high)) == (COST[before[row]], COST[after[row]])
    assert low != high
    assert float(at) == pytest.approx(float(min(higher)), abs=1e-4)


def split(question, asked, answer):
    """The mixed plan that the answer names spends the budget, and reaches the bound."""
    acc, limit = table(question), number(question.text, r"average of (\d\.?\d*),")
    if answer.startswith("none"):
        return
    who, low, high, share = re.match(
        r"([A-D]), between (\d) and (\d); \d with chance ([\d.]+\d)\.", answer
    ).groups()
    columns = COST.index(int(low)), COST.index(int(high))
    row, share = "ABCD".index(who), Fraction(share)
    mixed = (1 - share) * acc[row][columns[0]] + share * acc[row][columns[1]]
    left = 4 * limit - (1 - share) * int(low) - share * int(high)
    others = [values for at, values in enumerate(acc) if at != row]
    reached = on_paper.whole(others, COST, left + Fraction(1, 1000))[0] + mixed
    assert float(reached / 4) == pytest.approx(float(on_paper.bound(acc, COST, limit)), abs=1e-4)


def slackness(question, asked, answer):
    acc, limit = table(question), number(question.text, r"budget of (\d\.?\d*) ")
    lam = on_paper.best_price(acc, COST, limit)
    assert float(number(answer, r"^([\d.]+):")) == pytest.approx(float(lam), abs=5e-5)


def subgradient(question, asked, answer):
    acc, limit = table(question), number(question.text, r"budget is (\d\.?\d*) ")
    price, lam = number(question.text, r"price ([\d.]+\d)"), number(answer, r"one, ([\d.]+\d):")
    least = on_paper.bound(acc, COST, limit)
    assert float(on_paper.dual(acc, COST, lam, limit) - least) == pytest.approx(0, abs=1e-3)
    assert ("higher" in answer) == (on_paper.best_price(acc, COST, limit) > price)


def curse(question, asked, answer):
    p, count = number(question.text, r"accuracy ([\d.]+\d);"), number(question.text, r"^(\d+) ")
    assert float(number(answer, r"^([\d.]+);")) == pytest.approx(
        float(1 - (1 - p) ** (count + 1) - p), abs=5e-5
    )


def equal_cost(question, asked, answer):
    cost = number(answer, r"^([\d.]+):")
    one, four = (
        number(question.text, pattern)
        for pattern in (r"scores ([\d.]+\d), four", r"four score ([\d.]+\d)")
    )
    accuracy = number(question.text, r"and scores ([\d.]+\d)")
    assert float(one + (cost - 1) / 3 * (four - one)) == pytest.approx(float(accuracy), abs=1e-3)


def whole(question, asked, answer):
    acc, limit = table(question), number(question.text, r"budget is (\d\.?\d*) ")
    given = [int(one) for one in re.findall(r"[A-D] gets (\d)", answer)]
    assert tuple(map(COST.index, given)) in on_paper.whole(acc, COST, 4 * limit)[1]
    assert number(answer, r": ([\d.]+) of") == 4 * limit - sum(given)


def log(question, asked, answer):
    rows = re.findall(r"^(\d+) +(\d) +([\d.]+) +([01]) +(\d)$", question.text, re.M)
    moves = {at: (got == mine) * int(right) / Fraction(p) / 8 for at, got, p, right, mine in rows}
    if not any(moves.values()):
        assert answer.startswith("None")
        return
    named = re.match(r"Row ([\d or]+),", answer)[1].split(" or ")
    assert named == [at for at, move in moves.items() if move == max(moves.values())]


def two_limits(question, asked, answer):
    rows = re.findall(r"^(\w+) +([\d.]+) +([\d.]+) +([\d.]+)$", question.text, re.M)
    shares = [number(answer, rf"{name} ([\d.]+\d)") for name, *_ in rows]
    assert float(sum(shares)) == pytest.approx(1, abs=2e-4)
    right = sum(share * Fraction(acc) for share, (_, acc, *_) in zip(shares, rows, strict=True))
    assert float(right) == pytest.approx(float(question.answer), abs=2e-4)


def tries(question, asked, answer):
    p, most = (
        number(question.text, pattern) for pattern in (r"chance ([\d.]+\d)", r"after (\d+) in")
    )
    rise, more = re.findall(r"0\.\d+", answer)
    assert float(rise) == pytest.approx(float((1 - p) ** most - (1 - p) ** (most + 1)), abs=5e-5)
    assert float(rise) / float(more) == pytest.approx(float(p), abs=0.02)


def rest(question, asked, answer):
    b, c, over = map(int, re.search(r"B gets (\d) and C gets (\d); (\d+)", answer).groups())
    acc = table(question)
    assert acc[1][COST.index(b)] + acc[2][COST.index(c)] == question.answer
    assert b + c + over == number(question.text, r"if (\d+) answers")


def cross_fit(question, asked, answer):
    rows = re.findall(r"^[A-C] +((?:[\d.]+ *){4})$", question.text, re.M)
    acc = [list(map(Fraction, row.split())) for row in rows]
    lam = number(question.text, r"price ([\d.]+\d)\?")
    for half, said in zip((acc[:3], acc[3:]), re.findall(r"0\.\d+", answer), strict=True):
        labels = on_paper.oracle(half, COST, lam)
        claim = on_paper.mean(row[at] for row, at in zip(half, labels, strict=True))
        assert float(said) == pytest.approx(float(claim), abs=5e-5)


SOLVED = {
    "bill": scan,
    "bound": split,
    "slackness": slackness,
    "subgradient": subgradient,
    "curse": curse,
    "equal cost": equal_cost,
    "whole": whole,
    "log": log,
    "two limits": two_limits,
    "tries": tries,
    "rest": rest,
    "cross-fit": cross_fit,
}


@pytest.mark.parametrize("name", _ASKED)
def test_the_question_to_ask_is_answered_rightly(name):
    for student in range(30):
        kind = next(kind for kind, names in SHEETS.items() if name in names)
        question = drawn_questions(f"student-{student}", SECRET, kind)[name]
        SOLVED[name](question, *_ASKED[name](question))


def test_a_class_is_asked_about_different_answers():
    sheets = [drawn_questions(f"student-{student}", SECRET) for student in range(60)]
    asked = Counter(re.search(r"\*([\w ]+)\*", oral_question(sheet)[0])[1] for sheet in sheets)
    assert set(asked) == set(_ASKED) & set(SHEETS["homework"])
    assert max(asked.values()) < 20
    assert oral_question(sheets[0]) == oral_question(sheets[0])


def test_links_of_the_pack_lead_to_pages_that_are_built():
    """Beside the pack, or at the book's address; none leads to a file that is not handed out."""
    by_key = keys(ROOT)
    book = Book({}, read_works(ROOT / "book" / "references.bib"), chapters=by_key)
    text = linked(live_text((ROOT / "book" / "syllabus.md").read_text("utf-8"), book), ROOT)
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert len(targets) > 5
    names = {f"../html/{page.name}.html" for page in pages(ROOT)}
    assert set(targets) <= names
    online = linked(live_text("{ch}`oracle`", book), ROOT, "https://a.example")
    assert "https://a.example/notebooks/02_oracle.html" in online


def test_every_kind_of_sheet_has_a_question_to_ask():
    for kind in SHEETS:
        asked, answer = oral_question(drawn_questions("ada", SECRET, kind))
        assert asked
        assert answer


def test_every_student_has_a_key_and_no_secret_is_printed():
    page = keys_page(["ada", "ben"], SECRET)
    assert page.count("**Ask:**") == 2
    assert SECRET not in page
    bound = float(drawn_questions("ben", SECRET)["bound"].answer)
    assert f"| bound | {round(bound, 5):g} |" in page.partition("## ben")[2]
