"""Figures of chapters 0 to 4: what is drawn is what the package computes; and the widget the book
does not run."""

from __future__ import annotations

import itertools

import nbformat
import numpy as np
import pytest
from conftest import ROOT

import adalib
from adabook.figures import duality
from adabook.figures import prices as draw

BUDGETS = (1, 2, 4, 8, 16)
COST = np.array(BUDGETS, dtype=float)


@pytest.fixture(scope="module")
def acc():
    """Sixty questions of all kinds, with ties, flat rows and falling ones."""
    rng = np.random.default_rng(3)
    curves = np.sort(rng.random((60, 5)), axis=1).round(2)
    curves[::7] = curves[::7, :1]
    curves[::11] = curves[::11, ::-1]
    return curves


def step_at(trace, x):
    """Read a staircase (line shape "hv") off a drawn trace."""
    assert trace.line.shape == "hv"
    return np.asarray(trace.y)[np.searchsorted(np.asarray(trace.x), x, side="right") - 1]


def test_staircases_show_the_average_cost(acc):
    path = adalib.frontier(acc, COST)
    fig = draw.staircases({"one": (path.lam, path.cost), "two": (path.lam, path.cost)})
    assert [trace.name for trace in fig.data] == ["one", "two"]
    for lam in [0.0, *np.random.default_rng(0).uniform(0, path.lam[0], 200)]:
        for trace in fig.data:
            assert step_at(trace, lam) == pytest.approx(
                adalib.average_cost(acc, COST, lam), abs=1e-9
            )
    twins = adalib.frontier([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2, COST)
    fig = draw.staircase_target(twins.lam, twins.cost, 8.5)
    assert set(fig.data[0].y) == {1.0, 16.0}
    assert fig.layout.shapes[0].y0 == fig.layout.shapes[0].y1 == 8.5


def test_a_ribbon_is_what_the_oracle_buys(acc):
    prices = adalib.frontier(acc, COST).lam[::-1]
    own = [adalib.frontier(curve[None, :], COST) for curve in acc[:12]]
    fig = draw.ribbons(
        {f"q{i}": (path.lam, path.cost) for i, path in enumerate(own)}, BUDGETS, prices[-1]
    )
    pieces = [
        (int(name[1:]), base, base + width, b)
        for trace, b in zip(fig.data, BUDGETS, strict=False)
        for name, base, width in zip(trace.y, trace.base, trace.x, strict=True)
    ]
    for lam in np.random.default_rng(0).uniform(0, prices[-1], 200):
        found = {row: b for row, low, high, b in pieces if low <= lam < high}
        assert found == {
            row: BUDGETS[adalib.oracle_labels(acc, COST, lam)[row]] for row in range(12)
        }


def test_the_search_zooms_in_on_the_bracket(acc):
    path, recorded = adalib.frontier(acc, COST), adalib.bisect(acc, COST, 3.0).path
    fig = draw.search(recorded, path.lam, path.cost, 3.0, steps=12)
    stairs = fig.data[0]
    for row, frame in zip(recorded, fig.frames, strict=False):
        low, high = frame.data
        assert (low.x[0], high.x[0]) == (row["lo"], row["hi"])
        assert low.y[0] >= 3.0 >= high.y[0]
        for end in (low, high):
            assert step_at(stairs, end.x[0]) == pytest.approx(end.y[0])
        left, right = frame.layout.xaxis.range
        assert left < row["lo"] < row["hi"] < right
    assert len(fig.frames) == 12


def test_a_tangent_touches_the_winner(acc):
    curve = acc[5:6]
    corners = np.searchsorted(COST, adalib.frontier(curve, COST).cost)
    prices = np.array([0.0, 0.01, 0.03, 0.1])
    winners = np.array([adalib.oracle_labels(curve, COST, lam)[0] for lam in prices])
    fig = draw.tangent(BUDGETS, COST, curve[0], corners, prices, winners)
    for lam, winner, frame in zip(prices, winners, fig.frames, strict=True):
        line, star = frame.data
        heights = np.interp(COST, line.x, line.y)
        assert (heights >= curve[0] - 1e-12).all()
        assert heights[winner] == pytest.approx(curve[0, winner])
        assert (star.x[0], star.y[0]) == (COST[winner], curve[0, winner])
        assert np.diff(line.y)[0] == pytest.approx(lam * np.diff(line.x)[0])


def test_filled_area_is_the_accuracy_gained(acc):
    path = adalib.frontier(acc, COST)
    targets = [1, 1.5, 2, 4, float(path.cost[-1]) + 1]
    plans = [path.at(B) for B in targets]
    labels = np.array([plan.labels for plan in plans])
    fig = draw.filling(path.lam, path.cost, acc[:, 0].mean(), BUDGETS, targets, labels)
    for frame, plan, budget in zip(fig.frames, plans, targets, strict=True):
        area, *edges = (trace for trace in frame.data if trace.type == "scatter")
        gained = float(np.sum(np.diff(area.x) * np.asarray(area.y)[:-1]))
        assert gained == pytest.approx(
            plan.bound - acc[:, 0].mean(), abs=1e-4
        )  # drawn to five digits
        assert {x for edge in edges for x in edge.x} == {budget}
        tube = [trace.x[0] for trace in frame.data if trace.type == "bar"]
        assert tube == pytest.approx(np.bincount(plan.labels, minlength=5) * COST / len(acc))


def test_the_widget_of_the_explorer_page_that_the_book_does_not_run_works(word):
    """Its cells are tagged skip-execution, so nothing else would notice if they broke."""
    cells = nbformat.read(ROOT / "notebooks" / "explorer.ipynb", as_version=4).cells
    _, *code = (cell.source for cell in cells if cell.cell_type == "code")
    table, shown = word.table(), []
    space = {"display": lambda figure: shown.append(figure.fig)}
    exec("\n".join(code), space)
    before = len(shown)
    space["slider"].value = 0.05
    assert len(shown) == before + 1  # every move draws anew
    drawn = shown[-1]
    labels = adalib.oracle_labels(table.acc, table.cost, 0.05)
    assert list(drawn.data[0].y) == pytest.approx(np.bincount(labels, minlength=5) / table.n)
    assert drawn.layout.title.text.startswith("λ = 0.050")
    assert space["w"].lam == 0.03


def test_the_lines_of_plans_draw_the_dual_function(acc):
    few, budget, prices = acc[:3], 3.0, np.arange(31) / 60
    plans = np.array(list(itertools.product(range(5), repeat=3)))
    accuracy, spent = few[np.arange(3), plans].mean(axis=1), COST[plans].mean(axis=1)
    labels = [adalib.oracle_labels(few, COST, lam) for lam in prices]
    winners = [int(np.flatnonzero((plans == row).all(axis=1))[0]) for row in labels]
    fig = duality.dual_lines(prices, accuracy, spent, winners, budget=budget)
    top = next(trace for trace in fig.data if trace.name == "G(λ)")
    assert np.allclose(top.y, adalib.dual(few, COST, prices, budget))
    for lam, winner, frame in zip(prices, winners, fig.frames, strict=True):
        tangent, dot = frame.data
        assert dot.y[0] == pytest.approx(float(adalib.dual(few, COST, lam, budget)))
        assert np.diff(tangent.y)[0] == pytest.approx((budget - spent[winner]) * 0.5)
