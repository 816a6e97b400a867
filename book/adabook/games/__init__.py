"""Games that run on a page, with no kernel and no network, and in JupyterLab.

A function computes all that its game needs and leaves it there as data; ``front/NAME.js`` plays
it. Make it the last expression of a cell. Names are loaded on first use: a game in the page must
not wait for the libraries of another.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "base": ["Game"],
        "checking": ["attempts"],
        "classroom": ["market"],
        "holding": ["PriceList", "bill", "hold", "hold_run", "still_run"],
        "prices": ["guess", "kinds", "lineup", "sentence", "spend", "tangent", "votes"],
        "racing": ["race"],
        "stopping": ["limit_prices", "states", "stop"],
    },
)
