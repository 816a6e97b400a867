"""The paper's tables beside ours: what is printed, what it implies, and what noise features
give."""

from __future__ import annotations

import runpy

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import adalib
from adabook import paper
from adabook.paper import ablations, results, settings
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
    laid = results.beside(main, "accuracy")
    assert laid.iloc[0]["B = 1.5"].split("→")[0].strip() == "0.518"


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


# As printed in an independent reading of the same tables: setting, then three targets each.
IMPLIED = {
    "held_out_imitation": [
        0.865,
        0.725,
        0.665,
        0.790,
        0.690,
        0.560,
        0.825,
        0.710,
        0.640,
        0.925,
        0.885,
        0.885,
    ],
    "majority": [0.86, 0.77, 0.69, 0.82, 0.73, 0.63, 0.84, 0.76, 0.66, 0.92, 0.91, 0.91],
    "held_out_accuracy": [
        0.530,
        0.526,
        0.531,
        0.477,
        0.480,
        0.478,
        0.501,
        0.501,
        0.498,
        0.946,
        0.949,
        0.949,
    ],
    "held_out_cost": [1.21, 1.55, 1.57, 1.19, 1.45, 2.17, 1.12, 1.37, 1.56, 1.23, 1.34, 1.34],
    "gain": [0.010, 0.002, 0.007, 0.001, 0.002, -0.006, 0.004, 0.001, -0.005, -0.001, 0.002, 0.002],
}


def test_what_the_printed_tables_imply_for_held_out_questions():
    implied = results.implied_held_out()
    for column, read in IMPLIED.items():
        digits = 2 if column in ("majority", "held_out_cost") else 3
        assert implied[column].round(digits).tolist() == pytest.approx(read), column
    assert implied.gain.mean() == pytest.approx(0.0015, abs=5e-5)
    assert (implied.held_out_imitation < implied.majority).sum() == 10
    assert (implied.accuracy - implied.accuracy_if).abs().max() == pytest.approx(0.0026, abs=5e-5)
    assert (implied.imitation - implied.imitation_if).abs().max() == pytest.approx(0.014, abs=5e-4)


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


def test_recorded_classifiers_predict_as_those_trained_today():
    pooled = ablations.real_pool(("math-qwen15", "math-qwen05"), adalib.noise_features(300, 15))
    then = ablations.recorded_comparison("MATH, noise by row", pooled, "row")
    for run in ablations.classifiers(pooled, "row", 1, ("logistic", "gbm")).split_runs:
        same = next(t for t in then.split_runs if (t.classifier, t.number) == (run.classifier, 0))
        assert same.rows.tolist() == run.rows.tolist()
        assert same.predicted.tolist() == run.predicted.tolist()


def test_a_recorded_learning_curve_is_the_one_that_is_trained_today():
    now = ablations.learning_curve(
        settings.utility("math-qwen15"), adalib.noise_features(300), [2.0], (0.2,), seeds=2
    )
    then = ablations.recorded_curve("math-qwen15", [2.0], (0.2,), seeds=2)
    pd.testing.assert_frame_equal(now, then, rtol=0, atol=1e-12)


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
