"""The bill of a policy, and of the best random mix that is as often right, by a price list that the reader edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["PriceList", "bill"]


@dataclass(frozen=True)
class PriceList:
    """What an endpoint charges, and how long prompts and answers are.

    Explained in chapter 11, "Deploy".

    Attributes
    ----------
    read, cached, written : float
        Dollars per million tokens: of a prompt, of a prompt that was just sent, and of an answer.
    prompt, answer : float
        Tokens of a prompt and of an answer.
    questions : float
        A day.

    Examples
    --------
    >>> round(PriceList(read=2, cached=1, written=8, prompt=500, answer=250).dollars(3), 6)
    0.008
    """

    read: float = 0.4
    cached: float = 0.1
    written: float = 1.6
    prompt: float = 250
    answer: float = 300
    questions: float = 10_000

    def dollars(self, answers: float) -> float:
        """What a question costs that gets so many answers: the first reads the prompt, the next ones from a cache."""
        read = self.prompt * (self.read + (answers - 1) * self.cached)
        return (read + answers * self.answer * self.written) / 1e6


def bill(
    rows: Sequence[tuple[float, float, float | None]], most: float, focus: int = 0, prices: PriceList | None = None
) -> HTML:
    """Put the price list and its bill on the page: make it the last expression of a cell.

    Explained in chapter 11, "Deploy".

    Parameters
    ----------
    rows : sequence of (answers, accuracy, answers of the mix)
        A row a budget: what the policy spent and how often it was right, and what the best random mix spends to be
        right as often, None where no mix is.
    most : float
        Most answers that a mix may ask.
    focus : int
        The row that the sentence below the table speaks of.
    prices : PriceList
        Where the reader begins.
    """
    data = {"prices": asdict(prices or PriceList()), "rows": [list(row) for row in rows], "most": most, "focus": focus}
    return fragment("bill", data, "This bill is added up with JavaScript.")
