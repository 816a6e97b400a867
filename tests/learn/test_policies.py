"""Policies: against an independent XGBoost wrapper, brute force, and populations whose answer is
known."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils import estimator_checks
from xgboost import XGBClassifier, XGBRegressor

import adalib
from adabook.paper.ablations import ZOO, zoo
from adalib.datasets.files import DataError
from adalib.datasets.populations import beta_population, two_answer
from adalib.datasets.sealed import seal
from adalib.evaluate.baselines import best_mix, noise_features
from adalib.learn.label_policy import regret_weights
from adalib.learn.policies import CurvePolicy, LabelPolicy, load_policy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, oracle_labels

COST = np.array([1.0, 2, 4, 8, 16])
SEEN = 300  # training questions of the population below


@pytest.fixture(scope="module")
def inputs():
    """Questions whose curve is a function of their first feature; the second is noise."""
    rng = np.random.default_rng(7)
    features = pd.DataFrame({"u": rng.random(600), "noise": rng.standard_normal(600)})
    return features, two_answer(features["u"]).acc()


@pytest.fixture(scope="module")
def fitted(inputs):
    features, acc = inputs
    return [
        LabelPolicy(seed=1).fit(features[:SEEN], acc[:SEEN], COST, budget=3),
        LabelPolicy(weighted=True, seed=1).fit(features[:SEEN], acc[:SEEN], COST, lam=0.01),
        CurvePolicy(seed=1).fit(features[:SEEN], acc[:SEEN], COST, budget=3),
        LabelPolicy().fit_labels(features[:9], np.full(9, 2)),
    ]


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


@pytest.mark.parametrize("name", ZOO)
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


def test_fit_imitates_the_exact_labels(inputs):
    features, acc = inputs
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


def test_missing_classes_or_constant_features(inputs):
    features, acc = np.random.default_rng(2).standard_normal((60, 2)), inputs[1][:SEEN]
    labels = np.where(features[:, 0] > 0, 4, 1)
    for policy in zoo().values():
        assert set(policy.fit_labels(features, labels).predict(features)) == {1, 4}
        assert policy.fit_labels(features, np.full(60, 3)).predict(features[:2]).tolist() == [3, 3]
        assert policy.fit_labels(features[:1], labels[:1]).predict(features[:1]).tolist() == [
            labels[0]
        ]
        assert policy.predict(features[:0]).shape == (0,)
    for policy in (*zoo().values(), CurvePolicy()):
        policy.fit(np.ones((SEEN, 3)), acc, COST, budget=3)
        assert np.unique(policy.predict(np.ones((50, 3)))).size == 1


@pytest.mark.parametrize(("n", "k"), list(product([1, 2, 4], [1, 2, 5])))
def test_curves_of_very_few_questions(n, k):
    acc = np.random.default_rng(n).random((n, k))
    policy = CurvePolicy().fit(np.arange(2.0 * n).reshape(n, 2), acc, COST[:k], budget=16)
    curves = policy.curves([[0.0, 1.0], [5.0, 5.0]])
    assert curves.shape == (2, k)
    assert ((curves >= 0) & (curves <= 1)).all()
    assert policy.predict(np.zeros((0, 2))).shape == (0,)


def test_curves_that_features_determine_are_recovered(inputs):
    features, acc = inputs
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


def test_the_price_is_the_lowest_within_the_budget(inputs):
    features, acc = inputs
    policy = CurvePolicy(seed=4).fit(features[:80], acc[:80], COST)
    unseen = policy.unseen_curves(features[:80].to_numpy(), acc[:80], None)
    for budget in (1.0, 1.7, 2, 5, 16):
        lam = policy.price(budget)
        assert average_cost(unseen, COST, lam) <= budget
        if lam > 0:
            assert average_cost(unseen, COST, lam * (1 - 1e-6)) > budget
    with pytest.raises(ValueError, match="cheapest allocation costs 1"):
        policy.price(0.9)


def test_new_questions_do_not_change_the_price(inputs, fitted):
    unseen, policy = inputs[0][SEEN:], fitted[2]
    together = policy.predict(unseen)
    assert together[:40].tolist() == [policy.predict(unseen[i : i + 1])[0] for i in range(40)]
    np.testing.assert_array_equal(policy.for_budget(unseen, 3), together)
    features, acc = inputs
    scale = np.random.default_rng(0).uniform(0.5, 1.5, (SEEN, 1))
    cost = COST * scale / scale.mean()
    by_question = CurvePolicy().fit(features[:SEEN], acc[:SEEN], cost, lam=0.02)
    shared = CurvePolicy().fit(features[:SEEN], acc[:SEEN], COST, lam=0.02)
    assert (by_question.predict(features) == shared.predict(features)).all()
    assert LabelPolicy().fit(features[:SEEN], acc[:SEEN], cost, budget=2).predict(
        features
    ).shape == (600,)


def test_noise_features_gain_nothing_held_out():
    population = beta_population(200, 0.25, 0.24, wrong=5, seed=11)
    responses, true = population.sample(48, seed=12), population.acc()
    acc = responses.table(estimator="windows", ties="first").acc

    def gain(labels, table):
        mix = best_mix(table, COST, COST[labels].mean()).expected(table).mean()
        return table[np.arange(200), labels].mean() - mix

    in_sample, held_out = [], {"label": [], "curve": []}
    for seed in range(3):
        noise = noise_features(200, seed=seed)
        in_sample.append(gain(LabelPolicy().fit(noise, acc, COST, budget=3).predict(noise), acc))
        found = {name: np.zeros(200, dtype=int) for name in held_out}
        for train, test in KFold(5, shuffle=True, random_state=seed).split(acc):
            for name, policy in (("label", LabelPolicy()), ("curve", CurvePolicy())):
                policy.fit(noise.iloc[train], acc[train], COST, budget=3)
                found[name][test] = policy.predict(noise.iloc[test])
        for name, labels in found.items():
            held_out[name].append(gain(labels, true))
    assert min(in_sample) > 0.03  # the paper's protocol would call this learning
    for gains in held_out.values():
        assert np.mean(gains) < 0.005


PROGRAM = """
import sys, numpy as np
from adalib.learn.policies import load_policy
features = np.load("features.npy")
for name in sys.argv[1:]:
    policy = load_policy(name)
    told = {"labels": policy.predict(features)}
    if hasattr(policy, "curves"):
        told |= {"curves": policy.curves(features), "budget": policy.for_budget(features, 2.2)}
    np.savez(name + ".npz", **told)
"""


def test_saved_policies_predict_the_same_in_another_process(inputs, fitted, tmp_path):
    features, names = inputs[0], [f"policy-{i}.json" for i in range(len(fitted))]
    np.save(tmp_path / "features.npy", features.to_numpy())
    for policy, name in zip(fitted, names, strict=True):
        policy.save(tmp_path / name)
    subprocess.run([sys.executable, "-c", PROGRAM, *names], check=True, cwd=tmp_path)
    for policy, name in zip(fitted, names, strict=True):
        predicted = np.load(tmp_path / f"{name}.npz")
        np.testing.assert_array_equal(predicted["labels"], policy.predict(features))
        if isinstance(policy, CurvePolicy):
            np.testing.assert_array_equal(predicted["curves"], policy.curves(features))
            np.testing.assert_array_equal(predicted["budget"], policy.for_budget(features, 2.2))
        loaded = load_policy(tmp_path / name)
        assert (type(loaded), loaded.lam_, loaded.seed) == (type(policy), policy.lam_, policy.seed)
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / name).read_bytes()


def test_columns_are_matched_by_name(inputs, fitted):
    features, policy = inputs[0], fitted[0]
    expected = policy.predict(features)
    assert (policy.predict(features[["noise", "u"]]) == expected).all()
    assert (policy.predict(features.to_numpy()) == expected).all()
    with pytest.raises(ValueError, match="lack 'u'"):
        policy.predict(features.rename(columns={"u": "v"}))
    with pytest.raises(ValueError, match="have 3 columns, not 2"):
        policy.predict(features.assign(more=0))


def test_other_models_refuse_to_be_saved(tmp_path):
    for name in ZOO[:4]:
        policy = zoo()[name].fit_labels([[0.0], [1.0], [2.0]], [0, 1, 0])
        with pytest.raises(ValueError, match="scikit-learn saves pickles"):
            policy.save(tmp_path / "policy.json")
    curve = CurvePolicy(LinearRegression()).fit(GOOD["features"], GOOD["acc"], GOOD["cost"])
    with pytest.raises(ValueError, match="not LinearRegression"):
        curve.save(tmp_path / "policy.json")
    linear = LabelPolicy(XGBClassifier(booster="gblinear")).fit_labels(GOOD["features"], [0, 1])
    with pytest.raises(ValueError, match="not as XGBoost writes them"):
        linear.save(tmp_path / "policy.json")
    assert not list(tmp_path.iterdir())


def test_a_given_booster_is_saved_with_its_own_trees(inputs, tmp_path):
    features, acc = inputs
    labels = (features["u"] > 0.5).astype(int).to_numpy()
    policy = LabelPolicy(XGBClassifier(n_estimators=7, max_depth=2)).fit_labels(features, labels)
    assert policy.model_.get_booster().num_boosted_rounds() == 7
    policy.save(tmp_path / "label.json")
    assert (
        load_policy(tmp_path / "label.json").predict(features) == policy.predict(features)
    ).all()
    stumps = XGBRegressor(n_estimators=9, max_depth=1, multi_strategy="multi_output_tree")
    curve = CurvePolicy(stumps).fit(features, acc, COST, budget=2)
    curve.save(tmp_path / "curve.json")
    assert (load_policy(tmp_path / "curve.json").curves(features) == curve.curves(features)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about, trees: [about], "not what adalib saves"),
        (lambda about, trees: [{**about, "format": "other"}, trees], "not what adalib saves"),
        (lambda about, trees: [{**about, "kind": "spell"}, trees], "not a sound policy file"),
        (lambda about, trees: [{**about, "width": 3}, trees], "names 2 features, its width is 3"),
        (
            lambda about, trees: [{**about, "width": 1, "names": None}, trees],
            "feature holds a number",
        ),
        (lambda about, trees: [{**about, "cost": [1, 2]}, trees], "cost has shape"),
        (lambda about, trees: [{**about, "prices": None}, trees], "not a sound policy file"),
        (
            lambda about, trees: [{**about, "kind": "label", "weighted": 0, "classes": [1]}, trees],
            "list of classes",
        ),
        (lambda about, trees: [about, {}], "has no trees"),
        (lambda about, trees: [about, {"learner": 3}], "trees are not as XGBoost writes them"),
        (lambda about, trees: [{k: v for k, v in about.items() if k != "names"}, trees], "'names'"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(fitted, tmp_path, change, message):
    path = tmp_path / "policy.json"
    fitted[2].save(path)
    lines = change(*(json.loads(line) for line in path.read_text().splitlines()))
    path.write_text("".join(json.dumps(line) + "\n" for line in seal(lines)))
    with pytest.raises(DataError, match=message) as caught:
        load_policy(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


GOOD = {"features": [[0.0], [1.0]], "acc": [[0.1, 0.9], [0.5, 0.5]], "cost": [1, 2], "budget": 1.5}


@pytest.mark.parametrize("policy", [LabelPolicy(), CurvePolicy()])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": [[0.0], [np.nan]]}, r"features\[1, 0\] is nan"),
        ({"features": pd.DataFrame({"size": [1.0, np.inf]})}, r"features\[1, 'size'\] is inf"),
        ({"features": [[0.0], [1e39]]}, r"features\[1, 0\] is 1e\+39"),
        ({"features": [0.0, 1.0]}, "one row per question"),
        ({"features": [[], []]}, "at least one column"),
        ({"features": [["a"], ["b"]]}, "table of numbers"),
        ({"features": pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])}, "two columns named 'a'"),
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
        (lambda: LabelPolicy("oak").fit_labels([[1.0]], [0]), "model is 'oak'; give a classifier"),
        (
            lambda: CurvePolicy("oak").fit(GOOD["features"], GOOD["acc"], GOOD["cost"]),
            "'oak'; give a regressor",
        ),
        (
            lambda: LabelPolicy(KNeighborsClassifier(), True).fit(**GOOD),
            "takes sample_weight, not KNeighbors",
        ),
        (lambda: LabelPolicy().predict([[1.0]]), "call fit first"),
        (lambda: CurvePolicy().predict([[1.0]]), "call fit first"),
        (lambda: CurvePolicy().price(2), "call fit first"),
        (lambda: CurvePolicy().save("nowhere.json"), "call fit first"),
        (lambda: LabelPolicy().save("nowhere.json"), "call fit first"),
        (
            lambda: LabelPolicy().fit(GOOD["features"], GOOD["acc"], GOOD["cost"]),
            "either budget or lam",
        ),
        (
            lambda: CurvePolicy().fit(GOOD["features"], GOOD["acc"], GOOD["cost"]).predict([[1.0]]),
            "has no price",
        ),
        (lambda: LabelPolicy().fit_labels([[1.0]], [-1]), "non-negative integers"),
        (lambda: LabelPolicy().fit_labels([[1.0]], [0.5]), "non-negative integers"),
        (lambda: LabelPolicy().fit_labels([[1.0]], [0], [-1.0]), "weights must be 1 finite"),
        (lambda: zoo()["mlp"].fit_labels([[1.0]], [0], [1.0]), "takes sample_weight, not Pipeline"),
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


# Scikit-learn's contract: its own checks where they do not need fit(X, y), and the same laws for
# our fit.


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
def test_a_clone_learns_the_same(inputs, policy):
    features, acc = inputs
    before = repr(policy.get_params(deep=False)), set(vars(policy))
    assert not any(name.endswith("_") for name in vars(policy))
    twin = clone(policy)
    assert policy.fit(features[:60], acc[:60], COST, budget=3) is policy
    assert repr(policy.get_params(deep=False)) == before[0]
    assert all(name.endswith("_") for name in set(vars(policy)) - before[1])
    assert policy.n_features_in_ == 2
    assert policy.feature_names_in_.tolist() == ["u", "noise"]
    if policy.model is None:
        again = twin.fit(features[:60], acc[:60], COST, budget=3)
        assert (again.predict(features) == policy.predict(features)).all()
    else:
        assert not hasattr(policy.model, "classes_")  # a copy was fitted
    policy.fit(features[:60].to_numpy(), acc[:60], COST, budget=3)
    assert not hasattr(policy, "feature_names_in_")


def test_any_regressor_predicts_the_curves(inputs):
    """Ordinary least squares by hand, clipped to accuracies; the price is then the oracle's rule on
    them."""
    features, acc = inputs
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
    errors = [
        np.abs(policy.unseen_curves(inputs, acc, groups) - acc).mean() for groups in (None, family)
    ]
    assert errors[0] < 0.02
    assert errors[1] > 0.1
    one = CurvePolicy().fit(inputs, acc, COST, groups=["all"] * 60)
    assert one.price(3) == pytest.approx(adalib.frontier(one.curves(inputs), COST).at(3).lam)
    with pytest.raises(ValueError, match="groups has 2 entries for 60"):
        CurvePolicy().fit(inputs, acc, COST, groups=[0, 1])
