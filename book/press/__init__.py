"""What the book adds to Sphinx: an extension a module, each with one job.

``_config.yml`` lists them and says beside each what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from docutils import nodes


def rewrite(markup: nodes.raw, change: Callable[[str], str]) -> None:
    """Change what a cell shows as HTML."""
    markup[:] = [nodes.Text(change(markup.astext()))]


def texts(node: nodes.Element, left_alone: Callable[[nodes.Element], bool]) -> Iterator[nodes.Text]:
    """The texts below a node that are not in an element to be left alone, each with its parent."""
    for child in list(node.children):
        child.parent = node  # extensions of others forget it
        if isinstance(child, nodes.Text):
            yield child
        elif not left_alone(child):
            yield from texts(child, left_alone)
