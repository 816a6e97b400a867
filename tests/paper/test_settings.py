"""The eight settings of the book."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adalib import paper
from adalib.paper import settings


def test_real_settings_are_loaded_and_the_others_simulated():
    assert (*settings.REAL, *paper.PAPER_SETTINGS) == settings.SETTINGS
    for name in settings.SETTINGS:
        assert settings.kind(name) == ("real" if settings.answers(name).samples == 96 else "simulated")


@pytest.mark.parametrize(("name", "way"), [("drill-fewshot", {}), ("qwen2.5-7b-math", paper.PAPER_WAY)])
def test_a_table_is_made_in_the_setting_s_own_way(name, way):
    table = settings.answers(name).table(**way)
    np.testing.assert_array_equal(settings.utility(name).acc, table.acc)
    np.testing.assert_array_equal(settings.path(name).lam, adalib.frontier(table.acc, table.cost).lam)


def test_shared_ties_would_make_two_answers_worth_one_and_the_paper_prints_otherwise():
    responses = paper.paper_setting("qwen2.5-7b-math")
    shared = responses.table(estimator="windows", ties="share").acc.mean(axis=0)
    assert shared[0] == pytest.approx(shared[1], abs=1e-12)
    # Fixed-b at the targets 1.5 and 2 is b = 1 and b = 2.
    one, two, _ = paper.PAPER["qwen2.5-7b-math"]["main"]["Fixed"]["accuracy"]
    assert (one, two) == (0.495, 0.491)
