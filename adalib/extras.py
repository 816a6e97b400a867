"""How to install what a part of the package needs besides."""

from __future__ import annotations

import json
from importlib.metadata import distributions


def install_words(extra: str) -> str:
    """Return the command that adds an extra, from the file or folder that this package came from.

    The name alone may be found in no index.
    """
    installed = distributions(name="adalib-book")  # a checkout may hold a second record, without it
    told = (one.read_text("direct_url.json") for one in installed)
    source = next((f" @ {json.loads(text)['url']}" for text in told if text), "")
    return f"pip install 'adalib-book[{extra}]{source}'"
