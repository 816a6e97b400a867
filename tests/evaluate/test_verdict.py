"""The verdict: which word it says, by hand, on worlds whose truth is known, and as it was recorded."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.evaluate.heldout import HeldOutRow
from adalib.evaluate.intervals import mean_interval, question_interval
from adalib.evaluate.recorded import recorded
from adalib.evaluate.verdict import judged, verdict

sys.path.insert(0, str(Path(__file__).parents[2] / "data"))
from record_intervals import TRIALS, WORLDS, gains_of, intervals, verdicts

LOOKS = [(policy, target) for target in (1.5, 3.0) for policy in ("oracle", "label", "curve", "noise")]


def made_up(gains, looks=LOOKS, families=False):
    """A row a look, all with the same gains or each with its own."""
    each = gains if callable(gains) else lambda: gains
    figures = {"cost": 2.0, "accuracy": 0.5, "low": 0.4, "high": 0.6, "mix_accuracy": 0.5, "gain": 0.0}
    rest = {"gain_low": 0.01, "gain_high": 0.1, "share": 2.54, "imitation": None, "majority": None}
    return [
        HeldOutRow(policy=policy, target=target, gains=each(), families=families, **figures, **rest)
        for policy, target in looks
    ]


@pytest.mark.parametrize(
    ("gains", "says"),
    [
        (np.tile([0.03, 0.05], 200), "Adaptive allocation pays here: use label at target 1.5 ("),
        (np.tile([0.01, -0.01], 500), "Adaptive allocation does not pay here: no gain reaches 1 points; at most label"),
        (np.tile([0.1, -0.1], 40), "Cannot tell with these 80 questions whether to allocate adaptively; about "),
        (np.zeros(80), "Cannot tell with these 80 questions whether to allocate adaptively; about "),
    ],
)
def test_each_of_three_words_by_hand(gains, says):
    """One policy is like another, so whatever is chosen, the gains and the intervals are known."""
    rows = made_up(gains)
    assert verdict(rows).startswith(says)
    (found,) = judged(rows)
    scored = np.random.default_rng(0).permutation(len(gains)) >= round(len(gains) / 3)
    alone = question_interval(gains[scored], level=1 - 0.05 / 2)
    assert (found.gain.low[0], found.gain.high[0]) == pytest.approx((alone.low, alone.high))
    assert "of what the" not in verdict(rows)  # a share of an oracle that gains little is no news


def test_the_number_of_questions_that_would_do_does():
    rng = np.random.default_rng(0)
    for gains in (np.zeros(80), rng.normal(0.01, 0.1, 200), rng.normal(0, 0.05, 60)):
        (found,) = judged(made_up(gains))
        assert found.word() == "cannot tell"
        times = found.needed / len(gains)
        assert found.word(times) != "cannot tell"
        assert found.word(times / 1.2) == "cannot tell"


def test_the_policy_is_chosen_on_some_questions_and_scored_on_others():
    """Forty policies that gain nothing: the best of them looks good on all questions, and its stated gain does not."""
    looks = [("oracle", 2.0), *((f"policy {j}", 2.0) for j in range(40))]
    told, best, wrong = [], [], 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = made_up(lambda rng=rng: rng.normal(0, 0.1, 100), looks)
        (found,) = judged(rows)
        told.append(found.gain.mean[0])
        best.append(max(row.gains.mean() for row in rows))
        wrong += not found.gain.low[0] <= 0 <= found.gain.high[0]
    assert found.rows[0].policy in verdict(rows)
    assert np.mean(best) > 0.015
    assert abs(np.mean(told)) < 4 * 0.1 / np.sqrt(67 * 200)
    assert wrong <= 10


def test_groups_get_students_interval():
    gains = np.random.default_rng(1).normal(0.02, 0.02, 31)
    (found,) = judged(made_up(gains, families=True))
    alone = mean_interval(found.gains[0], level=1 - 0.05 / 2)
    assert (found.gain.low[0], found.gain.high[0]) == pytest.approx((alone.low, alone.high))
    assert "a third of the groups chose" in verdict(made_up(gains, families=True))


@given(st.lists(st.floats(-1, 1), min_size=10, max_size=40))
def test_it_never_contradicts_its_own_interval(gains):
    (found,) = judged(made_up(np.array(gains)))
    assert (found.word() == "pays") == bool((found.gain.low > 0).any())
    assert (found.word() == "does not") == bool((found.gain.high < 0.01).all())
    assert not (found.word() == "pays" and np.max(gains) <= 0)


# On worlds whose truth is known.


@pytest.mark.parametrize("n", [40, 80, 120])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_false_claims_are_rare_where_small_gains_are_paid_for_by_rare_losses(n, share):
    """The true gain is 0; other seeds, losses and shares than the record has."""
    rng, loss = np.random.default_rng([n, int(100 * share)]), -0.7
    gain = -loss * share / (1 - share)

    def drawn():
        return np.where(rng.random(n) < share, loss, gain) + rng.normal(0, 0.01, n)

    looks = [(policy, target) for target in (1.5, 3.0) for policy in ("label", "curve", "priced", "priced_votes")]
    words = [{one.word() for one in judged(made_up(drawn, looks))} for _ in range(60)]
    assert np.mean(["pays" in word for word in words]) <= 0.05


def test_the_record_has_each_word_where_it_should_come():
    found = {name: {row["questions"]: row for row in recorded("intervals")[f"verdict: {name}"]} for name in TRIALS}
    for name, (_, ahead) in TRIALS.items():
        for row in found[name].values():
            assert row["holds"] >= 0.95
            if not ahead:
                assert row["pays"] <= 0.05
    assert found["everyone moves, one policy gains three"][400]["pays"] > 0.9
    assert found["everyone moves, one policy gains ten"][120]["pays"] > 0.9
    assert found["no gain: everyone moves by a point"][1200]["does not"] > 0.9
    assert found["nobody moves"][40]["cannot tell"] == 1


def test_a_part_of_the_record_comes_out_again():
    name = "rare losses: one in 20"
    again = {(row["questions"], row["method"]): row for row in intervals(name)}
    for row in recorded("intervals")[name]:
        assert again[row["questions"], row["method"]] == pytest.approx({k: v for k, v in row.items() if k != "part"})
    truth = gains_of("no gain: one in 10 moves", 200_000, np.random.default_rng(1)).mean(axis=0)
    assert np.abs(truth).max() < 0.003
    assert set(WORLDS) < set(recorded("intervals"))
    few = verdicts("nobody moves", samples=2)
    assert [row["cannot tell"] for row in few[:3]] == [1, 1, 1]


def test_a_verdict_needs_somebody_who_learns():
    with pytest.raises(ValueError, match="at least one learner"):
        verdict(made_up(np.zeros(10), looks=[("oracle", 2.0), ("noise", 2.0)]))
