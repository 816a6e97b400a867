"""The two dear tables of chapter 13: what pays for each model, and the ways through a menu of two, all held out.

Together they take more than a minute; ``data/record_minds.py`` computes them for the bundled answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from adalib.datasets.files import read_lines
from adalib.datasets.folds import members
from adalib.datasets.loading import data_folder
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import compared
from adalib.evaluate.heldout import held_out, oracles_at
from adalib.evaluate.intervals import bootstrap_mean
from adalib.evaluate.scores import HeldOutRow, Tally
from adalib.evaluate.trials import Learner, Planner, Questions
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.escalation import PricedEscalation
from adalib.sequential.peers import CONFIDENT, PEERS, PUBLISHED, Published, TunedRules
from adalib.sequential.priced import PricedStopping
from adalib.sequential.signals import SIGNALS
from adalib.sequential.streams import Money, make_streams
from adalib.table import UtilityTable

__all__ = [
    "AS_PUBLISHED",
    "GO_UP",
    "LADDER",
    "MODEL_LEARNERS",
    "compare",
    "control_cells",
    "entropy_cells",
    "model_cells",
    "recorded_cells",
    "row_figures",
    "stopping_cells",
    "way_cells",
]


# The whole comparison of chapter 10, cell by cell: every signal, every peer, and bars with the same weighted votes.
#
# It takes minutes a file; ``data/record_stopping.py`` computes it for the bundled settings, by question and by family,
# and for simulated populations.


__all__ += ["weighted_bars"]

#: What each rung of the ladder looks at.
LADDER: Mapping[str, tuple[str, ...]] = {
    "votes": ("votes",),
    "votes + text": ("votes", "text"),
    "votes + certainty": ("votes", "certainty"),
    "all three": ("votes", "text", "certainty"),
}

#: Said of a peer that is not tuned.
AS_PUBLISHED = "as published"

_BUDGETS = (1, 2, 4, 8, 16)
_SHARPNESS = (1.5, 3.0, 6.0, 12.0)
_KEPT = ("cost", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "mix_cost")
_LEFT_OUT = ("fixed", "random", "length")  # chapter 7 has them: no better than the mix
_NO_BARS = ("mix", "oracle_in_sample")  # gains count over the mix already; what is in sample is no bar


def weighted_bars(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None, seed: int = 0
) -> list[HeldOutRow]:
    """Score the best mix and the static oracle when votes are weighted by certainty: a better vote, no better plan.

    How steeply certainty weighs is chosen on the half that teaches. Gains count over the mix of plain votes, so that
    they stand beside those of `adalib.held_out`. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    responses : Responses
        With log-probabilities.
    targets, groups, seed
        As for `adalib.held_out`.

    Returns
    -------
    list of HeldOutRow
        ``mix_weighted`` and ``oracle_weighted``, a row a target.
    """
    halves = compared(responses).split_samples(seed)
    voted = [{s: _weighted(half, s) for s in _SHARPNESS} for half in halves]
    tally = Tally(["mix_weighted", "oracle_weighted"])
    for number in range(2):
        teach, score = voted[number], voted[1 - number]
        best = max(_SHARPNESS, key=lambda s: teach[s].acc.mean())
        chosen, scored, plain = teach[best], score[best], halves[1 - number].table(_BUDGETS)
        for target, labels in oracles_at(chosen, targets):
            mix = best_mix(chosen.acc, chosen.cost, target)
            tally.add("mix_weighted", target, *mix.outcome(scored), plain)
            tally.add("oracle_weighted", target, *from_labels(labels, chosen.k).outcome(scored), plain)
    return tally.rows(members(responses, groups))


def compare(policy: HeldOutRow, other: HeldOutRow) -> list[float]:
    """Mean and interval of one policy's gain over another's at one target, each over the mix at its own cost."""
    found = bootstrap_mean(policy.gains - other.gains)
    return [round(float(part), 5) for part in (found.mean, found.low, found.high)]


def stopping_cells(
    responses: Responses, targets: Sequence[float], groups: Sequence | None = None, *, peers: bool = True
) -> list[dict]:
    """Compute every cell of chapter 10's table for one file of answers.

    Parameters
    ----------
    responses : Responses
        Rungs and peers that need log-probabilities are left out where there are none, text where all texts are alike.
    targets, groups
        As for `adalib.held_out`.
    peers : bool
        Whether the peers are scored too: tuned to every target, and as published, at what that costs.

    Returns
    -------
    list of dict
        Policy, target, its figures, and in ``over`` its lead on others at equal cost with the interval. The target of a
        peer ``as published`` is what it spends on these answers, and the rungs are scored there too.
    """
    sure, told = responses.logprob is not None, len(set(responses.questions)) > 1
    there = {"votes", *["text"] * told, *["certainty"] * sure}
    rungs = {name: PricedStopping(signals) for name, signals in LADDER.items() if set(signals) <= there}
    learners: dict[str, Learner | Planner] = {**rungs, **({"curve": CurvePolicy()} if told else {})}
    own: dict[str, float] = {}
    if peers:
        families = {**PEERS, **(CONFIDENT if sure else {})}
        learners |= {name: TunedRules(rules) for name, rules in families.items()}
        published = {f"{name} {AS_PUBLISHED}": Published(rule) for name, rule in PUBLISHED.items()}
        read = compared(responses)
        own = {name: round(float(peer.replay(read)[0].mean()), 2) for name, peer in published.items()}
        learners |= published
    rows = held_out(responses, [*targets, *own.values()], learners=learners, groups=groups, noises=0)
    rows += weighted_bars(responses, targets, groups) if sure else []
    ends = {"votes", list(rungs)[-1]}
    shown = [row for row in rows if _shown(row, targets, own, ends)]
    found = {(row.policy, row.target): row for row in shown}
    leading = {*ends, "votes + text"}
    return [_cell(row, found if row.policy in leading else {}) for row in shown]


def control_cells(responses: Responses, targets: Sequence[float], seed: int = 0) -> list[dict]:
    """Compute what signals that say nothing add to votes alone: features of noise, and shuffled log-probabilities.

    Parameters
    ----------
    responses : Responses
        With log-probabilities.
    targets, seed
        As for `adalib.held_out`.

    Returns
    -------
    list of dict
        As from `stopping_cells`, with the lead on ``votes`` in ``over``.
    """
    flat = np.random.default_rng(seed).permutation(responses.logprob.ravel())
    blind = replace(responses, logprob=flat.reshape(responses.logprob.shape))
    noise = noise_features(responses.n, seed=seed)
    tried = (
        ("votes", responses, None, LADDER["votes"]),
        ("votes + noise", responses, noise, LADDER["votes + text"]),
        ("votes + shuffled certainty", blind, None, LADDER["votes + certainty"]),
    )
    rows = {
        (row.policy, row.target): row
        for name, answers, known, signals in tried
        for row in held_out(answers, targets, learners={name: PricedStopping(signals)}, features=known, noises=0)
        if row.policy == name
    }
    plain = {key: row for key, row in rows.items() if key[0] == "votes"}
    return [_cell(row, plain) for key, row in rows.items() if key not in plain]


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
    rows = {(row.policy, row.target): row for row in held_out(responses, targets, learners=learners, noises=0)}
    return [
        _cell(rows[name, target], {(bar, target): rows[bar, target] for bar in bars})
        for name, bars in tried.items()
        for target in targets
    ]


def recorded_cells(name: str = "stopping") -> dict[str, dict[tuple[str, float], dict]]:
    """Read the cells that ``data/record_stopping.py``, or another of these, computed: by part, policy and target.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    name : str
        The record: "stopping" (chapter 10) or "minds" (chapter 13).

    Examples
    --------
    >>> cells = recorded_cells()["word-fewshot by question"]
    >>> cells["all three", 2]["accuracy"] > cells["oracle", 2]["accuracy"] > cells["mix", 2]["accuracy"]
    True
    """
    found: dict[str, dict[tuple[str, float], dict]] = {}
    for _, cell in read_lines(data_folder() / "recorded" / f"{name}.jsonl"):
        found.setdefault(cell["part"], {})[cell["policy"], cell["target"]] = cell
    return found


def _shown(row: HeldOutRow, targets: Sequence[float], own: Mapping[str, float], ends: set[str]) -> bool:
    """Whether a row is a cell: all at the targets, a published peer and the ladder's two ends at what that costs."""
    if row.policy in own:
        return row.target == own[row.policy]
    return row.policy not in _LEFT_OUT and (row.target in targets or row.policy in ends)


def _cell(row: HeldOutRow, others: Mapping[tuple[str, float], HeldOutRow]) -> dict:
    """One row's figures, and its lead on the others at its target."""
    bars = {name: bar for (name, target), bar in others.items() if target == row.target and name != row.policy}
    over = {name: compare(row, bar) for name, bar in bars.items() if name not in _NO_BARS}
    return {**row_figures(row), "over": over}


def row_figures(row: HeldOutRow) -> dict:
    """What is recorded of a row: its policy, its target and its figures to five digits."""
    return {"policy": row.policy, "target": row.target, **{name: _short(getattr(row, name)) for name in _KEPT}}


def _weighted(half: Responses, sharpness: float) -> UtilityTable:
    """What a vote weighted by certainty is worth at every budget, over 48 orders."""
    streams = make_streams(half, _BUDGETS[-1], repeats=48)
    acc = streams.mean(streams.votes(sharpness).value[:, np.array(_BUDGETS) - 1])
    return UtilityTable(acc.clip(0, 1), np.array(_BUDGETS, dtype=float), budgets=_BUDGETS, ids=half.ids)


def _short(value: float | None) -> float | None:
    return None if value is None else round(float(value), 5)


_REPEATS = 4  # orders in which a rule sees the answers that teach it: few, so that anyone can compute it again

#: What is held out for every model, by its name in the table.
MODEL_LEARNERS: Mapping[str, Planner | Learner] = {
    "label policy": LabelPolicy(),
    "curve policy": CurvePolicy(),
    **{f"stopping: {name}": PricedStopping(signals, repeats=_REPEATS) for name, signals in LADDER.items()},
}

#: Priced stopping with escalation, by its name in the table.
GO_UP = "go on or go up"


class _Alone:
    """One model of a menu, stopped by a price; below the price of one answer it pays for one answer."""

    def __init__(self, name: str):
        self.name = name

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list:
        unit = train.answers.unit[self.name]
        rule = PricedStopping(cost=Money(0, unit), schedule=range(1, 9))
        rule.fit(train.answers.models[self.name], train.features, train.groups)
        asked = [max(target, unit) for target in targets]
        return rule.replay(test.answers.models[self.name], asked, test.features).pairs()


def model_cells(
    answers: Responses, targets: Sequence[float], learners: Mapping[str, Planner | Learner] = MODEL_LEARNERS
) -> list[dict]:
    """Hold out what pays for one model: both oracles, noise, and the learners.

    Explained in chapter 13, "Three minds".

    Parameters
    ----------
    answers : Responses
        One model's.
    targets : sequence of float
        Average numbers of answers.
    learners : mapping, optional
        Some of `MODEL_LEARNERS`; default: all.

    Examples
    --------
    >>> import adalib
    >>> few = adalib.load("story-qwen15").take(range(40))
    >>> cells = model_cells(few, [2], {"curve policy": MODEL_LEARNERS["curve policy"]})
    >>> [cell["policy"] for cell in cells]
    ['oracle', 'oracle_in_sample', 'curve policy', 'noise']
    """
    rows = held_out(answers, targets, folds=2, learners=learners, noises=1)
    return [row_figures(row) for row in rows if row.policy in ("oracle", "oracle_in_sample", "noise", *learners)]


def way_cells(menu: Menu, targets: Sequence[float], alone: str | None = None) -> list[dict]:
    """Hold out the ways through a menu: its oracle, going on or up under one price, and one model alone.

    Explained in chapter 13, "Three minds".

    Parameters
    ----------
    menu : Menu
        The cheaper model first.
    targets : sequence of float
        Average costs.
    alone : str, optional
        The model that is also stopped by its own price, without the other.
    """
    learners: dict[str, Learner] = {GO_UP: PricedEscalation(repeats=_REPEATS)}
    if alone is not None:
        learners[f"{alone} alone, priced"] = _Alone(alone)
    rows = held_out(menu, targets, folds=2, learners=learners, noises=0)
    return [row_figures(row) for row in rows if row.policy in ("oracle", *learners)]
