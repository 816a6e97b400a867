"""A text embedding from the field's own libraries: character n-grams, TF-IDF, and a truncated SVD.

Hand-made features look for what their author thought of. An embedding lets the training questions say which spellings
go together: every text becomes the weights of its character n-grams, and the SVD keeps the directions in which the
training texts differ most. It is fitted on training questions only; a test question must not choose the directions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
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
        self._svd: Any = None

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
        self._tfidf, self._svd = tfidf, svd
        for cached in ("_ngrams", "_directions"):
            self.__dict__.pop(cached, None)
        return self

    def transform(self, texts: Sequence[str]) -> pd.DataFrame:
        """Embed texts, seen or unseen: columns ``embedding_0`` on, all finite; a blank text is all zeros."""
        self._check_fitted()
        texts = _cut(texts)
        values = np.zeros((len(texts), self.dims))
        for start in range(0, len(texts), _PART):
            along = self._svd.transform(self._weights(texts[start : start + _PART]))
            values[start : start + _PART, : along.shape[1]] = along
        return pd.DataFrame(values, columns=[f"embedding_{j}" for j in range(self.dims)])

    def embed(self, text: str) -> np.ndarray:
        """Embed one text, shape (dims,): what `transform` gives up to rounding, without tables for a single row."""
        self._check_fitted()
        known = self._tfidf.vocabulary_
        counts = Counter(ngram for ngram in self._ngrams(text[:_READ]) if ngram in known)
        values = np.zeros(self.dims)
        if counts:
            places = [known[ngram] for ngram in counts]
            weights = (1 + np.log(list(counts.values()))) * self._tfidf.idf_[places]
            along = weights @ self._directions[places] / np.sqrt(weights @ weights)
            values[: along.size] = along
        return values

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
        weights = csr_matrix((np.ones(len(places)), places, ends), shape=(len(texts), len(known)))
        weights.sum_duplicates()
        weights.data = (np.log(weights.data) + 1) * self._tfidf.idf_[weights.indices]
        return normalize(weights, copy=False)

    @cached_property
    def _directions(self) -> np.ndarray:
        """A row an n-gram, each in one piece of memory: a text has a few hundred of twenty thousand."""
        return np.ascontiguousarray(self._svd.components_.T)

    @cached_property
    def _ngrams(self) -> Callable[[str], list[str]]:
        return self._tfidf.build_analyzer()

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which `from_dict` makes the same embedding: numbers and n-grams, nothing that runs."""
        self._check_fitted()
        ngrams = sorted(self._tfidf.vocabulary_, key=self._tfidf.vocabulary_.get)
        about = {"dims": self.dims, "ngrams": list(self.ngrams), "seed": self.seed, "vocabulary": ngrams}
        return about | {"idf": self._tfidf.idf_.tolist(), "directions": self._svd.components_.tolist()}

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
        embedding._tfidf = embedding._vectorizer(vocabulary=vocabulary)
        embedding._tfidf.idf_ = idf
        embedding._svd = TruncatedSVD(len(directions), random_state=embedding.seed)
        embedding._svd.components_ = directions
        return embedding

    def _check_fitted(self) -> None:
        if self._tfidf is None:
            raise ValueError("the embedding has not been fitted; call fit with training texts first")

    def _vectorizer(self, **how: Any) -> TfidfVectorizer:
        return TfidfVectorizer(analyzer="char_wb", ngram_range=self.ngrams, sublinear_tf=True, **how)


def _cut(texts: Sequence[str]) -> list[str]:
    return [text[:_READ] for text in check_texts(texts)]
