"""The exam questions: every number of a solution is computed from its question."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, log2, pi, sqrt

import numpy as np
import pytest
from conftest import ROOT
from scipy import integrate, optimize, stats

import adalib
from editions.exam import write_exam

TEXT = (ROOT / "book" / "exam.md").read_text(encoding="utf-8")
PARTS = re.split(r"^## (\d+)\. .*$", TEXT, flags=re.M)
QUESTIONS = dict(zip(map(int, PARTS[1::2]), PARTS[2::2], strict=True))
SHARED = PARTS[0]  # the two tables

COST = np.array([1, 2, 4])
X, Y, Z = (0.40, 0.60, 0.70), (0.50, 0.55, 0.85), (0.90, 0.90, 0.80)
PAIR = np.array([X, Y])
THREE = np.array([X, Y, Z])

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+")
FRACTION = re.compile(r"\\tfrac\{(\d+)\}\{(\d+)\}")


def solution(number: int) -> str:
    """The text of a solution, without its listings."""
    text = QUESTIONS[number].partition(":::{admonition} Solution")[2]
    return re.sub(r"```.*?```", "", text, flags=re.S)


def numbers(text: str) -> list[tuple[float, float]]:
    """Every decimal and every fraction of a text, with half a unit of its last digit."""
    decimals = [
        (float(one), 0.5 * 10.0 ** -len(one.partition(".")[2])) for one in NUMBER.findall(text)
    ]
    return decimals + [(int(top) / int(bottom), 0.0) for top, bottom in FRACTION.findall(text)]


def printed_by(number: int) -> list[float]:
    """What the listing of a solution prints."""
    listing = re.search(r"```python\n(.*?)```", QUESTIONS[number], re.S)
    assert listing is not None
    assert len([line for line in listing[1].splitlines() if line]) <= 10
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(listing[1], {})
    return [float(word) for word in output.getvalue().split()]


def relaxed(acc, budget):
    """The best mixed policy as a linear program: its value, price and shares."""
    count, width = acc.shape
    found = optimize.linprog(
        -acc.ravel() / count,
        A_ub=[np.tile(COST, count) / count],
        b_ub=[budget],
        A_eq=np.kron(np.eye(count), np.ones(width)),
        b_eq=np.ones(count),
    )
    return -found.fun, -found.ineqlin.marginals[0], found.x.reshape(count, width)


def spent(acc, price):
    return COST[adalib.oracle_labels(acc, COST, price)].mean()


def scored(acc, price):
    labels = adalib.oracle_labels(acc, COST, price)
    return acc[np.arange(len(acc)), labels].mean()


def dual(acc, price, budget):
    return price * budget + (acc - price * COST).max(axis=1).mean()


def pair_of_programs():
    value, price, shares = relaxed(PAIR, 2)
    worth = (PAIR - price * COST).max(axis=1)
    assert value == pytest.approx(dual(PAIR, price, 2))
    two_each = PAIR[:, 1].mean()
    slopes = [0.2, 0.05, price]
    parts = [2 * price, worth.mean(), 1 / 2]
    return [*slopes, shares[1, 2], value, *worth, *parts, two_each, Y[1] - Y[0]]


def candidates():
    first, second, third = (PAIR - price * COST for price in (0.15, 0.05, 7 / 60))
    net = [*first.ravel(), *second[0], second[1].max(), *third.max(axis=1)]
    assert third[1, 0] == pytest.approx(third[1, 2])
    assert [spent(PAIR, 0.15), COST[[1, 2]].mean()] == [1.5, 3]
    for budget, price in ((1.5, 0.15), (3, 0.05)):
        assert relaxed(PAIR, budget)[0] == pytest.approx(dual(PAIR, price, budget))
    mixed_cost = COST @ [2 / 3, 0, 1 / 3]
    assert (2 + mixed_cost) / 2 == pytest.approx(2)
    return [*net, 0.5, 0.15 * 0.5, 1.5, 1 / 3, 2 / 3]


def worth_of_an_answer():
    cost, acc = np.array([1, 1.5, 2.5, 4]), np.array([0.40, 0.50, 0.62, 0.68])
    slopes = np.diff(acc) / np.diff(cost)
    rise = np.interp(1.6, cost, acc) - np.interp(1.4, cost, acc)
    assert cost[np.argmax(acc - 0.05 * cost)] == 2.5
    assert np.ptp((acc - 0.12 * cost)[1:3]) == pytest.approx(0)
    return [*slopes, rise, slopes[0] * 0.2, 0.1]


def staircase():
    edges = [0.05, 7 / 60, 0.2]
    below = [spent(THREE, edge - 1e-9) for edge in edges]
    at = [spent(THREE, edge) for edge in edges]
    assert at == pytest.approx([*below[1:], 1])
    assert spent(THREE, 0) == pytest.approx(3)
    assert all(adalib.oracle_labels(THREE, COST, lam)[1] != 1 for lam in np.linspace(0, 1, 1001))
    return [*edges, *below, Y[1] - Y[0], (Y[2] - Y[1]) / 2]


def bisection():
    low, high, middles = 0.0, 1.0, []
    for _ in range(4):
        middles.append((low + high) / 2)
        low, high = (low, middles[-1]) if spent(THREE, middles[-1]) <= 2 else (middles[-1], high)
    assert ceil(-log2(0.0001)) == 14
    value, price, shares = relaxed(THREE, 2)
    assert printed_by(5) == pytest.approx([price])
    left = 2 - spent(THREE, price + 1e-9)
    costs = [spent(THREE, middle) for middle in middles]
    return [*middles, low, high, price, *costs, left, shares[1, 2], value]


def gap_of_copies():
    gaps = [1 / 2 - floor(n / 2) / n for n in (3, 5, 101)]
    assert 2 * 3 + 5 == 11 > 7 * 1.5
    return [1 / 2, *gaps, 1 / 4, 1 / 7, 1 / 4 - 1 / 7, 2 / 7, 10.5]


def everett():
    accuracy, cost = scored(THREE, 0.1), spent(THREE, 0.1)
    best = optimize.minimize_scalar(
        lambda price: dual(THREE, price, 2.5), bounds=(0, 1), method="bounded"
    )
    limits = [accuracy + 0.1 * (at - cost) for at in (2.2, 2.5)]
    assert limits[0] < 0.79
    assert limits[1] < 0.81
    return [accuracy, cost, *limits, 0.05, best.fun, 1 / 6]


def luckier_of_two():
    outcomes = list(itertools.product((0, 1), repeat=4))
    claim = np.mean([max(a + b, c + d) / 2 for a, b, c, d in outcomes])
    ones = np.mean([max(a + b, c + d) == 2 for a, b, c, d in outcomes])
    zeros = np.mean([max(a + b, c + d) == 0 for a, b, c, d in outcomes])
    excess = 0.05 / sqrt(pi)
    assert printed_by(8) == pytest.approx([0.5 + excess], abs=2e-4)
    return [1 / 4, 1 / 2, ones, zeros, claim, 0.5, 0.05, excess, 0.5 + excess, 3 / 4]


def claim_worth_best():
    seen = list(itertools.product((0, 1), repeat=2))
    nets = np.array([[one - 0.1, two - 0.2] for one, two in seen])
    labels = nets.argmax(axis=1)
    worth = np.mean(0.5 - 0.1 * (labels + 1))
    return [*nets.max(axis=1), 0.1, 1 / 4, nets.max(axis=1).mean(), 1.25, worth, 0.5 - 0.1]


def cross_fitting():
    first, second = np.array([[0.4, 0.8], [0.6, 0.5]]), np.array([[0.5, 0.6], [0.5, 0.7]])
    cost, rows = np.array([1, 2]), np.arange(2)
    scores, costs = [], []
    for chosen_on, scored_on in ((first, second), (second, first)):
        labels = (chosen_on - 0.15 * cost).argmax(axis=1)
        scores.append(scored_on[rows, labels])
        costs.append(cost[labels].mean())
    pooled = (first + second) / 2
    claim = pooled[rows, (pooled - 0.15 * cost).argmax(axis=1)].mean()
    nets = [half - 0.15 * cost for half in (first, second)]
    means = np.mean(scores, axis=1)
    return [*np.ravel(nets), *np.ravel(scores), *means, means.mean(), *costs, *pooled.ravel()] + [
        claim,
        claim - means.mean(),
    ]


def new_questions():
    share = 0.9 / 3
    mix = 0.61 + share * (0.67 - 0.61)
    differences = np.repeat([1.0, -1.0, 0.0], [12, 5, 83])
    interval = adalib.mean_interval(differences)
    spread = differences.std(ddof=1)
    assert stats.t.ppf(0.975, 99) == pytest.approx(1.984, abs=5e-4)
    assert ceil((1.96 * 0.4084 / 0.02) ** 2) == 1602
    variance = differences.var(ddof=1)
    return [share, 0.06, mix, 0.645 - mix, interval.mean, -interval.low, interval.high] + [
        variance,
        spread,
        spread / 10,
        1.96,
    ]


def best_of_twenty():
    density = lambda z: z * 20 * stats.norm.pdf(z) * stats.norm.cdf(z) ** 19  # noqa: E731
    largest = integrate.quad(density, -10, 10)[0]
    assert largest == pytest.approx(1.867, abs=5e-4)
    wide = stats.norm.ppf(1 - 0.05 / 40)
    assert wide == pytest.approx(3.023, abs=5e-4)
    narrow = stats.norm.ppf(0.975)
    return [0.025, 0.975, 1 - 0.975**20, largest / 100, 0.05, 0.05 / 20, wide / 100, narrow / 100]


def stopping(price):
    """Value, accuracy and answers of the best rule, by trying all of them."""
    third = {"agreed": 0.7 * 0.88 + 0.3 * 0.62, "tied": 0.7}
    now = {"agreed": 0.8, "tied": 0.5}
    chance = {"agreed": 0.6, "tied": 0.4}
    rules = [(0.6, 1.0)]
    for going_on in itertools.product((False, True), repeat=2):
        goes_on = dict(zip(now, going_on, strict=True))
        accuracy = sum(chance[s] * (third if goes_on[s] else now)[s] for s in now)
        rules.append((accuracy, 2 + sum(chance[s] * goes_on[s] for s in now)))
    accuracy, answers = max(rules, key=lambda rule: rule[0] - price * rule[1])
    return accuracy - price * (answers - 1), accuracy, answers


def stop_or_go_on():
    value, accuracy, answers = stopping(0.05)
    agreed = 0.7 * 0.88 + 0.3 * 0.62
    edge = optimize.brentq(lambda price: 0.76 - 1.4 * price - 0.6, 0, 1)
    for price, wanted in ((0.001, 3), (0.003, 2.4), (edge - 0.001, 2.4), (edge + 0.001, 1)):
        assert stopping(price)[2] == pytest.approx(wanted)
    ahead = 0.6 * 0.8 + 0.4 * 0.5
    best = stopping(0.09)[0]
    used = [0.6, 0.4, 0.8, 0.5, 0.7, 0.3, 0.88, 0.62, 1.4, 0.16, 0.2]
    return (
        used
        + [agreed, agreed - 0.8, edge, value, accuracy, answers, ahead, ahead - 0.09]
        + [
            best,
            0.09 * 1.4,
            best - 0.6,
        ]
    )


def prices_to_budget():
    rules = [stopping(price)[1:] for price in (0.2, 0.05, 0.0)]
    (once, one), (sometimes, some), (always, three) = rules
    assert (one, three) == (1, 3)
    share = (2 - one) / (some - one)
    mixed = once + share * (sometimes - once)
    fixed = 0.6 * 0.8 + 0.4 * 0.5
    used = [0.4, 0.802, 0.7, 1.4, 0.16, 0.16 / 1.4]
    return [once, sometimes, some, always, share, mixed, fixed, mixed - fixed, *used]


def exponential_runners():
    def waiting(n, k):
        return float(sum(Fraction(1, n - i) for i in range(k)))

    assert printed_by(15) == pytest.approx([waiting(4, 2), 2], abs=5e-3)
    assert waiting(7, 3) <= 0.6 < waiting(6, 3)
    return [waiting(4, 2), waiting(6, 3), waiting(7, 3), *(1 / m for m in range(3, 8))]


def other_tails():
    lengths, chances = np.array([0.5, 2.5]), np.array([3 / 4, 1 / 4])
    first = (np.minimum.outer(lengths, lengths) * np.outer(chances, chances)).sum()
    uniform = integrate.quad(lambda t: (1 - t / 2) ** 3, 0, 2)[0]

    def weibull(shape):
        scale = 1 / integrate.quad(lambda t: np.exp(-(t**shape)), 0, np.inf)[0]
        return 2 * integrate.quad(lambda t: np.exp(-2 * (t / scale) ** shape), 0, np.inf)[0]

    tails = [weibull(0.5), weibull(2)]
    return [1 / 16, 15 / 16, 1 / 2, first, 2 * first, uniform, 3 * uniform, 0.5, *tails]


RULES = np.array([[0.50, 1, 1.0], [0.62, 3, 1.5], [0.56, 3, 0.6]])


def two_limits(waiting=1.0, limits=2):
    tokens_and_waiting = RULES[:, 1:].T[:limits]
    found = optimize.linprog(
        -RULES[:, 0],
        A_ub=tokens_and_waiting,
        b_ub=[2, waiting][:limits],
        A_eq=[[1, 1, 1]],
        b_eq=[1],
    )
    return -found.fun, -found.ineqlin.marginals, found.x


def tokens_and_waiting():
    value, (tokens, waiting), shares = two_limits()
    left = 0.50 - tokens - waiting
    free = two_limits(limits=1)[0]
    more = two_limits(waiting=1.1)[0] - value
    assert more == pytest.approx(0.1 * waiting)
    used = [0.12, 0.06, 0.5, 0.4, 0.1]
    return [value, tokens, waiting, *shares, left, 2 * tokens, free, free - value, more, *used]


def two_prices():
    single, several = RULES[[0, 2]]
    cross = optimize.brentq(lambda mu: (single - several) @ [1, -0.04, -mu], 0, 1)
    return [0.50 - 0.04, 0.56 - 0.12, 0.6, cross, 2 / 50]


def circling():
    prices, costs = [0.0], []
    for _ in range(4):
        costs.append(spent(PAIR, prices[-1]))
        prices.append(prices[-1] - 0.1 * (2 - costs[-1]))
    assert prices == pytest.approx([0, 0.2, 0.1, 0.2, 0.1])
    assert costs == [4, 1, 3, 1]
    values = [dual(PAIR, price, 2) for price in (0.2, 0.1)]
    accuracies = [scored(PAIR, price) for price in (0.2, 0.1)]
    nets = np.ravel([(PAIR - price * COST).max(axis=1) for price in (0.2, 0.1)])
    best, price, _ = relaxed(PAIR, 2)
    return [0.2, 0.1, *values, *accuracies, np.mean(accuracies), *nets, best, price, 0.4, 1 / 2]


def vote_of_two():
    def average(size):
        picks = list(itertools.combinations("AAABC", size))
        return np.mean([most(pick) for pick in picks])

    def most(pick):
        top = max(map(pick.count, pick))
        leaders = {answer for answer in pick if pick.count(answer) == top}
        return ("A" in leaders) / len(leaders)

    assert average(1) == average(2)
    assert average(5) == 1
    return [average(1), average(3), 0.5, 1 / 3, 6 / 10]


COMPUTED: dict[int, Callable[[], list[float]]] = dict(
    enumerate(
        [
            pair_of_programs,
            candidates,
            worth_of_an_answer,
            staircase,
            bisection,
            gap_of_copies,
            everett,
            luckier_of_two,
            claim_worth_best,
            cross_fitting,
            new_questions,
            best_of_twenty,
            stop_or_go_on,
            prices_to_budget,
            exponential_runners,
            other_tails,
            tokens_and_waiting,
            two_prices,
            circling,
            vote_of_two,
        ],
        start=1,
    )
)


@pytest.mark.parametrize("number", QUESTIONS)
def test_every_number_of_a_solution_is_given_or_computed(number):
    computed = COMPUTED[number]()
    given = [value for value, _ in numbers(SHARED + QUESTIONS[number].partition(":::{adm")[0])]
    unfounded = [
        value
        for value, half_a_digit in numbers(solution(number))
        if not any(abs(value - one) <= half_a_digit + 1e-7 for one in computed + given)
    ]
    assert unfounded == []


@pytest.mark.parametrize("number", QUESTIONS)
def test_every_computed_number_is_in_the_solution(number):
    written = numbers(solution(number)) + [(0.0, 0.0)]
    whole = [(float(one), 0.0) for one in re.findall(r"(?<![\d.])\d+(?![\d.])", solution(number))]
    missing = [
        value
        for value in COMPUTED[number]()
        if not any(abs(abs(value) - one) <= half + 1e-7 for one, half in written + whole)
    ]
    assert missing == []


@pytest.mark.parametrize("number", QUESTIONS)
def test_points_add_up(number):
    asked = QUESTIONS[number].partition(":::{admonition} Solution")[0]
    points = int(re.search(r"(\d+) points, \d+ minutes", asked)[1])
    assert sum(map(int, re.findall(r"\((\d+)\)[.?]?(?= |$)", asked, re.M))) == points


def test_there_are_twenty():
    assert list(QUESTIONS) == list(range(1, 21))
    assert set(COMPUTED) == set(QUESTIONS)


@pytest.mark.parametrize("name", ["autumn", "spring", "resit"])
def test_a_drawn_exam_agrees_with_the_linear_program(name, tmp_path):
    exam, key = (path.read_text(encoding="utf-8") for path in write_exam(name, tmp_path))
    assert "The answer is" not in exam
    first = exam.split("## 2.")[0]
    rows = re.findall(r"\| [XYZ] \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", first)
    acc = np.array(rows, dtype=float)
    budget = float(re.search(r"The budget is ([\d.]+)", first)[1])
    value, _, _ = relaxed(acc, budget)
    assert f"The value is {value:.4f}" in key
    printed = float(re.search(r"lambda=([\d.]+)", key.split("(4)")[1])[1])
    assert dual(acc, printed, budget) == pytest.approx(value, abs=2e-4)


def test_another_name_gives_other_numbers(tmp_path):
    first, second = (write_exam(name, tmp_path)[0].read_text() for name in ("a", "b"))
    assert first.split("\n", 1)[1] != second.split("\n", 1)[1]
