"""The verdict: does adaptive allocation pay on these questions, where, and with which policy?

Many policies are tried at several targets, and the best of them looks good by luck. So the
questions are put in random order, and each is scored by the policy that gained most on the
questions before it. No question judges a choice in which it had a part, and nearly all of them
count. That chain of gains takes one test, with a bound that allows for rare losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from adalib.evaluate.intervals import (
    Interval,
    cautious_bound,
    hidden_loss,
    in_points,
    mean_interval,
)
from adalib.evaluate.scores import HeldOutRow

_FIRST = 1 / 20  # of the questions only choose, since there is none before them

#: Chance of a false claim by each test. The approximations then stay within 5%.
WRONG = 0.04

_MOST_TIMES = 1e4  # times the questions at hand: more are not asked for

#: Groups below which a verdict by group can hardly ever say that anything pays.
FEW_GROUPS = 60
_FEW = f"Below about {FEW_GROUPS} groups a verdict by group has almost no power."


def verdict(
    rows: Sequence[HeldOutRow],
    matters: float = 0.01,
    groups: Sequence[HeldOutRow] | None = None,
) -> str:
    """Say in a sentence whether adaptive allocation pays, with which policy, and what it saves.

    Adaptive allocation *pays* if a policy gains over the best random mix of the same cost. The
    questions are put in random order. Each is scored by the policy and target that gained most
    on the questions before it, and the mean of these gains is tested once, by `cautious_bound`.
    Adaptive allocation *does not pay* if at every target the upper bound of the gain, computed
    in the same way, is below a gain that ``matters``. Otherwise the questions *cannot tell*, and
    the verdict estimates how many would. Each of the two claims is false in at most 5% of
    cases, also if a few questions or groups lose a lot.

    A verdict by question is about new questions of the same families. Where questions come in
    families, and none are named, it claims a gain on other families far too often; so where
    `adalib.datasets.folds.seen_groups` finds some, hold out whole groups as well, and give
    those rows as ``groups``. Below about 60 groups a verdict by group has almost no power: one
    group in twenty that loses everything stays unseen.

    The intervals in the text are the ordinary ones of `mean_interval`. `reasons` says how the gain
    was tested. Explained in the chapter "The test".

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
    str
        A sentence for each verdict, without a line break.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null, held_out
    >>> rows = held_out(flat_null(40).sample(8), [2], (1, 4), learners={"curve": CurvePolicy()})
    >>> verdict(rows).partition(":")[0]
    'Cannot tell with these 40 questions whether adaptive allocation pays'
    """
    main = judgements(rows, matters)[0]
    sentences = [_headline(main)]
    if groups is not None and judgements(groups, matters)[0].word() != main.word():
        sentences.append(_by_groups(judgements(groups, matters)[0]))
    return " ".join(sentences)


def reasons(
    rows: Sequence[HeldOutRow],
    matters: float = 0.01,
    groups: Sequence[HeldOutRow] | None = None,
) -> str:
    """Say how a `verdict` was tested, and what it leaves out.

    These are the luck of the best, rare losses, the other targets, the policies that decide before
    asking, what an oracle gains where nothing pays, and new groups.

    Parameters
    ----------
    rows, matters, groups
        As for `verdict`.

    Returns
    -------
    str
        A few sentences without a line break.

    Examples
    --------
    >>> from adalib import CurvePolicy, flat_null, held_out
    >>> rows = held_out(flat_null(40).sample(8), [2], (1, 4), learners={"curve": CurvePolicy()})
    >>> reasons(rows).partition(",")[0]
    'Gains are over the best random mix at equal cost'
    """
    main, *before = judgements(rows, matters)
    sentences = [_method(main), *_other_targets(main)]
    if main.word() != "pays":
        best = main.rows[main.best].target
        sentences += [_room(row) for row in rows if row.policy == "oracle" and row.target == best]
    sentences += map(_before, before)
    if groups is not None:
        sentences.append(_by_groups(judgements(groups, matters)[0]))
    counted = main.rows[0] if groups is None else groups[0]
    if counted.families and len(counted.gains) < FEW_GROUPS:
        sentences.append(_FEW)
    return " ".join(sentences)


def summary(rows: Sequence[HeldOutRow], dollars: float | None = None) -> pd.DataFrame:
    """Tabulate, per target and in points, the best mix and the policies that `verdict` chose.

    The last column is the cost at which a mix would be as accurate as the best policy. Where an
    average answer costs ``dollars``, both bills for a thousand questions follow.
    """
    found = judgements(rows)
    names = ["best policy"] if len(found) == 1 else ["before asking", "best policy"]
    lines = []
    for number, best in enumerate(found[0].rows):
        mix = next(row for row in rows if (row.policy, row.target) == ("mix", best.target))
        line = {"budget": f"{best.target:g}"}
        line["best mix"] = f"{100 * mix.accuracy:.1f} [{100 * mix.low:.1f}, {100 * mix.high:.1f}]"
        for name, judgement in zip(names, found[::-1], strict=True):
            line[name] = f"{judgement.rows[number].policy} {judgement.points(number)}"
        line["waiting"] = "–" if best.waiting is None else f"{best.waiting:.2f}"
        line["mix needs"] = "–" if best.mix_cost is None else f"{best.mix_cost:.2f}"
        if dollars is not None:
            line["$ per 1,000"] = f"{1000 * dollars * best.cost:.3g}"
            needs = best.mix_cost
            line["mix, $"] = "–" if needs is None else f"{1000 * dollars * needs:.3g}"
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
    return [main, judge(planned, matters, may_pay=main.word() == "pays")]


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
    matters : float
        The smallest gain worth having.
    may_pay : bool
        Whether this judgement may say "pays".
    """

    rows: tuple[HeldOutRow, ...]
    gains: np.ndarray
    best: int
    best_gains: np.ndarray
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
        return float(cautious_bound(self.best_gains, WRONG, self.rows[0].largest, times))

    def most_of(self, times: float) -> np.ndarray:
        """Return the upper bounds as if every question had come so many times."""
        return -np.asarray(cautious_bound(-self.gains, WRONG, self.rows[0].largest, times))

    def word(self, times: float = 1.0) -> str:
        """Return "pays", "does not" or "cannot tell"."""
        if self.may_pay and (self.least if times == 1 else self.least_of(times)) > 0:
            return "pays"
        most = self.most if times == 1 else self.most_of(times)
        return "does not" if np.all(most < self.matters) else "cannot tell"

    @cached_property
    def paying(self) -> list[int]:
        """Numbers of the targets at which it pays, the best first.

        Once it pays at all, every other target is tested by itself, and these tests share the
        chance of a false claim (Bonferroni).
        """
        if self.word() != "pays":
            return []
        share = WRONG / len(self.rows)
        least = np.atleast_1d(cautious_bound(self.gains, share, self.rows[0].largest))
        others = [number for number in np.flatnonzero(least > 0).tolist() if number != self.best]
        return [self.best, *others]

    @property
    def needed(self) -> float:
        """About how many questions could tell, if the others were like these."""
        times = 1.0
        while times < _MOST_TIMES and self.word(times) == "cannot tell":
            times *= 1.1
        return times * len(self.rows[0].gains)

    @property
    def unit(self) -> str:
        """What the gains are counted by."""
        return "groups" if self.rows[0].families else "questions"

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
    """The verdict, the policy, and its gain."""
    row = found.rows[found.best]
    best = found.choice(found.best)
    if found.word() == "pays":
        least = "no mix is as often right"
        if row.mix_cost is not None:
            least = f"a mix would have to spend {row.mix_cost:.2f} to be as often right"
        return (
            f"Adaptive allocation pays: {best} over the best random mix of its cost, "
            f"{row.cost:.2f}; {least}."
        )
    if found.word() == "does not":
        return (
            f"Adaptive allocation does not pay: no gain over the best random mix reaches "
            f"{100 * found.matters:g} points; at most {best}."
        )
    number = f"{len(found.rows[0].gains):,} {found.unit}"
    needed = f"{float(f'{found.needed:.2g}'):,.0f}"
    return (
        f"Cannot tell with these {number} whether adaptive allocation pays: at most {best}; "
        f"about {needed} would do."
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
        "Gains are over the best random mix at equal cost, with ordinary 95% intervals. The best "
        "of many looks better than it is, so what is tested is a gain without that luck, where "
        f"each of the {found.unit} was scored by the policy that gained most on those before it: "
        f"{_with_ends(found.gain.mean, found.gain.low, found.gain.high)}. "
        f"Among {n:,} {found.unit}, up to {unseen:.1%} that lose everything may stay unseen "
        f"({points:.1f} points), which the verdict allows for."
    )


def _by_groups(found: Judgement) -> str:
    """The verdict on groups that were seen, next to that on questions."""
    words = {"pays": "pays", "does not": "does not pay", "cannot tell": "may or may not pay"}
    number = len(found.rows[0].gains)
    return (
        f"On questions of new groups, of which there seem to be {number:,} here, it "
        f"{words[found.word()]}: {found.choice(found.best)}."
    )


def _before(found: Judgement) -> str:
    """What can be decided before asking."""
    words = {
        "pays": "pays too",
        "does not": "does not pay",
        "cannot tell": f"may or may not pay (too few {found.unit})",
    }
    choices = ", ".join(map(found.choice, found.paying or [found.best]))
    return f"Deciding before asking {words[found.word()]}: {choices}."


def _room(oracle: HeldOutRow) -> str:
    """What an oracle gains at the same target."""
    gain = _with_ends(oracle.gain, oracle.gain_low, oracle.gain_high).replace(" ", " points ", 1)
    return (
        "The cross-fitted oracle, which saw other answers to the questions but must decide first, "
        f"gains {gain} there; a policy that stops while answers come in may gain more."
    )
