"""The dear tables of chapter 13: their cells, and a cheap part of what is recorded computed again."""

from __future__ import annotations

import pytest

import adalib
from adalib.evaluate.recorded import GO_UP, MODEL_LEARNERS, model_cells, recorded_cells, way_cells


def test_a_menu_has_its_oracle_its_climber_and_one_model_alone():
    models = {name: adalib.load(f"story-{key}").take(range(40)) for name, key in (("s", "qwen05"), ("l", "qwen15"))}
    menu = adalib.Menu(models).priced({"s": 1, "l": 3}, per="samples")
    cells = way_cells(menu, [3, 6], alone="l")
    assert {(cell["policy"], cell["target"]) for cell in cells} == {
        (policy, target) for policy in ("oracle", GO_UP, "l alone, priced") for target in (3, 6)
    }
    for cell in cells:
        assert cell["gain_low"] <= cell["gain"] <= cell["gain_high"]


def test_what_is_recorded_is_what_is_computed():
    """Every part and policy is there, and a cheap part of it comes out again."""
    recorded = recorded_cells("minds")
    for part in ("word-fewshot", "story-qwen05", "story-qwen15"):
        assert {policy for policy, _ in recorded[part]} == {"oracle", "oracle_in_sample", "noise", *MODEL_LEARNERS}
    assert {target for _, target in recorded["by size"]} == {40, 60, 80, 120}
    assert {policy for policy, _ in recorded["1 to 10"]} == {"oracle", GO_UP}
    learners = {"curve policy": MODEL_LEARNERS["curve policy"]}
    for cell in model_cells(adalib.load("story-qwen15"), [2], learners):
        kept = recorded["story-qwen15"][cell["policy"], 2]
        for name in ("cost", "accuracy", "gain", "gain_low"):
            assert cell[name] == pytest.approx(kept[name], abs=1e-3)
