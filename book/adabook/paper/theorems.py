"""Every statement of the paper's theory, both sides measured on a table, printed and corrected.

First come the statements about prices and budgets, then those that compare a policy with the
oracle, and last the cases to try them on. A policy is given by its labels, one column index per
question. Explained in the chapter "Duality".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.solve.frontier import Allocation, Frontier, frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import average_cost, chosen, dual, oracle_labels, subdifferential
from adalib.table import UtilityTable, check_table
from adalib.tolerances import TIE

if TYPE_CHECKING:
    import pandas as pd

_ROUNDING = 1e-9  # sides that differ by less, relative to 1 plus their size, are equal

COLUMNS = ["version", "claim", "left", "is", "right", "gap", "holds"]


def _framed(data: Any, columns: list[str] | None = None) -> pd.DataFrame:
    """Data as a table."""
    import pandas as pd  # here, because an exercise in the page needs statements and no pandas

    return pd.DataFrame(data, columns=columns)


class Relation(NamedTuple):
    """One inequality ("<=") or equality ("="), measured."""

    text: str
    left: float
    relation: str
    right: float

    @property
    def gap(self) -> float:
        """``right - left``: room of an inequality, negative where it fails; 0 for an equality."""
        return self.right - self.left

    @property
    def holds(self) -> bool:
        """Whether the claim is true of these two numbers, up to rounding."""
        room = _ROUNDING * (1 + abs(self.left) + abs(self.right))
        return bool(abs(self.gap) <= room or (self.relation == "<=" and self.gap > 0))


class Statement(NamedTuple):
    """What a theorem says about one table: printed, ours, and the ``steps`` that may fail."""

    name: str
    printed: tuple[Relation, ...] = ()
    corrected: tuple[Relation, ...] = ()
    steps: tuple[Relation, ...] = ()

    def rows(self) -> list[tuple]:
        """Return a tuple per claim: version, text, both sides, the gap, and whether it holds.

        The version is "printed", "step" or "ours".
        """
        versions = [("printed", self.printed), ("step", self.steps), ("ours", self.corrected)]
        return [
            (version, claim.text, claim.left, claim.relation, claim.right, claim.gap, claim.holds)
            for version, claims in versions
            for claim in claims
        ]

    def frame(self) -> pd.DataFrame:
        """The `rows` as a table."""
        return _framed(self.rows(), COLUMNS)


def at_most(text: str, left: float | np.ndarray, right: float | np.ndarray) -> Relation:
    """The claim that ``left <= right``."""
    return Relation(text, float(left), "<=", float(right))


def equal(text: str, left: float | np.ndarray, right: float | np.ndarray) -> Relation:
    """The claim that ``left = right``."""
    return Relation(text, float(left), "=", float(right))


def cost_monotone(acc: ArrayLike, cost: ArrayLike, low: float, high: float) -> Statement:
    """Theorem 1: a higher price never costs more.

    Ours needs no tie rule, so it is measured with the worst one.
    """
    if not low < high:
        raise ValueError(
            f"the prices are {low} and {high}; give two different ones, the lower first"
        )
    before = average_cost(acc, cost, low)
    return Statement(
        "Theorem 1",
        (at_most("C(high) ≤ C(low), ties to the cheaper", average_cost(acc, cost, high), before),),
        (
            at_most(
                "C(high) ≤ C(low), worst ties", average_cost(acc, cost, high, "dearest"), before
            ),
        ),
    )


def switches(acc: ArrayLike, cost: ArrayLike) -> Statement:
    """Theorem 1's count: how often a question changes its label as the price rises."""
    acc, cost = check_table(acc, cost)
    k = acc.shape[1]
    labels = np.array([oracle_labels(acc, cost, price) for price in frontier(acc, cost).lam])
    most = (np.diff(labels, axis=0) != 0).sum(axis=0).max()
    return Statement(
        "Switches",
        (at_most("changes of a label ≤ K(K-1)/2", most, k * (k - 1) / 2),),
        (at_most("changes of a label ≤ K-1", most, k - 1),),
    )


def free_compute(acc: ArrayLike, cost: ArrayLike) -> Statement:
    """What the price 0 buys.

    Printed, the largest budget for all; in fact the cheapest of each question's best.
    """
    acc, cost = check_table(acc, cost)
    wide = np.broadcast_to(cost, acc.shape)
    spent = float(average_cost(acc, cost, 0.0))
    best = np.where(acc >= acc.max(axis=1, keepdims=True) - TIE, wide, np.inf).min(axis=1)
    affordable = frontier(acc, cost).at(spent)
    return Statement(
        "The price 0",
        (equal("C(0) = cost of the largest budget", spent, wide[:, -1].mean()),),
        (
            equal("C(0) = cost of the cheapest best budgets", spent, best.mean()),
            equal(
                "V(C(0)) = best accuracy at any cost", affordable.accuracy, acc.max(axis=1).mean()
            ),
        ),
    )


def weak_duality(acc: ArrayLike, cost: ArrayLike, lam: float, budget: float) -> Statement:
    """The dual function at any price bounds what the budget can buy; ours bounds mixtures too."""
    best = integer_optimum(acc, cost, budget)
    bound = dual(acc, cost, lam, budget)
    return Statement(
        "Weak duality",
        (at_most("V(B) ≤ G(λ)", best.accuracy, bound),),
        (at_most("V_LP(B) ≤ G(λ)", best.bound, bound),),
    )


def subgradient(
    acc: ArrayLike, cost: ArrayLike, lam: float, other: float, budget: float
) -> Statement:
    """The dual function lies above its tangents at ``lam``.

    Ours takes the steepest of them towards ``other``.
    """
    here, there = np.asarray(dual(acc, cost, [lam, other], budget))
    low, high = subdifferential(acc, cost, lam, budget)
    steepest = high if other >= lam else low
    slope = budget - average_cost(acc, cost, lam)
    return Statement(
        "Subgradient",
        (at_most("tangent of slope B − C(λ) ≤ G", here + slope * (other - lam), there),),
        (at_most("every tangent at λ ≤ G", here + steepest * (other - lam), there),),
    )


def optimal_price(acc: ArrayLike, cost: ArrayLike, budget: float) -> Statement:
    """The price that minimises the dual function.

    Printed, it costs the budget; in fact the budget may lie in a jump.
    """
    path = frontier(acc, cost)
    lam = path.at(budget).lam
    low, high = subdifferential(acc, cost, lam, budget)
    return Statement(
        "Optimal price",
        (equal("C(λ*) = B", budget - high, budget),),
        (
            at_most("B − C(λ*-) ≤ 0", low, 0.0),
            at_most("0 ≤ B − C(λ*)", 0.0, high),
            equal(
                "G(λ*) = min G", dual(acc, cost, lam, budget), _least_dual(acc, cost, path, budget)
            ),
        ),
    )


def vertex(
    acc: ArrayLike, cost: ArrayLike, budget: float, shares: ArrayLike | None = None
) -> Statement:
    """An optimal vertex of the relaxation splits at most one question, over two tied columns."""
    acc, cost = check_table(acc, cost)
    best = frontier(acc, cost).at(budget)
    shares = _shares(best, acc.shape) if shares is None else np.asarray(shares, dtype=float)
    used = shares > 1e-7  # a solver's shares this close to 0 are 0
    columns = used.sum(axis=1)
    net = acc - best.lam * cost
    given_up = (net.max(axis=1, keepdims=True) - net)[used].max()
    return Statement(
        "Vertices",
        corrected=(
            at_most("questions split ≤ 1", (columns > 1).sum(), 1),
            at_most("columns of a question ≤ 2", columns.max(), 2),
            at_most("net value given up at λ* ≤ 0", given_up, 0.0),
        ),
        steps=(equal("questions split = 0", (columns > 1).sum(), 0),),
    )


def strong_duality(acc: ArrayLike, cost: ArrayLike, budget: float) -> Statement:
    """Proposition 1: printed, the best accuracy is the least dual value.

    In fact a gap remains, except for mixtures.
    """
    acc, cost = check_table(acc, cost)
    n = len(acc)
    path = frontier(acc, cost)
    best = path.at(budget)
    value = integer_optimum(acc, cost, budget).accuracy
    least = _least_dual(acc, cost, path, budget)
    oracle = chosen(acc, oracle_labels(acc, cost, best.lam)).mean()
    shares = _shares(best, acc.shape)
    split = best.split
    gain = 0.0 if split is None else acc[split.row, split.high] - acc[split.row, split.low]
    return Statement(
        "Proposition 1",
        (
            equal("V(B) = min G", value, least),
            equal("accuracy of the oracle at λ* = V(B)", oracle, value),
        ),
        (
            equal("accuracy of the mixture = min G", (shares * acc).sum() / n, least),
            at_most("cost of the mixture ≤ B", (shares * cost).sum() / n, budget),
            at_most("min G − V(B) ≤ λ* slack", least - value, best.lam * best.slack),
            at_most("λ* slack ≤ gain of the split / N", best.lam * best.slack, gain / n),
            at_most("gain of the split / N ≤ 1/N", gain / n, 1 / n),
        ),
    )


def everett(
    acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike | None = None
) -> Statement:
    """What a price chooses is optimal, among mixtures too, for the budget that it spends."""
    acc, cost = check_table(acc, cost)
    labels = oracle_labels(acc, cost, lam) if labels is None else check_labels(labels, acc.shape)
    net = acc - lam * cost
    given_up = net.max(axis=1) - chosen(net, labels)
    if given_up.max() > TIE:
        row = int(given_up.argmax())
        raise ValueError(
            f"labels[{row}] gives up {given_up[row]:g} of net value at price {lam:g}; "
            "give a maximiser"
        )
    accuracy = chosen(acc, labels).mean()
    spent = chosen(np.broadcast_to(cost, acc.shape), labels).mean()
    best = integer_optimum(acc, cost, spent)
    return Statement(
        "Everett",
        corrected=(
            equal("Acc = V(cost)", accuracy, best.accuracy),
            equal("Acc = V_LP(cost)", accuracy, best.bound),
        ),
    )


def check_labels(labels: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    """The labels as an array, or a ValueError that says what they must be."""
    n, k = shape
    labels = np.asarray(labels)
    if (
        labels.shape != (n,)
        or labels.dtype.kind not in "iu"
        or labels.min() < 0
        or labels.max() >= k
    ):
        raise ValueError(f"labels must be {n} column indices from 0 to {k - 1}, one per question")
    return labels


def _least_dual(acc: ArrayLike, cost: ArrayLike, path: Frontier, budget: float) -> float:
    """The dual function is convex with kinks only at the frontier's prices; one is a minimum."""
    return float(np.min(dual(acc, cost, path.lam, budget)))


def _shares(best: Allocation, shape: tuple[int, int]) -> np.ndarray:
    """The frontier's mixed solution as a matrix of shares."""
    shares = np.zeros(shape)
    shares[np.arange(shape[0]), best.labels] = 1.0
    if best.split is not None:
        row, low, high, share = best.split
        shares[row, [low, high]] = 1 - share, share
    return shares


def ledger(
    acc: ArrayLike, cost: ArrayLike, lam: float, budget: float, labels: ArrayLike
) -> Statement:
    """The identity behind the chapter: distance to the bound is regret plus priced slack."""
    policy = _Policy(acc, cost, lam, labels)
    missing = dual(acc, cost, lam, budget) - policy.accuracy
    unspent = budget - policy.cost
    return Statement(
        "Ledger",
        corrected=(
            equal("G(λ) − Acc = Reg + λ (B − cost)", missing, policy.regret + lam * unspent),
        ),
    )


def decomposition(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """Corollary 1: regret is the accuracy lost minus the price of the cost saved."""
    policy = _Policy(acc, cost, lam, labels)
    net = policy.lost - lam * policy.saved
    return Statement(
        "Corollary 1", (equal("Reg = accuracy lost − λ × cost saved", policy.regret, net),)
    )


def imitation(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """Theorem 2: regret is at most the sum of gaps, at most the largest gap times their share."""
    policy = _Policy(acc, cost, lam, labels)
    return Statement(
        "Theorem 2",
        (
            at_most("Reg ≤ E[M 1(differs)]", policy.regret, policy.weighted),
            at_most("E[M 1(differs)] ≤ max M × ε", policy.weighted, policy.worst * policy.eps),
        ),
    )


def figure_bounds(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """What the figure draws for Theorem 2: accuracy lost and the mean gap, not regret."""
    policy = _Policy(acc, cost, lam, labels)
    largest = policy.worst * policy.eps
    mean = policy.gaps.mean() * policy.eps
    covariance = ((policy.gaps - policy.gaps.mean()) * (policy.differs - policy.eps)).mean()
    return Statement(
        "Theorem 2, drawn",
        (
            at_most("accuracy lost ≤ max M × ε", policy.lost, largest),
            at_most("Reg ≤ mean M × ε", policy.regret, mean),
        ),
        (
            at_most(
                "accuracy lost ≤ max M × ε + λ × cost saved",
                policy.lost,
                largest + lam * policy.saved,
            ),
            at_most("Reg ≤ mean M × ε + Cov(M, differs)", policy.regret, mean + covariance),
        ),
    )


def recovery(
    acc: ArrayLike, cost: ArrayLike, lam: float, budget: float, labels: ArrayLike
) -> Statement:
    """Theorem 3: a near copy of an affordable oracle is nearly affordable (1) and optimal (2)."""
    policy = _Policy(acc, cost, lam, labels)
    slack = budget - policy.oracle_cost
    if slack < -TIE * budget:
        raise ValueError(
            f"at price {lam:g} the oracle costs {policy.oracle_cost:g}, more than the budget "
            f"{budget:g}; raise either"
        )
    more = budget + policy.eps * policy.spread
    best = integer_optimum(acc, cost, more)
    bound = policy.weighted + lam * (more - policy.cost)
    simple = policy.worst * policy.eps + lam * (slack + 2 * policy.eps * policy.spread)
    return Statement(
        "Theorem 3",
        (
            at_most("(1) cost ≤ B'", policy.cost, more),
            at_most(
                "(2) V(B') − Acc ≤ max M × ε",
                best.accuracy - policy.accuracy,
                policy.worst * policy.eps,
            ),
        ),
        (
            at_most(
                "(2) V_LP(B') − Acc ≤ E[M 1(differs)] + λ (B' − cost)",
                best.bound - policy.accuracy,
                bound,
            ),
            at_most("that bound ≤ max M × ε + λ (s + 2 ε ΔC)", bound, simple),
        ),
        (
            at_most("V(B') ≤ G(λ), with G at B", best.accuracy, dual(acc, cost, lam, budget)),
            at_most("λ (B − cost) ≤ 0", lam * (budget - policy.cost), 0.0),
        ),
    )


def own_cost(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """Against the best policy of its cost, a policy loses at most its regret."""
    policy = _Policy(acc, cost, lam, labels)
    best = frontier(acc, cost).at(policy.cost)
    behind = best.bound - policy.accuracy
    return Statement(
        "Own cost",
        corrected=(
            at_most("V_LP(cost) − Acc ≤ Reg", behind, policy.regret),
            equal(
                "V_LP(cost) − Acc = least Reg", behind, _Policy(acc, cost, best.lam, labels).regret
            ),
        ),
    )


class _Policy:
    """A policy compared with the oracle at a price: every quantity that the statements name.

    Attributes
    ----------
    accuracy, cost, oracle_cost : float
        Averages of the policy, and what the oracle spends.
    lost, saved, regret : float
        Accuracy lost and cost saved against the oracle, and net value lost.
    differs, eps : array of bool, float
        Where the two differ, and in which share of the questions.
    gaps, worst, weighted : array, float, float
        M, the most net value that each question can lose; the largest; the mean where they differ.
    spread : float
        The largest cost of a question minus its smallest.
    """

    def __init__(self, acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> None:
        acc, cost = check_table(acc, cost)
        labels = check_labels(labels, acc.shape)
        oracle = oracle_labels(acc, cost, lam)
        wide = np.broadcast_to(cost, acc.shape)
        net = acc - lam * wide
        self.accuracy = chosen(acc, labels).mean()
        self.cost = chosen(wide, labels).mean()
        self.oracle_cost = chosen(wide, oracle).mean()
        self.lost = chosen(acc, oracle).mean() - self.accuracy
        self.saved = self.oracle_cost - self.cost
        self.regret = (chosen(net, oracle) - chosen(net, labels)).mean()
        self.differs = labels != oracle
        self.gaps = chosen(net, oracle) - net.min(axis=1)
        self.eps = self.differs.mean()
        self.worst = self.gaps.max()
        self.weighted = (self.gaps * self.differs).mean()
        self.spread = (wide[:, -1] - wide[:, 0]).max()


@dataclass(frozen=True, eq=False)
class Case:
    """A table with a feasible budget, a price, a policy and ``other``, another price."""

    name: str
    table: UtilityTable
    budget: float
    lam: float
    labels: np.ndarray
    other: float = 0.0

    @property
    def acc(self) -> np.ndarray:
        """Accuracies, shape (N, K)."""
        return self.table.acc

    @property
    def cost(self) -> np.ndarray:
        """Costs, shape (K,) or (N, K)."""
        return self.table.cost

    def frame(self) -> pd.DataFrame:
        """Show the case: accuracies, the oracle's budget at the price, and the policy's."""
        names = np.array(self.table.budgets)
        accuracies = {f"Acc({b})": self.acc[:, column] for column, b in enumerate(names)}
        budgets = {
            "oracle": names[oracle_labels(self.acc, self.cost, self.lam)],
            "policy": names[self.labels],
        }
        return _framed({"question": self.table.ids} | accuracies | budgets)


def _named(name: str, acc: list, cost: list, budget: float, lam: float, labels: list) -> Case:
    """A case from plain lists."""
    return Case(name, UtilityTable(acc, cost), budget, lam, np.array(labels))


#: The smallest cases known to us that break a printed claim, by the name the chapter uses.
COUNTEREXAMPLES = {
    # One question that money helps, and half the money: the least dual value is 1/2, the best
    # accuracy 0.
    "gap": _named("Proposition 1; C(λ*) = B; Step 1", [[0, 1]], [1, 2], 1.5, 1.0, [0]),
    # Two such questions. The perfect copy of the oracle (eps = 0) spends 1 of 1.5 and misses 1/2.
    "perfect copy": _named("Theorem 3 (2), last step", [[0, 1], [0, 1]], [1, 2], 1.5, 1.0, [0, 0]),
    # The oracle spends the whole budget, the policy saves it: accuracy lost 1/2, largest gap times
    # eps 3/8.
    "thrift": _named("Theorem 3 (2) without slack", [[0, 1], [1, 1]], [1, 16], 8.5, 0.05, [0, 0]),
    # A high price, a small budget, and a policy that spends beyond it: B' = 2 buys 1, the dual
    # bound at B = 1 is 0.
    "wrong bound": _named("V(B') ≤ G(λ), with G at B", [[0, 1]], [1, 2], 1.0, 2.0, [1]),
    # Accuracy lost 1, largest gap times eps 1/2; the regret, 1/2, keeps the bound.
    "accuracy": _named("accuracy lost ≤ max M × ε", [[0, 1]], [1, 2], 2.0, 0.5, [0]),
    # The one error falls where the gap is; the second question ties, its gap is 0 and halves the
    # mean.
    "mean gap": _named("Reg ≤ mean M × ε", [[0, 1], [0, 0.5]], [1, 2], 1.5, 0.5, [0, 0]),
    # Right at once: the price 0 does not buy the largest budget.
    "free": _named("the price 0 buys the largest budget", [[1, 1]], [1, 2], 2.0, 0.0, [0]),
}

KINDS = ("plain", "counted", "ties", "flat", "equal costs", "free", "by row")


def random_cases(count: int, seed: int = 0, questions: int = 5, budgets: int = 4) -> Iterator[Case]:
    """Draw small random cases, the kinds in turn: half of them awkward on purpose."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        n = int(rng.integers(1, questions + 1))
        k = int(rng.integers(1, budgets + 1))
        table = _table(kind, n, k, rng)
        path = frontier(table)
        budget = _some_budget(path, rng)
        lam = path.at(budget).lam
        top = path.lam[0]
        if rng.random() < 0.3:
            lam += top * rng.random()
        oracle = oracle_labels(table.acc, table.cost, lam)
        redrawn = rng.random(table.n) < rng.choice([0.0, 0.2, 0.5, 1.0])
        labels = np.where(redrawn, rng.integers(table.k, size=table.n), oracle)
        yield Case(kind, table, budget, lam, labels, other=rng.uniform(0, 1.3 * top + 0.1))


def _some_budget(path: Frontier, rng: np.random.Generator) -> float:
    """Draw a budget on a breakpoint, anywhere between the ends, or beyond what is useful."""
    places = (
        rng.choice(path.cost),
        rng.uniform(path.cost[0], path.cost[-1]),
        path.cost[-1] * 1.2,
    )
    place = rng.choice(3, p=[0.15, 0.75, 0.1])
    return float(max(places[place], path.cost[0]))


def _table(kind: str, n: int, k: int, rng: np.random.Generator) -> UtilityTable:
    """Draw a random table of a kind; each kind breaks another assumption."""
    acc: np.ndarray = rng.random((n, k))
    cost: np.ndarray = np.cumsum(rng.uniform(0.1, 2, k))
    if kind == "counted":  # as estimated from 48 answers
        acc = rng.integers(0, 49, (n, k)) / 48
        cost = 2.0 ** np.arange(k)
    elif kind == "ties":
        acc = rng.integers(0, 5, (n, k)) / 4
        cost = np.cumsum(rng.integers(1, 3, k))
    elif kind == "flat":
        acc[rng.random(n) < 0.6] = rng.random()
    elif kind == "equal costs":
        cost = np.sort(rng.integers(1, 4, k))
    elif kind == "free":
        cost = np.cumsum(rng.integers(0, 2, k))
    elif kind == "by row":
        cost = np.cumsum(rng.uniform(0, 2, (n, k)), axis=1)
    return UtilityTable(acc, cost, budgets=range(1, k + 1))


def survey(check: Callable[[Case], Statement], cases: Iterable[Case]) -> pd.DataFrame:
    """Measure a statement on many cases."""
    rows = [(number, *row) for number, case in enumerate(cases) for row in check(case).rows()]
    return _framed(rows, ["case", *COLUMNS])


#: Every statement by its name, as a function of a case; the book surveys them on random cases.
STATEMENTS: dict[str, Callable[[Case], Statement]] = {
    "Ledger": lambda c: ledger(c.acc, c.cost, c.other, c.budget, c.labels),
    "Weak duality": lambda c: weak_duality(c.acc, c.cost, c.other, c.budget),
    "Theorem 1": lambda c: cost_monotone(
        c.acc, c.cost, min(c.lam, c.other), max(c.lam, c.other) + 1e-3
    ),
    "Switches": lambda c: switches(c.acc, c.cost),
    "The price 0": lambda c: free_compute(c.acc, c.cost),
    "Subgradient": lambda c: subgradient(c.acc, c.cost, c.lam, c.other, c.budget),
    "Optimal price": lambda c: optimal_price(c.acc, c.cost, c.budget),
    "Vertices": lambda c: vertex(c.acc, c.cost, c.budget),
    "Proposition 1": lambda c: strong_duality(c.acc, c.cost, c.budget),
    "Everett": lambda c: everett(c.acc, c.cost, c.lam),
    "Theorem 2": lambda c: imitation(c.acc, c.cost, c.lam, c.labels),
    "Corollary 1": lambda c: decomposition(c.acc, c.cost, c.lam, c.labels),
    "Theorem 2, drawn": lambda c: figure_bounds(c.acc, c.cost, c.lam, c.labels),
    "Theorem 3": lambda c: recovery(c.acc, c.cost, c.lam, c.budget, c.labels),
    "Own cost": lambda c: own_cost(c.acc, c.cost, c.other, c.labels),
}
