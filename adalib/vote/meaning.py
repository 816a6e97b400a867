"""When two answers in words mean the same: by the user's own function, or by embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from adalib.vote.answers import same_answer
from adalib.vote.kinds import imported_function
from adalib.vote.plain import COMMAND, NUMBER, TRUTH, WORD, plain_form

Embed = Callable[[Sequence[str]], Awaitable[list[list[float]]]]  # texts -> one vector each


class Meaning:
    """Find the answer in words that means the same as a new one.

    Numbers, letters, formulas, yes and no are never merged by meaning, nor are words with different
    numbers in them.

    Parameters
    ----------
    function : str, optional
        The user's own ``module:function``, called with two answers; true where they mean the same.
    embed : callable, optional
        Returns a vector per text; used in place of the function.
    cosine : float
        Two answers mean the same if the cosine of their vectors is at least this.
    """

    def __init__(self, function: str = "", embed: Embed | None = None, cosine: float = 0.8) -> None:
        self.means_same = imported_function(function) if function else same_answer
        self.embed = embed
        self.cosine = cosine

    async def find(self, new: str, candidates: Sequence[str]) -> str | None:
        """Return the candidate that means the same as the new answer, or None."""
        numbers = _numbers_in_words(new)
        if numbers is None:
            return None
        words = [answer for answer in candidates if _numbers_in_words(answer) == numbers]
        if not words:
            return None
        if self.embed is None:
            return await asyncio.to_thread(self._first_that_means, new, words)
        vectors = np.array(await self.embed([new, *words]))
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = vectors[1:] @ vectors[0]
        nearest = int(cosines.argmax())
        return words[nearest] if cosines[nearest] >= self.cosine else None

    def _first_that_means(self, new: str, words: Sequence[str]) -> str | None:
        """Return the first answer for which the function is true; it may be slow or wait."""
        return next((answer for answer in words if self.means_same(answer, new)), None)


def _numbers_in_words(answer: str) -> list[str] | None:
    """Return the numbers in an answer in words; None if it is a figure, letter or formula.

    Yes and no are not numbers either.
    """
    plain = plain_form(answer)
    in_words = WORD.search(COMMAND.sub(" ", plain)) and not TRUTH.fullmatch(plain)
    return NUMBER.findall(plain) if in_words else None
