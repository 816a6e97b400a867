"""What the book shows and asks: figures, exercises, games, and what a course hands out and collects."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"course": ["find_the_flaw", "grade", "hand_in", "homework"]}
)
