"""Votes counted step by step, against counting each prefix anew."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.datasets.populations import beta_population
from adalib.sequential.streams import BallotBox, Money, count_votes, make_streams


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=15), st.booleans())
def test_every_prefix(classes, weighted):
    weights = np.linspace(0.5, 1.7, len(classes)) if weighted else np.ones(len(classes))
    worth = [(c % 2) * 1.0 for c in classes]
    votes = count_votes([classes], [worth], weights[None] if weighted else None)
    box = BallotBox()
    for n in range(1, len(classes) + 1):
        box.add(None if classes[n - 1] < 0 else classes[n - 1], weights[n - 1])
        one = box.votes()
        held = Counter()
        for c, w in zip(classes[:n], weights, strict=False):
            if c >= 0:
                held[c] += w
        first, second = ([*sorted(held.values(), reverse=True), 0, 0])[:2]
        best = [c for c, w in held.items() if w == first]
        at = n - 1
        run = next((k for k, c in enumerate(classes[:n][::-1]) if c != classes[n - 1]), n)
        for state in (votes.at(at), one):
            assert (np.squeeze(state.leader), np.squeeze(state.runner)) == (pytest.approx(first), pytest.approx(second))
            assert (state.n, state.distinct, state.empty) == (n, len(held), sum(c < 0 for c in classes[:n]))
            assert state.run == (run if classes[n - 1] >= 0 else 0)
        assert set(box.leaders) == set(best)
        if not weighted:
            assert votes.log_sum[0, at] == pytest.approx(sum(w * np.log(w) for w in held.values()))
        assert votes.value[0, at] == pytest.approx(np.mean([c % 2 for c in best]) if best else 0)


def test_streams_are_the_answers_in_other_orders():
    answers = beta_population(5, 1.5, 1.5).sample(12)
    streams = make_streams(answers, limit=12, repeats=12)
    assert np.array_equal(np.sort(streams.classes, axis=1), np.sort(answers.classes, axis=1)[streams.question])
    # All rotations: every answer comes first once, so one answer is worth exactly the mean.
    first = streams.mean(streams.votes().value[:, 0])
    assert first == pytest.approx(answers.table([1]).acc[:, 0])
    assert np.array_equal(streams.cost[0], np.arange(1, 13))


def test_a_replay_of_fixed_size_is_the_average_over_subsets():
    answers = beta_population(60, 1.5, 1.5).sample(24)
    streams = make_streams(answers, limit=8, repeats=24)
    found, exact = streams.votes().value[:, 3].mean(), answers.table([4]).acc.mean()
    assert found == pytest.approx(exact, abs=0.02)


def test_tokens_and_money():
    answers = beta_population(3, 1.5, 1.5).sample(6)
    answers = replace(answers, tokens=np.arange(18.0).reshape(3, 6))
    streams = make_streams(answers, limit=6, repeats=2, cost="tokens")
    assert streams.cost[:, -1] == pytest.approx(answers.tokens.sum(axis=1)[streams.question])
    paid = make_streams(answers, limit=6, repeats=2, cost=Money(per_token=2, per_answer=1))
    assert paid.cost[:, -1] == pytest.approx(2 * streams.cost[:, -1] + 6)
