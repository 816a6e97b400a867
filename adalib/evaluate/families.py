"""Look for families of questions in a file that does not name them.

Questions made from one template are alike. A policy that has learned from some of them knows the
others, and their gains are not independent, so a verdict by question may claim a gain that the next
family does not have. Ids (``fruit-12``) and texts often show such families.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from adalib.datasets.responses import ReadText

_FEWEST_NAMES = 5  # fewer beginnings of ids are sources, such as the years of an exam
_SHARE = 0.5  # of the questions that must be in a group with others
_LISTED = 3  # groups that the warning names

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"\b[A-Z]\w*")


@dataclass(frozen=True)
class SeenGroups:
    """Groups of questions that ids or texts show.

    Attributes
    ----------
    labels : list of str
        The group of every question, for ``Protocol(groups=...)``.
    where : {"ids", "texts"}
        Where the groups were seen.
    """

    labels: list[str]
    where: str

    @property
    def warning(self) -> str:
        """One sentence that names the largest groups."""
        sizes = Counter(self.labels)
        largest = ", ".join(f"{name!r} ({size})" for name, size in sizes.most_common(_LISTED))
        return (
            f"The {self.where} show {len(sizes)} groups of questions, such as {largest}; "
            "name the right ones if these are not"
        )


def seen_groups(ids: Sequence[str], questions: Sequence[str]) -> SeenGroups | None:
    """Return the families that ids or texts show, or None where there are no signs of any.

    Ids show families if they begin (or end) in at least five ways and differ in a number only.
    Texts show them if they are equal once numbers and names are left out. In both cases at least
    half of the questions must have a relative. Families of other kinds are not seen.

    Use it where no groups are given: hold out whole groups a second time, and give both to
    `adalib.verdict`. Explained in the chapter "Results and ablations".

    Parameters
    ----------
    ids : sequence of N str
        Names of the questions.
    questions : sequence of N str
        Their texts; texts that a file does not hold are skipped.

    Returns
    -------
    SeenGroups or None
        The group of every question and where it was seen, with a sentence of warning.

    Examples
    --------
    >>> fruits = ("fig", "lime", "pear", "plum", "quince")
    >>> names = [f"{fruit}-{number}" for fruit in fruits for number in (1, 2)]
    >>> seen = seen_groups(names, [""] * 10)
    >>> seen.where, seen.labels[:3]
    ('ids', ['fig', 'fig', 'lime'])
    >>> seen_groups([f"question-{i}" for i in range(10)], [""] * 10) is None
    True
    """
    for number_at_an_end in (r"\W*\d+$", r"^\d+\W*"):
        names = [re.sub(number_at_an_end, "", str(name)).strip(" -_./:#") for name in ids]
        if len(set(names)) >= _FEWEST_NAMES and _most_have_relatives(names):
            return SeenGroups(names, "ids")
    texts = ["" if isinstance(text, ReadText) else str(text) for text in questions]
    templates = [_template(text) for text in texts]
    template_of = dict(zip(texts, templates, strict=True))  # copies of a text are no relatives
    if all(texts) and len(set(templates)) > 1 and _most_have_relatives([*template_of.values()]):
        return SeenGroups(templates, "texts")
    return None


def _most_have_relatives(labels: Sequence[str]) -> bool:
    """Whether at least half of the labels occur more than once."""
    sizes = Counter(labels)
    return sum(size for size in sizes.values() if size > 1) >= _SHARE * len(labels)


def _template(text: str) -> str:
    """Return a text with its numbers and its names left out."""
    return " ".join(_NAME.sub("@", _NUMBER.sub("#", text)).split())
