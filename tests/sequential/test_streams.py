"""Votes counted step by step, against counting each prefix anew; the envelope over rules is chapter
3's."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.datasets.populations import beta_population
from adalib.sequential.replay import mix_for
from adalib.sequential.streams import make_streams
from adalib.sequential.votes import BallotBox, count_votes
from adalib.solve.frontier import frontier


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=15), st.booleans())
def test_every_prefix(classes, weighted):
    weights = np.linspace(0.5, 1.7, len(classes)) if weighted else np.ones(len(classes))
    worth = np.array(classes) % 2
    votes = count_votes([classes], [worth], weights[None] if weighted else None)
    box = BallotBox()
    for n, (answer, weight) in enumerate(zip(classes, weights, strict=True), start=1):
        box.add(None if answer < 0 else answer, weight)
        came = classes[:n]
        _, *held = np.bincount(np.array(came) + 1, weights[:n], minlength=6)
        *_, runner, leader = sorted(held)
        run = next((k for k, c in enumerate(came[::-1]) if c != answer), n)
        found = [n, leader, runner, np.count_nonzero(held), came.count(-1), run * (answer >= 0)]
        for state in (votes.at([n - 1]), box.votes()):
            assert np.hstack(state[:6]).ravel() == pytest.approx(found)
        best = [c for c in range(5) if held[c] == leader > 0]
        assert sorted(box.leaders) == best
        assert votes.value[0, n - 1] == pytest.approx(np.mean([c % 2 for c in best] or [0]))


def test_streams_are_gone_with_their_answers():
    answers = beta_population(5, 1.5, 1.5).sample(12)
    streams = make_streams(answers, limit=12, repeats=3)
    streams.read("answers")
    assert make_streams(answers, limit=12, repeats=3) is streams
    kept = [weakref.ref(streams), weakref.ref(answers)]
    del streams, answers
    gc.collect()
    assert [of() for of in kept] == [None, None]


def test_streams_are_the_answers_in_other_orders():
    answers = beta_population(5, 1.5, 1.5).sample(12)
    streams = make_streams(answers, limit=12, repeats=12)
    assert np.array_equal(
        np.sort(streams.classes, axis=1), np.sort(answers.classes, axis=1)[streams.question]
    )
    # All rotations: every answer comes first once, so one answer is worth exactly the mean.
    assert streams.mean(streams.votes().value[:, 0]) == pytest.approx(answers.table([1]).acc[:, 0])
    assert np.array_equal(streams.cost[0], np.arange(1, 13))
    # In tokens.
    answers = replace(beta_population(3, 1.5, 1.5).sample(6), tokens=np.arange(18.0).reshape(3, 6))
    tokens = make_streams(answers, 6, repeats=2, cost="tokens").cost[:, -1]
    assert tokens == pytest.approx(
        answers.tokens.sum(axis=1)[make_streams(answers, 6, repeats=2).question]
    )


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20)), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_the_envelope_is_the_frontier_of_one_question(points, place):
    cost, accuracy = (np.array(part, dtype=float) for part in zip(*points, strict=True))
    accuracy /= 20
    order = np.lexsort((-accuracy, cost))
    budget = cost.min() + place * (cost.max() - cost.min())
    best = frontier(accuracy[None, order], cost[order]).at(budget)
    mix = mix_for(cost, accuracy, budget)
    paid, right = (
        (1 - mix.share) * part[mix.low] + mix.share * part[mix.high] for part in (cost, accuracy)
    )
    assert right == pytest.approx(best.bound, abs=1e-9)
    assert paid <= budget + 1e-9
    if mix.share:
        assert paid == pytest.approx(budget)
    with pytest.raises(ValueError, match=f"cheapest rule costs {cost.min():.0f}"):
        mix_for(cost, accuracy, budget=cost.min() - 0.5)
