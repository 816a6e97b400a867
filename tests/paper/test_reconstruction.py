"""The paper's protocol as we reconstruct it, against its printed table."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adalib import paper
from adalib.evaluate.heldout import as_table


@pytest.fixture(scope="module")
def rows():
    responses = paper.paper_setting("deepseek-v3-math")
    return paper.reconstructed(responses, [1.5, 2, 3], features=adalib.noise_features(responses.n))


def test_noise_reproduces_the_paper_s_table_by_its_protocol(rows):
    """No feature knows anything, and still every cell is the printed one: the protocol made it."""
    printed = paper.PAPER["deepseek-v3-math"]["main"]
    for method in ("Fixed", "Random", "Ours", "Oracle"):
        told = [row for row in rows if row.method == method]
        assert [row.accuracy for row in told] == pytest.approx(printed[method]["accuracy"], abs=0.02)
        assert [row.cost for row in told] == pytest.approx(printed[method]["cost"], abs=0.3)


def test_the_paper_s_rows_are_in_sample(rows):
    table = as_table(rows).set_index(["method", "target"])
    assert (table["protocol"] == "our reconstruction").all()
    assert list(dict.fromkeys(row.method for row in rows)) == ["Fixed", "Random", "Heuristic", "Ours", "Oracle"]
    assert (table.loc["Oracle", "accuracy"] >= table.loc["Ours", "accuracy"]).all()
    assert (table.loc["Ours", "imitation"] > 0.85).all()
    assert table.loc["Oracle", "imitation"].isna().all()
    assert (table.loc[["Fixed", "Oracle"], ["accuracy_std", "cost_std"]] == 0).all(axis=None)
    # Printed costs of the length heuristic, which depend on nothing but the number of questions.
    assert table.loc["Heuristic", "cost"].tolist() == [1.525, 2.05, 3.025]


def test_ours_repeats_its_training_labels():
    """Scored on all questions, four fifths of the imitation is memory; text that is all alike leaves only the rest."""
    responses = paper.paper_setting("qwen2.5-7b-math")
    alike = paper.reconstructed(responses, [2], seeds=2, features=np.zeros((responses.n, 1)))
    ours = next(row for row in alike if row.method == "Ours")
    assert (ours.cost, ours.cost_std) == (1, 0)
    assert ours.imitation == pytest.approx(0.76, abs=0.05)  # the printed majority rate


def test_at_least_one_seed():
    with pytest.raises(ValueError, match="seeds is 0"):
        paper.reconstructed(adalib.flat_null(10).sample(16), [2], seeds=0)
