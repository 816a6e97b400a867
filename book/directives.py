"""The directives of a page's Markdown, as MyST's own tokens find them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin

_PARSER = MarkdownIt("commonmark").use(colon_fence_plugin)
_NAMED = re.compile(r"\{(?P<name>[\w:-]+)\} *(?P<argument>.*)")
_OPTION = re.compile(r":(?P<key>[\w-]+): *(?P<value>.*)")


@dataclass(frozen=True)
class Block:
    """A directive: its name, its argument, the text inside, and its options."""

    name: str
    argument: str
    body: str
    options: dict[str, str] = field(default_factory=dict)


def blocks(text: str) -> list[str | Block]:
    """Cut a text into plain parts and directives, in order; a directive's content stays text.

    >>> blocks("Look:\\n:::{note} Mind\\n:class: tip\\nthis.\\n:::")
    ['Look:', Block(name='note', argument='Mind', body='this.', options={'class': 'tip'})]
    """
    lines = text.split("\n")
    parts: list[str | Block] = []
    done = 0
    for token in _PARSER.parse(text):
        named = _NAMED.fullmatch(token.info.strip())
        if token.level or token.map is None or named is None:
            continue
        begin, end = token.map
        if not lines[end - 1].startswith(token.markup) or end - 1 == begin:
            opened = f"{token.markup}{token.info}"
            raise ValueError(
                f"the block that opens with {opened!r} is never closed: end it with {token.markup}"
            )
        if done < begin:
            parts.append("\n".join(lines[done:begin]))
        body = token.content.split("\n")
        options = {}
        while body and (option := _OPTION.fullmatch(body[0].rstrip())):
            options[option["key"]] = option["value"]
            body.pop(0)
        inside = "\n".join(body).strip("\n")
        parts.append(Block(named["name"], named["argument"].strip(), inside, options))
        done = end
    return parts + (["\n".join(lines[done:])] if done < len(lines) else [])
