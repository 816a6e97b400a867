"""Hold out policies on questions whose answers can be checked.

Passes take the place of votes. Every policy but ``fixed`` and ``mix`` stops at the first pass, and
the bar is the best cap that is the same for all questions, or two caps next to each other by lot,
at the cost that a policy really had. All figures are expectations over the order of a question's
attempts, which its two counts give exactly.
"""

from __future__ import annotations

import json
import os
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from tqdm import tqdm

from adalib.datasets.files import DataError, read_lines
from adalib.datasets.folds import FEWEST, deal, group_numbers, subsample
from adalib.datasets.passes import Passes, load_passes
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import in_points, mean_interval
from adalib.learn.features import text_values
from adalib.sequential.checked import CheckedStopping, mean_paid, neighbours, priced_caps
from adalib.sequential.prior import free_form
from adalib.sequential.replay import Mix
from adalib.solve.hull import concave_hull

_KINDS = {"first_pass": "watches", "text": "watches", "priced": "watches", "noise": "watches"}
_FOLDS = 5
# Deals of the attempts into halves, one of which the oracle knows; of few questions more deals,
# or the deal would decide what knowing is worth.
_DEALS = 4
_DEALT = 2000  # questions in all deals together, at least
_NOISES = 2
_USUAL = (1.5, 3.0, 10.0)
_MATTERS = 0.01  # a point

Found = tuple[np.ndarray, np.ndarray]  # cost and share solved of every question


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckedRow:
    """One policy at one target, held out by question; the fields are those of `HeldOutRow`."""

    policy: str
    kind: str
    target: float  #: average attempts asked for
    cost: float  #: average attempts made
    accuracy: float  #: share of the questions solved
    low: float  #: its 95% interval
    high: float
    mix_accuracy: float  #: of the best common cap with stopping, at the same cost
    gain: float
    gain_low: float
    gain_high: float
    gains: np.ndarray = field(repr=False)  #: of every question, or of every group


def checked_rows(
    passes: Passes,
    targets: Sequence[float] | None = None,
    *,
    features: ArrayLike | None = None,
    groups: Sequence | None = None,
    seed: int = 0,
) -> list[CheckedRow]:
    """Hold out every policy for answers that can be checked.

    The questions are dealt into five folds; each is scored by policies that learned from the
    others. No question may get more than half of its attempts, because the oracle knows the other
    half.

    Parameters
    ----------
    passes : Passes
        Attempts and passes of at least ten questions.
    targets : sequence of float, optional
        Average costs per question, in attempts of average cost. Default: 1.5, 3 and 10, where
        that much can be spent.
    features : array_like, shape (N, d), optional
        What ``text`` and ``priced`` know of a question. Default: the features of its text.
    groups : sequence, optional
        The group of each question; groups stay in one fold, and intervals are over groups.
    seed : int
        Seed of the folds, of the halves and of the noise.

    Returns
    -------
    list of CheckedRow
        A row per target and policy: ``oracle`` knows half of each question's attempts, ``mix`` and
        ``fixed`` make the same number at once for all, ``first_pass`` has one cap, ``text`` a cap
        by the features, ``noise`` by random numbers, and ``priced`` uses the features where they
        say something about training questions left out.

    Raises
    ------
    ValueError
        If there are too few questions or attempts, or a target cannot be met.

    Examples
    --------
    >>> rows = checked_rows(Passes([0, 2, 5, 9, 10] * 4, attempts=10), [1.5])
    >>> [row.policy for row in rows]
    ['oracle', 'mix', 'fixed', 'first_pass', 'priced', 'noise']
    """
    most = passes.samples // 2
    if passes.n < FEWEST or most < 1:
        raise ValueError(
            f"{passes.source}: has {passes.n} questions with at least {passes.samples} attempts; "
            f"give at least {FEWEST} questions, and two attempts at each"
        )
    member = _members(passes, groups)
    unit = float(passes.at_once([1]).mean())
    if unit <= 0:
        raise ValueError(f"{passes.source}: all its tokens are 0; give what each attempt has")
    wanted = _targets(passes, most, unit, targets)
    known = features
    if known is None and passes.questions is not None:
        known = text_values(passes.questions)
    known = None if known is None else np.asarray(known, dtype=float)
    trial = _Trial(passes, most, [target * unit for target in wanted], member, seed)
    steps: dict[str, Callable[[], list[Found]]] = {
        "oracle": trial.oracle,
        "mix": lambda: trial.at_once(whole=False),
        "fixed": lambda: trial.at_once(whole=True),
        "first_pass": lambda: trial.learned(None),
        "text": lambda: trial.learned(known, always_text=True),
        "priced": lambda: trial.learned(known),
        "noise": trial.noise,
    }
    if known is None:
        del steps["text"]
    bar = tqdm(steps.items(), "evaluating", unit=" policies", disable=None, leave=False, ncols=80)
    found = {name: step() for name, step in bar}
    return [
        trial.row(name, target, found[name][number], unit)
        for number, target in enumerate(wanted)
        for name in found
    ]


class _Trial:
    """What policies cost and solve on questions that they have not seen."""

    def __init__(
        self, passes: Passes, most: int, budgets: list[float], member: np.ndarray, seed: int
    ) -> None:
        self.passes = passes
        self.most = most
        self.budgets = budgets
        self.member = member
        self.seed = seed
        self.rows = np.arange(passes.n)
        every = np.arange(passes.samples + 1)
        self.solved, self.cost = passes.solved(every), passes.cost(every)
        self.corners = concave_hull(self.cost.mean(axis=0), self.solved.mean(axis=0))

    def at_once(self, whole: bool) -> list[Found]:
        """The same number for every question, all made: the largest whole one, or two by lot."""
        cost = self.passes.at_once(np.arange(self.most + 1))
        found = []
        for budget in self.budgets:
            low, high, share = neighbours(cost.mean(axis=0), budget)
            lot = Mix(low, high, 0.0 if whole else share)
            found.append((_lot(cost.T, lot), _lot(self.solved.T, lot)))
        return found

    def learned(self, features: np.ndarray | None, always_text: bool = False) -> list[Found]:
        """Caps learned from the other folds."""
        found = np.empty((len(self.budgets), 2, self.passes.n))
        for train, test in self._folds():
            if features is not None:  # as many as the other commands learn a text from
                train = subsample(train, TAUGHT, self.seed)
            policy = CheckedStopping(self.most, always_text=always_text, seed=self.seed)
            old, new = (None, None) if features is None else (features[train], features[test])
            policy.fit(self.passes.take(train), old, self.member[train])
            for number, budget in enumerate(self.budgets):
                mix = policy.mix(budget)
                caps = {side: policy.caps(side, new, n=test.size) for side in mix[:2]}
                for figure, table in enumerate((self.cost, self.solved)):
                    sides = {side: table[test, cap] for side, cap in caps.items()}
                    found[number, figure, test] = _lot(sides, mix)
        return [(cost, solved) for cost, solved in found]

    def noise(self) -> list[Found]:
        """Caps by random numbers: the mean of what some draws of them did."""
        seeds = range(self.seed, self.seed + _NOISES)
        numbers = [noise_features(self.passes.n, seed=seed).to_numpy() for seed in seeds]
        draws = [self.learned(of_seed, always_text=True) for of_seed in numbers]
        return [_mean(of_target) for of_target in zip(*draws, strict=True)]

    def _folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the questions that teach and those that are scored."""
        fold = deal(self.member, _FOLDS, self.seed)
        for out in np.unique(fold):
            yield np.flatnonzero(fold != out), np.flatnonzero(fold == out)

    def oracle(self) -> list[Found]:
        """Caps by half of each question's own attempts, scored on the other half."""
        rng = np.random.default_rng(self.seed)
        every = np.arange(self.most + 1)
        deals = []
        for _ in range(max(_DEALS, -(-_DEALT // self.passes.n))):
            knows, scores = self.passes.halves(rng)
            p, _, own = free_form(knows.passed, knows.attempts)
            _, caps = priced_caps(p, own, self.most, mean_paid(knows))
            cost, solved = (
                np.stack([table[self.rows, cap] for cap in caps])
                for table in (scores.cost(every), scores.solved(every))
            )
            mixes = [neighbours(cost.mean(axis=1), budget) for budget in self.budgets]
            deals.append([(_lot(cost, mix), _lot(solved, mix)) for mix in mixes])
        return [_mean(of_target) for of_target in zip(*deals, strict=True)]

    def row(self, policy: str, target: float, found: Found, unit: float) -> CheckedRow:
        """Compare a policy with the best common cap at its cost."""
        cost, solved = found
        bar = self._bar(cost.mean())
        gains = _of_groups(solved - bar, self.member)
        accuracy = mean_interval(_of_groups(solved, self.member))
        gain = mean_interval(gains)
        return CheckedRow(
            policy=policy,
            kind=_KINDS.get(policy, "baseline"),
            target=target,
            cost=float(cost.mean() / unit),
            accuracy=float(accuracy.mean),
            low=max(float(accuracy.low), 0.0),
            high=min(float(accuracy.high), 1.0),
            mix_accuracy=float(bar.mean()),
            gain=float(gain.mean),
            gain_low=max(float(gain.low), -1.0),
            gain_high=min(float(gain.high), 1.0),
            gains=gains,
        )

    def _bar(self, spent: float) -> np.ndarray:
        """Return the chance of every question to be solved by the best common cap at a cost."""
        mix = neighbours(self.cost.mean(axis=0)[self.corners], spent)
        return _lot(self.solved.T[self.corners], mix)


def _lot(figures: Any, mix: Mix) -> np.ndarray:
    """Return the mean of two entries by the lot that a mix draws."""
    return (1 - mix.share) * figures[mix.low] + mix.share * figures[mix.high]


def _mean(several: Sequence[Found]) -> Found:
    """Return the mean of what several policies of one name did."""
    cost, solved = np.mean(several, axis=0)
    return cost, solved


def _of_groups(values: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return one value per group, whose plain mean is the mean over all questions."""
    excess = np.bincount(member, values - values.mean())
    return values.mean() + excess * excess.size / len(values)


def _members(passes: Passes, groups: Sequence | None) -> np.ndarray:
    """Return the group of every question; without groups, equal texts are one."""
    if groups is None and passes.questions is not None:
        texts = [" ".join(text.casefold().split()) for text in passes.questions]
        groups = texts if len(set(texts)) >= FEWEST else None
    member = group_numbers(range(passes.n) if groups is None else groups, passes.n)
    if not member.any():
        raise ValueError(f"{passes.source}: all questions are in one group; give at least two")
    return member


def _targets(
    passes: Passes, most: int, unit: float, targets: Sequence[float] | None
) -> list[float]:
    """Return the targets, in average attempts; ValueError for one that means nothing."""
    largest = float(passes.cost([most]).mean() / unit)
    if targets is None:
        return [target for target in _USUAL if target < largest] or [largest / 2]
    wanted = list(dict.fromkeys(float(target) for target in targets))
    wrong = [target for target in wanted if not 0 < target < np.inf]
    if wrong or not wanted:
        raise ValueError(f"target {wrong[0] if wrong else ''} cannot be met: give a number above 0")
    if beyond := [f"{target:g}" for target in wanted if target > largest]:
        warnings.warn(
            f"target {', '.join(beyond)} is more than {most} attempts can spend where the first "
            f"pass ends them: {largest:.3g} per question",
            stacklevel=3,
        )
    return wanted


def checked_verdict(rows: Sequence[CheckedRow]) -> tuple[str, str]:
    """Say in a word and in sentences whether caps that differ between questions pay.

    The word is "pays", "does not pay" or "cannot tell", from the gains of ``priced`` over the best
    common cap, with intervals widened for the number of targets.
    """
    priced = [row for row in rows if row.policy == "priced"]
    level = 1 - 0.05 / len(priced)
    gains = [mean_interval(row.gains, level) for row in priced]
    best = int(np.argmax([float(found.low) for found in gains]))
    if gains[best].low > 0:
        word = "pays"
    else:
        word = "does not pay" if all(one.high < _MATTERS for one in gains) else "cannot tell"
    row = priced[best]
    by_name = {one.policy: one for one in rows if one.target == row.target}
    stopping, at_once = by_name["first_pass"], by_name["mix"]
    share = f"{100 * stopping.mix_accuracy:.1f}%"
    low, high = (in_points(float(end)) for end in (gains[best].low, gains[best].high))
    said = {
        "pays": "Caps that differ between questions pay",
        "does not pay": "Caps that differ between questions do not pay",
        "cannot tell": "Whether caps that differ between questions pay cannot be told",
    }
    return word, (
        f"At {row.target:g} attempts on average, stopping at the first pass under one cap for all "
        f"solves {share} of the questions; the same number for all at once, "
        f"{100 * at_once.accuracy:.1f}%. {said[word]}: {in_points(row.gain)} points over the "
        f"common cap (95% interval {low} to {high}). Knowing half of each question's attempts "
        f"would be worth {in_points(by_name['oracle'].gain)}."
    )


def checked_summary(rows: Sequence[CheckedRow]) -> pd.DataFrame:
    """Return the rows as a table to print, in percent and points."""
    return pd.DataFrame(
        {
            "policy": [row.policy for row in rows],
            "target": [f"{row.target:g}" for row in rows],
            "attempts": [f"{row.cost:.2f}" for row in rows],
            "solved": [f"{100 * row.accuracy:.1f}" for row in rows],
            "gain": [
                f"{in_points(row.gain)} [{in_points(row.gain_low)}, {in_points(row.gain_high)}]"
                for row in rows
            ],
        }
    )


def evaluate_checked(
    file: str, targets: Sequence[float] | None, cost: str, groups: str | None, as_json: bool
) -> None:
    """Print what `adalib evaluate --checked` found on a file."""
    passes = load_passes(file, cost)
    labels = None if groups is None else _column(file, passes, groups)
    rows = checked_rows(passes, targets, groups=labels)
    word, sentences = checked_verdict(rows)
    tested = (
        f"Held out{f' by {groups}' if groups else ''}, {passes.n:,} questions with "
        f"{passes.samples:,} attempts, of which a policy may use {passes.samples // 2:,}. The bar "
        "is the best cap that is the same for all, with stopping at the first pass, at the cost "
        "that a policy really had. Figures are expectations over the order of attempts."
    )
    if as_json:
        names = [one.name for one in fields(CheckedRow) if one.name != "gains"]
        found = {
            "rows": [{name: getattr(row, name) for name in names} for row in rows],
            "verdict": sentences,
            "word": word,
            "why": tested,
        }
        print(json.dumps(found, ensure_ascii=False))
        return
    print(textwrap.fill(sentences, 100), end="\n\n")
    print(checked_summary(rows).to_string(index=False))
    print("Solved in percent, gains in points over the best common cap, with 95% intervals")
    print(textwrap.fill(tested, 100))


def _column(file: str, passes: Passes, name: str) -> list:
    """Return the value of a field on every line of a file; DataError where there is none."""
    if not os.path.isfile(file):
        raise DataError(f"{file}: give a file of your own to group by {name!r}")
    records = [record for _, record in read_lines(file)]
    if len(records) != passes.n or any(name not in record for record in records):
        raise DataError(f"{file}: has no {name!r} on every line; add it, or leave --groups out")
    return [record[name] for record in records]
