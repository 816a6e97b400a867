"""Rivals decide as their own packages do."""

import asyncio
import math
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product

import adaptive_consistency as theirs
import numpy as np
import pytest
import rivals
from conftest import run_to_end
from its_hub.core.algorithms.adaptive_self_consistency import AdaptiveSelfConsistency
from its_hub.core.algorithms.beta_self_consistency import BetaSelfConsistency
from rivals import PEERS, TunedRivals, dirichlet_holds
from sympy.utilities.iterables import partitions

from adalib.datasets.populations import beta_population
from adalib.sequential.rules import (
    Confidence,
    Fixed,
    Margin,
    leader_holds,
    points_of,
    stopping_points,
)
from adalib.sequential.streams import Streams
from adalib.sequential.votes import Votes, count_votes


def answers(counts) -> list[str]:
    return [str(j) for j, count in enumerate(counts) for _ in range(count)]


def counted(counts) -> Votes:
    """The votes after these answers."""
    classes = np.repeat(np.arange(len(counts)), counts)[None]
    return count_votes(classes, np.zeros(classes.shape)).at([classes.size - 1])


def stops(rule, counts) -> bool:
    """Whether a rule stops after these answers."""
    return rule.stops(counted(counts)).item()


def test_beta_equals_both_packages_up_to_forty_answers():
    for a in range(1, 41):
        for b in range(min(a, 40 - a) + 1):
            counts = (a, b) if b else (a,)
            theirs_verdict = theirs.BetaStoppingCriteria(0.95).should_stop(answers(counts))
            assert leader_holds(a, b) == pytest.approx(theirs_verdict["prob"], abs=1e-7)
            assert leader_holds(a, b) == pytest.approx(
                BetaSelfConsistency.beta_stopping_probability(a, b), abs=1e-12
            )
            assert stops(Confidence(0.95), counts) == theirs_verdict["stop"]


def test_majority_equals_adaptive_consistency_up_to_forty_answers():
    # The rule sees the leader and the total only, so these are all states.
    for threshold, n in product((0.5, 0.8), range(1, 41)):
        for a in range(1, n + 1):
            counts = (a, *[1] * (n - a))
            theirs_verdict = theirs.MajorityStoppingCriteria(threshold).should_stop(answers(counts))
            assert stops(rivals.Agreement(threshold), counts) == theirs_verdict["stop"], counts


def test_entropy_equals_adaptive_consistency_up_to_fifteen_answers():
    every = [tuple(Counter(parts).elements()) for n in range(2, 16) for parts in partitions(n)]
    for counts in every:
        log_sum = sum(c * math.log(c) for c in counts)
        found = rivals.normalised_entropy(counted(counts), log_sum).item()
        theirs_entropy = theirs.EntropyStoppingCriteria().should_stop(answers(counts))["prob"]
        assert found == pytest.approx(theirs_entropy, abs=1e-12), counts
    assert rivals.normalised_entropy(counted((1,)), 0.0) == np.inf  # one answer never stops it


def test_dirichlet_equals_adaptive_consistency():
    # Its default integrates by random points and fails with today's numpy; its other way is
    # quadrature.
    for counts in [(5, 1, 1), (4, 3, 1), (12, 2, 2), (6, 6, 3)]:
        theirs_verdict = theirs.DirichletStoppingCriteria(0.95, use_markov=False).should_stop(
            answers(counts)
        )["prob"]
        assert dirichlet_holds([counts])[0] == pytest.approx(theirs_verdict, abs=0.005)
    assert dirichlet_holds([(7, 2), (3, 0)]) == pytest.approx(
        leader_holds([7, 3], [2, 0]), abs=1e-6
    )
    assert dirichlet_holds([(2, 2, 2)]) == pytest.approx(1 / 3)


def test_dirichlet_in_replay_is_the_rule_at_every_step():
    classes = np.random.default_rng(5).integers(-1, 7, size=(12, 20))
    streams = Streams(
        np.arange(12), classes, (classes == 0) * 1.0, np.arange(1, 21) * np.ones((12, 1)), {}.get
    )
    stops, worth = rivals.Dirichlet(0.9, 13).play(streams)
    for row, stop in zip(classes, stops, strict=True):
        held = [np.sort([np.sum(row[: n + 1] == c) for c in range(7)])[:1:-1] for n in range(20)]
        safe = dirichlet_holds(held) >= 0.9
        safe[12:] = True
        assert safe.argmax() == stop
    assert np.array_equal(worth, streams.votes().value[np.arange(12), stops])


def test_entropy_in_replay_is_the_rule_at_every_step():
    classes = np.random.default_rng(5).integers(-1, 4, size=(40, 20))
    streams = Streams(
        np.arange(40), classes, classes == 0, np.ones((40, 20)).cumsum(axis=1), {}.get
    )
    stops, worth = rivals.Entropy(0.7, 13).play(streams)
    rule = theirs.EntropyStoppingCriteria(0.7)
    for row, stop in zip(classes.tolist(), stops, strict=True):
        prefixes = [[c for c in row[:n] if c >= 0] for n in range(1, 13)]
        safe = [bool(came) and rule.should_stop(came)["stop"] for came in prefixes]
        assert [*safe, True].index(True) == stop
    assert np.array_equal(worth, streams.votes().value[np.arange(40), stops])


class Spoken:
    """Stands where its_hub would ask a model; its answers come one after the other, some turns of
    the loop apart."""

    def __init__(self, classes):
        self.texts, self.calls = iter([str(c) for c in classes]), 0

    async def agenerate(self, lm, batch, **_):
        texts = [next(self.texts) for _ in batch]
        self.calls += 1
        for _ in range(12 * (self.calls - 1)):
            await asyncio.sleep(0)
        return [{"role": "assistant", "content": text} for text in texts]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (partial(BetaSelfConsistency, 0.8), Confidence(0.8, cap=16)),
        (partial(BetaSelfConsistency, 0.95), Confidence(0.95, cap=16)),
        (partial(AdaptiveSelfConsistency, 0.75), rivals.Doubling(0.75, cap=16)),
    ],
)
def test_decides_as_its_hub(theirs, ours):
    rng = np.random.default_rng(3)
    for _ in range(20):
        classes = rng.integers(0, rng.integers(1, 5), size=16)
        rule = theirs(orchestrator=Spoken(classes))
        asked = run_to_end(rule.ainfer(None, "?", 16, return_response_only=False)).responses
        assert stopping_points(ours, count_votes(classes[None], np.zeros((1, 16))))[0] + 1 == len(
            asked
        )


def test_a_gateway_that_asks_at_once_pays_for_what_it_cancels():
    rng, rule = np.random.default_rng(4), rivals.Together(0.95, 8)
    classes, tokens = rng.integers(0, 3, (20, 8)), rng.integers(5, 60, (20, 8))
    streams = Streams(
        np.arange(20),
        classes,
        classes == 0,
        np.ones((20, 8)).cumsum(axis=1),
        {"tokens": tokens}.get,
    )
    ends, _ = rule.play(streams)
    for came, length, end, paid in zip(
        classes, tokens, ends, rule.paid(streams, ends), strict=True
    ):
        orchestrator = Spoken(
            came[np.argsort(length, kind="stable")]
        )  # who writes less is back first
        asked = BetaSelfConsistency(0.95, orchestrator=orchestrator).ainfer(
            None, "?", 8, return_response_only=False
        )
        assert len(run_to_end(asked).responses) == end + 1
        assert paid == pytest.approx(sum(min(sorted(length)[end] / one, 1) for one in length))


def test_windows_ratios_and_filters_by_hand():
    votes = count_votes([[0, 1, 1, 1, 1, 1], [-1] * 6], np.zeros((2, 6)))
    asked = {
        rivals.Window(2): [4, 6],  # answers 3 and 4 are the first window that agrees
        rivals.Window(3): [6, 6],
        rivals.ProbabilityRatio(0.1, high=0.75): [
            4,
            6,
        ],  # an error of 1 in 10 needs a lead of two over all others
        Fixed(3): [3, 3],
        Margin(9, patience=2): [2, 2],
    }
    assert {rule: (stopping_points(rule, votes) + 1).tolist() for rule in asked} == asked
    # Filtering drops the unsure.
    classes, worth, logprob = (
        np.array([[0, 0, 1]]),
        np.array([[0.0, 0.0, 1.0]]),
        -np.array([[3, 2, 0.1]]),
    )
    streams = Streams(
        np.array([0]), classes, worth, np.arange(1, 4)[None], {"logprob": logprob}.get
    )
    for keep, right in ((1.0, 0.0), (0.3, 1.0)):
        stops, value = rivals.Filtered(3, keep, 0.0).play(streams)
        assert (stops.tolist(), value.tolist()) == ([2], [right])
    with pytest.raises(ValueError, match="log-probabilities"):
        rivals.Filtered(3, 0.3, 0.0).play(replace(streams, read={}.get))


@pytest.mark.parametrize("name", PEERS)
def test_rules_played_together_stop_where_each_does_alone(name):
    classes = np.random.default_rng(2).integers(-1, 4, size=(60, 30))
    votes = count_votes(classes, np.zeros(classes.shape)).at([0, 1, 2, 3, 5, 8, 13, 29])
    rules = [rule for rule in PEERS[name] if not hasattr(rule, "play")]
    for rule, together in zip(rules, points_of(rules, votes).T, strict=True):
        assert np.array_equal(together, stopping_points(rule, votes)), rule


@pytest.mark.parametrize(
    "policy", [*map(TunedRivals, PEERS.values()), rivals.LearnedPrior()], ids=[*PEERS, "prior"]
)
def test_every_family_meets_its_budget(policy):
    teach, score = beta_population(120, 1.5, 1.5).sample(48).split_samples(0)
    played = policy.fit(teach).replay(score, [1.0, 1.5, 3.0])
    assert played.cost.mean(axis=0) == pytest.approx([1.0, 1.5, 3.0], rel=0.06)


def test_a_learned_prior_against_bayes_by_hand():
    shares = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25]])
    table = rivals.mode_holds(shares, 6)
    for n, a, b in product(range(1, 7), range(7), range(7)):
        if not a >= b or a + b > n:
            continue
        weigh = [
            (i == 0, p[i] ** a * p[j] ** b * (1 - p[i] - p[j]) ** (n - a - b))
            for p in shares
            for i, j in product(range(3), repeat=2)
            if i != j
        ]
        expected = sum(x for first, x in weigh if first) / sum(x for _, x in weigh)
        assert table[n, a, b] == pytest.approx(expected, abs=1e-9)


def test_rules_by_certainty_by_their_formulas():
    rng = np.random.default_rng(3)
    classes, logprobs = rng.integers(-1, 3, (60, 12)), np.log(rng.random((60, 12)))
    logprobs[:, 0] = np.log(rng.uniform(0.2, 0.95, 60))
    worth, paid = (classes == 1).astype(float), np.ones((60, 12)).cumsum(axis=1)
    streams = Streams(np.arange(60), classes, worth, paid, lambda field: logprobs)
    p = np.exp(logprobs[:, :1])
    enough = p * (1 - p) ** np.arange(1, 11) <= 0.02
    enough[:, 9] = True
    stops, value = rivals.Coverage(0.02, 10).play(streams)
    assert np.array_equal(stops, enough.argmax(axis=1))
    assert np.array_equal(value, streams.votes().value[np.arange(60), stops])
    read = np.where(classes >= 0, logprobs, -np.inf)[:, :10]
    sure = read >= np.log(0.8)
    sure[:, 9] = True
    stops, value = rivals.Reservation(np.log(0.8), 10).play(streams)
    assert np.array_equal(stops, sure.argmax(axis=1))
    for row, stop in enumerate(stops):
        opened = read[row, : stop + 1]
        assert value[row] == (opened.max() > -np.inf) * worth[row, opened.argmax()]


def test_answers_that_agree_or_repeat():
    assert stops(rivals.Agreeing(2), (2, 1))
    assert not stops(rivals.Agreeing(2), (1, 1, 1))
    votes = count_votes([[0, 1, 0, 0]], np.zeros((1, 4)))
    assert rivals.InARow(2).stops(votes).tolist() == [[False] * 3 + [True]]


def test_the_posterior_is_bayes_by_the_definition():
    """Each likelihood multiplied out: for every answer seen so far, and for one not seen yet."""
    rng = np.random.default_rng(4)
    classes = rng.integers(-1, 4, size=(30, 12))
    certainty = rng.uniform(0.2, 0.95, size=classes.shape)
    lengths = np.ones(classes.shape).cumsum(axis=1)
    fields = {"logprob": np.log(certainty)}
    streams = Streams(np.arange(30), classes, (classes == 0) * 1.0, lengths, fields.get)
    stops, worth = rivals.Believed(0.9, 10).play(streams)
    for row, sure, stop, value in zip(classes, certainty, stops, worth, strict=True):
        for n in range(1, 11):
            came = [(own, c) for own, c in zip(row[:n], sure[:n], strict=True) if own >= 0]
            seen = sorted({own for own, _ in came})
            others = max(len(seen), 1)
            likelihood = [
                math.prod(c if own == truth else (1 - c) / others for own, c in came)
                for truth in (*seen, None)
            ]
            best = max(likelihood[:-1], default=0) / sum(likelihood)
            if best >= 0.9 or n == 10:
                assert n == stop + 1
                assert value == float(bool(seen) and seen[np.argmax(likelihood[:-1])] == 0)
                break
