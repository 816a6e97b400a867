"""Shards against the whole table, bit by bit, and against HiGHS; exact sums against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import KINDS, budgets_for, random_table, tables

import adalib
from adalib.scale import runs
from adalib.scale.auction import Market, clear
from adalib.scale.runs import Run, make_run
from adalib.scale.shards import solve_shards
from adalib.solve.envelope import cheapest_columns, envelope_steps
from adalib.solve.exact import exact_mean, exact_sum, most_within, units
from adalib.solve.reference import lp_value
from adalib.solve.step_keys import StepKeys


def cut_up(acc, cost, pieces, rng):
    """The table in consecutive pieces of random sizes, none empty."""
    rows = np.split(np.arange(len(acc)), np.sort(rng.permutation(len(acc) - 1)[: pieces - 1] + 1))
    return [(acc[own], cost if cost.ndim == 1 else cost[own]) for own in rows]


def all_steps(acc, cost):
    """Key and exact cost of every step, one by one."""
    own = np.tile(cost, (len(acc), 1)) if cost.ndim == 1 else cost
    start, _ = cheapest_columns(acc, own)
    steps = envelope_steps(acc, own, start, StepKeys(acc.shape[1]))
    lists = (array.tolist() for array in steps)
    return [(key, units(after) - units(before)) for key, before, after in zip(*lists, strict=True)]


def plain(found):
    """All that an allocation says, in numbers that can be compared with ==."""
    labels = np.concatenate(found.labels).tolist()
    return found.lam, found.cost, found.accuracy, found.bound, found.split, labels


@pytest.mark.parametrize("kind", KINDS)
def test_shards_equal_the_whole_table(kind):
    rng = np.random.default_rng(300 + KINDS.index(kind))
    for trial in range(20):
        acc, cost = random_table(kind, int(rng.integers(1, 40)), int(rng.integers(1, 7)), rng)
        whole = adalib.frontier(acc, cost)
        budgets = budgets_for(whole, rng, 3)
        for found, budget in zip(
            solve_shards(cut_up(acc, cost, 7, rng), budgets), budgets, strict=True
        ):
            best = whole.at(budget)
            np.testing.assert_array_equal(np.concatenate(found.labels), best.labels)
            assert found.lam == best.lam
            assert found.cost == pytest.approx(best.cost, rel=1e-13)
            assert found.cost <= budget
            assert found.accuracy == pytest.approx(best.accuracy, abs=1e-12)
            assert found.bound == pytest.approx(best.bound, abs=1e-12)
            assert (found.split and found.split[:3]) == (best.split and best.split[:3])
            if found.split:
                assert found.split.share == pytest.approx(best.split.share, abs=1e-8)
            if trial % 10 == 0:
                assert found.bound == pytest.approx(lp_value(acc, cost, budget), abs=1e-9)


@given(tables(), st.integers(0, 2**32), st.integers(1, 7))
def test_how_a_table_is_cut_changes_nothing(table, seed, pieces):
    acc, cost = table
    rng = np.random.default_rng(seed)
    budgets = budgets_for(adalib.frontier(acc, cost), rng, 2)
    whole = solve_shards([(acc, cost)], budgets)
    parts = cut_up(acc, cost, pieces, rng)
    assert [plain(found) for found in solve_shards(parts, budgets)] == [
        plain(found) for found in whole
    ]
    firsts = np.cumsum([0, *(len(own) for own, _ in parts)])
    made = [make_run(*part, int(first)) for part, first in zip(parts, firsts, strict=False)]
    assert clear(Market([made[i] for i in rng.permutation(len(made))]), budgets) == clear(
        Market(made), budgets
    )


@given(st.lists(st.floats(0, 1e300, allow_subnormal=True)), st.randoms())
def test_exact_sums_are_sums_of_fractions(values, random):
    total = exact_sum(np.array(values, dtype=float))
    assert Fraction(total, units(1.0)) == sum(map(Fraction, values))
    random.shuffle(values)
    assert exact_sum(np.array(values, dtype=float)) == total
    if values:
        assert exact_mean(total, len(values)) == float(sum(map(Fraction, values)) / len(values))


@given(st.floats(0, 1e6), st.integers(1, 10**9))
def test_a_budget_counts_to_twelve_digits(budget, count):
    most, room = most_within(budget, count), Fraction(budget) * (1 + Fraction(1, 10**12))
    assert Fraction(most, units(1.0) * count) <= room < Fraction(most + 1, units(1.0) * count)


@given(tables(), st.integers(1, 5), st.floats(0, 2))
def test_the_index_answers_as_all_steps_do(tmp_path_factory, table, every, price):
    acc, cost = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_INDEX_EVERY", every)
        run = make_run(acc, cost, 5)
        path = tmp_path_factory.mktemp("run") / "a.run"
        run.save(path)
        opened = Run.open(path)
        each = all_steps(acc, cost)
        for at in [price, *(-run.keys).tolist()]:
            for one in (run, opened):
                assert one.spent(at) == sum(paid for key, paid in each if key < -at)
                same = [paid for key, paid in each if key == -at]
                assert one.tied(at) == (len(same), sum(same))
        assert (opened.first, opened.rows, opened.start, opened.total) == (
            5,
            len(acc),
            run.start,
            run.total,
        )
        assert opened.price_range == run.price_range


def test_a_run_that_is_cut_short_is_refused(tmp_path):
    path = tmp_path / "a.run"
    make_run(np.random.default_rng(0).random((50, 4)), np.arange(1.0, 5.0), 0).save(path)
    whole = path.read_bytes()
    for size in (0, 10, 50, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"a\.run: is not a complete run"):
            Run.open(path)
    assert [file.name for file in tmp_path.iterdir()] == ["a.run"]


def test_bad_arguments_are_named():
    one, other = ([[0.1, 0.2]], [1, 2]), ([[0.1]], [1])
    messages = {
        0.5: r"cheapest allocation costs 1\.0",
        float("nan"): "the budget is nan",
        1: "differ in their columns",
    }
    for budget, message in messages.items():
        with pytest.raises(ValueError, match=message):
            solve_shards([one, other] if budget == 1 else [one], [budget])
