"""A text embedding from the field's own libraries: character n-grams, TF-IDF, and a truncated SVD.

Hand-made features look for what their author thought of. Here the training questions, and they only, say which
spellings go together: every text becomes the weights of its n-grams, and the SVD keeps the directions in which the
training texts differ most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from adalib.datasets.sealed import numbers, whole
from adalib.learn.features import check_texts

__all__ = ["TextEmbedding"]

_PART = 1000  # texts embedded at a time: their n-grams are thousands of bytes each, the result is not
_READ = 20_000  # characters of a text that are read: enough for a question, and a bound on what a huge one costs


class TextEmbedding:
    """Turn texts into a few numbers each, learned from the texts it is fitted on.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    dims : int
        Columns of the result. Directions that the training texts do not have are columns of zeros.
    ngrams : (int, int)
        Shortest and longest run of characters, within words.
    seed : int
        For the randomised SVD; the same seed and texts give the same numbers.

    Examples
    --------
    >>> embedding = TextEmbedding(dims=2).fit(["3 red hens", "4 red hens", "two trains meet"])
    >>> embedding.transform(["5 red hens"]).shape
    (1, 2)
    """

    def __init__(self, dims: int = 16, ngrams: tuple[int, int] = (2, 4), seed: int = 0) -> None:
        if dims < 1 or not 1 <= ngrams[0] <= ngrams[1]:
            raise ValueError(f"dims is {dims} and ngrams {ngrams}; give dims of 1 or more and an increasing pair")
        self.dims, self.ngrams, self.seed = dims, ngrams, seed
        self._tfidf: Any = None

    def fit(self, texts: Sequence[str]) -> TextEmbedding:
        """Learn n-grams, their weights and the directions from training texts; at least one must not be blank."""
        texts = _cut(texts)
        if not any(text.strip() for text in texts):
            raise ValueError("there is no text to learn from; give at least one that is not blank")
        tfidf = self._vectorizer(max_features=20_000)
        weights = tfidf.fit_transform(texts)
        svd = TruncatedSVD(min(self.dims, *weights.shape), random_state=self.seed)
        # One text has no spread, and scikit-learn divides by it to report a ratio that nobody reads here.
        with np.errstate(invalid="ignore", divide="ignore"):
            svd.fit(weights)
        return self._learned(tfidf, svd.components_)

    def transform(self, texts: Sequence[str]) -> pd.DataFrame:
        """Embed texts, seen or unseen: columns ``embedding_0`` on, all finite; a blank text is all zeros."""
        self._check_fitted()
        texts = _cut(texts)
        parts = (self._weights(texts[start : start + _PART]) for start in range(0, len(texts), _PART))
        values = np.vstack([np.zeros((0, self.dims)), *(weights @ self._directions for weights in parts)])
        return pd.DataFrame(values, columns=[f"embedding_{j}" for j in range(self.dims)])

    def embed(self, text: str) -> np.ndarray:
        """Embed one text, shape (dims,): what `transform` gives, without a table for a single row."""
        self._check_fitted()
        return (self._weights([text[:_READ]]) @ self._directions)[0]

    def _weights(self, texts: Sequence[str]) -> csr_matrix:
        """What scikit-learn's transform gives, ten times as fast: n-grams end at spaces, and words come again."""
        known, of_word = self._tfidf.vocabulary_, dict[str, list[int]]()
        places, ends = list[int](), [0]
        for text in texts:
            for word in text.lower().split():
                if word not in of_word:
                    of_word[word] = [known[ngram] for ngram in self._ngrams(word) if ngram in known]
                places += of_word[word]
            ends.append(len(places))
        weights = csr_matrix((np.ones(len(places)), np.array(places, dtype=int), ends), shape=(len(texts), len(known)))
        weights.sum_duplicates()
        weights.data = (np.log(weights.data) + 1) * self._tfidf.idf_[weights.indices]
        return normalize(weights, copy=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which `from_dict` makes the same embedding: numbers and n-grams, nothing that runs."""
        self._check_fitted()
        ngrams = sorted(self._tfidf.vocabulary_, key=self._tfidf.vocabulary_.get)
        about = {"dims": self.dims, "ngrams": list(self.ngrams), "seed": self.seed, "vocabulary": ngrams}
        return about | {"idf": self._tfidf.idf_.tolist(), "directions": self._components.tolist()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> TextEmbedding:
        """Make the embedding that `to_dict` wrote down; ValueError where its parts do not fit together."""
        dims, seed = whole(kept["dims"], "dims", 1, 10_000), whole(kept["seed"], "seed", 0, 2**32 - 1)
        shortest, longest = (whole(length, "ngrams", 1, 1000) for length in kept["ngrams"])
        embedding = cls(dims, (shortest, longest), seed)
        vocabulary = {str(ngram): place for place, ngram in enumerate(kept["vocabulary"])}
        idf = numbers(kept["idf"], "the n-grams' weights", (len(vocabulary),))
        directions = numbers(kept["directions"], "directions", (None, idf.size))
        if not vocabulary or not 1 <= len(directions) <= dims:
            raise ValueError(f"{len(vocabulary)} n-grams and {len(directions)} directions for {dims} columns")
        tfidf = embedding._vectorizer(vocabulary=vocabulary)
        tfidf.idf_ = idf
        return embedding._learned(tfidf, directions)

    def _learned(self, tfidf: TfidfVectorizer, components: np.ndarray) -> TextEmbedding:
        self._tfidf, self._ngrams, self._components = tfidf, tfidf.build_analyzer(), components
        # A row an n-gram, each in one piece of memory: a text has a few hundred of twenty thousand.
        self._directions = np.zeros((components.shape[1], self.dims))
        self._directions[:, : len(components)] = components.T
        return self

    def _check_fitted(self) -> None:
        if self._tfidf is None:
            raise ValueError("the embedding has not been fitted; call fit with training texts first")

    def _vectorizer(self, **how: Any) -> TfidfVectorizer:
        return TfidfVectorizer(analyzer="char_wb", ngram_range=self.ngrams, sublinear_tf=True, **how)


def _cut(texts: Sequence[str]) -> list[str]:
    return [text[:_READ] for text in check_texts(texts)]
