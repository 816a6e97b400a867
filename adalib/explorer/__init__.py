"""The lambda explorer: drag the price of compute and watch who gets how much of it.

One front end, in parts under ``front/``, in two hosts: `explore` shows it in Jupyter; `static_html` (a fragment) and
`page` (a whole file) inline it with the tables, and the reader's browser computes: nothing is fetched, nothing is sent.
"""

from __future__ import annotations

from adalib.explorer.data import read_csv, setting
from adalib.explorer.static import page, static_html
from adalib.explorer.widget import Explorer, explore

__all__ = ["Explorer", "explore", "page", "read_csv", "setting", "static_html"]
