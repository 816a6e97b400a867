"""The exam questions: the results of every solution are computed from its question."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from math import ceil, floor, log2, pi, sqrt

import numpy as np
import pytest
from conftest import ROOT
from pypdf import PdfReader
from scipy import integrate, optimize, stats

import adalib
from adabook.highs import lp_solution
from adalib.solve.oracle import chosen
from editions import exam
from editions.__main__ import EditionError, read_secret
from editions.exam import write_exam
from editions.pdf import print_markdown

TEXT = (ROOT / "book" / "exam.md").read_text(encoding="utf-8")
PARTS = re.split(r"^## (\d+)\. .*$", TEXT, flags=re.M)
QUESTIONS = dict(zip(map(int, PARTS[1::2]), PARTS[2::2], strict=True))

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


def spent(acc, price):
    return adalib.average_cost(acc, COST, price)


def scored(acc, price):
    return chosen(acc, adalib.oracle_labels(acc, COST, price)).mean()


def pair_of_programs():
    value, shares, price = lp_solution(PAIR, COST, 2)
    worth = (PAIR - price * COST).max(axis=1)
    return [price, shares[1, 2], value, *worth, 2 * price, worth.mean(), PAIR[:, 1].mean()]


def candidates():
    first, second, third = (PAIR - price * COST for price in (0.15, 0.05, 7 / 60))
    costs = [spent(PAIR, price) for price in (0.15, 0.05 - 1e-9)]
    nets = [*first.ravel(), *second[0], second[1].max(), *third.max(axis=1)]
    return [*nets, *costs, 0.15 * (2 - costs[0])]


def worth_of_an_answer():
    cost, acc = np.array([1, 1.5, 2.5, 4]), np.array([0.40, 0.50, 0.62, 0.68])
    slopes = np.diff(acc) / np.diff(cost)
    low, high = np.interp([1.4, 1.6], cost, acc)
    return [*slopes, high - low, slopes[0] * 0.2, cost[np.argmax(acc - 0.05 * cost)]]


def staircase():
    edges = [0.05, 7 / 60, 0.2]
    below = [spent(THREE, edge - 1e-9) for edge in edges]
    assert [spent(THREE, edge) for edge in edges] == pytest.approx([*below[1:], 1])
    return [*edges, *below]


def bisection():
    low, high, middles = 0.0, 1.0, []
    for _ in range(4):
        middles.append((low + high) / 2)
        low, high = (low, middles[-1]) if spent(THREE, middles[-1]) <= 2 else (middles[-1], high)
    value, shares, price = lp_solution(THREE, COST, 2)
    assert printed_by(5) == pytest.approx([price])
    left = 2 - spent(THREE, price + 1e-9)
    costs = [spent(THREE, middle) for middle in middles]
    return [*middles, low, high, price, *costs, left, shares[1, 2], value, ceil(-log2(0.0001))]


def gap_of_copies():
    return [*(1 / 2 - floor(n / 2) / n for n in (3, 5, 101)), 1 / 4 - 1 / 7]


def everett():
    accuracy, cost = scored(THREE, 0.1), spent(THREE, 0.1)
    best = optimize.minimize_scalar(
        lambda price: adalib.dual(THREE, COST, price, 2.5), bounds=(0, 1), method="bounded"
    )
    return [accuracy, cost, *(accuracy + 0.1 * (at - cost) for at in (2.2, 2.5)), best.fun]


def luckier_of_two():
    larger = np.array([max(a + b, c + d) for a, b, c, d in itertools.product((0, 1), repeat=4)])
    excess = 0.05 / sqrt(pi)
    assert printed_by(8) == pytest.approx([0.5 + excess], abs=2e-4)
    chances = [np.mean(larger == count) for count in (2, 0)]
    return [*chances, larger.mean() / 2, excess, 0.5 + excess]


def claim_worth_best():
    nets = np.array([[one - 0.1, two - 0.2] for one, two in itertools.product((0, 1), repeat=2)])
    worth = np.mean(0.5 - 0.1 * (nets.argmax(axis=1) + 1))
    return [*nets.max(axis=1), nets.max(axis=1).mean(), worth, 0.5 - 0.1]


def cross_fitting():
    halves = np.array([[[0.4, 0.8], [0.6, 0.5]], [[0.5, 0.6], [0.5, 0.7]]])
    cost = np.array([1, 2])
    labels = (halves - 0.15 * cost).argmax(axis=2)
    scores = [half[[0, 1], chosen] for half, chosen in zip(halves[::-1], labels, strict=True)]
    means = np.mean(scores, axis=1)
    pooled = halves.mean(axis=0)
    claim = pooled[[0, 1], (pooled - 0.15 * cost).argmax(axis=1)].mean()
    nets = np.ravel(halves - 0.15 * cost)
    costs = cost[labels].mean(axis=1)
    return [*nets, *np.ravel(scores), *means, *costs, *pooled.ravel(), claim, claim - means.mean()]


def new_questions():
    mix = np.interp(1.9, [1, 4], [0.61, 0.67])
    differences = np.repeat([1.0, -1.0, 0.0], [12, 5, 83])
    interval = adalib.mean_interval(differences)
    spread = differences.std(ddof=1)
    wanted = ceil((1.96 * round(spread, 4) / 0.02) ** 2)
    found = [interval.mean, -interval.low, interval.high, spread**2, spread, spread / 10]
    return [mix, 0.645 - mix, *found, wanted]


def best_of_twenty():
    density = lambda z: z * 20 * stats.norm.pdf(z) * stats.norm.cdf(z) ** 19  # noqa: E731
    largest = integrate.quad(density, -10, 10)[0]
    return [1 - 0.975**20, largest / 100, *stats.norm.ppf([1 - 0.05 / 40, 0.975]) / 100]


def stopping(price):
    """Value, accuracy and answers of the best rule, by trying all of them."""
    rules = [(0.6, 1.0)]
    for agreed, tied in itertools.product((False, True), repeat=2):
        after_agreement = 0.7 * 0.88 + 0.3 * 0.62 if agreed else 0.8
        accuracy = 0.6 * after_agreement + 0.4 * (0.7 if tied else 0.5)
        rules.append((accuracy, 2 + 0.6 * agreed + 0.4 * tied))
    accuracy, answers = max(rules, key=lambda rule: rule[0] - price * rule[1])
    return accuracy - price * (answers - 1), accuracy, answers


def stop_or_go_on():
    agreed = 0.7 * 0.88 + 0.3 * 0.62
    edge = optimize.brentq(lambda price: stopping(price)[0] - 0.6 - 1e-12, 0.01, 0.2)
    for price, wanted in ((0.001, 3), (0.003, 2.4), (edge - 0.001, 2.4), (edge + 0.001, 1)):
        assert stopping(price)[2] == pytest.approx(wanted)
    ahead = 0.6 * 0.8 + 0.4 * 0.5
    best = stopping(0.09)[0]
    return [*stopping(0.05), agreed, agreed - 0.8, edge, ahead, ahead - 0.09, best, best - 0.6]


def prices_to_budget():
    (once, one), (sometimes, some), (always, three) = (
        stopping(price)[1:] for price in (0.2, 0.05, 0.0)
    )
    share = (2 - one) / (some - one)
    mixed = once + share * (sometimes - once)
    fixed = 0.6 * 0.8 + 0.4 * 0.5
    return [once, one, sometimes, some, always, three, share, mixed, fixed, mixed - fixed]


def exponential_runners():
    def waiting(n, k):
        return sum(1 / (n - i) for i in range(k))

    assert printed_by(15) == pytest.approx([waiting(4, 2), 2], abs=5e-3)
    assert waiting(7, 3) <= 0.6 < waiting(6, 3)
    return [waiting(4, 2), waiting(6, 3), waiting(7, 3)]


def other_tails():
    lengths, chances = np.array([0.5, 2.5]), np.array([3 / 4, 1 / 4])
    first = chances @ np.minimum.outer(lengths, lengths) @ chances
    uniform = integrate.quad(lambda t: (1 - t / 2) ** 3, 0, 2)[0]
    # The first of two Weibull times has the same shape, and its scale divided by 2 ** (1 / shape).
    weibull = [2 / 2 ** (1 / shape) for shape in (0.5, 2)]
    return [first, 2 * first, uniform, 3 * uniform, *weibull]


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
    return [value, tokens, waiting, *shares, left, free, free - value, more]


def two_prices():
    single, several = RULES[[0, 2]]
    cross = optimize.brentq(lambda mu: (single - several) @ [1, -0.04, -mu], 0, 1)
    return [0.50 - 0.04, 0.56 - 0.12, cross]


def circling():
    prices, costs = [0.0], []
    for _ in range(4):
        costs.append(spent(PAIR, prices[-1]))
        prices.append(prices[-1] - 0.1 * (2 - costs[-1]))
    values = adalib.dual(PAIR, COST, [0.2, 0.1], 2)
    best = lp_solution(PAIR, COST, 2)
    accuracies = [scored(PAIR, price) for price in (0.2, 0.1)]
    return [*prices, *costs, *values, *accuracies, np.mean(accuracies), best.value, best.lam]


def vote_of_two():
    def average(size):
        picks = itertools.combinations("AAABC", size)
        return np.mean([adalib.majority(pick).get("A", 0) for pick in picks])

    return [average(size) for size in (1, 2, 3, 5)]


def slater():
    value = lp_solution(PAIR, COST, 2).value
    least = PAIR[:, 0].mean()
    prices = np.linspace(0, 2, 2001)
    duals = np.array([adalib.dual(PAIR, COST, price, 1) for price in prices])
    at_minimum = prices[duals < duals.min() + 1e-12]
    assert at_minimum.max() == 2, "no upper end"
    assert adalib.dual(PAIR, COST, 9.0, 0.5) < adalib.dual(PAIR, COST, 5.0, 0.5) < 0
    return [least, duals.min(), at_minimum.min(), value, value - least]


def saddle():
    value, _, price = lp_solution(PAIR, COST, 2)
    plans = itertools.product(range(3), repeat=2)
    pure = max(PAIR[[0, 1], plan].mean() for plan in map(list, plans) if COST[plan].mean() <= 2)
    accuracy, cost = (0.60 + 0.85) / 2, 3
    assert accuracy + price * (2 - cost) == pytest.approx(value)
    return [price, value, accuracy, accuracy - 0.2, pure, value - pure]


def coordinator():
    low, high = (
        (scored(PAIR, p), spent(PAIR, p), adalib.dual(PAIR, COST, p, 2)) for p in (0.1, 0.15)
    )
    share = (2 - high[1]) / (low[1] - high[1])
    mixed = high[0] + share * (low[0] - high[0])
    apart = [
        [lp_solution(PAIR[[row]], COST, limit).value for row, limit in enumerate(limits)]
        for limits in ((2, 2), (1, 3))
    ]
    assert mixed == pytest.approx(lp_solution(PAIR, COST, 2).value)
    means = [np.mean(one) for one in apart]
    return [*low, *high, share, mixed, low[2] - mixed, *apart[0], *apart[1], *means]


def dynamic_program():
    def best(rows, answers):
        plans = itertools.product(range(3), repeat=len(rows))
        fits = [list(plan) for plan in plans if COST[list(plan)].sum() <= answers]
        return max(rows[range(len(rows)), plan].sum() for plan in fits)

    values = [best(THREE[2:], 1), *(best(THREE[1:], answers) for answers in (2, 3, 4, 5))]
    whole = best(THREE, 6) / 3
    relaxed, shares, _ = lp_solution(THREE, COST, 2)
    steps = adalib.frontier(THREE, COST).at(2).accuracy
    assert printed_by(24) == pytest.approx([whole])
    return [*values, 3 * whole, whole, relaxed, shares[1, 2], steps, relaxed - whole, 3 * 3 * 6]


COMPUTED = [
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
    slater,
    saddle,
    coordinator,
    dynamic_program,
]


@pytest.mark.parametrize(("number", "computed"), list(zip(QUESTIONS, COMPUTED, strict=True)))
def test_every_computed_number_is_in_the_solution(number, computed):
    written = numbers(solution(number)) + [(0.0, 0.0)]
    whole = [(float(one), 0.0) for one in re.findall(r"(?<![\d.])\d+(?!\.?\d)", solution(number))]
    missing = [
        value
        for value in computed()
        if not any(abs(abs(value) - one) <= half + 1e-7 for one, half in written + whole)
    ]
    assert missing == []


@pytest.mark.parametrize("number", QUESTIONS)
def test_points_add_up(number):
    asked = QUESTIONS[number].partition(":::{admonition} Solution")[0]
    points = int(re.search(r"(\d+) points, \d+ minutes", asked)[1])
    assert sum(map(int, re.findall(r"\((\d+)\)[.?]?(?= |$)", asked, re.M))) == points


def drawn(make, seed):
    """A long question, its first table and its budget or None."""
    asked = make(np.random.default_rng(seed))
    acc = np.array(re.findall(r"\| [XYZ] \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", asked.text))
    budget = re.search(r"budget is ([\d.]+)", asked.text)
    return asked, acc.astype(float), budget and float(budget[1])


def named(pattern, text):
    return float(re.search(pattern, text)[1])


@pytest.mark.parametrize("seed", range(4))
class TestLongQuestions:
    """Every key is computed again: by the linear program, by all plans, by a walk over prices."""

    def test_programs(self, seed):
        asked, acc, budget = drawn(exam.programs, seed)
        value, _, price = lp_solution(acc, COST, budget)
        assert named(r"The value is ([\d.]+);", asked.key) == pytest.approx(value, abs=5e-5)
        assert named(r"\$\\lambda=([\d.]+)\$", asked.key) == pytest.approx(price, abs=5e-5)

    def test_conditions(self, seed):
        asked, acc, budget = drawn(exam.conditions, seed)
        proposed = named(r"proposes the price ([\d.]+)", asked.text)
        plan = [list(COST).index(int(one)) for one in re.findall(r"takes (\d)", asked.text)]
        net = acc - proposed * COST
        assert net[range(3), plan] == pytest.approx(net.max(axis=1))
        unspent = budget - COST[plan].mean()
        assert unspent > 0
        slack = named(r"unspent budget is\s+([\d.]+)\.", asked.key)
        assert slack == pytest.approx(proposed * unspent, abs=5e-5)
        price = lp_solution(acc, COST, budget)[2]
        assert named(r"\(3\) \$\\lambda=([\d.]+)\$", asked.key) == pytest.approx(price, abs=5e-5)

    def test_staircase(self, seed):
        asked, acc, _ = drawn(exam.staircase, seed)
        prices = np.linspace(0, 1, 100_001) + 1e-9
        best = (acc - prices[:, None, None] * COST).argmax(axis=2)
        costs = COST[best].mean(axis=1)
        steps = np.flatnonzero(np.diff(costs))
        listed = asked.key.split("\n\n")
        found = [float(one) for one in re.findall(r"0\.\d+", listed[0])]
        assert sorted(found) == pytest.approx(list(prices[steps]), abs=1e-4)
        said = re.findall(r"(\d[\d.]*)[,;\n]", listed[1].partition("cost is")[2])
        assert [float(one.rstrip(".")) for one in said] == pytest.approx(
            list(costs[steps + 1][::-1]), abs=1e-3
        )

    def test_halving(self, seed):
        asked, acc, budget = drawn(exam.halving, seed)
        end = named(r"The high end, ([\d.]+):", asked.key)
        price = lp_solution(acc, COST, budget)[2]
        assert spent(acc, end) <= budget
        assert end - 0.4 / 16 - 1e-9 <= price <= end + 1e-9

    def test_gap(self, seed):
        asked, acc, budget = drawn(exam.gap, seed)
        plans = [list(plan) for plan in itertools.product(range(3), repeat=3)]
        best = max(acc[range(3), p].mean() for p in plans if COST[p].mean() <= budget + 1e-9)
        bound = lp_solution(acc, COST, budget).value
        assert named(r"accuracy is ([\d.]+),", asked.key) == pytest.approx(best, abs=5e-5)
        assert named(r"\(3\) ([\d.]+)\. ", asked.key) == pytest.approx(bound - best, abs=1e-4)

    def test_crossfit(self, seed):
        asked, tables, _ = drawn(exam.crossfit, seed)
        price = named(r"at the price ([\d.]+)\?", asked.text)
        halves = tables[:3], tables[3:]
        plans = [[int((row - price * COST).argmax()) for row in half] for half in halves]
        scores = [
            half[range(3), plan].mean() for half, plan in zip(halves[::-1], plans, strict=True)
        ]
        assert named(r"\(3\) ([\d.]+)\.", asked.key) == pytest.approx(np.mean(scores), abs=5e-5)


def test_exams_differ():
    """Two names share few questions; another secret draws another exam of the same name."""
    exams = [exam.drawn_exam(name, "a secret of twenty letters") for name in "abcdefgh"]
    titles = {tuple(one.title for one in drawn) for drawn in exams}
    assert len(titles) == len(exams)
    assert all(any("proof" in one.title for one in drawn) for drawn in exams)
    assert exam.drawn_exam("a", "another secret of some length") != exams[0]


def test_the_paper_names_the_points_and_minutes_of_its_questions(tmp_path):
    paper, key = (path.read_text(encoding="utf-8") for path in write_exam("a", "one", tmp_path))
    worth = re.findall(r"^\*(\d+) points, (\d+) minutes\.\*$", paper, re.M)
    points, minutes = (sum(map(int, column)) for column in zip(*worth, strict=True))
    assert f"{points} points, {minutes} minutes" in paper.split("## 1.")[0]
    assert f"{points} points and {minutes} minutes" in key
    parts = re.findall(r"\((\d+)\)$", paper, re.M)
    assert sum(map(int, parts)) == 24
    assert "The answer is" not in paper


class TestSecret:
    @pytest.fixture(autouse=True)
    def no_names(self, monkeypatch):
        for name in ("SECRET", "SECRET_FILE"):
            monkeypatch.delenv(name, raising=False)

    @pytest.mark.parametrize(
        "words",
        ["a sentence that you keep", "12345678901234567890", "correct horse battery staple"],
    )
    def test_words_that_can_be_guessed_are_refused(self, words, tmp_path, monkeypatch):
        monkeypatch.setenv("SECRET", words)
        with pytest.raises(EditionError, match="guessed"):
            read_secret(tmp_path)
        monkeypatch.delenv("SECRET")
        for text in (words, "1234567890" * 3 + "12", "a" * 32, ""):
            (tmp_path / "secret.txt").write_text(text)
            (tmp_path / "secret.txt").chmod(0o600)
            with pytest.raises(EditionError, match="drawn"):
                read_secret(tmp_path)

    def test_a_drawn_secret_is_kept_for_its_owner_where_clean_deletes_nothing(self, tmp_path):
        drawn = read_secret(tmp_path)
        kept = tmp_path / "secret.txt"
        assert read_secret(tmp_path) == drawn == kept.read_text()
        assert kept.stat().st_mode & 0o077 == 0
        assert "_build" not in kept.relative_to(tmp_path).parts
        (tmp_path / "other").mkdir()
        assert read_secret(tmp_path / "other") != drawn
        kept.chmod(0o644)
        with pytest.raises(EditionError, match="chmod 600"):
            read_secret(tmp_path)

    def test_a_teacher_may_name_the_file(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SECRET_FILE", str(tmp_path / "autumn.txt"))
        assert read_secret(tmp_path) == (tmp_path / "autumn.txt").read_text()
        assert not (tmp_path / "secret.txt").exists()
        monkeypatch.setenv("SECRET_FILE", str(tmp_path / "_build" / "autumn.txt"))
        with pytest.raises(EditionError, match="make clean"):
            read_secret(tmp_path)

    def test_the_handbook_prints_no_secret(self):
        """No text of the book is one: the page's own example was accepted once."""
        pages = [*(ROOT / "book").glob("*.md"), ROOT / "Makefile", ROOT / "README.md"]
        assert not [page for page in pages if "SECRET=" in page.read_text(encoding="utf-8")]


def test_keys_are_their_owners_alone(tmp_path):
    target = tmp_path / "exam"
    target.mkdir(mode=0o755)
    write_exam("a", "one", target)
    assert target.stat().st_mode & 0o077 == 0


def test_an_exam_is_printed_beside_its_text(tmp_path):
    files = write_exam("a", "one", tmp_path)
    paper, key = print_markdown(ROOT, files)
    assert (paper.name, key.name) == ("exam-a.pdf", "key-a.pdf")
    text = "".join(page.extract_text() for page in PdfReader(paper).pages)
    assert "Exam: a" in text
    assert "The answer is" not in text
