"""Figures, tables and cards on a page of the book, which needs no network and may turn dark.

A chapter imports what it needs from here: :func:`show` places a ``plotly`` figure on the page,
:func:`drawing` one that was drawn by hand, :func:`table` a table, :func:`cards` the claims
and our verdicts. In JupyterLab its own renderer draws the figures.

``style`` has the colours and the template, ``page``, ``tables`` and ``verdicts`` what is shown.
``overview`` is the drawing that returns in each part, and ``shapes`` holds what figures are made
of. Of the chapters' own figures, ``votes``, ``prices`` and ``duality`` draw those on prices,
``evidence`` and ``choices`` those on results.

Names are loaded on first use: a figure in the page must not wait for the libraries of another.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "verdicts": ["cards"],
        "page": ["HTML", "drawing", "plain", "show"],
        "style": ["COLOURS", "faint"],
        "tables": ["table"],
        "overview": ["whole"],
    },
)
