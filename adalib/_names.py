"""Public names that are loaded on first use, for the ``__init__`` of a package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy"]


def lazy(
    package: str,
    public: Mapping[str, str],
    moved: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__`` from a table of its public names.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    public : mapping of str to str
        Public name -> the module below the package that defines it.
    moved : mapping of str to str, optional
        Name that was public here -> the package below that has it now. It still works, with a DeprecationWarning.
    renamed : mapping of str to str, optional
        Name that was public here -> what it is called now; likewise.
    """
    moved, renamed = moved or {}, renamed or {}

    def find(name: str) -> Any:
        if name in public:
            return getattr(import_module(f"{package}.{public[name]}"), name)
        if name in moved:
            now = f"{package}.{moved[name]}"
            warnings.warn(f"{package}.{name} is now {now}.{name}", DeprecationWarning, stacklevel=2)
            return getattr(import_module(now), name)
        if name in renamed:
            warnings.warn(f"{package}.{name} is now {package}.{renamed[name]}", DeprecationWarning, stacklevel=2)
            return find(renamed[name])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted([*vars(sys.modules[package]), *public])

    return find, names
