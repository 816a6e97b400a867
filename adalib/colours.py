"""One colour a budget, in every figure and in the explorer.

From a quiet grey for the cheapest budget to a strong purple for the dearest. Each is darker than the one before, so
that lightness alone tells them apart, whatever the eye; all read on white and on black, so that a budget keeps its
colour when the page turns dark.
"""

from __future__ import annotations

__all__ = ["BUDGETS", "budget_colours"]

BUDGETS = ("#b3bdc7", "#66beb0", "#2e96b4", "#4274be", "#8b3fae")


def budget_colours(k: int) -> list[str]:
    """Return the colours of ``k`` budgets, cheapest first: the five of `BUDGETS`, or colours between them.

    Examples
    --------
    >>> budget_colours(3)
    ['#b3bdc7', '#2e96b4', '#8b3fae']
    """
    stops = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in BUDGETS]
    found = []
    for budget in range(k):
        place = (len(stops) - 1) * budget / max(k - 1, 1)
        at = min(int(place), len(stops) - 2)
        mixed = (round(low + (place - at) * (high - low)) for low, high in zip(*stops[at : at + 2], strict=True))
        found.append("#" + "".join(f"{channel:02x}" for channel in mixed))
    return found
