"""Citations as text: "Everett (1963)", and the list of what a chapter cites."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Citations", "Work"]

_CITE = re.compile(r"\{cite(?::([pt]))?\}`([\w:,\s-]+)`")
_WHERE = ("journal", "booktitle", "publisher", "howpublished", "note", "url")  # the first of these that an entry has


@dataclass(frozen=True)
class Work:
    """A cited work: its authors' last names, its year, and what a list of references says of it."""

    authors: tuple[str, ...]
    year: str
    title: str
    where: str

    @property
    def named(self) -> str:
        """The authors as a sentence names them."""
        if len(self.authors) > 2:
            return f"{self.authors[0]} et al."  # "and others" counts as one of them
        return " and ".join(self.authors)


@dataclass(frozen=True)
class Citations:
    """The works of a bibliography, by their keys.

    Examples
    --------
    >>> cited = Citations({"everett1963": Work(("Everett",), "1963", "Generalized Lagrange Multipliers", "")})
    >>> cited.resolve("Due to {cite:t}`everett1963`, and old {cite}`everett1963`.")
    'Due to Everett (1963), and old (Everett, 1963).'
    """

    works: Mapping[str, Work]

    @classmethod
    def read(cls, bibliography: Path) -> Citations:
        """Read a BibTeX file."""
        from pybtex.database import parse_file  # the book's, not the package's

        works = {}
        for key, entry in parse_file(str(bibliography)).entries.items():
            people = entry.persons.get("author") or entry.persons.get("editor") or []
            fields = entry.fields
            where = next((fields[name] for name in _WHERE if name in fields), "")
            last = tuple(_plain(" ".join([*person.prelast_names, *person.last_names])) for person in people)
            works[key] = Work(last, fields.get("year", ""), _plain(fields.get("title", "")), _plain(where))
        return cls(works)

    def resolve(self, text: str) -> str:
        """The text with every citation spelled out."""

        def spelled(match: re.Match) -> str:
            works = [self.works[key.strip()] for key in match[2].split(",")]
            if match[1] == "t":
                return ", ".join(f"{work.named} ({work.year})" for work in works)
            return f"({'; '.join(f'{work.named}, {work.year}' for work in works)})"

        return _CITE.sub(spelled, text)

    def listed(self, text: str) -> str:
        """The works that a text cites, as a Markdown list; empty if it cites none."""
        keys = {key.strip() for match in _CITE.finditer(text) for key in match[2].split(",")}
        works = sorted((self.works[key] for key in keys), key=lambda work: (work.authors, work.year))
        return "\n".join(
            f"- {', '.join(w.authors)} ({w.year}). *{w.title}*. {w.where}".rstrip(". ") + "." for w in works
        )


def _plain(text: str) -> str:
    """BibTeX's text without its braces and commands."""
    from pybtex.richtext import Text

    return " ".join(str(Text.from_latex(text)).split())
