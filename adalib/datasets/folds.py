"""Deal questions into folds, so that no model is scored on a question or a group it has seen.

Questions made from one template are alike. A policy that has learned from some of them knows the
others, and their gains are not independent, so a verdict by question may claim a gain that the next
family does not have. Where a file does not name its families, ids (``fruit-12``) and texts often
show them; `seen_groups` looks there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.menu import Menu
from adalib.datasets.responses import QuestionWithFeatures, Responses

#: Fewer questions than this are too few to learn from and to score on.
FEWEST = 10

_FEWEST_NAMES = 5  # fewer beginnings of ids are sources, such as the years of an exam
_SHARE = 0.5  # of the questions that must be in a group with others
_LISTED = 3  # groups that the warning names

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"\b[A-Z]\w*")


def members(responses: Responses | Menu, groups: Sequence | None) -> np.ndarray:
    """Return the group of every question, numbered in the order of appearance.

    Without ``groups``, questions with the same text, whatever its spaces and capitals, are one.
    """
    n = responses.n
    if n < FEWEST:
        raise DataError(
            f"{responses.source}: has {n} questions; "
            f"give at least {FEWEST} to learn from and score on"
        )
    if groups is None:
        # Copies of a question must not be on both sides. If there are only a few texts for all
        # questions, they are kinds of questions, and learning about a kind is fair.
        texts = [_as_compared(text) for text in responses.questions]
        groups = texts if len(set(texts)) >= FEWEST else range(n)
    member = group_numbers(groups, n)
    if not member.any():
        raise DataError(
            f"{responses.source}: all questions are in one group; give at least two, or no groups"
        )
    return member


def group_numbers(groups: Sequence, n: int, sort: bool = False) -> np.ndarray:
    """Number the groups of ``n`` questions from 0, in the order of appearance or sorted."""
    if len(groups) != n:
        raise ValueError(
            f"groups has {len(groups)} entries for {n} questions; give one per question"
        )
    names = [str(group) for group in groups]
    distinct = sorted(set(names)) if sort else dict.fromkeys(names)
    numbers = {name: number for number, name in enumerate(distinct)}
    return np.array([numbers[name] for name in names], dtype=int)


def subsample(rows: ArrayLike, most: int, rng: np.random.Generator | int) -> np.ndarray:
    """Return all rows, or ``most`` of them drawn at random and sorted if there are more."""
    rows = np.asarray(rows)
    if rows.size <= most:
        return rows
    return np.sort(np.random.default_rng(rng).choice(rows, most, replace=False))


def deal(
    member: ArrayLike, folds: int, seed: int = 0, order: ArrayLike | None = None
) -> np.ndarray:
    """Return the fold of every question; folds are of nearly equal size and split no group.

    ``member`` is the group of every question, from 0. Groups are shuffled by the seed, or dealt in
    the given order.
    """
    if folds < 2:
        raise ValueError(f"folds is {folds}; give at least 2")
    member = np.asarray(member)
    sizes = np.bincount(member)
    order = (
        np.random.default_rng(seed).permutation(sizes.size) if order is None else np.asarray(order)
    )
    fold_of_group = np.empty(sizes.size, dtype=int)
    fold_sizes = np.zeros(min(folds, sizes.size), dtype=int)
    # Largest groups first, each to the fold with the fewest questions so far.
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold = fold_sizes.argmin()
        fold_of_group[group] = fold
        fold_sizes[fold] += sizes[group]
    return fold_of_group[member]


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
    `adalib.verdict`.

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
    texts = ["" if isinstance(text, QuestionWithFeatures) else str(text) for text in questions]
    templates = [_template(text) for text in texts]
    copies = [_as_compared(text) for text in texts]
    template_of = dict(zip(copies, templates, strict=True))  # copies of a text are no relatives
    if all(texts) and len(set(templates)) > 1 and _most_have_relatives([*template_of.values()]):
        return SeenGroups(templates, "texts")
    return None


def _as_compared(text: str) -> str:
    """Return a text without capitals and needless spaces, by which copies are found."""
    return " ".join(text.casefold().split())


def _most_have_relatives(labels: Sequence[str]) -> bool:
    """Whether at least half of the labels occur more than once."""
    sizes = Counter(labels)
    return sum(size for size in sizes.values() if size > 1) >= _SHARE * len(labels)


def _template(text: str) -> str:
    """Return a text with its numbers and its names left out."""
    return _as_compared(_NAME.sub("@", _NUMBER.sub("#", text)))
