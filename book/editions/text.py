"""The texts of the book with quoted numbers and citations spelled out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_GLUE = re.compile(r"\{(glue:text|points)\}`(?:[^`:]+::)?([\w-]+)(?::([^`]+))?`")
_CITE = re.compile(r"\{cite(?::([pt]))?\}`([\w:,\s-]+)`")
# Where a work appeared: the first of these fields that an entry has.
_WHERE = ("journal", "booktitle", "publisher", "howpublished", "note", "url")


def spelled_out(text: str, values: Mapping[str, str]) -> str:
    """The text with every number that it quotes in its place."""

    def value(match: re.Match) -> str:
        role, name, form = match.groups()
        if name not in values:
            raise KeyError(
                f"the text quotes {name!r}, which the last build did not compute: run `make book`"
            )
        shown = _formatted(values[name], role, form)
        # A whole number at the head of a line, and a full stop: Markdown would begin a list.
        begins_line = text[: match.start()][-1:] in ("", "\n")
        if shown.isdigit() and begins_line and text[match.end() :][:1] == ".":
            return shown + "\\"
        return shown

    return _GLUE.sub(value, text)


def _formatted(value: str, role: str, form: str | None) -> str:
    """A glued value as its role shows it: in points with a sign, in a format, or as it is."""
    if role == "points":
        percent = format(float(value), f"+z.{form or 1}%")
        return percent.removesuffix("%").replace("-", "\N{MINUS SIGN}")
    if not form:
        return value
    is_whole = re.fullmatch(r"-?\d+", value)
    return format(int(value) if is_whole else float(value), form)


@dataclass(frozen=True)
class Work:
    """A cited work: its authors' last names, its year, and what a list of references says of it."""

    authors: tuple[str, ...]
    year: str
    title: str
    where: str

    @property
    def named(self) -> str:
        """The authors as a sentence names them; "and others" counts as one of them."""
        return f"{self.authors[0]} et al." if len(self.authors) > 2 else " and ".join(self.authors)


def read_works(bibliography: Path) -> dict[str, Work]:
    """The works of a BibTeX file, by their keys."""
    from pybtex.database import parse_file
    from pybtex.richtext import Text

    def plain(text: str) -> str:
        return " ".join(str(Text.from_latex(text)).split())

    works = {}
    for key, entry in parse_file(str(bibliography)).entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        last = tuple(
            plain(" ".join([*person.prelast_names, *person.last_names])) for person in people
        )
        where = next((entry.fields[name] for name in _WHERE if name in entry.fields), "")
        works[key] = Work(
            last, entry.fields.get("year", ""), plain(entry.fields.get("title", "")), plain(where)
        )
    return works


def cited(text: str, works: Mapping[str, Work]) -> str:
    """The text with every citation spelled out."""

    def spelled(match: re.Match) -> str:
        named = [works[key.strip()] for key in match[2].split(",")]
        if match[1] == "t":
            return ", ".join(f"{work.named} ({work.year})" for work in named)
        return f"({'; '.join(f'{work.named}, {work.year}' for work in named)})"

    return _CITE.sub(spelled, text)


def references(text: str, works: Mapping[str, Work]) -> str:
    """The works that a text cites, as a Markdown list; empty if it cites none."""
    keys = {key.strip() for match in _CITE.finditer(text) for key in match[2].split(",")}
    named = sorted((works[key] for key in keys), key=lambda work: (work.authors, work.year))
    return "\n".join(
        f"- {', '.join(w.authors)} ({w.year}). *{w.title}*. {w.where}".rstrip(". ") + "."
        for w in named
    )
