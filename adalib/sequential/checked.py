"""`CheckedStopping`: ask until an answer passes its check, or give up at the price.

The chance that the next attempt passes is all that there is to know, and every failure lowers it.
Training questions say how chances are spread (`adalib.sequential.prior`), and text features, where
they are given, say which training questions a new one is like. A price then gives every question a
cap; the prices with what they cost and solve in training meet any budget, two of them by lot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import numbers, reading
from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.passes import Passes
from adalib.datasets.responses import Responses
from adalib.sequential.first_pass import after_failures, best_cap
from adalib.sequential.prior import free_form, likelihood
from adalib.sequential.replay import Mix

_FOLDS = 5  # of the training questions, to see whether features say anything
_PRICES = 400  # tried where every question has caps of its own
_SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of the training questions that are called alike
_DOUBT = 0.05  # weight of all training questions beside those that are alike


class CheckedStopping:
    r"""Stop at the first pass, and give up when another attempt is not worth its price.

    After k failures the next attempt passes with chance :math:`\hat p_k`, the posterior mean. One
    goes on exactly while it exceeds :math:`\lambda` times the cost of an attempt, which is optimal
    if attempts are alike and independent given a question's chance, the check is exact and free,
    and no attempt is cheaper than the one before it. Explained in the chapter "When you can check
    an answer".

    Parameters
    ----------
    most : int, optional
        The largest number of attempts at a question. Default: as many as the training questions
        have.
    always_text : bool
        Whether features decide even where they say nothing about training questions left out. By
        default they are ignored there, and all questions share a cap.
    seed : int
        Seed of the trees that read features, and of their folds.

    Attributes
    ----------
    p, weights : ndarray, shape (G,)
        The chances that a question may have, and how likely each is before the first attempt.
    prices, costs, accuracies : ndarray, shape (members,)
        Prices, falling, and what each costs and solves on average in training.
    share : float
        Share of the training questions that a new one is compared with; 1 if features say nothing.

    Examples
    --------
    Half of the questions pass half of the time, and half never pass.

    >>> policy = CheckedStopping().fit(Passes([10, 10, 0, 0], attempts=20))
    >>> vote = policy.start(budget=2.0, rng=0)
    >>> [vote.add(passed=False) for _ in range(4)], vote.goes_on
    ([True, False, False, False], False)
    >>> vote = policy.start(budget=2.0, rng=0)
    >>> vote.add(passed=True), vote.passed
    (False, True)
    """

    kind = "checked"
    costs: np.ndarray
    accuracies: np.ndarray

    def __init__(
        self, most: int | None = None, *, always_text: bool = False, seed: int = 0
    ) -> None:
        if most is not None and most < 1:
            raise ValueError(f"most is {most}; allow at least one attempt")
        self.most = most
        self.always_text = always_text
        self.seed = seed
        self.prices = np.empty(0)  # until a fit
        self._alike: _Alike | None = None

    def fit(
        self,
        passes: Passes | Responses,
        features: ArrayLike | None = None,
        groups: Sequence | None = None,
    ) -> Self:
        """Learn how chances are spread over questions, and what every price costs.

        Parameters
        ----------
        passes : Passes or Responses
            Attempts at the training questions and how many of them passed; or sampled answers, of
            which the right ones pass.
        features : array_like, shape (N, d), optional
            Features of the questions. Those that look alike share a cap.
        groups : sequence, optional
            The group of each question; a group is left out together. Default: each its own.

        Returns
        -------
        CheckedStopping
            The policy itself.
        """
        if isinstance(passes, Responses):
            passes = Passes.of(passes)
        self.most_answers = min(self.most or passes.samples, passes.samples)
        self.p, self.weights, own = free_form(passed=passes.passed, attempts=passes.attempts)
        self.paid = mean_paid(passes)
        self.share = 1.0
        weights = self.weights[None]
        self._alike = None
        if features is not None:
            alike = _Alike(own, self.weights, self.seed)
            member = group_numbers(range(passes.n) if groups is None else groups, passes.n)
            fold = deal(member, _FOLDS, self.seed) if member.any() else member
            like = likelihood(self.p, passes.passed, passes.attempts)
            left_out = alike.fit(passes, np.asarray(features, float), fold, like, self.always_text)
            self.share = alike.share
            if alike.share < 1:
                self._alike = alike
                weights = left_out
        self._fit_prices(passes, weights)
        return self

    def _fit_prices(self, passes: Passes, weights: np.ndarray) -> None:
        """Find prices, and what each costs and solves on the training questions."""
        self.prices, caps = priced_caps(self.p, weights, self.most_answers, self.paid)
        every = np.arange(self.most_answers + 1)
        solved, spent = passes.solved(every), passes.cost(every)
        if len(weights) == 1:
            self.costs = spent.mean(axis=0)[caps[:, 0]]
            self.accuracies = solved.mean(axis=0)[caps[:, 0]]
        else:
            rows = np.arange(passes.n)
            self.costs = np.array([spent[rows, cap].mean() for cap in caps])
            self.accuracies = np.array([solved[rows, cap].mean() for cap in caps])

    def mix(self, budget: float) -> Mix:
        """Return two members next to each other, and the share of the second, for a budget.

        A budget above what every attempt together costs is not spent.
        """
        self._check_fitted()
        if not (np.isfinite(budget) and budget >= 0):
            raise ValueError(f"the budget is {budget}; give a number, 0 or more")
        return neighbours(self.costs, budget)

    def price(self, budget: float) -> float:
        """Return the price at which a budget is spent in training."""
        low, high, _ = self.mix(budget)
        if low == high:
            return float(self.prices[low])
        gain = self.accuracies[high] - self.accuracies[low]
        return float(gain / (self.costs[high] - self.costs[low]))

    def at_price(self, price: float) -> int:
        """Return the member that is worth most at a price; of equal ones the cheapest."""
        return int(np.argmax(self.accuracies - price * self.costs))

    def caps(self, member: int, features: ArrayLike | None = None, n: int = 1) -> np.ndarray:
        """Return after how many failures this member gives up, for ``n`` questions."""
        weights = self._weights(features, n)
        chance, reached = after_failures(self.p, weights, self.most_answers)
        return best_cap(chance, reached, float(self.prices[member]), _cost_of(chance, self.paid))

    def start(
        self,
        budget: float,
        features: ArrayLike | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> CheckedSession:
        """Begin with one question.

        Parameters
        ----------
        budget : float
            Average cost over many questions; which of two caps this one gets is random.
        features : array_like, shape (d,), optional
            Features of the question, where the policy learned from some.
        rng : Generator or int, optional
            Source of that random choice.

        Returns
        -------
        CheckedSession
        """
        return self.begin(self.mix(budget).draw(rng), features)

    def begin(self, number: int, features: ArrayLike | None = None) -> CheckedSession:
        """Begin with one question by the member of this number, as `at_price` returns it."""
        one = None if features is None else np.asarray(features, dtype=float)[None]
        weights = self._weights(one, 1)
        chance, _ = after_failures(self.p, weights[0], self.most_answers + 1)
        return CheckedSession(chance, int(self.caps(number, one)[0]))

    def _weights(self, features: ArrayLike | None, n: int) -> np.ndarray:
        """Return how likely each chance is for each question."""
        if self._alike is None:
            return np.broadcast_to(self.weights, (n, self.p.size))
        if features is None:
            raise ValueError("the policy reads features of a question; give those it learned from")
        return self._alike.weights(np.asarray(features, dtype=float))

    def _check_fitted(self) -> None:
        """Raise ValueError if the policy has not learned yet."""
        if not self.prices.size:
            raise ValueError("the policy has learned nothing yet; call its fit first")

    def to_dict(self) -> dict[str, Any]:
        """Return a fitted policy that reads no features as plain values."""
        self._check_fitted()
        if self._alike is not None:
            raise ValueError("a policy that reads features is not saved; fit it without them")
        names = ("p", "weights", "prices", "costs", "accuracies")
        return {
            "kind": self.kind,
            "version": 1,
            "most": self.most_answers,
            "paid": list(self.paid),
            **{name: getattr(self, name).tolist() for name in names},
        }

    @classmethod
    def from_dict(cls, data: Any) -> CheckedStopping:
        """Return the policy that `to_dict` described, with every number checked."""
        with reading(data, cls.kind, 1):
            policy = cls(int(data["most"]))
            policy.most_answers = int(data["most"])
            policy.share = 1.0
            size = (len(data["p"]),)
            policy.p = numbers(data["p"], "p", size, 0, 1)
            policy.weights = numbers(data["weights"], "weights", size, 0, 1)
            failed, passed = numbers(data["paid"], "paid", (2,), 0)
            policy.paid = (float(failed), float(passed))
            members = (len(data["prices"]),)
            policy.prices = numbers(data["prices"], "prices", members, 0)
            policy.costs = numbers(data["costs"], "costs", members, 0)
            policy.accuracies = numbers(data["accuracies"], "accuracies", members, 0, 1)
            if not members[0] or (np.diff(policy.costs) < 0).any():
                raise ValueError("its members are missing, or not in the order of their costs")
        return policy


class CheckedSession:
    """The attempts at one question, as `CheckedStopping.start` begins them.

    Attributes
    ----------
    goes_on : bool
        Whether another attempt is worth its price.
    passed : bool
        Whether an attempt has passed.
    failures : int
        How many have failed.
    cap : int
        After how many failures it gives up.
    """

    def __init__(self, chance: np.ndarray, cap: int) -> None:
        self._chance = chance
        self.cap = cap
        self.failures = 0
        self.passed = False
        self.goes_on = cap > 0

    @property
    def chance(self) -> float:
        """The chance that the next attempt passes."""
        return float(self._chance[min(self.failures, self._chance.size - 1)])

    @property
    def asks(self) -> int:
        """How many answers to ask at once: one, or none."""
        return int(self.goes_on)

    def add(self, *, passed: bool) -> bool:
        """Count one more attempt and return whether to go on.

        Parameters
        ----------
        passed : bool
            What the check said.

        Returns
        -------
        bool
            Whether another attempt is worth its price. Once it is not, this stays so.
        """
        if not isinstance(passed, bool | np.bool_):
            raise ValueError(f"the check said {passed!r}; it must say True or False")
        self.passed = self.passed or bool(passed)
        self.failures += not passed
        self.goes_on = self.goes_on and not self.passed and self.failures < self.cap
        return self.goes_on


def neighbours(costs: np.ndarray, budget: float) -> Mix:
    """Return the two of rising costs that a budget lies between, and the share of the second."""
    after = int(np.searchsorted(costs, budget, side="right"))
    low, high = max(after - 1, 0), min(after, costs.size - 1)
    rise = costs[high] - costs[low]
    return Mix(low, high, float((budget - costs[low]) / rise) if rise > 0 else 0.0)


def priced_caps(
    p: np.ndarray, weights: np.ndarray, most: int, paid: tuple[float, float] = (1.0, 1.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Return prices, falling, and the cap of every question at each, (prices, N).

    Next to each other, two prices of a single question differ by one attempt. ``paid`` is what a
    failed and a passed attempt cost.
    """
    chance, reached = after_failures(p, weights, most)
    cost = _cost_of(chance, paid)
    worth = np.unique((chance / cost)[reached > 0])[::-1]
    if len(weights) > 1:
        worth = worth[np.unique(np.linspace(0, worth.size - 1, _PRICES).astype(int))]
    # Between two steps, so that rounding does not decide who takes one.
    between = (worth[1:] + worth[:-1]) / 2
    prices = np.concatenate([[2 * worth[0] + 1.0], between, [worth[-1] / 2]])
    caps = np.stack([best_cap(chance, reached, price, cost) for price in prices])
    _, first = np.unique(caps, axis=0, return_index=True)
    kept = np.sort(first)
    return prices[kept], caps[kept]


def _cost_of(chance: np.ndarray, paid: tuple[float, float]) -> float | np.ndarray:
    """Return what an attempt costs, which depends on how likely it is to pass."""
    failed, passed = paid
    return failed if failed == passed else failed + chance * (passed - failed)


def mean_paid(passes: Passes) -> tuple[float, float]:
    """Return what a failed and a passed attempt cost on average."""
    if passes.paid is None:
        return 1.0, 1.0
    failures = passes.attempts - passes.passed
    sides = ((passes.paid[:, 0], failures), (passes.paid[:, 1], passes.passed))
    usual = float(passes.paid.mean())
    means = [
        float((paid * count).sum() / count.sum()) if count.any() else usual for paid, count in sides
    ]
    return means[0], means[1]


class _Alike:
    """Which training questions a new one is like: those for which trees predict as many passes."""

    def __init__(self, own: np.ndarray, all_weights: np.ndarray, seed: int) -> None:
        self._own = own
        self._all = all_weights
        self._seed = seed

    def fit(
        self,
        passes: Passes,
        features: np.ndarray,
        fold: np.ndarray,
        like: np.ndarray,
        always: bool,
    ) -> np.ndarray:
        """Learn from training questions; return the weights of each as if it were a new one."""
        from adalib.learn.trees import regressor

        logit = np.log(passes.passed + 0.5) - np.log(passes.attempts - passes.passed + 0.5)
        scores = np.empty(passes.n)
        for out in np.unique(fold):
            held = fold == out
            model = regressor(self._seed).fit(features[~held], logit[~held, None])
            scores[held] = model.predict(features[held]).ravel()
        self._model = regressor(self._seed).fit(features, logit[:, None])
        self._order = np.argsort(scores, kind="stable")
        self._scores = scores[self._order]
        self._sums = np.vstack([np.zeros(like.shape[1]), np.cumsum(self._own[self._order], axis=0)])
        # The width whose weights make the passes of questions left out likeliest.
        best, left_out = -np.inf, np.empty_like(like)
        place = np.empty(passes.n, dtype=int)
        place[self._order] = np.arange(passes.n)
        for share in _SHARES if always else (*_SHARES, 1.0):
            self.share = share
            found = self._near(scores, without=place)
            value = float(np.log((found * like).sum(axis=1)).sum())
            if value > best:
                best, left_out, chosen = value, found, share
        self.share = chosen
        return left_out

    def weights(self, features: np.ndarray) -> np.ndarray:
        """Return how likely each chance is for new questions, (N, G)."""
        return self._near(np.asarray(self._model.predict(features)).ravel())

    def _near(self, scores: np.ndarray, without: np.ndarray | None = None) -> np.ndarray:
        """Average what the nearest training questions have, a question itself left out."""
        n = self._scores.size
        width = min(max(int(np.ceil(self.share * n)), 5), n)
        middle = np.searchsorted(self._scores, scores) if without is None else without
        begin = np.clip(middle - width // 2, 0, n - width)
        total = self._sums[begin + width] - self._sums[begin]
        count = float(width)
        if without is not None and n > 1:
            total = total - self._own[self._order][without]
            count -= 1
        local = total / max(count, 1.0)
        return (1 - _DOUBT) * local + _DOUBT * self._all
