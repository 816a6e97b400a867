"""The verdict: does adaptive allocation pay here? Policies are chosen on some questions and scored on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from adalib.evaluate.heldout import HeldOutRow
from adalib.evaluate.intervals import Interval, in_points, mean_interval, question_interval
from adalib.evaluate.trials import BASELINES, STOPPING

__all__ = ["Judgement", "judged", "summary", "verdict"]

_CHOOSE = 1 / 3  # of the questions choose a policy; the others score it
_WRONG = 0.05  # chance that any interval of a verdict misses
_UNSPENT = 0.05  # of a budget: what is worth a word
_MOST = 1e4  # times the questions at hand: nobody is told to find more


def verdict(rows: Sequence[HeldOutRow], matters: float = 0.01) -> str:
    """Say whether adaptive allocation pays: at which target, with which policy, and what it saves.

    At every target a random third of the questions chooses the policy with the largest gain, and the others score it,
    so that no question judges a policy that it helped to choose. (Choosing by turns, as in cross-validation, would use
    more of them; but the turns depend on one another, and an interval that does not know it is too short.) The
    intervals share 5% (Bonferroni), hence they all hold together with 95%. Adaptive allocation *pays* where one lies
    above 0. It *does not pay* where all end below a gain that ``matters``. Otherwise the questions *cannot tell*, and
    the verdict says about how many would. Where stopping rules were tried, what can be decided before asking is judged
    separately. Explained in chapter 7, "Results", and chapter 9, "When to stop".

    Parameters
    ----------
    rows : sequence of HeldOutRow
        As `adalib.held_out` returns them.
    matters : float
        The smallest gain of accuracy that would be worth having.
    """
    main, *before = judged(rows, matters)
    said = _main(main, [row for row in rows if row.policy == "oracle"])
    return " ".join([said, *map(_before, before)])


def summary(rows: Sequence[HeldOutRow]) -> pd.DataFrame:
    """One line a target, in points: the best mix, what `verdict` chose, and what a mix would spend to match it."""
    found, lines = judged(rows), []
    names = [*(["before asking"] if len(found) > 1 else []), "best policy"]
    for number, best in enumerate(found[0].rows):
        mix = next(row for row in rows if (row.policy, row.target) == ("mix", best.target))
        line = {"budget": f"{best.target:g}"}
        line["best mix"] = f"{100 * mix.accuracy:.1f} [{100 * mix.low:.1f}, {100 * mix.high:.1f}]"
        line |= {name: kind.told(number, short=True) for name, kind in zip(names, found[::-1], strict=True)}
        lines.append(line | {"mix needs": "–" if best.mix_cost is None else f"{best.mix_cost:.2f}"})
    return pd.DataFrame(lines)


def judged(rows: Sequence[HeldOutRow], matters: float = 0.01) -> list[Judgement]:
    """What `verdict` puts into words: of all policies and, where some are stopping rules, of those that are not."""
    tried = [row for row in rows if row.policy not in (*BASELINES, "noise")]
    if not tried:
        raise ValueError("no row is of a policy that learns; give held_out at least one learner")
    planned = [row for row in tried if row.policy not in STOPPING]
    kinds = [tried] if len(planned) in (0, len(tried)) else [tried, planned]
    targets = sorted({row.target for row in tried})
    level = 1 - _WRONG / (len(kinds) * len(targets))
    found = [zip(*(_chosen(kind, target) for target in targets), strict=True) for kind in kinds]
    return [Judgement(level, matters, *parts) for parts in found]


def _chosen(rows: Sequence[HeldOutRow], target: float) -> tuple[HeldOutRow, np.ndarray]:
    """The row that is best on some questions, and its gains on the others."""
    here = [row for row in rows if row.target == target]
    n = len(here[0].gains)
    choose = np.random.default_rng(0).permutation(n) < max(round(_CHOOSE * n), 1)
    best = max(here, key=lambda row: row.gains[choose].mean())
    return best, best.gains[~choose]


@dataclass(frozen=True, eq=False)
class Judgement:
    """What is chosen at every target, and the gains of the choices on questions that had no part in them."""

    level: float
    matters: float
    rows: tuple[HeldOutRow, ...]
    gains: tuple[np.ndarray, ...]

    @cached_property
    def gain(self) -> Interval:
        """The mean gain at every target, with its interval."""
        return self.gain_of(1.0)

    def gain_of(self, times: float) -> Interval:
        """As if every question had come so many times."""
        gains = np.column_stack(self.gains)
        if self.rows[0].families:
            return mean_interval(gains, self.level, times)
        most = max(1.0, np.abs(gains).max())  # copies of a question may add up to more
        return question_interval(gains, self.level, (-most, most), times)

    def word(self, times: float = 1.0) -> str:
        """One of "pays", "does not" and "cannot tell"."""
        gain = self.gain if times == 1 else self.gain_of(times)
        if np.any(np.asarray(gain.low) > 0):
            return "pays"
        return "does not" if np.all(np.asarray(gain.high) < self.matters) else "cannot tell"

    @property
    def paying(self) -> list[int]:
        """The targets at which it pays, by number."""
        return np.flatnonzero(np.asarray(self.gain.low) > 0).tolist()

    @property
    def most(self) -> int:
        """The target at which the gain may be the largest."""
        return int(np.argmax(self.gain.high))

    @property
    def needed(self) -> float:
        """About how many questions would tell, were the others like these."""
        times = 1.0
        while times < _MOST and self.word(times) == "cannot tell":
            times *= 1.1
        return times * len(self.rows[0].gains)

    def told(self, number: int, more: str = "", short: bool = False) -> str:
        """A policy and its gain; ``short`` for a table, which names target and unit elsewhere."""
        row = self.rows[number]
        gain, low, high = (np.asarray(part)[number] for part in (self.gain.mean, self.gain.low, self.gain.high))
        if short:
            return f"{row.policy} {_points(gain, low, high).replace(' points', '')}"
        return f"{row.policy} at target {row.target:g} ({_points(gain, low, high)}{more})"


def _main(found: Judgement, oracles: list[HeldOutRow]) -> str:
    """The main sentence, and how it was found."""
    most, unit = found.told(found.most), "groups" if found.rows[0].families else "questions"
    how = (
        f"Gains are over the best random mix at equal cost; a third of the {unit} chose the policies and the others "
        "scored them; the intervals hold jointly with 95% confidence."
    )
    if found.word() == "pays":
        use = ", ".join(found.told(number, _saving(found.rows[number])) for number in found.paying)
        rest = ", ".join(found.told(number) for number in range(len(found.rows)) if number not in found.paying)
        return f"Adaptive allocation pays here: use {use}.{f' Not shown: {rest}.' if rest else ''} {how}"
    room = "".join(_room(row) for row in oracles if row.target == found.rows[found.most].target)
    if found.word() == "does not":
        large = f"no gain reaches {100 * found.matters:g} points"
        return f"Adaptive allocation does not pay here: {large}; at most {most}. {how}{room}"
    few = f"Cannot tell with these {len(found.rows[0].gains):,} {unit} whether to allocate adaptively"
    return f"{few}; about {float(f'{found.needed:.2g}'):,.0f} would do: {most}. {how}{room}"


def _before(found: Judgement) -> str:
    """What can be decided before asking."""
    word = {"pays": "pays too", "does not": "does not pay", "cannot tell": "may or may not pay (too few questions)"}
    return f"Deciding before asking {word[found.word()]}: {', '.join(map(found.told, found.paying or [found.most]))}."


def _saving(row: HeldOutRow) -> str:
    """What a policy has, and what a mix would pay for that."""
    spent = "more than any mix has" if row.mix_cost is None else f"what a mix has for {row.mix_cost:.2f}"
    allowed = f" of the {row.target:g} allowed" if row.cost < (1 - _UNSPENT) * row.target else ""
    return f"; {row.accuracy:.4f} for {row.cost:.2f}{allowed}, {spent}"


def _room(oracle: HeldOutRow) -> str:
    """What an oracle could gain there."""
    gain = _points(oracle.gain, oracle.gain_low, oracle.gain_high)
    return f" The cross-fitted oracle, which reads the answer key, gains {gain} there."


def _points(gain: float, low: float | None, high: float | None) -> str:
    ends = "" if low is None or high is None else f" [{in_points(low, 2)}, {in_points(high, 2)}]"
    return f"{in_points(gain, 2)} points{ends}"
