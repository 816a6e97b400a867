"""A text embedding from the field's own libraries: character n-grams, TF-IDF, and a truncated SVD.

Hand-made features look for what their author thought of. Here the training questions, and they only, say which
spellings go together: every text becomes the weights of its n-grams, and the SVD keeps the directions in which the
training texts differ most. Where texts are not at hand and carry counts instead (`ReadText`), an n-gram is known by a
hash of its letters; a new text is hashed in the same way.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from adalib.datasets.responses import BUCKETS, ReadText
from adalib.datasets.sealed import numbers, whole
from adalib.learn.features import check_texts

__all__ = ["TextEmbedding", "ngram_counts"]

_PART = 1000  # texts embedded at a time: their n-grams are thousands of bytes each, the result is not
_READ = 20_000  # characters of a text that are read: enough for a question, and a bound on what a huge one costs
_NGRAMS = (2, 4)


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

    def __init__(self, dims: int = 16, ngrams: tuple[int, int] = _NGRAMS, seed: int = 0) -> None:
        if dims < 1 or not 1 <= ngrams[0] <= ngrams[1]:
            raise ValueError(f"dims is {dims} and ngrams {ngrams}; give dims of 1 or more and an increasing pair")
        self.dims, self.ngrams, self.seed = dims, ngrams, seed
        self._ngrams: Callable[[str], list[str]] = self._vectorizer().build_analyzer()
        self._places: dict[str, int] | None = None  # of the n-grams; None where they are hashed
        self._idf: Any = None

    def fit(self, texts: Sequence[str]) -> TextEmbedding:
        """Learn n-grams, their weights and the directions from training texts; at least one must not be blank."""
        texts = check_texts(texts)
        if not any(text.strip() for text in texts):
            raise ValueError("there is no text to learn from; give at least one that is not blank")
        if any(isinstance(text, ReadText) for text in texts):
            if self.ngrams != _NGRAMS:
                raise ValueError(f"ngrams is {self.ngrams}; texts that carry counts have counted {_NGRAMS}")
            self._places = None
            counts = self._counts(texts)
            self._idf = np.log((1 + len(texts)) / (1 + counts.getnnz(axis=0))) + 1  # as scikit-learn has it
            weights = self._weigh(counts)
        else:
            tfidf = self._vectorizer(max_features=20_000)
            weights = tfidf.fit_transform([text[:_READ] for text in texts])
            self._places, self._idf = tfidf.vocabulary_, tfidf.idf_
        svd = TruncatedSVD(min(self.dims, *weights.shape), random_state=self.seed)
        # One text has no spread, and scikit-learn divides by it to report a ratio that nobody reads here.
        with np.errstate(invalid="ignore", divide="ignore"):
            svd.fit(weights)
        return self._learned(svd.components_)

    def transform(self, texts: Sequence[str]) -> pd.DataFrame:
        """Embed texts, seen or unseen: columns ``embedding_0`` on, all finite; a blank text is all zeros."""
        self._check_fitted()
        texts = check_texts(texts)
        parts = (texts[start : start + _PART] for start in range(0, len(texts), _PART))
        embedded = (self._weigh(self._counts(part)) @ self._directions for part in parts)
        values = np.vstack([np.zeros((0, self.dims)), *embedded])
        return pd.DataFrame(values, columns=[f"embedding_{j}" for j in range(self.dims)])

    def embed(self, text: str) -> np.ndarray:
        """Embed one text, shape (dims,): what `transform` gives, without a table for a single row."""
        self._check_fitted()
        return (self._weigh(self._counts([text])) @ self._directions)[0]

    def _counts(self, texts: Sequence[str]) -> csr_matrix:
        """Count n-grams as scikit-learn does, ten times as fast: they end at spaces, and words come again."""
        of_word, places, ends = dict[str, list[int]](), list[int](), [0]
        for text in texts:
            if self._places is None and isinstance(text, ReadText):
                places += np.repeat(np.arange(BUCKETS), text.ngrams).tolist()
            else:
                for word in text[:_READ].lower().split():
                    if word not in of_word:
                        of_word[word] = self._placed(self._ngrams(word))
                    places += of_word[word]
            ends.append(len(places))
        shape = len(texts), BUCKETS if self._places is None else len(self._places)
        counts = csr_matrix((np.ones(len(places)), np.array(places, dtype=int), ends), shape=shape)
        counts.sum_duplicates()
        return counts

    def _placed(self, ngrams: list[str]) -> list[int]:
        if self._places is None:
            return [zlib.crc32(ngram.encode("utf-8", "replace")) % BUCKETS for ngram in ngrams]
        return [self._places[ngram] for ngram in ngrams if ngram in self._places]

    def _weigh(self, counts: csr_matrix) -> csr_matrix:
        counts.data = (np.log(counts.data) + 1) * self._idf[counts.indices]
        return normalize(counts, copy=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which `from_dict` makes the same embedding: numbers and n-grams, nothing that runs."""
        self._check_fitted()
        ngrams = None if self._places is None else sorted(self._places, key=self._places.__getitem__)
        about = {"dims": self.dims, "ngrams": list(self.ngrams), "seed": self.seed, "vocabulary": ngrams}
        return about | {"idf": self._idf.tolist(), "directions": self._components.tolist()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> TextEmbedding:
        """Make the embedding that `to_dict` wrote down; ValueError where its parts do not fit together."""
        dims, seed = whole(kept["dims"], "dims", 1, 10_000), whole(kept["seed"], "seed", 0, 2**32 - 1)
        shortest, longest = (whole(length, "ngrams", 1, 20) for length in kept["ngrams"])
        embedding = cls(dims, (shortest, longest), seed)
        if kept["vocabulary"] is not None:
            embedding._places = {str(ngram): place for place, ngram in enumerate(kept["vocabulary"])}
        known = BUCKETS if embedding._places is None else len(embedding._places)
        embedding._idf = numbers(kept["idf"], "the n-grams' weights", (known,))
        directions = numbers(kept["directions"], "directions", (None, known))
        if not known or not 1 <= len(directions) <= dims:
            raise ValueError(f"{known} n-grams and {len(directions)} directions for {dims} columns")
        return embedding._learned(directions)

    def _learned(self, components: np.ndarray) -> TextEmbedding:
        self._components = components
        # A row an n-gram, each in one piece of memory: a text has a few hundred of twenty thousand.
        self._directions = np.zeros((components.shape[1], self.dims))
        self._directions[:, : len(components)] = components.T
        return self

    def _check_fitted(self) -> None:
        if self._idf is None:
            raise ValueError("the embedding has not been fitted; call fit with training texts first")

    def _vectorizer(self, **how: Any) -> TfidfVectorizer:
        return TfidfVectorizer(analyzer="char_wb", ngram_range=self.ngrams, sublinear_tf=True, **how)


def ngram_counts(text: str) -> list[int]:
    """Count a text's n-grams by hash, in `BUCKETS`: what a `ReadText` carries, from which no text can be read."""
    return TextEmbedding()._counts([text]).toarray()[0].astype(int).tolist()
