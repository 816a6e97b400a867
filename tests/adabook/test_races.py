"""The tables of races, where every answer starts: then no order of the answers matters."""

from __future__ import annotations

import json

import numpy as np
import pytest

import adalib
from adabook.races import race_tables


@pytest.fixture
def eight(tmp_path):
    """Two questions with eight answers each, of different lengths."""
    rng = np.random.default_rng(0)
    lines = []
    for question in range(2):
        texts = rng.choice(["7", "8", "9", ""], 8).tolist()
        tokens = rng.permutation(np.arange(10, 90, 10)).tolist()
        line = {"id": f"q{question}", "question": "?", "gold": "7", "answers": texts}
        lines.append(json.dumps({**line, "tokens": tokens}))
    file = tmp_path / "eight.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return adalib.load(file)


def test_a_race_of_all_answers_ends_at_the_kth_shortest(eight):
    rules = [(8, k) for k in range(1, 9)]
    accuracy, tokens, waiting = race_tables(eight, rules, repeats=3)
    average = eight.tokens.mean()
    for q, lengths in enumerate(eight.tokens):
        order = lengths.argsort()
        for column, (_, k) in enumerate(rules):
            end = lengths[order[k - 1]]
            finished = [eight.answers[q][place] for place in order[:k]]
            assert waiting[q, column] == pytest.approx(end / average)
            assert tokens[q, column] == pytest.approx(np.minimum(lengths, end).sum() / average)
            assert accuracy[q, column] == pytest.approx(adalib.majority(finished).get("7", 0))
