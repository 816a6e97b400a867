"""The appendix's markets: the frontier against an independent solver, and the exercises' named mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import adalib
from adalib.teach.exercises import Exercise
from adalib.teach.exercises.appendix_markets import MARKETS, check
from adalib.teach.exercises.build import Build
from adalib.teach.exercises.prove import Proof


@pytest.mark.parametrize("name", MARKETS)
@pytest.mark.parametrize("share", [0.1, 0.35, 0.8])
def test_the_frontier_is_the_linear_program(name, share):
    values, cost = MARKETS[name]
    n, k = values.shape
    total = share * cost[:, -1].sum()
    rows = np.kron(np.eye(n), np.ones(k))
    best = -linprog(-values.ravel(), A_ub=cost.reshape(1, -1), b_ub=[total], A_eq=rows, b_eq=np.ones(n)).fun
    assert n * adalib.frontier(values, cost, any_scale=True).at(total / n).bound == pytest.approx(best)


def test_the_price_of_electricity_is_the_marginal_plants():
    assert check("demand", 48).right
    assert check("hurdle", "no number").right is False


def test_every_size_of_exercise_is_there():
    """What is built and proved is tried with its mistakes in test_ladder.py and test_proofs.py."""
    assert len(check.exercises) >= 5
    assert {Exercise, Build, Proof} == {type(exercise) for exercise in check.exercises.values()}


@pytest.mark.parametrize("name", [name for name, asked in check.exercises.items() if isinstance(asked, Exercise)])
def test_mistakes_have_names(name):
    exercise = check.exercises[name]
    assert check(name, exercise.truth()).right
    assert len(exercise.wrong) >= 3
    assert exercise.more
    for said, wrong in exercise.wrong.items():
        assert check(name, wrong()).hint == said
