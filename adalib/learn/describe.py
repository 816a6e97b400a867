"""What a policy knows of a question before it is asked: the features of its text, and an embedding.

A text is described here alone, so that what is evaluated and what is served cannot differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import TEXT_FEATURES, text_values

#: Columns of the embedding: enough to tell vocabularies apart, and quick to grow trees on.
DIMS = 4
#: Names of the columns that `describe` returns; the last ones only where there is an embedding.
DESCRIBED = (*TEXT_FEATURES[:-1], *(f"embedding_{j}" for j in range(DIMS)))


def describe(train: Sequence[str] | TextEmbedding | None, texts: Sequence[str]) -> np.ndarray:
    """Describe texts by their features and by an embedding that was learned from other texts.

    Parameters
    ----------
    train : sequence of str, TextEmbedding or None
        The texts to learn the embedding from, or the one that `embedding_of` learned from them.
        Without it, or if all those texts are blank, there are the features alone.
    texts : sequence of N str
        The texts to describe.

    Returns
    -------
    ndarray, shape (N, 15) or (N, 15 + DIMS)
        Its columns are those of `DESCRIBED`.

    Examples
    --------
    >>> describe(["3 red hens", "two trains meet"], ["5 red hens"]).shape
    (1, 19)
    """
    embedding = train if isinstance(train, TextEmbedding) or train is None else embedding_of(train)
    if embedding is None:
        return text_values(texts)
    # One text after the other, because a served question comes alone and must get these digits.
    embedded = [embedding.embed(text) for text in texts]
    return np.column_stack([text_values(texts), np.reshape(embedded, (-1, embedding.dims))])


def embedding_of(questions: Sequence[str]) -> TextEmbedding | None:
    """Return the embedding that policies read, learned from questions; None if all are blank."""
    if not any(question.strip() for question in questions):
        return None
    return TextEmbedding(DIMS).fit(questions)
