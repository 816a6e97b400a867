"""Cut plotly.js down to the traces that the book draws.

The bundle is a row of statements, each a module that runs when it is first asked for; the last one
asks for all traces. Its list is shortened, and then every module that is no longer asked for is
left out. A name counts as asked for wherever it occurs, so that a module is rather kept than lost.
What cannot be read for certain is an error: a new version of plotly wants a look, and
``tests/book/test_small_plotly.py`` draws what is left.
"""

from __future__ import annotations

import re
from collections import Counter

#: What figures of the book are made of; scatter belongs to the core.
TRACES = ("bar", "heatmap")

_TOKEN = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/                                            # comments
    | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'                     # texts
    | (?P<template>`)
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<end>[;,])
    | (?P<slash>/)
    """,
    re.X | re.S,
)
_IN_TEMPLATE = re.compile(r"\\.|\$\{|`", re.S)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = re.compile(
    r"(?:[(,=:\[!&|?{};+*%<>~^-]|\b(?:return|typeof|case|in|of|else|void|delete))$"
)
# A property is no name, what is spread out is one.
_NAME = re.compile(r"(?:(?<=\.\.\.)|(?<![.\w$]))[A-Za-z_$][\w$]*")
_REGISTER = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\)")
_LAZY = re.compile(r"([\w$]+)=([\w$]+)\((?:\([\w$,]*\)|[\w$]+)=>\{")
_BRACED = ("function", "class ", "async function")
_FRONT = "var Plotly=(()=>{"
_BACK = "})();\n"


def small_plotly(source: str, traces: tuple[str, ...] = TRACES) -> str:
    """The bundle with these traces alone."""
    start = source.index(_FRONT) + len(_FRONT)
    stop = source.rindex(_BACK)
    asked = list(_REGISTER.finditer(source))[-1]
    modules = [name.removesuffix("()") for name in asked[1].split(",")]
    wanted = [module for module in modules if _trace(source, module) in traces]
    if len(wanted) != len(traces):
        raise ValueError(
            f"plotly.js: the traces {', '.join(traces)} are not where they were; "
            "see book/_ext/small_plotly.py"
        )
    body = (
        source[start : asked.start(1)]
        + ",".join(f"{name}()" for name in wanted)
        + source[asked.end(1) : stop]
    )
    return source[:start] + "".join(_needed(list(statements(body)))) + source[stop:]


def _trace(source: str, module: str) -> str | None:
    """The name of the trace that a module hands on."""
    handed = re.search(
        rf"var {re.escape(module)}=[\w$]+\(\([\w$,]*\)=>{{[^}}]*?\.exports=([\w$]+)\(\)}}", source
    )
    at = handed and source.find(f"var {handed[1]}=")
    named = handed and re.compile(r'moduleType:"trace",name:"(\w+)"').search(source, at, at + 6000)
    return named[1] if named else None


def statements(body: str) -> list[list[str]]:
    """Split a program into statements and their declarations, outside all brackets."""
    found = []
    parts = []  # declarations of the statement at hand
    depth = 0  # of brackets
    begin = 0  # of the declaration at hand
    at = 0
    while token := _TOKEN.search(body, at):
        at = token.end()
        kind = token.lastgroup
        if kind == "template":
            at = _template_end(body, at)
        elif kind == "slash":
            before = body[max(0, token.start() - 12) : token.start()].rstrip()
            if not before or _BEFORE_REGEX.search(before):
                at = _REGEX.match(body, token.start()).end()
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            # A function or a class ends with its brace, without a semicolon.
            may_end = depth == 0 and token[0] == "}" and not parts
            if may_end and body[begin:at].lstrip().startswith(_BRACED):
                found.append([body[begin:at]])
                begin = at
        elif kind == "end" and depth == 0:
            parts.append(body[begin:at])
            begin = at
            if token[0] == ";":
                found.append(parts)
                parts = []
    if depth or parts:
        raise ValueError("plotly.js: its brackets do not match; look at _TOKEN")
    return [*found, [body[begin:]]]


def _template_end(body: str, at: int) -> int:
    """Past a template, whose values are programs again."""
    while (step := _IN_TEMPLATE.search(body, at))[0] != "`":
        at = step.end()
        depth = step[0] == "${"
        while depth:
            token = _TOKEN.search(body, at)
            at = _template_end(body, token.end()) if token.lastgroup == "template" else token.end()
            depth += (token[0] == "{") - (token[0] == "}")
    return step.end()


def _needed(found: list[list[str]]) -> list[str]:
    """The statements that run, and those that they name, directly or not."""
    # A function that wraps many modules is the one that makes them lazy.
    lazy = [_LAZY.match(_bare(part)) for parts in found for part in parts]
    wraps = Counter(match[2] for match in lazy if match)
    wrap = {name for name, count in wraps.items() if count > 10}
    texts = ["".join(parts) for parts in found]
    declares = [_declared(parts, wrap) for parts in found]
    owners: dict[str, list[int]] = {}
    for i, names in enumerate(declares):
        for name in names:
            owners.setdefault(name, []).append(i)
    kept = set()
    waiting = [i for i, names in enumerate(declares) if not names]
    while waiting:
        i = waiting.pop()
        if i not in kept:
            kept.add(i)
            waiting += {
                owner for name in _NAME.findall(texts[i]) for owner in owners.get(name, [])
            } - kept
    return [text for i, text in enumerate(texts) if i in kept]


def _bare(declaration: str) -> str:
    """A declaration without the word that opens its statement."""
    return declaration.lstrip().removeprefix("var ")


def _declared(parts: list[str], wrap: set[str]) -> list[str]:
    """Return the names a statement defines if it does nothing by itself; none if it runs at once.

    What a module declares in addition to itself has no value before the module has run, so that the
    module's name will do.
    """
    function = re.match(r"(?:async )?function\*? ?([\w$]+)", parts[0].lstrip())
    # The exports of a module are put into its object.
    filled = re.match(r"[\w$]+\(([\w$]+),\{", parts[0].lstrip())
    if function or filled:
        return [(function or filled)[1]]
    if not parts[0].lstrip().startswith("var "):
        return []
    lazy = []
    plain = []
    for part in map(_bare, parts):
        wrapped = _LAZY.match(part)
        simple = re.match(r"([\w$]+)(?:=\{\})?[,;]$", part)
        if wrapped and wrapped[2] in wrap:
            lazy.append(wrapped[1])
        elif simple:
            plain.append(simple[1])
        else:
            return []
    return lazy or plain
