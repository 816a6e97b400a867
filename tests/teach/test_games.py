"""The game of the welcome page: its numbers are the package's, and it plays by mouse, by key and by touch."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup

import adalib
from adalib.teach.games.spend import spend, spend_data


@pytest.fixture(scope="module")
def word():
    return adalib.load("word-fewshot")


def test_the_page_scores_as_the_package_does(word):
    data = spend_data(word, 2.0)
    seen, scored = (half.table() for half in word.split_samples(0))
    plan = np.array(data["oracle"])
    # The page shows the questions level by level; the averages know no order.
    assert np.mean(np.array(data["scored"])[np.arange(word.n), plan]) / 1e4 == pytest.approx(
        adalib.score_oracle(seen, scored, [2.0]).accuracy.mean(), abs=1e-4
    )
    assert data["oracle_accuracy"] == pytest.approx(adalib.score_oracle(seen, scored, [2.0]).accuracy.mean())
    assert np.array(data["budgets"])[plan].sum() <= data["total"] == 2 * word.n
    mix = adalib.best_mix(seen.acc, seen.cost, 2.0)
    assert data["mix_accuracy"] == pytest.approx(mix.expected(scored.acc).mean())
    assert data["levels"] == sorted(data["levels"])


def test_questions_are_data_on_the_page(word):
    hostile = adalib.Responses(["a"], ["</script><script>alert(1)</script>"], ["7"], [["7"] * 16 + ["8"] * 16])
    page = BeautifulSoup(spend(hostile).html, "html.parser")
    (script,) = page.find_all("script")
    assert json.loads(script.string)["questions"] == ["</script><script>alert(1)</script>"]
