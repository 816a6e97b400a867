"""A condition that cannot fail is no evidence: for every claim, something that it could have seen flips its verdict."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from adalib.paper import results
from adalib.paper.register import CLAIMS, Cell, Claim, Found
from adalib.paper.settings import PAPER, PAPER_ABLATIONS, PAPER_SETTINGS, PAPER_WAY


def printed(change, source=PAPER):
    """The printed tables with other numbers in them."""
    tables = deepcopy(source)
    change(tables)
    return {"printed": tables}


def row(*ours: float):
    """A row whose cells, all meant to be 0, came out so."""
    found = Found(tuple(Cell(f"x, Ours, {number}", 0, value) for number, value in enumerate(ours)))
    return {"row": lambda id: SimpleNamespace(found=found)}


def fared(failures: int):
    """Every statement failing so often, printed or ours."""
    versions = ["printed", "printed", "printed", "ours"]
    frame = pd.DataFrame({"version": versions, "cases": 700, "failures": failures, "widest": 0.0})
    return {"fared": lambda statement: frame}


def scored(**gains: float):
    """Held-out rows with these gains, each with an interval of 0.01 to both sides."""
    rows = {name: SimpleNamespace(gain=g, gain_low=g - 0.01, gain_high=g + 0.01) for name, g in gains.items()}
    return {"rows": lambda by_family=False: rows}


def said(argument: str, value):
    """A measurement that came out otherwise."""
    return {argument: lambda *options: value}


def frame(make, **columns):
    """A measured table with other numbers in some columns."""
    return make().assign(**columns)


def at_level_3(low: float) -> dict:
    found = pd.DataFrame({"level": ["2", "3", "4"], "gain_low": [0.0, low, 0.0], "gain_high": [0.05, 0.2, 0.1]})
    return said("by_level", found)


def spread(tables):
    for name in PAPER_SETTINGS:
        tables[name]["main"]["Ours"]["std"] = [0.05] * 3


def three_kinds_of_model(tables):
    for number, name in enumerate(PAPER_SETTINGS[:3]):
        for level in tables[name]["per_level"].values():
            level["acc1"] = 0.3 + 0.2 * number


def one_level(tables):
    for name in PAPER_SETTINGS[:3]:
        tables[name]["main"]["Fixed"]["accuracy"][0] = tables[name]["per_level"]["2"]["acc1"]


def steep_fourth_level(tables):
    for name in PAPER_SETTINGS[:3]:
        tables[name]["level_gain"] = [0.01, 0.05, 0.09]


def two_helps(tables):
    tables["gpt-4o-mini-math"]["main"]["Fixed"]["accuracy"] = [0.474, 0.5, 0.5]


def two_is_common(tables):
    for name in PAPER_SETTINGS[:3]:
        tables[name]["label_shares"] = [[0.6, 0.2, 0.15, 0.03, 0.02]] * 3


def curve(accuracy: float):
    """A learning curve over all questions that stays at one accuracy; Fixed has 0.5, the oracle 0.6."""
    shares = pd.MultiIndex.from_product([["all"], [0.1, 0.5, 1.0]], names=["part", "share"])
    return said("curve", pd.DataFrame({"accuracy": [0.4, 0.4, accuracy], "fixed": 0.5, "oracle": 0.6}, index=shares))


def leads(split: str) -> pd.DataFrame:
    accuracy = {"forest": 0.55, "gbm": 0.55, "logistic": 0.5, "svm": 0.5}
    return pd.DataFrame({"accuracy": accuracy})


TRIED = pd.DataFrame({"claimed": 0.55, "worth": 0.55}, index=[1, 8, 16])
FRONT = pd.DataFrame({"budget": [1.0, 3.0, 16.0], "fixed": 0.5, "mix": 0.5, "oracle": 0.6, "learned": [0.5, 0.5, 0.7]})
SPENT = pd.DataFrame(
    [("deepseek-v3-math", "Ours", 3.0, 3.0, 2.73)], columns=["setting", "method", "target", "cost", "printed_cost"]
)
CLUSTERS = {"easy_first": 0.9, "hard_highest": 0.1, "responsive_first": 0.35, "responsive_share": 0.99}

OTHERWISE = {
    "formulation": {"setting": "drill-fewshot"},
    "kinds": {"setting": "deepseek-v3-gsm8k"},
    "decoupling": row(0.0, 0.1),
    "one price": row(3),
    "free compute": printed(lambda t: t["deepseek-v3-gsm8k"]["lambda_sweep"].update(cost=[1.5, 2.0, 16.0])),
    "who leaves first": {"setting": "deepseek-v3-gsm8k"},
    "budget targeting": said("misses", [-0.01] * 12),
    "nine of nine": said("misses", [0.04] * 12),
    "mixing": said("misses", [0.1]),
    "logarithmic search": {"budget": 16},
    "plateaus": {"finer": PAPER_WAY},
    **{name: fared(1) for name in ("Theorem 1", "weak duality", "relaxation", "Theorem 2", "Corollary 1")},
    **{name: fared(0) for name in ("Proposition 1", "exact solution", "optimality condition", "figure of Theorem 2")},
    "proportional": said("compared", SimpleNamespace(runs=pd.DataFrame({"regret": [0.9], "largest": [1.0]}))),
    "Theorem 3 (1)": fared(1),
    "Theorem 3 (2)": fared(0),
    "vanishing gap": said("copies", (0, 700)),
    "pipeline": scored(label=0.005),
    "training time": said("seconds", 2.0),
    "windows": {"budget": 1},
    "oracle as bound": {"samples": 480},
    "8 to 16 trials": said("trials", TRIED),
    "one trial": said("trials", TRIED),
    "base accuracy": printed(three_kinds_of_model),
    "stratified": printed(one_level),
    "sixteen features": row(0, 0),
    "overhead": said("seconds", 0.01),
    "three seeds": printed(spread),
    "beats everyone": said("implied", frame(results.implied_held_out, gain=0.03)),
    "table as evidence": row(0.0, 1.0),
    "matched budgets": said("gains", frame(results.claimed_gains, cost=2.0, fixed_cost=2.0)),
    "points over Fixed": said("gains", np.full((4, 3), 0.05)),
    "imitation": said("implied", frame(results.implied_held_out, held_out_imitation=0.99)),
    "thrift": said("table", SPENT),
    "heuristic": said("gains", np.full((4, 3), 0.01)),
    "baselines": printed(lambda t: t["gpt-4o-mini-math"]["main"]["Random"].update(accuracy=[0.48, 0.49, 0.5])),
    "largest gains": said("frontier", FRONT),
    "plateau at 3": said("frontier", FRONT),
    "predictable": scored(curve=0.005),
    "gains by level": at_level_3(low=0.1),
    "difficulty, not model": printed(three_kinds_of_model),
    "selective oracle": {"budget": 8},
    "b = 2 is rare": printed(two_helps),
    "b = 2 is frequent": printed(two_is_common),
    "inverted U": said("null", 0.1),
    "by level": printed(steep_fourth_level),
    "faithful copy": said("copied", 0.3),
    "four clusters": said("clusters", CLUSTERS),
    "responsive minority": said("clusters", CLUSTERS),
    "trees beat linear": {"table": leads},
    "oracle gap of the ablation": printed(lambda t: t["classifiers"]["svm"].update(accuracy=0.496), PAPER_ABLATIONS),
    "8 to 25%": printed(lambda t: t["classifiers"]["gbm"].update(imitation=0.92), PAPER_ABLATIONS),
    "near misses": said("near", {"near": 0.8, "to_first": 0.1}),
    "a few dozen questions": curve(0.55),
    "features are the bottleneck": curve(0.55),
    "powers of two": said("menus", {"fine": 0.01, "coarse": -0.01, "without 2": 0.0}),
    "even importances": said("noise", (0.01, 0.4)),
    "first to formalise": {"earlier": ()},
    "unlike marginal rewards": scored(label=0.05, curve=0.01),
    "any setting": {"settings": ("word-fewshot", "word-hot")},
    "discrete budgets": {"menu": (1, 2, 4, 8, 16)},
}


def test_every_claim_has_its_other_case():
    assert set(OTHERWISE) == {claim.name for claim in CLAIMS}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_verdict_could_have_come_out_otherwise(claim):
    evidence = Claim.judged(claim.measure(**OTHERWISE[claim.name]))
    assert np.isfinite(evidence.value)
    assert not evidence.holds, evidence.says
