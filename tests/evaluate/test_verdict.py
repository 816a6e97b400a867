"""The verdict: which word it says, by hand, on worlds whose truth is known, and as it was
recorded."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_intervals import TRIALS, WORLDS, bounds, verdicts
from record_intervals import judgements as simulated

from adabook.recorded import recorded
from adalib.datasets.populations import flat_null
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import guarded_bound, mean_interval
from adalib.evaluate.scores import HeldOutRow
from adalib.evaluate.verdict import WRONG, judgements, reasons, summary, verdict

LOOKS = [
    (policy, target) for target in (1.5, 3.0) for policy in ("oracle", "label", "curve", "noise")
]


KINDS = {"oracle": "baseline", "noise": "baseline", "priced": "watches"}


def made_up(gains, looks=LOOKS, families=False, largest=1.0):
    """One row per look, all with the same gains or each with its own."""
    each = gains if callable(gains) else lambda: gains
    figures = {"cost": 2.0, "accuracy": 0.5, "low": 0.4, "high": 0.6, "mix_accuracy": 0.5}
    rest = {"share": 2.54, "imitation": None, "majority": None}
    rows = []
    for policy, target in looks:
        own = each()
        found = mean_interval(own)
        ends = {"gain": found.mean, "gain_low": found.low, "gain_high": found.high}
        size = {"families": families, "largest": largest}
        size["kind"] = KINDS.get(policy, "plans")
        row = HeldOutRow(policy=policy, target=target, gains=own, **size, **figures, **ends, **rest)
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    ("gains", "word", "says"),
    [
        (np.tile([0.03, 0.05], 200), "pays", "gains +4.00 points"),
        (np.tile([0.01, -0.01], 500), "does not pay", "no gain reaches 1 point;"),
        (np.tile([0.1, -0.1], 40), "cannot tell", "may be chance"),
        # Student's interval would be a single point
        (np.full(60, 0.02), "cannot tell", "these 60 may lack a rare kind of question"),
    ],
)
def test_each_of_three_words_by_hand(gains, word, says):
    """All policies are alike, so whichever is chosen, the gains and the bounds are known."""
    rows = made_up(gains)
    told = verdict(rows)
    assert told.word == word
    assert says in str(told)
    shown = mean_interval(gains)
    assert (told.gain, told.low, told.high) == pytest.approx((shown.mean, shown.low, shown.high))
    (found,) = judgements(rows)
    scored = found.best_gains
    assert len(scored) >= 0.9 * len(gains)
    student = mean_interval(scored)
    assert (found.gain.low, found.gain.high) == pytest.approx((student.low, student.high))
    assert found.least == pytest.approx(guarded_bound(scored, WRONG))
    assert found.most[0] == pytest.approx(-guarded_bound(-scored, WRONG))


def test_the_luckiest_of_many_is_not_told_as_chance():
    """Its interval is above zero; the gains of those that led before it are not."""
    looks = [(f"policy {j}", 2.0) for j in range(40)]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        told = verdict(made_up(lambda rng=rng: rng.normal(0, 0.3, 300), looks))
        if told.low > 0:
            break
    assert told.word == "cannot tell"
    assert "the best of 40 tries" in str(told)


@given(st.integers(0, 10_000), st.floats(-0.03, 0.05), st.floats(0.0, 0.2))
def test_no_verdict_contradicts_its_interval(seed, mean, spread):
    rng = np.random.default_rng(seed)
    told = verdict(made_up(lambda: rng.normal(mean, spread, 120)))
    assert told.low - 1e-12 <= told.gain <= told.high + 1e-12
    assert told.low > 0 or told.word != "pays"
    if told.word == "does not pay":
        assert ("best of" in str(told)) == (told.high >= 0.01)


def test_every_question_is_scored_by_the_policy_that_led_before_it():
    """No two gains are equal, so each scored gain says whose it is, and of which question."""
    rng = np.random.default_rng(5)
    rows = made_up(lambda: rng.normal(0.0, 0.2, 50))
    (found,) = judgements(rows)
    tried = [row for row in rows if row.policy in ("label", "curve")]
    gains = np.array([row.gains for row in tried])
    leaders, order = zip(*(np.argwhere(gains == gain)[0] for gain in found.best_gains), strict=True)
    before = sorted(set(range(50)) - set(order))
    assert 1 <= len(before) <= 5  # what the first choice rests on is not scored
    assert list(order) != sorted(order)  # a file may begin with its easy questions
    for leader, question in zip(leaders, order, strict=True):
        assert leader == gains[:, before].sum(axis=1).argmax()
        before.append(question)
    assert len(before) == 50
    assert found.rows[found.best] is tried[gains.mean(axis=1).argmax()]


def test_the_number_of_questions_that_would_do_does():
    rng = np.random.default_rng(0)
    for gains in (np.zeros(80), rng.normal(0.01, 0.1, 200), rng.normal(0, 0.05, 60)):
        (found,) = judgements(made_up(gains))
        assert found.word == "cannot tell"
        times = found.needed / len(gains)
        assert found.word_of(times) != "cannot tell"
        assert found.word_of(times / 1.2) == "cannot tell"


def test_choice_and_score_are_separate():
    """Forty policies without a gain: the best looks good on all questions; its stated gain does
    not."""
    looks = [("oracle", 2.0), *((f"policy {j}", 2.0) for j in range(40))]
    stated, best, claims = [], [], 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = made_up(lambda rng=rng: rng.normal(0, 0.3, 300), looks)
        (found,) = judgements(rows)
        stated.append(found.gain.mean)
        best.append(max(row.gains.mean() for row in rows))
        claims += found.word == "pays"
    assert found.rows[0].policy in str(verdict(rows))
    assert np.mean(best) > 0.03
    assert abs(np.mean(stated)) < 4 * 0.3 / np.sqrt(285 * 60)
    assert claims <= 6  # 5% and two standard deviations


def test_other_targets_are_tested_by_themselves():
    looks = [("curve", 1.5), ("curve", 2.0), ("curve", 3.0)]
    gains = iter([np.zeros(400), np.full(400, 0.05), np.full(400, 0.08)])
    rows = made_up(lambda: next(gains), looks)
    (found,) = judgements(rows)
    assert found.paying == [2, 1]
    assert "curve at target 3 gains +8.00 points [+8.00, +8.00] over" in str(verdict(rows))
    assert found.points(2) == "+8.00 [+8.00, +8.00]"  # what the row says, and no second number
    method, others = reasons(verdict(rows)).split("It pays too")
    pays_too, not_shown = others.split("Not shown")
    assert "curve at target 2 gains +5.00" in pays_too
    assert "curve at target 1.5 gains +0.00" in not_shown
    assert "target 3 " not in others
    assert re.search(r"380 questions\b.*\b0\.8%.*\(0\.8 points\)", method)


def test_other_targets_share_the_chance_of_a_false_claim():
    """A gain that one test would find, and a third of its chance of error does not."""
    drawn = np.random.default_rng(2).normal(0.0, 0.1, 400)
    bounds = [guarded_bound(drawn, chance) for chance in (WRONG, WRONG / 3)]
    between = drawn - np.mean(bounds)
    gains = iter([between, np.full(400, 0.08), between])
    rows = made_up(lambda: next(gains), [("curve", 1.5), ("curve", 2.0), ("curve", 3.0)])
    (found,) = judgements(rows)
    assert (guarded_bound(found.gains, WRONG) > 0).all()
    assert found.paying == [1]


def test_before_asking_pays_only_if_anything_does():
    looks = [("curve", 2.0), ("priced", 2.0)]
    small, large = np.full(400, 0.03), np.full(400, 0.05)
    lucky = np.tile([0.9, -0.9], 200) + 0.031  # leads now and then, and decides nothing
    for first, second, word in (
        (small, large, "Deciding before asking pays too: curve"),
        (small, lucky, "Deciding before asking may or may not pay (too few questions): curve"),
    ):
        gains = iter([first, second])
        rows = made_up(lambda gains=gains: next(gains), looks)
        main, before = judgements(rows)
        assert before.word == ("pays" if main.word == "pays" else "cannot tell")
        assert word in reasons(verdict(rows))


def test_groups_know_the_largest_of_them():
    gains = np.random.default_rng(1).normal(0.2, 0.02, 31)
    (equal,) = judgements(made_up(gains, families=True))
    (unequal,) = judgements(made_up(gains, families=True, largest=4.0))
    scored = equal.best_gains
    assert set(scored) < set(gains)
    assert equal.least == pytest.approx(guarded_bound(scored, WRONG))
    assert unequal.least == pytest.approx(guarded_bound(scored, WRONG, most=4.0))
    assert (equal.word, unequal.word) == ("pays", "cannot tell")
    assert " groups " in reasons(verdict(made_up(gains, families=True)))


def test_held_out_says_how_large_the_largest_group_is():
    groups = [0] * 20 + list(range(1, 21))
    rows = held_out(
        flat_null(40).sample(8), [2], (1, 4), noises=0, protocol=Protocol(folds=2, groups=groups)
    )
    assert [row.largest for row in rows] == pytest.approx([20 * 21 / 40] * len(rows))
    assert len(rows[0].gains) == 21
    assert len(summary(verdict(rows))) == 1


@given(st.lists(st.floats(-1, 1), min_size=10, max_size=40))
def test_words_follow_from_bounds(gains):
    (found,) = judgements(made_up(np.array(gains)))
    assert (found.word == "pays") == (found.least > 0 and mean_interval(gains).low > 0)
    if found.word != "pays":
        assert (found.word == "does not pay") == bool((found.most < 0.01).all())


def test_a_part_of_the_record_comes_out_again():
    name = "small gains, 1 in 25 loses 90 points"
    again = {(row["questions"], row["method"]): row for row in bounds(name)}
    for row in recorded("intervals")[name]:
        assert again[row["questions"], row["method"]] == pytest.approx(
            {k: v for k, v in row.items() if k != "part"}
        )
    assert set(WORLDS) < set(recorded("intervals"))
    few = verdicts("nothing moves", samples=2)
    assert [row["cannot tell"] for row in few[:3]] == [1, 1, 1]


def test_the_bound_of_the_verdict_claims_few_gains_that_are_none_and_most_that_are():
    """Of the bounds that keep to 5% in every world, none finds more."""
    found = pd.DataFrame([row for name in WORLDS for row in recorded("intervals")[name]])
    truths = found.part.map({name: truth for name, (_, truth) in WORLDS.items()})
    worst = found[truths <= 0].groupby("method").pays.max()
    power = found[truths > 0].groupby("method").pays.mean()
    honest = worst.index[worst <= 0.05]
    assert "one precaution at a time" in honest
    assert "Student's t" not in honest
    assert power[honest].idxmax() == "one precaution at a time"


def test_the_recorded_verdicts_keep_their_promise():
    """At most 5% false claims in every world, and the power that the appendix states."""
    found = {
        name: {row["questions"]: row for row in recorded("intervals")[f"verdict: {name}"]}
        for name in TRIALS
    }
    for name, trial in TRIALS.items():
        for row in found[name].values():
            assert row["named falsely"] <= 0.05, name
            assert trial.ahead or row["pays"] <= 0.05, name
    world = "all move by 15 points, gain of 2"
    again = [one.word == "pays" for one in simulated(world, 300, 200)]
    stated = found[world][300]["pays"]
    assert np.mean(again) == pytest.approx(stated, abs=0.1)  # three standard errors of 200


def test_a_verdict_needs_somebody_who_learns():
    with pytest.raises(ValueError, match="at least one learner"):
        verdict(made_up(np.zeros(10), looks=[("oracle", 2.0), ("noise", 2.0)]))


LEARNERS = [("label", 2.0), ("curve", 2.0)]


def test_both_verdicts_stand_side_by_side():
    by_question = made_up(np.full(400, 0.05), LEARNERS)
    few = made_up(np.full(31, 0.05), LEARNERS, families=True)
    many = made_up(np.full(400, 0.05), LEARNERS, families=True)
    assert judgements(by_question)[0].word == judgements(many)[0].word == "pays"
    assert judgements(few)[0].word == "cannot tell"
    # Two sentences where groups change the answer, one where they do not.
    alone, with_few = verdict(by_question), verdict(by_question, groups=few)
    with_many = verdict(by_question, groups=many)
    assert str(with_few).startswith(str(alone))
    assert "to be 31 here, it may or may not pay: " in str(with_few)
    assert "these 31 may lack a rare kind of group" in str(with_few)
    assert str(with_many) == str(alone)
    assert "to be 400 here, it pays: " in reasons(with_many)
    assert "60 groups" in reasons(with_few)
    assert "60 groups" not in reasons(with_many)
    assert "60 groups" in reasons(verdict(few))
