"""Dear tables: computed once by the scripts ``data/record_*.py``, part by part, kept in a file, and read by a chapter.

Here are the cells of chapter 10 (every signal and every peer, and bars with the same weighted votes) and of chapter 13
(what pays for each model, and the ways through a menu of two). Chapters and tests compute some of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from tqdm import tqdm

from adalib.datasets.files import read_lines, write_lines
from adalib.datasets.folds import members
from adalib.datasets.loading import data_folder
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import compared
from adalib.evaluate.heldout import HeldOutRow, Protocol, Scores, held_out, oracles_at
from adalib.evaluate.intervals import bootstrap_mean
from adalib.evaluate.trials import Learner, Planner, Questions
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.escalation import PricedEscalation
from adalib.sequential.peers import CONFIDENT, PEERS, PUBLISHED, Published, TunedRules
from adalib.sequential.priced import PricedStopping
from adalib.sequential.signals import SIGNALS
from adalib.sequential.streams import Money, make_streams
from adalib.table import UtilityTable

__all__ = ["AS_PUBLISHED", "GO_UP", "LADDER", "MODEL_LEARNERS", "control_cells", "entropy_cells", "model_cells"]
__all__ += ["record", "recorded", "recorded_cells", "stopping_cells", "way_cells", "weighted_bars"]

#: What each rung of the ladder looks at.
LADDER: Mapping[str, tuple[str, ...]] = {
    "votes": ("votes",),
    "votes + text": ("votes", "text"),
    "votes + certainty": ("votes", "certainty"),
    "all three": ("votes", "text", "certainty"),
}

#: Said of a peer that is not tuned.
AS_PUBLISHED = "as published"

_REPEATS = 4  # orders in which a rule sees the answers that teach it: few, so that anyone can compute it again

#: What is held out for every model, by its name in the table.
MODEL_LEARNERS: Mapping[str, Learner | Planner] = {
    "label policy": LabelPolicy(),
    "curve policy": CurvePolicy(),
    **{f"stopping: {name}": PricedStopping(signals, repeats=_REPEATS) for name, signals in LADDER.items()},
}

#: Priced stopping with escalation, by its name in the table.
GO_UP = "go on or go up"

_BUDGETS = (1, 2, 4, 8, 16)
_SHARPNESS = (1.5, 3.0, 6.0, 12.0)
_KEPT = ("cost", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "mix_cost")
_LEFT_OUT = ("fixed", "random", "length")  # chapter 7 has them: no better than the mix
_NO_BARS = ("mix", "oracle_in_sample")  # gains count over the mix already; what is in sample is no bar


def record(name: str, parts: Iterable[tuple[str, Callable[[], Iterable[dict]]]], *, anew: bool = False) -> None:
    """Compute the parts that ``data/recorded/NAME.jsonl`` lacks (all of them where ``anew``), and save after each.

    A part is a name, and a function that returns its rows; so that the work can be stopped and started again.
    """
    file = data_folder() / "recorded" / f"{name}.jsonl"
    rows = [] if anew or not file.exists() else [row for _, row in read_lines(file)]
    there = {row["part"] for row in rows}
    for part, compute in tqdm(list(parts), unit=" parts"):
        if part not in there:
            rows += [{"part": part, **row} for row in compute()]
            write_lines(file, rows)


def recorded(name: str) -> dict[str, list[dict]]:
    """Read the rows of a record that `record` wrote, by part."""
    parts: dict[str, list[dict]] = {}
    for _, row in read_lines(data_folder() / "recorded" / f"{name}.jsonl"):
        parts.setdefault(row["part"], []).append(row)
    return parts


def entropy_cells(responses: Responses, targets: Sequence[float]) -> list[dict]:
    """Compute what the mean token entropy adds: to votes, beside certainty, and to all that is usually heard."""
    tried = {
        "votes + entropy": ("votes", "votes + certainty"),
        "votes + certainty + entropy": ("votes + certainty",),
        "all four": ("all three",),
    }
    signals = {name: LADDER[name] for bars in tried.values() for name in bars}
    signals |= {name: tuple(name.split(" + ")) for name in tried} | {"all four": tuple(SIGNALS)}
    learners = {name: PricedStopping(heard) for name, heard in signals.items()}
    rows = held_out(responses, targets, learners=learners, noises=0)
    bars = {name: [row for row in rows if row.policy in tried[name]] for name in tried}
    return [_cell(row, bars[row.policy]) for name in tried for row in rows if row.policy == name]


def recorded_cells(name: str = "stopping") -> dict[str, dict[tuple[str, float], dict]]:
    """Read the tables of chapter 10 ("stopping") or 13 ("minds"): by part, policy and target.

    >>> cells = recorded_cells()["word-fewshot by question"]
    >>> cells["all three", 2]["accuracy"] > cells["oracle", 2]["accuracy"] > cells["mix", 2]["accuracy"]
    True
    """
    return {part: {(row["policy"], row["target"]): row for row in rows} for part, rows in recorded(name).items()}


def stopping_cells(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None, *, peers: bool = True
) -> list[dict]:
    """Compute every cell of chapter 10's table for one file: a row's figures, and in ``over`` its lead on others.

    Rungs and peers that need log-probabilities are left out where there are none, text where all texts are alike.
    Peers are tuned to every target, and scored as published at what that costs; there the rungs are scored too.
    """
    sure, told = responses.logprob is not None, len(set(responses.questions)) > 1
    there = {"votes", *["text"] * told, *["certainty"] * sure}
    rungs = {name: PricedStopping(signals) for name, signals in LADDER.items() if set(signals) <= there}
    learners: dict[str, Learner | Planner] = {**rungs, **({"curve": CurvePolicy()} if told else {})}
    own: dict[str, float] = {}
    if peers:
        families = {**PEERS, **(CONFIDENT if sure else {})}
        published = {f"{name} {AS_PUBLISHED}": Published(rule) for name, rule in PUBLISHED.items()}
        learners |= {**{name: TunedRules(rules) for name, rules in families.items()}, **published}
        votes = compared(responses)
        own = {name: round(float(peer.replay(votes)[0].mean()), 2) for name, peer in published.items()}
    protocol = Protocol(groups=groups)
    rows = held_out(responses, [*targets, *own.values()], learners=learners, noises=0, protocol=protocol)
    rows += weighted_bars(responses, targets, groups) if sure else []
    ends = {"votes", list(rungs)[-1]}
    # All but the baselines at the targets; at what a published peer costs, the peer and the ladder's two ends.
    shown = [
        row
        for row in rows
        if (row.target == own[row.policy] if row.policy in own else row.target in targets or row.policy in ends)
        and row.policy not in _LEFT_OUT
    ]
    leading = {*ends, "votes + text"}
    return [_cell(row, shown if row.policy in leading else ()) for row in shown]


def control_cells(responses: Responses, targets: Sequence[float], seed: int = 0) -> list[dict]:
    """Compute what signals that say nothing add to votes alone: features of noise, and shuffled log-probabilities."""
    if responses.logprob is None:
        raise ValueError(f"{responses.source}: has no log-probabilities to shuffle")
    flat = np.random.default_rng(seed).permutation(responses.logprob.ravel())
    blind = replace(responses, logprob=flat.reshape(responses.logprob.shape))
    noise = noise_features(responses.n, seed=seed)
    tried = (
        ("votes", responses, None, LADDER["votes"]),
        ("votes + noise", responses, noise, LADDER["votes + text"]),
        ("votes + shuffled certainty", blind, None, LADDER["votes + certainty"]),
    )
    rows = [
        row
        for name, answers, known, signals in tried
        for row in held_out(answers, targets, learners={name: PricedStopping(signals)}, features=known, noises=0)
        if row.policy == name
    ]
    plain = [row for row in rows if row.policy == "votes"]
    return [_cell(row, plain) for row in rows if row.policy != "votes"]


def weighted_bars(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None, seed: int = 0
) -> list[HeldOutRow]:
    """Score the best mix and the static oracle when votes are weighted by certainty: a better vote, no better plan.

    How steeply certainty weighs is chosen on the half that teaches. Gains count over the mix of plain votes, so that
    they stand beside those of `adalib.held_out`.
    """
    halves = compared(responses).split_samples(seed)
    voted = [{s: _weighted(half, s) for s in _SHARPNESS} for half in halves]
    scores = Scores(["mix_weighted", "oracle_weighted"])
    for number in range(2):
        teach, score = voted[number], voted[1 - number]
        best = max(_SHARPNESS, key=lambda s: teach[s].acc.mean())
        chosen, scored, plain = teach[best], score[best], halves[1 - number].table(_BUDGETS)
        for target, labels in oracles_at(chosen, targets):
            mix = best_mix(chosen.acc, chosen.cost, target)
            scores.add("mix_weighted", target, *mix.outcome(scored), plain)
            scores.add("oracle_weighted", target, *from_labels(labels, chosen.k).outcome(scored), plain)
    return scores.rows(members(responses, groups))


def model_cells(
    answers: Responses, targets: Sequence[float], learners: Mapping[str, Learner | Planner] = MODEL_LEARNERS
) -> list[dict]:
    """Hold out what pays for one model: both oracles, noise, and the learners.

    >>> import adalib
    >>> few = adalib.load("story-qwen15").take(range(40))
    >>> cells = model_cells(few, [2], {"curve policy": MODEL_LEARNERS["curve policy"]})
    >>> [cell["policy"] for cell in cells]
    ['oracle', 'oracle_in_sample', 'curve policy', 'noise']
    """
    rows = held_out(answers, targets, learners=learners, noises=1, protocol=Protocol(folds=2))
    return [_figures(row) for row in rows if row.policy in ("oracle", "oracle_in_sample", "noise", *learners)]


def way_cells(menu: Menu, targets: Sequence[float], alone: str | None = None) -> list[dict]:
    """Hold out the ways through a menu, the cheaper model first: its oracle, going on or up under one price.

    With ``alone`` that model is also stopped by its own price, without the other.
    """
    learners: dict[str, Learner | Planner] = {GO_UP: PricedEscalation(repeats=_REPEATS)}
    if alone is not None:
        learners[f"{alone} alone, priced"] = _Alone(menu, alone)
    rows = held_out(menu, targets, learners=learners, noises=0, protocol=Protocol(folds=2))
    return [_figures(row) for row in rows if row.policy in ("oracle", *learners)]


class _Alone:
    """One model of a menu, stopped by a price; below the price of one answer it pays for one answer."""

    def __init__(self, menu: Menu, name: str):
        self.name, self.unit = name, (menu.unit or {})[name]

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list:
        taught, asked = (part.answers.models[self.name] for part in (train, test))
        rule = PricedStopping(cost=Money(0, self.unit), schedule=range(1, 9))
        rule.fit(taught, train.features, tuple(train.groups))
        return rule.replay(asked, [max(target, self.unit) for target in targets], test.features).pairs()


def _cell(row: HeldOutRow, others: Sequence[HeldOutRow]) -> dict:
    """One row's figures, and its lead at equal cost on the others at its target, with the interval."""
    over = {}
    for other in others:
        if other.target == row.target and other.policy not in (row.policy, *_NO_BARS):
            lead = bootstrap_mean(row.gains - other.gains)
            over[other.policy] = [round(float(part), 5) for part in (lead.mean, lead.low, lead.high)]
    return {**_figures(row), "over": over}


def _figures(row: HeldOutRow) -> dict:
    """What is recorded of a row: its policy, its target and its figures to five digits."""
    figures = {name: getattr(row, name) for name in _KEPT}
    rounded = {name: None if value is None else round(float(value), 5) for name, value in figures.items()}
    return {"policy": row.policy, "target": row.target, **rounded}


def _weighted(half: Responses, sharpness: float) -> UtilityTable:
    """What a vote weighted by certainty is worth at every budget, over 48 orders."""
    streams = make_streams(half, _BUDGETS[-1], repeats=48)
    acc = streams.mean(streams.votes(sharpness).value[:, np.array(_BUDGETS) - 1])
    return UtilityTable(acc.clip(0, 1), np.array(_BUDGETS, dtype=float), budgets=_BUDGETS, ids=tuple(half.ids))
