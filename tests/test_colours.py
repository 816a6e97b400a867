"""The colours of budgets: distinct, in order of lightness, visible on white and on black."""

import numpy as np
import pytest
from conftest import contrast, luminance

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
    assert budget_colours(3) == ["#b3bdc7", "#2e96b4", "#8b3fae"]
    assert arm_colours(["small", "small", "large"]) == ["#f3b27a", "#9c4a00", "#8fb8e0"]
