"""`PricedStopping`: take another answer while its expected gain exceeds lambda times its cost.

Signals say what the next answer may bring (`adalib.sequential.signals`). `PricedStopping.fit` makes
a library of stopping rules from training questions: `backward_induction` gives one for every price,
and plain rules, such as a lead of three votes, join them. The rules on the upper concave envelope
of cost and accuracy are kept, so that one fit serves every budget, by two rules and a share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import number, numbers, whole
from adalib.datasets.responses import Cost, Prices, Responses
from adalib.sequential.evidence import Evidence
from adalib.sequential.induction import backward_induction, first_stops
from adalib.sequential.priced import LEAST, PricedPolicy, training_folds
from adalib.sequential.replay import REPLAYS, Mix, RuleLibrary, mix_for
from adalib.sequential.rules import NEVER, Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.session import Member, Session, SteppedPolicy
from adalib.sequential.signals.base import Lesson
from adalib.sequential.streams import Streams
from adalib.solve.hull import concave_hull

#: Prices tried, in accuracy per cost of one average answer. Below the first, three hundred
#: questions cannot tell rules apart, and rules fitted there would differ from fold to fold.
PRICES = np.geomspace(1e-3, 0.3, 32)
_SCHEDULE = (*range(1, 17), 20, 24, 28, 32, 40)
_CAPS = (4, 8, 16, 24)  # of the plain rules, next to the longest vote
_RULES: Mapping[str, type[Rule]] = {rule.__name__: rule for rule in (Confidence, Fixed, Margin)}


class PricedStopping(SteppedPolicy, PricedPolicy, RuleLibrary):
    r"""Stop when the next answer is not worth its price.

    With :math:`v_n` the accuracy of the vote after n answers and :math:`c_n` their cost, the policy
    at price :math:`\lambda` maximises :math:`E[v_\tau - \lambda c_\tau]` over stopping times
    :math:`\tau`. Explained in the chapter "When to stop".

    Parameters
    ----------
    signals : sequence of str, optional
        Names in `adalib.sequential.signals.SIGNALS`: "votes" (always used), "text", which needs
        ``features``, and "certainty", "entropy" and "length", which need the answers'
        log-probabilities, mean token entropies and numbers of tokens. A signal that says nothing is
        left out. Default: votes, text and certainty, and length where certainty says nothing.
    cost : {"samples", "tokens"} or Prices
        What an answer costs: 1, its tokens, or dollars. A policy that pays dollars is not saved.
    schedule : sequence of int, optional
        Numbers of answers at which one may stop: ``range(4, 41, 4)`` asks in rounds of four.
        Default: after every answer up to 16, then after 20, 24, 28, 32 and 40.
    repeats, seed : int
        Orders in which every training question is played back, and their seed.
    exact : bool
        Whether to spend the whole budget. By default the budget is a limit, and no answer is asked
        that gains next to nothing.

    Attributes
    ----------
    signals_in_use : dict of str to Signal
        The fitted signals that say something.
    deciding_count : VoteCount
        The signal whose count closes the vote.
    members : list of Member
        The rules on the envelope, cheapest first.
    costs, accuracies : ndarray, shape (members,)
        Their average cost and accuracy in training; the accuracies are by fits that did not see the
        question.
    prices : ndarray
        The prices of those members that are priced rules.
    unit : float
        Cost of an average answer.

    References
    ----------
    F. Longstaff and E. Schwartz, "Valuing American options by simulation: a simple least-squares
    approach", Review of Financial Studies 14 (2001).

    Examples
    --------
    >>> from adalib import beta_population
    >>> teach, score = beta_population(60, 1.5, 1.5).sample(24).split_samples(0)
    >>> policy = PricedStopping(("votes",), repeats=2).fit(teach)
    >>> policy.replay(score, [1.0]).cost.mean().item(), policy.start(1.0).add("7")
    (1.0, False)
    """

    kind = "stopping"
    members: list[Member]
    prices: np.ndarray

    def __init__(
        self,
        signals: Sequence[str] | None = None,
        *,
        cost: Cost = "samples",
        schedule: Sequence[int] | None = None,
        repeats: int = 16,
        seed: int = 0,
        exact: bool = False,
    ) -> None:
        self.signals = self.checked_names(signals)
        self.cost = cost
        self.repeats = repeats
        self.seed = seed
        self.exact = exact
        self.members = []  # until a fit
        self.offered = np.array(_SCHEDULE if schedule is None else schedule, dtype=int)
        if not self.offered.size or self.offered[0] < 1 or (np.diff(self.offered) < 1).any():
            raise ValueError("the schedule must be increasing numbers of answers, from 1 or more")
        self.schedule = self.offered  # until a fit leaves out what its answers cannot fill

    def fit(
        self,
        responses: Responses,
        features: ArrayLike | None = None,
        groups: Sequence | None = None,
    ) -> Self:
        """Learn what going on is worth at every price.

        Parameters
        ----------
        responses : Responses
            Answers to the training questions.
        features : array_like, shape (N, d), optional
            Features of the questions, for the signal "text".
        groups : sequence, optional
            The group of each question; a group is left out together. Default: each its own.

        Returns
        -------
        PricedStopping
            The policy itself.
        """
        self.schedule = self.offered[self.offered <= responses.samples]
        if not self.schedule.size:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers, fewer than "
                "the first checkpoint"
            )
        fold = training_folds(groups, responses.n, self.seed)
        streams = self.streams(responses, self.seed, self.repeats)
        self.fit_signals(Lesson(responses, streams, self.schedule, fold, features))
        self._fit_library(streams, fold[streams.question])
        return self

    def _fit_library(self, streams: Streams, fold: np.ndarray) -> None:
        """Fit a rule for every price, add the plain rules, and keep the envelope."""
        evidence = self.evidence(streams, trained_on=True)
        value = evidence.votes.value
        paid = streams.cost[:, self.schedule - 1]
        self.unit = float((paid[:, -1] / int(self.schedule[-1])).mean())
        self.prices = PRICES / self.unit
        features = _checkpoint_features(evidence)
        fitted, left_out = backward_induction(features, value, paid, self.prices, fold)
        self.coefficients = list(fitted)
        # Accuracy must be measured by fits that did not see the question. Cost is better measured
        # by the rule itself: fits on fewer questions are noisier, and noise stops early.
        itself = first_stops(self.coefficients, features) if features else left_out
        plain = self._plain_members(evidence)
        plain_stops = self._stops(evidence, plain)
        priced = [Member(None, price_index=number) for number in range(self.prices.size)]
        self.members = priced + plain
        self.accuracies = _mean_at(value, np.column_stack([left_out, plain_stops]))
        self.costs = _mean_at(paid, np.column_stack([itself, plain_stops]))
        self._keep_envelope()

    def _keep_envelope(self) -> None:
        """Keep the members on the upper concave envelope of cost and accuracy, cheapest first."""
        best = concave_hull(self.costs, self.accuracies + LEAST * self.costs / self.unit)
        kept = [self.members[place] for place in best]
        self.costs = self.costs[best]
        self.accuracies = self.accuracies[best]
        # The prices of members that go are forgotten, so the others are numbered anew.
        numbers_kept = [member.price_index for member in kept if member.rule is None]
        self.prices = self.prices[numbers_kept]
        self.coefficients = [fitted[..., numbers_kept] for fitted in self.coefficients]
        self.members = [
            Member(None, price_index=numbers_kept.index(member.price_index))
            if member.rule is None
            else member
            for member in kept
        ]

    def _plain_members(self, evidence: Evidence) -> list[Member]:
        """Return the rules that need no fit: fixed numbers, and those of every count under caps."""
        longest = int(self.schedule[-1])
        caps = {
            int(self.schedule[self.schedule >= min(cap, longest)][0]) for cap in (*_CAPS, longest)
        }
        plain = [Member(Fixed(int(answers))) for answers in self.schedule]
        for cap, count in product(sorted(caps), self.counts()):
            rules = count.rules(evidence.states[count.name], cap, longest)
            plain += [Member(rule, count.name) for rule in rules]
        return plain

    def mix(self, budget: float) -> Mix:
        """Return the two members, and the share of the second, that cost at most ``budget``.

        With ``exact`` they cost all of it, even on a flat curve.
        """
        self.check_fitted()
        least = LEAST if self.exact else -LEAST
        return mix_for(self.costs, self.accuracies + least * self.costs / self.unit, budget)

    def start(
        self,
        budget: float,
        features: ArrayLike | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> Session:
        """Begin with one question.

        Parameters
        ----------
        budget : float
            Average cost over many questions; which of two members decides on this one is random.
        features : array_like, shape (d,), optional
            Features of the question, where a signal needs them.
        rng : Generator or int, optional
            Source of that random choice.

        Returns
        -------
        Session
        """
        return self.begin(self.mix(budget).draw(rng), features)

    def begin(self, number: int, features: ArrayLike | None = None) -> Session:
        """Begin with one question by the member of this number, as `at_price` returns it."""
        return Session(self, self.members[number], features)

    @property
    def most_answers(self) -> int:
        return int(self.schedule[-1])

    def price(self, budget: float) -> float:
        mix = self.mix(budget)
        low = mix.low
        high = mix.high
        if high <= low:
            low = max(mix.low - 1, 0)
            high = max(mix.low, 1)
        if high >= self.costs.size:  # a single member: no price changes anything
            return 1.0
        gain = self.accuracies[high] - self.accuracies[low]
        return max(float(gain / (self.costs[high] - self.costs[low])), 0.0)

    def limited_to(self, answers: int) -> Self:
        policy = super().limited_to(answers)
        policy.offered = self.offered[self.offered <= answers]
        return policy

    def streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        if responses.samples < self.schedule[-1]:
            raise ValueError(
                f"{responses.source}: has {responses.samples} answers per question, and the policy "
                f"may ask for {self.schedule[-1]}; give as many, or fit it with a shorter schedule"
            )
        return super().streams(responses, seed, repeats)

    def play(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        evidence = self.evidence(streams, features)
        stops = self._stops(evidence, members)
        return stops, np.take_along_axis(evidence.votes.value, stops, axis=1)

    def stops_at(
        self,
        responses: Responses,
        features: ArrayLike | None,
        price: float,
        *,
        seed: int = 1,
        repeats: int = REPLAYS,
    ) -> tuple[np.ndarray, float]:
        """Return where each stream stops at the nearest price on the envelope, and that price."""
        if not self.prices.size:
            raise ValueError(
                "no price is on the envelope of this policy: plain rules alone are best here"
            )
        nearest = int(np.abs(self.prices - price).argmin())
        streams = self.streams(responses, seed, repeats)
        stops, _ = self.play([Member(None, price_index=nearest)], streams, features)
        return stops[:, 0], float(self.prices[nearest])

    def evidence(
        self, streams: Streams, features: ArrayLike | None = None, *, trained_on: bool = False
    ) -> Evidence:
        """Return what the signals know of streams at the checkpoints.

        ``trained_on`` says that these are the questions from which the policy learned.
        """
        columns = self.schedule - 1
        return self.evidence_at(columns, streams, features, trained_on=trained_on)

    def _stops(self, evidence: Evidence, members: Sequence[Member]) -> np.ndarray:
        """Return the checkpoint at which each member stops every stream, shape (M, members)."""
        stops = np.full((len(evidence.votes.n), len(members)), self.schedule.size - 1)
        for count in self.counts():
            plain = [
                j
                for j, member in enumerate(members)
                if member.rule is not None and member.by == count.name
            ]
            rules = [members[j].rule for j in plain]
            stops[:, plain] = points_of(rules, evidence.states[count.name])
        priced = [j for j, member in enumerate(members) if member.rule is None]
        if priced and self.schedule.size > 1:
            chosen = [members[j].price_index for j in priced]
            coefficients = [fitted[:, chosen] for fitted in self.coefficients]
            stops[:, priced] = first_stops(coefficients, _checkpoint_features(evidence))
        return stops

    def _settings_to_dict(self) -> dict[str, Any]:
        if isinstance(self.cost, Prices):
            raise ValueError("a policy that pays dollars cannot be saved; fit one that pays tokens")
        return {
            "cost": self.cost,
            "exact": self.exact,
            "schedule": self.schedule.tolist(),
            "prices": self.prices.tolist(),
            "coefficients": [fitted.tolist() for fitted in self.coefficients],
        }

    @classmethod
    def _with_settings(cls, data: dict[str, Any]) -> Self:
        schedule = [whole(stop, "a stop of the schedule", 1, NEVER) for stop in data["schedule"]]
        if data["cost"] not in ("samples", "tokens"):
            raise ValueError("its cost is neither samples nor tokens")
        exact = data["exact"] is True
        return cls(list(data["signals"]), cost=data["cost"], schedule=schedule, exact=exact)

    def _saved_members(self, data: dict[str, Any]) -> list[Member]:
        self.prices = numbers(data["prices"], "prices", (None,), 0)
        checkpoints = self.schedule.size - 1  # at which the rule decides: all but the last
        if len(data["coefficients"]) != checkpoints:
            raise ValueError(f"coefficients are not those of {checkpoints} checkpoints")
        features = self.evidence_of_one_answer().features().size
        shape = (features + 1, self.prices.size)
        self.coefficients = [
            numbers(fitted, "coefficients", shape) for fitted in data["coefficients"]
        ]
        return [self._saved_member(dict(saved)) for saved in data["members"]]

    def _saved_member(self, saved: dict[str, Any]) -> Member:
        """Return a member of the library from its saved fields, checked."""
        if "rule" not in saved:
            last = self.prices.size - 1
            return Member(None, price_index=whole(saved["price"], "a member's price", 0, last))
        rule = _RULES[saved.pop("rule")]
        count = saved.pop("by")
        if count not in [one.name for one in self.counts()]:
            raise ValueError("a member uses a count that the policy does not have")
        # The table of `leader_holds` is for plain votes, and ends at 255.
        if rule is Confidence and (count != "votes" or self.most_answers > 255):
            raise ValueError("a threshold of confidence is for plain votes, up to 255 answers")
        for name, value in saved.items():
            number(value, name, 0)
        if rule is Fixed:
            whole(saved["answers"], "a fixed number of answers", 1, self.most_answers)
        return Member(rule(**saved), count)


def _checkpoint_features(evidence: Evidence) -> list[np.ndarray]:
    """Return the features at every checkpoint but the last, each of shape (d, M)."""
    checkpoints = evidence.votes.n.shape[1]
    return [evidence.at(column).features() for column in range(checkpoints - 1)]


def _mean_at(figures: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the mean of a figure (M, S) at the checkpoints where members stop (M, members)."""
    return np.take_along_axis(figures, stops, axis=1).mean(axis=0)
