"""The lambda explorer: drag the price of compute and watch who gets how much of it.

One front end, in parts under ``front/``, in two hosts: `explore` shows it in Jupyter; `static_html` (a fragment) and
`page` (a whole file) inline it with the tables, and the reader's browser computes: nothing is fetched, nothing is sent.
"""

import lazy_loader

# On first use, because only Jupyter has widgets.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "data": ["read_csv", "setting"],
        "static": ["page", "static_html"],
        "widget": ["Explorer", "explore"],
    },
)
