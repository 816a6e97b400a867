"""The figures of the book, and `show` to put one on a page.

``shapes`` holds what figures are made of (lines with intervals, bars, panels, a slider). Beyond that, ``prices`` draws
what chapters 0 to 4 need, ``evidence`` what the chapters on results need, and ``tables`` what is no picture.
"""

from adalib.evaluate.intervals import in_points
from adalib.teach.figures.style import COLOURS, show
from adalib.teach.figures.tables import table

__all__ = ["COLOURS", "in_points", "show", "table"]
