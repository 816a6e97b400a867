"""Families of other people's rules, tuned to a budget."""

import numpy as np
import pytest

from adalib.datasets.populations import beta_population
from adalib.sequential.published_rules import PEERS, TunedRules, Window
from adalib.sequential.rules import stopping_points
from adalib.sequential.votes import count_votes


@pytest.mark.parametrize("name", PEERS)
def test_every_family_meets_its_budget(name):
    teach, score = beta_population(120, 1.5, 1.5).sample(48).split_samples(0)
    played = TunedRules(PEERS[name]).fit(teach).replay(score, [1.0, 1.5, 3.0])
    assert played.cost.mean(axis=0) == pytest.approx([1.0, 1.5, 3.0], rel=0.06)


def test_a_window_stops_where_all_of_it_agree():
    # Windows of three: the first has two answers, the second only one.
    classes = np.array([[0, 1, 1, 1, 1, 1, 0, 0, 0]])
    votes = count_votes(classes, np.zeros(classes.shape))
    assert stopping_points(Window(3), votes).tolist() == [5]
