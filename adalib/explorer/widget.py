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


class Explorer(anywidget.AnyWidget):
    """A live lambda explorer: Python sees what the reader does on the page, and the reverse.

    Attributes
    ----------
    lam : float
        The price; setting it releases the budget.
    budget : float or None
        The budget asked for; None while the price leads.
    selected : int
        Row of the question shown.
    """

    _esm = script()
    _css = style()
    _settings: Any = traitlets.List().tag(sync=True)

    lam = traitlets.Float(0.0).tag(sync=True)
    budget = traitlets.Float(None, allow_none=True).tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("lam", "budget")
    def _at_least_zero(self, proposal: dict) -> float | None:
        value = proposal["value"]
        if value is not None and not (isfinite(value) and value >= 0):
            raise traitlets.TraitError(
                f"{proposal['trait'].name} is {value}; give a finite number, 0 or more"
            )
        return value

    @traitlets.validate("selected")
    def _a_row(self, proposal: dict) -> int:
        n = len(self._settings[0]["ids"]) if self._settings else 1
        if not 0 <= proposal["value"] < n:
            raise traitlets.TraitError(
                f"selected is {proposal['value']}; give a row from 0 to {n - 1}"
            )
        return proposal["value"]


def explore(
    source: UtilityTable | Responses | Menu,
    *,
    lam: float | None = None,
    budget: float | None = None,
    selected: int = 0,
) -> Explorer:
    """Explore a table, or sampled answers, in Jupyter.

    Price, budget and selected row are also attributes of the widget, and ``widget.observe(function,
    "lam")`` follows the slider. Explained in the chapter "The explorer".

    Parameters
    ----------
    source : UtilityTable, Responses or Menu
        What to explore; of answers, the accuracy over all subsets, with costs in answers.
    lam : float, optional
        Price at the start. Default: the median breakpoint.
    budget : float, optional
        Average budget at the start, instead of a price.
    selected : int
        Row of the question shown first.

    Returns
    -------
    Explorer
        The widget; the last expression of a cell shows it.

    Raises
    ------
    ValueError
        If the source is none of the three kinds.

    Examples
    --------
    >>> widget = explore(UtilityTable([[0.1, 0.9], [0.2, 0.6]], cost=[1, 2]), lam=0.5)
    >>> widget.lam, widget.selected
    (0.5, 0)
    """
    described = setting(source, lam=lam)
    return Explorer(_settings=[described], lam=described["lam"], budget=budget, selected=selected)
