"""The embedding: against scikit-learn's own transforms."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from adabook.paper.ablations import extra_features
from adalib.datasets.files import DataError
from adalib.datasets.responses import QuestionWithFeatures
from adalib.evaluate.baselines import length
from adalib.learn.embedding import TextEmbedding, character_ngrams, ngram_counts
from adalib.learn.features import text_features

TRAINING = [
    "Three red hens lay 4 eggs",
    "Two red hens lay 9 eggs",
    "A train leaves at noon",
    "A train arrives late",
]


def carrying(text: str, name: str) -> QuestionWithFeatures:
    """What stands for a text that is not at hand: its name, with the text's numbers."""
    features = [*text_features([text]).iloc[0], *extra_features([text]).iloc[0]]
    return QuestionWithFeatures(name, features, ngram_counts(text))


TAUGHT = [*TRAINING, "ΟΔΟΣ İi ﬁn"]
#: With as many dimensions as texts the SVD loses nothing.
WHOLE = TextEmbedding(dims=len(TAUGHT)).fit(TAUGHT)
WEIGHTED = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True).fit(TAUGHT)


@given(st.lists(st.text(max_size=40) | st.sampled_from(["Ten trains", *TAUGHT]), min_size=1))
def test_angles_are_those_of_scikit_learns_weights(texts):
    """At full rank, products of any text with the training texts are those of the weights."""
    np.testing.assert_allclose(
        WHOLE.transform(texts).to_numpy() @ WHOLE.transform(TAUGHT).to_numpy().T,
        (WEIGHTED.transform(texts) @ WEIGHTED.transform(TAUGHT).T).toarray(),
        atol=1e-9,
    )


def test_numbers_stand_in_for_a_text():
    absent = [carrying(text, f"set-{i}") for i, text in enumerate(TRAINING)]
    absent = pickle.loads(pickle.dumps(absent))  # as they travel to other machines
    pd.testing.assert_frame_equal(text_features(absent), text_features(TRAINING))
    pd.testing.assert_frame_equal(extra_features(absent), extra_features(TRAINING))
    assert (
        length(absent, [1, 16], 6).weights.tolist() == length(TRAINING, [1, 16], 6).weights.tolist()
    )
    counts = np.array([ngram_counts(text) for text in TRAINING])
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts).toarray()
    found = TextEmbedding(dims=4).fit(absent).transform(absent).to_numpy()
    np.testing.assert_allclose(found @ found.T, weights @ weights.T, atol=1e-9)
    with pytest.raises(ValueError, match="have counted"):
        TextEmbedding(ngrams=(1, 2)).fit(absent)


@given(st.text(min_size=1, max_size=9), st.integers(1, 6), st.integers(0, 4))
def test_ngrams_are_those_of_scikit_learn(word, shortest, more):
    lengths = (shortest, shortest + more)
    analyze = TfidfVectorizer(analyzer="char_wb", ngram_range=lengths).build_analyzer()
    expected = [character_ngrams(one, lengths) for one in word.lower().split()]
    assert analyze(word) == [ngram for one in expected for ngram in one]


@given(st.text(max_size=60))
def test_a_new_text_is_hashed_as_those_that_are_not_at_hand(text):
    embedding = TextEmbedding(dims=3).fit([carrying(one, str(i)) for i, one in enumerate(TRAINING)])
    kept = TextEmbedding.from_dict(json.loads(json.dumps(embedding.to_dict())))
    for one in (text, carrying(text, "new")):
        np.testing.assert_array_equal(kept.embed(one), embedding.transform([text]).to_numpy()[0])


@pytest.mark.parametrize(
    "texts", [["a"], ["ab", ""], ["漢字"] * 3, ["7" * 10**6], ["\0"], [r"\frac{1}{2}", "½"]]
)
def test_embedding_of_odd_texts(texts):
    frame = TextEmbedding(dims=5).fit(texts).transform([*texts, ""])
    assert frame.shape == (len(texts) + 1, 5)
    assert np.isfinite(frame.to_numpy()).all()
    assert TextEmbedding(dims=5).fit(texts).transform([]).shape == (0, 5)


def test_a_saved_embedding_is_the_same_and_a_damaged_one_is_refused():
    texts = ["3 red hens", "4 red hens", "two trains meet"]
    embedding = TextEmbedding(2).fit(texts)
    data = json.loads(json.dumps(embedding.to_dict()))
    again = TextEmbedding.from_dict(data)
    np.testing.assert_array_equal(again.transform(texts), embedding.transform(texts))
    for change in ({"idf": [1.0]}, {"dims": 0}, {"kind": "policy"}, {"directions": None}):
        with pytest.raises(DataError) as caught:
            TextEmbedding.from_dict(data | change)
        assert "\n" not in str(caught.value)
