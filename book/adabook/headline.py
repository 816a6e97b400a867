"""The headline gain by its causes, read from the record that ``data/record_headline.py`` wrote."""

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
    oracle : Interval
        The static oracle with weighted votes over the mix with weighted votes.
    share : Interval
        ``stopping`` divided by ``oracle``, on the 300 questions with 96 answers: with fewer
        answers the oracle's curves are poorly estimated.
    """

    questions: int
    together: Interval
    weighting: Interval
    stopping: Interval
    text: Interval
    plain: Interval
    oracle: Interval
    share: Interval


def headline(benchmark: str, target: float, *, everything: bool = True) -> Causes:
    """Read the causes of the gain on one benchmark at one budget.

    Parameters
    ----------
    benchmark : {"gsm8k", "math"}
    target : float
        Average answers per question, one of 1.5, 2, 3, 4, 6 and 8.
    everything : bool
        Take all questions that were asked; with False only the 300 with 96 answers.

    Examples
    --------
    >>> found = headline("gsm8k", 3)
    >>> found.questions, round(100 * found.weighting.mean, 1), round(100 * found.stopping.mean, 1)
    (1079, 2.3, 2.9)
    """
    part = f"{benchmark}-all" if everything else benchmark
    first = recorded_cells("headline")[part]["all three", target]
    stopping = _lead(benchmark, target, "all three", "mix_weighted")
    oracle = _lead(benchmark, target, "oracle_weighted", "mix_weighted")
    difference = _lead(benchmark, target, "all three", "oracle_weighted")
    return Causes(
        questions=first["questions"],
        together=_lead(part, target, "all three", "mix"),
        weighting=_lead(part, target, "mix_weighted", "mix"),
        stopping=_lead(part, target, "all three", "mix_weighted"),
        text=_lead(part, target, "all three", "votes + certainty"),
        plain=_lead(part, target, "votes", "mix"),
        oracle=_lead(part, target, "oracle_weighted", "mix_weighted"),
        share=ratio_interval(stopping, oracle, difference),
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


def ratio_interval(part: Interval, whole: Interval, difference: Interval) -> Interval:
    """Return the ratio of two means over the same questions with Fieller's interval.

    A ratio r is inside if Student's interval of the mean of ``part - r * whole`` holds zero. That
    interval follows from those of ``part``, ``whole`` and ``difference = part - whole``, because
    the three half-widths give the covariance. If the interval of ``whole`` holds zero, no ratio
    is excluded.

    Examples
    --------
    >>> found = ratio_interval(Interval(1, 0, 2), Interval(2, 1, 3), Interval(-1, -2, 0))
    >>> found.mean, round(found.low, 2), round(found.high, 2)
    (0.5, 0.0, 1.0)
    """
    ratio = part.mean / whole.mean
    of_part, of_whole, of_difference = (
        ((interval.high - interval.low) / 2) ** 2 for interval in (part, whole, difference)
    )
    both = (of_part + of_whole - of_difference) / 2
    # The ends are the roots of square * r**2 - 2 * middle * r + constant.
    square = whole.mean**2 - of_whole
    middle = part.mean * whole.mean - both
    constant = part.mean**2 - of_part
    if square <= 0:
        return Interval(ratio, -math.inf, math.inf)
    root = math.sqrt(max(middle**2 - square * constant, 0.0))
    return Interval(ratio, (middle - root) / square, (middle + root) / square)
