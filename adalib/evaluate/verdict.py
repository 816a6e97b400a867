"""The verdict: does adaptive allocation pay on these questions, where, and with which policy?

Many policies are tried at several targets, and the best of them looks good by luck. So the
questions are put in random order, and each is scored by the policy that gained most on the
questions before it. No question judges a choice in which it had a part, and nearly all of them
count. That chain of gains takes one test, which allows for chance and for rare losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from adalib.evaluate.intervals import (
    Interval,
    cautious_bound,
    guarded_bound,
    hidden_loss,
    in_points,
    mean_interval,
)
from adalib.evaluate.scores import HeldOutRow

_FIRST = 1 / 20  # of the questions only choose, since there is none before them

_BAR = "the same number of answers for everyone"
_SHORT = {"pays": "pays", "does not pay": "does not pay", "cannot tell": "may or may not pay"}

#: Chance of a false claim by each test. The approximations then stay within 5%.
WRONG = 0.04

_MOST_TIMES = 1e4  # times the questions at hand: more are not asked for

#: Groups below which a verdict by group can hardly ever say that anything pays.
FEW_GROUPS = 60
_FEW = f"Below about {FEW_GROUPS} groups a verdict by group has almost no power."


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """What `verdict` returns; as a string it is the sentence.

    Attributes
    ----------
    word : str
        "pays", "does not pay" or "cannot tell".
    gain, low, high : float
        The gain of the policy that the sentence names, with its ordinary 95% interval.
    found : Judgement
        The choice among all policies, and its test.
    before : Judgement or None
        The same among those that decide before asking, if some do not.
    groups : Judgement or None
        The same by groups that were seen.
    rows : tuple of HeldOutRow
        What was judged.
    """

    word: str
    gain: float
    low: float
    high: float
    found: Judgement = field(repr=False)
    before: Judgement | None = field(repr=False)
    groups: Judgement | None = field(repr=False)
    rows: tuple[HeldOutRow, ...] = field(repr=False)

    def __str__(self) -> str:
        """Return a sentence for each verdict, without a line break."""
        sentences = [_headline(self.found)]
        if self.groups is not None and self.groups.word != self.word:
            sentences.append(_by_groups(self.groups))
        return " ".join(sentences)


def verdict(
    rows: Sequence[HeldOutRow],
    matters: float = 0.01,
    groups: Sequence[HeldOutRow] | None = None,
) -> Verdict:
    """Say whether adaptive allocation pays, with which policy, and what it saves.

    Adaptive allocation *pays* if a policy gains over the same number of answers for everyone, at
    the same cost. The questions are put in random order. Each is scored by the policy and target
    that gained most on the questions before it, and the mean of these gains is tested once, by
    `guarded_bound`: neither chance nor rare losses may explain it. Adaptive allocation *does not
    pay* if at every target the upper bound of the gain, computed in the same way, is below a gain
    that ``matters``. Otherwise the questions *cannot tell*; the verdict says why, and estimates how
    many would do. Each of the two claims is false in at most 5% of cases, also if a few questions
    or groups lose a lot.

    The interval in the sentence is the ordinary one of `mean_interval`. It lies above zero wherever
    the verdict is "pays"; where another verdict seems to contradict it, the sentence says why.

    A verdict by question is about new questions of the same families. Where questions come in
    families, and none are named, it claims a gain on other families far too often; so where
    `adalib.datasets.folds.seen_groups` finds some, hold out whole groups as well, and give
    those rows as ``groups``. Below about 60 groups a verdict by group has almost no power: one
    group in twenty that loses everything stays unseen.

    `reasons` says how the gain was tested. Explained in the appendix "Rival stopping rules, and
    how far to trust our intervals".

    Parameters
    ----------
    rows : sequence of HeldOutRow
        The rows that `adalib.held_out` returns.
    matters : float
        The smallest gain of accuracy that would be worth having.
    groups : sequence of HeldOutRow, optional
        The rows of the same answers with ``Protocol(groups=...)``: groups that were not named but
        seen. Their verdict follows where it is another one.

    Returns
    -------
    Verdict
        With ``word``, ``gain``, ``low`` and ``high``. ``str`` of it is the sentence.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null, held_out
    >>> rows = held_out(flat_null(40).sample(8), [2], (1, 4), learners={"curve": CurvePolicy()})
    >>> found = verdict(rows)
    >>> found.word
    'cannot tell'
    >>> str(found).partition(":")[0]
    'Cannot tell with these 40 questions whether adaptive allocation pays'
    """
    found, *before = judgements(rows, matters)
    low, high = found.shown()
    return Verdict(
        word=found.word,
        gain=float(found.rows[found.best].gain),
        low=float(low[found.best]),
        high=float(high[found.best]),
        found=found,
        before=before[0] if before else None,
        groups=None if groups is None else judgements(groups, matters)[0],
        rows=tuple(rows),
    )


def reasons(told: Verdict) -> str:
    """Say how a verdict was tested, and what it leaves out.

    These are the luck of the best, rare losses, the other targets, the policies that decide before
    asking, what an oracle gains where nothing pays, and new groups.

    Returns
    -------
    str
        A few sentences without a line break.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null, held_out
    >>> rows = held_out(flat_null(40).sample(8), [2], (1, 4), learners={"curve": CurvePolicy()})
    >>> reasons(verdict(rows)).partition(",")[0]
    'Gains are over the same number of answers for everyone'
    """
    found = told.found
    sentences = [_method(found), *_other_targets(found)]
    if told.word != "pays":
        best = found.rows[found.best].target
        oracles = [row for row in told.rows if row.policy == "oracle" and row.target == best]
        sentences += map(_room, oracles)
    if told.before is not None:
        sentences.append(_before(told.before))
    if told.groups is not None:
        sentences.append(_by_groups(told.groups))
    counted = (told.groups or found).rows[0]
    if counted.families and len(counted.gains) < FEW_GROUPS:
        sentences.append(_FEW)
    return " ".join(sentences)


def summary(told: Verdict, dollars: float | None = None) -> pd.DataFrame:
    """Tabulate, per target and in points, the bar and the policies that the verdict chose.

    The last column is the cost at which everyone's number of answers would be as accurate as the
    best policy. Where an average answer costs ``dollars``, both bills for a thousand questions
    follow.
    """
    found = [told.found] if told.before is None else [told.found, told.before]
    names = ["best policy"] if len(found) == 1 else ["before asking", "best policy"]
    lines = []
    for number, best in enumerate(told.found.rows):
        bar = next(row for row in told.rows if (row.policy, row.target) == ("mix", best.target))
        line = {"budget": f"{best.target:g}"}
        line["same for all"] = (
            f"{100 * bar.accuracy:.1f} [{100 * bar.low:.1f}, {100 * bar.high:.1f}]"
        )
        for name, judgement in zip(names, found[::-1], strict=True):
            line[name] = f"{judgement.rows[number].policy} {judgement.points(number)}"
        line["waiting"] = "–" if best.waiting is None else f"{best.waiting:.2f}"
        line["all need"] = "–" if best.mix_cost is None else f"{best.mix_cost:.2f}"
        if dollars is not None:
            line["$ per 1,000"] = f"{1000 * dollars * best.cost:.3g}"
            needs = best.mix_cost
            line["same for all, $"] = "–" if needs is None else f"{1000 * dollars * needs:.3g}"
        lines.append(line)
    return pd.DataFrame(lines)


def judgements(rows: Sequence[HeldOutRow], matters: float = 0.01) -> list[Judgement]:
    """Return what `verdict` puts into words.

    The first judgement is of all policies. If some of them are stopping rules and some are not,
    a second one is of those that are not. It may say "pays" only if the first one does, and so
    the two together have no more false claims than the first.
    """
    tried = [row for row in rows if row.kind != "baseline"]
    if not tried:
        raise ValueError("no row is of a policy that learns; give held_out at least one learner")
    main = judge(tried, matters)
    planned = [row for row in tried if row.kind == "plans"]
    if len(planned) in (0, len(tried)):
        return [main]
    return [main, judge(planned, matters, may_pay=main.word == "pays")]


def judge(rows: Sequence[HeldOutRow], matters: float = 0.01, may_pay: bool = True) -> Judgement:
    """Choose among rows of policies that learn, and score the choices."""
    gains = np.column_stack([row.gains for row in rows])
    gains = gains[np.random.default_rng(0).permutation(len(gains))]
    means = gains.mean(axis=0)
    targets = sorted({row.target for row in rows})
    chosen = []
    scored = []
    for target in targets:
        here = [number for number, row in enumerate(rows) if row.target == target]
        chosen.append(rows[max(here, key=lambda number: means[number])])
        scored.append(_leaders_gains(gains[:, here]))
    return Judgement(
        rows=tuple(chosen),
        gains=np.column_stack(scored),
        best=targets.index(rows[int(means.argmax())].target),
        best_gains=_leaders_gains(gains),
        tried=len(rows),
        matters=matters,
        may_pay=may_pay,
    )


def _leaders_gains(gains: np.ndarray) -> np.ndarray:
    """Score every question by the column that gained most on the questions before it."""
    first = max(round(_FIRST * len(gains)), 1)
    leader = gains.cumsum(axis=0)[first - 1 : -1].argmax(axis=1)
    return np.take_along_axis(gains[first:], leader[:, None], axis=1)[:, 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgement:
    """The policies chosen at every target, and gains on questions that had no part in the choice.

    Attributes
    ----------
    rows : tuple of HeldOutRow
        The row with the largest gain at every target, on all questions.
    gains : array, shape (n, number of targets)
        At every target, the gain of each question by the policy that led before it.
    best : int
        Number of the target with the largest gain, on all questions.
    best_gains : array, shape (n,)
        The gain of each question by the policy and target that led before it.
    tried : int
        How many policies and targets there were to choose from.
    matters : float
        The smallest gain worth having.
    may_pay : bool
        Whether this judgement may say "pays".
    """

    rows: tuple[HeldOutRow, ...]
    gains: np.ndarray
    best: int
    best_gains: np.ndarray
    tried: int
    matters: float
    may_pay: bool

    @cached_property
    def gain(self) -> Interval:
        """The gain that is tested, with its ordinary interval."""
        return mean_interval(self.best_gains)

    @cached_property
    def least(self) -> float:
        """The lower bound of the best policy's gain, which decides on "pays"."""
        return self.least_of(1.0)

    @cached_property
    def most(self) -> np.ndarray:
        """The upper bound of the gain at every target, which decides on "does not pay"."""
        return self.most_of(1.0)

    def least_of(self, times: float) -> float:
        """Return the lower bound as if every question had come so many times."""
        return float(guarded_bound(self.best_gains, WRONG, self.rows[0].largest, times))

    def most_of(self, times: float) -> np.ndarray:
        """Return the upper bounds as if every question had come so many times."""
        return -np.asarray(guarded_bound(-self.gains, WRONG, self.rows[0].largest, times))

    def shown(self, times: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the ordinary intervals at every target, which readers see."""
        found = mean_interval(np.column_stack([row.gains for row in self.rows]))
        half = (found.high - found.mean) / np.sqrt(times)
        return found.mean - half, found.mean + half

    @cached_property
    def word(self) -> str:
        """The word: "pays", "does not pay" or "cannot tell"."""
        return self._word(1.0, self.least, self.most)

    def word_of(self, times: float) -> str:
        """Return the word as if every question had come so many times."""
        return self._word(times, self.least_of(times), self.most_of(times))

    def _word(self, times: float, least: float, most: np.ndarray) -> str:
        """Return the word that bounds allow; a gain's interval in sight must be above zero, too."""
        if self.may_pay and least > 0 and self.shown(times)[0][self.best] > 0:
            return "pays"
        return "does not pay" if np.all(most < self.matters) else "cannot tell"

    @cached_property
    def paying(self) -> list[int]:
        """Numbers of the targets at which it pays, the best first.

        Once it pays at all, every other target is tested by itself, and these tests share the
        chance of a false claim (Bonferroni).
        """
        if self.word != "pays":
            return []
        share = WRONG / len(self.rows)
        least = np.atleast_1d(guarded_bound(self.gains, share, self.rows[0].largest))
        sure = (least > 0) & (self.shown()[0] > 0)
        others = [number for number in np.flatnonzero(sure).tolist() if number != self.best]
        return [self.best, *others]

    @property
    def needed(self) -> float:
        """About how many questions could tell, if the others were like these."""
        times = 1.0
        while times < _MOST_TIMES and self.word_of(times) == "cannot tell":
            times *= 1.1
        return times * len(self.rows[0].gains)

    @property
    def survives_chance(self) -> bool:
        """Whether chance leaves a gain, if no loss is larger than those in sight."""
        return bool(cautious_bound(self.best_gains, WRONG, most=0.0) > 0)

    @property
    def unit(self) -> str:
        """What the gains are counted by, one of them."""
        return "group" if self.rows[0].families else "question"

    def points(self, number: int) -> str:
        """Write the gain of the row chosen at a target, in points with its interval."""
        row = self.rows[number]
        return _with_ends(row.gain, row.gain_low, row.gain_high)

    def choice(self, number: int) -> str:
        """Name the policy chosen at a target, with its gain."""
        row = self.rows[number]
        points = self.points(number).replace(" ", " points ", 1)
        return f"{row.policy} at target {row.target:g} gains {points}"


def _with_ends(gain: Any, low: Any, high: Any) -> str:
    """Write a gain in points with its interval, if it has one."""
    ends = "" if low is None or high is None else f" [{in_points(low, 2)}, {in_points(high, 2)}]"
    return in_points(gain, 2) + ends


def _headline(found: Judgement) -> str:
    """The verdict, the policy, its gain, and what stands against it."""
    row = found.rows[found.best]
    best = f"{found.choice(found.best)} over {_BAR}"
    if found.word == "pays":
        least = "no number for everyone is right as often"
        if row.mix_cost is not None:
            least = f"to be right as often, everyone would need {row.mix_cost:.2f}"
        return f"Adaptive allocation pays: {best}, at a cost of {row.cost:.2f}; {least}."
    if found.word == "does not pay":
        points = f"{100 * found.matters:g} point" + "s" * (found.matters != 0.01)
        luck = f", and without the luck of the best of {found.tried} tries it would be less"
        close = found.shown()[1][found.best] >= found.matters
        return (
            f"Adaptive allocation does not pay: no gain reaches {points}; at best {best}"
            f"{luck if close else ''}."
        )
    number = f"{len(row.gains):,} {found.unit}s"
    needed = f"{float(f'{found.needed:.2g}'):,.0f}"
    return (
        f"Cannot tell with these {number} whether adaptive allocation pays: at best {best}, "
        f"{_doubt(found)}; about {needed} would do."
    )


def _doubt(found: Judgement) -> str:
    """Why a gain does not count yet, for somebody who sees nothing but its interval."""
    if found.shown()[0][found.best] <= 0:
        return "which may be chance"
    if found.tried > 1 and not found.survives_chance:
        return f"but that is the best of {found.tried} tries, and the luckiest of many looks good"
    return (
        f"but these {len(found.rows[0].gains):,} may lack a rare kind of {found.unit} "
        "that loses everything, and allowing for it leaves no sure gain"
    )


def _other_targets(found: Judgement) -> list[str]:
    """At which other targets it pays, and at which that is not shown."""
    if not found.paying:
        return []
    pays = [found.choice(number) for number in found.paying if number != found.best]
    not_shown = [
        found.choice(number) for number in range(len(found.rows)) if number not in found.paying
    ]
    sentences = [f"It pays too with {', '.join(pays)}."] if pays else []
    if not_shown:
        sentences.append(f"Not shown once rare losses are allowed for: {', '.join(not_shown)}.")
    return sentences


def _method(found: Judgement) -> str:
    """How gains were scored, and what rare losses could hide."""
    n = len(found.best_gains)
    unseen = hidden_loss(n)
    points = 100 * found.rows[0].largest * unseen
    return (
        f"Gains are over {_BAR}, at equal cost, with ordinary 95% intervals. The best of "
        f"{found.tried} tries looks better than it is, so what is tested is a gain without that "
        f"luck, where each of the {found.unit}s was scored by the policy that gained most on those "
        f"before it: {_with_ends(found.gain.mean, found.gain.low, found.gain.high)}. "
        f"Among {n:,} {found.unit}s, up to {unseen:.1%} that lose everything may stay unseen "
        f"({points:.1f} points), so the gain must be too large for that as well as for chance."
    )


def _by_groups(found: Judgement) -> str:
    """The verdict on groups that were seen, next to that on questions."""
    doubt = f", {_doubt(found)}" if found.word == "cannot tell" else ""
    return (
        f"On questions of new groups, of which there seem to be {len(found.rows[0].gains):,} here, "
        f"it {_SHORT[found.word]}: {found.choice(found.best)}{doubt}."
    )


def _before(found: Judgement) -> str:
    """What can be decided before asking."""
    word = "pays too" if found.word == "pays" else _SHORT[found.word]
    few = f" (too few {found.unit}s)" if found.word == "cannot tell" else ""
    choices = ", ".join(map(found.choice, found.paying or [found.best]))
    return f"Deciding before asking {word}{few}: {choices}."


def _room(oracle: HeldOutRow) -> str:
    """What an oracle gains at the same target."""
    gain = _with_ends(oracle.gain, oracle.gain_low, oracle.gain_high).replace(" ", " points ", 1)
    return (
        "The cross-fitted oracle, which saw other answers to the questions but must decide first, "
        f"gains {gain} there; a policy that stops while answers come in may gain more."
    )
