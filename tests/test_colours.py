"""The colours of budgets: distinct, in order of lightness, visible on white and on black."""

import numpy as np
import pytest

from adalib.colours import BUDGETS, arm_colours, budget_colours


def luminance(colour: str) -> float:
    """Relative luminance as the accessibility guidelines define it."""
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 20])
def test_each_budget_is_darker_than_the_one_before(k):
    light = [luminance(colour) for colour in budget_colours(k)]
    assert len(light) == k
    assert (np.diff(light) < 0).all()
    assert 1.05 / (max(light) + 0.05) > 1.8  # seen on white
    assert (min(light) + 0.05) / 0.05 > 3  # seen on black


def test_the_ends_are_the_palettes_own():
    assert budget_colours(5) == list(BUDGETS)
    assert (budget_colours(9)[0], budget_colours(9)[-1]) == (BUDGETS[0], BUDGETS[-1])
    assert budget_colours(3) == ["#b3bdc7", "#2e96b4", "#8b3fae"]
    assert arm_colours(["small", "small", "large"]) == ["#f3b27a", "#9c4a00", "#8fb8e0"]
