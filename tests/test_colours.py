"""Colours: budgets in order of lightness, visible on white and on black; one table of meanings for
Python and pages."""

import re

import numpy as np
import pytest
from conftest import ROOT, contrast, luminance

from adabook.colours import MEANINGS
from adalib.colours import BUDGETS, arm_colours, budget_colours


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 20])
def test_each_budget_is_darker_than_the_one_before(k):
    colours = budget_colours(k)
    assert len(colours) == k
    assert (np.diff([luminance(colour) for colour in colours]) < 0).all()
    assert contrast(colours[0], "#ffffff") > 1.8
    assert contrast(colours[-1], "#000000") > 3


def test_the_ends_are_the_palettes_own():
    assert budget_colours(5) == list(BUDGETS)
    assert (budget_colours(9)[0], budget_colours(9)[-1]) == (BUDGETS[0], BUDGETS[-1])


def test_arms_of_a_model_are_shades_of_its_own():
    light, dark, other = arm_colours(["small", "small", "large"])
    assert luminance(light) > luminance(dark)
    assert len({light, dark, other}) == 3


STATIC = ROOT / "book" / "_static"


def test_pages_have_the_packages_colours():
    style = (STATIC / "custom.css").read_text(encoding="utf-8")
    for meaning, colour in MEANINGS.items():
        assert re.findall(rf"^  --{meaning}: (#\w+);", style, re.M) == [colour.lower()]


def test_a_game_names_what_a_colour_means():
    palette = "|".join({colour.lower() for colour in MEANINGS.values()})
    front = ROOT / "book" / "adabook" / "games" / "front"
    for file in [*STATIC.glob("*.css"), *STATIC.glob("*.js"), *front.iterdir()]:
        if file.name == "deck.css":  # slides load no other style sheet
            continue
        text = re.sub(r"^  --[\w-]+: #\w+;$", "", file.read_text(encoding="utf-8"), flags=re.M)
        assert not re.search(palette, text.lower()), file.name
