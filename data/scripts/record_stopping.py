"""Compute the whole comparison of the chapter "When to stop".

The result is data/recorded/stopping.jsonl.

GSM8K, MATH and four home-made settings are held out by question, at six targets, with every peer,
with signals that say nothing and with other folds; the home-made ones at three targets with the
mean token entropy, those of `word` by family, there also as the router runs it; and a simulated
population whose votes say nothing. On the home-made sets the mix and the oracle have the five
budgets of the chapter "The test"; data/recorded/stopping_anywhere.jsonl has the same
comparison where they may stop wherever the policy may. A test computes some of the cells again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
from recording import main
from rivals import CONFIDENT, PEERS, PUBLISHED, Published, TunedRivals

import adalib
from adabook.paper.settings import BENCHMARKS, REAL
from adabook.recorded import AS_PUBLISHED, LADDER, STOPS, figures
from adalib.datasets.folds import members
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, noise_features
from adalib.evaluate.crossfit import with_class_numbers
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Learner, Planner, Questions
from adalib.evaluate.scores import HeldOutRow, Outcome, Scores
from adalib.learn.curve_policy import CurvePolicy
from adalib.sequential.priced import LEAST
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.replay import REPLAYS
from adalib.sequential.streams import make_streams
from adalib.serve.budget import BudgetController
from adalib.table import UtilityTable

TARGETS = (1.5, 2, 3, 4, 6, 8)

_BUDGETS = (1, 2, 4, 8, 16)

_SHARPNESS = (1.5, 3.0, 6.0, 12.0)
_LEFT_OUT = ("fixed", "random", "length")  # "Results" has them: no better than the mix
# A price that follows spending, its first questions, and a price that stays.
_PRICES = ("follows", "first", "stays")
# Gains count over the mix already; what is in sample is no bar.
_NO_BARS = ("mix", "oracle_in_sample")


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    settings = {name: adalib.load(name) for name in (*BENCHMARKS, *REAL)}
    for (
        name,
        answers,
    ) in (
        settings.items()
    ):  # on the benchmarks the mix and the oracle may stop wherever the policy may
        menu = STOPS if name in BENCHMARKS else _BUDGETS
        yield f"{name} by question", partial(stopping_cells, answers, TARGETS, menu=menu)
    for name, answers in settings.items():
        yield f"{name}, controls", partial(control_cells, answers, TARGETS)
        if name.startswith("word"):
            yield (
                f"{name} by family",
                partial(stopping_cells, answers, TARGETS, answers.extras["family"], peers=False),
            )
            yield f"{name}, new families", partial(followed_cells, answers, TARGETS)
        if name in REAL:
            yield f"{name}, entropy", partial(entropy_cells, answers, (2, 3, 4))
        yield f"{name}, other folds", partial(fold_cells, answers, TARGETS)
    yield (
        "votes say nothing by question",
        partial(stopping_cells, adalib.flat_null(300).sample(96, seed=1), TARGETS),
    )


def wide_parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the home-made settings by question and by family, with the policy's menu for all."""
    for name in REAL:
        answers = adalib.load(name)
        yield f"{name} by question", partial(menu_cells, answers, TARGETS)
        if name.startswith("word"):
            yield (
                f"{name} by family",
                partial(menu_cells, answers, TARGETS, answers.extras["family"]),
            )


def stopping_cells(
    responses: Responses,
    targets: Sequence[float],
    groups: Sequence | None = None,
    *,
    menu: Sequence[int] = _BUDGETS,
    peers: bool = True,
) -> list[dict]:
    """Compute every cell of that chapter's table for one file: figures, and in ``over`` the leads.

    Rungs and peers that need log-probabilities are left out where there are none, text where all
    texts are alike. Peers are tuned to every target, and scored as published at what that costs;
    there the rungs are scored too."""
    sure = responses.logprob is not None
    told = len(set(responses.questions)) > 1
    there = {"votes", *["text"] * told, *["certainty"] * sure}
    rungs = {
        name: PricedStopping(signals, exact=True)
        for name, signals in LADDER.items()
        if set(signals) <= there
    }
    learners: dict[str, Learner | Planner] = {**rungs, **({"curve": CurvePolicy()} if told else {})}
    own: dict[str, float] = {}
    if peers:
        families = {**PEERS, **(CONFIDENT if sure else {})}
        published = {f"{name} {AS_PUBLISHED}": Published(rule) for name, rule in PUBLISHED.items()}
        learners |= {**{name: TunedRivals(rules) for name, rules in families.items()}, **published}
        votes = with_class_numbers(responses)
        own = {
            name: round(float(peer.replay(votes)[0].mean()), 2) for name, peer in published.items()
        }
    protocol = Protocol(groups=groups)
    rows = held_out(
        responses, [*targets, *own.values()], menu, learners=learners, noises=0, protocol=protocol
    )
    rows += weighted_mix(responses, targets, groups, menu) if sure else []
    ends = {"votes", list(rungs)[-1]}
    # All but the baselines at the targets; at what a published peer costs, the peer and the
    # ladder's two ends.
    shown = [
        row
        for row in rows
        if (
            row.target == own[row.policy]
            if row.policy in own
            else row.target in targets or row.policy in ends
        )
        and row.policy not in _LEFT_OUT
    ]
    leading = {*ends, "votes + text"}
    return [cell(row, shown if row.policy in leading else ()) for row in shown]


def menu_cells(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None
) -> list[dict]:
    """Compute both ends of the ladder next to a mix and an oracle with any number of answers."""
    learners = {name: PricedStopping(LADDER[name], exact=True) for name in ("votes", "all three")}
    rows = held_out(
        responses, targets, STOPS, learners=learners, noises=0, protocol=Protocol(groups=groups)
    )
    rows += weighted_mix(responses, targets, groups, STOPS)
    shown = [row for row in rows if row.policy not in (*_LEFT_OUT, "oracle_in_sample")]
    return [cell(row, shown if row.policy in learners else ()) for row in shown]


def control_cells(responses: Responses, targets: Sequence[float]) -> list[dict]:
    """Compute what empty signals add to votes: noise features and shuffled log-probabilities."""
    if responses.logprob is None:
        raise ValueError(f"{responses.source}: has no log-probabilities to shuffle")
    flat = np.random.default_rng(0).permutation(responses.logprob.ravel())
    blind = replace(responses, logprob=flat.reshape(responses.logprob.shape))
    noise = noise_features(responses.n)
    tried = (
        ("votes", responses, None, LADDER["votes"]),
        ("votes + noise", responses, noise, LADDER["votes + text"]),
        ("votes + shuffled certainty", blind, None, LADDER["votes + certainty"]),
    )
    rows = [
        row
        for name, answers, known, signals in tried
        for row in held_out(
            answers,
            targets,
            learners={name: PricedStopping(signals, exact=True)},
            features=known,
            noises=0,
        )
        if row.policy == name
    ]
    plain = [row for row in rows if row.policy == "votes"]
    return [cell(row, plain) for row in rows if row.policy != "votes"]


def entropy_cells(responses: Responses, targets: Sequence[float]) -> list[dict]:
    """Compute what the mean token entropy adds to votes, to certainty, and to all signals."""
    tried = {
        "votes + entropy": ("votes", "votes + certainty"),
        "votes + certainty + entropy": ("votes + certainty",),
        "all four": ("all three",),
    }
    signals = {name: LADDER[name] for bars in tried.values() for name in bars}
    signals |= {name: tuple(name.split(" + ")) for name in tried} | {
        "all four": (*LADDER["all three"], "entropy")
    }
    learners = {name: PricedStopping(heard, exact=True) for name, heard in signals.items()}
    rows = {
        (row.policy, row.target): row
        for row in held_out(responses, targets, learners=learners, noises=0)
    }
    return [
        cell(rows[name, target], [rows[bar, target] for bar in bars])
        for name, bars in tried.items()
        for target in targets
    ]


def fold_cells(responses: Responses, targets: Sequence[float]) -> list[dict]:
    """Compute all three signals with the folds dealt, and the answers halved, in new ways."""
    return [
        {
            "policy": f"deal {seed}",
            "target": row.target,
            **{k: figures(row)[k] for k in ("cost", "accuracy")},
        }
        for seed in range(1, 5)
        for row in held_out(
            responses,
            targets,
            learners={"all three": PricedStopping(exact=True)},
            noises=0,
            protocol=Protocol(seed=seed),
        )
        if row.policy == "all three"
    ]


def followed_cells(responses: Responses, targets: Sequence[float]) -> list[dict]:
    """Compute what each fold's new families cost at a fixed price and at one that follows."""
    families = responses.extras["family"]
    learner = Followed()
    rows = held_out(
        responses,
        targets,
        learners={"follows": learner},
        noises=0,
        protocol=Protocol(groups=families),
    )
    cells = [cell(row, ()) for row in rows if row.policy == "follows"]
    return [one | learner.shares(one["target"]) for one in cells]


class Followed(PricedStopping):
    """Priced stopping as the router runs it, over a thousand new questions.

    Its price follows what they cost.

    Of every fold it notes by what share of the budget that ended above it, after all and after the
    first 250, and by what share the price of the training questions would have."""

    _FIRST = 250

    def __init__(self) -> None:
        super().__init__()
        self._ended: list[
            tuple[float, float, float, float]
        ] = []  # target, follows, its first questions, stays

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train``, then meet ``test`` in random order until a thousand have come."""
        # Folds are learned side by side.
        policy = copy(self).fit(train.answers, train.features, train.groups)
        streams = policy.streams(test.answers, 1, REPLAYS)
        stops, worth = policy.play(policy.members, streams, test.features)
        paid = policy.paid(policy.members, streams, stops)
        stay = policy.replay(test.answers, targets, test.features).cost.mean(axis=0)
        n = test.answers.n
        return [
            policy._run(target, cost, paid, worth, n)
            for target, cost in zip(targets, stay, strict=True)
        ]

    def _run(
        self, target: float, stay: float, paid: np.ndarray, worth: np.ndarray, n: int
    ) -> tuple:
        rng = np.random.default_rng(0)
        orders = len(paid) // n
        controller = BudgetController(target, max(self.price(target), 1e-6))
        controller.low = LEAST / self.unit  # as the router does: what is worth less is not asked
        visits = rng.permutation(np.repeat(np.arange(n), 1000 // n + 1))
        met = []
        for stream in visits * orders + rng.integers(orders, size=visits.size):
            number = self.at_price(controller.price)
            controller.open(self.costs[number])
            controller.close(self.costs[number], paid[stream, number])
            met.append((paid[stream, number], worth[stream, number]))
        cost, value = np.transpose(met)
        above = (part / target - 1 for part in (cost.mean(), cost[: self._FIRST].mean(), stay))
        self._ended.append((target, *map(float, above)))
        return tuple(np.bincount(visits, part) / np.bincount(visits) for part in (cost, value))

    def shares(self, target: float) -> dict[str, list[float]]:
        """Return every fold's overspend as a share of the budget, sorted; negative if below."""
        ended = zip(*(above for budget, *above in self._ended if budget == target), strict=True)
        return {
            name: sorted(round(one, 5) for one in part)
            for name, part in zip(_PRICES, ended, strict=True)
        }


def weighted_tables(
    responses: Responses, menu: Sequence[int], seed: int
) -> Iterator[tuple[UtilityTable, UtilityTable, UtilityTable]]:
    """Yield, both ways round, the weighted votes that choose and score, and the plain ones.

    How steeply certainty weighs is chosen on the half that teaches.
    """
    halves = with_class_numbers(responses).split_samples(seed)
    voted = [{s: _weighted(half, s, menu) for s in _SHARPNESS} for half in halves]
    for number in range(2):
        teach = voted[number]
        best = max(_SHARPNESS, key=lambda s: teach[s].acc.mean())
        yield teach[best], voted[1 - number][best], halves[1 - number].table(menu)


def weighted_mix(
    responses: Responses,
    targets: Sequence[float],
    groups: Sequence | None = None,
    menu: Sequence[int] = _BUDGETS,
    seed: int = 0,
) -> list[HeldOutRow]:
    """Score the best mix with votes weighted by certainty: a better vote, and the same plan.

    Gains count over the mix of plain votes, next to those of `adalib.held_out`, whose answers
    ``seed`` halves alike. An oracle of weighted votes is left out: on so few orders, labels chosen
    question by question follow luck, and its gain would grow with the orders."""
    scores = Scores(["mix_weighted"])
    for chosen, scored, plain in weighted_tables(responses, menu, seed):
        for target in targets:
            mix = best_mix(chosen.acc, chosen.cost, target)
            scores.add("mix_weighted", target, Outcome(*mix.outcome(scored)), plain)
    return scores.rows(members(responses, groups), families=groups is not None)


def cell(row: HeldOutRow, others: Sequence[HeldOutRow]) -> dict:
    """Return one row's figures and its lead on the others at its target.

    A lead is gain less gain, each at its own cost.
    """
    over = {}
    for other in others:
        if other.target == row.target and other.policy not in (row.policy, *_NO_BARS):
            lead = mean_interval(row.gains - other.gains)
            over[other.policy] = [
                round(float(part), 5) for part in (lead.mean, lead.low, lead.high)
            ]
    return {**figures(row), "over": over}


def _weighted(half: Responses, sharpness: float, menu: Sequence[int]) -> UtilityTable:
    """What a vote weighted by certainty is worth at every budget, over 48 orders."""
    streams = make_streams(half, menu[-1], repeats=48)
    acc = streams.mean(streams.votes(sharpness).value[:, np.array(menu) - 1])
    return UtilityTable(
        acc.clip(0, 1), np.array(menu, dtype=float), budgets=tuple(menu), ids=tuple(half.ids)
    )


if __name__ == "__main__":
    main(stopping=parts(), stopping_anywhere=wide_parts())
