"""What a router reads off a question before it asks: the features that `held_out` uses, kept for new questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_values

__all__ = ["Reader"]

_DIMS = 16


class Reader:
    """Turn questions into the features of `held_out`: `text_features`, and an embedding of the training questions.

    Examples
    --------
    >>> reader = Reader(["3 red hens", "4 red hens", "two trains meet"])
    >>> reader.read(["5 red hens"]).shape
    (1, 31)
    """

    def __init__(self, questions: Sequence[str] | None = None, embedding: TextEmbedding | None = None) -> None:
        self.embedding = embedding if questions is None else TextEmbedding(_DIMS).fit(questions)

    def read(self, questions: Sequence[str]) -> np.ndarray:
        """The features of some questions, a row each; a question's row does not depend on the others."""
        embedded = [self.embedding.embed(question) for question in questions]
        return np.column_stack([text_values(questions), np.array(embedded)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a file of JSON."""
        return {"embedding": self.embedding.to_dict()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Reader:
        """What `to_dict` gave."""
        return cls(embedding=TextEmbedding.from_dict(kept["embedding"]))
