"""Simulated populations: against closed forms, exact counts, and the paper's printed tables."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import adalib
from adabook.paper.settings import PAPER_SETTINGS, fit_table, paper_population, paper_setting
from adalib.datasets.populations import Population, beta_population, flat_null, two_answer

BUDGETS = np.array([1, 2, 4, 8, 16])


@given(st.floats(0, 1), st.integers(1, 20))
def test_two_answers_have_the_binomial_curve(p, b):
    # More than half the votes wins, exactly half shares the win.
    share = [1 if 2 * k > b else 0.5 if 2 * k == b else 0 for k in range(b + 1)]
    expected = sum(share[k] * comb(b, k) * p**k * (1 - p) ** (b - k) for k in range(b + 1))
    assert two_answer(p).acc([b])[0, 0] == pytest.approx(expected, abs=1e-9)


def test_samples_follow_the_distribution():
    population = Population([[0.5, 0.3, 0.2, 0.0], [0.0, 0.25, 0.25, 0.5]], correct=[0, 3], empty=2)
    drawn = population.sample(R=20_000, seed=5)
    assert list(drawn.golds) == ["0", "3"]
    for row, answers in zip(population.probs, drawn.answers, strict=True):
        counts = np.array([list(answers).count(text) for text in ("0", "1", "", "3")])
        assert counts.sum() == 20_000
        assert (counts[row == 0] == 0).all()
        assert chisquare(counts[row > 0], 20_000 * row[row > 0]).pvalue > 1e-3


def test_unreadable_answers_do_not_vote():
    population = beta_population(7, 1, 1, seed=1)
    table = population.table((1, 4))
    np.testing.assert_array_equal(table.acc, population.acc((1, 4)))
    assert (table.budgets, table.ids[0]) == ((1, 4), "sim-000")
    # One draw in two is empty: two draws are right unless both are, as with a single answer that is
    # never wrong.
    population = Population([[0.5, 0.5]], correct=[0], empty=1)
    np.testing.assert_allclose(population.acc([1, 2, 4]), [[1 / 2, 3 / 4, 15 / 16]])


@pytest.mark.parametrize("n", [5, 200, 201])
def test_no_budget_helps_on_the_flat_null(n):
    population = flat_null(n, seed=2)
    acc = population.acc(range(1, 17))
    assert (population.probs[:, 0] == 0.5).sum() == round(0.4 * n)
    assert np.abs(acc - acc[:, :1]).max() < 1e-12


def test_beta_population_has_its_moments():
    population = beta_population(4000, 2, 3, wrong=5, seed=0)
    assert population.probs[:, 0].mean() == pytest.approx(0.4, abs=0.01)
    # A share of five that is uniform on the simplex has the mean 1/5 and the variance 4/150.
    shares = population.probs[:, 1:] / (1 - population.probs[:, :1])
    np.testing.assert_allclose(shares.mean(axis=0), 0.2, atol=0.02)
    np.testing.assert_allclose(shares.var(axis=0), 4 / 150, atol=0.003)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probs": [0.5, 0.5], "correct": [0]}, "N questions by m answers"),
        ({"probs": [[0.5, 0.5], [0.5, 0.6]], "correct": [0, 0]}, "row 1 of probs"),
        ({"probs": [[1.5, -0.5]], "correct": [0]}, "row 0 of probs"),
        ({"probs": [[0.5, 0.5]], "correct": [2]}, "column number from 0 to 1"),
        ({"probs": [[0.5, 0.5]], "correct": [0], "empty": 0}, "no question's correct answer"),
        ({"probs": [[0.5, 0.5]], "correct": [0], "levels": [1, 2]}, "2 entries for 1 questions"),
    ],
)
def test_broken_populations_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Population(**arguments)


def test_draws_are_reproducible():
    first, again, other = (paper_setting("qwen2.5-7b-math", seed=seed) for seed in (None, None, 7))
    assert first.answers == again.answers
    assert first.answers != other.answers
    with pytest.raises(ValueError, match="deepseek-v3-math"):
        paper_setting("gpt-5")


@pytest.mark.parametrize("name", PAPER_SETTINGS)
def test_default_draw_reproduces_the_printed_tables(name):
    """What the fit recorded is computed again, and is as near to what is printed as promised."""
    responses, fitted = paper_setting(name), fit_table(name).set_index("statistic")
    assert (responses.n, responses.samples) == (200, 48)
    acc = responses.table(BUDGETS, estimator="windows", ties="first").acc
    ours = {f"Acc({b})": acc[:, j].mean() for j, b in enumerate((1, 2, 4))}
    for level in set(responses.levels):
        rows = [own == level for own in responses.levels]
        ours[f"Acc(1), level {level}"] = acc[rows, 0].mean()
        ours[f"Acc(16), level {level}"] = acc[rows, 4].mean()
    whole = adalib.frontier(acc, BUDGETS)
    for target in (1.5, 2.0, 3.0):
        nearest = np.abs(whole.cost - target).argmin()
        ours[f"oracle accuracy, B={target}"] = whole.accuracy[nearest]
        ours[f"oracle cost, B={target}"] = whole.cost[nearest]
    assert ours == pytest.approx(fitted["ours"][list(ours)].to_dict(), abs=6e-5)
    true = paper_population(name).acc((1, 2, 4)).mean(axis=0)
    assert true == pytest.approx(fitted["true"][["Acc(1)", "Acc(2)", "Acc(4)"]], abs=6e-5)
    promised = fitted.dropna(subset="tolerance")
    assert (promised["residual"].abs() <= promised["tolerance"]).all()


def test_the_population_of_real_answers_has_their_frequencies():
    real = adalib.load("word-hot").take(range(0, 372, 31))
    like = Population.from_responses(real)
    for probs, classes, values in zip(like.probs, real.classes, real.values, strict=True):
        wrong = np.bincount(classes[(classes >= 0) & (values == 0)])
        counts = [values.sum(), np.sum(classes < 0), *sorted(wrong[wrong > 0], reverse=True)]
        found = [probs[0], probs[1], *sorted(probs[2:][probs[2:] > 0], reverse=True)]
        assert found == pytest.approx(np.array(counts) / real.samples)
    agreed = adalib.Responses(ids=["q"], questions=["2 + 2?"], golds=["4"], answers=[["4", "4"]])
    assert Population.from_responses(agreed).probs.tolist() == [[1.0, 0.0]]
