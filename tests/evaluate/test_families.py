"""Families that ids and texts show, on the bundled answers and on worlds whose truth is known."""

import numpy as np
import pytest

import adalib
from adalib.evaluate.families import seen_groups
from adalib.evaluate.scores import HeldOutRow, _group_values
from adalib.evaluate.verdict import judged, verdict


@pytest.mark.parametrize(
    ("name", "count", "where"),
    [("word-fewshot", 31, "ids"), ("story-qwen15", 32, "ids"), ("drill-fewshot", 6, "texts")],
)
def test_families_of_the_bundled_answers(name, count, where):
    answers = adalib.load(name)
    seen = seen_groups(answers.ids, answers.questions)
    assert (len(set(seen.labels)), seen.where) == (count, where)
    assert len(seen.labels) == answers.n
    assert str(count) in seen.warning
    assert any(repr(label) in seen.warning for label in seen.labels)


@pytest.mark.parametrize(
    "name", ["gsm8k-qwen15", "math-qwen15", "gpqa-gpt-oss-20b", "aime-qwen3-14b"]
)
def test_no_false_alarm(name):
    answers = adalib.load(name)
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
    unlike = [
        f"{word} of a kind" for word in ("one", "two", "three", "four", "five", "six", "a", "b")
    ]
    assert seen_groups(ids, unlike) is None
    assert (
        seen_groups(ids, ["the same text"] * 4 + ["another"] * 4) is None
    )  # copies, not relatives


def rows_of(gains, families):
    """Two policies at one target that gain the same on every question or group."""
    figures = dict.fromkeys(("cost", "accuracy", "low", "high", "mix_accuracy", "gain"), 0.5)
    nothing = dict.fromkeys(("gain_low", "gain_high", "share", "imitation", "majority"))
    return [
        HeldOutRow(policy=name, target=2.0, gains=gains, families=families, **figures, **nothing)
        for name in ("label", "curve")
    ]


def test_false_claims_fall_to_their_level_where_families_gain_or_lose_together():
    """Families of 12 whose gains have mean zero: by question "pays" is claimed far too often."""
    claims = {"question": 0, "group": 0}
    worlds = 200
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        family = np.repeat(np.arange(31), 12)
        gains = rng.normal(0, 0.1, 31)[family] + rng.normal(0, 0.1, family.size)
        by_question = rows_of(gains, families=False)
        by_group = rows_of(_group_values(gains, family), families=True)
        claims["question"] += judged(by_question)[0].word() == "pays"
        claims["group"] += judged(by_group)[0].word() == "pays"
    assert claims["question"] > 0.15 * worlds
    assert claims["group"] <= 0.05 * worlds


def test_both_verdicts_stand_side_by_side():
    by_question = rows_of(np.full(400, 0.05), families=False)
    few = rows_of(np.full(31, 0.05), families=True)
    many = rows_of(np.full(400, 0.05), families=True)
    assert judged(by_question)[0].word() == judged(many)[0].word() == "pays"
    assert judged(few)[0].word() == "cannot tell"
    text = verdict(by_question, groups=few)
    assert text.startswith(verdict(by_question))
    assert "31 groups" in text
    assert "60 groups" in text
    assert "60 groups" not in verdict(by_question, groups=many)
    assert "60 groups" in verdict(few)
