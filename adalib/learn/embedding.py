"""A text embedding from the field's own libraries: character n-grams, TF-IDF, a truncated SVD.

Hand-made features look for what their author thought of. Here only the training questions decide
which spellings go together: every text becomes the weights of its n-grams, and the SVD keeps the
directions in which the training texts differ most. Where the texts themselves are missing and
counts replace them (`QuestionWithFeatures`), an n-gram is identified by a hash of its letters, and
a new text is hashed in the same way.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adalib.datasets.files import numbers, reading, whole
from adalib.datasets.responses import BUCKETS, QuestionWithFeatures
from adalib.learn.features import check_texts

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix

_CHUNK = 1000  # texts embedded at a time, because the n-grams of each take thousands of bytes
_MAX_CHARACTERS = 20_000  # of a text that are read: enough for a question, and a bound on the work
_NGRAMS = (2, 4)
_VERSION = 1  # of what `to_dict` returns


class TextEmbedding:
    """Turn texts into a few numbers each, learned from the texts it is fitted on.

    Latent semantic analysis [1]_ of character n-grams.

    Parameters
    ----------
    dims : int
        Columns of the result. Directions that the training texts do not have are columns of zeros.
    ngrams : tuple of two ints
        Shortest and longest run of characters, within words.
    seed : int
        Seed of the randomised SVD; the same seed and texts give the same numbers.

    References
    ----------
    .. [1] S. Deerwester et al., "Indexing by latent semantic analysis", Journal of the American
       Society for Information Science 41 (1990).

    Examples
    --------
    >>> embedding = TextEmbedding(dims=2).fit(["3 red hens", "4 red hens", "two trains meet"])
    >>> embedding.transform(["5 red hens"]).shape
    (1, 2)
    """

    def __init__(self, dims: int = 16, ngrams: tuple[int, int] = _NGRAMS, seed: int = 0) -> None:
        if dims < 1 or not 1 <= ngrams[0] <= ngrams[1]:
            raise ValueError(
                f"dims is {dims} and ngrams {ngrams}; give dims of 1 or more and an increasing pair"
            )
        self.dims = dims
        self.ngrams = ngrams
        self.seed = seed
        self._places: dict[str, int] | None = None  # column of each n-gram; None if hashed
        self._idf: Any = None

    def fit(self, texts: Sequence[str]) -> TextEmbedding:
        """Learn n-grams, their weights and the directions from texts that are not all blank."""
        from sklearn.decomposition import TruncatedSVD  # here, because `embed` needs numpy alone
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = check_texts(texts)
        if not any(text.strip() for text in texts):
            raise ValueError("there is no text to learn from; give at least one that is not blank")
        if any(isinstance(text, QuestionWithFeatures) for text in texts):
            if self.ngrams != _NGRAMS:
                raise ValueError(
                    f"ngrams is {self.ngrams}; texts that carry counts have counted {_NGRAMS}"
                )
            self._places = None
            counts = self._counts(texts)
            # The formula of scikit-learn's TfidfVectorizer.
            self._idf = np.log((1 + len(texts)) / (1 + counts.getnnz(axis=0))) + 1
            weights = self._weighted(counts)
        else:
            tfidf = TfidfVectorizer(
                analyzer="char_wb", ngram_range=self.ngrams, sublinear_tf=True, max_features=20_000
            )
            weights = tfidf.fit_transform([text[:_MAX_CHARACTERS] for text in texts])
            self._places = tfidf.vocabulary_
            self._idf = tfidf.idf_
        svd = TruncatedSVD(min(self.dims, *weights.shape), random_state=self.seed)
        # One text has no spread, and scikit-learn divides by it for a ratio that is not used here.
        with np.errstate(invalid="ignore", divide="ignore"):
            svd.fit(weights)
        return self._learned(svd.components_)

    def transform(self, texts: Sequence[str]) -> pd.DataFrame:
        """Embed texts in columns ``embedding_0`` and so on; a blank text is all zeros."""
        import pandas as pd

        self._check_fitted()
        texts = check_texts(texts)
        chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
        embedded = (self._weighted(self._counts(chunk)) @ self._directions for chunk in chunks)
        values = np.vstack([np.zeros((0, self.dims)), *embedded])
        return pd.DataFrame(values, columns=[f"embedding_{j}" for j in range(self.dims)])

    def embed(self, text: str) -> np.ndarray:
        """Embed one text, shape (dims,): the digits of `transform`, with numpy alone."""
        self._check_fitted()
        columns = np.array(self._columns_of(text, {}), dtype=int)
        places, counts = np.unique(columns, return_counts=True)
        if not places.size:
            return np.zeros(self.dims)
        weights = (np.log(counts) + 1) * self._idf[places]
        # Both sums run from the first n-gram to the last, as those of the sparse matrix do.
        weights /= np.sqrt(np.cumsum(weights**2)[-1])
        return np.cumsum(weights[:, None] * self._directions[places], axis=0)[-1]

    def _columns_of(self, text: str, columns_of_word: dict[str, list[int]]) -> list[int]:
        """Return the column of every n-gram of a text.

        N-grams do not cross spaces, so each word is cut up only once; ``columns_of_word`` keeps
        the columns of the words met so far.
        """
        if self._places is None and isinstance(text, QuestionWithFeatures):
            return np.repeat(np.arange(BUCKETS), text.ngrams).tolist()
        columns: list[int] = []
        for word in text[:_MAX_CHARACTERS].lower().split():
            if word not in columns_of_word:
                columns_of_word[word] = self._placed(character_ngrams(word, self.ngrams))
            columns += columns_of_word[word]
        return columns

    def _counts(self, texts: Sequence[str]) -> csr_matrix:
        """Count n-grams as scikit-learn does, shape (texts, n-grams), but ten times as fast."""
        from scipy.sparse import csr_matrix

        columns_of_word: dict[str, list[int]] = {}
        places: list[int] = []
        ends = [0]
        for text in texts:
            places += self._columns_of(text, columns_of_word)
            ends.append(len(places))
        shape = len(texts), BUCKETS if self._places is None else len(self._places)
        counts = csr_matrix((np.ones(len(places)), np.array(places, dtype=int), ends), shape=shape)
        counts.sum_duplicates()
        return counts

    def _placed(self, ngrams: list[str]) -> list[int]:
        """Return the columns of some n-grams; n-grams that training did not meet have none."""
        if self._places is None:
            return [zlib.crc32(ngram.encode("utf-8", "replace")) % BUCKETS for ngram in ngrams]
        return [self._places[ngram] for ngram in ngrams if ngram in self._places]

    def _weighted(self, counts: csr_matrix) -> csr_matrix:
        """Turn counts into TF-IDF weights of length 1, in place."""
        from sklearn.preprocessing import normalize

        counts.data = (np.log(counts.data) + 1) * self._idf[counts.indices]
        return normalize(counts, copy=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values from which `from_dict` makes the same embedding."""
        self._check_fitted()
        vocabulary = None
        if self._places is not None:
            vocabulary = sorted(self._places, key=self._places.__getitem__)
        return {
            "kind": "embedding",
            "version": _VERSION,
            "dims": self.dims,
            "ngrams": list(self.ngrams),
            "seed": self.seed,
            "vocabulary": vocabulary,
            "idf": self._idf.tolist(),
            "directions": self._components.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TextEmbedding:
        """Make the embedding that `to_dict` described; DataError if the values disagree."""
        with reading(data, "embedding", _VERSION):
            dims = whole(data["dims"], "dims", 1, 10_000)
            seed = whole(data["seed"], "seed", 0, 2**32 - 1)
            shortest, longest = (whole(length, "ngrams", 1, 20) for length in data["ngrams"])
            embedding = cls(dims, (shortest, longest), seed)
            if data["vocabulary"] is not None:
                embedding._places = {
                    str(ngram): place for place, ngram in enumerate(data["vocabulary"])
                }
            count = BUCKETS if embedding._places is None else len(embedding._places)
            embedding._idf = numbers(data["idf"], "the n-grams' weights", (count,))
            directions = numbers(data["directions"], "directions", (None, count))
            if not count or not 1 <= len(directions) <= dims:
                raise ValueError(f"{count} n-grams and {len(directions)} directions")
            return embedding._learned(directions)

    def _learned(self, components: np.ndarray) -> TextEmbedding:
        """Set the directions, which makes the embedding a fitted one."""
        self._components = components
        # One row per n-gram, contiguous: a text has a few hundred of twenty thousand n-grams.
        self._directions = np.zeros((components.shape[1], self.dims))
        self._directions[:, : len(components)] = components.T
        return self

    def _check_fitted(self) -> None:
        if self._idf is None:
            raise ValueError(
                "the embedding has not been fitted; call fit with training texts first"
            )


def character_ngrams(word: str, lengths: tuple[int, int]) -> list[str]:
    """The runs of characters of a word between two spaces, as scikit-learn's ``char_wb`` cuts them.

    Examples
    --------
    >>> character_ngrams("ab", (2, 9))
    [' a', 'ab', 'b ', ' ab', 'ab ', ' ab ']
    """
    padded = f" {word} "
    shortest, longest = lengths
    if shortest >= len(padded):  # a word shorter than the shortest run counts once, as a whole
        return [padded]
    return [
        padded[start : start + length]
        for length in range(shortest, min(longest, len(padded)) + 1)
        for start in range(len(padded) - length + 1)
    ]


def ngram_counts(text: str) -> list[int]:
    """Count a text's n-grams by hash, as a `QuestionWithFeatures` carries them."""
    return TextEmbedding()._counts([text]).toarray()[0].astype(int).tolist()
