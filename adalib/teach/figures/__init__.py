"""The figures of the book: one module a part of the book, one function a figure, and `show` to put one on a page.

A chapter imports the module that draws its figures (``from adalib.teach.figures import answers as draw, show``), so
that it depends on its own figures and on no others.
"""

from adalib.teach.figures.style import COLOURS, in_points, show, table

__all__ = ["COLOURS", "in_points", "show", "table"]
