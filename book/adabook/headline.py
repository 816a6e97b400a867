"""The headline gain by its causes, read from the record that ``record_headline.py`` wrote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from adabook.recorded import recorded_cells
from adalib.evaluate.intervals import Interval


@dataclass(frozen=True)
class Causes:
    """What weighted votes and stopping gain at equal cost, as means over five deals.

    A deal is a way of splitting the questions into folds and their answers into halves. Every
    interval covers questions and deals (`over_deals`).

    Attributes
    ----------
    questions : int
        Questions that the intervals are over.
    together : Interval
        The policy that weights its votes by certainty and stops, over the best mix of plain votes.
    weighting : Interval
        A mix whose votes are weighted by certainty, over the mix of plain votes.
    stopping : Interval
        The policy over the mix with the same weighted votes; with ``weighting`` it adds up to
        ``together``.
    text : Interval
        The part of ``stopping`` that is lost if the policy does not read the question.
    plain : Interval
        Stopping by plain votes over the mix of plain votes.
    signals : Interval
        What certainty and the text add to stopping by plain votes; with ``plain`` it adds up to
        ``together``, too.
    """

    questions: int
    together: Interval
    weighting: Interval
    stopping: Interval
    text: Interval
    plain: Interval
    signals: Interval


def headline(benchmark: str, target: float) -> Causes:
    """Read the causes of the gain on all questions of one benchmark at one budget.

    Parameters
    ----------
    benchmark : {"gsm8k", "math"}
    target : float
        Average answers per question, one of 1.5, 2, 3, 4, 6 and 8.

    Examples
    --------
    >>> found = headline("gsm8k", 3)
    >>> found.questions, round(100 * found.weighting.mean, 1), round(100 * found.stopping.mean, 1)
    (1079, 2.3, 2.9)
    """
    part = f"{benchmark}-all"
    first = recorded_cells("headline")[part]["all three", target]
    return Causes(
        questions=first["questions"],
        together=_lead(part, target, "all three", "mix"),
        weighting=_lead(part, target, "mix_weighted", "mix"),
        stopping=_lead(part, target, "all three", "mix_weighted"),
        text=_lead(part, target, "all three", "votes + certainty"),
        plain=_lead(part, target, "votes", "mix"),
        signals=_lead(part, target, "all three", "votes"),
    )


def _lead(part: str, target: float, policy: str, other: str) -> Interval:
    """A policy's lead over another, over the five deals of a part of the record."""
    record = recorded_cells("headline")
    deals = [part, *(name for name in record if name.startswith(f"{part}, deal"))]
    return over_deals([Interval(*record[deal][policy, target]["over"][other]) for deal in deals])


def over_deals(found: Sequence[Interval]) -> Interval:
    """Return the mean gain of several deals, with an interval over questions and deals.

    The deals share their questions, so averaging does not narrow the interval over questions: its
    half-width is the mean one. To this comes Student's half-width of the mean over the deals.

    >>> over_deals([Interval(1.0, 0.5, 1.5), Interval(1.0, 0.5, 1.5)])
    Interval(mean=1.0, low=0.5, high=1.5)
    """
    means = np.array([interval.mean for interval in found])
    of_questions = np.mean([(interval.high - interval.low) / 2 for interval in found])
    of_deals = stdtrit(len(means) - 1, 0.975) * means.std(ddof=1) / math.sqrt(len(means))
    half = math.hypot(of_questions, of_deals)
    mean = float(means.mean())
    return Interval(mean, mean - half, mean + half)


def averaged(rows: Sequence[dict], means: Sequence[str] = ("cost", "accuracy")) -> dict[str, float]:
    """Average one policy's recorded rows over their deals.

    The result has the ``means``, and the ``gain`` with ``low`` and ``high`` (`over_deals`). The
    mix, which gains nothing, has no gain in the record.
    """
    ends = [[row[end] or 0.0 for end in ("gain", "gain_low", "gain_high")] for row in rows]
    gain = over_deals([Interval(*one) for one in ends])
    figures = {name: float(np.mean([row[name] for row in rows])) for name in means}
    ends_of_gain = {"gain": gain.mean, "low": gain.low, "high": gain.high}
    return figures | {name: float(end) for name, end in ends_of_gain.items()}
