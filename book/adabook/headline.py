"""The headline gain by its causes, read from the record that ``data/record_headline.py`` wrote."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adabook.recorded import recorded_cells
from adalib.evaluate.intervals import Interval


@dataclass(frozen=True)
class Causes:
    """What weighted votes and stopping gain at equal cost over the best random mix of plain votes.

    Attributes
    ----------
    questions : int
        Questions that the intervals are over.
    together : Interval
        The policy that weights its votes by certainty and stops, over the mix of plain votes.
    weighting : Interval
        A mix whose votes are weighted by certainty, over the mix of plain votes.
    stopping : Interval
        The policy over the mix with the same weighted votes; with ``weighting`` it adds up to
        ``together``.
    text : Interval
        The policy over one that weights its votes and stops without reading the question.
    plain : Interval
        Stopping by plain votes over the mix of plain votes.
    share, plain_share : Interval
        What stopping takes of the oracle's gain on equal terms, on the book's 300 questions:
        policy, mix and oracle all with weighted votes, or all with plain ones.
    share_of_all : Interval
        ``share`` over the same questions as ``stopping``. The further questions have half as many
        answers to find the oracle's labels from, which makes it a weaker bar.
    few_taught : Interval
        ``stopping`` if 240 questions teach the policy, as many as the book's 300 questions allow.
    deals : tuple of float
        The mean of ``stopping`` in every recorded way of dealing the questions into folds and
        halves; the first is the book's own.
    """

    questions: int
    together: Interval
    weighting: Interval
    stopping: Interval
    text: Interval
    plain: Interval
    share: Interval
    plain_share: Interval
    share_of_all: Interval
    few_taught: Interval
    deals: tuple[float, ...]


def headline(benchmark: str, target: float, *, everything: bool = True) -> Causes:
    """Read the causes of the gain on one benchmark at one budget.

    Parameters
    ----------
    benchmark : {"gsm8k", "math"}
    target : float
        Average answers per question, one of 1.5, 2, 3, 4, 6 and 8.
    everything : bool
        Take all questions that were asked; with False only the book's 300.

    Examples
    --------
    >>> found = headline("gsm8k", 3, everything=False)
    >>> found.questions, round(100 * found.weighting.mean, 1), round(100 * found.stopping.mean, 1)
    (300, 2.1, 1.7)
    """
    record = recorded_cells("headline")
    part = f"{benchmark}-all" if everything else benchmark
    cells = record[part]
    policy = cells["all three", target]
    few = record[f"{part}, 240 taught" if everything else part]["all three", target]
    weighted = ("all three", "oracle_weighted", "mix_weighted")
    deals = [part, *sorted(name for name in record if name.startswith(f"{part}, deal"))]
    return Causes(
        questions=policy["questions"],
        together=Interval(*policy["over"]["mix"]),
        weighting=Interval(*cells["mix_weighted", target]["over"]["mix"]),
        stopping=Interval(*policy["over"]["mix_weighted"]),
        text=Interval(*policy["over"]["votes + certainty"]),
        plain=Interval(*cells["votes", target]["over"]["mix"]),
        share=_share(record[benchmark], target, *weighted),
        plain_share=_share(record[benchmark], target, "votes", "oracle", "mix"),
        share_of_all=_share(cells, target, *weighted),
        few_taught=Interval(*few["over"]["mix_weighted"]),
        deals=tuple(record[deal]["all three", target]["over"]["mix_weighted"][0] for deal in deals),
    )


def _share(
    cells: dict[tuple[str, float], dict], target: float, policy: str, oracle: str, mix: str
) -> Interval:
    """Divide the policy's lead over the mix by the oracle's."""
    leads = cells[policy, target]["over"]
    return ratio_interval(
        Interval(*leads[mix]),
        Interval(*cells[oracle, target]["over"][mix]),
        Interval(*leads[oracle]),
    )


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
