"""Every statement of the paper's theory, both sides measured on a case, printed and corrected.

A case is a table with a budget, a price and a policy, which is given by its labels, one column
index per question. First come the statements about prices and budgets, then those that compare a
policy with the oracle, and last the cases to try them on. Explained in the chapter "Duality".
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
from adalib.table import UtilityTable
from adalib.tolerances import TIE

if TYPE_CHECKING:
    import pandas as pd

_ROUNDING = 1e-9  # sides that differ by less, relative to 1 plus their size, are equal


def _framed(data: Any, columns: list[str] | None = None) -> pd.DataFrame:
    """Data as a table."""
    import pandas as pd  # here, because an exercise in the page needs statements and no pandas

    return pd.DataFrame(data, columns=columns)


@dataclass(frozen=True, eq=False)
class Case:
    """A table with a feasible budget, a price, a policy and ``other``, another price."""

    table: UtilityTable
    budget: float
    lam: float = 0.0
    labels: ArrayLike = ()
    other: float = 0.0

    @property
    def acc(self) -> np.ndarray:
        """Accuracies, shape (N, K)."""
        return self.table.acc

    @property
    def cost(self) -> np.ndarray:
        """Costs, shape (K,) or (N, K)."""
        return self.table.cost

    @property
    def wide(self) -> np.ndarray:
        """Costs, shape (N, K)."""
        return np.broadcast_to(self.cost, self.acc.shape)

    def frame(self) -> pd.DataFrame:
        """Show the case: accuracies, the oracle's budget at the price, and the policy's."""
        names = np.array(self.table.budgets)
        accuracies = {f"Acc({b})": self.acc[:, column] for column, b in enumerate(names)}
        budgets = {
            "oracle": names[oracle_labels(self.acc, self.cost, self.lam)],
            "policy": names[np.asarray(self.labels)],
        }
        return _framed({"question": self.table.ids} | accuracies | budgets)


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
    """What a theorem says about one case: printed, ours, and the ``steps`` that may fail."""

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


#: Every statement by its name, as a function of a case; the book surveys them on random cases.
STATEMENTS: dict[str, Callable[[Case], Statement]] = {}


def _states(name: str) -> Callable[[Callable], Callable]:
    """Register what measures a statement of the paper, or of ours, under its name."""

    def register(measure: Callable[[Case], Statement]) -> Callable[[Case], Statement]:
        STATEMENTS[name] = measure
        return measure

    return register


def at_most(text: str, left: float | np.ndarray, right: float | np.ndarray) -> Relation:
    """The claim that ``left <= right``."""
    return Relation(text, float(left), "<=", float(right))


def equal(text: str, left: float | np.ndarray, right: float | np.ndarray) -> Relation:
    """The claim that ``left = right``."""
    return Relation(text, float(left), "=", float(right))


@_states("Theorem 1")
def cost_monotone(c: Case) -> Statement:
    """Theorem 1: a higher price never costs more.

    Ours needs no tie rule, so it is measured with the worst one.
    """
    low, high = min(c.lam, c.other), max(c.lam, c.other) + 1e-3
    before = average_cost(c.table, low)
    return Statement(
        (at_most("C(high) ≤ C(low), ties to the cheaper", average_cost(c.table, high), before),),
        (at_most("C(high) ≤ C(low), worst ties", average_cost(c.table, high, "dearest"), before),),
    )


@_states("Switches")
def switches(c: Case) -> Statement:
    """Theorem 1's count: how often a question changes its label as the price rises."""
    k = c.table.k
    labels = np.array([oracle_labels(c.table, price) for price in frontier(c.table).lam])
    most = (np.diff(labels, axis=0) != 0).sum(axis=0).max()
    return Statement(
        (at_most("changes of a label ≤ K(K-1)/2", most, k * (k - 1) / 2),),
        (at_most("changes of a label ≤ K-1", most, k - 1),),
    )


@_states("The price 0")
def free_compute(c: Case) -> Statement:
    """What the price 0 buys.

    Printed, the largest budget for all; in fact the cheapest of each question's best.
    """
    acc, wide = c.acc, c.wide
    spent = float(average_cost(c.table, 0.0))
    best = np.where(acc >= acc.max(axis=1, keepdims=True) - TIE, wide, np.inf).min(axis=1)
    affordable = frontier(c.table).at(spent)
    return Statement(
        (equal("C(0) = cost of the largest budget", spent, wide[:, -1].mean()),),
        (
            equal("C(0) = cost of the cheapest best budgets", spent, best.mean()),
            equal(
                "V(C(0)) = best accuracy at any cost", affordable.accuracy, acc.max(axis=1).mean()
            ),
        ),
    )


@_states("Weak duality")
def weak_duality(c: Case) -> Statement:
    """The dual function at any price bounds what the budget can buy; ours bounds mixtures too."""
    best = integer_optimum(c.table, c.budget)
    bound = dual(c.table, c.other, c.budget)
    return Statement(
        (at_most("V(B) ≤ G(λ)", best.accuracy, bound),),
        (at_most("V_LP(B) ≤ G(λ)", best.bound, bound),),
    )


@_states("Subgradient")
def subgradient(c: Case) -> Statement:
    """The dual function lies above its tangents at ``lam``.

    Ours takes the steepest of them towards ``other``.
    """
    here, there = np.asarray(dual(c.table, [c.lam, c.other], c.budget))
    low, high = subdifferential(c.table, c.lam, c.budget)
    steepest = high if c.other >= c.lam else low
    slope = c.budget - average_cost(c.table, c.lam)
    return Statement(
        (at_most("tangent of slope B − C(λ) ≤ G", here + slope * (c.other - c.lam), there),),
        (at_most("every tangent at λ ≤ G", here + steepest * (c.other - c.lam), there),),
    )


@_states("Optimal price")
def optimal_price(c: Case) -> Statement:
    """The price that minimises the dual function.

    Printed, it costs the budget; in fact the budget may lie in a jump.
    """
    path = frontier(c.table)
    lam = path.at(c.budget).lam
    low, high = subdifferential(c.table, lam, c.budget)
    return Statement(
        (equal("C(λ*) = B", c.budget - high, c.budget),),
        (
            at_most("B − C(λ*-) ≤ 0", low, 0.0),
            at_most("0 ≤ B − C(λ*)", 0.0, high),
            equal("G(λ*) = min G", dual(c.table, lam, c.budget), _least_dual(c, path)),
        ),
    )


@_states("Vertices")
def vertex(c: Case, shares: ArrayLike | None = None) -> Statement:
    """An optimal vertex of the relaxation splits at most one question, over two tied columns."""
    best = frontier(c.table).at(c.budget)
    shares = _shares(best, c.acc.shape) if shares is None else np.asarray(shares, dtype=float)
    used = shares > 1e-7  # a solver's shares this close to 0 are 0
    columns = used.sum(axis=1)
    net = c.acc - best.lam * c.cost
    given_up = (net.max(axis=1, keepdims=True) - net)[used].max()
    return Statement(
        corrected=(
            at_most("questions split ≤ 1", (columns > 1).sum(), 1),
            at_most("columns of a question ≤ 2", columns.max(), 2),
            at_most("net value given up at λ* ≤ 0", given_up, 0.0),
        ),
        steps=(equal("questions split = 0", (columns > 1).sum(), 0),),
    )


@_states("Proposition 1")
def strong_duality(c: Case) -> Statement:
    """Proposition 1: printed, the best accuracy is the least dual value.

    In fact a gap remains, except for mixtures.
    """
    acc, n = c.acc, c.table.n
    path = frontier(c.table)
    best = path.at(c.budget)
    value = integer_optimum(c.table, c.budget).accuracy
    least = _least_dual(c, path)
    oracle = chosen(acc, oracle_labels(c.table, best.lam)).mean()
    shares = _shares(best, acc.shape)
    split = best.split
    gain = 0.0 if split is None else acc[split.row, split.high] - acc[split.row, split.low]
    return Statement(
        (
            equal("V(B) = min G", value, least),
            equal("accuracy of the oracle at λ* = V(B)", oracle, value),
        ),
        (
            equal("accuracy of the mixture = min G", (shares * acc).sum() / n, least),
            at_most("cost of the mixture ≤ B", (shares * c.cost).sum() / n, c.budget),
            at_most("min G − V(B) ≤ λ* slack", least - value, best.lam * best.slack),
            at_most("λ* slack ≤ gain of the split / N", best.lam * best.slack, gain / n),
            at_most("gain of the split / N ≤ 1/N", gain / n, 1 / n),
        ),
    )


@_states("Everett")
def everett(c: Case, labels: ArrayLike | None = None) -> Statement:
    """What a price chooses is optimal, among mixtures too, for the budget that it spends."""
    if labels is None:
        labels = oracle_labels(c.table, c.lam)
    labels = check_labels(labels, c.acc.shape)
    net = c.acc - c.lam * c.cost
    given_up = net.max(axis=1) - chosen(net, labels)
    if given_up.max() > TIE:
        row = int(given_up.argmax())
        raise ValueError(
            f"labels[{row}] gives up {given_up[row]:g} of net value at price {c.lam:g}; "
            "give a maximiser"
        )
    accuracy = chosen(c.acc, labels).mean()
    spent = chosen(c.wide, labels).mean()
    best = integer_optimum(c.table, spent)
    return Statement(
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


def _least_dual(c: Case, path: Frontier) -> float:
    """The dual function is convex with kinks only at the frontier's prices; one is a minimum."""
    return float(np.min(dual(c.table, path.lam, c.budget)))


def _shares(best: Allocation, shape: tuple[int, int]) -> np.ndarray:
    """The frontier's mixed solution as a matrix of shares."""
    shares = np.zeros(shape)
    shares[np.arange(shape[0]), best.labels] = 1.0
    if best.split is not None:
        row, low, high, share = best.split
        shares[row, [low, high]] = 1 - share, share
    return shares


@_states("Ledger")
def ledger(c: Case) -> Statement:
    """The identity behind the chapter: distance to the bound is regret plus priced slack."""
    policy = _Policy(c, c.other)
    missing = dual(c.table, c.other, c.budget) - policy.accuracy
    unspent = c.budget - policy.cost
    return Statement(
        corrected=(
            equal("G(λ) − Acc = Reg + λ (B − cost)", missing, policy.regret + c.other * unspent),
        ),
    )


@_states("Corollary 1")
def decomposition(c: Case) -> Statement:
    """Corollary 1: regret is the accuracy lost minus the price of the cost saved."""
    policy = _Policy(c, c.lam)
    net = policy.lost - c.lam * policy.saved
    return Statement((equal("Reg = accuracy lost − λ × cost saved", policy.regret, net),))


@_states("Theorem 2")
def imitation(c: Case) -> Statement:
    """Theorem 2: regret is at most the sum of gaps, at most the largest gap times their share."""
    policy = _Policy(c, c.lam)
    return Statement(
        (
            at_most("Reg ≤ E[M 1(differs)]", policy.regret, policy.weighted),
            at_most("E[M 1(differs)] ≤ max M × ε", policy.weighted, policy.worst * policy.eps),
        ),
    )


@_states("Theorem 2, drawn")
def figure_bounds(c: Case) -> Statement:
    """What the figure draws for Theorem 2: accuracy lost and the mean gap, not regret."""
    policy = _Policy(c, c.lam)
    largest = policy.worst * policy.eps
    mean = policy.gaps.mean() * policy.eps
    covariance = ((policy.gaps - policy.gaps.mean()) * (policy.differs - policy.eps)).mean()
    return Statement(
        (
            at_most("accuracy lost ≤ max M × ε", policy.lost, largest),
            at_most("Reg ≤ mean M × ε", policy.regret, mean),
        ),
        (
            at_most(
                "accuracy lost ≤ max M × ε + λ × cost saved",
                policy.lost,
                largest + c.lam * policy.saved,
            ),
            at_most("Reg ≤ mean M × ε + Cov(M, differs)", policy.regret, mean + covariance),
        ),
    )


@_states("Theorem 3")
def recovery(c: Case) -> Statement:
    """Theorem 3: a near copy of an affordable oracle is nearly affordable (1) and optimal (2)."""
    policy = _Policy(c, c.lam)
    slack = c.budget - policy.oracle_cost
    if slack < -TIE * c.budget:
        raise ValueError(
            f"at price {c.lam:g} the oracle costs {policy.oracle_cost:g}, more than the budget "
            f"{c.budget:g}; raise either"
        )
    more = c.budget + policy.eps * policy.spread
    best = integer_optimum(c.table, more)
    bound = policy.weighted + c.lam * (more - policy.cost)
    simple = policy.worst * policy.eps + c.lam * (slack + 2 * policy.eps * policy.spread)
    return Statement(
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
            at_most("V(B') ≤ G(λ), with G at B", best.accuracy, dual(c.table, c.lam, c.budget)),
            at_most("λ (B − cost) ≤ 0", c.lam * (c.budget - policy.cost), 0.0),
        ),
    )


@_states("Own cost")
def own_cost(c: Case) -> Statement:
    """Against the best policy of its cost, a policy loses at most its regret."""
    policy = _Policy(c, c.other)
    best = frontier(c.table).at(policy.cost)
    behind = best.bound - policy.accuracy
    return Statement(
        corrected=(
            at_most("V_LP(cost) − Acc ≤ Reg", behind, policy.regret),
            equal("V_LP(cost) − Acc = least Reg", behind, _Policy(c, best.lam).regret),
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

    def __init__(self, c: Case, lam: float) -> None:
        acc, wide = c.acc, c.wide
        labels = check_labels(c.labels, acc.shape)
        oracle = oracle_labels(c.table, lam)
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


def _small(acc: list, cost: list, budget: float, lam: float, labels: list) -> Case:
    """A case from plain lists."""
    return Case(UtilityTable(acc, cost), budget, lam, np.array(labels))


#: The smallest cases known to us that break a printed claim, by the name the chapter uses.
COUNTEREXAMPLES = {
    # One question that money helps, and half the money: the least dual value is 1/2, the best
    # accuracy 0.
    "gap": _small([[0, 1]], [1, 2], 1.5, 1.0, [0]),
    # Two such questions. The perfect copy of the oracle (eps = 0) spends 1 of 1.5 and misses 1/2.
    "perfect copy": _small([[0, 1], [0, 1]], [1, 2], 1.5, 1.0, [0, 0]),
    # The oracle spends the whole budget, the policy saves it: accuracy lost 1/2, largest gap times
    # eps 3/8.
    "thrift": _small([[0, 1], [1, 1]], [1, 16], 8.5, 0.05, [0, 0]),
    # A high price, a small budget, and a policy that spends beyond it: B' = 2 buys 1, the dual
    # bound at B = 1 is 0.
    "wrong bound": _small([[0, 1]], [1, 2], 1.0, 2.0, [1]),
    # Accuracy lost 1, largest gap times eps 1/2; the regret, 1/2, keeps the bound.
    "accuracy": _small([[0, 1]], [1, 2], 2.0, 0.5, [0]),
    # The one error falls where the gap is; the second question ties, its gap is 0 and halves the
    # mean.
    "mean gap": _small([[0, 1], [0, 0.5]], [1, 2], 1.5, 0.5, [0, 0]),
    # Right at once: the price 0 does not buy the largest budget.
    "free": _small([[1, 1]], [1, 2], 2.0, 0.0, [0]),
}

KINDS = ("plain", "counted", "ties", "flat", "equal costs", "free", "by row")


def random_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Draw small random cases, the kinds in turn: half of them awkward on purpose."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        n = int(rng.integers(1, 6))
        k = int(rng.integers(1, 5))
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
        yield Case(table, budget, lam, labels, other=rng.uniform(0, 1.3 * top + 0.1))


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
    columns = ["case", "version", "claim", "left", "is", "right", "gap", "holds"]
    return _framed(rows, columns)
