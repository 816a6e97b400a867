"""Why a text helps: what it explains of an improvement, in known worlds and in the record."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import record_texts
from record_texts import DEALS, explained, in_points, sets, spread

from adabook.recorded import recorded
from adalib.datasets.responses import QuestionWithFeatures


def world(rise, hard, seen):
    """Answers whose accuracies are known and whose texts have these two numbers."""
    acc = np.column_stack([1 - hard, 1 - hard + rise])
    texts = [QuestionWithFeatures(f"q{i}", [*row, *[0.0] * 13]) for i, row in enumerate(seen)]
    return SimpleNamespace(
        n=len(rise), questions=texts, table=lambda _: SimpleNamespace(acc=acc), source="a world"
    )


@pytest.fixture
def known():
    rng = np.random.default_rng(0)
    hard = rng.random(600)
    hump = 0.8 * hard * (1 - hard)  # without a rank correlation worth the name
    return rng, hard, hump


def test_a_hump_is_explained_by_the_difficulty_that_a_text_tells(known):
    rng, hard, hump = known
    seen = np.column_stack([hard, rng.random(600)])
    found = explained(world(hump, hard, seen), None)
    assert found["told"] > 0.98
    assert found["difficulty"] == pytest.approx(hump.var(), rel=0.1)
    assert found["text"] == pytest.approx(found["difficulty"], rel=0.05)


def test_what_difficulty_does_not_explain_the_rest_of_the_text_may(known):
    rng, hard, _ = known
    other = rng.random(600)
    found = explained(world(0.2 * other, hard, np.column_stack([hard, other])), None)
    assert found["difficulty"] == pytest.approx(0, abs=0.05 * np.var(0.2 * other))
    assert found["text"] == pytest.approx(np.var(0.2 * other), rel=0.1)


def test_random_numbers_explain_nothing(known):
    rng, hard, hump = known
    found = explained(world(hump, hard, rng.random((600, 2))), None)
    assert found["told"] < 0.02
    assert max(found["difficulty"], found["text"]) < 0.02 * hump.var()


def test_a_variance_in_points_keeps_its_sign():
    assert in_points(0.0004) == pytest.approx(2)
    assert in_points(-0.0001) == pytest.approx(-1)


def test_what_is_recorded_of_a_set_is_what_is_computed():
    (one,) = (one for one in sets() if one.name == "word-qwen15")
    (row,) = recorded("texts")[one.name]
    found = [explained(one.answers(), one.groups, seed) for seed in DEALS]
    for what in ("difficulty", "text"):
        again = in_points(float(np.mean([part[what] for part in found])))
        assert row[what] == pytest.approx(again, abs=0.02)
    assert row["spread"] == pytest.approx(spread(one.answers()), abs=1e-3)


def test_gains_that_the_policies_have_recorded_are_those():
    (one,) = (one for one in sets() if one.name == "gsm8k-gpt4omini")
    gain, _ = record_texts.learned(one, DEALS)
    (row,) = recorded("texts")[one.name]
    assert row["gain"] == pytest.approx(100 * gain.mean, abs=1e-3)
    assert {row["use"] for (row,) in recorded("texts").values()} == {"made", "tried"}
