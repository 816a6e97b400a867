"""Ablations: splits that leak and splits that do not, identities run by run, and tables small
enough to do by hand."""

import dataclasses
import runpy

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import adabook.paper
import adalib
from adabook.paper import ablations, theorems
from adabook.paper.ablations import Comparison, SplitRun
from adabook.paper.settings import PAPER_ABLATIONS
from adalib import UtilityTable

ODD = np.arange(40) % 2
RECORD = runpy.run_path(
    str(ROOT / "data" / "scripts" / "record_paper.py")
)  # what trained the record


def tables(count=3, n=40, seed=0):
    """Settings in which every question has its own best budget, the same in all of them."""
    rng = np.random.default_rng(seed)
    acc = rng.choice([0.2, 0.5], size=(n, 1)) + np.outer(
        rng.choice([0.0, 1.0], size=n), [0.0, 0.15, 0.4]
    )
    ids = [f"q{i}" for i in range(n)]
    return {f"s{j}": UtilityTable(acc, [1, 2, 4], ids=ids) for j in range(count)}


@pytest.fixture(scope="module")
def noise_pool():
    return ablations.pool(tables(), adalib.noise_features(40, 6), targets=(1.5, 2, 3))


def test_a_pool_holds_every_question_in_every_setting_at_every_target(noise_pool):
    key = pd.MultiIndex.from_arrays([noise_pool.setting, noise_pool.target, noise_pool.question])
    assert key.is_unique
    for name, table in tables().items():
        for target in (1.5, 2, 3):
            rows = (noise_pool.setting == name) & (noise_pool.target == target)
            assert (
                noise_pool.labels[rows].tolist()
                == adalib.bisect(table.acc, table.cost, target).labels.tolist()
            )
            assert (noise_pool.features["target"][rows] == target).all()
    assert noise_pool.features.shape[1] == 6 + 3 + 1


def test_a_split_by_question_parts_no_question(noise_pool):
    def parted(trial) -> float:
        """The share of the rows held out whose question is also among those for training."""
        inside = np.isin(np.arange(noise_pool.n), trial.rows)
        return np.isin(noise_pool.question[inside], noise_pool.question[~inside]).mean()

    questions, folds, rows = (
        ablations.classifiers(noise_pool, split, count, ("logistic",)).split_runs
        for split, count in (("question", 4), ("fold", 4), ("row", 1))
    )
    assert [parted(trial) for trial in (*questions, *folds)] == [0] * 8
    assert sorted(np.concatenate([trial.rows for trial in folds])) == list(
        range(noise_pool.n)
    )  # each row once
    assert rows[0].rows.size == 72  # a fifth
    assert parted(rows[0]) > 0.99


def test_noise_imitates_by_row_alone(
    noise_pool,
):
    row, question = (
        ablations.classifiers(noise_pool, split, 5, ("gbm",)).runs for split in ("row", "question")
    )
    assert row.imitation.mean() > row.majority.mean() + 0.1
    assert question.imitation.mean() < question.majority.mean() + 0.02
    assert question.gain.mean() < 0.005


def test_the_measures_of_a_trial_are_those_of_chapter_4():
    """One setting and target: the pool's price and labels are those of one table, and the theory
    can be asked."""
    acc = np.array([[0.1, 0.6, 0.7], [0.5, 0.5, 0.5], [0.2, 0.3, 0.9], [0.8, 0.85, 0.9]])
    table = UtilityTable(acc, [1, 2, 4])
    pooled = ablations.pool({"only": table}, adalib.noise_features(4, 2), targets=[2])
    predicted = np.array([0, 0, 1, 2])
    run = Comparison(pooled, "row", (SplitRun("gbm", 0, np.arange(4), predicted),)).runs.iloc[0]
    lam = pooled.lam[0]
    first, second = theorems.imitation(acc, [1, 2, 4], lam, predicted).printed
    assert run.regret == pytest.approx(first.left)
    assert run.weighted == pytest.approx(first.right)
    assert run.largest == pytest.approx(second.right)
    (split,) = theorems.decomposition(acc, [1, 2, 4], lam, predicted).printed
    assert run.lost - run.saved == pytest.approx(split.right)
    assert (run.accuracy, run.cost) == pytest.approx((0.45, 2))
    bar = adalib.best_mix(acc, [1, 2, 4], 2).expected(acc).mean()
    assert run.gain == pytest.approx(0.45 - bar)


def test_confusion_and_losses_by_hand():
    acc = np.array([[0.1, 0.6, 0.7], [0.5, 0.5, 0.5], [0.2, 0.3, 0.9]])
    pooled = ablations.pool(
        {"only": UtilityTable(acc, [1, 2, 4])}, adalib.noise_features(3, 2), targets=[7 / 3]
    )
    assert pooled.labels.tolist() == [1, 0, 2]
    found = Comparison(
        pooled, "row", (SplitRun("gbm", 0, np.array([0, 1, 2]), np.array([0, 0, 0])),)
    )
    assert found.confusion("gbm").tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    losses, lam = found.losses("gbm"), pooled.lam[0]
    assert losses[["label", "predicted", "count"]].to_numpy().tolist() == [[1, 0, 1], [2, 0, 1]]
    assert losses.loss.to_numpy() == pytest.approx([0.5 - lam, 0.7 - 3 * lam])


def test_grouped_questions_stay_together(noise_pool):
    grouped = noise_pool.grouped(ODD)
    assert set(np.unique(grouped.question)) == {0, 1}
    assert (grouped.question == ODD[noise_pool.question]).all()
    runs = ablations.classifiers(noise_pool, "row", 3, {"logistic": 3, "gbm": 1}).runs
    assert runs.groupby("classifier").size().to_dict() == {"logistic": 3, "gbm": 1}
    assert runs.classifier.tolist() == ["logistic"] * 3 + ["gbm"]


def test_unknown_arguments_are_refused(noise_pool):
    found = ablations.classifiers(noise_pool, "fold", 4, ("logistic",))
    interval = found.gain("logistic")
    assert interval.low <= interval.mean <= interval.high
    with pytest.raises(ValueError, match='needs split "fold"'):
        ablations.classifiers(noise_pool, "row", 1, ("logistic",)).gain("logistic")
    with pytest.raises(ValueError, match="no run is called"):
        found.confusion("gbm")
    with pytest.raises(ValueError, match="choose"):
        ablations.classifiers(noise_pool, "column", 2)


def test_the_pools_have_the_papers_size_or_score_on_the_other_half():
    pooled = ablations.simulated_pool()
    assert pooled.n == PAPER_ABLATIONS["instances"]
    assert np.bincount(pooled.question).tolist() == [9] * 200
    shared = pooled.features.filter(like="noise")
    assert (shared.groupby(pooled.question).nunique() == 1).all().all()
    assert (pooled.features["setting_0"].groupby(pooled.question).nunique() == 3).mean() > 0.9
    pooled = ablations.real_pool(("word-fewshot",), targets=[2])
    assert not np.allclose(pooled.choose, pooled.acc)
    full = adalib.load("word-fewshot").table().acc
    assert (pooled.choose[:, 0] + pooled.acc[:, 0]) / 2 == pytest.approx(full[:, 0])


def test_a_learning_curve_is_a_mean():
    table = adabook.paper.paper_setting("deepseek-v3-math").table(estimator="windows", ties="first")
    curve = ablations.learning_curve(
        table, adalib.noise_features(200), [2], (0.2, 0.6, 1.0), seeds=3
    )
    for _, run in curve[curve.share < 1].groupby(["share", "seed"]):
        part = run.set_index("part")
        for column in ("accuracy", "cost", "fixed", "oracle", "imitation"):
            weighted = (part[column] * part.questions)[["seen", "unseen"]].sum() / part.questions[
                "all"
            ]
            assert weighted == pytest.approx(part[column]["all"])
    gain = (curve.accuracy - curve.fixed).groupby([curve.part, curve.share]).mean()
    assert gain["all"].is_monotonic_increasing
    assert gain["all"][1.0] > gain["all"][0.2] + 0.02
    assert abs(gain["unseen"][0.6] - gain["unseen"][0.2]) < 0.01
    assert gain["unseen"].index.tolist() == [0.2, 0.6]


def test_a_feature_that_tells_the_label_is_learned():
    """Half of the questions need four answers; the one feature says which."""
    p = np.where(np.arange(120) % 2, 0.75, 1.0)
    answers = adalib.two_answer(p).sample(64)
    features = pd.DataFrame({"kind": np.arange(120) % 2})
    found = RECORD["held_out_curve"](
        answers, [3], (0.5, 1.0), (1, 5, 11), features=features, folds=3
    )
    assert set(found.policy) == {"label", "curve", "noise"}
    last = found[found.share == 1].set_index("policy")
    assert last.low["label"] > 0
    assert last.low["noise"] < 0.01
    assert found[found.policy == "label"].questions.tolist() == [40, 80]


def test_menus_in_truth_and_from_answers():
    population = adabook.paper.paper_population("gpt-4o-mini-math")
    found = ablations.granularity(population, [2]).set_index("menu")
    for name, menu in ablations.MENUS.items():
        table = population.table(menu)
        assert found.accuracy[name] == pytest.approx(
            adalib.frontier(table.acc, table.cost).at(2).accuracy
        )
        assert found.tiers[name] == len(menu)
    assert found.gain["without 2"] == pytest.approx(0, abs=1e-12)
    assert found.gain["fine"] > 0 > found.gain["coarse"]
    # Answers get an in-sample and a cross-fitted value.
    answers = adalib.flat_null(60).sample(64)
    found = ablations.granularity(answers, [2], {"default": (1, 2, 4), "more": (1, 2, 3, 4)})
    value = found.pivot(index="menu", columns="value", values="accuracy")
    assert (value["in-sample"] > value["cross-fitted"]).all()
    assert (found[found.menu == "default"].gain == 0).all()


def test_a_feature_that_is_the_label_stands_clear_of_shuffled_labels():
    labels = np.random.default_rng(0).integers(0, 2, size=200)
    features = adalib.noise_features(200, 5).assign(key=labels)
    found = RECORD["importances"](features, labels, draws=5).set_index("feature")
    assert found.importance.sum() == pytest.approx(1)
    assert found.index[0] == "key"
    assert found.importance["key"] > found.shuffled_high["key"]
    assert found.noise_low.iloc[0] < 1 / 6 < found.noise_high.iloc[0]


def test_labels_for_training_know_nothing_of_the_questions_held_out(noise_pool):
    train = noise_pool.question < 30
    choose = np.where(train[:, None], noise_pool.choose, 1 - noise_pool.choose)
    other = dataclasses.replace(noise_pool, choose=choose, labels=noise_pool.labels + 0)
    assert noise_pool.labelled_among(train).tolist() == other.labelled_among(train).tolist()
    assert (
        noise_pool.labelled_among(np.ones(noise_pool.n, dtype=bool)).tolist()
        == noise_pool.labels.tolist()
    )


def test_class_means_against_pandas_and_a_planted_signal():
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat([0, 2, 3], [60, 30, 10]))
    features = pd.DataFrame(rng.standard_normal((100, 5)), columns=list("abcde"))
    features["d"] += 3.0 * (labels == 2)
    features["e"] = 1.0
    z = (features - features.mean()) / features.std(ddof=0).replace(0, 1)
    pd.testing.assert_frame_equal(
        ablations.class_means(features, labels), z.groupby(labels).mean().T, check_names=False
    )
    beyond = ablations.beyond_chance(features, labels)
    assert beyond.loc["d", 2]
    assert not beyond.loc["a":"c"].any(axis=None)


def test_noise_passes_shuffled_labels_as_rarely_as_promised():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 120)
    passed = [
        ablations.beyond_chance(adalib.noise_features(120, 16, seed), labels, 100).any()
        for seed in range(40)
    ]
    assert np.mean(passed) < 0.12  # 120 draws at 5%
