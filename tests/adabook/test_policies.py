"""The published rules that a reader may change decide as their authors' programs do."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import product
from types import SimpleNamespace

import adaptive_consistency as theirs
import numpy as np
import pytest
from conftest import run_to_end
from its_hub.core.algorithms.adaptive_self_consistency import AdaptiveSelfConsistency
from its_hub.core.algorithms.beta_self_consistency import BetaSelfConsistency

from adabook.policies import by_certainty, by_votes
from adalib.evaluate.learners import fresh
from adalib.sequential.watching import Answer


def seen(texts, logprobs=None):
    return tuple(
        Answer(str(text) if text != "" else "", None, None if logprobs is None else logprobs[i])
        for i, text in enumerate(texts)
    )


def asked(policy, texts, logprobs=None):
    """How many of these answers a policy asks for."""
    whole = seen(texts, logprobs)
    stops = (n for n in range(1, len(whole)) if not policy.more(whole[:n]))
    return next(stops, len(whole))


def test_adaptive_consistency_stops_where_its_authors_do():
    rule = by_votes.AdaptiveConsistency()
    for a in range(1, 39):
        for b in range(min(a, 39 - a) + 1):
            answers = ["1"] * a + ["2"] * b
            assert (
                rule.more(seen(answers))
                is not theirs.BetaStoppingCriteria(0.95).should_stop(answers)["stop"]
            )


class Spoken:
    """Stands where its_hub would ask a model; its answers come one after the other, some turns of
    the loop apart."""

    def __init__(self, answers):
        self.texts, self.calls = iter(map(str, answers)), 0

    async def agenerate(self, lm, batch, **_):
        texts = [next(self.texts) for _ in batch]
        self.calls += 1
        for _ in range(12 * (self.calls - 1)):
            await asyncio.sleep(0)
        return [{"role": "assistant", "content": text} for text in texts]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (partial(BetaSelfConsistency, 0.95), by_votes.AdaptiveConsistency()),
        (partial(AdaptiveSelfConsistency, 0.75), by_votes.Doubling()),
    ],
)
def test_decides_as_its_hub(theirs, ours):
    rng = np.random.default_rng(3)
    for _ in range(20):
        answers = rng.integers(0, rng.integers(1, 5), size=16).tolist()
        rule = theirs(orchestrator=Spoken(answers))
        heard = run_to_end(rule.ainfer(None, "?", 16, return_response_only=False)).responses
        assert asked(ours, answers) == len(heard)


def test_rules_by_votes_on_streams_by_hand():
    assert asked(by_votes.EarlyStopping(), [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]) == 10
    assert asked(by_votes.EarlyStopping(), [""] * 12) == 12
    assert asked(by_votes.Lead(), [1, 2, 1, 1, 2, 1, 1, 1]) == 7
    assert asked(by_votes.TwoAgree(), [1, "", 2, "", 1, 1]) == 5
    assert asked(by_votes.TwoInARow(), [1, 2, 1, "", "", 3, 3, 4]) == 7
    # A lead of log(19) / log(7 / 3) = 3.5 over all others, or as far behind.
    assert asked(by_votes.WaldsTest(), [1, 1, 2, 1, 1, 1, 1, 1]) == 6
    assert asked(by_votes.WaldsTest(), [1, 2, 3, 4, 5, 6, 7, 8]) == 6


def test_the_learned_prior_is_bayes_by_hand():
    shares = np.array([[0.7, 0.2, 0.1, 0.0], [0.5, 0.3, 0.1, 0.1]])
    classes = np.array([[0] * 7 + [1] * 2 + [2], [5] * 5 + [1] * 3 + [2, 3]])
    policy = by_votes.LearnedPrior()
    policy.fit(SimpleNamespace(classes=classes))
    for first, second, others in ((1, 0, 0), (2, 1, 0), (3, 1, 2)):
        terms = [
            (i == 0, p[i] ** first * p[j] ** second * (1 - p[i] - p[j]) ** others)
            for p in shares
            for i, j in product(range(4), repeat=2)
            if i != j
        ]
        expected = sum(x for mode, x in terms if mode) / sum(x for _, x in terms)
        assert policy.chance(first, second, others) == pytest.approx(expected)


def test_weighted_votes_by_hand():
    heard = seen(["1", "1", "2", ""], np.log([0.5, 0.5, 0.9, 0.99]))
    assert by_certainty.Cisc(4).answer(heard) == "2"  # 0.9 ** 6 is more than 2 * 0.5 ** 6
    assert by_certainty.heaviest(heard, 0.5) == "1"  # 2 * 0.5 ** 0.5 is more than 0.9 ** 0.5
    # Ten answers: the least sure vote for 2, at 0.5, decides where it counts.
    close = seen(["1", *"222", *"345678"], np.log([0.6, 0.5, 0.51, 0.51, *[0.55] * 6]))
    assert by_certainty.Cisc(10).answer(close) == "2"
    assert by_certainty.DeepConf(10).answer(close) == "1"
    assert asked(by_certainty.Cisc(3), range(9), np.zeros(9)) == 3


def test_the_posterior_is_bayes_by_the_definition():
    """Each likelihood multiplied out: for every answer seen so far, and for one not seen yet."""
    rng = np.random.default_rng(4)
    policy = by_certainty.Cges()
    for _ in range(50):
        n = rng.integers(1, 8)
        texts = [str(c) if c else "" for c in rng.integers(0, 4, n)]
        certainty = rng.uniform(0.2, 0.95, n)
        came = [(own, c) for own, c in zip(texts, certainty, strict=True) if own]
        distinct = sorted({own for own, _ in came})
        likelihood = {
            truth: np.prod(
                [c if own == truth else (1 - c) / max(len(distinct), 1) for own, c in came]
            )
            for truth in [*distinct, None]
        }
        best = max(distinct, key=likelihood.get, default="")
        heard = seen(texts, np.log(certainty))
        assert policy.answer(heard) == best
        share = likelihood[best] / sum(likelihood.values()) if best else 0
        assert policy.more(heard) is bool(share < 0.99)


def test_plans_from_the_first_answer_spend_the_budget():
    rng = np.random.default_rng(5)
    logprob = np.log(rng.uniform(0.3, 0.99, (400, 16)))
    policy = by_certainty.Uab(3.0)
    policy.fit(SimpleNamespace(logprob=logprob, samples=16))
    spent = [asked(policy, range(16), row) for row in logprob]
    assert np.mean(spent) == pytest.approx(3.0, abs=0.01)
    # The surest first answers and the least sure ones get the fewest.
    order = np.argsort(logprob[:, 0])
    assert np.mean(np.take(spent, order[-100:])) < np.mean(np.take(spent, order[100:200]))


def test_a_reservation_value_spends_the_budget():
    rng = np.random.default_rng(6)
    # Some questions are never sure, and all their answers are asked for.
    logprob = np.log(rng.uniform(0.3, 0.99, (2000, 40)) * rng.choice([1.0, 0.5], (2000, 1)))
    policy = by_certainty.Weitzman(22.0)
    policy.fit(SimpleNamespace(logprob=logprob))
    spent = [asked(policy, range(40), row) for row in logprob[::4]]
    assert np.mean(spent) == pytest.approx(22.0, abs=1.5)
    assert policy.answer(seen(["1", "", "2"], [-0.5, -0.1, -0.3])) == "2"


@pytest.mark.parametrize("name", ["Cisc", "DeepConf", "Cges", "Uab", "Weitzman"])
def test_files_without_log_probabilities_are_refused(name):
    with pytest.raises(ValueError, match=f'{name} needs "logprob"'):
        fresh(getattr(by_certainty, name), 3).fit(SimpleNamespace(logprob=None))
