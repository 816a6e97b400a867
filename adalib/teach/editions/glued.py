"""Numbers that the prose quotes, spelled out: ``{glue:text}`price:.2f``` becomes 0.02, ``{points}`gain``` +3.6."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["glued", "spelled_out"]

_GLUE = re.compile(r"\{(glue:text|points)\}`([\w-]+)(?::([^`]+))?`")


def glued(kept: Mapping[str, Mapping]) -> dict[str, str]:
    """The numbers that a chapter glued, as text, from what a build keeps of them (``*.glue.json``).

    Examples
    --------
    >>> glued({"n": {"data": {"text/plain": "372"}}, "name": {"data": {"text/plain": "'word'"}}})
    {'n': '372', 'name': 'word'}
    """
    plain = {name: output["data"].get("text/plain") for name, output in kept.items()}
    return {name: text.strip("'\"") for name, text in plain.items() if text is not None}


def spelled_out(text: str, values: Mapping[str, str]) -> str:
    """The text with every quoted number in its place.

    Raises
    ------
    KeyError
        If it quotes a number that is not there.

    Examples
    --------
    >>> spelled_out("{glue:text}`n` questions, {glue:text}`share:.0%`", {"n": "372", "share": "0.25"})
    '372 questions, 25%'
    >>> spelled_out("{points}`gain` points, {points}`less:2`", {"gain": "0.0361", "less": "-0.0004"})
    '+3.6 points, -0.04'
    """

    def value(match: re.Match) -> str:
        role, name, form = match.groups()
        if name not in values:
            raise KeyError(f"the text quotes {name!r}, which the last build did not compute: run `make book`")
        if role == "points":
            said = format(float(values[name]), f"+z.{form or 1}%").removesuffix("%")
        elif form:
            said = _formatted(values[name], form)
        else:
            said = values[name]
        # A whole number at the head of a line, and a full stop: Markdown would begin a list.
        heads_a_list = said.isdigit() and text[: match.start()][-1:] in ("", "\n") and text[match.end() :][:1] == "."
        return said + "\\" if heads_a_list else said

    return _GLUE.sub(value, text)


def _formatted(value: str, form: str) -> str:
    try:
        return format(int(value), form)
    except ValueError:
        return format(float(value), form)
