"""The paper's policy: against an independent XGBoost wrapper, brute force and the exact labels."""

import numpy as np
import pytest
from random_tables import known_curves
from xgboost import XGBClassifier

from adabook.paper.ablations import TRIES, zoo
from adalib.datasets.populations import two_answer
from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import mean_interval
from adalib.learn.label_policy import LabelPolicy, _threshold, regret_weights
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels

COST = np.array([1.0, 2, 4, 8, 16])


def separable(n=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, n)
    return np.column_stack(
        [labels + rng.uniform(-0.4, 0.4, n), rng.standard_normal((n, 3))]
    ), labels


def test_separable_labels_are_learned_perfectly():
    features, labels = separable()
    policy = LabelPolicy().fit_labels(features, labels)
    assert (policy.predict(features) == labels).all()
    assert policy.importance().idxmax() == 0
    assert policy.importance().sum() == pytest.approx(1)
    features, labels = separable(seed=5)
    weights = np.random.default_rng(1).random(200)
    first, other = (
        LabelPolicy().fit_labels(features, labels, w).predict(features)
        for w in (weights, 1000 * weights)
    )
    assert (first == other).all()
    assert LabelPolicy().fit_labels(features, labels, np.zeros(200)).predict(features).size == 200


def test_gbm_is_xgboost_at_the_papers_hyper_parameters():
    rng = np.random.default_rng(3)
    features, labels = rng.standard_normal((200, 16)), rng.integers(0, 5, 200)
    theirs = XGBClassifier(n_estimators=100, max_depth=5, learning_rate=0.1, n_jobs=1).fit(
        features, labels
    )
    policy = LabelPolicy().fit_labels(features, labels)
    unseen = rng.standard_normal((500, 16))
    assert (policy.predict(unseen) == theirs.predict(unseen)).all()
    np.testing.assert_allclose(policy.importance(), theirs.feature_importances_, rtol=1e-5)
    assert policy.model_.get_booster().num_boosted_rounds() == 100


@pytest.mark.parametrize("name", TRIES)
def test_other_classifiers_learn(name):
    features, labels = separable()
    stretched = features * [1000, 1, 1, 1]
    found, again, scaled = (
        zoo(seed=2)[name].fit_labels(inputs[:150], labels[:150]).predict(inputs[150:])
        for inputs in (features, features, stretched)
    )
    assert (found == again).all()
    assert (found == labels[150:]).mean() > 0.6
    assert (found == scaled).mean() > 0.9


def test_fit_imitates_the_exact_labels():
    features, acc = known_curves()
    best = frontier(acc, COST).at(3)
    policy = LabelPolicy().fit(features, acc, COST, budget=3)
    assert (policy.predict(features) == best.labels).mean() > 0.98
    assert policy.lam_ == best.lam
    priced = LabelPolicy().fit(features, acc, COST, lam=0.02)
    assert (priced.predict(features) == oracle_labels(acc, COST, 0.02)).mean() > 0.98
    assert priced.lam_ == 0.02


def test_regret_weights_by_brute_force():
    rng = np.random.default_rng(0)
    acc, cost = rng.random((20, 4)), np.sort(rng.random((20, 4)), axis=1)
    for prices in (cost, cost[0]):
        nets = (acc - 0.3 * np.broadcast_to(prices, acc.shape)).tolist()
        expected = [max(one - other for one in net for other in net) for net in nets]
        np.testing.assert_allclose(regret_weights(acc, prices, 0.3), expected)
    # Nobody can tell the questions apart. Two in three lose 0.01 by the dear budget, the others
    # 0.89 by the cheap one.
    acc = np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 1.0]] * 30)
    for weighted in (False, True):
        policy = LabelPolicy(weighted=weighted).fit(np.zeros((90, 1)), acc, [1, 2], lam=0.01)
        assert set(policy.predict(np.zeros((90, 1)))) == {int(weighted)}


def test_the_same_probabilities_spend_the_budget():
    """Features that name the curve gain over the mix at the asked cost; noise gains nothing."""
    target = 2.0
    rng = np.random.default_rng(2)
    u = rng.random(1200)
    acc = two_answer(np.where(rng.random(1200) < 0.5, u, 0.95)).acc()
    train, new = slice(0, 600), slice(600, None)
    for name, features in (("text", u[:, None]), ("noise", rng.standard_normal((1200, 5)))):
        policy = LabelPolicy(spend="budget").fit(features[train], acc[train], COST, budget=target)
        labels = policy.predict(features[new])
        cost = COST[labels].mean()
        assert cost == pytest.approx(target, rel=0.15)
        mix = best_mix(acc[new], COST, cost).expected(acc[new])
        gain = mean_interval(acc[new][np.arange(600), labels] - mix)
        assert (gain.low > 0) == (name == "text")
        assert gain.high > 0


def test_the_threshold_keeps_to_the_budget_where_costs_differ():
    """By hand: of four questions the two most probable ones can be paid, and a third cannot."""
    more = np.array([0.9, 0.2, 0.6, 0.4])
    low, high = np.ones(4), np.array([3.0, 3.0, 5.0, 3.0])
    assert _threshold(more, low, high, budget=1 + (2 + 4 + 1) / 4) == 0.4
    assert _threshold(more, low, high, budget=1 + (2 + 4 + 2) / 4) == 0.2
    assert _threshold(more, low, high, budget=16) < 0


def test_where_one_column_is_worth_having_nobody_is_upgraded():
    features, acc = [[0.0], [1.0]], [[0.5, 0.5], [0.5, 0.5]]
    policy = LabelPolicy(spend="budget").fit(features, acc, [1, 2], budget=1.5)
    assert policy.predict(features).tolist() == [0, 0]
