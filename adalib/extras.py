"""How to install what a part of the package needs besides."""

from __future__ import annotations

import json
import sys
from importlib.metadata import distributions
from types import ModuleType

#: The extra of pyproject.toml that installs a library, by the library's name in an import.
EXTRAS = {
    **dict.fromkeys(("pandas", "scipy", "sklearn", "threadpoolctl", "xgboost"), "learn"),
    **dict.fromkeys(("math_verify", "latex2sympy2_extended", "antlr4", "sympy", "mpmath"), "math"),
    "openai": "client",
    **dict.fromkeys(("httpx2", "starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("anywidget", "traitlets"), "notebooks"),
}


class _Package(ModuleType):
    """A package whose name is also that of a thing to do: a call is told the function."""

    def __call__(self, *args: object, **options: object) -> None:
        raise TypeError(f"{self.__name__} is a package, not a function: {self._instead}")


def tell_callers(package: str, instead: str) -> None:
    """Let a call of a package say what to call."""
    module = sys.modules[package]
    module.__class__ = _Package
    vars(module)["_instead"] = instead


def install_words(extra: str) -> str:
    """Return the command that adds an extra, from the file or folder that this package came from.

    The name alone is never given: no index has it, and anybody could register it.
    """
    installed = distributions(name="adalib-book")  # a checkout may hold a second record, without it
    told = (one.read_text("direct_url.json") for one in installed)
    urls = (json.loads(text)["url"] for text in told if text)
    return f"pip install 'adalib-book[{extra}] @ {next(urls, 'file:///path/to/its-wheel.whl')}'"


def missing_words(error: BaseException) -> str:
    """Return one sentence on the extra that installs a missing library; "" if none does."""
    library = str(getattr(error, "name", "")).partition(".")[0]
    if library not in EXTRAS:
        return ""
    return f"this needs {library}, which is missing; run {install_words(EXTRAS[library])}"
