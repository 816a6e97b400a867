"""The paper's tables beside ours: what is printed, what it implies, and what noise features
give."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from conftest import ROOT

import adalib
from adabook import paper
from adabook.paper import results
from adabook.paper.results import TOLERANCE

MATH = "deepseek-v3-math"
RECORD = runpy.run_path(str(ROOT / "data" / "scripts" / "record_paper.py"))


@pytest.fixture(scope="module")
def main():
    return results.main_table()


def test_noise_features_reproduce_every_cell_of_the_main_table(main):
    assert len(main) == 5 * 4 * 3
    cell = main.query("setting == @MATH and method == 'Ours' and target == 3").iloc[0]
    assert (cell.printed_accuracy, cell.printed_cost) == (0.575, 2.73)
    assert cell.accuracy_diff == pytest.approx(cell.accuracy - 0.575)
    for part, room in TOLERANCE.items():
        assert main[f"{part}_diff"].abs().max() <= room
    assert main.within.all()


def test_the_printed_rows_lie_on_memory_or_a_little_above(main):
    """What the chapter "The test" reads off the table: no cell below, and half of them beyond
    what three rounded numbers can explain."""
    by = main.set_index(["setting", "target", "method"]).printed_accuracy.unstack()
    one_answer = main.query("method == 'Fixed' and target == 1.5").set_index("setting")
    one_answer = one_answer.printed_accuracy.reindex(by.index, level="setting")
    apart = (by["Ours"] - 0.8 * by["Oracle"] - 0.2 * one_answer).round(6)
    rounding = 0.0005 * (1 + 0.8 + 0.2)
    assert (len(apart), (apart < 0).sum(), (apart > 0).sum()) == (12, 0, 11)
    assert ((apart > rounding).sum(), apart.max() < 0.003) == (6, True)


def test_the_gap_is_the_difference_of_two_rows_of_the_main_table(main):
    gap = results.oracle_gap()
    assert len(gap) == 12
    by = main.set_index(["setting", "target", "method"]).accuracy
    for row in gap.itertuples():
        assert row.gap == pytest.approx(
            by[row.setting, row.target, "Oracle"] - by[row.setting, row.target, "Ours"]
        )
    assert gap.imitation.between(0.8, 1).all()


def test_the_bill_of_the_sixteenth_feature_comes_out_again():
    """The chapter "The paper" reads the row: the entropy of an answer that also opens the vote."""
    word = adalib.load("word-fewshot")
    first, rest = word.set_aside(0)
    sixteen = adalib.text_features(word.questions, first.entropy[:, 0])
    paid = adalib.PaidFeatures(sixteen, first=first)
    rows = adalib.held_out(rest, [2.0], features=paid, **RECORD["CURVE"])
    now = next(row for row in rows if row.policy == "curve")
    then = next(row for row in paper.recorded_rows("entropy reused") if row.target == 2)
    for part in ("cost", "accuracy", "gain", "gain_low"):
        assert getattr(now, part) == pytest.approx(getattr(then, part), abs=1e-9)


def test_the_recorded_main_table_is_the_one_that_is_computed_today():
    drawn = paper.paper_setting("qwen2.5-7b-math")
    table = results.main_table().set_index(["setting", "method", "target"])
    for row in paper.reconstructed(drawn, [2.0], features=adalib.noise_features(200)):
        then = table.loc["qwen2.5-7b-math", row.method, row.target]
        assert (row.accuracy, row.cost) == pytest.approx((then.accuracy, then.cost), abs=1e-12)


def test_ours_repeats_its_training_labels():
    """Scored on all questions, four fifths of the imitation is memory; text that is all alike
    leaves only the rest."""
    responses = paper.paper_setting("qwen2.5-7b-math")
    alike = paper.reconstructed(responses, [2], seeds=2, features=np.zeros((responses.n, 1)))
    ours = next(row for row in alike if row.method == "Ours")
    assert (ours.cost, ours.cost_std) == (1, 0)
    assert ours.imitation == pytest.approx(0.76, abs=0.05)  # the printed majority rate
    # At least one seed.
    with pytest.raises(ValueError, match="seeds is 0"):
        paper.reconstructed(adalib.flat_null(10).sample(16), [2], seeds=0)
