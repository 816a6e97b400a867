"""What the book adds to Sphinx: an extension a module, each with one job.

``_config.yml`` lists them and says beside each what it is for.
"""

from __future__ import annotations

from collections.abc import Callable

from docutils import nodes


def rewrite(markup: nodes.raw, change: Callable[[str], str]) -> None:
    """Change what a cell shows as HTML."""
    markup[:] = [nodes.Text(change(markup.astext()))]
