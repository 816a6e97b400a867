"""What both policies share: scikit-learn's contract, refusals, and no gain from noise."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from random_tables import known_curves
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils import estimator_checks

from adabook.paper.ablations import zoo
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy

COST = np.array([1.0, 2, 4, 8, 16])


GOOD = {"features": [[0.0], [1.0]], "acc": [[0.1, 0.9], [0.5, 0.5]], "cost": [1, 2], "budget": 1.5}
UNPRICED = {name: GOOD[name] for name in ("features", "acc", "cost")}


@pytest.mark.parametrize("policy", [LabelPolicy(), CurvePolicy()])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": [[0.0], [np.nan]]}, "NaN"),
        ({"features": pd.DataFrame({"size": [1.0, np.inf]})}, "infinity"),
        ({"features": [0.0, 1.0]}, "2D"),
        ({"features": [[0.0]]}, "one per question|one row per question"),
        ({"acc": [[0.1, 1.9], [0.5, 0.5]]}, r"acc\[0, 1\]"),
        ({"lam": 0.1}, "either budget or lam"),
        ({"budget": 0.5}, "cheapest allocation"),
        ({"budget": None, "lam": -0.1}, "the price is -0.1"),
    ],
)
def test_what_fit_refuses(policy, change, message):
    with pytest.raises(ValueError, match=message):
        policy.fit(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: LabelPolicy("oak").fit_labels([[1.0]], [0]), "'oak'"),
        (lambda: LabelPolicy(KNeighborsClassifier(), True).fit(**GOOD), "KNeighbors"),
        (lambda: LabelPolicy().predict([[1.0]]), "call fit first"),
        (lambda: CurvePolicy().price(2), "call fit first"),
        (lambda: LabelPolicy().fit(**UNPRICED), "either budget or lam"),
        (lambda: LabelPolicy(spend="budget").fit(**UNPRICED, lam=0.1), "budget"),
        (lambda: LabelPolicy(spend="more").fit(**UNPRICED, lam=0.1), "'more'"),
        (lambda: CurvePolicy().fit(**UNPRICED).predict([[1.0]]), "has no price"),
        (lambda: LabelPolicy().fit_labels([[1.0]], [0.5]), "non-negative integers"),
        (lambda: LabelPolicy().fit_labels([[1.0]], [0], [-1.0]), "weights must be 1 finite"),
        (lambda: zoo()["mlp"].fit_labels([[1.0]], [0], [1.0]), "Pipeline"),
        (
            lambda: LabelPolicy(SVC()).fit_labels([[1.0], [2.0]], [0, 1]).importance(),
            "importance needs",
        ),
        (lambda: LabelPolicy().importance(), "call fit first"),
        (lambda: LabelPolicy().fit_labels([[1.0]], [0]).predict([[1.0, 2.0]]), "trained on 1"),
    ],
)
def test_what_else_is_refused(action, message):
    with pytest.raises(ValueError, match=message):
        action()


def test_scikit_learn_checks_pass():
    laws = [
        "no_attributes_set_in_init",
        "parameters_default_constructible",
        "get_params_invariance",
    ]
    for kind, law in product((LabelPolicy, CurvePolicy), [*laws, "set_params", "estimator_repr"]):
        getattr(estimator_checks, f"check_{law}")(kind.__name__, kind())
    policy = LabelPolicy(RandomForestClassifier(n_estimators=3)).set_params(
        model__max_depth=1, seed=5
    )
    assert policy.get_params()["model__max_depth"] == policy.model.max_depth == 1
    assert clone(policy).get_params()["model__n_estimators"] == 3


@pytest.mark.parametrize(
    "policy",
    [
        LabelPolicy(RandomForestClassifier(10), seed=3),
        LabelPolicy(weighted=True),
        CurvePolicy(seed=3),
    ],
)
def test_a_clone_learns_the_same(policy):
    features, acc = known_curves()
    settings = repr(policy.get_params(deep=False))
    again = clone(policy)
    for one in (policy, again):
        assert one.fit(features[:60], acc[:60], COST, budget=3) is one
    assert repr(policy.get_params(deep=False)) == settings
    learned = set(vars(policy)) - set(policy.get_params(deep=False))
    assert all(name.endswith("_") for name in learned)
    assert policy.feature_names_in_.tolist() == ["u", "noise"]
    if policy.model is None:
        assert (again.predict(features) == policy.predict(features)).all()
    else:
        assert not hasattr(policy.model, "classes_")  # a copy was fitted
    policy.fit(features[:60].to_numpy(), acc[:60], COST, budget=3)
    assert not hasattr(policy, "feature_names_in_")


def test_columns_are_those_of_the_training_features():
    features, acc = known_curves()
    for policy in (LabelPolicy(), CurvePolicy()):
        policy.fit(features[:60], acc[:60], COST, budget=3)
        expected = policy.predict(features)
        assert (policy.predict(features.to_numpy()) == expected).all()
        for wrong in (
            features.rename(columns={"u": "v"}),
            features.assign(more=0),
            features.assign(more=0).to_numpy(),
        ):
            with pytest.raises(ValueError, match="feature"):
                policy.predict(wrong)


def test_missing_classes():
    features = np.random.default_rng(2).standard_normal((60, 2))
    labels = np.where(features[:, 0] > 0, 4, 1)
    for policy in zoo().values():
        assert set(policy.fit_labels(features, labels).predict(features)) == {1, 4}
        assert policy.fit_labels(features, np.full(60, 3)).predict(features[:2]).tolist() == [3, 3]
        assert policy.fit_labels(features[:1], labels[:1]).predict(features[:1]).tolist() == [
            labels[0]
        ]
        assert policy.predict(features[:0]).shape == (0,)
