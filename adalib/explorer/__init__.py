"""The lambda explorer: drag the price of compute and watch who gets how much of it.

One front end, in the scripts of ``front/``, runs in two hosts. `explore` shows it in Jupyter;
`static_html` (a fragment) and `page` (a whole file) contain it together with the tables. There the
reader's browser computes, and nothing is fetched or sent.
"""

import lazy_loader

# Loaded on first use, because only Jupyter has widgets.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "data": ["read_csv", "setting"],
        "static": ["page", "static_html"],
        "widget": ["Explorer", "explore"],
    },
)
