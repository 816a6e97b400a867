"""The theme's style rules that the book's pages can use, cut out of half a megabyte.

A rule can match only if every class and id that it names is somewhere: in a page, or as a word in a
script that may set it. The others are dropped, selector by selector. What the book's own sheets say
is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import tinycss2

OURS = ("custom.css", "games.css", "live.css")
_WORD = re.compile(r"[\w-]+")
_NAMED = re.compile(r'\b(?:class|id)="([^"]*)"')
# Bootstrap puts the names of its tooltips together from parts.
_BUILT = re.compile(r"tooltip")
_GROUPS = ("media", "supports")


def names_of(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Every class and id of the pages, and every word of the scripts, inside the pages too.

    >>> sorted(names_of(['<p class="a b" id="c">d</p>'], ['list.add("e-f")']))
    ['a', 'add', 'b', 'c', 'e-f', 'list']
    """
    names: set[str] = set()
    for page in pages:
        for values in _NAMED.findall(page):
            names.update(values.split())
    for script in scripts:
        names.update(_WORD.findall(script))
    return names


def small_styles(sheet: str, names: set[str]) -> str:
    """The rules of a style sheet that could match an element with one of these names.

    >>> sheet = ".a, .b.c { top: 0 } @media print { #d { top: 0 } } p:not(.c) { top: 0 }"
    >>> print(small_styles(sheet, {"a", "c"}))
    .a{ top: 0 }
    p:not(.c){ top: 0 }
    """
    rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    return "\n".join(_kept(rules, names))


def _kept(rules: list, names: set[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [each for each in _selectors(rule.prelude) if _can_match(each, names)]
            if selectors:
                texts = [tinycss2.serialize(each).strip() for each in selectors]
                yield f"{','.join(texts)}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in _GROUPS:
            inside = tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
            kept = "".join(_kept(inside, names))
            if kept:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{kept}}}"
        else:
            yield rule.serialize()


def _selectors(prelude: list) -> list[list]:
    """The selectors of a rule, which commas part."""
    found: list[list] = [[]]
    for token in prelude:
        if token == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _can_match(selector: list, names: set[str]) -> bool:
    """Whether all classes and ids are known; those in brackets, as of :not(), are not asked for."""
    for before, token in zip([None, *selector], selector, strict=False):
        is_name = token.type == "hash" or (token.type == "ident" and before == ".")
        if is_name and token.value not in names and not _BUILT.search(token.value):
            return False
    return True
