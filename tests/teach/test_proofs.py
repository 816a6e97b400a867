"""Chains of inequalities: right ones pass on thousands of cases, and the first false step is shown on a small one."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adalib.solve.oracle import chosen
from adalib.teach.exercises import checker, dispatch, proofs, proofs_duality
from adalib.teach.exercises.prove import Proof


def mean(table, plan):
    return chosen(table, plan).mean()


def net(acc, cost, lam):
    return acc - lam * cost


RIGHT = {
    "MONOTONE": [
        lambda low: 0,
        lambda low, a_low, c_low, a_high, c_high: (a_low - low * c_low) - (a_high - low * c_high),
        lambda low, high, c_low, c_high: (high - low) * (c_low - c_high),
    ],
    "EVERETT": [
        lambda acc, plan: mean(acc, plan),
        lambda acc, cost, lam, plan, oracle: mean(acc, plan) + lam * (mean(cost, oracle) - mean(cost, plan)),
        lambda acc, oracle: mean(acc, oracle),
    ],
    "PRICE_OF_MORE": [
        lambda v_large: v_large,
        lambda acc, cost, lam, large: net(acc, cost, lam).max(axis=1).mean() + lam * large,
        lambda v_small, lam, small, large: v_small + lam * (large - small),
    ],
    "ONE_SPLIT": [
        lambda bound, accuracy: bound - accuracy,
        lambda lam, slack: lam * slack,
        lambda gain, n: gain / n,
        lambda n: 1 / n,
    ],
    "WEAK_DUALITY": [
        lambda acc, plan: mean(acc, plan),
        lambda acc, cost, lam, budget, plan: mean(acc, plan) + lam * (budget - mean(cost, plan)),
        lambda acc, cost, lam, budget: net(acc, cost, lam).max(axis=1).mean() + lam * budget,
    ],
    "RECOVERY": [
        lambda acc, policy, best: best - mean(acc, policy),
        lambda acc, cost, lam, budget, policy: adalib.dual(acc, cost, lam, budget) - mean(acc, policy),
        lambda acc, cost, lam, budget, policy, oracle: (
            mean(net(acc, cost, lam), oracle) - mean(net(acc, cost, lam), policy) + lam * (budget - mean(cost, policy))
        ),
    ],
    "REGRET": [
        lambda acc, cost, lam, policy: net(acc, cost, lam).max(axis=1).mean() - mean(net(acc, cost, lam), policy),
        lambda acc, cost, lam, policy, oracle: (np.ptp(net(acc, cost, lam), axis=1) * (policy != oracle)).mean(),
        lambda acc, cost, lam, policy, oracle: np.ptp(net(acc, cost, lam), axis=1).max() * (policy != oracle).mean(),
    ],
    "BRACKET": [
        lambda draws, truth: truth[draws.argmax(axis=1)].mean(),
        lambda truth: truth.max(),
        lambda draws: draws.max(axis=1).mean(),
    ],
    "NOISE": [
        lambda draws, truth: draws.max(axis=1).mean() - truth.max(),
        lambda draws, truth: (draws - truth).max(axis=1).mean(),
        lambda draws, truth: np.linalg.norm(draws - truth, axis=1).mean(),
        lambda draws, truth: np.sqrt(((draws - truth) ** 2).mean(axis=0).sum()),
    ],
    "FLOOR": [
        lambda capacity, fuel, demand, price: price * demand - capacity @ np.maximum(price - fuel, 0),
        lambda fuel, run, demand, price: price * demand - run @ np.maximum(price - fuel, 0),
        lambda fuel, run: run @ fuel,
    ],
}


CLAIMS = {
    name: claim
    for module in (proofs, proofs_duality, dispatch)
    for name, claim in vars(module).items()
    if isinstance(claim, Proof)
}


def test_every_claim_has_a_proof():
    assert set(CLAIMS) == set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_chain_passes_and_every_mistake_is_named(name, monkeypatch):
    proof, chain = CLAIMS[name], RIGHT[name]
    check = checker({name: proof})
    found = check(name, chain)
    assert found.right, found
    monkeypatch.setattr("adalib.teach.exercises.prove._CASES", 200)  # a false step shows soon
    assert "the chain jumps" in check(name, [chain[0], chain[-1]]).hint
    assert len(proof.mistakes) >= 3
    for said, mistake in proof.mistakes.items():
        found = check(name, [chain[0], mistake, *chain[2:]])
        assert not found.right
        assert "breaks" in found.hint
        assert said in found.hint
        assert found.picture
        assert found.more


class TestAnythingAReaderMayHandIn:
    check = staticmethod(checker({"duality": proofs_duality.WEAK_DUALITY}))

    @pytest.mark.parametrize(
        ("chain", "said"),
        [
            ("weak duality", "a list of lines"),
            ([1, 2], "a list of lines"),
            ([RIGHT["WEAK_DUALITY"][0]], "a list of lines"),
            (
                [lambda accuracy: 0, lambda acc: 1],
                "line 1 names accuracy; the objects are acc, budget, cost, lam, plan",
            ),
            ([lambda acc: 1 / 0, lambda acc: 1], "line 1 has no value: it raised ZeroDivisionError"),
            ([lambda acc: acc, lambda acc: 1], "line 1 has no value: it is array"),
            ([lambda acc: 0.0, *RIGHT["WEAK_DUALITY"][1:]], "the first line is 0 here, and that side of the claim is"),
            ([*RIGHT["WEAK_DUALITY"][:2], lambda acc: 9], "the last line is 9 here"),
        ],
    )
    def test_it_gets_a_hint(self, chain, said):
        found = self.check("duality", chain)
        assert found.right is False
        assert said in found.hint

    def test_the_counterexample_is_small(self):
        first, middle, last = RIGHT["WEAK_DUALITY"]
        turned = lambda acc, cost, lam, budget, plan: mean(acc, plan) + lam * (mean(cost, plan) - budget)  # noqa: E731
        picture = self.check("duality", [first, turned, last]).picture
        assert picture.splitlines()[0].split() == ["acc", "=", "[[0.", "0.]]"]
        assert picture.splitlines()[1].split()[0] == "cost"  # so there was one question
