"""Priced stopping: take another answer exactly while its expected gain exceeds lambda times its cost.

Signals say what the next answer may bring (`adalib.sequential.signals`). One fit on training questions serves every
price, hence every budget: `backward_induction` values going on at all prices at once, plain rules join the priced ones
in one library, and the envelope over the library names, for a budget, two members and a coin. A fitted policy decides
answer by answer (`Session`), and is kept in a file of numbers and names, with nothing in it that runs.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.datasets.sealed import DataError, number, numbers, read_sealed, whole, write_sealed
from adalib.sequential.certificate import Certificate, certified
from adalib.sequential.peers import NEVER, Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.signals import SIGNALS, USUAL, Seen, Signal, VoteCount
from adalib.sequential.streams import REPLAYS, Cost, Library, Mix, Money, Streams, corners, mix_for

__all__ = ["Member", "PricedStopping", "Session", "backward_induction", "load_stopping", "save_stopping"]

_FOLDS = 10  # inside the training questions: each is decided by a fit on nine tenths of the others
#: Prices tried, in accuracy for the cost of one average answer. Three hundred questions cannot tell apart what is worth
#: less than the first of them, and rules fitted there would differ from fold to fold: plain rules do that part.
PRICES = np.geomspace(1e-3, 0.3, 32)
#: What an average answer must bring, in accuracy, or it is not asked: three hundred questions cannot tell so little
#: apart. Whoever wants a budget spent to the last answer is given as much for it, and climbs a flat curve too.
LEAST = 1e-3


def backward_induction(
    features: list, value: np.ndarray, cost: np.ndarray, prices: np.ndarray, fold: np.ndarray, ridge: float = 0.01
) -> tuple[np.ndarray, np.ndarray]:
    """Regress the gain of going on, less its price, on what is known at every checkpoint, from the last to the first.

    So are American options priced (Longstaff and Schwartz 2001): the value carried back is the one that really came,
    and the regression only decides, so that no maximum over noisy guesses piles up on the way. ``features`` are (d, M)
    at each checkpoint but the last, ``value`` and ``cost`` (M, S) what the vote is worth and what was paid. Returns
    coefficients, (S - 1, d + 1, L), the constant first, and stops, (M, L), each decided by a fit on the other folds.
    """
    last = value.shape[1] - 1
    reward = np.repeat(value[:, -1:], prices.size, axis=1)
    stop = np.full(reward.shape, last)
    coefficients = []
    for s in reversed(range(last)):
        reward -= np.multiply.outer(cost[:, s + 1] - cost[:, s], prices)
        now = value[:, s : s + 1]
        # The later it is, the fewer streams are still open, and the less there is to learn from: the ridge grows.
        fitted, guess = cross_fitted(features[s], reward - now, fold, ridge * (s + 1))
        coefficients.append(fitted)
        np.copyto(stop, s, where=guess <= 0)
        np.copyto(reward, now, where=guess <= 0)
    return np.array(coefficients[::-1]), stop


def follow(coefficients: Sequence[np.ndarray], features: Sequence[np.ndarray]) -> np.ndarray:
    """The checkpoint at which each stream stops, shape (M, L): the first where going on is not worth its price."""
    stop = np.full((features[0].shape[1], coefficients[0].shape[1]), len(features), dtype=np.int16)
    for s in reversed(range(len(features))):
        np.copyto(stop, s, where=coefficients[s][0] + features[s].T @ coefficients[s][1:] <= 0)
    return stop


def cross_fitted(x: np.ndarray, y: np.ndarray, fold: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression on all rows, and guesses for each fold by the others: sums of squares, one fold taken away."""
    order = np.argsort(fold, kind="stable")  # each fold is one piece, and nothing is copied out of the middle
    ends = [0, *(np.flatnonzero(np.diff(fold[order], append=fold.max() + 1)) + 1).tolist()]
    parts = list(map(slice, ends[:-1], ends[1:]))
    x, y = x[:, order], y[order]
    center, scale = x.mean(axis=1), x.std(axis=1) + 1e-6
    z = np.vstack([np.ones(x.shape[1]), (x - center[:, None]) / scale[:, None]])
    shrink = np.diag([0.0] + [ridge * x.shape[1]] * len(x))
    squares = np.array([z[:, part] @ z[:, part].T for part in parts])
    products = np.array([z[:, part] @ y[part] for part in parts])
    square, moment = squares.sum(axis=0), products.sum(axis=0)
    every = np.linalg.solve(square + shrink, moment)
    others = np.linalg.solve(square - squares + shrink, moment - products) if len(parts) > 1 else [every]
    guess = np.empty_like(y)
    for part, fitted in zip(parts, others, strict=True):
        guess[order[part]] = z[:, part].T @ fitted
    slopes = every[1:] / scale[:, None]
    return np.vstack([every[:1] - center @ slopes, slopes]), guess


class Member(NamedTuple):
    """A member of the library: a plain rule by the count of a signal, or (rule None) the priced one of this number."""

    rule: Rule | None
    by: str = "votes"
    price: int = -1


def dealt(groups: Sequence | None, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The group of every question, and its fold: one for all where there is a single group."""
    member = group_numbers(range(n) if groups is None else groups, n)
    return member, deal(member, _FOLDS, seed) if member.any() else np.zeros(n, dtype=int)


class Session:
    """The vote on one question: ``goes_on`` while another answer is worth its price; ``reads``, the fields it needs."""

    def __init__(self, policy: PricedStopping, member: Member, features: ArrayLike | None) -> None:
        self._policy, self._member, self._n, self._enough = policy, member, 0, False
        self._memory = {name: signal.begin(features) for name, signal in policy.heard.items()}
        self.certificate, self.reads, self.goes_on = Certificate(), policy.reads, True

    @property
    def asks(self) -> int:
        """How many answers to ask at once: those up to the next checkpoint."""
        schedule = self._policy.schedule
        return int(schedule[np.searchsorted(schedule, self._n, side="right")]) - self._n if self.goes_on else 0

    @property
    def leaders(self) -> list[Hashable]:
        """The answers that lead the vote, in the order they came: one, several that are tied, or none."""
        return self._memory[self._policy.decides.name].leaders

    def add(self, answer: Hashable, **said: float | None) -> bool:
        """Count one more answer, None or "" if unread, with all that `reads` names of it, and say whether to go on."""
        self._count(None if answer == "" else answer, said)
        schedule = self._policy.schedule
        column = int(np.searchsorted(schedule, self._n))
        if column == schedule.size or schedule[column] == self._n:
            self._enough = self._enough or column >= schedule.size - 1 or self._stops(column)
            uncertain = self._policy.certify is not None and self.certificate.risk > self._policy.certify
            self.goes_on = column < schedule.size - 1 and (uncertain or not self._enough)
        return self.goes_on

    def _count(self, answer: Hashable, said: Mapping[str, float | None]) -> None:
        self._n += 1
        self.certificate.add(answer)
        for count in self._policy.counts():
            self._memory[count.name].add(answer, 1.0 if answer is None else count.weight(said))

    def _stops(self, column: int) -> bool:
        rule, by, price = self._member
        if rule is not None:
            return bool(rule.stops(self._memory[by].votes()))
        fitted = self._policy.coefficients[column][:, price]
        return bool(fitted[0] + self.known() @ fitted[1:] <= 0)

    def known(self) -> np.ndarray:
        """The features of this moment."""
        votes = {count.name: self._memory[count.name].votes() for count in self._policy.counts()}
        return Seen(self._policy.heard, self._memory | votes, self._policy.decides).features()


class PricedStopping(Library):
    """Stop when the next answer is not worth its price.

    Explained in chapter 9, "When to stop".

    Parameters
    ----------
    signals : sequence of str, optional
        Among "votes" (always), "text", which needs ``features``, "certainty", "entropy" and "length", which need the
        answers' log-probabilities, mean token entropies and numbers of tokens; whatever says nothing is left out.
        Default: votes, text and certainty, and length where certainty says nothing.
    cost : {"samples", "tokens"} or function of Responses
        What an answer costs (`adalib.sequential.streams.Money` is a price list).
    schedule : sequence of int, optional
        Numbers of answers at which one may stop: ``range(4, 41, 4)`` asks in rounds of four. Default: after every
        answer up to 16, then after 20, 24, 28, 32 and 40.
    repeats, seed : int
        Orders in which every training question is played back.
    certify : float, optional
        Stop no earlier than some answer is certified as the model's most frequent one, but for a chance of so much
        (`adalib.sequential.certificate`), or at the last checkpoint. What that costs no budget can be below.
    exact : bool
        A budget is what is spent at most, on average: no answer is asked that is worth next to nothing. With True it
        is what is spent.

    Attributes
    ----------
    heard : dict of str to Signal
        The signals that say something, fitted; ``decides`` is the one whose count closes the vote.
    members, costs, accuracies, prices : list of Member, ndarrays
        The corners of the envelope, cheapest first, accuracies by fits that did not see the question.

    Examples
    --------
    >>> from adalib import beta_population
    >>> teach, score = beta_population(60, 1.5, 1.5).sample(24).split_samples(0)
    >>> policy = PricedStopping(("votes",), repeats=2).fit(teach)
    >>> policy.replay(score, [1.0]).cost.mean().item(), policy.start(1.0).add("7")
    (1.0, False)
    """

    FORMAT = "adalib stopping, version 3"
    RULES: Mapping[str, type[Rule]] = {rule.__name__: rule for rule in (Confidence, Fixed, Margin)}
    round_price = 0.0  # a round costs nothing here: see `adalib.sequential.rounds`

    def __init__(
        self,
        signals: Sequence[str] | None = None,
        *,
        cost: Cost = "samples",
        schedule: Sequence[int] | None = None,
        repeats: int = 16,
        seed: int = 0,
        certify: float | None = None,
        exact: bool = False,
    ) -> None:
        if certify is not None and not 0 < certify < 1:
            raise ValueError(f"certify is {certify}; give a chance of error between 0 and 1, such as 0.05")
        if unknown := sorted(set(signals or ()) - set(SIGNALS)):
            raise ValueError(f"{unknown[0]!r} is no signal; choose among {', '.join(SIGNALS)}")
        self.signals, self.cost, self.repeats, self.seed = signals and tuple(signals), cost, repeats, seed
        self.certify, self.exact = certify, exact
        self.schedule = np.array(schedule if schedule is not None else [*range(1, 17), 20, 24, 28, 32, 40], dtype=int)
        if not self.schedule.size or self.schedule[0] < 1 or (np.diff(self.schedule) < 1).any():
            raise ValueError("the schedule must be increasing numbers of answers, from 1 or more")

    def fit(self, responses: Responses, features: ArrayLike | None = None, groups: Sequence | None = None) -> Self:
        """Learn what going on is worth at every price, from features (N, d); a group is left out together."""
        self.schedule = self.schedule[self.schedule <= responses.samples]
        if not self.schedule.size:
            raise ValueError(f"{responses.source}: has {responses.samples} answers, fewer than the first checkpoint")
        _, fold = dealt(groups, responses.n, self.seed)
        streams = self.streams(responses, self.seed, self.repeats)
        lesson = responses, streams, self.schedule, fold, features
        self.heard: dict[str, Signal] = {}
        for name, kind in SIGNALS.items():
            spared = self.signals is None and name == "length" and "certainty" in self.heard
            signal = kind()
            if name in ("votes", *(self.signals or USUAL)) and not spared and signal.fit(*lesson):
                self.heard[name] = signal
        self.decides = max(self.counts(), key=lambda count: count.gain)
        self._fit_library(self.seen(streams, taught=True), streams, fold[streams.question])
        return self

    def mix(self, budget: float) -> Mix:
        """The two members, and the chance of the dearer, that cost at most ``budget`` (all of it, where ``exact``)."""
        least = LEAST if self.exact else -LEAST
        return mix_for(self.costs, self.accuracies + least * self.costs / self.unit, budget)

    def spends(self, budget: float) -> float:
        """What it spends of a budget on average, on training questions: the rest is not worth its price."""
        return self._mixed(self.costs, budget)

    def waits(self, budget: float) -> float:
        """How many rounds of answers it waits for on average, on training questions; known after `fit`."""
        return self._mixed(self.rounds, budget)

    def _mixed(self, figures: np.ndarray, budget: float) -> float:
        low, high, share = self.mix(budget)
        return float((1 - share) * figures[low] + share * figures[high])

    def streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        if responses.samples < self.schedule[-1]:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers per question, and the policy may ask for "
                f"{self.schedule[-1]}; give as many, or fit it with a shorter schedule"
            )
        return super().streams(responses, seed, repeats)

    def play(self, members: Sequence[Any], streams: Streams, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        seen = self.seen(streams, features)
        stops = np.maximum(self._stops(seen, members), self._floor(streams))
        return stops, np.take_along_axis(seen.votes.value, stops, axis=1)

    def start(
        self, budget: float, features: ArrayLike | None = None, rng: np.random.Generator | int | None = None
    ) -> Session:
        """Begin with one question: toss the coin for an average cost over many, and look at its ``features`` (d,)."""
        mix = self.mix(budget)
        return self.begin(mix.high if np.random.default_rng(rng).random() < mix.share else mix.low, features)

    def begin(self, number: int, features: ArrayLike | None = None) -> Session:
        """Begin with one question by the member of this number, as `at_price` names it."""
        return Session(self, self.members[number], features)

    def at_price(self, price: float) -> int:
        """The number of the member that a price picks: most accuracy less price times cost, ties to the cheaper."""
        return int(np.argmax(self.accuracies - price * self.costs))

    def price(self, budget: float) -> float:
        """The price at which ``budget`` is spent on training questions: the slope of the envelope there."""
        mix = self.mix(budget)
        low, high = (mix.low, mix.high) if mix.high > mix.low else (max(mix.low - 1, 0), max(mix.low, 1))
        if high >= self.costs.size:  # a single member: no price changes anything
            return 1.0
        slope = (self.accuracies[high] - self.accuracies[low]) / (self.costs[high] - self.costs[low])
        return max(float(slope), 0.0)

    def stops_at(
        self, responses: Responses, features: ArrayLike | None, price: float, *, seed: int = 1, repeats: int = REPLAYS
    ) -> tuple[np.ndarray, float]:
        """Where every stream stops at the nearest price on the envelope: checkpoints, shape (M,), and that price."""
        if not self.prices.size:
            raise ValueError("no price is on the envelope of this policy: plain rules alone are best here")
        near = int(np.abs(self.prices - price).argmin())
        stops, _ = self.play([Member(None, price=near)], self.streams(responses, seed, repeats), features)
        return stops[:, 0], float(self.prices[near])

    @property
    def reads(self) -> dict[str, str]:
        """The fields of an answer that the policy looks at, each with the signal that does."""
        return {signal.reads: name for name, signal in self.heard.items() if signal.reads}

    @property
    def takes(self) -> int:
        """Features of a question that the policy needs; 0 where it does not look at any."""
        return max(signal.takes for signal in self.heard.values())

    def seen(self, streams: Streams, features: ArrayLike | None = None, *, taught: bool = False) -> Seen:
        """What the policy knows of streams at its checkpoints; ``taught`` if it learned from their questions."""
        told = {name: signal.watch(streams, self.schedule - 1, features, taught) for name, signal in self.heard.items()}
        return Seen(self.heard, told, self.decides)

    def counts(self) -> list[VoteCount]:
        """The signals that are counts of the answers."""
        return [signal for signal in self.heard.values() if isinstance(signal, VoteCount)]

    @property
    def largest_round(self) -> int:
        """The most answers that are ever asked at once."""
        return int(np.diff(self.schedule, prepend=0).max())

    @classmethod
    def remade(cls, round_price: float, signals: Sequence[str], schedule: list[int], how: dict[str, Any]) -> Self:
        """The policy of a file, not fitted yet."""
        return cls(signals, schedule=schedule, **how)

    def shapes(self, known: int) -> list[tuple[int, ...]]:
        """The shapes of the coefficients at one price, where so much is known at every checkpoint."""
        return [(known + 1,)] * (self.schedule.size - 1)

    def _fit_library(self, seen: Seen, streams: Streams, fold: np.ndarray) -> None:
        schedule, longest = self.schedule, int(self.schedule[-1])
        value, paid = seen.votes.value, streams.cost[:, schedule - 1]
        self.unit = float((paid[:, -1] / longest).mean())
        prices = PRICES / self.unit
        features = [seen.at(column).features() for column in range(schedule.size - 1)]
        coefficients, stops = backward_induction(features, value, paid, prices, fold)
        # Rules that need no fit: fixed numbers, and those of every count under several caps.
        caps = sorted({int(schedule[schedule >= min(cap, longest)][0]) for cap in (4, 8, 16, 24, longest)})
        plain = [Member(Fixed(int(answers))) for answers in schedule]
        for cap, count in product(caps, self.counts()):
            plain += [Member(rule, count.name) for rule in count.rules(seen.told[count.name], cap, longest)]
        floor = self._floor(streams)
        stops = np.maximum(np.column_stack([stops, self._stops(seen, plain)]), floor)
        accuracy = np.take_along_axis(value, stops, axis=1).mean(axis=0)
        if features:
            # How right it is must be said by fits that did not see the question. How much it spends is better said by
            # the rule itself: fits on fewer questions are rougher, and a rough guess says "stop" too early once.
            stops[:, : prices.size] = np.maximum(follow(list(coefficients), features), floor)
        cost = np.take_along_axis(paid, stops, axis=1).mean(axis=0)
        self._keep(prices, list(coefficients), plain, np.array([cost, accuracy, stops.mean(axis=0) + 1]))

    def _keep(self, prices: np.ndarray, coefficients: list, plain: list[Member], figures: np.ndarray) -> None:
        """Keep what is on the envelope by cost, accuracy and rounds, of a rule for every price and then plain ones."""
        best = corners(figures[0], figures[1] + LEAST * figures[0] / self.unit)
        priced = [place for place in best if place < prices.size]
        self.costs, self.accuracies, self.rounds = figures[:, best]
        self.prices, self.coefficients = prices[priced], [part[..., priced] for part in coefficients]
        by_place = dict(enumerate(plain, prices.size)) | {p: Member(None, price=j) for j, p in enumerate(priced)}
        self.members = [by_place[place] for place in best]

    def _floor(self, streams: Streams) -> np.ndarray:
        """The checkpoint before which no stream may stop, shape (M, 1): where its certificate holds."""
        if self.certify is None:
            return np.zeros((1, 1), dtype=int)
        when, _ = certified(streams.classes, self.certify)
        return np.searchsorted(self.schedule, when).clip(max=self.schedule.size - 1)[:, None]

    def _stops(self, seen: Seen, members: Sequence[Member]) -> np.ndarray:
        """The checkpoint at which each member stops every stream, shape (M, members)."""
        stops = np.full((len(seen.votes.n), len(members)), self.schedule.size - 1)
        for count in self.counts():
            mine = [j for j, member in enumerate(members) if member.rule is not None and member.by == count.name]
            stops[:, mine] = points_of([members[j].rule for j in mine], seen.told[count.name])
        priced = [j for j, member in enumerate(members) if member.rule is None]
        if priced and self.schedule.size > 1:
            features = [seen.at(column).features() for column in range(self.schedule.size - 1)]
            chosen = [members[j].price for j in priced]
            stops[:, priced] = follow([part[:, chosen] for part in self.coefficients], features)
        return stops


_MEND = "save the policy again"


def save_stopping(policy: PricedStopping, path: str | os.PathLike) -> None:
    """Write a fitted policy that `load_stopping` reads, its `Money` price list included.

    Explained in chapter 9, "When to stop". Costs from a function of one's own, which no file can hold: ValueError.
    """
    cost = asdict(policy.cost) if isinstance(policy.cost, Money) else policy.cost
    if callable(cost):
        told = "the policy's costs come from a function, which cannot be saved; fit it with a Money price list"
        raise ValueError(told)
    about: dict[str, Any] = {"asked": policy.signals and list(policy.signals), "decides": policy.decides.name}
    about |= {"unit": policy.unit, "certify": policy.certify, "exact": policy.exact, "round_price": policy.round_price}
    about |= {"signals": {name: signal.to_dict() for name, signal in policy.heard.items()}, "cost": cost}
    about |= {name: getattr(policy, name).tolist() for name in ("schedule", "prices", "costs", "accuracies")}
    about["coefficients"] = [part.tolist() for part in policy.coefficients]
    about["members"] = [
        {"price": price} if rule is None else {"rule": type(rule).__name__, "by": by, **vars(rule)}
        for rule, by, price in policy.members
    ]
    write_sealed(path, policy.FORMAT, [about])


def load_stopping(path: str | os.PathLike, kind: type[PricedStopping] = PricedStopping) -> PricedStopping:
    """Read a policy of this kind that `save_stopping` wrote: the checksum first, then every size and number.

    Explained in chapter 9, "When to stop". DataError says in one sentence which file is wrong, in what, and the mend.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from adalib import beta_population
    >>> policy = PricedStopping(("votes",), repeats=2).fit(beta_population(60, 1.5, 1.5).sample(12))
    >>> with TemporaryDirectory() as folder:
    ...     save_stopping(policy, f"{folder}/policy.json")
    ...     load_stopping(f"{folder}/policy.json").mix(2.0) == policy.mix(2.0)
    True
    """
    (about,) = read_sealed(path, kind.FORMAT, 1, _MEND)
    try:
        return _policy(about, kind)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error!r}); {_MEND}") from None


def _policy(about: dict[str, Any], kind: type[PricedStopping]) -> PricedStopping:
    schedule = [whole(stop, "a stop of the schedule", 1, NEVER) for stop in about["schedule"]]
    cost = about["cost"]
    if isinstance(cost, dict) and set(cost) == {"per_token", "per_answer"}:
        cost = Money(**{name: number(price, name, 0, 1e12) for name, price in cost.items()})
    elif cost not in ("samples", "tokens"):
        raise ValueError("its cost is neither samples nor tokens nor a price list")
    certify = None if about.get("certify") is None else number(about["certify"], "certify", 0, 1)
    how = {"cost": cost, "certify": certify, "exact": about.get("exact") is True}
    policy = kind.remade(about.get("round_price", 0.0), about["asked"], schedule, how)
    policy.unit = number(about["unit"], "unit", 0, 1e12)
    policy.heard = {name: kind() for name, kind in SIGNALS.items() if name in about["signals"]}
    for name, kept in about["signals"].items():
        policy.heard[name].restore(kept)
    policy.decides = {count.name: count for count in policy.counts()}[about["decides"]]
    policy.prices = numbers(about["prices"], "prices", (None,), 0)
    session = Session(policy, Member(Fixed(1)), np.zeros(policy.takes))
    session.add(None)
    parts = zip(about["coefficients"], policy.shapes(session.known().size), strict=True)
    policy.coefficients = [numbers(part, "coefficients", (*shape, policy.prices.size)) for part, shape in parts]
    policy.members = [_member(dict(kept), policy) for kept in about["members"]]
    policy.costs = numbers(about["costs"], "costs", (len(policy.members),), 0)
    least = -policy.round_price * schedule[-1]  # accuracies are less what the rounds cost
    policy.accuracies = numbers(about["accuracies"], "accuracies", policy.costs.shape, least, 1)
    if not policy.members or (np.diff(policy.costs) <= 0).any():
        raise ValueError("its members are not there, or not the cheapest first")
    return policy


def _member(kept: dict[str, Any], policy: PricedStopping) -> Member:
    if "rule" not in kept:
        return Member(None, price=whole(kept["price"], "a member's price", 0, policy.prices.size - 1))
    rule, by = policy.RULES[kept.pop("rule")], kept.pop("by")
    if by not in [one.name for one in policy.counts()]:
        raise ValueError("a member goes by a count that the policy does not have")
    if rule is Confidence and (by != "votes" or policy.schedule[-1] > 255):  # `leader_holds` knows no more
        raise ValueError("a threshold of confidence is for plain votes, and not for so many")
    for name, value in kept.items():
        number(value, name, 0)
    if rule is Fixed:
        whole(kept["answers"], "a fixed number of answers", 1, int(policy.schedule[-1]))
    return Member(rule(**kept), by)
