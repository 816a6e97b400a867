"""What the book shows and asks: figures, exercises, homework and flaws to find."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "agreement": ["agrees"],
        "flaws": ["find_the_flaw"],
        "homework": ["homework"],
    },
)
