"""The lambda explorer: drag the price of compute and watch who gets how much of it.

One front end, in parts under ``front/``, in two hosts. In Jupyter, `explore` shows it as a widget whose price is a
Python attribute. On a page without a kernel, `static_html` (a fragment for the book) and `page` (a whole file) inline
the front end and the tables, and the oracle is computed in the reader's browser; nothing is fetched, nothing is sent.
"""

from __future__ import annotations

from adalib.explorer.data import read_csv, setting
from adalib.explorer.static import page, static_html
from adalib.explorer.widget import Explorer, explore

__all__ = ["Explorer", "explore", "page", "read_csv", "setting", "static_html"]
