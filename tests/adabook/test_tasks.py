"""The functions and proofs of homework: right roads pass, mistakes and circles do not."""

from __future__ import annotations

import pytest
import solved_tasks

from adabook.exercises.behaviour import HOLDS, Holds
from adabook.tasks import _NUMBERS, FUNCTIONS, PROOFS, Task, judged

RULES = [(variant, number) for variant in FUNCTIONS for number in _NUMBERS[variant]]
ROADS = [(variant, road) for variant, roads in solved_tasks.PROOFS.items() for road in roads]


@pytest.fixture(autouse=True)
def _few_cases(monkeypatch):
    """A false step shows soon; practice tries ten times as many."""
    monkeypatch.setattr("adabook.exercises.behaviour.PROOF_CASES", 200)


@pytest.mark.parametrize(("variant", "number"), RULES)
def test_other_code_for_a_rule_is_right(variant, number):
    code = solved_tasks.function(Task("", variant, number))
    mine = solved_tasks.answered(code, "my_function")
    assert judged(variant, number).fault(mine) is None


@pytest.mark.parametrize(("variant", "number"), RULES)
def test_every_mistake_of_a_function_gets_its_hint(variant, number):
    exercise = judged(variant, number)
    for name, mistake in exercise.mistakes.items():

        def mine(acc, cost, budget, mistake=mistake):
            return mistake(acc, cost, budget)

        assert exercise.fault(mine).hint == name


@pytest.mark.parametrize(("variant", "road"), ROADS)
def test_every_road_to_a_claim_holds(variant, road):
    assert PROOFS[variant].fault(solved_tasks.answered(road, "my_proof")) == Holds(HOLDS)


@pytest.mark.parametrize("variant", PROOFS)
def test_a_jump_is_asked_for_its_idea(variant):
    claim = PROOFS[variant]
    assert claim.jump in claim.fault([claim.first, claim.last]).hint


@pytest.mark.parametrize("variant", PROOFS)
def test_a_false_line_is_found(variant):
    claim = PROOFS[variant]
    for name, line in claim.mistakes.items():
        assert claim.fault([claim.first, line, claim.last]).hint.endswith(name)
