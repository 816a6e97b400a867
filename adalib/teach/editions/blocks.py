"""The blocks of a MyST text: ``:::{name} argument`` up to the fence that closes it, and the plain text between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Block", "blocks"]

_OPEN = re.compile(r"(?P<fence>:{3,}|`{3,})\{(?P<name>[\w:-]+)\} *(?P<argument>.*)")
_OPTION = re.compile(r":(?P<key>[\w-]+): *(?P<value>.*)")


@dataclass(frozen=True)
class Block:
    """A directive: its name, what stands beside it, its options, and the text inside."""

    name: str
    argument: str
    body: str
    options: dict[str, str] = field(default_factory=dict)


def blocks(text: str) -> list[str | Block]:
    """Cut a text into plain parts and directives, in order. What is inside a directive stays text.

    Raises
    ------
    ValueError
        If a fence is never closed.

    Examples
    --------
    >>> blocks("Before.\\n:::{admonition} Proof\\n:class: dropdown\\nObvious.\\n:::")
    ['Before.', Block(name='admonition', argument='Proof', body='Obvious.', options={'class': 'dropdown'})]
    """
    found: list[str | Block] = []
    plain: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        opened = _OPEN.fullmatch(line.rstrip())
        if opened is None:
            plain.append(line)
            continue
        if plain:
            found.append("\n".join(plain))
            plain = []
        body, fence = [], opened["fence"]
        closing = re.compile(re.escape(fence[0]) + f"{{{len(fence)},}}")
        for inner in lines:
            if closing.fullmatch(inner.rstrip()):
                break
            body.append(inner)
        else:
            raise ValueError(f"the block that opens with {line!r} is never closed: end it with {fence}")
        options = {}
        while body and (option := _OPTION.fullmatch(body[0].rstrip())):
            options[option["key"]] = option["value"]
            body.pop(0)
        inside = "\n".join(body).strip("\n")
        found.append(Block(opened["name"], opened["argument"].strip(), inside, options))
    return found + (["\n".join(plain)] if plain else [])
