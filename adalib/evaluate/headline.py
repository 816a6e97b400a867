"""The headline gain by its causes, read from the record that ``data/record_headline.py`` wrote."""

from __future__ import annotations

from dataclasses import dataclass

from adalib.evaluate.intervals import Interval
from adalib.evaluate.recorded import recorded_cells

__all__ = ["Causes", "headline"]


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
    plain : Interval
        Stopping by plain votes over the mix of plain votes.
    share, plain_share : float
        What stopping takes of the oracle's gain on equal terms, on the book's 300 questions:
        policy, mix and oracle all with weighted votes, or all with plain ones. (The further
        questions have half as many answers to find the oracle's labels from, which makes it a
        weaker bar.)
    deals : tuple of float
        The mean of ``stopping`` in every recorded way of dealing the 300 questions into folds and
        halves.
    """

    questions: int
    together: Interval
    weighting: Interval
    stopping: Interval
    plain: Interval
    share: float
    plain_share: float
    deals: tuple[float, ...]


def headline(benchmark: str, target: float, *, everything: bool = True) -> Causes:
    """Read the causes of the gain on one benchmark at one budget.

    Parameters
    ----------
    benchmark : {"gsm8k", "math"}
    target : float
        Average answers per question, one of 1.5, 2, 3, 4, 6 and 8.
    everything : bool
        Take all questions that were asked, where the record has them; with False only the book's
        300.

    Examples
    --------
    >>> found = headline("gsm8k", 3, everything=False)
    >>> found.questions, round(100 * found.weighting.mean, 1), round(100 * found.stopping.mean, 1)
    (300, 2.1, 1.7)
    """
    record = recorded_cells("headline")
    part = f"{benchmark}-all"
    cells = record[part if everything and part in record else benchmark]
    policy = cells["all three", target]
    book = {name: cell for (name, budget), cell in record[benchmark].items() if budget == target}
    stopping_in_book = book["all three"]["over"]["mix_weighted"][0]
    oracle_in_book = book["oracle_weighted"]["over"]["mix_weighted"][0]
    deals = [benchmark, *sorted(name for name in record if name.startswith(f"{benchmark}, deal"))]
    return Causes(
        questions=policy["questions"],
        together=Interval(*policy["over"]["mix"]),
        weighting=Interval(*cells["mix_weighted", target]["over"]["mix"]),
        stopping=Interval(*policy["over"]["mix_weighted"]),
        plain=Interval(*cells["votes", target]["over"]["mix"]),
        share=stopping_in_book / oracle_in_book,
        plain_share=book["votes"]["gain"] / book["oracle"]["gain"],
        deals=tuple(record[deal]["all three", target]["over"]["mix_weighted"][0] for deal in deals),
    )
