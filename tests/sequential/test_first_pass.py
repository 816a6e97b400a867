"""The rule for checked answers, against backward induction, linear programs and closed forms."""

import numpy as np
import pytest
from scipy.optimize import linprog

from adalib import UtilityTable, frontier
from adalib.sequential.first_pass import after_failures, best_cap, first_pass, planned

RNG = np.random.default_rng(7)


def induction(p, weights, lam, cost):
    """The value of every number of failures, and whether to go on, from the last attempt back.

    The beliefs are updated one failure at a time, by Bayes' rule.
    """
    beliefs = [weights / weights.sum()]
    for _ in cost[1:]:
        after = beliefs[-1] * (1 - p)
        beliefs.append(after / after.sum())
    value = 0.0
    goes = np.zeros(len(cost), dtype=bool)
    for k in reversed(range(len(cost))):
        chance = float(beliefs[k] @ p)
        on = chance + (1 - chance) * value - lam * cost[k]
        goes[k] = on > 1e-12
        value = max(on, 0.0)
    return goes, value


def random_prior():
    size = RNG.integers(2, 6)
    return RNG.random(size) * RNG.choice([1, 0.2]), RNG.dirichlet(np.ones(size))


@pytest.mark.parametrize("falling", [False, True])
def test_price_rule_is_optimal_on_random_priors(falling):
    further = 0  # priors on which falling costs go on beyond the plain rule
    for _ in range(1000):
        p, weights = random_prior()
        steps = RNG.random(12)
        cost = 0.3 + (np.sort(steps)[::-1] if falling else np.sort(steps))
        lam = RNG.uniform(0.02, 0.6)
        chance, reached = after_failures(p, weights, cost.size)
        cap = int(best_cap(chance, reached, lam, cost))
        goes, value = induction(p, weights, lam, cost)
        assert cap == goes.argmin() or (cap == goes.size and goes.all())
        worth = (reached[:cap] * (chance[:cap] - lam * cost[:cap])).sum()
        assert worth == pytest.approx(value, abs=1e-12)
        plain = int((chance <= lam * cost).argmax()) if (chance <= lam * cost).any() else cost.size
        if falling:
            further += cap > plain
        else:
            assert cap == plain
    assert not falling or further > 10


def test_chance_falls_with_every_failure():
    for _ in range(200):
        p, weights = random_prior()
        chance, reached = after_failures(p, weights, 30)
        assert (np.diff(chance) <= 1e-12).all()
        assert reached[1:] == pytest.approx(reached[:-1] * (1 - chance[:-1]))


def test_a_beta_prior_has_its_closed_form():
    grid = (np.arange(20000) + 0.5) / 20000
    chance, _ = after_failures(grid, grid**1 * (1 - grid) ** 2 / 20000, 20)  # Beta(2, 3)
    assert chance == pytest.approx(2 / (5 + np.arange(20)), abs=1e-6)


def test_planned_budget_is_the_frontiers():
    for _ in range(300):
        p = RNG.random(4)
        lam = RNG.uniform(0.03, 0.5)
        budgets = np.arange(0, 200)
        acc = 1 - (1 - p[:, None]) ** budgets
        by_hand = (acc - lam * budgets).argmax(axis=1)
        assert planned(p, lam).tolist() == by_hand.tolist()
        path = frontier(UtilityTable(acc, budgets + 1.0, budgets=tuple(budgets.tolist())))
        at = path.at(float(by_hand.mean()) + 1)
        assert at.labels.tolist() == by_hand.tolist()


def test_planned_at_the_ends():
    assert planned([0.0, 0.1, 1.0], 0.1).tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="price"):
        planned([0.5], 0.0)


def test_first_pass_costs_one_over_p_without_a_cap():
    solved, attempts = first_pass(np.array([0.3]), 200)
    assert solved[0] == pytest.approx(1)
    assert attempts[0] == pytest.approx(1 / 0.3)


def test_best_mix_of_caps_is_a_lot_between_two_adjacent_ones():
    for _ in range(100):
        p, weights = random_prior()
        chance, reached = after_failures(p, weights, 15)
        cost = np.concatenate([[0], np.cumsum(reached)])
        solved = np.concatenate([[0], np.cumsum(reached * chance)])
        budget = RNG.uniform(0.1, cost[-1] - 0.1)
        best = linprog(
            -solved, A_ub=[cost], b_ub=[budget], A_eq=[np.ones_like(cost)], b_eq=[1], bounds=(0, 1)
        )
        assert -best.fun == pytest.approx(np.interp(budget, cost, solved), abs=1e-6)


def test_with_a_hard_total_the_highest_chance_goes_first():
    """All ways to spend six attempts on three questions, by brute force over what is known."""
    for _ in range(20):
        chances = []
        for _ in range(3):
            p, weights = random_prior()
            chances.append(after_failures(p, weights, 7)[0])

        def best(state, left, chances=chances, greedy=False):
            """Expected passes; a state has each question's failures, -1 where it is solved."""
            open_ones = [q for q, failures in enumerate(state) if failures >= 0]
            if not left or not open_ones:
                return 0.0
            if greedy:
                open_ones = [max(open_ones, key=lambda q: chances[q][state[q]])]
            values = []
            for q in open_ones:
                chance = chances[q][state[q]]
                solved = (*state[:q], -1, *state[q + 1 :])
                failed = (*state[:q], state[q] + 1, *state[q + 1 :])
                won = 1 + best(solved, left - 1, chances, greedy)
                values.append(chance * won + (1 - chance) * best(failed, left - 1, chances, greedy))
            return max(values)

        assert best((0, 0, 0), 5, greedy=True) == pytest.approx(best((0, 0, 0), 5))


def test_equal_costs_need_no_sums():
    for _ in range(300):
        p, weights = random_prior()
        chance, reached = after_failures(p, weights, 12)
        lam = RNG.uniform(0.02, 0.6)
        assert best_cap(chance, reached, lam, 0.7) == best_cap(
            chance, reached, lam, np.full(12, 0.7)
        )
