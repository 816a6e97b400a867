"""The instructor's page on the exercises: topic, time, points and what loses points.

Everything but the topic is read from where it is written already: kinds and order from the
notebooks, points and mistakes from the exercises that judge the answers. The topics are in
`TOPICS`, the one list of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from adabook.exercises import Exercise, checks
from adabook.exercises.judged import Build, Construction, Proof
from adabook.exercises.values import Value
from contents import Page, pages
from editions.text import Block, blocks

#: Minutes that an exercise takes, by the word that opens it.
MINUTES = {"read": 5, "compute": 10, "build": 20, "prove": 30}

#: Points by the kind of an exercise; a value counts 1.
_POINTS: dict[type, int] = {Build: 3, Construction: 2, Proof: 4}

#: What an exercise is about, by the chapter's key and the exercise's name.
TOPICS: dict[str, dict[str, str]] = {
    "data": {
        "empty": "reading answers out of texts",
        "hurts": "a vote that makes a wrong favourite win",
        "pass16": "pass@b, the bound of any selection",
        "vote": "majority vote with shared ties",
    },
    "motivation": {
        "mix": "random mixtures as the baseline",
        "family": "which kinds of question gain",
        "subsets": "averaging over all subsets",
    },
    "oracle": {
        "letgo": "the price at which a purchase ends",
        "uniform": "one budget for everyone against one price",
        "second": "steps of several answers at once",
        "oracle": "the best net value per question",
        "monotone": "cost falls as the price rises",
        "everett": "Everett's theorem",
    },
    "budgets": {
        "worth": "the bound between two budgets, by prices",
        "save": "the same accuracy for less, read sideways",
        "frontier": "sorting slopes",
        "bisection": "searching the price",
        "envelope": "upper concave envelopes",
        "coin": "mixing one question to meet a budget",
        "one split": "the gap is at most one question",
    },
    "duality": {
        "gap": "tables with a duality gap",
        "exact": "budgets without a gap",
        "binds": "complementary slackness",
        "subgradient": "subgradients of the dual function",
        "weak duality": "weak duality",
    },
    "estimation": {
        "single": "the expected maximum of noisy estimates",
        "cross-fit": "cross-fitting",
        "second": "a vote of two equals one answer, but for empty ones",
        "null": "a null on which nothing helps",
        "bracket": "worth of labels, best value and claim",
    },
    "learning": {
        "memory": "imitation of training labels by memory",
        "label policy": "nearest neighbours as a policy",
        "majority": "the majority class as a baseline",
        "blind": "what features cannot see",
        "stake": "regret weights",
    },
    "results": {
        "thrift": "comparison at equal cost",
        "best mix": "the best mixture at a budget",
        "sisters": "copies across a random split",
    },
    "stopping": {
        "tree": "one step of backward induction",
        "induct": "backward induction",
        "induction": "why induction is optimal",
    },
    "race": {
        "special": "tokens of cancelled answers",
        "half": "tails and the first of two",
        "tails": "tails of real lengths",
    },
    "deploy": {
        "law": "the budget theorem in numbers",
        "overspending": "the budget theorem",
        "controller": "a price that follows the bill",
    },
    "menus": {
        "sent": "two models on one menu",
        "joined": "joining menus",
        "effort": "efforts as budgets in tokens",
    },
    "referee": {
        "share": "least squares on printed tables",
        "others": "imitation outside the training set",
        "falls": "reading a verdict",
    },
    "a_duality": {
        "perfect": "a counterexample to recovery",
        "mean gap": "a counterexample to mean gaps",
        "recovery": "the corrected recovery bound",
        "regret": "regret and disagreement",
    },
    "markets": {
        "hurdle": "hurdle rates as shadow prices",
        "demand": "the marginal plant sets the price",
        "provider": "incentives of a seller of answers",
        "dispatch": "merit order",
        "floor": "weak duality for power plants",
        "repeats": "Neyman's allocation",
    },
    "c_rivals": {
        "unseen": "rare losses that a sample does not show",
        "certified": "a certificate that may be read at any time",
        "ratio": "when a cascade pays",
    },
    "b_replication": {
        "equal": "equal cost, on a printed table",
        "memory": "remembered shares of an oracle's gain",
        "thin": "budgets that follow slopes, not gains",
    },
    "two_limits": {
        "relax": "a multiplier as a slope between two limits",
        "free": "complementary slackness with two limits",
        "rise": "time is bought with tokens",
    },
}

_PAGE = """# Exercises: topics, times, points and grading notes

What each exercise is about, how long it takes, and what loses points. `make instructor` writes this page from the notebooks and from the exercises' own checks, so it cannot differ from them. Minutes are for a student who has just read the chapter. Points are those of `make otter`. Where a proof ends in a number, the check sees the number alone; give three more points for the written proof.

| kind | full points | half | none |
|---|---|---|---|
| a value | within the tolerance that the check names | the right way written down and a slip at the end | a number without a way, if you asked for one |
| a construction | the object has the property, with a sentence why | the property fails at a margin | an object of another kind |
| a function | right on every case of the check | right but for ties, or for an empty input | right on one example alone |
| a proof | each step holds and has its reason | one step without a reason | a step that fails on a case |

"""


class Row(NamedTuple):
    """An exercise as the page lists it."""

    number: str
    kind: str
    core: bool
    name: str
    topic: str
    points: int
    mistakes: list[str]

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return MINUTES[self.kind]


def points(exercise: Exercise) -> int:
    """The points of an exercise in an assignment."""
    return _POINTS.get(type(exercise), 1)


def rows(page: Page) -> list[Row]:
    """The exercises of a page, in their order."""
    found = []
    exercises = checks(page.key)[0].exercises
    for at, (heading, name) in enumerate(_asked(page.path), 1):
        exercise = exercises[name]
        number = f"{page.number}.{at}" if page.number else str(at)
        topic = TOPICS[page.key][name]
        kind = heading.split()[0]
        found.append(
            Row(number, kind, "(core)" in heading, name, topic, points(exercise), _loses(exercise))
        )
    return found


def _asked(path: Path) -> Iterator[tuple[str, str]]:
    """The heading of every exercise of a notebook, and the name that its check calls it."""
    heading = ""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for part in blocks(cell.source):
                if isinstance(part, Block) and part.name == "exercise":
                    heading = part.argument
        elif heading and (asked := re.search(r'\bcheck\(\s*"([^"]+)"', cell.source)):
            yield heading, asked[1]
            heading = ""


def _loses(exercise: Exercise) -> list[str]:
    """The typical mistakes that an exercise tells apart."""
    if isinstance(exercise, Value):
        return [key["hint"] for key in exercise.wrong]
    if isinstance(exercise, Construction):
        return [exercise.more]
    return [exercise.hint, *exercise.mistakes]


def _goals(page: Page) -> str:
    """What a chapter says that its readers will be able to do."""
    for part in blocks(nbformat.read(page.path, as_version=4).cells[0].source):
        if isinstance(part, Block) and part.argument == "What you will be able to do":
            return " ".join(part.body.split())
    return ""


def grading_page(root: Path) -> str:
    """The page as Markdown, for the book under ``root``."""
    parts = [_PAGE]
    for page in pages(root):
        listed = rows(page) if page.key in TOPICS else []
        if not listed:
            continue
        place = f"{page.place.capitalize()}: {page.title}" if page.number else page.title
        minutes = sum(row.minutes for row in listed)
        core = sum(row.minutes for row in listed if row.core)
        lines = [f"## {place}", "", _goals(page), ""]
        lines += [
            f"Exercises take {minutes} minutes in all, the core ones {core}.",
            "",
            "| exercise | topic | kind | minutes | points | what loses points, or helps to see it |",
            "|---|---|---|---|---|---|",
        ]
        for row in listed:
            kind = f"{row.kind} (core)" if row.core else row.kind
            mistakes = " • ".join(row.mistakes).replace("|", "\\|")
            title = f"{row.number} *{row.name}*"
            cells = [title, row.topic, kind, str(row.minutes), str(row.points), mistakes]
            lines.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n\n")
    return "".join(parts)
