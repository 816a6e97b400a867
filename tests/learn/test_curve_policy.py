"""The curve policy: against least squares by hand, and populations whose curves are known."""

import numpy as np
import pytest
from random_tables import known_curves
from sklearn.linear_model import LinearRegression
from xgboost import XGBRegressor

import adalib
from adalib.datasets.populations import two_answer
from adalib.evaluate.baselines import best_mix
from adalib.learn.curve_policy import CurvePolicy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, oracle_labels

COST = np.array([1.0, 2, 4, 8, 16])
SEEN = 300  # training questions of the population below


@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 5), (2, 2), (4, 1), (4, 5)])
def test_curves_of_very_few_questions(n, k):
    acc = np.random.default_rng(n).random((n, k))
    policy = CurvePolicy().fit(np.arange(2.0 * n).reshape(n, 2), acc, COST[:k], budget=16)
    curves = policy.curves([[0.0, 1.0], [5.0, 5.0]])
    assert curves.shape == (2, k)
    assert ((curves >= 0) & (curves <= 1)).all()
    assert policy.predict(np.zeros((0, 2))).shape == (0,)


def test_curves_that_features_determine_are_recovered():
    features, acc = known_curves()
    policy = CurvePolicy().fit(features[:SEEN], acc[:SEEN], COST)
    test = slice(SEEN, None)
    assert np.abs(policy.curves(features[test]) - acc[test]).mean() < 0.02
    for budget in (1.5, 2, 3, 6):  # one model, every budget
        labels = policy.for_budget(features[test], budget)
        cost = COST[labels].mean()
        assert cost == pytest.approx(budget, rel=0.15)
        mix = best_mix(acc[test], COST, cost).expected(acc[test]).mean()
        oracle = frontier(acc[test], COST).at(cost).bound
        found = acc[test][np.arange(labels.size), labels].mean()
        assert (found - mix) / (oracle - mix) > 0.9


def test_the_trees_are_those_of_the_chapter_on_learning():
    features, acc = known_curves()
    shallow = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.05, "max_bin": 64}
    theirs = XGBRegressor(**shallow, multi_strategy="multi_output_tree", n_jobs=1, random_state=0)
    theirs.fit(features[:SEEN], acc[:SEEN])
    ours = CurvePolicy().fit(features[:SEEN], acc[:SEEN], COST).curves(features)
    np.testing.assert_allclose(ours, theirs.predict(features).clip(0, 1), atol=1e-6)


def test_the_price_is_the_lowest_within_the_budget():
    features, acc = known_curves()
    policy = CurvePolicy(seed=4).fit(features[:80], acc[:80], COST)
    unseen = policy.unseen_curves(features[:80].to_numpy(), acc[:80], None)
    for budget in (1.0, 1.7, 2, 5, 16):
        lam = policy.price(budget)
        assert average_cost(unseen, COST, lam) <= budget
        if lam > 0:
            assert average_cost(unseen, COST, lam * (1 - 1e-6)) > budget
    with pytest.raises(ValueError, match="cheapest allocation costs 1"):
        policy.price(0.9)


def test_new_questions_do_not_change_the_price():
    features, acc = known_curves()
    policy = CurvePolicy(seed=1).fit(features[:SEEN], acc[:SEEN], COST, budget=3)
    unseen = features[SEEN:]
    together = policy.predict(unseen)
    assert together[:40].tolist() == [policy.predict(unseen[i : i + 1])[0] for i in range(40)]
    np.testing.assert_array_equal(policy.for_budget(unseen, 3), together)
    scale = np.random.default_rng(0).uniform(0.5, 1.5, (SEEN, 1))
    cost = COST * scale / scale.mean()
    by_question = CurvePolicy().fit(features[:SEEN], acc[:SEEN], cost, lam=0.02)
    shared = CurvePolicy().fit(features[:SEEN], acc[:SEEN], COST, lam=0.02)
    assert (by_question.predict(features) == shared.predict(features)).all()


def test_any_regressor_predicts_the_curves():
    """Ordinary least squares by hand, clipped to accuracies; the price is then the oracle's rule on
    them."""
    features, acc = known_curves()
    design = np.column_stack([np.ones(SEEN), features[:SEEN]])
    weights = np.linalg.lstsq(design, acc[:SEEN], rcond=None)[0]
    expected = (np.column_stack([np.ones(600), features]) @ weights).clip(0, 1)
    policy = CurvePolicy(LinearRegression()).fit(features[:SEEN], acc[:SEEN], COST, lam=0.01)
    np.testing.assert_allclose(policy.curves(features), expected)
    assert (policy.predict(features) == oracle_labels(expected, COST, 0.01)).all()


def test_families_are_priced_by_trees_that_did_not_see_them():
    """Curves belong to families that features name: only trees of the same family know them."""
    family = np.arange(60) % 6
    acc = two_answer(np.tile([0.97, 0.65, 0.03], 2)[family]).acc()
    inputs = np.eye(6)[family]
    policy, apart = (
        CurvePolicy().fit(inputs, acc, COST),
        CurvePolicy().fit(inputs, acc, COST, groups=family),
    )
    np.testing.assert_array_equal(apart.curves(inputs), policy.curves(inputs))
    assert (apart.price(3), policy.price(3)) == tuple(
        adalib.frontier(p.unseen_curves(inputs, acc, groups), COST).at(3).lam
        for p, groups in ((apart, family), (policy, None))
    )
    one = CurvePolicy().fit(inputs, acc, COST, groups=["all"] * 60)
    assert one.price(3) == pytest.approx(adalib.frontier(one.curves(inputs), COST).at(3).lam)
