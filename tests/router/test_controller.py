"""The budget is held: by a law that can be added up, and within a bound that no sequence of
questions passes."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playback import Playback

from adalib import Router, load
from adalib.router.controller import BudgetController, Reach
from adalib.router.purse import Ledger, Purse
from adalib.router.routed import CAP, OTHER, WORTH
from adalib.sequential.policy import PricedStopping
from adalib.solve.hull import concave_hull

BUDGET = 4.0


@given(st.lists(st.floats(0, 40), min_size=1, max_size=300))
def test_the_average_is_off_by_what_the_price_moved(costs):
    controller = BudgetController(BUDGET, price=0.02)
    for cost in costs:
        controller.open(3.0)
        controller.close(3.0, cost)
    off = controller.average / BUDGET - 1
    moved = log(controller.price / controller.first_price) / (controller.step * len(costs))
    # Equal, unless credit was let go: then the price stands higher than the average alone would
    # have it.
    assert moved - controller.let_go / (BUDGET * len(costs)) == pytest.approx(off, abs=1e-9)
    assert controller.let_go >= -1e-9
    assert controller.closed >= controller.floor
    if len(costs) <= 20:
        assert controller.let_go == pytest.approx(0, abs=1e-9)


class Adversary:
    """Rules by their expected costs and accuracies, and an enemy who sets what each question costs.

    By the cheapest rule a question costs ``cheapest``, or more where it is forced to; by the others
    anything.
    """

    def __init__(self, costs, accuracies, most, budget, first, step=0.2, turn=np.inf):
        self.costs, self.accuracies = (
            np.asarray(costs, dtype=float),
            np.asarray(accuracies, dtype=float),
        )
        gains = (self.accuracies[1:] - self.accuracies[0]) / (self.costs[1:] - self.costs[0])
        reach = Reach(float(gains.max()), float(self.costs[0]), float(most), float(turn))
        self.controller = BudgetController(budget, first, step=step, reach=reach)
        self.open, self.total, self.forced, self.worst = [], 0.0, 0.0, -np.inf

    def opens(self):
        """Open a question: its rule is the one that the price picks."""
        rule = int(np.argmax(self.accuracies - self.controller.price * self.costs))
        self.controller.open(self.costs[rule])
        self.open.append([rule, self.costs[rule], 0.0])
        return rule

    def closes(self, place, cost, forced=0.0):
        rule, counted, paid = self.open.pop(place)
        if not rule and not paid:
            cost, self.forced = (
                self.costs[0] + forced,
                self.forced + max(self.costs[0] + forced - self.budget, 0.0),
            )
        self.controller.close(counted, cost)
        self.total += cost - self.budget
        self.worst = max(self.worst, self.total)

    def drops(self, place):
        before, counted = self.controller.closed, self.open.pop(place)[1]
        self.controller.drop(counted)
        assert self.controller.closed == before

    @property
    def budget(self):
        return self.controller.budget


@st.composite
def libraries(draw):
    """Two to five rules on a concave curve, the most that a question costs, a budget and a first
    price."""
    steps = draw(st.lists(st.floats(0.01, 6), min_size=1, max_size=4))
    slopes = sorted(
        draw(st.lists(st.floats(1e-4, 0.5), min_size=len(steps), max_size=len(steps))), reverse=True
    )
    cheapest = draw(st.floats(0.5, 2))
    costs = cheapest + np.concatenate([[0], np.cumsum(steps)])
    accuracies = np.concatenate([[0], np.cumsum(np.array(slopes) * steps)])
    most = costs[-1] + draw(st.floats(0, 30))
    budget = min(cheapest * draw(st.floats(1, 6)), most)
    return (
        costs,
        accuracies,
        most,
        budget,
        draw(st.floats(1e-4, 1)),
        draw(st.sampled_from([0.02, 0.2, 1.0])),
    )


MOVES = st.lists(
    st.tuples(st.sampled_from("oooccd"), st.integers(0, 63), st.floats(0, 1)), max_size=150
)


@given(libraries(), st.integers(1, 12), MOVES, st.booleans())
def test_no_sequence_of_questions_passes_the_bound(library, k, moves, greedy):
    """The theorem of chapter 10: at most k open, all costs an enemy's, some questions dropped,
    floor included."""
    enemy = Adversary(*library, turn=0.1)  # rounds that nobody keeps to change nothing
    for move, place, share in moves * 3:
        if move == "o" and len(enemy.open) < k:
            enemy.opens()
        elif move == "c" and enemy.open:
            dearest = greedy or share > 0.5
            cost = library[2] if dearest else enemy.costs[0] + share * (library[2] - enemy.costs[0])
            enemy.closes(place % len(enemy.open), cost)
        elif move == "d" and enemy.open:
            enemy.drops(place % len(enemy.open))
    while enemy.open:
        enemy.closes(0, library[2])
    costs, _, most, budget, first, step = library
    rises = budget / step * max(log(enemy.controller.reach.high / first), 0)
    assert enemy.worst <= rises + (k - 1) * (most - costs[0]) + most - budget + 1e-6
    assert enemy.controller.let_go >= -1e-6  # nothing was written off


@given(libraries(), MOVES)
def test_only_what_no_price_could_save_is_written_off(library, moves):
    """Where the cheapest rule costs more than the budget, the debt has a ceiling, and what is above
    was forced."""
    enemy = Adversary(*library)
    for _, _, share in moves * 3:
        enemy.opens()
        enemy.closes(0, library[2] * share, forced=50 * share)
        assert enemy.controller.closed <= enemy.controller.bound() + 1e-6
        assert -enemy.controller.let_go <= enemy.forced + 1e-6
        assert enemy.total <= enemy.controller.bound() + enemy.forced + 1e-6


@given(libraries(), st.integers(1, 12), MOVES, st.floats(0.1, 5))
def test_questions_that_stop_at_the_top_pass_a_smaller_bound(library, k, moves, turn):
    """Every answer is bought in rounds up to the most, and none begins once the price is at the
    top."""
    enemy = Adversary(*library, turn=turn)
    for move, place, share in moves * 3:
        if move == "o" and len(enemy.open) < k:
            enemy.opens()
        elif enemy.open:
            one = enemy.open[place % len(enemy.open)]
            # What it has paid for so far: the first round, then one after another that the enemy
            # makes as dear.
            one[2] = min(one[2] + turn, library[2]) if one[2] else enemy.costs[0]
            one[1] = enemy.controller.rise(one[1], one[2])
            if enemy.controller.brakes or share > 0.9:
                enemy.closes(place % len(enemy.open), one[2])
    while enemy.open:  # all are in the middle of a round
        paid = enemy.open[0][2]
        enemy.closes(0, min(paid + turn, library[2]) if paid else enemy.costs[0])
    assert enemy.worst <= enemy.controller.bound(k) + 1e-6


def easy_world():
    return Adversary([1, 2, 5, 25], [0.4, 0.45, 0.5, 0.54], most=40, budget=3.0, first=0.02)


def test_a_quiet_time_pays_for_little():
    """A thousand questions that cost one answer, then a thousand that cost all they can."""
    enemy = easy_world()
    for number in range(2000):
        enemy.opens()
        enemy.closes(0, 1.0 if number < 1000 else 40.0)
        if number == 999:
            before = enemy.total
            assert (before, enemy.controller.closed) == (-2000.0, -60.0)
            assert enemy.controller.let_go == 1940.0
    assert enemy.total - before <= 60 + enemy.controller.bound()
    assert (enemy.total - before) / 3000 < 0.05


def test_debts_that_no_price_could_save_starve_nobody():
    """A thousand questions that cost 5 by any rule, and then how many that get the cheapest."""
    enemy = easy_world()
    for _ in range(1000):
        enemy.opens()
        enemy.closes(0, 5.0, forced=4.0)
    assert enemy.total == 2000.0
    starved = 0
    while enemy.opens() == 0:
        enemy.closes(0, 1.0)
        starved += 1
    top = 3.0 / 0.2 * log(0.05 / 0.02)
    assert starved == int((enemy.controller.bound() - top) / (3.0 - 1.0)) + 1 < 20


@pytest.fixture(scope="module")
def world():
    """A policy fitted on half of the questions, the other half, and which of these are hard.

    Hard are those whose answers agree least. The hopeless ones would not do, because priced
    stopping gives up on them early.
    """
    answers = load("word-fewshot")
    order = np.random.default_rng(0).permutation(answers.n)
    policy = PricedStopping(("votes",)).fit(answers.take(order[::2]))
    asked = answers.take(order[1::2])
    agreement = [np.bincount(row[row >= 0], minlength=1).max() for row in asked.classes]
    return policy, asked, np.argsort(agreement)[: asked.n // 3]


def play(world, questions, controller, at_a_time=1, seed=0, path=None):
    """Ask questions one after another (or so many at a time), answers played back in random
    order."""
    policy, asked, _ = world
    rng, open_now = np.random.default_rng(seed), []
    for question in questions:
        number = policy.at_price(controller.price)
        controller.open(policy.costs[number])
        session, n = policy.begin(number), 0
        for answer in rng.permutation(asked.classes[question]):
            n += 1
            if not session.add(None if answer < 0 else int(answer)):
                break
        open_now.append((policy.costs[number], n))
        if len(open_now) >= at_a_time:
            controller.close(*open_now.pop(0))
            if path is not None:
                path.append(controller.price)
    for expected, n in open_now:
        controller.close(expected, n)
    return controller


def streams(world):
    """The three streams of 1,000 questions: the training mix, a shift half way, a hard
    beginning."""
    _, asked, hard = world
    rng = np.random.default_rng(1)
    mixed, harder = rng.integers(asked.n, size=1000), rng.choice(hard, 1000)
    half = np.arange(1000) < 500
    return {
        "training mix": mixed,
        "hard from the middle on": np.where(half, mixed, harder),
        "200 hard ones first": np.where(np.arange(1000) < 200, harder, mixed),
    }


@pytest.mark.parametrize("name", ["training mix", "hard from the middle on", "200 hard ones first"])
@pytest.mark.parametrize("at_a_time", [1, 32])
def test_within_two_percent_of_the_budget(world, name, at_a_time):
    controller = BudgetController(BUDGET, world[0].price(BUDGET))
    play(world, streams(world)[name], controller, at_a_time)
    assert controller.asked == 1000
    assert controller.average == pytest.approx(BUDGET, rel=0.02)


def test_a_price_picks_from_the_envelope(world):
    policy = world[0]
    picked = [policy.at_price(price) for price in np.geomspace(1e-6, 10, 400)]
    assert picked == sorted(picked, reverse=True)  # dearer price, cheaper member
    # All members but those that only spend what is left over: no price above 0 buys what brings
    # nothing.
    assert set(picked) == set(concave_hull(policy.costs, policy.accuracies))
    assert policy.costs.size - len(set(picked)) <= 1
    for budget in (1.5, 3.0, 8.0):
        price, mix = policy.price(budget), policy.mix(budget)
        assert {policy.at_price(price * 1.0001), policy.at_price(price * 0.9999)} == {
            mix.low,
            mix.high,
        }


def test_a_price_that_is_kept_in_a_range():
    controller = BudgetController(2, 0.1, reach=Reach(high=0.5, cheapest=1, most=40))
    bound = controller.bound(4)
    controller.low, controller.high = 0.05, 0.6
    for cost, price in ((0, 0.05), (1000, 0.6)):
        for _ in range(40):
            controller.open(2)
            controller.close(2, cost)
        assert controller.price == price
    assert controller.bound(4) == bound
    controller.high = 0.4  # questions would still be bought for that no price could refuse
    assert controller.bound(4) == float("inf")


def test_a_ledger_remembers_debt(tmp_path):
    whole = BudgetController(2, 0.1)
    for number, cost in enumerate((1, 5, 2, 3)):
        ledger = Ledger(tmp_path / "ledger.json")
        again = BudgetController(2, 0.1)
        again.keep_in(ledger, "samples")
        for controller in (whole, again):
            controller.open(2)
            controller.close(2, cost)
        assert (again.asked, again.spent) == (number + 1, whole.spent)
        assert again.price == pytest.approx(whole.price)
        for _ in range(7):
            again.open(2)
        ledger.close()
    assert Ledger(tmp_path / "ledger.json").at_once == 7
    with pytest.raises(ValueError, match="cost"):
        whole.close(2, float("nan"))
    with pytest.raises(ValueError, match="budget"):
        BudgetController(0, 0.1)


def test_what_a_killed_server_had_under_way_is_owed(tmp_path):
    """A question that was killed is asked again: what it had cost has no budget of its own."""
    ledger = Ledger(tmp_path / "ledger.json")
    controller = BudgetController(3, 0.1)
    controller.keep_in(ledger, "samples")
    for _ in range(4):
        controller.open(1)
        controller.hold(5.0)
    ledger.close()  # as the end of the process does
    again = BudgetController(3, 0.1)
    ledger = Ledger(tmp_path / "ledger.json")
    again.keep_in(ledger, "samples")
    assert (again.spent, again.closed, again.asked) == (20.0, 20.0, 0)
    with pytest.raises(ValueError, match="counts samples, and this router tokens"):
        BudgetController(3, 0.1).keep_in(ledger, "tokens")


@pytest.mark.parametrize("kills", [0, 1])
def test_restarts_stay_within_one_bound(tmp_path, kills):
    """Twenty starts, each spending all that it may, overspend no more than one.

    A question that was open when a server was killed is never answered and earns no budget, so the
    last kill may add one budget per open question.
    """
    over = 0.0
    reach = Reach(high=0.05, cheapest=1, most=40, turn=1)
    for _ in range(20):
        ledger = Ledger(tmp_path / "ledger.json")
        controller = BudgetController(3, 0.02, reach=reach)
        controller.keep_in(ledger, "samples")
        for number in range(40):
            counted = 1.0 if controller.brakes else 25.0
            controller.open(counted)
            cost = 0.0
            while cost < 1 or (cost < 40 and not controller.brakes):
                controller.hold(1.0)
                cost += 1.0
                counted = controller.rise(counted, cost)
            if kills and number == 39:
                over += cost
                break  # killed: the question is never answered
            controller.hold(-cost)
            controller.close(counted, cost)
            over += cost - 3
        ledger.close()
    assert over <= controller.bound() + kills * controller.budget


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), max_size=200),
    st.floats(0.1, 20),
)
def test_the_purse_is_never_passed(steps, total):
    purse, open_now = Purse(total), []
    for most, share, settles in steps:
        if purse.reserve(most):
            open_now.append((most, most * share))
        if settles and open_now:
            purse.settle(*open_now.pop(0))
        assert purse.spent <= total * (1 + 1e-9)
    for most, cost in open_now:
        purse.settle(most, cost)
    assert purse.spent <= total * (1 + 1e-9)


@pytest.fixture(scope="module")
def router():
    return Router.fit(load("word-fewshot").take(range(0, 372, 2)), budget=3.0, signals=("votes",))


SPLIT = [f"Answer: {number}" for number in range(7)]  # no vote ever agrees


def other(count):
    """So many questions, all different: each has its answers in order, whichever is asked first."""
    return [f"How much is it, for the {place}th time?" for place in range(count)]


@pytest.mark.parametrize("at_once", [1, 16])
def test_a_running_router_keeps_its_bound(at_once):
    """Every question is as dear as its rule lets it be, one answer after the other or several at
    once."""
    taught = load("word-fewshot").take(range(0, 372, 4))
    router = Router.fit(taught, budget=3.0, signals=("votes",))
    controller, over, close = router.controller, [], router.controller.close

    def noted(counted, cost):
        close(counted, cost)
        over.append(controller.spent - 3.0 * controller.asked)

    controller.close = noted
    found = router.answer_many(other(300), Playback(SPLIT), concurrency=at_once, progress=False)
    assert controller.at_once == at_once
    assert controller.asked == len(over) == 300
    assert max(over) <= controller.bound(at_once)
    assert controller.let_go == pytest.approx(0, abs=1e-9)
    assert WORTH in {one.reason for one in found}


def overspent_by(router, ledger, questions, at_once):
    """Answer questions as a server that starts from a ledger does; what they cost above their
    budgets."""
    again = router.at_budget(router.controller.budget)
    again.purse = Purse(ledger=ledger)
    again.controller.keep_in(ledger, again.unit)
    answer_many = again.answer_many
    found = answer_many(questions, Playback(SPLIT), concurrency=at_once, progress=False)
    return sum(one.cost - again.controller.budget for one in found), again.controller


def test_twenty_restarts_of_a_router_stay_within_one_bound(router, tmp_path):
    """Every start finds the most expensive questions; the ledger carries the debt from one to the
    next."""
    over = 0.0
    for _ in range(20):
        ledger = Ledger(tmp_path / "ledger.json")
        more, controller = overspent_by(router, ledger, other(12), at_once=8)
        ledger.close()
        over += more
        assert over <= controller.bound()
    assert controller.asked == 240


def test_a_resumed_run_with_another_concurrency_stays_within_its_bound(router, tmp_path):
    """The largest concurrency of all runs is kept, and the bound is for it."""
    over = 0.0
    for number, at_once in enumerate((1, 16, 4, 32, 1)):
        ledger = Ledger(tmp_path / "ledger.json")
        more, controller = overspent_by(router, ledger, other(64), at_once)
        ledger.close()
        over += more
        assert controller.at_once == max((1, 16, 4, 32, 1)[: number + 1])
        assert over <= controller.bound()


def test_what_no_price_of_ours_decides_is_apart(router):
    """Own prices, other texts, and questions that are cut short: none moves the price."""
    router.controller = controller = Router(router.policy, None, 3.0).controller
    first, story = controller.price, Playback(["In 1984 we read.\nThen we slept."])
    for found in (
        *router.answer_many(other(20), Playback(SPLIT), price=0.0, progress=False),
        *router.answer_many(["Tell me a story"] * 20, story, progress=False),
    ):
        assert not found.counted
    assert found.reason == OTHER
    assert (controller.price, controller.asked, controller.average) == (first, 0, None)
    assert (controller.apart, controller.apart_spent) == (
        40,
        20 * router.policy.schedule[-1] + 40,
    )


def test_callers_with_a_cap_do_not_make_it_cheap_for_others(router):
    """What a cap cut short saved nothing. What cost more than the budget counts, whatever ended
    it."""
    router.controller = controller = Router(router.policy, None, 3.0).controller
    first = controller.price
    for cap, reasons in ((1, {CAP, WORTH}), (6, {CAP})):
        found = router.answer_many(
            ["How much?"] * 300, Playback(SPLIT), cap=cap, concurrency=1, progress=False
        )
        assert {one.reason for one in found} >= reasons
        assert all(one.counted == (one.reason == WORTH or one.cost > 3) for one in found)
        assert controller.price > first / 4
