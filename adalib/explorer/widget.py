"""The explorer in Jupyter: the same front end as a widget, its price a Python attribute."""

from __future__ import annotations

from math import isfinite
from typing import Any

import anywidget
import traitlets

from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.explorer.data import setting
from adalib.explorer.static import script, style
from adalib.table import UtilityTable

__all__ = ["Explorer", "explore"]


class Explorer(anywidget.AnyWidget):
    """A lambda explorer, live: what a hand does on the page is seen in Python, and the other way round."""

    _esm = script()
    _css = style()
    _settings: Any = traitlets.List().tag(sync=True)

    lam = traitlets.Float(0.0).tag(sync=True)  # the price; setting it lets go of the budget
    budget = traitlets.Float(None, allow_none=True).tag(sync=True)  # asked for; None while the price leads
    selected = traitlets.Int(0).tag(sync=True)  # the row of the question shown

    @traitlets.validate("lam", "budget")
    def _at_least_zero(self, proposal: dict) -> float | None:
        value = proposal["value"]
        if value is not None and not (isfinite(value) and value >= 0):
            raise traitlets.TraitError(f"{proposal['trait'].name} is {value}; give a finite number, 0 or more")
        return value

    @traitlets.validate("selected")
    def _a_row(self, proposal: dict) -> int:
        n = len(self._settings[0]["ids"]) if self._settings else 1
        if not 0 <= proposal["value"] < n:
            raise traitlets.TraitError(f"selected is {proposal['value']}; give a row from 0 to {n - 1}")
        return proposal["value"]


def explore(
    source: UtilityTable | Responses | Menu, *, lam: float | None = None, budget: float | None = None, selected: int = 0
) -> Explorer:
    """Explore a table, or sampled answers, in Jupyter.

    It starts at a price (``lam``; default: the median breakpoint) or at a ``budget``, with the question of the row
    ``selected``. All three are attributes of the widget; ``w.observe(f, "lam")`` follows the slider. Explained in
    chapter 2, "The oracle".
    """
    described = setting(source, lam=lam)
    return Explorer(_settings=[described], lam=described["lam"], budget=budget, selected=selected)
