"""The replication table and the verdicts: complete, linked, decided by the recorded numbers, and
with numbers that other means confirm."""

from __future__ import annotations

import json
import re
from itertools import combinations

import numpy as np
import pytest
import record_referee
from conftest import ROOT
from referee import measures
from scipy.optimize import linprog

import adabook.paper
import adalib
from adabook.paper import referee
from adabook.paper.referee import (
    CLAIMS,
    RELATIONS,
    ROWS,
    STATUSES,
    Cell,
    Check,
    Evidence,
    Outcome,
    Row,
)

# Rows with cells outside their tolerance, which the page names and explains.
PARTLY = {"Table ablation_main = Table ablation", "Fig heatmap", "Fig archetypes"}

# Rows and claims that are measured again here: those that take less than a second.
AGAIN = ("Eq1/2/3", "Prop1", "Cor1", "Thm3(2)", "Table lambda_sweep", "NEW R7")
AGAIN_CLAIMS = ("nine of nine", "stratified", "b = 2 is frequent", "Theorem 2")

NOT_PRINTED = float("nan")


@pytest.fixture(scope="module")
def in_print():
    return json.loads(
        (ROOT / "data" / "simulated" / "paper_tables.json").read_text(encoding="utf-8")
    )["settings"]


def row_of(id: str) -> referee.Row:
    return next(row for row in ROWS if row.id == id)


def cells(id: str) -> dict[str, Cell]:
    return {cell.name: cell for cell in row_of(id).outcome.cells}


def test_every_item_and_claim_is_measured_by_a_function_of_its_own():
    for items in (ROWS, CLAIMS):
        assert len({item.by for item in items}) == len(items)
    assert [part for part, _ in record_referee.parts()] == [
        *(row.id for row in ROWS),
        *(claim.name for claim in CLAIMS),
    ]
    assert len(referee.cell_table()) == sum(len(row.outcome.cells) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_comes_out_as_it_says(row):
    cells = row.outcome.cells
    assert cells
    assert all(np.isfinite([cell.ours, cell.tolerance]).all() for cell in cells)
    assert (row.meant == "ours alone") == (not any(cell.printed for cell in cells))
    assert row.outcome.holds
    assert row.meant in STATUSES
    assert row.confirmed == (row.id not in PARTLY), row.status


@pytest.mark.parametrize("id", AGAIN)
def test_a_recorded_row_comes_out_again(id):
    then = row_of(id).outcome
    now = record_referee.measured_row(row_of(id).by)
    assert now["note"] == then.note
    assert [cell[2] for cell in now["cells"]] == pytest.approx([cell.ours for cell in then.cells])


@pytest.mark.parametrize("name", AGAIN_CLAIMS)
def test_what_decides_on_a_claim_comes_out_again(name):
    claim = next(claim for claim in CLAIMS if claim.name == name)
    now = record_referee.measured_claim(claim.by)
    assert now["value"] == pytest.approx(claim.evidence.value)
    assert now["says"] == claim.evidence.number


# A condition that cannot fail is no evidence: across its bound, each recorded number of each claim
# would have flipped the verdict.


def on_the_other_side(check: Check) -> float:
    """A value that the check forbids."""
    step = 1.0 + abs(check.bound)
    return check.bound + (step if check.relation in ("<", "<=", "=") else -step)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_each_number_behind_a_verdict_could_have_flipped_it(claim):
    evidence = claim.evidence
    assert evidence.checks
    assert evidence.holds, evidence.number
    assert re.search(r"\d", evidence.number)
    for place, check in enumerate(evidence.checks):
        assert check.relation in RELATIONS
        other = check._replace(value=on_the_other_side(check))
        checks = (*evidence.checks[:place], other, *evidence.checks[place + 1 :])
        assert not Evidence(evidence.value, evidence.number, checks).holds, check.name


def test_a_cell_agrees_within_its_tolerance():
    """At most 0.02 from 0.5, on the side that counts."""
    for relation, inside, outside in (("=", 0.52, 0.521), ("<=", 0.3, 0.53), (">=", 0.7, 0.4)):
        assert Cell("x", 0.5, inside, 0.02, relation).agrees
        assert not Cell("x", 0.5, outside, 0.02, relation).agrees


def test_what_is_not_printed_contradicts_nothing():
    alone = Outcome((Cell("a", NOT_PRINTED, 0.4), Cell("b", NOT_PRINTED, -1e-5)))
    assert not alone.outside
    assert Outcome((Cell("a", 0.5, 0.4), *alone.cells)).outside[0].paper == 0.5


@pytest.mark.parametrize(
    ("meant", "ours", "holds", "status"),
    [
        ("reproduced", 1.0, True, "reproduced"),
        ("reproduced", 2.0, True, "reproduced, but for 1"),
        ("by definition", 1.0, False, "not by definition"),
        ("corrected", 2.0, True, "corrected"),
        ("corrected", 1.0, True, "not corrected"),
        ("ours alone", 2.0, False, "not ours alone"),
    ],
)
def test_the_numbers_decide_the_status(meant, ours, holds, status, monkeypatch):
    checks = (Check("x", 0.0, "=", 0.0 if holds else 1.0),)
    monkeypatch.setattr(Row, "outcome", Outcome((Cell("c", 1.0, ours),), checks=checks))
    row = Row("x", "", "", meant, "data-reading", "nothing")
    assert row.status == status
    assert row.confirmed == (status == meant)


def test_the_printed_side_is_print(in_print):
    for cell in (cell for cell in cells("Table1 main").values() if cell.unit != "spread"):
        setting, method, target, part = re.fullmatch(
            r"(.+), (\w+), B = (.+): (\w+)", cell.name
        ).groups()
        assert (
            cell.paper == in_print[setting]["main"][method][part][("1.5", "2", "3").index(target)]
        )
    costs = np.array([tables["lambda_sweep"]["cost"] for tables in in_print.values()])
    over = (costs > [1.5, 2.0, 3.0]).sum()
    assert over == 6
    assert next(c for c in CLAIMS if c.name == "budget targeting").evidence.value == over


def test_levels_by_plain_counting():
    responses = adabook.paper.paper_setting("gpt-4o-mini-math")
    acc = responses.table(estimator="windows", ties="first").acc
    for level in (2, 3, 4):
        values = [acc[i, 4] for i, found in enumerate(responses.levels) if found == level]
        cell = cells("Table per_level")[f"gpt-4o-mini-math, level {level}: accuracy at b = 16"]
        assert cell.ours == pytest.approx(sum(values) / len(values))


def test_the_gap_of_one_question_by_a_solver_and_by_hand():
    # Acc = (0, 1), C = (1, 2), B = 1.5: no whole plan but the first is affordable, and it scores 0.
    relaxed = -linprog([0, -1], A_ub=[[1, 2]], b_ub=[1.5], A_eq=[[1, 1]], b_eq=[1]).fun
    gap = cells("Prop1")["gap of one question, Acc = (0, 1), B = 1.5"].ours
    assert gap == pytest.approx(relaxed - 0)


def test_labels_from_sixteen_trials_by_counting_pairs():
    """Another seed, and every pair of runs by itself."""
    table = adalib.Population.from_responses(adalib.load("math-qwen15")).table()
    rng = np.random.default_rng(7)
    runs = [
        adalib.frontier(rng.binomial(16, table.acc) / 16, table.cost).at(3).labels
        for _ in range(12)
    ]
    agree = np.mean([np.mean(a == b) for a, b in combinations(runs, 2)])
    evidence = next(claim for claim in CLAIMS if claim.name == "8 to 16 trials").evidence
    assert evidence.value == pytest.approx(agree, abs=0.02)


def test_near_misses_count_the_errors():
    found = measures.near_misses([[80, 5, 1, 0], [6, 2, 0, 0], [3, 0, 1, 1], [1, 0, 0, 0]])
    assert found["error"] == pytest.approx(17 / 100)
    assert found["near"] == pytest.approx((5 + 6 + 1) / 17)
    assert found["to_first"] == pytest.approx(10 / 17)
    assert measures.near_misses(np.eye(3))["error"] == 0
