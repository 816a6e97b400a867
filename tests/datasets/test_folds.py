"""Folds: no group is parted, sizes are as even as groups allow, and the order decides who goes
where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.datasets.folds import deal, group_numbers, seen_groups
from adalib.datasets.loading import load

members = st.lists(st.integers(0, 7), min_size=2, max_size=60).map(
    lambda groups: group_numbers(groups, len(groups))
)


@given(member=members, folds=st.integers(2, 9), seed=st.integers(0, 5))
def test_folds_are_even(member, folds, seed):
    fold = deal(member, folds, seed)
    sizes = np.bincount(member)
    assert all(np.unique(fold[member == group]).size == 1 for group in range(sizes.size))
    loads = np.bincount(fold, minlength=min(folds, sizes.size))
    assert loads.size == min(folds, sizes.size)
    assert loads.min() > 0
    # Whoever was put last on the fullest fold was put there when it was the emptiest.
    assert loads.max() - loads.min() <= sizes.max()
    np.testing.assert_array_equal(fold, deal(member, folds, seed))


def test_single_questions_are_dealt_in_turn():
    order = [4, 2, 0, 1, 3]
    fold = deal(range(5), 2, order=order)
    assert [fold[question] for question in order] == [0, 1, 0, 1, 0]
    shuffled = np.random.default_rng(3).permutation(11)
    assert deal(range(11), 4, seed=3)[shuffled].tolist() == [i % 4 for i in range(11)]


def test_group_numbers():
    assert group_numbers(["b", "a", "b", 1], 4).tolist() == [0, 1, 0, 2]
    assert group_numbers(["b", "a", "b", 1], 4, sort=True).tolist() == [2, 1, 2, 0]
    with pytest.raises(ValueError, match=r"\b2\b.*\b3\b"):
        group_numbers(["a", "b"], 3)
    with pytest.raises(ValueError, match="folds is 1"):
        deal(range(4), 1)


@pytest.mark.parametrize(
    ("name", "count", "where"),
    [("word-fewshot", 31, "ids"), ("story-qwen15", 32, "ids"), ("drill-fewshot", 6, "texts")],
)
def test_families_of_the_bundled_answers(name, count, where):
    answers = load(name)
    seen = seen_groups(answers.ids, answers.questions)
    assert (len(set(seen.labels)), seen.where) == (count, where)
    assert len(seen.labels) == answers.n
    assert str(count) in seen.warning
    assert any(repr(label) in seen.warning for label in seen.labels)


@pytest.mark.parametrize("name", ["gsm8k-qwen15", "gpqa-gpt-oss-20b", "aime-qwen3-14b"])
def test_no_false_alarm(name):
    answers = load(name)
    assert seen_groups(answers.ids, answers.questions) is None


def test_templates_are_seen_where_only_numbers_and_names_differ():
    names = ("Ann", "Bob", "Cleo", "Dev")
    texts = [
        f"{name} has {i} figs. How many figs does {name} have?" for i, name in enumerate(names)
    ]
    texts += [f"Divide {10 * i} by {i + 1}." for i in range(4)]
    ids = [str(i) for i in range(8)]
    labels = seen_groups(ids, texts).labels
    assert labels[:4] == [labels[0]] * 4
    assert labels[4:] == [labels[4]] * 4
    assert labels[0] != labels[4]
    # Copies, not relatives.
    assert seen_groups(ids, ["the same text"] * 4 + ["another"] * 4) is None
    near = ["How many? ", "how many?", " How  many?", "HOW MANY?"]
    assert seen_groups(ids, near + [f"{text} of 3" for text in near]) is None
