"""Hold out races and their rivals on reasoning models, and write data/recorded/race.jsonl.

Run ``python data/record_race.py``. Parts that are there already are kept, so it can be stopped and
started again; ``--anew`` begins anew. Policies learn from one half of the answers to the training
questions and are scored on the other half of the answers to the test questions, both ways round, in
five folds. Budgets and costs are in tokens of one average training answer, waiting in the time of
one. The plain "race" has the package's defaults; one race meets the limit of waiting at any price;
the others are played at a given price of waiting.
An interval is Student's over questions, 95%. The rivals are families of plain races, and rounds of
Adaptive-Consistency.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

import adalib
from adabook.recorded import record
from adalib.datasets.folds import deal, members
from adalib.datasets.responses import Responses
from adalib.evaluate.intervals import mean_interval
from adalib.sequential.course import Courses
from adalib.sequential.policy import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.sequential.race_rules import Outcome, PlainRace
from adalib.sequential.replay import Mix, mix_for
from adalib.sequential.rules import Confidence, stopping_points
from adalib.sequential.streams import Streams

REASONING = {
    "aime": ("am-thinking-v1", "gpt-oss-20b", "phi-4-reasoning", "qwen3-14b"),
    "gpqa": ("gpt-oss-20b", "phi-4-reasoning", "qwen3-30b-a3b-thinking-2507"),
    "math500": ("exaone-deep-32b", "gpt-oss-20b", "qwen3-14b"),
}
OURS = ("gsm8k", "word-fewshot")  # our own sets that have tokens
BUDGETS = (1.5, 2.0, 3.0, 4.0)  # in tokens of an average answer
WAITING_PRICES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)  # at which the race is played
LIMITED = "race, waiting at most 0.9"  # however much accuracy that costs
ONE_BY_ONE = "one by one"  # priced stopping, an answer at a time
FOLDS = 5
_MOST = 12  # answers that start, at most
_STREAMS = 800  # played back in a fit, about


@dataclass(frozen=True)
class InRounds:
    """Adaptive consistency in rounds: ask ``size`` answers at once until `leader_holds` is high."""

    size: int
    threshold: float
    rounds: int

    @property
    def answers(self) -> int:
        """The most answers that start."""
        return self.size * self.rounds

    def play(self, courses: Courses) -> Outcome:
        """Return the outcome of every stream; a round lasts as long as its longest answer."""
        streams = courses.streams
        ends = np.arange(1, self.rounds + 1) * self.size - 1
        votes = streams.votes().at(ends)
        stop = stopping_points(Confidence(self.threshold), votes)
        rows = np.arange(len(stop))
        lengths = streams.read("tokens")[:, : self.answers]  # type: ignore[index]
        longest = lengths.reshape(len(stop), self.rounds, self.size).max(axis=2).cumsum(axis=1)
        asked = ends[stop] + 1
        tokens = lengths.cumsum(axis=1)[rows, asked - 1]
        return Outcome(tokens, votes.value[rows, stop], longest[rows, stop], asked, asked)


#: Families that others propose: every setting with at most ``most`` answers.
FAMILIES: Mapping[str, Any] = {
    "parallel": lambda most: [PlainRace(n, n) for n in range(1, most + 1)],
    "first_finish": lambda most: [PlainRace(n, 1) for n in range(1, most + 1)],
    "short_m_at_k": lambda most: [
        PlainRace(n, k) for n in range(1, most + 1) for k in range(1, n + 1)
    ],
    "rounds": lambda most: [
        InRounds(size, threshold, rounds)
        for size in (2, 3, 4, 8)
        for threshold in (0.6, 0.8, 0.9, 0.95, 0.99)
        for rounds in (1, 2, 3, 4)
        if size * rounds <= most
    ],
}


class TunedRaces(PricedRace):
    """A family of plain races, tuned on training questions to any budget of tokens.

    ``rules`` are its settings. A budget below the cheapest is mixed with asking once.
    """

    def __init__(self, rules: Sequence[Any], *, repeats: int = 16) -> None:
        super().__init__(("votes",), repeats=repeats)
        self.rules = list(dict.fromkeys([PlainRace(1, 1), *rules]))

    def fit(self, responses: Responses, features: Any = None, groups: Any = None) -> Self:
        """Learn what every setting costs and scores; ``features`` and ``groups`` are not used."""
        self.members = [rule for rule in self.rules if rule.answers <= responses.samples]
        streams = self.streams(responses, self.seed, self.repeats)
        self.unit = max(float(np.asarray(responses.tokens).mean()), 1e-9)
        outcome = self.play(self.members, streams)
        self.costs = outcome.tokens.mean(axis=0)
        self.accuracies = outcome.accuracy.mean(axis=0)
        self.waiting = outcome.clock.mean(axis=0) / self.unit
        return self

    def play(self, members: Sequence[Any], streams: Streams, features: Any = None) -> Outcome:
        """Return the outcome of every stream under every member, by plain votes."""
        courses = Courses(streams)
        outcomes = [member.play(courses) for member in members]
        return Outcome(*(np.column_stack(figures) for figures in zip(*outcomes, strict=True)))

    def mix(self, budget: float, waiting_price: float | None = None) -> Mix:
        """Return the two members, and the share of the second, that cost ``budget`` in training."""
        return mix_for(self.costs, self.accuracies, budget)


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    for benchmark, models in REASONING.items():
        for model in models:
            name = f"{benchmark}-{model}"
            yield name, partial(race_rows, name)
    for name in OURS:
        yield name, partial(race_rows, name)


def race_rows(name: str) -> list[dict]:
    """Return one row per policy and budget: cost, accuracy and waiting, each with its interval.

    ``over`` has the lead in accuracy over every rival at the same budget.
    """
    outcomes = held_out_races(adalib.load(name))
    rows = []
    for policy, outcome in outcomes.items():
        for column, budget in enumerate(BUDGETS):
            cost, accuracy, waiting = outcome[:, :, column]
            leads = {
                rival: _figures(accuracy - outcomes[rival][1, :, column])
                for rival in (*FAMILIES, ONE_BY_ONE)
                if rival != policy
            }
            row: dict[str, Any] = {"policy": policy, "budget": budget, "cost": _figures(cost)}
            row |= {"accuracy": _figures(accuracy), "waiting": _figures(waiting), "over": leads}
            rows.append(row)
    return rows


def held_out_races(answers: Responses, folds: int = FOLDS) -> dict[str, np.ndarray]:
    """Return cost, accuracy and waiting of every question and budget by policy, (3, N, budgets)."""
    fold = deal(members(answers, None), folds, 0)
    halves = answers.split_samples(0)
    outcomes: dict[str, np.ndarray] = {}
    for teach, score in (halves, halves[::-1]):
        for which in range(folds):
            train = np.flatnonzero(fold != which)
            test = np.flatnonzero(fold == which)
            for name, outcome in _played(teach.take(train), score.take(test)).items():
                total = outcomes.setdefault(name, np.zeros((3, answers.n, len(BUDGETS))))
                total[:, test] += outcome / 2
    return outcomes


def _played(teach: Responses, score: Responses) -> dict[str, np.ndarray]:
    """Fit every policy on ``teach``, and return what it does on ``score``."""
    most = min(_MOST, teach.samples, score.samples)
    repeats = int(np.clip(_STREAMS // teach.n, 3, 16))
    unit = float(np.mean(teach.tokens))
    rivals: Mapping[str, Any] = {
        name: TunedRaces(settings(most), repeats=repeats) for name, settings in FAMILIES.items()
    }
    outcomes = {}
    for name, rival in rivals.items():
        played = rival.fit(teach).replay(score, _affordable(rival, unit))
        outcomes[name] = np.array([played.cost / unit, played.accuracy, played.waiting])
    alone = PricedStopping(("votes",), cost="tokens", repeats=repeats, exact=True).fit(teach)
    played_alone = alone.replay(score, _affordable(alone, unit))
    tokens = played_alone.cost / unit  # one by one, one waits for every token
    outcomes[ONE_BY_ONE] = np.array([tokens, played_alone.accuracy, tokens])
    race = PricedRace(("votes",), most=most, repeats=repeats).fit(teach)
    return outcomes | _raced(race, score, unit)


def _raced(race: PricedRace, score: Responses, unit: float) -> dict[str, np.ndarray]:
    """Return cost, accuracy and waiting of every question and budget, by the price of waiting."""
    at_any_price = copy(race)
    at_any_price.waiting_price = 1.0
    budgets = _affordable(race, unit)
    mixes = {"race": [race.mix(budget) for budget in budgets]}
    mixes[LIMITED] = [at_any_price.mix(budget) for budget in budgets]
    for price in WAITING_PRICES:
        mixes[f"race, waiting at {price:g}"] = [race.mix(budget, price) for budget in budgets]
    # All at once: many of them use the same races.
    played = race.replay_mixes(score, [mix for some in mixes.values() for mix in some])
    outcome = np.array([played.cost / unit, played.accuracy, played.waiting])
    return dict(zip(mixes, np.split(outcome, len(mixes), axis=2), strict=True))


def _affordable(policy: Any, unit: float) -> list[float]:
    """Return the budgets in tokens, each at least what the cheapest member costs."""
    return [max(budget * unit, float(policy.costs.min())) for budget in BUDGETS]


def _figures(values: np.ndarray) -> list[float]:
    """Return the mean over questions, and the ends of its interval."""
    interval = mean_interval(values)
    return [round(float(one), 4) for one in (interval.mean, interval.low, interval.high)]


if __name__ == "__main__":
    record("race", parts(), anew="--anew" in sys.argv)
