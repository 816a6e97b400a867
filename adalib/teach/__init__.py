"""What the book shows and asks: figures, exercises, and what a course hands out and collects."""

from __future__ import annotations

from adalib._names import lazy

# Public name -> the module that defines it.
_PUBLIC = {"find_the_flaw": "course.flaws", "grade": "course.assignments", "homework": "course.assignments"}

__all__ = [*_PUBLIC]
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
