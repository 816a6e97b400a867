"""The controller holds its budget whatever questions cost, and goes on after a restart."""

from math import log

import numpy as np
import pytest
from conftest import wait_until
from hypothesis import given
from hypothesis import strategies as st

from adalib.datasets.files import DataError
from adalib.serve.budget import CREDIT, BudgetController

BUDGET = 4.0


@given(st.lists(st.floats(0, 40), min_size=1, max_size=200))
def test_the_average_is_off_by_what_the_price_moved(costs):
    """The proposition of the chapter "Deploy", as long as no unspent budget is forgotten."""
    controller = BudgetController(BUDGET, price=0.02)
    forgotten = 0.0
    for cost in costs:
        controller.open(3.0)
        before = controller.closed
        controller.close(3.0, cost)
        forgotten += controller.closed - (before + cost - BUDGET)
    moved = log(controller.price / 0.02) / (controller.step * len(costs))
    off = controller.average / BUDGET - 1
    assert moved - forgotten / (BUDGET * len(costs)) == pytest.approx(off, abs=1e-9)
    assert controller.closed >= -CREDIT * BUDGET
    if len(costs) <= CREDIT:
        assert forgotten == pytest.approx(0, abs=1e-9)


@st.composite
def rules(draw):
    """Two to five rules on a concave curve, and what a question costs at most."""
    steps = draw(st.lists(st.floats(0.01, 6), min_size=1, max_size=4))
    size = len(steps)
    slopes = sorted(draw(st.lists(st.floats(1e-4, 0.5), min_size=size, max_size=size)))[::-1]
    cheapest = draw(st.floats(0.5, 2))
    costs = cheapest + np.concatenate([[0], np.cumsum(steps)])
    accuracies = np.concatenate([[0], np.cumsum(np.array(slopes) * steps)])
    return costs, accuracies, costs[-1] + draw(st.floats(0, 30))


MOVES = st.lists(st.tuples(st.sampled_from("oooccdxf"), st.integers(0, 63), st.floats(0, 1)))


@given(rules(), st.floats(1, 6), st.floats(1e-4, 1), st.sampled_from([0.02, 0.2, 1.0]), MOVES)
def test_no_sequence_of_questions_passes_the_bound(rule, times, first, step, moves):
    """The theorem of the chapter "Deploy": all costs are an adversary's.

    Some questions are dropped (d), cut short (x), or forget what they save (f).
    """
    costs, accuracies, most = rule
    budget = min(costs[0] * times, most)
    controller = BudgetController(budget, first, step=step)
    gains = (accuracies[1:] - accuracies[0]) / (costs[1:] - costs[0])
    bound = controller.bound(4, high=float(gains.max()), cheapest=float(costs[0]), most=float(most))
    opened = []
    total = worst = 0.0
    for move, place, share in moves * 3:
        if move == "o" and len(opened) < 4:
            opened.append(int(np.argmax(accuracies - controller.price * costs)))
            controller.open(costs[opened[-1]])
        elif opened:
            number = opened.pop(place % len(opened))
            if move == "d":
                controller.drop(costs[number])
                continue
            cost = costs[0] if number == 0 else costs[0] + share * (most - costs[0])
            if move == "x":
                cost *= share
                controller.cut(costs[number], cost)
            else:
                controller.close(costs[number], cost, saves=move != "f")
            total += cost - budget
            worst = max(worst, total)
            allowed = bound + controller.cuts * budget
            assert controller.closed <= allowed + 1e-6
    assert worst <= bound + 1e-6


def test_hanging_up_saves_nothing():
    controller = BudgetController(BUDGET, 0.02)
    for _ in range(5):
        controller.open(3)
        controller.cut(3, cost=1)
    assert (controller.asked, controller.cuts, controller.spent, controller.debt) == (0, 5, 5, 5)
    controller.open(3)
    controller.close(3, cost=2)
    assert controller.average == 7  # what was spent for each question that was answered


def test_one_sequence_attains_the_bound():
    controller = BudgetController(3, 0.02)
    bound = controller.bound(4, high=0.5, cheapest=1.0, most=40.0)
    near = 1 + 1e-6
    for _ in range(3):
        controller.open(near)
    while (gap := 3 / 0.2 * log(0.5 / 0.02) - controller.debt) > 1e-5:
        controller.open(near)
        controller.close(near, min(3 + 0.999999 * gap, 40.0))
    controller.open(near)
    for _ in range(4):
        controller.close(near, 40.0)
    spent = controller.spent - 3 * controller.asked
    assert 0.9999 * bound < spent <= bound


def test_the_price_stays_above_its_floor():
    controller = BudgetController(BUDGET, 0.02, low=0.019)
    controller.open(1)
    controller.close(1, 0)
    assert controller.price == 0.019


@pytest.mark.parametrize("bad", [{"budget": 0, "price": 1}, {"budget": 1, "price": float("nan")}])
def test_a_controller_needs_positive_numbers(bad):
    with pytest.raises(ValueError, match="positive"):
        BudgetController(**bad)


def test_a_restart_goes_on_from_the_debt(tmp_path):
    file = tmp_path / "debt.json"
    first = BudgetController(BUDGET, 0.02)
    first.keep_in(file)
    for cost in (8, 1, 10):
        first.open(4)
        first.close(4, cost)
    first.open(4)
    first.cut(4, 2)
    first.open(40)  # a question that is open when the program ends is forgotten
    again = BudgetController(BUDGET, 0.02)
    with pytest.raises(DataError, match=r"debt\.json: another server .*--debt"):
        again.keep_in(file)
    (tmp_path / "link.json").symlink_to(file)
    with pytest.raises(DataError, match="another server"):
        again.keep_in(tmp_path / "link.json")
    first.let_go()
    again.keep_in(file)
    assert (again.asked, again.cuts, again.spent, again.debt) == (3, 1, 21, 9)
    assert again.price == pytest.approx(0.02 * np.exp(0.2 * 9 / BUDGET))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kind": "debt", "version": 1, "asked": -1}', "\x00"]
)
def test_a_damaged_debt_gets_one_sentence(tmp_path, text):
    file = tmp_path / "debt.json"
    file.write_text(text)
    with pytest.raises(DataError, match=r"debt\.json") as caught:
        BudgetController(BUDGET, 0.02).keep_in(file)
    assert "\n" not in str(caught.value)


def test_a_disk_that_is_full_stops_nothing(tmp_path, monkeypatch, caplog):
    controller = BudgetController(BUDGET, 0.02)
    controller.keep_in(tmp_path / "debt.json")

    def full(*_):
        raise DataError("debt.json: cannot be written (No space left on device)")

    with monkeypatch.context() as broken:
        broken.setattr("adalib.serve.debt.write_lines", full)
        for _ in range(3):
            controller.open(4)
            controller.close(4, 8)
        wait_until(lambda: controller.fault, "the fault is known")
    assert (controller.asked, controller.debt) == (3, 12)
    assert "No space left" in controller.fault
    assert len(caplog.records) == 1
    controller.open(4)
    controller.close(4, 8)
    controller.let_go()  # there is room again
    again = BudgetController(BUDGET, 0.02)
    again.keep_in(tmp_path / "debt.json")
    assert (again.asked, again.debt, again.fault) == (4, 16, "")
    again.let_go()


def test_a_folder_that_is_none_gets_one_sentence(tmp_path):
    with pytest.raises(DataError, match="cannot be written .*--debt"):
        BudgetController(BUDGET, 0.02).keep_in(tmp_path / "missing" / "debt.json")
