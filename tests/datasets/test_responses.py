"""Sampled answers: tables, halves, and files that bring them back."""

import math
import os
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adalib.datasets.files import DataError
from adalib.datasets.loading import load
from adalib.datasets.responses import Prices, Responses, first_vote_table, joined
from adalib.evaluate.crossfit import with_class_numbers
from adalib.sequential.streams import make_streams
from adalib.vote.estimators import majority


def responses(answers, gold="4", **more):
    n = len(answers)
    return Responses([str(i) for i in range(n)], ["?"] * n, [gold] * n, answers, **more)


def test_table():
    # Right are "4" and "4.0", one class of two; "5" is the other.
    mine = responses([["4", "5", "4.0"]])
    table = mine.table((1, 2, 3))
    assert table.acc == pytest.approx(np.array([[2 / 3, 2 / 3, 1.0]]))
    assert table.cost.tolist() == [1, 2, 3]
    assert table.budgets == (1, 2, 3)
    assert table.ids == ("0",)
    paid = responses([["4", "4"], ["5", "5"]], tokens=[[10, 20], [1, 3]]).table(
        (1, 2), cost="tokens"
    )
    assert paid.cost.tolist() == [[15, 30], [2, 4]]
    first = responses([["5", "4", "4", "5"], ["4", "5", "4", "5"]]).table(
        (1, 2), "windows", "first"
    )
    assert first.acc.tolist() == [[0.5, 0.5], [0.5, 1.0]]
    flags = responses([["4", "5", "5"]], correct=[[0, 1, 1]])  # they replace the comparison
    assert flags.table((1, 3)).acc == pytest.approx(np.array([[2 / 3, 1.0]]))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"budgets": (1, 4)}, "file.jsonl: has 2 answers per question, and budget 4"),
        ({"budgets": (1,), "cost": "tokens"}, "file.jsonl: has no tokens"),
        ({"budgets": (2, 1)}, "(2, 1)"),
        ({"budgets": (1,), "estimator": "all"}, "'all'"),
        ({"budgets": (1,), "ties": "last"}, "'last'"),
        ({"budgets": (1,), "cost": "money"}, "'money'"),
    ],
)
def test_table_refusals(arguments, says):
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z") as caught:
        responses([["4", "5"]], source="file.jsonl").table(**arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"questions": ["?"]}, "questions has 1 entries for 2 ids"),
        ({"extras": {"family": []}}, "family has 0 entries for 2 ids"),
        ({"answers": [["4"], ["4", "5"]]}, "question 'b' has 2 answers and the first 1"),
        ({"tokens": [[1, 2]]}, r"tokens has shape \(1, 2\); give \(2, 2\)"),
        ({"logprob": [[-1, np.nan], [0, 0]]}, "logprob"),
        ({"ids": ["a", "a"]}, "same id"),
        ({"ids": [], "questions": [], "golds": [], "answers": []}, "at least one question"),
    ],
)
def test_construction_is_checked(change, says):
    sound = {
        "ids": ["a", "b"],
        "questions": ["?", "?"],
        "golds": ["4", "4"],
        "answers": [["4", "5"], ["4", "5"]],
    }
    with pytest.raises(ValueError, match=says):
        Responses(**{**sound, **change})


FULL = Responses(
    ["a", "b", "c"],
    ["?", "??", "???"],
    ["1", "2", "3"],
    [[f"{q}{s}" for s in range(5)] for q in range(3)],
    levels=[1, 2, None],
    tokens=np.arange(15.0).reshape(3, 5),
    correct=np.arange(15).reshape(3, 5) % 2,
    logprob=-np.arange(15).reshape(3, 5) / 4,
    extras={
        "texts": [[f"t{q}{s}" for s in range(5)] for q in range(3)],
        "family": ["x", None, "z"],
    },
)


def assert_part(part, rows, places):
    """These questions of FULL, each with the answers at its places, and all that belongs to
    them."""
    for name in ("ids", "questions", "golds", "levels"):
        assert getattr(part, name) == [getattr(FULL, name)[row] for row in rows]
    assert part.extras["family"] == [FULL.extras["family"][row] for row in rows]
    for name in ("answers", "tokens", "correct", "logprob"):
        whole, own = getattr(FULL, name), getattr(part, name)
        expected = [[whole[row][p] for p in of] for row, of in zip(rows, places, strict=True)]
        assert np.array(own).tolist() == expected
    texts = [[f"t{answer}" for answer in row] for row in part.answers]
    assert part.extras["texts"] == texts


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0]), [-1, 0]])
def test_take(rows):
    assert_part(FULL.take(rows), [2, 0], [range(5)] * 2)
    assert FULL.take([True, False, True]).ids == ["a", "c"]


def test_split_samples_deals_everything_once():
    halves = FULL.split_samples(seed=0)
    assert [half.samples for half in halves] == [2, 3]
    places = [[[int(answer[1]) for answer in row] for row in half.answers] for half in halves]
    for half, own in zip(halves, places, strict=True):
        assert_part(half, range(3), own)
        assert own == [sorted(row) for row in own]
    assert [sorted(one + two) for one, two in zip(*places, strict=True)] == [[0, 1, 2, 3, 4]] * 3
    assert len({str(FULL.split_samples(seed)[0].answers) for seed in range(9)}) > 5
    with pytest.raises(DataError, match="sample at least two"):
        responses([["4"]]).split_samples(0)


def test_what_is_set_aside_can_be_joined_again():
    first, rest = FULL.set_aside(1)
    assert_part(first, range(3), [[1]] * 3)
    assert_part(rest, range(3), [[0, 2, 3, 4]] * 3)
    again = joined(first, rest)
    for name in ("answers", "values", "tokens", "logprob"):
        expected = [[row[p] for p in (1, 0, 2, 3, 4)] for row in getattr(FULL, name)]
        assert np.array(getattr(again, name)).tolist() == expected
    assert joined(replace(first, logprob=None), rest).logprob is None
    votes = with_class_numbers(FULL)
    for name in ("tokens", "logprob"):
        assert getattr(votes, name).tolist() == getattr(FULL, name).tolist()


@pytest.mark.parametrize("without", [0, 1])
def test_classes_of_a_part_are_no_classes_of_the_whole(without):
    parts = list(with_class_numbers(FULL).set_aside(1))
    assert all("classes" in part.extras for part in parts)
    assert joined(*parts).extras["classes"] == [[1, 0, 2, 3, 4]] * 3
    parts[without] = replace(parts[without], extras={})
    again = joined(*parts)
    assert "classes" not in again.extras
    np.testing.assert_array_equal(again.classes, replace(again, extras={}).classes)


def test_halves_have_the_classes_of_a_new_comparison():
    drawn = (
        np.random.default_rng(0).choice(["", "7", "1/2", "0.5", "8", "x"], size=(60, 9)).tolist()
    )
    names = [str(i) for i in range(60)]
    compared, fresh = (Responses(names, names, ["7"] * 60, drawn) for _ in range(2))
    assert compared.classes.max() > 2
    for one, two in zip(compared.split_samples(3), fresh.split_samples(3), strict=True):
        assert "classes" in one.__dict__
        np.testing.assert_array_equal(one.classes, two.classes)
        np.testing.assert_array_equal(one.values, two.values)


def same(one, two):
    for name in ("ids", "questions", "golds", "answers", "levels", "extras"):
        assert getattr(one, name) == getattr(two, name)
    for name in ("tokens", "correct", "logprob"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_was_saved_is_loaded(tmp_path, name):
    FULL.save(tmp_path / name)
    first = (tmp_path / name).read_bytes()
    same(load(tmp_path / name), FULL)
    FULL.save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert os.listdir(tmp_path) == [name]


texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), n=st.integers(1, 4), r=st.integers(1, 4))
def test_any_text_survives_a_file(tmp_path, data, n, r):
    def column(each):
        return data.draw(st.lists(each, min_size=n, max_size=n))

    samples = st.lists(texts, min_size=r, max_size=r)
    counts = st.lists(st.floats(0, 1e15), min_size=r, max_size=r)
    made = Responses(
        data.draw(st.lists(texts, min_size=n, max_size=n, unique=True)),
        column(texts),
        column(texts.filter(str.strip)),
        column(samples),
        levels=data.draw(st.none() | st.just([1] * n)),
        tokens=np.array(column(counts)),
        extras={"note": ["x", *column(plain)[1:]]},
    )
    made.save(tmp_path / "round.jsonl.gz")
    back = load(tmp_path / "round.jsonl.gz")
    same(back, made)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.jsonl"
    FULL.save(path)
    before = path.read_bytes()
    for bad in (math.nan, object(), {1, 2}):
        with pytest.raises(DataError, match="line 2"):
            responses([["4"], ["5"]], extras={"note": ["fine", bad]}).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["out.jsonl"]
    with pytest.raises(DataError, match="No such file or directory"):
        FULL.save(tmp_path / "gone" / "out.jsonl")


def test_save_through_a_link(tmp_path):
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    responses([["4"]], extras={"share": [np.array([0.5])], "size": [np.int64(3)]}).save(
        tmp_path / "link.jsonl"
    )
    assert (tmp_path / "link.jsonl").is_symlink()
    assert load(tmp_path / "real.jsonl").extras == {"share": [[0.5]], "size": [3]}


ANSWERS = st.sampled_from(["4", "8", "9", ""])


@given(st.lists(ANSWERS, min_size=4, max_size=7))
def test_every_vote_that_the_first_answer_opens(answers):
    """Brute force: all choices of b - 1 among the others."""
    acc = first_vote_table(*responses([answers]).set_aside(0), budgets=[1, 2, 3]).acc[0]
    for b, value in zip([1, 2, 3], acc, strict=True):
        votes = [
            majority([answers[0], *rest]).get("4", 0.0) for rest in combinations(answers[1:], b - 1)
        ]
        assert value == pytest.approx(np.mean(votes), abs=1e-9)


def test_first_answers_must_fit():
    for answers, sample in ((["7", "8", "9"], -1), (["7", "8"], 2), (["7"], 0)):
        with pytest.raises(
            DataError, match="at least two" if len(answers) == 1 else "give a place from 0"
        ):
            responses([answers]).set_aside(sample)
    first, rest = responses([["7", "8"]]).set_aside(0)
    for change in ({"ids": ["another"]}, {"answers": [["7", "8"]]}):
        with pytest.raises(ValueError, match="one per question"):
            joined(replace(first, **change), rest)


BILLED = replace(FULL, extras={"prompt_tokens": [100, 200, 300]})


def test_a_bill_counts_the_prompt_once_and_every_answer():
    """C(b) = p + b a for answers asked together, and b (p + a) one by one."""
    prices = Prices(input=2.0, output=8.0)
    answer = 8e-6 * np.array(FULL.tokens).mean(axis=1)
    prompt = 2e-6 * np.array([100, 200, 300])
    table = BILLED.table([1, 3, 5], cost=prices)
    np.testing.assert_allclose(table.cost, prompt[:, None] + np.outer(answer, [1, 3, 5]))
    alone = BILLED.answer_costs(prices)
    np.testing.assert_allclose(alone, prompt[:, None] + 8e-6 * np.array(FULL.tokens))
    streams = make_streams(BILLED, 5, repeats=1, cost=prices)
    np.testing.assert_allclose(streams.cost[:, -1], 5 * (prompt + answer))
    # What teaches and what scores knows the prompts, too, also with an answer set aside.
    votes = with_class_numbers(BILLED)
    first, rest = votes.set_aside(0)
    again = joined(first, rest)
    np.testing.assert_allclose(again.bill([2], prices), BILLED.bill([2], prices))
    np.testing.assert_array_equal(again.classes, FULL.classes)


def test_costs_may_be_numbers_of_ones_own():
    by_question = np.array([[1.0, 1.5], [1.0, 2.0], [3.0, 3.5]])
    assert FULL.table([1, 2], cost=[1.0, 1.2]).cost.tolist() == [1.0, 1.2]
    assert FULL.table([1, 2], cost=by_question).cost.tolist() == by_question.tolist()
    assert FULL.table([1, 4], cost=lambda b: 3 + 2 * b).cost.tolist() == [5, 11]
    with pytest.raises(ValueError, match="cost has shape"):
        FULL.table([1, 2], cost=[1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prices(1, 0), "dollars for a million"),
        (lambda: replace(FULL, tokens=None).table([1], cost=Prices(1, 1)), "has no tokens"),
        (lambda: FULL.table([1], cost=Prices(1, 1)), "has no prompt_tokens.*input be 0"),
        (lambda: FULL.answer_costs("dollars"), "'tokens' or Prices, got 'dollars'"),
    ],
)
def test_a_unit_that_cannot_be_held_is_refused_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_answers_are_shown_in_one_line():
    shown = repr(load("word-fewshot"))
    assert "372 questions, 96 answers each" in shown
    assert len(shown) < 300
