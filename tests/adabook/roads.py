"""Another road to the answer of every exercise: one that the chapter's solution does not take.

The roads are judged here (`test_roads.py`) and in a browser (`tests/live/test_browser_verdicts.py`,
which sends this file to the page), so they need numpy, scipy and the package alone.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, linprog

import adalib
from adabook.exercises import JUDGED
from adabook.exercises.cases import best_value
from adabook.paper import referee, results
from adalib.sequential.course import Courses
from adalib.sequential.race_rules import PlainRace
from adalib.sequential.streams import make_streams
from adalib.solve.oracle import chosen

BUDGETS = (1, 2, 4, 8, 16)

#: A function without arguments that makes the answer, by chapter and name of the exercise.
ROADS = {}


def road(chapter, name):
    """Register a function as the road to an exercise."""

    def register_road(function):
        ROADS[chapter, name] = function
        return function

    return register_road


def answered_by(chapter, name):
    """Register a function that is itself the answer, or a list of lines in between for a proof."""

    def register_answer(function):
        ROADS[chapter, name] = lambda: function
        return function

    return register_answer


@cache
def load(name):
    return adalib.load(name)


@cache
def table(name):
    return load(name).table()


# Values


@road("data", "empty")
def empty():
    word = load("word-fewshot")
    return int((word.classes[word.ids.index("word-trees-05")] < 0).sum())


@road("data", "hurts")
def hurts():
    """The id of the question with the smallest rise, by a loop."""
    word = load("word-fewshot")
    rows = zip(table("word-fewshot").acc.tolist(), word.ids, strict=True)
    return min((row[4] - row[0], name) for row, name in rows)[1]


@road("data", "pass16")
def pass_at_16():
    wrong = (1 - load("word-fewshot").values).sum(axis=1).astype(int)
    return np.mean([1 - comb(int(count), 16) / comb(96, 16) for count in wrong])


@road("motivation", "mix")
def mix_of_1_and_4():
    acc = table("word-fewshot").acc
    return np.mean([(2 * row[0] + row[2]) / 3 for row in acc])


@road("motivation", "family")
def family_that_gains_most():
    word = load("word-fewshot")
    gains = {}
    for family, row in zip(word.extras["family"], table("word-fewshot").acc, strict=True):
        gains.setdefault(family, []).append(row[4] - row[0])
    return max(gains, key=lambda family: sum(gains[family]) / len(gains[family]))


@road("oracle", "letgo")
def last_price_of_sixteen():
    """The last of many prices at which the question takes 16."""
    word = load("word-fewshot")
    utility = table("word-fewshot")
    row = utility.acc[word.ids.index("word-trees-05")]
    prices = np.linspace(0, 0.1, 100_001)
    takes = np.argmax(row - prices[:, None] * utility.cost, axis=1)
    return prices[np.flatnonzero(takes == 4)[-1]]


@road("oracle", "uniform")
def lead_over_one_budget_for_all():
    utility = table("word-fewshot")
    best = np.mean([max(row - 0.02 * utility.cost) for row in utility.acc])
    same = max(np.mean(utility.acc[:, j]) - 0.02 * utility.cost[j] for j in range(utility.k))
    return best - same


@road("oracle", "second")
def second_answers_that_bring_little():
    utility = table("word-fewshot")
    count = 0
    for row in utility.acc:
        best = max(range(5), key=lambda j: (row[j] - 0.03 * utility.cost[j], -j))
        count += best >= 2 and row[1] - row[0] < 0.03
    return count


@road("budgets", "worth")
def third_answer_by_the_dual():
    hot = table("word-hot")
    two, three = (best_value(hot.acc, hot.cost, budget) for budget in (2, 3))
    return three - two


@road("budgets", "save")
def cost_of_the_mix_by_pairs():
    utility = table("word-fewshot")
    cost = utility.cost
    goal = best_value(utility.acc, cost, 2)
    means = utility.acc.mean(axis=0)
    pairs = [(i, j) for i, j in product(range(5), repeat=2) if means[i] <= goal < means[j]]
    return min(
        cost[i] + (goal - means[i]) / (means[j] - means[i]) * (cost[j] - cost[i]) for i, j in pairs
    )


@road("duality", "binds")
def bill_of_free_answers():
    """What everyone takes when answers are free: a plain argmax, which decides exact ties alone."""
    utility = table("word-fewshot")
    return utility.cost[utility.acc.argmax(axis=1)].mean()


@road("estimation", "single")
def best_of_three_coins():
    return np.mean([max(coins) for coins in product((0, 1), repeat=3)])


@road("estimation", "second")
def second_answer_by_votes():
    acc = table("math-qwen15").acc.mean(axis=0)
    return acc[1] - acc[0]


@road("learning", "memory")
def noise_learned_by_heart():
    return 1.0


@road("learning", "majority")
def share_of_the_cheapest():
    utility = table("word-fewshot")
    lam = adalib.bisect(utility.acc, utility.cost, 1.5).lam
    return np.mean(adalib.oracle_labels(utility.acc, utility.cost, lam) == 0)


@road("learning", "stake")
def question_at_stake():
    """The question with the largest distance between its best and its worst net value."""
    utility = table("word-fewshot")
    net = utility.acc - 0.03 * utility.cost
    return load("word-fewshot").ids[int(np.ptp(net, axis=1).argmax())]


@road("results", "thrift")
def thrift():
    return 0.55 - np.interp(2.4, [1, 4], [0.50, 0.56])


@road("results", "sisters")
def sisters():
    return 1 - comb(1797, 357) / comb(1799, 359)


@road("b_replication", "equal")
def router_against_mix():
    return 0.554 - np.interp(2.58, [1, 4], [0.495, 0.539])


@road("b_replication", "memory")
def remembered_share():
    return brentq(lambda share: share * 0.586 + (1 - share) * 0.518 - 0.575, 0, 1)


@road("stopping", "tree")
def best_plan_of_the_tree():
    """The best of the three plans: stop, go on once, go on from the tie as well."""
    return max(0.5, 0.5 * 0.7 + 0.5 * 0.3 - 0.04, 0.5 * 0.7 + 0.5 * 0.4 - 0.04 - 0.5 * 0.04)


@road("race", "special")
def tokens_after_the_first_finish():
    return sum(min(length, 4) - min(length, 3) for length in (3, 4, 6, 9))


@road("race", "half")
def first_of_two_uniform_lengths():
    return 2 * quad(lambda t: (1 - t / 2) ** 2, 0, 2)[0]


@road("race", "tails")
def first_of_two_by_pairs():
    tokens = load("aime-gpt-oss-20b").tokens
    pairs = list(combinations(range(tokens.shape[1]), 2))
    shorter = np.mean([np.minimum(tokens[:, i], tokens[:, j]).mean() for i, j in pairs])
    return 2 * shorter / tokens.mean()


@road("deploy", "law")
def excess_after_500():
    """The steps of one price per question that together double it."""
    return brentq(lambda share: np.prod(np.full(500, np.exp(0.2 * share))) - 2, 0, 1)


@road("menus", "sent")
def sent_to_the_large():
    """By bisection on a table that is put together by hand."""
    small, large = (load(f"story-qwen{size}").table() for size in ("05", "15"))
    acc = np.hstack([small.acc, large.acc])
    cost = np.append(small.cost, 10 * large.cost)
    order = cost.argsort(kind="stable")
    lam = adalib.bisect(acc[:, order], cost[order], 5).lam
    labels = order[adalib.oracle_labels(acc[:, order], cost[order], lam)]
    return (labels >= small.k).mean()


@road("menus", "effort")
def effort_that_pays():
    return max(0, 0.4 - 30 * 0.02) + max(0, 0.1 - 2 * 0.02)


@road("referee", "share")
def share_by_least_squares():
    from adabook import paper

    cells = results.implied_held_out()
    oracle = [
        paper.PAPER[row.setting]["main"]["Oracle"]["accuracy"][paper.TARGETS.index(row.target)]
        for row in cells.itertuples()
    ]
    x = np.array(oracle) - cells.one_answer.to_numpy()
    y = (cells.accuracy - cells.one_answer).to_numpy()
    return np.linalg.lstsq(x[:, None], y)[0][0]


@road("referee", "others")
def others_that_are_right():
    return brentq(lambda share: 0.8 + 0.2 * share - 0.945, 0, 1)


@road("referee", "falls")
def claims_that_fall():
    return sum(claim.verdict == "falls" for claim in referee.CLAIMS)


def worth_of_the_projects(money):
    """The value of the linear program; 3600 is a corner of it, so a multiplier is not enough."""
    worth = [[60, 90], [220, 450], [30, 75], [180, 420], [80, 130], [260, 640], [90, 380]]
    outlay = [[150, 300], [400, 900], [120, 240], [600, 1000], [90, 200], [800, 1500], [500, 1200]]
    one_each = np.kron(np.eye(7), [1, 1])
    limits = [money, *[1] * 7]
    return -linprog(-np.ravel(worth), np.vstack([np.ravel(outlay), one_each]), limits).fun


@road("markets", "hurdle")
def hurdle_by_the_next_euro():
    return worth_of_the_projects(3601) - worth_of_the_projects(3600)


@road("markets", "demand")
def price_by_the_linear_program():
    solved = linprog(
        [2, 9, 31, 48, 95],
        A_eq=[[1] * 5],
        b_eq=[500],
        bounds=[(0, most) for most in (120, 200, 150, 100, 60)],
    )
    return solved.eqlin.marginals[0]


@road("markets", "repeats")
def repeats_by_a_scan():
    """The number for the middle questions with the smallest variance, the rest to the others."""
    middle = np.linspace(1, 30, 29_001)
    others = (1300 - 40 * middle) / 20
    with np.errstate(divide="ignore"):
        variance = 40 * 0.25 / middle + 20 * 0.09 / others
    return middle[np.where(others >= 1, variance, np.inf).argmin()]


@road("c_rivals", "unseen")
def unseen_share():
    return brentq(lambda share: (1 - share) ** 300 - 0.05, 0, 1)


@road("c_rivals", "certified")
def first_certified_count():
    count = 0
    while (2 ** (count + 1) - 1) / (count + 1) < 40:
        count += 1
    return count


@road("c_rivals", "ratio")
def ratio_from_which_it_pays():
    return brentq(lambda ratio: 2 + 0.3 * ratio - ratio, 1, 10)


@cache
def races():
    """Accuracy, tokens and waiting of the plain rules on half of its answers."""
    measured, _ = load("aime-gpt-oss-20b").split_samples(0)
    streams = make_streams(measured, 8, repeats=40, cost="tokens")
    courses = Courses(streams)
    rules = [(n, k) for n in (1, 2, 3, 4, 6, 8) for k in range(1, n + 1)]
    played = [PlainRace(n, k).play(courses) for n, k in rules]
    accuracy = np.column_stack([streams.mean(race.accuracy) for race in played])
    tokens = np.column_stack([streams.mean(race.tokens) for race in played])
    waiting = np.column_stack([streams.mean(race.clock) for race in played])
    average_length = measured.tokens.mean()
    return accuracy, tokens / average_length, waiting / average_length


def bound_on_races(token_limit, waiting_limit):
    """The dual's minimum over both prices, as a linear program in prices and net values."""
    accuracy, tokens, waiting = races()
    n, rules = accuracy.shape
    own = np.kron(np.eye(n), np.ones((rules, 1)))
    net_value_at_least = -np.column_stack([tokens.ravel(), waiting.ravel(), own])
    return linprog(
        [token_limit, waiting_limit, *[1 / n] * n],
        net_value_at_least,
        -accuracy.ravel(),
        bounds=[(0, None)] * 2 + [(None, None)] * n,
    ).fun


@road("markets", "relax")
def looser_limit_by_the_dual():
    return bound_on_races(2.0, 0.8) - bound_on_races(2.0, 0.7)


@road("markets", "free")
def waiting_of_the_patient():
    """What the plan with one price, on tokens alone, waits; its coin spends the last tokens."""
    _, tokens, _ = races()
    order = tokens.argsort(axis=1)
    accuracy, tokens, waiting = (np.take_along_axis(one, order, axis=1) for one in races())
    best = adalib.frontier(accuracy, tokens).at(2.0)
    waits = chosen(waiting, best.labels)
    if best.split:
        row, low, high, share = best.split
        waits[row] = (1 - share) * waiting[row, low] + share * waiting[row, high]
    return waits.mean()


@road("markets", "rise")
def tokens_that_hurry_costs():
    patient, hurried = (
        np.mean([t[(a - 0.03 * t - price * w).argmax()] for a, t, w in zip(*races(), strict=True)])
        for price in (0.0, 0.2)
    )
    return hurried - patient


# Functions


@answered_by("data", "vote")
def vote(answers, gold):
    return adalib.majority(answers).get(gold, 0.0)


@answered_by("motivation", "subsets")
def subsets(answers, gold, b):
    right = [float(answer == gold) for answer in answers]
    return adalib.acc_subsets([adalib.answer_classes(answers)], [right], [b])


ROADS["oracle", "oracle"] = lambda: adalib.oracle_labels


@answered_by("budgets", "bisection")
def bisection(acc, cost, budget):
    return adalib.frontier(acc, cost).at(budget).lam


@answered_by("budgets", "envelope")
def walked(acc, cost):
    """Chapter 3's walk: of several as steep it takes the nearest, so points on a line are stops."""
    here = [0]
    while here[-1] < len(cost) - 1:
        slopes = (acc[here[-1] + 1 :] - acc[here[-1]]) / (cost[here[-1] + 1 :] - cost[here[-1]])
        if slopes.max() <= 0:
            break
        here.append(here[-1] + 1 + int(slopes.argmax()))
    return here


@answered_by("budgets", "frontier")
def frontier(acc, cost):
    path = adalib.frontier(acc, cost)
    return np.array([path.cost, path.accuracy]).T


@answered_by("budgets", "coin")
def coin(acc, cost, budget):
    best = adalib.frontier(acc, cost).at(budget)
    plan = np.eye(len(cost))[best.labels]
    if best.split:
        row, low, high, share = best.split
        plan[row] = (1 - share) * np.eye(len(cost))[low] + share * np.eye(len(cost))[high]
    return plan


@answered_by("duality", "subgradient")
def subgradient(acc, cost, lam, budget):
    return adalib.subdifferential(acc, cost, lam, budget)[1]


@answered_by("results", "best mix")
def best_mix(means, cost, budget):
    return adalib.best_mix(means[None], cost, budget).weights[0] @ means


@answered_by("menus", "joined")
def joined(small, small_cost, large, large_cost):
    columns = [*zip(small_cost, *small, strict=True), *zip(large_cost, *large, strict=True)]
    return np.array(sorted(columns)).T


@answered_by("markets", "dispatch")
def dispatch(capacity, fuel, demand):
    bounds = [(0, most) for most in capacity]
    return linprog(fuel, A_eq=[0 * fuel + 1], b_eq=[demand], bounds=bounds).x.round(9)


@answered_by("learning", "label policy")
def label_policy(known, acc, cost, lam, new):
    labels = adalib.oracle_labels(acc, cost, lam)
    distances = np.linalg.norm(new[:, None] - known, axis=2).round(9)
    return labels[distances.argmin(axis=1)]


@answered_by("stopping", "induct")
def induct(worth, moves, lam):
    """From the first answer on, by recursion over the states."""

    def value(n, state):
        if n == len(moves):
            return worth[n, state]
        further = sum(chance * value(n + 1, at) for at, chance in enumerate(moves[n, state]))
        return max(worth[n, state], further - lam)

    return [value(0, state) for state in range(worth.shape[1])]


@answered_by("estimation", "cross-fit")
def cross_fit(first, second, cost, lam):
    halves = ((first, second), (second, first))
    means = [
        chosen(scores, adalib.oracle_labels(choices, cost, lam)).mean()
        for choices, scores in halves
    ]
    return np.mean(means)


# Objects


def thin(first, best):
    """Twenty questions: ten alike, one to buy for, and nine that are flat."""
    acc = np.full((20, 5), 0.5)
    acc[:10] = first
    acc[10] = best
    return adalib.UtilityTable(acc, BUDGETS)


OBJECTS = {
    ("duality", "gap"): ([[0, 1], [0, 1]], [1, 2], 1.25),
    ("duality", "exact"): "2.333333333",
    ("a_duality", "perfect"): ([[0, 0, 0.9], [0, 0.2, 0.2]], [1, 2, 4], 1.75),
    ("a_duality", "mean gap"): ([[1, 0]] + [[0.5, 0.5]] * 9, [1, 2], 0.01, [1] + [0] * 9),
    ("estimation", "null"): adalib.Population(np.full((60, 3), 1 / 3), np.zeros(60, dtype=int)),
    ("learning", "blind"): ("What is 12 plus 34?", "What is 12 over 34?"),
    ("b_replication", "thin"): thin([0.4, 0.4, 0.41, 0.43, 0.5], [0.1, 0.1, 0.9, 0.9, 0.9]),
    ("deploy", "controller"): lambda costs, budget, first, step: (
        first * np.cumprod(np.exp(step * (costs / budget - 1)))
    ),
}
for place, right_object in OBJECTS.items():
    ROADS[place] = lambda right_object=right_object: right_object


# Proofs: the lines between the two sides of the claim


def other_gap(high, a_low, c_low, a_high, c_high):
    """What the buy of the high price is ahead by, at that price."""
    return (a_high - high * c_high) - (a_low - high * c_low)


def net_value_back(acc, cost, lam, plan, oracle):
    """Net values first, and then the oracle's bill is added back."""
    net = chosen(acc - lam * cost, plan).mean()
    return net + lam * chosen(np.broadcast_to(cost, acc.shape), oracle).mean()


def over_differing_rows(acc, cost, lam, policy, oracle):
    """The regret, summed over the rows in which policy and oracle differ."""
    net = acc - lam * cost
    lost = chosen(net, oracle) - chosen(net, policy)
    return lost[policy != oracle].sum() / len(policy)


def best_net_value_of_the_plan(acc, cost, lam, budget, plan):
    """The plan's own net value with the price of the whole budget."""
    return chosen(acc - lam * cost, plan).mean() + lam * budget


def bound_in_a_loop(acc, cost, lam, budget, policy):
    """The bound at this price, row by row, less what the policy scores."""
    bound = np.mean([max(row - lam * cost) for row in acc]) + lam * budget
    return bound - chosen(acc, policy).mean()


def entry_of_the_best(draws, truth):
    """The draws of the truly best budget, on average."""
    return draws[:, truth.argmax()].mean()


def profits_that_run(fuel, run, demand, price):
    """What the plants that run would earn at the price, taken from its bill."""
    return price * demand - sum(r * max(price - f, 0) for r, f in zip(run, fuel, strict=True))


PROOFS = {
    ("oracle", "monotone"): [other_gap],
    ("oracle", "everett"): [net_value_back],
    ("duality", "weak duality"): [best_net_value_of_the_plan],
    ("estimation", "bracket"): [entry_of_the_best],
    ("a_duality", "recovery"): [bound_in_a_loop],
    ("a_duality", "regret"): [over_differing_rows],
    ("budgets", "one split"): [lambda lam, slack: lam * slack, lambda share, n: share / n],
    ("markets", "floor"): [profits_that_run],
    ("stopping", "induction"): [
        lambda v, lam, q, chances, V: q * max(v, chances @ V - lam) + (1 - q) * v
    ],
    ("deploy", "overspending"): [lambda costs, last, budget: (costs[: last + 1] - budget).sum()],
}


def chain(place):
    """A whole proof: both sides of the claim, the lines between, and a sentence for every step."""
    proof = JUDGED[place]
    lines = [proof.first, *PROOFS[place], proof.last]
    return [part for line in lines for part in ("it is so", line)][1:]


for place in PROOFS:
    ROADS[place] = lambda place=place: chain(place)
