"""How to install what a part of the package needs besides."""

from __future__ import annotations

import json
from importlib.metadata import distributions

#: The extra of pyproject.toml that installs a library, by the library's name in an import.
EXTRAS = {
    **dict.fromkeys(("pandas", "scipy", "sklearn", "threadpoolctl", "xgboost"), "learn"),
    **dict.fromkeys(("math_verify", "latex2sympy2_extended", "antlr4", "sympy", "mpmath"), "math"),
    "openai": "client",
    **dict.fromkeys(("httpx2", "starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("anywidget", "traitlets"), "notebooks"),
}


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
