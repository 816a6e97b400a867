"""Hold out races and their rivals on reasoning models, and write data/recorded/race.jsonl.

Policies learn from one half of the answers to the training questions and are scored on the other
half of the answers to the test questions, both ways round, in five folds; each question's outcome
is the mean over three deals into folds and halves. Budgets and costs are in tokens of one average
training answer, waiting in the time of one. The plain "race" has the package's defaults; one race
meets the limit of waiting at any price. The rivals are families of plain races, and priced stopping
one by one: by votes alone, and by votes and lengths, since a race sees how long its answers run. An
interval is Student's over questions, 95%. Parts that end in "prices of waiting" hold the race on
AIME at given prices, in one deal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from recording import main

import adalib
from adalib.datasets.folds import deal, members
from adalib.datasets.responses import Responses
from adalib.evaluate.intervals import mean_interval
from adalib.sequential.heat import Heats, RaceOutcome
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.sequential.race_rules import PlainRace
from adalib.sequential.replay import Mix, mix_for
from adalib.sequential.streams import Streams

REASONING = {
    "aime": ("am-thinking-v1", "gpt-oss-20b", "phi-4-reasoning", "qwen3-14b"),
    "gpqa": ("gpt-oss-20b", "phi-4-reasoning", "qwen3-30b-a3b-thinking-2507"),
    "math500": ("exaone-deep-32b", "gpt-oss-20b", "qwen3-14b"),
}
OURS = ("gsm8k", "word-fewshot")  # our own sets that have tokens
BUDGETS = (1.5, 2.0, 3.0, 4.0)  # in tokens of an average answer
WAITING_PRICES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)  # at which the race on AIME is played
LIMITED = "race, waiting at most 0.9"  # however much accuracy that costs
#: Priced stopping, an answer at a time, by the signals that it sees.
ONE_BY_ONE: Mapping[str, tuple[str, ...]] = {
    "one by one": ("votes",),
    "one by one, with lengths": ("votes", "length"),
}
FOLDS = 5
DEALS = 3  # of the questions into folds and of the answers into halves
_MOST = 12  # answers that start, at most
_STREAMS = 800  # played back in a fit, about


#: Families that others propose: every setting with at most ``most`` answers.
FAMILIES: Mapping[str, Any] = {
    "parallel": lambda most: [PlainRace(n, n) for n in range(1, most + 1)],
    "first_finish": lambda most: [PlainRace(n, 1) for n in range(1, most + 1)],
    "short_m_at_k": lambda most: [
        PlainRace(n, k) for n in range(1, most + 1) for k in range(1, n + 1)
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

    def play(self, members: Sequence[Any], streams: Streams, features: Any = None) -> RaceOutcome:
        """Return the outcome of every stream under every member, by plain votes."""
        heats = Heats(streams)
        outcomes = [member.play(heats) for member in members]
        return RaceOutcome(*(np.column_stack(figures) for figures in zip(*outcomes, strict=True)))

    def mix(self, budget: float, waiting_price: float | None = None) -> Mix:
        """Return the two members, and the share of the second, that cost ``budget`` in training."""
        return mix_for(self.costs, self.accuracies, budget)


#: Fits policies on some answers, and returns what each does on others.
Play = Callable[[Responses, Responses], dict[str, np.ndarray]]


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    reasoning = [
        f"{benchmark}-{model}" for benchmark in REASONING for model in REASONING[benchmark]
    ]
    for name in (*reasoning, *OURS):
        yield name, partial(race_rows, name)
    for model in REASONING["aime"]:
        yield f"aime-{model}, prices of waiting", partial(waiting_rows, f"aime-{model}")


def race_rows(name: str) -> list[dict]:
    """Return one row per policy and budget, and its lead in accuracy ``over`` every rival."""
    answers = adalib.load(name)
    deals = [held_out_races(answers, number, _against_rivals) for number in range(DEALS)]
    outcomes = {policy: np.mean([one[policy] for one in deals], axis=0) for policy in deals[0]}
    rows = _rows(outcomes)
    for row in rows:
        column = BUDGETS.index(row["budget"])
        accuracy = outcomes[row["policy"]][1, :, column]
        row["over"] = {
            rival: _figures(accuracy - outcomes[rival][1, :, column])
            for rival in (*FAMILIES, *ONE_BY_ONE)
            if rival != row["policy"]
        }
    return rows


def waiting_rows(name: str) -> list[dict]:
    """Return one row per price of waiting and budget."""
    return _rows(held_out_races(adalib.load(name), 0, _at_prices_of_waiting))


def _rows(outcomes: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return cost, accuracy and waiting by policy and budget, each with its interval."""
    rows = []
    for policy, outcome in outcomes.items():
        for column, budget in enumerate(BUDGETS):
            row: dict[str, Any] = {"policy": policy, "budget": budget}
            for figure, values in zip(("cost", "accuracy", "waiting"), outcome, strict=True):
                row[figure] = _figures(values[:, column])
            rows.append(row)
    return rows


def held_out_races(answers: Responses, deal_number: int, play: Play) -> dict[str, np.ndarray]:
    """Return cost, accuracy and waiting of every question and budget by policy, (3, N, budgets)."""
    fold = deal(members(answers, None), FOLDS, deal_number)
    halves = answers.split_samples(deal_number)
    outcomes: dict[str, np.ndarray] = {}
    for teach, score in (halves, halves[::-1]):
        for which in range(FOLDS):
            train = np.flatnonzero(fold != which)
            test = np.flatnonzero(fold == which)
            for name, outcome in play(teach.take(train), score.take(test)).items():
                total = outcomes.setdefault(name, np.zeros((3, answers.n, len(BUDGETS))))
                total[:, test] += outcome / 2
    return outcomes


def _against_rivals(teach: Responses, score: Responses) -> dict[str, np.ndarray]:
    """Play the rivals, the race, and the race that meets its limit of waiting at any price."""
    race = _fitted_race(teach)
    unit = race.unit
    outcomes = {}
    for name, settings in FAMILIES.items():
        rival = TunedRaces(settings(race.most), repeats=race.repeats).fit(teach)
        played = rival.replay(score, _affordable(rival, unit))
        outcomes[name] = np.array([played.cost / unit, played.accuracy, played.waiting])
    for name, signals in ONE_BY_ONE.items():
        alone = PricedStopping(signals, cost="tokens", repeats=race.repeats, exact=True).fit(teach)
        played_alone = alone.replay(score, _affordable(alone, unit))
        tokens = played_alone.cost / unit  # one by one, one waits for every token
        outcomes[name] = np.array([tokens, played_alone.accuracy, tokens])
    at_any_price = copy(race)
    at_any_price.waiting_price = 1.0
    budgets = _affordable(race, unit)
    mixes = {"race": [race.mix(budget) for budget in budgets]}
    mixes[LIMITED] = [at_any_price.mix(budget) for budget in budgets]
    return outcomes | _raced(race, score, mixes)


def _at_prices_of_waiting(teach: Responses, score: Responses) -> dict[str, np.ndarray]:
    """Play the race at every price of waiting."""
    race = _fitted_race(teach)
    budgets = _affordable(race, race.unit)
    mixes = {
        f"race, waiting at {price:g}": [race.mix(budget, price) for budget in budgets]
        for price in WAITING_PRICES
    }
    return _raced(race, score, mixes)


def _fitted_race(teach: Responses) -> PricedRace:
    """Fit the race with the package's defaults, by votes alone."""
    repeats = int(np.clip(_STREAMS // teach.n, 3, 16))
    return PricedRace(("votes",), most=min(_MOST, teach.samples), repeats=repeats).fit(teach)


def _raced(
    race: PricedRace, score: Responses, mixes: Mapping[str, Sequence[Mix]]
) -> dict[str, np.ndarray]:
    """Return cost, accuracy and waiting of every question and budget, by name of the mixes."""
    # All at once: many of them use the same races.
    played = race.replay_mixes(score, [mix for some in mixes.values() for mix in some])
    outcome = np.array([played.cost / race.unit, played.accuracy, played.waiting])
    return dict(zip(mixes, np.split(outcome, len(mixes), axis=2), strict=True))


def _affordable(policy: Any, unit: float) -> list[float]:
    """Return the budgets in tokens, each at least what the cheapest member costs."""
    return [max(budget * unit, float(policy.costs.min())) for budget in BUDGETS]


def _figures(values: np.ndarray) -> list[float]:
    """Return the mean over questions, and the ends of its interval."""
    interval = mean_interval(values)
    return [round(float(one), 4) for one in (interval.mean, interval.low, interval.high)]


if __name__ == "__main__":
    main(race=parts())
